//! A molecule at its pose, and how far it has moved.

use glam::{Mat3, Quat, Vec3};

use super::RigidSpheres;
use super::images::Image;
use super::neighbors::NEIGHBOR_SKIN;
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;
use crate::search::{MAX_REACH_NM, SearchError};

/// Bound on the rounding errors of a sphere's position, relative to the largest coordinate: two
/// transforms of five roundings each, and some for what follows.
pub(crate) const ROUNDING: f32 = 16.0 * f32::EPSILON;

/// Widest skin, relative to the shortest edge of the periodic box: few images overlap a box.
const MAX_SKIN_PER_EDGE: f32 = 0.25;

/// How the width of a skin follows from motion.
pub(super) struct Skin {
    /// Number of substeps that it should last.
    pub(super) substeps: f32,
    /// Range of widths, nm.
    pub(super) min: f32,
    pub(super) max: f32,
}

impl Skin {
    /// The width for molecules that moved by `motion`, nm, in the last substep.
    pub(super) fn width(&self, motion: f32) -> f32 {
        // A skin that lasts for less than two substeps only adds work.
        if 2.0 * motion > self.max {
            return 0.0;
        }
        (self.substeps * motion).clamp(self.min, self.max)
    }
}

/// A molecule at its pose.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedMolecule {
    pub(super) pose: Pose,
    pub(super) rotation: Mat3,
    /// Position (nm) and rotation when the neighbors were found. Not a `Pose`, which is aligned to 16
    /// bytes.
    pub(super) reference: (Vec3, [f32; 4]),
    /// Motion of the fastest sphere since the last search, nm.
    pub(super) motion: f32,
    /// Whether the pose is another one than in the last search.
    pub(super) has_moved: bool,
    /// Width of the skin around its box, nm.
    pub(super) skin: f32,
    /// Bound on the rounding error of its spheres, nm. In a periodic box, of their positions
    /// relative to that of the molecule.
    pub(super) rounding: f32,
}

impl PlacedMolecule {
    /// `is_periodic` says whether there is a periodic box.
    pub(super) fn new(pose: Pose, molecule: &RigidSpheres, is_periodic: bool) -> Self {
        let mut placed = Self {
            pose,
            rotation: Mat3::IDENTITY,
            reference: (pose.position, pose.rotation.to_array()),
            motion: 0.0,
            has_moved: true,
            skin: 0.0,
            rounding: 0.0,
        };
        placed.move_to(pose, molecule, is_periodic);
        placed
    }

    pub(super) fn move_to(&mut self, pose: Pose, molecule: &RigidSpheres, is_periodic: bool) {
        let size = molecule.bounding_radius();
        self.motion = motion(&self.pose, &pose, size);
        self.has_moved = self.pose != pose;
        self.pose = pose;
        self.rotation = Mat3::from_quat(pose.rotation);
        let farthest = if is_periodic {
            0.0
        } else {
            pose.position.abs().max_element()
        };
        // A quaternion that is not quite a rotation stretches the molecule.
        let stretch = (pose.rotation.length_squared() - 1.0).abs();
        self.rounding = ROUNDING * (farthest + size) + 4.0 * stretch * size;
    }

    /// Starts a box with a new skin at the current pose.
    pub(super) fn renew_skin(
        &mut self,
        molecule: &RigidSpheres,
        margin: f32,
        periodic: Option<PeriodicBox>,
    ) -> Result<(), SearchError> {
        self.reference = (self.pose.position, self.pose.rotation.to_array());
        self.skin = NEIGHBOR_SKIN.width(self.motion);
        if let Some(periodic) = periodic {
            let max = MAX_SKIN_PER_EDGE * periodic.size().min_element();
            self.skin = self.skin.min(max);
        }
        let reach = 2.0 * molecule.bounding_radius() + margin;
        if reach > MAX_REACH_NM {
            return Err(SearchError::ReachTooLong { reach });
        }
        Ok(())
    }

    /// Position of the `image` of another molecule relative to this one, nm.
    #[inline]
    pub(super) fn offset_to(
        &self,
        other: &Self,
        image: Image,
        periodic: Option<PeriodicBox>,
    ) -> Vec3 {
        let (from, to) = (self.pose.position, other.pose.position);
        match periodic {
            None => to - from,
            // In 64 bits: molecules may be many edges apart.
            Some(periodic) => {
                let shift = periodic.exact_shift(image.map(i32::from));
                (to.as_dvec3() - from.as_dvec3() + shift).as_vec3()
            }
        }
    }

    /// Whether a sphere may have left the box.
    pub(super) fn has_left(&self, molecule: &RigidSpheres) -> bool {
        let (position, rotation) = self.reference;
        let reference = Pose::new(position, Quat::from_array(rotation));
        // False for NaN.
        let inside = motion(&reference, &self.pose, molecule.bounding_radius()) <= self.skin;
        !inside
    }

    pub(super) fn is_valid(&self) -> bool {
        self.pose.is_rigid() && self.rounding.is_finite()
    }
}

/// Bound on the motion of any point within `radius` (nm) of the origin of a body frame, nm.
#[inline]
pub(super) fn motion(from: &Pose, to: &Pose, radius: f32) -> f32 {
    // Rotations by θ differ by 2 sin(θ/2) in the position of a point at distance 1, quaternions
    // by 2 sin(θ/4).
    let turn = chord(from.rotation, to.rotation);
    from.position.distance(to.position) + 2.0 * turn * radius
}

/// Distance of two quaternions; both signs mean the same rotation.
#[inline]
fn chord(one: Quat, other: Quat) -> f32 {
    let distance = (one - other).length_squared();
    distance.min((one + other).length_squared()).sqrt()
}
