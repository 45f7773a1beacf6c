//! The view: camera, style, box and brush.

use bevy::prelude::*;
use bevy_rapier_molecules::cell_editor::{CellEditor, CellEditorTool};
use bevy_rapier_molecules::prelude::{ColorMode, MoleculeStyle};
use bevy_rapier_molecules::render::DepthCue;

use super::common::orbit::Orbit;
use super::common::stage::{self, BACKGROUND};

/// Distance of the camera over half the largest edge of the box.
const DISTANCE: f32 = 2.9;

/// Fog at the far end.
const FOG: f32 = 0.75;

/// Depth of full fog behind the middle, over half the largest edge of the box.
const FOG_DEPTH: f32 = 1.1;

const BOX_COLOR: Color = Color::srgba(0.55, 0.65, 0.8, 0.12);
const BRUSH_COLOR: Color = Color::srgb(1.0, 0.85, 0.3);

/// Draws the scene.
pub struct ViewPlugin {
    /// Whether the scene is cut open when it is first shown.
    pub cut_open: bool,
}

#[derive(Resource)]
struct CutAtStart(bool);

impl Plugin for ViewPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(CutAtStart(self.cut_open))
            .add_systems(Startup, spawn_camera)
            .add_systems(Update, (frame_scene, update_style, draw_guides).chain());
    }
}

fn spawn_camera(mut commands: Commands) {
    commands.spawn(stage::camera(Orbit {
        focus: Vec3::ZERO,
        distance: 60.0,
        yaw: 0.5,
        pitch: 0.25,
    }));
}

/// Half the largest edge of the box, nm.
fn half_size(editor: &CellEditor) -> Option<f32> {
    let packing = editor.packing()?;
    Some(0.5 * packing.recipe().size().max_element())
}

/// Frames a scene that was just opened.
fn frame_scene(
    mut editor: ResMut<CellEditor>,
    mut cut: ResMut<CutAtStart>,
    mut orbits: Query<(&mut Orbit, &Transform)>,
    mut framed: Local<Option<(Vec3, f32)>>,
) {
    let Some(half_size) = half_size(&editor) else {
        return;
    };
    let scene = (editor.middle(), half_size);
    let is_new = *framed != Some(scene);
    *framed = Some(scene);
    for (mut orbit, transform) in &mut orbits {
        if is_new {
            orbit.focus = scene.0;
            orbit.distance = DISTANCE * half_size;
        }
        if std::mem::take(&mut cut.0) {
            editor.toggle_cut(transform.forward());
        }
    }
}

fn update_style(editor: Res<CellEditor>, orbits: Query<&Orbit>, mut style: ResMut<MoleculeStyle>) {
    let (Some(half_size), Ok(orbit)) = (half_size(&editor), orbits.single()) else {
        return;
    };
    let begin = (orbit.distance - half_size).max(0.0);
    let wanted = MoleculeStyle {
        color: if editor.color_by_entry {
            ColorMode::Group
        } else {
            ColorMode::Element
        },
        depth_cue: DepthCue {
            strength: FOG,
            color: BACKGROUND,
            range: Some((begin, orbit.distance + FOG_DEPTH * half_size)),
        },
        ..default()
    };
    style.set_if_neq(wanted);
}

/// The box, and the ball that the next click paints in.
fn draw_guides(editor: Res<CellEditor>, mut gizmos: Gizmos) {
    let Some(packing) = editor.packing() else {
        return;
    };
    let size = packing.recipe().size();
    gizmos.cube(
        Transform::from_translation(editor.middle()).with_scale(size),
        BOX_COLOR,
    );
    if let (CellEditorTool::Paint { .. }, Some(point)) = (editor.tool, editor.brush_point()) {
        gizmos.sphere(point, editor.brush.radius, BRUSH_COLOR);
    }
}
