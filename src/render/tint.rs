//! [`MoleculeTint`] and [`MoleculeHighlight`]: color, opacity and emphasis of single molecules.

use bevy::prelude::*;

use super::style::fraction;

/// Color and opacity of a `Molecule`, or of all molecules of an
/// [`InstancedMolecules`](super::InstancedMolecules). May be inserted, changed and removed at any
/// time.
///
/// The color is painted over that of the [`ColorMode`](super::ColorMode), by its alpha: an opaque
/// color replaces it, a translucent one is mixed with it. How much of the molecule is seen is a
/// value of its own, [`opacity`](Self::opacity).
///
/// Tints of single instances ([`MoleculeInstance::tint`](super::MoleculeInstance::tint)) are
/// painted over the tint of the entity; opacities are multiplied. Components outside of 0..1 are
/// clamped, and those that are not finite are replaced by their default.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// // A blue ghost, and a molecule whose colors are mixed with red.
/// let ghost = MoleculeTint { color: Color::srgb(0.2, 0.4, 1.0), opacity: 0.3 };
/// let reddish = MoleculeTint::from(Color::srgba(1.0, 0.0, 0.0, 0.5));
/// assert_eq!(reddish.opacity, 1.0);
/// # let mut app = App::new();
/// app.world_mut().spawn((Molecule::default(), ghost));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct MoleculeTint {
    /// Color that is painted over the molecule, by its alpha. Default: `Color::NONE`, which paints
    /// nothing.
    pub color: Color,
    /// Fraction of the pixels that are drawn, from 0 (invisible) to 1. Default: 1.
    pub opacity: f32,
}

impl Default for MoleculeTint {
    fn default() -> Self {
        Self {
            color: Color::NONE,
            opacity: 1.0,
        }
    }
}

impl From<Color> for MoleculeTint {
    fn from(color: Color) -> Self {
        Self {
            color,
            ..Self::default()
        }
    }
}

impl MoleculeTint {
    /// The colors of the [`ColorMode`](super::ColorMode), and an opacity from 0 to 1.
    #[must_use]
    pub fn from_opacity(opacity: f32) -> Self {
        Self {
            opacity,
            ..Self::default()
        }
    }

    /// The color as the shader reads it.
    pub(super) fn packed_color(&self) -> u32 {
        pack_color(self.color)
    }

    /// The opacity, from 0 to 1.
    pub(super) fn valid_opacity(&self) -> f32 {
        if self.opacity.is_finite() {
            fraction(self.opacity)
        } else {
            1.0
        }
    }
}

/// Makes a `Molecule`, or all molecules of an [`InstancedMolecules`](super::InstancedMolecules),
/// stand out: its atoms glow in a color, strongest at their rims, unaffected by light and fog.
///
/// Insert it for each molecule of a selection, and remove it again. Single instances have
/// [`MoleculeInstance::highlight`](super::MoleculeInstance::highlight), which overrides that of the
/// entity.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # use bevy_rapier_molecules::render::MoleculeHighlight;
/// fn select(mut commands: Commands, touching: Query<Entity, Changed<Colliding>>) {
///     for molecule in &touching {
///         commands.entity(molecule).insert(MoleculeHighlight::default());
///     }
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct MoleculeHighlight {
    /// Color of the glow. Its alpha is the strength, from 0 to 1. Default: bright yellow.
    pub color: Color,
}

impl Default for MoleculeHighlight {
    fn default() -> Self {
        Self {
            color: Color::srgb(1.0, 0.85, 0.1),
        }
    }
}

impl MoleculeHighlight {
    /// The color as the shader reads it.
    pub(super) fn packed_color(&self) -> u32 {
        pack_color(self.color)
    }
}

/// Alpha and the square roots of linear red, green and blue, 8-bit unorm each: as accurate as
/// sRGB. Components outside of 0..1 are clamped; if one is not finite, the color is transparent.
fn pack_color(color: Color) -> u32 {
    let LinearRgba {
        red,
        green,
        blue,
        alpha,
    } = color.to_linear();
    let parts = [red, green, blue, alpha];
    if !parts.iter().all(|part| part.is_finite()) {
        return 0;
    }
    let [red, green, blue, alpha] = parts.map(|part| part.clamp(0.0, 1.0));
    let byte = |part: f32| (part * 255.0).round() as u8;
    u32::from_le_bytes([red.sqrt(), green.sqrt(), blue.sqrt(), alpha].map(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colors_are_packed_as_the_shader_unpacks_them() {
        assert_eq!(pack_color(Color::NONE), 0);
        assert_eq!(pack_color(Color::WHITE), 0xffff_ffff);
        assert_eq!(
            pack_color(Color::linear_rgba(0.25, 1.0, 0.0, 0.2)),
            0x3300_ff80
        );
        // The difference of an 8-bit sRGB color and what is shown is at most one step.
        for shown in 0..=255_u8 {
            let packed = pack_color(Color::srgb_u8(shown, 0, 0)) & 0xff;
            let linear = (packed as f32 / 255.0).powi(2);
            let back = Color::linear_rgb(linear, 0.0, 0.0).to_srgba().red * 255.0;
            assert!((back - f32::from(shown)).abs() <= 1.5, "{shown}: {back}");
        }
    }

    #[test]
    fn invalid_values_are_clamped_or_replaced() {
        assert_eq!(
            pack_color(Color::linear_rgba(-1.0, 7.0, 0.0, 3.0)),
            0xff00_ff00
        );
        assert_eq!(pack_color(Color::linear_rgba(f32::NAN, 0.0, 0.0, 1.0)), 0);
        for (opacity, expected) in [
            (-1.0, 0.0),
            (0.3, 0.3),
            (2.0, 1.0),
            (f32::NAN, 1.0),
            (f32::INFINITY, 1.0),
        ] {
            assert_eq!(
                MoleculeTint::from_opacity(opacity).valid_opacity(),
                expected
            );
        }
    }
}
