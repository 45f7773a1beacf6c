//! The view of the molecules: camera, molecules and style.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::render::{
    ColorMode, DepthCue, DrawDetail, InstancedMolecules, MoleculeInstance, MoleculeStyle,
    ProxyOverlay,
};

use super::super::common::orbit::Orbit;
use super::super::common::stage::{self, BACKGROUND};
use super::super::common::view_area::ViewAreaPlugin;
use super::super::preset::{Color, Detail, Preset};
use super::super::scene::Layout;
use super::super::simulation::Snapshot;
use super::Editor;

/// Distance of the camera over the distance of the farthest atom from the middle.
const DISTANCE: f32 = 2.75;

/// The same for a flat patch, which is not as high as it is wide.
const FLAT_DISTANCE: f32 = 2.0;

/// Fog of a vesicle that is cut open, to show how deep it is.
const CUT_FOG: f32 = 0.85;

/// Depth of full fog behind the cut, over the distance of the farthest atom from the middle.
const CUT_FOG_DEPTH: f32 = 0.65;

/// Max error of a blob compared with its atoms, pixels.
const MAX_BLOB_ERROR: f32 = 1.0;

/// Draws the molecules.
pub struct ViewPlugin;

impl Plugin for ViewPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(ViewAreaPlugin)
            .add_systems(Startup, spawn_scene)
            .add_systems(Update, (update_style, update_molecules).chain());
    }
}

/// The distance that the camera has without zoom.
#[derive(Component, Default)]
struct FramedDistance(Option<f32>);

fn spawn_scene(mut commands: Commands) {
    commands.spawn(stage::camera(Orbit {
        focus: Vec3::ZERO,
        distance: 20.0,
        yaw: 0.6,
        pitch: 0.35,
    }));
    commands.spawn((InstancedMolecules::default(), FramedDistance::default()));
}

/// Applies the colors and the level of detail of the preset.
fn update_style(editor: Res<Editor>, orbits: Query<&Orbit>, mut style: ResMut<MoleculeStyle>) {
    let layout = editor.latest.as_ref().map(|latest| &latest.layout);
    let hollow = layout.filter(|layout| editor.preset.cut_open && !layout.shape.is_flat());
    let depth_cue = DepthCue {
        color: BACKGROUND,
        ..default()
    };
    let depth_cue = match (hollow, orbits.iter().next()) {
        (Some(layout), Some(orbit)) => DepthCue {
            strength: CUT_FOG,
            range: Some((
                orbit.distance,
                orbit.distance + CUT_FOG_DEPTH * layout.reach,
            )),
            ..depth_cue
        },
        _ => depth_cue,
    };
    let wanted = MoleculeStyle {
        color: match editor.preset.color {
            Color::Element => ColorMode::Element,
            Color::Molecule => ColorMode::Molecule,
            Color::Leaflet | Color::Species => ColorMode::Group,
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
        depth_cue,
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
    mut crowds: Query<
        (&mut InstancedMolecules, &mut Transform, &mut FramedDistance),
        Without<Orbit>,
    >,
    mut cameras: Query<(&mut Orbit, &Transform)>,
    mut last: Local<Option<(u32, usize, Preset)>>,
) {
    let Some(latest) = &editor.latest else {
        return;
    };
    let frame = frame_of(&latest.layout);
    for (mut crowd, mut transform, mut framed) in &mut crowds {
        transform.set_if_neq(frame);
        let distance = distance_to(&latest.layout);
        if framed.0 != Some(distance) {
            for (mut orbit, _) in &mut cameras {
                orbit.distance = match framed.0 {
                    // Keeps the user's zoom.
                    Some(old) => orbit.distance * distance / old,
                    None => distance,
                };
            }
            framed.0 = Some(distance);
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
        let to_camera = to_camera.filter(|_| editor.preset.cut_open);
        let hidden = to_camera.map(|to_camera| hidden_side(&latest.layout, to_camera));
        fill(&mut crowd, latest, editor.preset.color, hidden);
    }
}

/// The pose of the molecules: their middle is at the origin, and a flat patch is horizontal.
fn frame_of(layout: &Layout) -> Transform {
    let rotation = if layout.shape.is_flat() {
        Quat::from_rotation_arc(Vec3::Z, Vec3::Y)
    } else {
        Quat::IDENTITY
    };
    Transform::from_rotation(rotation).with_translation(-(rotation * layout.center))
}

/// The distance of the camera that shows all molecules.
fn distance_to(layout: &Layout) -> f32 {
    let factor = if layout.shape.is_flat() {
        FLAT_DISTANCE
    } else {
        DISTANCE
    };
    factor * layout.reach
}

/// The direction of the hidden half, in the frame of the molecules: toward the camera, and within
/// the plane of a flat patch, so that the cut shows both leaflets.
fn hidden_side(layout: &Layout, to_camera: Vec3) -> Vec3 {
    if !layout.shape.is_flat() {
        return to_camera;
    }
    let local = frame_of(layout).rotation.inverse() * to_camera;
    local.with_z(0.0).normalize_or(Vec3::X)
}

/// Fills a crowd with the molecules of a snapshot, except those in the half space of `hidden`.
fn fill(crowd: &mut InstancedMolecules, snapshot: &Snapshot, color: Color, hidden: Option<Vec3>) {
    let (known, templates) = (&crowd.templates, &snapshot.templates);
    let mut pairs = known.iter().zip(templates);
    if known.len() != templates.len() || !pairs.all(|(a, b)| Arc::ptr_eq(a, b)) {
        crowd.templates.clone_from(templates);
    }
    let center = snapshot.layout.center;
    let all = snapshot.molecules.iter().zip(&snapshot.layout.labels);
    let visible = all.filter(|(molecule, _)| {
        hidden.is_none_or(|hidden| (molecule.pose.position - center).dot(hidden) < 0.0)
    });
    let instances = visible.map(|(molecule, label)| MoleculeInstance {
        group: match color {
            Color::Species => label.species,
            _ => label.leaflet,
        },
        colliding: molecule.penetration > 0.0,
        penetration: molecule.penetration,
        ..MoleculeInstance::new(molecule.template, molecule.pose)
    });
    crowd.molecules.clear();
    crowd.molecules.extend(instances);
}
