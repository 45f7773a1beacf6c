//! [`MoleculePalette`]: the colors of each color mode.

use std::collections::BTreeMap;
use std::ops::Range;

use bevy::color::{ColorToComponents, Mix, Oklcha};
use bevy::prelude::*;

use super::style::ColorMode;
use crate::molecule::Element;

/// Number of default colors of molecules, chains, templates and groups.
///
/// Hues advance by the golden angle, so that consecutive colors differ most.
const CATEGORIES: u32 = 24;

/// Number of default shades of green for free molecules, and of red for colliding ones.
const SHADES: u32 = 8;

/// Number of steps from no overlap to the deepest overlap.
const DEPTHS: u32 = 32;

/// Golden angle, degrees.
const GOLDEN_ANGLE: f32 = 137.507_77;

/// The colors of each [`ColorMode`], in all views. May be changed at any time.
///
/// Colors of a list repeat if there are more molecules, chains, templates or groups. An empty list
/// has its default colors. Alpha is ignored; components outside of 0..1 are clamped, and colors
/// that are not finite are black.
///
/// ```
/// use bevy::prelude::*;
/// use bevy_rapier_molecules::molecule::Element;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::render::{MoleculePalette, MoleculeRenderPlugin};
///
/// let mut app = App::new();
/// app.add_plugins((MinimalPlugins, MoleculeRenderPlugin));
/// let mut palette = app.world_mut().resource_mut::<MoleculePalette>();
/// palette.set_element(Element::C, Color::srgb(0.2, 0.8, 0.3));
/// palette.chains = vec![Color::srgb(0.9, 0.4, 0.2), Color::srgb(0.2, 0.5, 0.9)];
/// palette.penetration = vec![Color::WHITE, Color::srgb(0.6, 0.0, 0.0)];
/// ```
#[derive(Clone, Debug, PartialEq, Resource, Reflect)]
#[reflect(Resource, Clone, Debug, Default, PartialEq)]
pub struct MoleculePalette {
    /// Colors of elements by atomic number, for [`ColorMode::Element`]. Default: CPK colors (Corey,
    /// Pauling, Koltun).
    pub elements: BTreeMap<u8, Color>,
    /// Color of the other elements. Default: pink.
    pub other_elements: Color,
    /// Colors of molecules, for [`ColorMode::Molecule`]. Default: 24 different colors.
    pub molecules: Vec<Color>,
    /// Colors of chains in the order of the file, for [`ColorMode::Chain`]. Default: as molecules.
    pub chains: Vec<Color>,
    /// Colors of templates, for [`ColorMode::Template`]. Default: as molecules.
    pub templates: Vec<Color>,
    /// Colors of groups by index, for [`ColorMode::Group`]. Default: as molecules.
    pub groups: Vec<Color>,
    /// Shades of free molecules, for [`ColorMode::Collision`]. Default: 8 shades of green.
    pub free: Vec<Color>,
    /// Shades of colliding molecules, for [`ColorMode::Collision`]. Default: 8 shades of red.
    pub colliding: Vec<Color>,
    /// Gradient from no overlap to
    /// [`MoleculeStyle::max_penetration`](super::MoleculeStyle::max_penetration), for
    /// [`ColorMode::Penetration`]; at equal distances. Default: from dark blue through red to
    /// yellow.
    pub penetration: Vec<Color>,
}

impl Default for MoleculePalette {
    fn default() -> Self {
        let categories: Vec<Color> = (0..CATEGORIES).map(category).collect();
        Self {
            elements: cpk_colors(),
            other_elements: Color::srgb_u8(222, 120, 190),
            molecules: categories.clone(),
            chains: categories.clone(),
            templates: categories.clone(),
            groups: categories,
            free: (0..SHADES).map(|shade| shade_of(145.0, shade)).collect(),
            colliding: (0..SHADES).map(|shade| shade_of(27.0, shade)).collect(),
            penetration: (0..DEPTHS)
                .map(|step| depth(step as f32 / (DEPTHS - 1) as f32))
                .collect(),
        }
    }
}

impl MoleculePalette {
    /// The color of an element.
    #[must_use]
    pub fn element(&self, element: Element) -> Color {
        let color = self.elements.get(&element.atomic_number());
        *color.unwrap_or(&self.other_elements)
    }

    /// Sets the color of an element.
    pub fn set_element(&mut self, element: Element, color: Color) {
        self.elements.insert(element.atomic_number(), color);
    }

    /// The color of an element, linear and displayable.
    pub(super) fn linear_element(&self, element: Element) -> LinearRgba {
        displayable_part(self.element(element))
    }

    /// Whether all elements have the same colors.
    pub(super) fn has_elements_of(&self, other: &Self) -> bool {
        self.elements == other.elements && self.other_elements == other.other_elements
    }
}

/// Clamps a color to what can be displayed; black if it is not finite.
fn displayable_part(color: Color) -> LinearRgba {
    let parts = color.to_linear().to_f32_array_no_alpha();
    if parts.iter().all(|part| part.is_finite()) {
        LinearRgba::from_f32_array_no_alpha(parts.map(|part| part.clamp(0.0, 1.0)))
    } else {
        LinearRgba::BLACK
    }
}

/// The palette as the shader reads it: linear colors, with a range per list.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct GpuPalette {
    /// Red, green, blue, and one.
    pub colors: Vec<[f32; 4]>,
    molecules: Range<u32>,
    chains: Range<u32>,
    templates: Range<u32>,
    groups: Range<u32>,
    free: Range<u32>,
    colliding: Range<u32>,
    penetration: Range<u32>,
}

impl GpuPalette {
    pub fn new(palette: &MoleculePalette) -> Self {
        let default = MoleculePalette::default();
        let mut colors = Vec::new();
        let mut add = |list: &[Color], default: &[Color]| {
            let first = colors.len() as u32;
            let list = if list.is_empty() { default } else { list };
            let linear = list.iter().map(|&color| displayable_part(color));
            colors.extend(linear.map(LinearRgba::to_f32_array));
            first..colors.len() as u32
        };
        let molecules = add(&palette.molecules, &default.molecules);
        let chains = add(&palette.chains, &default.chains);
        let templates = add(&palette.templates, &default.templates);
        let groups = add(&palette.groups, &default.groups);
        let free = add(&palette.free, &default.free);
        let colliding = add(&palette.colliding, &default.colliding);
        let penetration = add(&gradient(&palette.penetration), &default.penetration);
        Self {
            colors,
            molecules,
            chains,
            templates,
            groups,
            free,
            colliding,
            penetration,
        }
    }

    /// The colors of a mode. In [`ColorMode::Collision`], those of free molecules.
    pub fn range(&self, mode: ColorMode) -> Range<u32> {
        let range = match mode {
            // The spheres of the templates contain the colors of elements.
            ColorMode::Element => &(0..1),
            ColorMode::Molecule => &self.molecules,
            ColorMode::Chain => &self.chains,
            ColorMode::Template => &self.templates,
            ColorMode::Group => &self.groups,
            ColorMode::Collision => &self.free,
            ColorMode::Penetration => &self.penetration,
        };
        range.clone()
    }

    /// The colors of colliding molecules in [`ColorMode::Collision`].
    pub fn colliding(&self) -> Range<u32> {
        self.colliding.clone()
    }
}

/// [`DEPTHS`] colors from the first to the last of `stops`.
fn gradient(stops: &[Color]) -> Vec<Color> {
    let Some(last) = stops.len().checked_sub(1) else {
        return Vec::new();
    };
    let intervals = DEPTHS as usize - 1;
    let color = |step: usize| {
        let stop = step * last / intervals;
        let rest = step * last % intervals;
        let next = stops[(stop + 1).min(last)];
        if rest == 0 {
            stops[stop]
        } else {
            let fraction = rest as f32 / intervals as f32;
            stops[stop]
                .to_linear()
                .mix(&next.to_linear(), fraction)
                .into()
        }
    };
    (0..=intervals).map(color).collect()
}

/// The sRGB color with this lightness, hue (degrees) and chroma, or with the largest displayable
/// chroma.
fn displayable(lightness: f32, chroma: f32, hue: f32) -> LinearRgba {
    const STEPS: u16 = 64;
    let color = |step: u16| {
        let reduced = chroma * (1.0 - f32::from(step) / f32::from(STEPS));
        LinearRgba::from(Oklcha::lch(lightness, reduced, hue))
    };
    let is_displayable = |color: &LinearRgba| {
        let parts = color.to_f32_array();
        parts.iter().all(|part| (0.0..=1.0).contains(part))
    };
    // Gray, without chroma, is always displayable.
    (0..STEPS)
        .map(color)
        .find(is_displayable)
        .unwrap_or_else(|| color(STEPS))
}

/// A color that differs from those of adjacent indices.
fn category(index: u32) -> Color {
    let lightness = [0.70, 0.58, 0.80][index as usize % 3];
    let hue = (30.0 + GOLDEN_ANGLE * index as f32) % 360.0;
    displayable(lightness, 0.14, hue).into()
}

/// A shade of one hue (degrees), from dark to bright.
fn shade_of(hue: f32, shade: u32) -> Color {
    let step = shade as f32 / (SHADES - 1) as f32;
    displayable(0.50 + 0.28 * step, 0.17, hue - 8.0 + 16.0 * step).into()
}

/// From dark blue (0) through red to yellow (1). Deeper is brighter, which is readable with
/// color blindness, too.
fn depth(fraction: f32) -> Color {
    let hue = 265.0 + (460.0 - 265.0) * fraction;
    displayable(0.38 + 0.50 * fraction, 0.16, hue % 360.0).into()
}

/// CPK colors of the elements of biomolecules, by atomic number.
fn cpk_colors() -> BTreeMap<u8, Color> {
    let colors: [(&[Element], [u8; 3]); 14] = [
        (&[Element::H], [236, 236, 236]),
        (&[Element::C], [144, 144, 148]),
        (&[Element::N], [70, 100, 240]),
        (&[Element::O], [232, 44, 32]),
        (&[Element::F, Element::CL], [60, 200, 60]),
        (&[Element::P], [255, 140, 20]),
        (&[Element::S], [240, 210, 50]),
        (&[Element::BR], [150, 45, 30]),
        (&[Element::I], [130, 30, 150]),
        (&[Element::NA, Element::K, Element::CS], [160, 90, 220]),
        (&[Element::MG, Element::CA], [70, 160, 60]),
        (&[Element::FE], [214, 104, 44]),
        (&[Element::ZN], [125, 128, 176]),
        (&[Element::SE], [235, 160, 30]),
    ];
    let colors = colors
        .into_iter()
        .flat_map(|(elements, [red, green, blue])| {
            let color = Color::srgb_u8(red, green, blue);
            elements
                .iter()
                .map(move |element| (element.atomic_number(), color))
        });
    colors.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn default_palette() -> GpuPalette {
        GpuPalette::new(&MoleculePalette::default())
    }

    fn colors(palette: &GpuPalette, range: Range<u32>) -> &[[f32; 4]] {
        &palette.colors[range.start as usize..range.end as usize]
    }

    #[test]
    fn default_colors_are_displayable_and_each_list_has_its_range() {
        let palette = default_palette();
        for color in &palette.colors {
            assert!(color.iter().all(|part| (0.0..=1.0).contains(part)));
        }
        for (mode, count) in ColorMode::ALL.into_iter().zip([1, 24, 24, 24, 24, 8, 32]) {
            assert_eq!(palette.range(mode).len(), count, "{mode:?}");
        }
        assert_eq!(palette.colliding().len(), 8);
        assert_eq!(
            palette.range(ColorMode::Penetration).end as usize,
            palette.colors.len()
        );
    }

    #[test]
    fn reducing_chroma_keeps_lightness_and_hue() {
        // Outside of the sRGB gamut.
        let shown = Oklcha::from(displayable(0.8, 0.3, 265.0));
        assert!((shown.lightness - 0.8).abs() < 1.0e-3);
        assert!((shown.hue - 265.0).abs() < 0.5);
        assert!(shown.chroma > 0.05 && shown.chroma < 0.3);
        let exact = Oklcha::from(displayable(0.7, 0.05, 30.0));
        assert!((exact.chroma - 0.05).abs() < 1.0e-4);
    }

    #[test]
    fn free_is_green_and_colliding_is_red() {
        let palette = default_palette();
        for &[red, green, blue, _] in colors(&palette, palette.range(ColorMode::Collision)) {
            assert!(green > 1.5 * red && green > 1.5 * blue);
        }
        for &[red, green, blue, _] in colors(&palette, palette.colliding()) {
            assert!(red > 1.5 * green && red > 1.5 * blue);
        }
    }

    #[test]
    fn adjacent_categories_differ_and_deeper_is_brighter() {
        let palette = default_palette();
        for pair in colors(&palette, palette.range(ColorMode::Chain)).windows(2) {
            let apart: f32 = pair[0]
                .iter()
                .zip(pair[1])
                .map(|(a, b)| (a - b).abs())
                .sum();
            assert!(apart > 0.3, "{pair:?}");
        }
        let brightness =
            |[red, green, blue, _]: [f32; 4]| 0.2126 * red + 0.7152 * green + 0.0722 * blue;
        for pair in colors(&palette, palette.range(ColorMode::Penetration)).windows(2) {
            assert!(brightness(pair[1]) > brightness(pair[0]), "{pair:?}");
        }
    }

    #[test]
    fn lists_of_any_length_are_valid() {
        let red = Color::linear_rgb(1.0, 0.0, 0.0);
        let palette = GpuPalette::new(&MoleculePalette {
            molecules: Vec::new(),
            chains: vec![red],
            groups: vec![
                Color::linear_rgb(f32::NAN, 1.0, 1.0),
                Color::linear_rgb(7.0, -1.0, 0.5),
            ],
            penetration: vec![Color::BLACK, red],
            ..default()
        });
        let default = default_palette();
        let list = |mode| colors(&palette, palette.range(mode));
        let molecules = default.range(ColorMode::Molecule);
        assert_eq!(list(ColorMode::Molecule), colors(&default, molecules));
        assert_eq!(list(ColorMode::Chain), [[1.0, 0.0, 0.0, 1.0]]);
        assert_eq!(
            list(ColorMode::Group),
            [[0.0, 0.0, 0.0, 1.0], [1.0, 0.0, 0.5, 1.0]]
        );
        let depths = list(ColorMode::Penetration);
        assert_eq!((depths.len(), depths[0][0], depths[31][0]), (32, 0.0, 1.0));
        for (step, color) in depths.iter().enumerate() {
            assert!((color[0] - step as f32 / 31.0).abs() < 1.0e-5, "{step}");
        }
        for stops in [1, 2, 3, 31, 32, 33, 100] {
            let stops = vec![red; stops];
            assert!(
                gradient(&stops)
                    .iter()
                    .all(|color| color.to_linear() == red.to_linear())
            );
        }
    }

    #[test]
    fn elements_have_their_own_color_or_the_common_one() {
        let mut palette = MoleculePalette::default();
        let (carbon, rare) = (palette.element(Element::C), palette.other_elements);
        assert_eq!(carbon, Color::srgb_u8(144, 144, 148));
        assert_eq!(palette.element(Element::UNKNOWN), rare);
        palette.set_element(Element::UNKNOWN, Color::WHITE);
        assert_eq!(palette.element(Element::UNKNOWN), Color::WHITE);
        assert!(!palette.has_elements_of(&MoleculePalette::default()));
    }
}
