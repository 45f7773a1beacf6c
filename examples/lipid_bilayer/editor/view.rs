//! The view of the vesicle: camera, molecules and style.

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

/// Length of a lipid, nm: the extent of the vesicle beyond its mid-surface.
const LIPID_LENGTH_NM: f32 = 2.6;

/// Distance of the camera over the radius of the vesicle.
const DISTANCE: f32 = 2.75;

/// Max error of a blob compared with its atoms, pixels.
const MAX_BLOB_ERROR: f32 = 1.0;

/// Draws the vesicle.
pub struct ViewPlugin;

impl Plugin for ViewPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ViewArea>()
            .add_systems(Startup, spawn_scene)
            .add_systems(Update, (update_style, update_molecules).chain())
            .add_systems(
                PostUpdate,
                update_viewport.before(bevy::camera::CameraUpdateSystems),
            );
    }
}

/// The part of the window without panels.
#[derive(Resource, Default)]
pub struct ViewArea {
    /// In pixels. `None` is the whole window.
    pub rectangle: Option<URect>,
    /// Whether the mouse is over it and does not drag a widget.
    pub pointed_at: bool,
}

/// Run condition: the mouse points at the vesicle, not at a panel.
pub fn is_pointed_at(area: Res<ViewArea>) -> bool {
    area.pointed_at
}

/// The radius of the vesicle that the camera distance is adapted to.
#[derive(Component, Default)]
struct FramedRadius(Option<f32>);

fn spawn_scene(mut commands: Commands) {
    commands.spawn(stage::camera(Orbit {
        focus: Vec3::ZERO,
        distance: 20.0,
        yaw: 0.6,
        pitch: 0.35,
    }));
    commands.spawn((InstancedMolecules::default(), FramedRadius::default()));
}

/// Applies the colors and the level of detail of the preset.
fn update_style(editor: Res<Editor>, mut style: ResMut<MoleculeStyle>) {
    let wanted = MoleculeStyle {
        color: match editor.preset.color {
            Color::Element => ColorMode::Element,
            Color::Molecule => ColorMode::Molecule,
            Color::Leaflet => ColorMode::Group,
            Color::Collision => ColorMode::Collision,
            Color::Penetration => ColorMode::Penetration,
        },
        detail: match editor.preset.detail {
            Detail::Auto => DrawDetail::Auto {
                pixels: MAX_BLOB_ERROR,
            },
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
    if *style != wanted {
        *style = wanted;
    }
}

/// Draws the latest snapshot if it, the preset or the cutting plane has changed.
fn update_molecules(
    editor: Res<Editor>,
    mut crowds: Query<(&mut InstancedMolecules, &mut FramedRadius)>,
    mut cameras: Query<(&mut Orbit, &Transform)>,
    mut last: Local<Option<(u32, usize, Preset)>>,
) {
    let Some(latest) = &editor.latest else {
        return;
    };
    for (mut crowd, mut framed) in &mut crowds {
        if framed.0 != Some(latest.radius) {
            for (mut orbit, _) in &mut cameras {
                let distance = |radius: f32| DISTANCE * (radius + LIPID_LENGTH_NM);
                orbit.distance = match framed.0 {
                    // Keeps the user's zoom.
                    Some(old) => orbit.distance * distance(latest.radius) / distance(old),
                    None => distance(latest.radius),
                };
            }
            framed.0 = Some(latest.radius);
        }
        let to_camera = cameras.iter().next().map(|(_, camera)| *camera.back());
        let key = (
            latest.sample.iteration,
            std::ptr::from_ref(latest.molecules.as_slice()).addr(),
            editor.preset.clone(),
        );
        if last.as_ref() == Some(&key) && !editor.preset.cut_open {
            continue;
        }
        *last = Some(key);
        fill(
            &mut crowd,
            latest,
            to_camera.filter(|_| editor.preset.cut_open),
        );
    }
}

/// Fills a crowd with the molecules of a snapshot, except those in the half space of `hidden`.
fn fill(crowd: &mut InstancedMolecules, snapshot: &Snapshot, hidden: Option<Vec3>) {
    if !matches!(&crowd.templates[..], [one] if std::sync::Arc::ptr_eq(one, &snapshot.template)) {
        crowd.templates = vec![snapshot.template.clone()];
    }
    let visible = snapshot
        .molecules
        .iter()
        .filter(|molecule| hidden.is_none_or(|hidden| molecule.pose.position.dot(hidden) < 0.0));
    let instances = visible.map(|molecule| MoleculeInstance {
        group: molecule.leaflet,
        colliding: molecule.penetration > 0.0,
        penetration: molecule.penetration,
        ..MoleculeInstance::new(0, molecule.pose)
    });
    crowd.molecules.clear();
    crowd.molecules.extend(instances);
}

/// Fits the camera's viewport between the panels. For a screenshot, only the last frame is
/// drawn.
fn update_viewport(
    area: Res<ViewArea>,
    offscreen: Option<Res<Offscreen>>,
    mut cameras: Query<&mut Camera, With<Orbit>>,
) {
    let needed = offscreen.is_none_or(|offscreen| offscreen.frames_left == 1 && !offscreen.hold);
    for mut camera in &mut cameras {
        let target = camera.physical_target_size();
        // A small window may have no space left.
        let rectangle = area.rectangle.zip(target).map(|(rectangle, target)| {
            rectangle.intersect(URect::from_corners(UVec2::ZERO, target))
        });
        let is_empty = rectangle.is_some_and(|rectangle| rectangle.is_empty());
        let is_active = needed && !is_empty;
        if camera.is_active != is_active {
            camera.is_active = is_active;
        }
        let wanted = rectangle
            .filter(|_| !is_empty)
            .map(|rectangle| (rectangle.min, rectangle.size()));
        let current = camera
            .viewport
            .as_ref()
            .map(|viewport| (viewport.physical_position, viewport.physical_size));
        if current != wanted {
            camera.viewport = wanted.map(|(physical_position, physical_size)| Viewport {
                physical_position,
                physical_size,
                ..default()
            });
        }
    }
}
