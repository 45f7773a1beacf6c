//! The particles on the screen.

use std::collections::BTreeSet;

use bevy::app::AppExit;
use bevy::prelude::*;
use glam::DVec3;

use super::Arguments;
use super::common::AnyError;
use super::panels::{self, Figures};
use super::particles::Particles;
use super::screen::picture::{self, Shot};
use super::screen::window;
use super::stage::orbit::Orbit;
use super::stage::{self, StagePlugin};

/// Frames until a picture: in the first one, what was just spawned is not there yet.
const FRAMES: u32 = 3;

/// Longest time that a frame may simulate, s.
const LONGEST_FRAME: f64 = 1.0 / 20.0;

/// Vertical speed from which a particle counts as rising or sinking, nm/s.
const SLOW: f64 = 4.0;

/// Colors of particles that sink, hover and rise (Okabe and Ito 2008).
const COLORS: [Color; 3] = [
    Color::srgb(0.0, 0.45, 0.70),
    Color::srgb(0.62, 0.64, 0.67),
    Color::srgb(0.84, 0.37, 0.0),
];

/// Color of bounds: they are seen through.
const BOUND: Color = Color::srgba(0.6, 0.8, 1.0, 0.28);

/// Everything, for systems.
#[derive(Resource)]
struct Scene {
    particles: Particles,
    runs: bool,
    bounds: bool,
    subspaces: bool,
    message: Option<String>,
    /// Materials of particles that sink, hover and rise.
    materials: [Handle<StandardMaterial>; 3],
}

/// A particle, by its number.
#[derive(Component)]
struct Particle(u32);

/// The bound of a particle, by its number.
#[derive(Component)]
struct Bound(u32);

/// Runs until the window is closed, or the picture is saved.
pub fn run(
    particles: Particles,
    arguments: &Arguments,
    shot: Option<&Shot>,
) -> Result<(), AnyError> {
    let mut app = match shot {
        Some(shot) => picture::app(shot, FRAMES, |plugins| plugins),
        None => {
            let mut app = window::app("Circulating particles", |plugins| plugins);
            app.add_systems(Startup, add_panels)
                .add_systems(Update, write_figures.after(show));
            app
        }
    };
    app.add_plugins(StagePlugin)
        .insert_resource(Scene {
            particles,
            runs: shot.is_none(),
            bounds: arguments.bounds,
            subspaces: arguments.subspaces,
            message: None,
            materials: default(),
        })
        .add_systems(Startup, set_up)
        .add_systems(Update, (keys, advance, show, draw_lines).chain());
    if shot.is_some() {
        return picture::finish(app);
    }
    window::finish(app)
}

fn set_up(
    mut commands: Commands,
    mut scene: ResMut<Scene>,
    mut meshes: ResMut<Assets<Mesh>>,
    mut materials: ResMut<Assets<StandardMaterial>>,
) {
    let side = scene.particles.side as f32;
    commands.spawn(stage::camera(Orbit {
        focus: Vec3::ZERO,
        distance: 2.15 * side,
        yaw: 0.5,
        pitch: 0.2,
    }));
    scene.materials = COLORS.map(|color| materials.add(color));
    let ball = meshes.add(Sphere::new(1.0));
    let veil = materials.add(StandardMaterial {
        base_color: BOUND,
        alpha_mode: AlphaMode::Blend,
        unlit: true,
        ..default()
    });
    for particle in 0..scene.particles.radii().len() as u32 {
        commands.spawn((
            Mesh3d(ball.clone()),
            MeshMaterial3d(scene.materials[1].clone()),
            Particle(particle),
        ));
        commands.spawn((
            Mesh3d(ball.clone()),
            MeshMaterial3d(veil.clone()),
            Bound(particle),
        ));
    }
}

/// Space pauses, B shows bounds, G subspaces, Esc quits.
fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut scene: ResMut<Scene>,
    mut exits: MessageWriter<AppExit>,
) {
    if keys.just_pressed(KeyCode::Space) {
        scene.runs = !scene.runs;
    }
    if keys.just_pressed(KeyCode::KeyB) {
        scene.bounds = !scene.bounds;
    }
    if keys.just_pressed(KeyCode::KeyG) {
        scene.subspaces = !scene.subspaces;
    }
    if keys.just_pressed(KeyCode::Escape) {
        exits.write(AppExit::Success);
    }
}

fn advance(mut scene: ResMut<Scene>, time: Res<Time>) {
    if !scene.runs {
        return;
    }
    let seconds = time.delta_secs_f64().min(LONGEST_FRAME);
    if let Err(error) = scene.particles.advance(seconds) {
        scene.message = Some(error.to_string());
        scene.runs = false;
    }
}

/// From the box to the world, in which y is up and the middle is the origin.
fn place(at: DVec3, side: f64) -> Vec3 {
    let at = (at - 0.5 * side).as_vec3();
    Vec3::new(at.x, at.z, -at.y)
}

fn show(
    mut scene: ResMut<Scene>,
    mut particles: Query<(
        &Particle,
        &mut Transform,
        &mut MeshMaterial3d<StandardMaterial>,
    )>,
    mut bounds: Query<(&Bound, &mut Transform, &mut Visibility), Without<Particle>>,
) {
    let side = scene.particles.side;
    let now = scene.particles.time();
    for (&Particle(index), mut transform, mut material) in &mut particles {
        let probe = scene.particles.probe(index);
        let radius = scene.particles.radii()[index as usize] as f32;
        *transform = Transform::from_translation(place(probe.position, side))
            .with_scale(Vec3::splat(radius));
        let rise = probe.velocity.z;
        let which = usize::from(rise > -SLOW) + usize::from(rise > SLOW);
        let wanted = &scene.materials[which];
        if material.0 != *wanted {
            material.0 = wanted.clone();
        }
    }
    for (&Bound(index), mut transform, mut visibility) in &mut bounds {
        let wanted = if scene.bounds {
            Visibility::Inherited
        } else {
            Visibility::Hidden
        };
        visibility.set_if_neq(wanted);
        if let Some(bound) = scene.particles.bound(index).filter(|_| scene.bounds) {
            let radius = bound.radius_at(now) as f32;
            *transform = Transform::from_translation(place(bound.center_at(now), side))
                .with_scale(Vec3::splat(radius));
        }
    }
}

/// The box, and the subspaces.
fn draw_lines(scene: Res<Scene>, mut gizmos: Gizmos) {
    let side = scene.particles.side;
    let cuboid = |corners: [DVec3; 2]| {
        let [low, high] = corners.map(|corner| place(corner, side));
        Transform::from_translation(0.5 * (low + high)).with_scale((high - low).abs())
    };
    let room = cuboid([DVec3::ZERO, DVec3::splat(side)]);
    gizmos.cube(room, Color::srgb(0.5, 0.5, 0.5));
    if !scene.subspaces {
        return;
    }
    // Each subspace once, by its place and side in whole numbers.
    let mut drawn = BTreeSet::new();
    let sides = scene.particles.sides();
    for particle in 0..scene.particles.radii().len() as u32 {
        let Some((side, [low, high])) = scene.particles.subspaces(particle) else {
            continue;
        };
        let key = |at: DVec3| (at * 16.0).round().as_i64vec3().to_array();
        if !drawn.insert((key(low), key(high))) {
            continue;
        }
        let level = sides.iter().take_while(|finer| **finer < side).count();
        let hue = 60.0 * level as f32;
        gizmos.cube(cuboid([low, high]), Color::hsla(hue, 0.7, 0.6, 0.25));
    }
}

fn add_panels(mut commands: Commands) {
    let keys = "B bounds   G subspaces   Space pause   Esc quit\n\
                right mouse: turn   wheel: zoom";
    panels::spawn(&mut commands, "", keys, 14.0);
}

fn write_figures(scene: Res<Scene>, mut texts: Query<&mut Text, With<Figures>>) {
    let counts = scene.particles.counts();
    let mut figures = format!(
        "{} particles, {:.1} s: {} contacts\n\
         {} entering, {} leaving, {} resetting, {} colliding events",
        scene.particles.radii().len(),
        scene.particles.time(),
        counts.contacts,
        counts.entering,
        counts.leaving,
        counts.resetting,
        counts.colliding,
    );
    if let Some(message) = &scene.message {
        figures.push('\n');
        figures.push_str(message);
    }
    panels::show(&figures, &mut texts);
}
