//! Errors of the pair searches.

use glam::Vec3;
use thiserror::Error;

use super::boxes::BoxError;
use super::{MAX_REACH_NM, MIN_REACH_NM};
use crate::backend::DeviceError;
use crate::pose::Pose;
use crate::spheres::SphereError;

/// Why a search did not run. It has found no pairs then.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SearchError {
    /// A sphere is invalid.
    #[error(transparent)]
    Sphere(#[from] SphereError),
    /// A box is invalid.
    #[error(transparent)]
    Box(#[from] BoxError),
    /// A pose is not finite, or its rotation is not a rotation.
    #[error(
        "molecule {molecule} needs a finite position and a unit rotation, not {} nm and {}",
        pose.position, pose.rotation
    )]
    BadPose {
        /// Index of the molecule.
        molecule: usize,
        /// Its pose.
        pose: Pose,
    },
    /// A molecule could touch itself across the periodic box.
    #[error(
        "molecule {molecule} is up to {diameter} nm wide with its margin, more than the edge of {edge} nm of the periodic box, and could touch itself"
    )]
    LargerThanBox {
        /// Index of the molecule.
        molecule: usize,
        /// Diameter of its bounding sphere plus the margin, nm.
        diameter: f32,
        /// The shortest edge of the box, nm.
        edge: f32,
    },
    /// A sphere or molecule is too far from the periodic box.
    #[error(
        "number {index} at {position} nm is more than {max} edges away from the periodic box; wrap its position"
    )]
    FarFromBox {
        /// Index of the sphere or molecule.
        index: usize,
        /// Its position, nm.
        position: Vec3,
        /// Largest number of edges.
        max: u32,
    },
    /// The margin is NaN, infinite or negative.
    #[error("the margin is {margin} nm, but must be finite and not negative")]
    BadMargin {
        /// The margin, nm.
        margin: f32,
    },
    /// The cell width is not positive, or larger than [`MAX_REACH_NM`].
    #[error("the cell width is {width} nm, but must be positive and at most {MAX_REACH_NM} nm")]
    BadWidth {
        /// The width, nm.
        width: f32,
    },
    /// The longest reach is positive, but less than [`MIN_REACH_NM`].
    #[error(
        "the longest reach of two spheres is {reach} nm, less than the minimum of {MIN_REACH_NM} nm; are lengths in nm?"
    )]
    ReachTooShort {
        /// The longest reach, nm.
        reach: f32,
    },
    /// The longest reach is more than [`MAX_REACH_NM`].
    #[error(
        "the longest reach of two spheres is {reach} nm, more than the maximum of {MAX_REACH_NM} nm; are lengths in nm?"
    )]
    ReachTooLong {
        /// The longest reach, nm.
        reach: f32,
    },
    /// Too many spheres lie in one place to compare them all.
    #[error(
        "{spheres} spheres lie within {reach} nm around sphere {sphere}, too many to compare; spread them out, or reduce the margin"
    )]
    TooCrowded {
        /// A sphere, or box, in the fullest cell.
        sphere: u32,
        /// Number of spheres, or boxes, in that cell.
        spheres: u32,
        /// Longest reach of two spheres, nm.
        reach: f32,
    },
    /// There are too many pairs to store.
    #[error(
        "{pairs} pairs are too many to store, the maximum is {max}; spread the spheres out, reduce the margin, or visit the pairs instead"
    )]
    TooManyPairs {
        /// Number of pairs, or of those found until the search stopped.
        pairs: u64,
        /// Largest number that is stored.
        max: u64,
    },
    /// A periodic box is much smaller than the longest reach.
    #[error(
        "a periodic box of {} × {} × {} nm has too many images within the reach of {reach} nm; use a larger box",
        size.x, size.y, size.z
    )]
    TooManyImages {
        /// Edges of the box, nm.
        size: Vec3,
        /// Longest reach of two spheres, nm.
        reach: f32,
    },
    /// The device of the search failed. A search on the CPU can do the same work.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::{
        AutoGrid, BruteForce, HierarchicalGrid, PairBuffer, PairSearch, UniformGrid,
    };
    use crate::spheres::SphereSet;

    /// [`SphereSet::push`] rejects such spheres, but a diverged pose can still produce them.
    #[test]
    fn invalid_spheres_are_reported_and_the_search_stays_usable() {
        let mut spheres = SphereSet::new();
        for owner in 0..20 {
            spheres
                .push(Vec3::X * 0.15 * owner as f32, 0.1, owner)
                .unwrap();
        }
        let [mut nan, mut infinite, mut negative] = std::array::from_fn(|_| spheres.clone());
        nan.y[7] = f32::NAN;
        infinite.z[3] = f32::NEG_INFINITY;
        negative.radius[11] = -0.1;
        let searches: [Box<dyn PairSearch>; 5] = [
            Box::new(UniformGrid::new()),
            Box::new(UniformGrid::scalar()),
            Box::new(HierarchicalGrid::new()),
            Box::new(AutoGrid::new()),
            Box::new(BruteForce),
        ];
        for mut search in searches {
            let mut pairs = PairBuffer::new();
            for (invalid, expected) in [(&nan, 7), (&infinite, 3), (&negative, 11)] {
                search.find_pairs(&spheres, 0.0, &mut pairs).unwrap();
                assert_eq!(pairs.len(), 19);
                let error = search.find_pairs(invalid, 0.0, &mut pairs).unwrap_err();
                let index = match error {
                    SearchError::Sphere(SphereError::BadCenter { index, .. })
                    | SearchError::Sphere(SphereError::BadRadius { index, .. }) => index,
                    other => panic!("{other}"),
                };
                assert_eq!(index, expected);
                assert!(pairs.is_empty());
                assert!(search.count_pairs(invalid, 0.0).is_err());
            }
        }
    }
}
