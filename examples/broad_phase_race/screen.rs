//! The race on the screen: a panel for each search, all with the same falling spheres. Each
//! panel gets the same time in a frame, so that the faster search is ahead.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy::app::AppExit;
use bevy::camera::Viewport;
use bevy::camera::visibility::RenderLayers;
use bevy::prelude::*;
use bevy_rapier_molecules::molecule::{Atom, Element, Residue};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::scenes::FallingSpheres;

use crate::background::BACKGROUND;
use crate::common::AnyError;
use crate::picture::{self, Shot};
use crate::timing::SphereRunner;
use crate::window;

/// Part of space that the spheres fill at the start.
const RATIO: f32 = 0.1;

/// Seed of the places at the start.
const SEED: u64 = 1;

/// Steps of the race.
const STEPS: u32 = 60;

/// Time of each search in a frame.
const BUDGET: Duration = Duration::from_millis(4);

/// A search and its spheres.
struct Lane {
    runner: SphereRunner,
    falling: FallingSpheres,
    step: u32,
    /// Time of the last step, and time that is left from the frames before.
    last: Duration,
    credit: Duration,
    candidates: usize,
}

impl Lane {
    /// Steps as long as there is time.
    fn run(&mut self) -> Result<(), AnyError> {
        self.credit += BUDGET;
        while self.step < STEPS && !self.credit.is_zero() {
            self.falling.advance();
            let begin = Instant::now();
            self.candidates = self.runner.frame(self.falling.spheres(), false)?;
            self.last = begin.elapsed();
            self.credit = self.credit.saturating_sub(self.last);
            self.falling.respond(self.runner.pairs());
            self.step += 1;
        }
        Ok(())
    }
}

#[derive(Resource)]
struct Lanes(Vec<Lane>);

/// What belongs to a lane.
#[derive(Component)]
struct OfLane(usize);

/// Shows the race until the window is closed, or a picture of it after `frames` is saved.
pub fn run(spheres: u32, frames: u32, shot: Option<&Shot>) -> Result<(), AnyError> {
    let mut lanes = Vec::new();
    for runner in SphereRunner::for_spheres(spheres as usize) {
        lanes.push(Lane {
            runner,
            falling: FallingSpheres::new(spheres, RATIO, SEED)?,
            step: 0,
            last: Duration::ZERO,
            credit: Duration::ZERO,
            candidates: 0,
        });
    }
    let mut app = match shot {
        Some(shot) => picture::app(shot, frames.max(3), |plugins| plugins),
        None => window::app("Race of broad phases", |plugins| plugins),
    };
    app.add_plugins(MoleculeRenderPlugin)
        .insert_resource(ClearColor(BACKGROUND))
        .insert_resource(MoleculeStyle {
            headlight: 0.9,
            ..MoleculeStyle::plain(ColorMode::Molecule)
        })
        .insert_resource(Lanes(lanes))
        .add_systems(Startup, set_up)
        .add_systems(Update, (race, show, quit).chain())
        .add_systems(
            PostUpdate,
            place_views.before(bevy::camera::CameraUpdateSystems),
        );
    if shot.is_some() {
        return picture::finish(app);
    }
    window::finish(app)
}

/// Columns and rows of the panels.
fn panels(lanes: usize) -> (u32, u32) {
    let columns = (lanes as f32).sqrt().ceil().max(1.0) as u32;
    (columns, (lanes as u32).div_ceil(columns).max(1))
}

fn set_up(mut commands: Commands, lanes: Res<Lanes>) -> Result {
    let atom = Atom {
        position: Vec3::ZERO,
        radius: FallingSpheres::RADIUS_NM,
        element: Element::C,
        name: "C".into(),
        residue: 0,
    };
    let ball = MoleculeTemplate::new("ball", vec![atom], vec![Residue::default()])?;
    let ball = Arc::new(ball);
    let (columns, rows) = panels(lanes.0.len());
    for (number, lane) in lanes.0.iter().enumerate() {
        let edge = lane.falling.edge();
        let middle = Vec3::splat(0.5 * edge);
        commands.spawn((
            Camera3d::default(),
            Msaa::Off,
            Camera {
                order: number as isize,
                clear_color: match number {
                    0 => ClearColorConfig::Default,
                    _ => ClearColorConfig::None,
                },
                ..default()
            },
            // Far enough away, and low enough, that the front of the pile is seen.
            Transform::from_translation(middle + Vec3::new(0.5, 0.3, 2.4) * edge)
                .looking_at(middle - 0.2 * edge * Vec3::Y, Vec3::Y),
            RenderLayers::layer(number),
            OfLane(number),
        ));
        commands.spawn((
            InstancedMolecules {
                templates: vec![ball.clone()],
                ..default()
            },
            RenderLayers::layer(number),
            OfLane(number),
        ));
        let (column, row) = (number as u32 % columns, number as u32 / columns);
        commands.spawn((
            Text::new(lane.runner.name),
            TextFont::from_font_size(14.0),
            TextColor(Color::srgb(0.95, 0.96, 0.98)),
            Node {
                position_type: PositionType::Absolute,
                left: percent(100.0 * column as f32 / columns as f32 + 0.6),
                top: percent(100.0 * row as f32 / rows as f32 + 1.0),
                ..default()
            },
            OfLane(number),
        ));
    }
    // The camera of the text.
    commands.spawn((
        Camera2d,
        Msaa::Off,
        IsDefaultUiCamera,
        RenderLayers::none(),
        Camera {
            order: lanes.0.len() as isize,
            clear_color: ClearColorConfig::None,
            ..default()
        },
    ));
    Ok(())
}

/// Each search gets the same time.
fn race(mut lanes: ResMut<Lanes>, mut exits: MessageWriter<AppExit>) {
    for lane in &mut lanes.0 {
        if let Err(error) = lane.run() {
            error!("{}: {error}", lane.runner.name);
            exits.write(AppExit::error());
        }
    }
}

fn show(
    lanes: Res<Lanes>,
    mut crowds: Query<(&mut InstancedMolecules, &OfLane)>,
    mut texts: Query<(&mut Text, &OfLane)>,
) {
    for (mut crowd, &OfLane(number)) in &mut crowds {
        let spheres = lanes.0[number].falling.spheres();
        let places = (0..spheres.len()).map(|sphere| spheres.center(sphere));
        let molecules = places.map(|place| MoleculeInstance::new(0, Pose::from_translation(place)));
        crowd.molecules.clear();
        crowd.molecules.extend(molecules);
    }
    for (mut text, &OfLane(number)) in &mut texts {
        let lane = &lanes.0[number];
        let figures = format!(
            "{}\nstep {} of {STEPS}\n{:.2} ms, {} pairs",
            lane.runner.name,
            lane.step,
            lane.last.as_secs_f64() * 1e3,
            lane.candidates
        );
        if text.0 != figures {
            text.0 = figures;
        }
    }
}

fn quit(keys: Res<ButtonInput<KeyCode>>, mut exits: MessageWriter<AppExit>) {
    if keys.just_pressed(KeyCode::Escape) {
        exits.write(AppExit::Success);
    }
}

/// Each camera has its panel of the window.
fn place_views(lanes: Res<Lanes>, mut cameras: Query<(&mut Camera, &OfLane)>) {
    let (columns, rows) = panels(lanes.0.len());
    for (mut camera, &OfLane(number)) in &mut cameras {
        let Some(size) = camera.physical_target_size() else {
            continue;
        };
        let panel = size / UVec2::new(columns, rows);
        let is_active = panel.min_element() > 0;
        if camera.is_active != is_active {
            camera.is_active = is_active;
        }
        if !is_active {
            continue;
        }
        let corner = UVec2::new(number as u32 % columns, number as u32 / columns) * panel;
        let placed = camera
            .viewport
            .as_ref()
            .is_some_and(|old| (old.physical_position, old.physical_size) == (corner, panel));
        if !placed {
            camera.viewport = Some(Viewport {
                physical_position: corner,
                physical_size: panel,
                ..default()
            });
        }
    }
}
