//! The part of a window without panels: where the scene is drawn, and where the mouse is its own.

use bevy::camera::{CameraUpdateSystems, Viewport};
use bevy::prelude::*;
use bevy_egui::egui;
use bevy_rapier_molecules::render::offscreen::Offscreen;

use super::orbit::Orbit;

/// Fits the viewport of cameras with an [`Orbit`] into the [`ViewArea`].
pub struct ViewAreaPlugin;

impl Plugin for ViewAreaPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<ViewArea>()
            .add_systems(PostUpdate, update_viewport.before(CameraUpdateSystems));
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

impl ViewArea {
    /// Sets what the panels have left free, in points.
    pub fn update(&mut self, ctx: &egui::Context, free: egui::Rect) {
        let scale = ctx.pixels_per_point();
        let pixels = |value: f32| (value * scale).max(0.0).round() as u32;
        self.rectangle = Some(URect {
            min: UVec2::new(pixels(free.left()), pixels(free.top())),
            max: UVec2::new(pixels(free.right()), pixels(free.bottom())),
        });
        let pointer = ctx.pointer_latest_pos();
        self.pointed_at =
            pointer.is_some_and(|position| free.contains(position)) && !ctx.egui_is_using_pointer();
    }
}

/// Run condition: the mouse points at the scene, not at a panel.
pub fn is_pointed_at(area: Res<ViewArea>) -> bool {
    area.pointed_at
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
