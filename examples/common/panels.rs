//! egui panels over the scene: [`PanelsPlugin`] sets egui up, [`TextPanelsPlugin`] shows a
//! status text and the keys.

use bevy::camera::CameraOutputMode;
use bevy::camera::visibility::RenderLayers;
use bevy::prelude::*;
use bevy::render::render_resource::BlendState;
use bevy_egui::egui::{self, Align2, Color32, RichText};
use bevy_egui::{
    EguiContexts, EguiGlobalSettings, EguiPlugin, EguiPrimaryContextPass, PrimaryEguiContext,
};

/// Order of the panel camera: after all other cameras.
const CAMERA_ORDER: isize = 1000;

/// Distance of the text panels from the edges, points.
const MARGIN: f32 = 12.0;

/// Font size of the status text, points.
const STATUS_SIZE: f32 = 15.0;

const TEXT_COLOR: Color32 = Color32::from_rgb(242, 245, 250);
const PANEL_COLOR: Color32 = Color32::from_rgba_premultiplied(26, 31, 41, 184);

/// Sets egui up with a camera of its own, which covers the whole window or screenshot
/// whatever the viewports of the other cameras are.
///
/// Add panels in systems of [`EguiPrimaryContextPass`].
pub struct PanelsPlugin;

impl Plugin for PanelsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(EguiPlugin::default())
            .add_systems(Startup, spawn_camera);
        app.world_mut()
            .resource_mut::<EguiGlobalSettings>()
            .auto_create_primary_context = false;
    }
}

fn spawn_camera(mut commands: Commands) {
    commands.spawn((
        PrimaryEguiContext,
        Camera2d,
        Msaa::Off,
        // It draws nothing but the panels.
        RenderLayers::none(),
        Camera {
            order: CAMERA_ORDER,
            output_mode: CameraOutputMode::Write {
                blend_state: Some(BlendState::ALPHA_BLENDING),
                clear_color: ClearColorConfig::None,
            },
            clear_color: ClearColorConfig::Custom(Color::NONE),
            ..default()
        },
    ));
}

/// Shows [`TextPanels`]. Adds [`PanelsPlugin`].
pub struct TextPanelsPlugin;

impl Plugin for TextPanelsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(PanelsPlugin)
            .init_resource::<TextPanels>()
            .add_systems(EguiPrimaryContextPass, show_text);
    }
}

/// Texts in the corners of the window. Empty texts are not shown.
#[derive(Resource)]
pub struct TextPanels {
    /// In the upper left corner.
    pub status: String,
    /// In the lower left corner.
    pub keys: String,
    /// Font size of the keys, points. Default: 14.
    pub key_size: f32,
}

impl Default for TextPanels {
    fn default() -> Self {
        Self {
            status: String::new(),
            keys: String::new(),
            key_size: 14.0,
        }
    }
}

fn show_text(mut contexts: EguiContexts, panels: Res<TextPanels>) -> Result {
    let ctx = contexts.ctx_mut()?;
    text_panel(ctx, Align2::LEFT_TOP, &panels.status, STATUS_SIZE);
    text_panel(ctx, Align2::LEFT_BOTTOM, &panels.keys, panels.key_size);
    Ok(())
}

fn text_panel(ctx: &egui::Context, corner: Align2, text: &str, size: f32) {
    if text.is_empty() {
        return;
    }
    let down = if corner == Align2::LEFT_TOP {
        MARGIN
    } else {
        -MARGIN
    };
    let max_width = ctx.viewport_rect().width() - 4.0 * MARGIN;
    egui::Area::new(egui::Id::new(("text panel", corner)))
        .anchor(corner, [MARGIN, down])
        .interactable(false)
        .show(ctx, |ui| {
            egui::Frame::new()
                .fill(PANEL_COLOR)
                .corner_radius(6)
                .inner_margin(egui::Margin::symmetric(12, 8))
                .show(ui, |ui| {
                    ui.set_max_width(max_width);
                    ui.label(RichText::new(text).monospace().size(size).color(TEXT_COLOR));
                });
        });
}
