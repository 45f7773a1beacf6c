//! The pointer: [`CellEditorInput`], and the tools that use it.

use bevy::math::Ray3d;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;

use super::command::CellEditorCommand;
use super::drawing::CellMolecules;
use super::editor::{CellEditor, CellEditorMode, CellEditorTool};
use super::entry_look::split_region;
use super::surface_ray::first_hit;
use crate::compartment::Surface;
use crate::recipe::{Edit, LivePacking, MoleculeId};
use crate::render::{InstanceHit, InstancedMolecules, MoleculeStyle};

/// How far the pointer moves on the plane of a drag before it begins, nm. A click moves nothing.
const DRAG_THRESHOLD: f32 = 0.1;

/// Distance between two balls of one stroke, in radii of the brush.
const STROKE_SPACING: f32 = 1.0;

/// A cut membrane is hit where the cut plane is at most this far from its surface, in radii of the
/// brush.
const CUT_REACH: f32 = 0.8;

/// Farthest point of a ray, nm.
const MAX_DISTANCE: f32 = 100_000.0;

/// Motion of the cut plane per motion of the pointer, both relative to the scene: nm per pixel and
/// nm of the size of the box.
const CUT_PER_PIXEL: f32 = 0.002;

/// The pointer and the keys, as the [`CellEditor`] uses them.
///
/// With a primary window and one `Camera3d`, the ray and the button are updated in
/// [`CellEditorSystems::Input`](super::CellEditorSystems::Input). Without a window, the app sets them.
#[derive(Clone, Copy, Debug, PartialEq, Resource, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
pub struct CellEditorInput {
    /// The ray through the pointer, world frame, nm; none if it is not over the scene. Default: none.
    pub ray: Option<Ray3d>,
    /// Direction of the camera. Default: −z.
    pub forward: Dir3,
    /// Vertical position of the pointer, pixels, downwards. Default: 0.
    pub height: f32,
    /// Whether the left button is held. Default: no.
    pub pressed: bool,
    /// Whether a click adds to the selection: Shift is held. Default: no.
    pub adds: bool,
    /// Set this while a panel has the mouse: the button is ignored until it is pressed again.
    /// Default: no.
    pub pointer_taken: bool,
    /// Set this while a panel has the keys, such as a text field. Default: no.
    pub keys_taken: bool,
    /// Whether a tool uses the button that is held. Cameras should not turn then. Default: no.
    pub in_use: bool,
}

impl Default for CellEditorInput {
    fn default() -> Self {
        Self {
            ray: None,
            forward: Dir3::NEG_Z,
            height: 0.0,
            pressed: false,
            adds: false,
            pointer_taken: false,
            keys_taken: false,
            in_use: false,
        }
    }
}

/// Updates [`CellEditorInput`] from the window and the camera.
pub(super) fn read_pointer(
    mut input: ResMut<CellEditorInput>,
    windows: Query<&Window, With<PrimaryWindow>>,
    cameras: Query<(&Camera, &GlobalTransform), With<Camera3d>>,
    buttons: Option<Res<ButtonInput<MouseButton>>>,
    keys: Option<Res<ButtonInput<KeyCode>>>,
) {
    if let Ok((_, transform)) = cameras.single() {
        input.forward = transform.forward();
    }
    let (Ok(window), Some(buttons)) = (windows.single(), buttons) else {
        return;
    };
    let cursor = window.cursor_position();
    input.ray = cursor.and_then(|cursor| {
        let (camera, transform) = cameras.single().ok()?;
        camera.viewport_to_world(transform, cursor).ok()
    });
    input.height = cursor.map_or(input.height, |cursor| cursor.y);
    // In a slow frame, a short click begins and ends.
    input.pressed = buttons.pressed(MouseButton::Left) || buttons.just_pressed(MouseButton::Left);
    input.adds =
        keys.is_some_and(|keys| keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]));
}

/// What the button that is held does.
#[derive(Default)]
pub(super) enum Action {
    /// It is not held.
    #[default]
    None,
    /// Nothing: it was pressed on a panel or on nothing.
    Ignored,
    /// Moves a molecule on a plane through the grabbed point.
    Drag {
        id: MoleculeId,
        grabbed: Vec3,
        plane: InfinitePlane3d,
        begun: bool,
    },
    /// Paints. The last ball was here.
    Paint { last: Vec3 },
    /// Moves the cut plane. The pointer was here, pixels.
    Cut { height: f32 },
}

/// The tools.
pub(super) fn use_pointer(
    mut input: ResMut<CellEditorInput>,
    mut editor: ResMut<CellEditor>,
    drawn: Query<(&CellMolecules, &InstancedMolecules, &GlobalTransform)>,
    style: Option<Res<MoleculeStyle>>,
    mut commands: MessageWriter<CellEditorCommand>,
    mut action: Local<Action>,
) {
    let radius_scale = style.map_or(1.0, |style| style.radius_scale);
    let pick = |ray: Ray3d| -> Option<(MoleculeId, InstanceHit)> {
        let (cell, molecules, transform) = drawn.iter().next()?;
        let hit = molecules.pick(transform, ray, radius_scale)?;
        Some((*cell.ids().get(hit.molecule)?, hit))
    };
    let ray = input.ray.filter(|_| !input.pointer_taken);
    editor.brush_point = ray.and_then(|ray| editor.brush_center(ray, &pick));
    *action = match std::mem::take(&mut *action) {
        Action::Drag { begun, .. } if !input.pressed => {
            if begun {
                commands.write(CellEditorCommand::EndDrag);
            }
            Action::None
        }
        _ if !input.pressed => Action::None,
        Action::None if input.pointer_taken => Action::Ignored,
        Action::None => press(&mut editor, &input, pick, &mut commands),
        held => hold(held, &mut editor, &input, &mut commands),
    };
    input.in_use = !matches!(*action, Action::None | Action::Ignored);
}

/// The button was pressed over the scene.
fn press(
    editor: &mut CellEditor,
    input: &CellEditorInput,
    pick: impl Fn(Ray3d) -> Option<(MoleculeId, InstanceHit)>,
    commands: &mut MessageWriter<CellEditorCommand>,
) -> Action {
    match editor.tool {
        CellEditorTool::Select => {
            let hit = input.ray.and_then(pick);
            let selection = editor.selection_after_click(hit.map(|(id, _)| id), input.adds);
            if selection != editor.selection {
                commands.write(CellEditorCommand::Select(selection));
            }
            hit.map_or(Action::Ignored, |(id, hit)| Action::Drag {
                id,
                grabbed: hit.point,
                plane: InfinitePlane3d::new(input.forward),
                begun: false,
            })
        }
        CellEditorTool::Paint { .. } => match editor.brush_point {
            Some(point) => {
                paint(editor, point, commands);
                Action::Paint { last: point }
            }
            None => Action::Ignored,
        },
        CellEditorTool::Cut => Action::Cut {
            height: input.height,
        },
    }
}

/// The button is held.
fn hold(
    action: Action,
    editor: &mut CellEditor,
    input: &CellEditorInput,
    commands: &mut MessageWriter<CellEditorCommand>,
) -> Action {
    match action {
        Action::Drag {
            id,
            grabbed,
            plane,
            mut begun,
        } => {
            let meets = |ray: Ray3d| Some(ray.get_point(ray.intersect_plane(grabbed, plane)?));
            // Diffusing bodies have no velocity to pull with.
            let can_drag = editor.mode() != CellEditorMode::Brownian;
            if let Some(target) = input.ray.and_then(meets).filter(|_| can_drag) {
                if !begun && target.distance(grabbed) > DRAG_THRESHOLD {
                    commands.write(CellEditorCommand::StartDrag { id, grabbed });
                    begun = true;
                }
                if begun {
                    commands.write(CellEditorCommand::DragTo(target));
                }
            }
            Action::Drag {
                id,
                grabbed,
                plane,
                begun,
            }
        }
        Action::Paint { last } => match editor.brush_point {
            Some(point) if point.distance(last) >= STROKE_SPACING * editor.brush.radius => {
                paint(editor, point, commands);
                Action::Paint { last: point }
            }
            _ => Action::Paint { last },
        },
        Action::Cut { height } => {
            let size = editor.packing().map(|packing| packing.recipe().size());
            let per_pixel = CUT_PER_PIXEL * size.map_or(0.0, Vec3::max_element);
            // Up is into the scene, away from the hidden side.
            editor.cut.offset -= (height - input.height) * per_pixel;
            editor.cut.enabled = true;
            Action::Cut {
                height: input.height,
            }
        }
        other => other,
    }
}

fn paint(editor: &CellEditor, center: Vec3, commands: &mut MessageWriter<CellEditorCommand>) {
    if let CellEditorTool::Paint { entry } = editor.tool {
        commands.write(CellEditorCommand::Edit(Edit::Paint {
            entry,
            center,
            radius: editor.brush.radius,
            count: editor.brush.count,
        }));
    }
}

impl CellEditor {
    /// The selection after a click on a molecule, or on none.
    fn selection_after_click(&self, clicked: Option<MoleculeId>, adds: bool) -> Vec<MoleculeId> {
        let mut selection = self.selection.clone();
        match clicked {
            Some(id) if adds => match selection.iter().position(|known| *known == id) {
                Some(index) => drop(selection.remove(index)),
                None => selection.push(id),
            },
            None if adds => {}
            // Selected molecules stay selected, so that dragging one keeps the others.
            Some(id) if selection.contains(&id) => {}
            clicked => selection = clicked.into_iter().collect(),
        }
        selection
    }

    /// Where a ray paints: on the surface for molecules of a membrane; for others where it meets the
    /// cut plane, else the first molecule, else in the middle of their compartment.
    fn brush_center(
        &self,
        ray: Ray3d,
        pick: &impl Fn(Ray3d) -> Option<(MoleculeId, InstanceHit)>,
    ) -> Option<Vec3> {
        let (CellEditorTool::Paint { entry }, Some(packing)) = (self.tool, self.packing()) else {
            return None;
        };
        let (surface, [low, high], in_surface) = place_of(packing, entry)?;
        let cut = self.cut.enabled.then(|| self.cut.entry(ray));
        let from = cut.map_or(Some(0.0), |entry| entry)?;
        if in_surface {
            // Without a cut, the ray begins in front of the scene.
            let reach = if from > 0.0 {
                CUT_REACH * self.brush.radius
            } else {
                0.0
            };
            return first_hit(surface?, ray, [from, MAX_DISTANCE], reach);
        }
        let is_inside = |point: &Vec3| {
            let in_box = point.cmpge(low).all() && point.cmple(high).all();
            in_box && surface.is_none_or(|surface| surface.signed_distance(*point) < 0.0)
        };
        let on_cut = (from > 0.0).then(|| ray.get_point(from)).filter(is_inside);
        let on_molecule = || pick(ray).map(|(_, hit)| hit.point).filter(is_inside);
        let middle = || {
            let center = surface.map_or(low.midpoint(high), Surface::center);
            let along = (center - ray.origin).dot(*ray.direction).max(from);
            Some(ray.get_point(along)).filter(is_inside)
        };
        on_cut.or_else(on_molecule).or_else(middle)
    }
}

/// Surface and bounds of the compartment of an entry, and whether the entry is in its surface.
fn place_of(
    packing: &LivePacking,
    entry: usize,
) -> Option<(Option<&dyn Surface>, [Vec3; 2], bool)> {
    let entry = packing.entries().nth(entry)?;
    let (compartment, region) = split_region(entry);
    let mut compartments = packing.recipe().compartments.iter();
    let compartment = compartments.find(|it| it.name == compartment)?;
    let in_surface = region != "interior";
    Some((
        compartment.surface.as_deref(),
        compartment.bounds,
        in_surface,
    ))
}
