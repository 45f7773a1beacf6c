//! Boxes too large for the cells of the others.
//!
//! Cells must be as wide as the largest box in them: one giant would put all small boxes
//! into one cell. A few giants are taken out instead and compared with everything
//! (Johnson and Whalley 2002, section 5).

use super::BoxSet;

/// Boxes that may be taken out in any case.
const FEW: usize = 4;

/// One box more may be taken out for each time that this goes into the root of the number
/// of boxes. A giant costs one comparison with each box, eight at a time.
const ROOT_PER_GIANT: usize = 8;

/// Sizes between a power of two and the next are not told apart: one level for each
/// exponent of a 32-bit float.
const LEVELS: usize = 256;

/// Longest side of a box that is not taken out, nm.
///
/// The smallest power of two (or nothing) that leaves no more than a few larger boxes.
pub(super) fn ordinary_limit(boxes: &BoxSet) -> f32 {
    let mut levels = [0_usize; LEVELS];
    for index in 0..boxes.len() {
        levels[level(longest_side(boxes, index))] += 1;
    }
    let mut spare = FEW + boxes.len().isqrt() / ROOT_PER_GIANT;
    let mut top = LEVELS - 1;
    while top > 0 && levels[top] <= spare {
        spare -= levels[top];
        top -= 1;
    }
    // The largest number of that level.
    f32::from_bits(((top as u32 + 1) << 23) - 1)
}

/// Longest side of a box, nm.
#[inline]
pub(super) fn longest_side(boxes: &BoxSet, index: usize) -> f32 {
    (boxes.high(index) - boxes.low(index)).max_element()
}

fn level(side: f32) -> usize {
    (side.to_bits() >> 23) as usize & (LEVELS - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    fn boxes_of(sides: impl IntoIterator<Item = f32>) -> BoxSet {
        let mut boxes = BoxSet::new();
        for (owner, side) in sides.into_iter().enumerate() {
            boxes
                .push(Vec3::ZERO, Vec3::splat(side), owner as u32)
                .unwrap();
        }
        boxes
    }

    #[test]
    fn a_few_giants_are_not_ordinary_and_many_are() {
        let small = std::iter::repeat_n(1.5, 100);
        let limit = ordinary_limit(&boxes_of(small.clone().chain([1000.0, 7.0])));
        assert!((1.5..7.0).contains(&limit));
        let many = std::iter::repeat_n(1000.0, 50);
        assert!(ordinary_limit(&boxes_of(small.chain(many))) >= 1000.0);
    }

    #[test]
    fn boxes_without_size_are_ordinary() {
        for count in [0, 1, 3, 100] {
            assert!(ordinary_limit(&boxes_of(std::iter::repeat_n(0.0, count))) >= 0.0);
        }
    }
}
