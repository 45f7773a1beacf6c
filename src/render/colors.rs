//! Colors of elements, and the palette of the other color modes.
//!
//! The palette is one array of linear colors, with a range per purpose.

use std::ops::Range;

use bevy::color::{ColorToComponents, LinearRgba, Oklcha, Srgba};

use crate::molecule::Element;

/// Number of categorical colors, for molecules, chains, templates and groups.
///
/// Hues advance by the golden angle, so that consecutive colors differ most.
const CATEGORIES: u32 = 24;

/// Number of shades of green for free molecules, and of red for colliding ones.
const SHADES: u32 = 8;

/// Number of steps from no overlap to the deepest overlap.
const DEPTHS: u32 = 32;

/// Golden angle, degrees.
const GOLDEN_ANGLE: f32 = 137.507_77;

/// Range of each purpose in the palette.
pub(super) const CATEGORY_COLORS: Range<u32> = 0..CATEGORIES;
pub(super) const FREE_COLORS: Range<u32> = CATEGORIES..CATEGORIES + SHADES;
pub(super) const COLLIDING_COLORS: Range<u32> = FREE_COLORS.end..FREE_COLORS.end + SHADES;
pub(super) const DEPTH_COLORS: Range<u32> = COLLIDING_COLORS.end..COLLIDING_COLORS.end + DEPTHS;

/// The palette: linear red, green, blue, and one.
pub(super) fn palette() -> Vec<[f32; 4]> {
    let categories = (0..CATEGORIES).map(category);
    let free = (0..SHADES).map(|shade| shade_of(145.0, shade));
    let colliding = (0..SHADES).map(|shade| shade_of(27.0, shade));
    let depths = (0..DEPTHS).map(|step| depth(step as f32 / (DEPTHS - 1) as f32));
    let all = categories.chain(free).chain(colliding).chain(depths);
    all.map(ColorToComponents::to_f32_array).collect()
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
fn category(index: u32) -> LinearRgba {
    let lightness = [0.70, 0.58, 0.80][index as usize % 3];
    let hue = (30.0 + GOLDEN_ANGLE * index as f32) % 360.0;
    displayable(lightness, 0.14, hue)
}

/// A shade of one hue (degrees), from dark to bright.
fn shade_of(hue: f32, shade: u32) -> LinearRgba {
    let step = shade as f32 / (SHADES - 1) as f32;
    displayable(0.50 + 0.28 * step, 0.17, hue - 8.0 + 16.0 * step)
}

/// From dark blue (0) through red to yellow (1). Deeper is brighter, which is readable with
/// color blindness, too.
fn depth(fraction: f32) -> LinearRgba {
    let hue = 265.0 + (460.0 - 265.0) * fraction;
    displayable(0.38 + 0.50 * fraction, 0.16, hue % 360.0)
}

/// CPK color (Corey, Pauling, Koltun) of an element, linear.
pub(super) fn element_color(element: Element) -> LinearRgba {
    let [red, green, blue] = match element {
        Element::H => [236, 236, 236],
        Element::C => [144, 144, 148],
        Element::N => [70, 100, 240],
        Element::O => [232, 44, 32],
        Element::F | Element::CL => [60, 200, 60],
        Element::P => [255, 140, 20],
        Element::S => [240, 210, 50],
        Element::BR => [150, 45, 30],
        Element::I => [130, 30, 150],
        Element::NA | Element::K | Element::CS => [160, 90, 220],
        Element::MG | Element::CA => [70, 160, 60],
        Element::FE => [214, 104, 44],
        Element::ZN => [125, 128, 176],
        Element::SE => [235, 160, 30],
        _ => [222, 120, 190],
    };
    Srgba::rgb_u8(red, green, blue).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_palette_colors_are_displayable() {
        let palette = palette();
        assert_eq!(palette.len(), DEPTH_COLORS.end as usize);
        for color in &palette {
            assert!(color.iter().all(|part| (0.0..=1.0).contains(part)));
        }
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
        let palette = palette();
        for index in FREE_COLORS {
            let [red, green, blue, _] = palette[index as usize];
            assert!(green > 1.5 * red && green > 1.5 * blue);
        }
        for index in COLLIDING_COLORS {
            let [red, green, blue, _] = palette[index as usize];
            assert!(red > 1.5 * green && red > 1.5 * blue);
        }
    }

    #[test]
    fn adjacent_categories_differ_and_deeper_is_brighter() {
        let palette = palette();
        let brightness = |index: u32| {
            let [red, green, blue, _] = palette[index as usize];
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        for index in CATEGORY_COLORS.skip(1) {
            let (one, other) = (palette[index as usize], palette[index as usize - 1]);
            let apart: f32 = one.iter().zip(other).map(|(a, b)| (a - b).abs()).sum();
            assert!(apart > 0.3, "{index}: {one:?} {other:?}");
        }
        for index in DEPTH_COLORS.skip(1) {
            assert!(brightness(index) > brightness(index - 1), "{index}");
        }
    }
}
