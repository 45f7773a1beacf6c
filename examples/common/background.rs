//! The dark background that most windows and pictures have.

use bevy::prelude::Color;

/// Color behind everything, and of fog.
pub const BACKGROUND: Color = Color::srgb(0.055, 0.065, 0.085);
