//! The colors that the modes choose from.
//!
//! All of them are here, in linear light; the shader gets them as one array, with a
//! range for each purpose.

use std::ops::Range;

use bevy::color::{ColorToComponents, LinearRgba, Oklcha, Srgba};

use crate::molecule::Element;

/// Colors that tell things apart: molecules, chains, templates, groups.
///
/// Hues go round by the golden angle, so that any few in a row differ most.
const KINDS: u32 = 24;

/// Shades of green for molecules that are free, and of red for those that collide.
const SHADES: u32 = 8;

/// Steps from "does not overlap" to "overlaps deeply".
const DEPTHS: u32 = 32;

/// Golden angle, degrees.
const GOLDEN_ANGLE: f32 = 137.507_77;

/// Where each purpose has its colors in the array.
pub(super) const KIND_COLORS: Range<u32> = 0..KINDS;
pub(super) const FREE_COLORS: Range<u32> = KINDS..KINDS + SHADES;
pub(super) const COLLIDING_COLORS: Range<u32> = FREE_COLORS.end..FREE_COLORS.end + SHADES;
pub(super) const DEPTH_COLORS: Range<u32> = COLLIDING_COLORS.end..COLLIDING_COLORS.end + DEPTHS;

/// The array: linear red, green, blue, and one.
pub(super) fn palette() -> Vec<[f32; 4]> {
    let kinds = (0..KINDS).map(kind);
    let free = (0..SHADES).map(|shade| shade_of(145.0, shade));
    let colliding = (0..SHADES).map(|shade| shade_of(27.0, shade));
    let depths = (0..DEPTHS).map(|step| depth(step as f32 / (DEPTHS - 1) as f32));
    let all = kinds.chain(free).chain(colliding).chain(depths);
    all.map(ColorToComponents::to_f32_array).collect()
}

/// A color by lightness, chroma and hue (degrees), or one with less chroma if a screen
/// cannot show that.
fn displayable(lightness: f32, chroma: f32, hue: f32) -> LinearRgba {
    const STEPS: u16 = 64;
    let color = |step: u16| {
        let less = chroma * (1.0 - f32::from(step) / f32::from(STEPS));
        LinearRgba::from(Oklcha::lch(lightness, less, hue))
    };
    let shows = |color: &LinearRgba| {
        let parts = color.to_f32_array();
        parts.iter().all(|part| (0.0..=1.0).contains(part))
    };
    // Grey, without any chroma, can always be shown.
    (0..STEPS)
        .map(color)
        .find(shows)
        .unwrap_or_else(|| color(STEPS))
}

/// A color that differs from its neighbors in number.
fn kind(number: u32) -> LinearRgba {
    let lightness = [0.70, 0.58, 0.80][number as usize % 3];
    let hue = (30.0 + GOLDEN_ANGLE * number as f32) % 360.0;
    displayable(lightness, 0.14, hue)
}

/// A shade of one hue (degrees), from dark to bright.
fn shade_of(hue: f32, shade: u32) -> LinearRgba {
    let step = shade as f32 / (SHADES - 1) as f32;
    displayable(0.50 + 0.28 * step, 0.17, hue - 8.0 + 16.0 * step)
}

/// From dark blue (0) through red to yellow (1): brighter is deeper, for the color-blind
/// too.
fn depth(fraction: f32) -> LinearRgba {
    let hue = 265.0 + (460.0 - 265.0) * fraction;
    displayable(0.38 + 0.50 * fraction, 0.16, hue % 360.0)
}

/// Color of an element, after the models of Corey, Pauling and Koltun; linear.
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
    fn the_palette_has_a_displayable_color_for_each_place() {
        let palette = palette();
        assert_eq!(palette.len(), DEPTH_COLORS.end as usize);
        for color in &palette {
            assert!(color.iter().all(|part| (0.0..=1.0).contains(part)));
        }
    }

    #[test]
    fn what_a_screen_cannot_show_keeps_lightness_and_hue() {
        // A screen has no such blue.
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
    fn neighboring_kinds_differ_and_deeper_is_brighter() {
        let palette = palette();
        let brightness = |index: u32| {
            let [red, green, blue, _] = palette[index as usize];
            0.2126 * red + 0.7152 * green + 0.0722 * blue
        };
        for index in KIND_COLORS.skip(1) {
            let (one, other) = (palette[index as usize], palette[index as usize - 1]);
            let apart: f32 = one.iter().zip(other).map(|(a, b)| (a - b).abs()).sum();
            assert!(apart > 0.3, "{index}: {one:?} {other:?}");
        }
        for index in DEPTH_COLORS.skip(1) {
            assert!(brightness(index) > brightness(index - 1), "{index}");
        }
    }
}
