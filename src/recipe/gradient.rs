//! [`Gradient`]: how the density of an ingredient changes in space.
//!
//! The distance of a point is measured from a face of the box, a plane, a center or a surface, as a
//! part *s* of the largest distance. The weight falls with it: 1 − s, its square, cube or another
//! power, or exp(−s/decay).

use std::sync::Arc;

use glam::Vec3;

use crate::compartment::Surface;

/// What the distance is measured from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum GradientMode {
    /// The same weight everywhere.
    Uniform,
    /// From `low`, along an axis, to `high`.
    Axis {
        /// 0 for x, 1 for y, 2 for z.
        axis: usize,
        /// Where the distance is 0, nm.
        low: f32,
        /// Where the distance is 1, nm.
        high: f32,
    },
    /// From a plane, to both sides.
    Plane {
        /// A point of the plane, nm.
        center: Vec3,
        /// Its unit normal.
        normal: Vec3,
        /// Distance that counts as 1, nm.
        reach: f32,
    },
    /// From a point.
    Radial {
        /// The point, nm.
        center: Vec3,
        /// Distance that counts as 1, nm; those beyond too.
        radius: f32,
    },
    /// From a surface, to both sides.
    Surface {
        /// The surface.
        surface: Arc<dyn Surface>,
        /// The next surface outside: distances are relative to the sum of both.
        next: Option<Arc<dyn Surface>>,
        /// Distance that counts as 1 without a next surface, nm.
        reach: f32,
    },
}

/// How the weight falls with the distance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum WeightMode {
    /// (1 − s) to this power.
    Power(f32),
    /// exp(−s / decay).
    Exponential {
        /// Distance over which the weight falls to 1/e; 0 for no change.
        decay: f32,
    },
}

/// Which places are chosen by their weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PickMode {
    /// At random, in proportion to the weight.
    #[default]
    Random,
    /// Those with the largest weight.
    Largest,
    /// Those with the smallest weight.
    Smallest,
}

/// What is inverted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Inverted {
    /// Nothing.
    #[default]
    No,
    /// The weight w becomes 1 − w.
    Weight,
    /// The distance s becomes 1 − s.
    Distance,
}

/// A gradient of a recipe.
#[derive(Clone, Debug)]
pub struct Gradient {
    /// What the distance is measured from.
    pub mode: GradientMode,
    /// How the weight falls with the distance.
    pub weight: WeightMode,
    /// Which places are chosen.
    pub pick: PickMode,
    /// What is inverted.
    pub inverted: Inverted,
}

impl Gradient {
    /// The weight at a point, from 0 to 1.
    #[must_use]
    pub fn weight_at(&self, point: Vec3) -> f32 {
        let mut distance = self.distance_at(point);
        if self.inverted == Inverted::Distance {
            distance = 1.0 - distance;
        }
        let weight = match self.weight {
            _ if matches!(self.mode, GradientMode::Uniform) => 1.0,
            WeightMode::Power(power) => (1.0 - distance).powf(power),
            WeightMode::Exponential { decay } if decay > 0.0 => (-distance / decay).exp(),
            WeightMode::Exponential { .. } => 1.0,
        };
        if self.inverted == Inverted::Weight {
            1.0 - weight
        } else {
            weight
        }
    }

    /// The distance of a point as a part of the largest distance, from 0 to 1.
    #[must_use]
    pub fn distance_at(&self, point: Vec3) -> f32 {
        let part = |distance: f32, reach: f32| {
            if reach > 0.0 { distance / reach } else { 0.0 }
        };
        let distance = match &self.mode {
            GradientMode::Uniform => 0.0,
            GradientMode::Axis { axis, low, high } => part(point[*axis] - low, high - low),
            GradientMode::Plane {
                center,
                normal,
                reach,
            } => part((point - center).dot(*normal).abs(), *reach),
            GradientMode::Radial { center, radius } => part(point.distance(*center), *radius),
            GradientMode::Surface {
                surface,
                next,
                reach,
            } => {
                let own = surface.signed_distance(point).abs();
                match next {
                    Some(next) => part(own, own + next.signed_distance(point).abs()),
                    None => part(own, *reach),
                }
            }
        };
        distance.clamp(0.0, 1.0)
    }
}
