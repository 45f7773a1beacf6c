//! Figures and keys, in the corners of a window.

use bevy::prelude::*;

/// Height of the letters of the figures, pixels.
const LETTERS: f32 = 15.0;

/// The text in the upper corner.
#[derive(Component)]
pub struct Figures;

/// Spawns two panels: figures above, and help in letters of so many pixels below.
pub fn spawn(commands: &mut Commands, figures: &str, help: &str, letters: f32) {
    let panel = BackgroundColor(Color::srgba(0.10, 0.12, 0.16, 0.72));
    let text = |text: &str, letters: f32| {
        (
            Text::new(text),
            TextFont::from_font_size(letters),
            TextColor(Color::srgb(0.95, 0.96, 0.98)),
        )
    };
    let node = Node {
        position_type: PositionType::Absolute,
        left: px(12),
        padding: UiRect::axes(px(12), px(8)),
        border_radius: BorderRadius::all(px(6)),
        ..default()
    };
    let top = Node {
        top: px(12),
        max_width: px(640),
        ..node.clone()
    };
    commands
        .spawn((top, panel))
        .with_child((text(figures, LETTERS), Figures));
    let bottom = Node {
        bottom: px(12),
        max_width: percent(96),
        ..node
    };
    commands
        .spawn((bottom, panel))
        .with_child(text(help, letters));
}

/// Shows other figures, if they are others.
pub fn show(figures: &str, texts: &mut Query<&mut Text, With<Figures>>) {
    for mut text in texts {
        if text.0 != figures {
            figures.clone_into(&mut text.0);
        }
    }
}
