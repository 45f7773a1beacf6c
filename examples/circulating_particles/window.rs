//! The particles in a window or a screenshot.

use std::collections::BTreeSet;

use bevy::prelude::*;
use glam::DVec3;

use super::Arguments;
use super::common::orbit::Orbit;
use super::common::panels::{TextPanels, TextPanelsPlugin};
use super::common::stage::{self, StagePlugin};
use super::common::{AnyError, Screenshot, app};
use super::particles::Particles;

const KEYS: &str = "\
B bounds   G subspaces   Space pause   Esc quit\n\
right mouse: turn   wheel: zoom";

/// Frames before a screenshot: spawned entities are drawn after the first.
const FRAMES: u32 = 3;

/// Max simulated time per frame, s.
const MAX_FRAME_TIME: f64 = 1.0 / 20.0;

/// Min vertical speed of a rising or sinking particle, nm/s.
const MIN_VERTICAL_SPEED: f64 = 4.0;

/// Colors of sinking, hovering and rising particles (Okabe and Ito 2008).
const COLORS: [Color; 3] = [
    Color::srgb(0.0, 0.45, 0.70),
    Color::srgb(0.62, 0.64, 0.67),
    Color::srgb(0.84, 0.37, 0.0),
];

/// Color of the transparent bounds.
const BOUND_COLOR: Color = Color::srgba(0.6, 0.8, 1.0, 0.28);

#[derive(Resource)]
struct Scene {
    particles: Particles,
    is_running: bool,
    show_bounds: bool,
    show_subspaces: bool,
    error: Option<String>,
    /// Materials of sinking, hovering and rising particles.
    materials: [Handle<StandardMaterial>; 3],
}

/// The index of a particle.
#[derive(Component)]
struct Particle(u32);

/// The index of the particle that a bound encloses.
#[derive(Component)]
struct Bound(u32);

/// Runs until the window is closed or the screenshot is saved.
pub fn run(
    particles: Particles,
    arguments: &Arguments,
    screenshot: Option<&Screenshot>,
) -> Result<(), AnyError> {
    let frames = screenshot.map(|screenshot| (screenshot, FRAMES));
    let mut app = app::new("Circulating particles", frames, |plugins| plugins);
    if screenshot.is_none() {
        app.add_plugins(TextPanelsPlugin)
            .insert_resource(TextPanels {
                keys: KEYS.to_owned(),
                ..default()
            })
            .add_systems(Update, update_status.after(update_particles));
    }
    app.add_plugins(StagePlugin {
        buttons: &[MouseButton::Right],
    })
    .insert_resource(Scene {
        particles,
        is_running: screenshot.is_none(),
        show_bounds: arguments.bounds,
        show_subspaces: arguments.subspaces,
        error: None,
        materials: default(),
    })
    .add_systems(Startup, spawn_scene)
    .add_systems(Update, app::quit_on_escape)
    .add_systems(
        Update,
        (handle_keys, advance, update_particles, draw_lines).chain(),
    );
    app::run(app)
}

fn spawn_scene(
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
    let sphere = meshes.add(Sphere::new(1.0));
    let transparent = materials.add(StandardMaterial {
        base_color: BOUND_COLOR,
        alpha_mode: AlphaMode::Blend,
        unlit: true,
        ..default()
    });
    for particle in 0..scene.particles.radii().len() as u32 {
        commands.spawn((
            Mesh3d(sphere.clone()),
            MeshMaterial3d(scene.materials[1].clone()),
            Particle(particle),
        ));
        commands.spawn((
            Mesh3d(sphere.clone()),
            MeshMaterial3d(transparent.clone()),
            Bound(particle),
        ));
    }
}

/// Space pauses, B shows the bounds, G the subspaces.
fn handle_keys(keys: Res<ButtonInput<KeyCode>>, mut scene: ResMut<Scene>) {
    if keys.just_pressed(KeyCode::Space) {
        scene.is_running = !scene.is_running;
    }
    if keys.just_pressed(KeyCode::KeyB) {
        scene.show_bounds = !scene.show_bounds;
    }
    if keys.just_pressed(KeyCode::KeyG) {
        scene.show_subspaces = !scene.show_subspaces;
    }
}

fn advance(mut scene: ResMut<Scene>, time: Res<Time>) {
    if !scene.is_running {
        return;
    }
    let seconds = time.delta_secs_f64().min(MAX_FRAME_TIME);
    if let Err(error) = scene.particles.advance(seconds) {
        scene.error = Some(error.to_string());
        scene.is_running = false;
    }
}

/// Transforms from the frame of the box (z up, origin in a corner) to the world frame (y up,
/// origin in the center).
fn to_world(position: DVec3, side: f64) -> Vec3 {
    let centered = (position - 0.5 * side).as_vec3();
    Vec3::new(centered.x, centered.z, -centered.y)
}

fn update_particles(
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
        *transform = Transform::from_translation(to_world(probe.position, side))
            .with_scale(Vec3::splat(radius));
        let speed = probe.velocity.z;
        let index =
            usize::from(speed > -MIN_VERTICAL_SPEED) + usize::from(speed > MIN_VERTICAL_SPEED);
        let wanted = &scene.materials[index];
        if material.0 != *wanted {
            material.0 = wanted.clone();
        }
    }
    for (&Bound(index), mut transform, mut visibility) in &mut bounds {
        let wanted = if scene.show_bounds {
            Visibility::Inherited
        } else {
            Visibility::Hidden
        };
        visibility.set_if_neq(wanted);
        if let Some(bound) = scene.particles.bound(index).filter(|_| scene.show_bounds) {
            let radius = bound.radius_at(now) as f32;
            *transform = Transform::from_translation(to_world(bound.center_at(now), side))
                .with_scale(Vec3::splat(radius));
        }
    }
}

/// Draws the edges of the box and of the subspaces.
fn draw_lines(scene: Res<Scene>, mut gizmos: Gizmos) {
    let side = scene.particles.side;
    let cuboid = |corners: [DVec3; 2]| {
        let [low, high] = corners.map(|corner| to_world(corner, side));
        Transform::from_translation(0.5 * (low + high)).with_scale((high - low).abs())
    };
    let box_edges = cuboid([DVec3::ZERO, DVec3::splat(side)]);
    gizmos.cube(box_edges, Color::srgb(0.5, 0.5, 0.5));
    if !scene.show_subspaces {
        return;
    }
    // Several bounds can share subspaces, which are drawn once. Keys are rounded to 1/16 nm.
    let mut drawn = BTreeSet::new();
    let sides = scene.particles.sides();
    for particle in 0..scene.particles.radii().len() as u32 {
        let Some((side, [low, high])) = scene.particles.subspaces(particle) else {
            continue;
        };
        let key = |corner: DVec3| (corner * 16.0).round().as_i64vec3().to_array();
        if !drawn.insert((key(low), key(high))) {
            continue;
        }
        let level = sides.iter().take_while(|finer| **finer < side).count();
        let hue = 60.0 * level as f32;
        gizmos.cube(cuboid([low, high]), Color::hsla(hue, 0.7, 0.6, 0.25));
    }
}

fn update_status(scene: Res<Scene>, mut panels: ResMut<TextPanels>) {
    let counts = scene.particles.counts();
    let error = scene.error.as_deref().unwrap_or_default();
    let status = format!(
        "{} particles, {:.1} s: {} contacts\n\
         {} entering, {} leaving, {} resetting, {} colliding events\n\
         {error}",
        scene.particles.radii().len(),
        scene.particles.time(),
        counts.contacts,
        counts.entering,
        counts.leaving,
        counts.resetting,
        counts.colliding,
    );
    panels.status = status.trim_end().to_owned();
}
