//! Points that fill a box evenly: the sequence of Halton (1964).

use glam::Vec3;

/// Point `index` of a sequence that fills a box evenly: that of Halton (1964) with the bases 2, 3
/// and 5.
pub(crate) fn spread_point(index: u32, [low, high]: [Vec3; 2]) -> Vec3 {
    let part = |base: u32| {
        let (mut part, mut digit, mut rest) = (0.0, 1.0, index + 1);
        while rest > 0 {
            digit /= f64::from(base);
            part += digit * f64::from(rest % base);
            rest /= base;
        }
        part as f32
    };
    low + (high - low) * Vec3::new(part(2), part(3), part(5))
}
