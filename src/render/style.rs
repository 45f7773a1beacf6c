//! [`MoleculeStyle`]: colors, depth cues, occlusion and detail of drawn molecules.

use bevy::color::ColorToComponents;
use bevy::prelude::*;
use bytemuck::{Pod, Zeroable};

use super::palette::GpuPalette;

/// What the color of an atom shows. Default: its element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[non_exhaustive]
pub enum ColorMode {
    /// Its element: carbon gray, oxygen red, nitrogen blue, …
    #[default]
    Element,
    /// Its molecule.
    Molecule,
    /// Its chain.
    Chain,
    /// The template of its molecule.
    Template,
    /// The group of its molecule: compartment or leaflet.
    Group,
    /// Whether its molecule overlaps others: green if it is free, red if it collides. Shades
    /// distinguish neighbors.
    Collision,
    /// How deep its molecule overlaps others, from blue (not at all) to yellow
    /// ([`MoleculeStyle::max_penetration`] and more).
    Penetration,
}

impl ColorMode {
    /// All modes, in menu order.
    pub const ALL: [Self; 7] = [
        Self::Element,
        Self::Molecule,
        Self::Chain,
        Self::Template,
        Self::Group,
        Self::Collision,
        Self::Penetration,
    ];
}

/// Fog: distant atoms fade into a color.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct DepthCue {
    /// Fraction of fog at the far end, from 0 (off) to 1. Default: 0.6.
    pub strength: f32,
    /// Color of the fog, usually that of the background. Default: nearly black.
    pub color: Color,
    /// Distances from the camera, nm, where fog begins and where it is full. `None` uses the
    /// nearest and the farthest molecule in view. Default: `None`.
    pub range: Option<(f32, f32)>,
}

impl Default for DepthCue {
    fn default() -> Self {
        Self {
            strength: 0.6,
            color: Color::srgb(0.05, 0.06, 0.08),
            range: None,
        }
    }
}

/// Level of detail. Default: `Auto` with one pixel.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum DrawDetail {
    /// Atoms if they are close, clusters of atoms at a distance.
    Auto {
        /// Maximum error of a cluster with respect to its atoms, pixels. Default: 1.
        pixels: f32,
    },
    /// Always all atoms.
    Atoms,
    /// Always clusters of at most eight atoms of a residue.
    Clusters,
}

impl Default for DrawDetail {
    fn default() -> Self {
        Self::Auto { pixels: 1.0 }
    }
}

/// Proxies of each molecule, drawn over its atoms; see [`proxy`](crate::proxy).
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct ProxyOverlay {
    /// Number of proxies per molecule, at most its number of atoms. Default: 17.
    pub count: u32,
    /// Fraction of the pixels that are drawn, from 0 to 1. Default: 0.5.
    pub opacity: f32,
}

impl Default for ProxyOverlay {
    fn default() -> Self {
        Self {
            count: 17,
            opacity: 0.5,
        }
    }
}

/// Style of all molecules in all views without a [`ViewStyle`]. May be changed at any time. Colors
/// are those of the [`MoleculePalette`](super::MoleculePalette).
///
/// Fractions are clamped to 0..1; other invalid values are replaced by their defaults.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::render::{DrawDetail, MoleculeRenderPlugin, ProxyOverlay, ViewStyle};
///
/// let mut app = App::new();
/// app.add_plugins((MinimalPlugins, MoleculeRenderPlugin));
/// assert_eq!(app.world().resource::<MoleculeStyle>().color, ColorMode::Element);
/// app.insert_resource(MoleculeStyle {
///     color: ColorMode::Collision,
///     detail: DrawDetail::Atoms,
///     proxies: Some(ProxyOverlay { count: 9, ..default() }),
///     ..default()
/// });
/// // One camera shows chains, without effects.
/// app.world_mut().spawn(ViewStyle(MoleculeStyle::plain(ColorMode::Chain)));
/// ```
#[derive(Clone, Debug, PartialEq, Resource, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
pub struct MoleculeStyle {
    /// What colors show. Default: elements.
    pub color: ColorMode,
    /// Fog at a distance. Default: on.
    pub depth_cue: DepthCue,
    /// Strength of the ambient occlusion between the atoms of a molecule, from 0 (off) to 1.
    /// Default: 0.8.
    pub ambient_occlusion: f32,
    /// Darkness of the rims of atoms, from 0 (off) to 1. Default: 0.5.
    pub contours: f32,
    /// Brightness of a light at the camera, as a fraction of the atom's color; for scenes without
    /// lights. Default: 0.
    pub headlight: f32,
    /// Drawn radius of atoms, in units of their collision radius. Default: 1.
    pub radius_scale: f32,
    /// Overlap with the last color of [`ColorMode::Penetration`], nm. Default: 0.05.
    pub max_penetration: f32,
    /// Level of detail. Default: clusters where they differ from their atoms by at most a pixel.
    pub detail: DrawDetail,
    /// Proxies over the atoms. Default: none.
    pub proxies: Option<ProxyOverlay>,
}

impl Default for MoleculeStyle {
    fn default() -> Self {
        Self {
            color: ColorMode::default(),
            depth_cue: DepthCue::default(),
            ambient_occlusion: 0.8,
            contours: 0.5,
            headlight: 0.0,
            radius_scale: 1.0,
            max_penetration: 0.05,
            detail: DrawDetail::default(),
            proxies: None,
        }
    }
}

impl MoleculeStyle {
    /// Colors without effects: no fog, occlusion or contours, and all atoms.
    #[must_use]
    pub fn plain(color: ColorMode) -> Self {
        Self {
            color,
            depth_cue: DepthCue {
                strength: 0.0,
                ..DepthCue::default()
            },
            ambient_occlusion: 0.0,
            contours: 0.0,
            detail: DrawDetail::Atoms,
            ..Self::default()
        }
    }

    /// The radius scale, or its default if it is invalid.
    pub(crate) fn valid_radius_scale(&self) -> f32 {
        positive(self.radius_scale, Self::default().radius_scale)
    }

    /// The style with invalid values clamped or replaced by their defaults.
    #[must_use]
    pub(super) fn sanitized(mut self) -> Self {
        let default = Self::default();
        self.depth_cue.strength = fraction(self.depth_cue.strength);
        self.ambient_occlusion = fraction(self.ambient_occlusion);
        self.contours = fraction(self.contours);
        self.headlight = positive(self.headlight, 0.0);
        self.radius_scale = self.valid_radius_scale();
        self.max_penetration = positive(self.max_penetration, default.max_penetration);
        self.proxies = self.proxies.filter(|proxies| proxies.count > 0);
        if let Some(proxies) = &mut self.proxies {
            proxies.opacity = fraction(proxies.opacity);
        }
        self
    }
}

/// The value, or the default if it is not positive and finite.
fn positive(value: f32, default: f32) -> f32 {
    if value.is_finite() && value > 0.0 {
        value
    } else {
        default
    }
}

/// Clamps to 0..1; 0 if not finite.
pub(super) fn fraction(value: f32) -> f32 {
    if value.is_finite() {
        value.clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// Style of molecules in the view of this camera, instead of the global [`MoleculeStyle`].
#[derive(Clone, Debug, Default, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct ViewStyle(pub MoleculeStyle);

/// [`MoleculeStyle`] as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct GpuStyle {
    /// Index of the color mode.
    pub color_mode: u32,
    /// Strength of the ambient occlusion, from 0 to 1.
    pub occlusion: f32,
    /// Darkness of the rims, from 0 to 1.
    pub contours: f32,
    /// Brightness of the light at the camera.
    pub headlight: f32,
    /// Factor of all radii.
    pub radius_scale: f32,
    /// Inverse of the overlap with the last color, 1/nm.
    pub inverse_max_penetration: f32,
    /// Distance where fog begins, nm.
    pub fog_start: f32,
    /// Inverse of the distance from there to full fog, 1/nm.
    pub fog_per_nm: f32,
    /// Color of the fog, linear.
    pub fog_color: [f32; 3],
    /// Fraction of fog at the far end, from 0 to 1.
    pub fog_strength: f32,
    /// Index of the first color of the mode in the palette.
    pub first_color: u32,
    /// Number of colors of the mode.
    pub color_count: u32,
    /// Index of the first color of colliding molecules in the palette.
    pub first_colliding: u32,
    /// Number of colors of colliding molecules.
    pub colliding_count: u32,
}

impl GpuStyle {
    /// `depths` are the distances of the nearest and the farthest surface in view, nm.
    pub(super) fn new(
        style: &MoleculeStyle,
        palette: &GpuPalette,
        depths: Option<(f32, f32)>,
    ) -> Self {
        let (colors, colliding) = (palette.range(style.color), palette.colliding());
        let cue = &style.depth_cue;
        let (start, end) = cue.range.or(depths).unwrap_or((0.0, 1.0));
        let start = if start.is_finite() {
            start.max(0.0)
        } else {
            0.0
        };
        let length = (end - start).max(1.0e-3);
        Self {
            color_mode: style.color as u32,
            occlusion: style.ambient_occlusion,
            contours: style.contours,
            headlight: style.headlight,
            radius_scale: style.radius_scale,
            inverse_max_penetration: 1.0 / style.max_penetration,
            fog_start: start,
            fog_per_nm: 1.0 / length,
            fog_color: cue.color.to_linear().to_f32_array_no_alpha(),
            fog_strength: cue.strength,
            first_color: colors.start,
            color_count: colors.end - colors.start,
            first_colliding: colliding.start,
            colliding_count: colliding.end - colliding.start,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_values_are_replaced() {
        let invalid = MoleculeStyle {
            ambient_occlusion: f32::NAN,
            contours: 7.0,
            headlight: -1.0,
            radius_scale: f32::INFINITY,
            max_penetration: -0.1,
            depth_cue: DepthCue {
                strength: -3.0,
                ..DepthCue::default()
            },
            proxies: Some(ProxyOverlay {
                opacity: 2.0,
                ..ProxyOverlay::default()
            }),
            ..MoleculeStyle::default()
        };
        let sanitized = invalid.sanitized();
        assert_eq!(sanitized.proxies.map(|proxies| proxies.opacity), Some(1.0));
        assert_eq!(sanitized.ambient_occlusion, 0.0);
        assert_eq!(sanitized.contours, 1.0);
        assert_eq!(sanitized.headlight, 0.0);
        assert_eq!(sanitized.radius_scale, 1.0);
        assert_eq!(sanitized.max_penetration, 0.05);
        assert_eq!(sanitized.depth_cue.strength, 0.0);
        assert_eq!(
            MoleculeStyle::default().sanitized(),
            MoleculeStyle::default()
        );
    }

    #[test]
    fn mode_indices_follow_menu_order() {
        for (index, mode) in ColorMode::ALL.into_iter().enumerate() {
            assert_eq!(mode as usize, index);
        }
    }
}
