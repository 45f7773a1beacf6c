//! The vesicle on the screen: cameras, lights and molecules.

use bevy::camera::Viewport;
use bevy::prelude::*;
use bevy_rapier_molecules::render::offscreen::Offscreen;
use bevy_rapier_molecules::render::{
    ColorMode, DepthCue, DrawDetail, InstancedMolecules, MoleculeInstance, MoleculeStyle,
    ProxyOverlay,
};

use super::super::common::orbit::Orbit;
use super::super::common::stage::{self, BACKGROUND};
use super::super::preset::{Color, Detail, Preset};
use super::super::simulation::Snapshot;
use super::Editor;

/// Length of a lipid, nm: how far a vesicle reaches beyond its mid-surface.
const BEYOND_NM: f32 = 2.6;

/// Distance of the camera in units of the vesicle's reach.
const DISTANCE: f32 = 2.75;

/// Pixels that an atom may stick out of a blob that stands for it.
const PIXELS: f32 = 1.0;

/// Shows the vesicle.
pub struct ViewPlugin;

impl Plugin for ViewPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ViewArea>()
            .add_systems(Startup, set_up)
            .add_systems(Update, (set_look, show).chain())
            .add_systems(
                PostUpdate,
                fit_viewport.before(bevy::camera::CameraUpdateSystems),
            );
    }
}

/// The part of the window that no panel covers.
#[derive(Resource, Default)]
pub struct ViewArea {
    /// Its place, pixels; none if it is the whole window.
    pub rectangle: Option<URect>,
    /// Whether the mouse is on it, and not busy with a panel.
    pub pointed_at: bool,
}

/// Whether the mouse is on the vesicle rather than on a panel.
pub fn is_pointed_at(area: Res<ViewArea>) -> bool {
    area.pointed_at
}

/// The molecules on the screen, and the radius that the camera stands for.
#[derive(Component)]
struct Shown {
    radius: Option<f32>,
}

fn set_up(mut commands: Commands) {
    commands.spawn(stage::camera(Orbit {
        focus: Vec3::ZERO,
        distance: 20.0,
        yaw: 0.6,
        pitch: 0.35,
    }));
    commands.spawn((InstancedMolecules::default(), Shown { radius: None }));
}

/// Colors and detail as the preset has them.
fn set_look(editor: Res<Editor>, mut look: ResMut<MoleculeStyle>) {
    let wanted = MoleculeStyle {
        color: match editor.preset.color {
            Color::Element => ColorMode::Element,
            Color::Molecule => ColorMode::Molecule,
            Color::Leaflet => ColorMode::Group,
            Color::Collision => ColorMode::Collision,
            Color::Penetration => ColorMode::Penetration,
        },
        detail: match editor.preset.detail {
            Detail::Auto => DrawDetail::Auto { pixels: PIXELS },
            Detail::Atoms => DrawDetail::Atoms,
            Detail::Blobs => DrawDetail::Clusters,
        },
        depth_cue: DepthCue {
            color: BACKGROUND,
            ..default()
        },
        proxies: (editor.preset.proxies > 0).then(|| ProxyOverlay {
            count: editor.preset.proxies,
            ..default()
        }),
        ..default()
    };
    if *look != wanted {
        *look = wanted;
    }
}

/// Draws the latest snapshot, if it is new or seen from elsewhere.
fn show(
    editor: Res<Editor>,
    mut crowds: Query<(&mut InstancedMolecules, &mut Shown)>,
    mut cameras: Query<(&mut Orbit, &Transform)>,
    mut last: Local<Option<(u32, usize, Preset)>>,
) {
    let Some(latest) = &editor.latest else {
        return;
    };
    for (mut crowd, mut shown) in &mut crowds {
        if shown.radius != Some(latest.radius) {
            for (mut orbit, _) in &mut cameras {
                let reach = |radius: f32| DISTANCE * (radius + BEYOND_NM);
                orbit.distance = match shown.radius {
                    // The user's own distance stays in proportion.
                    Some(old) => orbit.distance * reach(latest.radius) / reach(old),
                    None => reach(latest.radius),
                };
            }
            shown.radius = Some(latest.radius);
        }
        let front = cameras.iter().next().map(|(_, t)| *t.back());
        let key = (
            latest.sample.iteration,
            std::ptr::from_ref(latest.molecules.as_slice()).addr(),
            editor.preset.clone(),
        );
        if last.as_ref() == Some(&key) && !editor.preset.cut_open {
            continue;
        }
        *last = Some(key);
        fill(&mut crowd, latest, front.filter(|_| editor.preset.cut_open));
    }
}

/// Puts the molecules of a snapshot into a crowd, without those on the side of `front`.
fn fill(crowd: &mut InstancedMolecules, snapshot: &Snapshot, front: Option<Vec3>) {
    if !matches!(&crowd.templates[..], [one] if std::sync::Arc::ptr_eq(one, &snapshot.template)) {
        crowd.templates = vec![snapshot.template.clone()];
    }
    let seen = snapshot
        .molecules
        .iter()
        .filter(|molecule| front.is_none_or(|front| molecule.pose.position.dot(front) < 0.0));
    let drawn = seen.map(|molecule| MoleculeInstance {
        template: 0,
        pose: molecule.pose,
        group: molecule.leaflet,
        colliding: molecule.penetration > 0.0,
        penetration: molecule.penetration,
    });
    crowd.molecules.clear();
    crowd.molecules.extend(drawn);
}

/// Lets the vesicle fill what the panels leave free. A picture needs it only once.
fn fit_viewport(
    area: Res<ViewArea>,
    offscreen: Option<Res<Offscreen>>,
    mut cameras: Query<&mut Camera, With<Orbit>>,
) {
    let needed = offscreen.is_none_or(|offscreen| offscreen.frames_left == 1 && !offscreen.hold);
    for mut camera in &mut cameras {
        let target = camera.physical_target_size();
        // A window that was made small may have no room left, for this frame or for long.
        let rectangle = area.rectangle.zip(target).map(|(rectangle, target)| {
            rectangle.intersect(URect::from_corners(UVec2::ZERO, target))
        });
        let is_empty = rectangle.is_some_and(|rectangle| rectangle.is_empty());
        let is_active = needed && !is_empty;
        if camera.is_active != is_active {
            camera.is_active = is_active;
        }
        let place = rectangle
            .filter(|_| !is_empty)
            .map(|rectangle| (rectangle.min, rectangle.size()));
        let now = camera
            .viewport
            .as_ref()
            .map(|viewport| (viewport.physical_position, viewport.physical_size));
        if now != place {
            camera.viewport = place.map(|(physical_position, physical_size)| Viewport {
                physical_position,
                physical_size,
                ..default()
            });
        }
    }
}
