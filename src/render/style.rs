//! How molecules look: colors, depth, occlusion, detail.

use bevy::color::ColorToComponents;
use bevy::prelude::*;
use bytemuck::{Pod, Zeroable};

/// What the color of an atom stands for. Default: its element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
#[non_exhaustive]
pub enum ColorMode {
    /// Its element: carbon gray, oxygen red, nitrogen blue, …
    #[default]
    Element,
    /// Its molecule, so that neighbors can be told apart.
    Molecule,
    /// Its chain.
    Chain,
    /// The template of its molecule.
    Template,
    /// The group of its molecule: compartment or leaflet.
    Group,
    /// Whether its molecule overlaps others: green if it is free, red if it collides.
    /// The shade has no meaning but to tell neighbors apart.
    Collision,
    /// How deep its molecule overlaps others, from blue (not at all) to yellow
    /// ([`MoleculeStyle::deep`] and more).
    Penetration,
}

impl ColorMode {
    /// All modes, in the order of a menu.
    pub const ALL: [Self; 7] = [
        Self::Element,
        Self::Molecule,
        Self::Chain,
        Self::Template,
        Self::Group,
        Self::Collision,
        Self::Penetration,
    ];

    /// What the shader calls it.
    pub(super) fn number(self) -> u32 {
        self as u32
    }
}

/// Far atoms fade into a color, so that what is in front stands out.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct DepthCue {
    /// How much of an atom at the far end is fog, from 0 (off) to 1. Default: 0.6.
    pub strength: f32,
    /// Color of the fog; that of the background does best. Default: nearly black.
    pub color: Color,
    /// Distances from the camera, nm, where fog begins and where it is full. None takes
    /// those of the nearest and the farthest molecule in view. Default: none.
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

/// How much of a molecule is drawn. Default: `Auto` with a pixel.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum DrawDetail {
    /// Atoms near by, blobs of many atoms far away.
    Auto {
        /// By how many pixels a blob and the atoms that it stands for may differ. Default: 1.
        pixels: f32,
    },
    /// Always each atom.
    Atoms,
    /// Always blobs of at most eight atoms of a residue.
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
    /// How many proxies each molecule has; it has no more than atoms. Default: 17.
    pub count: u32,
    /// How much of what is behind they hide, from 0 to 1: every second pixel at 0.5.
    /// Default: 0.5.
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

/// How all molecules look in all views; see [`ViewStyle`] for a view of its own. May be
/// changed at any time; numbers that cannot be are replaced by the nearest that can.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_rapier_molecules::prelude::*;
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
/// // One camera shows chains, plainly.
/// app.world_mut().spawn(ViewStyle(MoleculeStyle::plain(ColorMode::Chain)));
///
/// // A key may go through all modes, in the order of a menu.
/// fn next_mode(mut look: ResMut<MoleculeStyle>) {
///     let now = ColorMode::ALL.iter().position(|mode| *mode == look.color);
///     let next = now.map_or(0, |now| now + 1) % ColorMode::ALL.len();
///     look.color = ColorMode::ALL[next];
/// }
/// app.add_systems(Update, next_mode);
/// app.update();
/// assert_eq!(app.world().resource::<MoleculeStyle>().color, ColorMode::Penetration);
/// ```
#[derive(Clone, Debug, PartialEq, Resource, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
pub struct MoleculeStyle {
    /// What colors stand for. Default: elements.
    pub color: ColorMode,
    /// Fades what is far away. Default: on.
    pub depth_cue: DepthCue,
    /// How dark atoms are where other atoms of their molecule surround them, from 0
    /// (off) to 1. Default: 0.8.
    pub ambient_occlusion: f32,
    /// How dark the rims of atoms are, from 0 (off) to 1: it parts what overlaps on the
    /// screen. Default: 0.5.
    pub contours: f32,
    /// How bright the light is that comes from the camera itself, as a fraction of the
    /// atom's color: a scene without lights can be seen, too. Default: 0.
    pub headlight: f32,
    /// Size at which atoms are drawn, in units of their collision radius. Default: 1.
    pub radius_scale: f32,
    /// Overlap that has the last color in [`ColorMode::Penetration`], nm.
    /// Default: 0.05 nm.
    pub deep: f32,
    /// How much is drawn of molecules that are far away. Default: blobs where they
    /// differ from their atoms by a pixel at most.
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
            deep: 0.05,
            detail: DrawDetail::default(),
            proxies: None,
        }
    }
}

impl MoleculeStyle {
    /// Colors and nothing else: no fog, no occlusion, no rims, every atom.
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

    /// The same look with impossible numbers replaced by the nearest possible.
    #[must_use]
    pub(super) fn sane(mut self) -> Self {
        let positive = |value: f32, default: f32| {
            if value.is_finite() && value > 0.0 {
                value
            } else {
                default
            }
        };
        let default = Self::default();
        self.depth_cue.strength = fraction(self.depth_cue.strength);
        self.ambient_occlusion = fraction(self.ambient_occlusion);
        self.contours = fraction(self.contours);
        self.headlight = if self.headlight.is_finite() {
            self.headlight.max(0.0)
        } else {
            0.0
        };
        self.radius_scale = positive(self.radius_scale, default.radius_scale);
        self.deep = positive(self.deep, default.deep);
        self.proxies = self.proxies.filter(|proxies| proxies.count > 0);
        if let Some(proxies) = &mut self.proxies {
            proxies.opacity = fraction(proxies.opacity);
        }
        self
    }
}

/// A number from 0 to 1; impossible ones are 0.
pub(super) fn fraction(value: f32) -> f32 {
    if value.is_finite() {
        value.clamp(0.0, 1.0)
    } else {
        0.0
    }
}

/// How molecules look in the view of this camera, in place of [`MoleculeStyle`].
///
/// ```
/// use bevy::prelude::*;
/// use bevy_rapier_molecules::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut app = App::new();
/// # app.add_plugins((MinimalPlugins, MoleculeRenderPlugin));
/// // Two views of the same molecules: one as all are, one in red and green.
/// fn spawn_cameras(mut commands: Commands) {
///     commands.spawn((Camera3d::default(), Transform::from_xyz(-1.0, 0.0, 20.0)));
///     commands.spawn((
///         Camera3d::default(),
///         Transform::from_xyz(1.0, 0.0, 20.0),
///         ViewStyle(MoleculeStyle { color: ColorMode::Collision, ..default() }),
///     ));
/// }
/// app.add_systems(Startup, spawn_cameras);
/// app.update();
///
/// let mut views = app.world_mut().query_filtered::<&ViewStyle, With<Camera3d>>();
/// assert_eq!(views.single(app.world())?.0.color, ColorMode::Collision);
/// assert_eq!(app.world().resource::<MoleculeStyle>().color, ColorMode::Element);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct ViewStyle(pub MoleculeStyle);

/// How molecules look in a view, as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
pub struct GpuStyle {
    /// Number of the color mode.
    pub color_mode: u32,
    /// How dark hidden places are, from 0 to 1.
    pub occlusion: f32,
    /// How dark rims are, from 0 to 1.
    pub contours: f32,
    /// Brightness of the light from the camera.
    pub headlight: f32,
    /// Factor of all radii.
    pub radius_scale: f32,
    /// One over the overlap that has the last color, 1/nm.
    pub inverse_deep: f32,
    /// Distance where fog begins, nm.
    pub fog_start: f32,
    /// One over the distance from there to where it is full, 1/nm.
    pub fog_per_nm: f32,
    /// Color of the fog, linear.
    pub fog_color: [f32; 3],
    /// How much of what is farthest is fog, from 0 to 1.
    pub fog_strength: f32,
}

impl GpuStyle {
    /// `depths` are the distances of the nearest and the farthest surface in view, nm.
    pub(super) fn new(look: &MoleculeStyle, depths: Option<(f32, f32)>) -> Self {
        let cue = &look.depth_cue;
        let (start, end) = cue.range.or(depths).unwrap_or((0.0, 1.0));
        let start = if start.is_finite() {
            start.max(0.0)
        } else {
            0.0
        };
        let length = (end - start).max(1.0e-3);
        Self {
            color_mode: look.color.number(),
            occlusion: look.ambient_occlusion,
            contours: look.contours,
            headlight: look.headlight,
            radius_scale: look.radius_scale,
            inverse_deep: 1.0 / look.deep,
            fog_start: start,
            fog_per_nm: if length.is_finite() {
                1.0 / length
            } else {
                0.0
            },
            fog_color: cue.color.to_linear().to_f32_array_no_alpha(),
            fog_strength: cue.strength,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impossible_numbers_become_possible() {
        let odd = MoleculeStyle {
            ambient_occlusion: f32::NAN,
            contours: 7.0,
            headlight: -1.0,
            radius_scale: f32::INFINITY,
            deep: -0.1,
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
        let sane = odd.sane();
        assert_eq!(sane.proxies.map(|proxies| proxies.opacity), Some(1.0));
        assert_eq!(sane.ambient_occlusion, 0.0);
        assert_eq!(sane.contours, 1.0);
        assert_eq!(sane.headlight, 0.0);
        assert_eq!(sane.radius_scale, 1.0);
        assert_eq!(sane.deep, 0.05);
        assert_eq!(sane.depth_cue.strength, 0.0);
        assert_eq!(MoleculeStyle::default().sane(), MoleculeStyle::default());
    }

    #[test]
    fn modes_are_numbered_in_the_order_of_the_menu() {
        for (number, mode) in ColorMode::ALL.into_iter().enumerate() {
            assert_eq!(mode.number() as usize, number);
        }
    }
}
