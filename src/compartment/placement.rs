//! How a molecule sits in a membrane: side, depth, direction, and the play it has.

use glam::{Quat, Vec3};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Surface;
use crate::molecule::{Element, MoleculeTemplate};
use crate::pose::Pose;

/// Excess over the leeway that still counts as in place, nm: a picometer.
///
/// Springs take back a fraction of the excess, which approaches zero and never
/// gets there.
pub(crate) const HEIGHT_SLACK_NM: f32 = 1.0e-3;

/// Excess over the leeway that still counts as upright, radian: 0.06°.
pub(crate) const TILT_SLACK: f32 = 1.0e-3;

/// Side of a surface that a molecule's head looks to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Leaflet {
    /// Heads point along the outward normal.
    #[default]
    Outer,
    /// Heads point against it.
    Inner,
}

impl Leaflet {
    /// +1 for the outer leaflet, −1 for the inner one.
    #[must_use]
    pub fn sign(self) -> f32 {
        match self {
            Self::Outer => 1.0,
            Self::Inner => -1.0,
        }
    }
}

/// Why a molecule cannot be placed.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum PlacementError {
    /// The depth is not finite.
    #[error("a molecule needs a finite depth, not {depth} nm")]
    BadDepth {
        /// The depth that was given, nm.
        depth: f32,
    },
    /// A leeway is negative or not a number.
    #[error("the {what} must not be negative, and is {value}; 0 gives a molecule no play at all")]
    BadLeeway {
        /// Which leeway.
        what: &'static str,
        /// The leeway that was given, nm or radian.
        value: f32,
    },
    /// A distance from the surface is not finite.
    #[error("a molecule needs a finite distance from the surface, not {distance} nm")]
    BadDistance {
        /// The distance that was given, nm.
        distance: f32,
    },
    /// The up vector has no direction.
    #[error("a molecule needs an up vector with a direction, not {up}")]
    BadUp {
        /// The vector that was given.
        up: Vec3,
    },
}

/// Where a molecule belongs relative to a compartment's surface.
///
/// ```
/// use bevy_rapier_molecules::compartment::{bilayer_depth, up_and_head};
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// let placement = Placement {
///     leaflet: Leaflet::Inner,
///     depth: bilayer_depth(&lipid),
///     up: up_and_head(&lipid).0,
///     leeway: 0.2,
///     tilt_leeway: 0.4,
/// }
/// .checked()?;
/// let vesicle = SphereShell::new(Vec3::ZERO, 5.2)?;
/// let position = Vec3::X * (5.2 + placement.offset());
/// let pose = placement.upright_pose(&vesicle, position, 0.0);
/// assert!(placement.deviation(&vesicle, &pose).is_in_place(&placement));
/// assert!((pose.rotation * placement.up).x < -0.99, "its head looks inwards");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placement {
    /// Side of the surface.
    pub leaflet: Leaflet,
    /// Distance of the center of mass from the surface towards its side, nm.
    pub depth: f32,
    /// Unit vector in the body frame that points from tail to head.
    pub up: Vec3,
    /// How far the center of mass may leave `depth` before a spring acts, nm.
    pub leeway: f32,
    /// How far `up` may lean away from the normal before a spring acts, radian.
    pub tilt_leeway: f32,
}

impl Placement {
    /// Checks that the depth is finite, the leeways are not negative and `up` is a
    /// direction, and makes `up` a unit vector.
    ///
    /// # Errors
    /// [`PlacementError`] if not.
    pub fn checked(mut self) -> Result<Self, PlacementError> {
        if !self.depth.is_finite() {
            return Err(PlacementError::BadDepth { depth: self.depth });
        }
        for (what, value) in [("leeway", self.leeway), ("tilt leeway", self.tilt_leeway)] {
            if value.is_nan() || value < 0.0 {
                return Err(PlacementError::BadLeeway { what, value });
            }
        }
        self.up = self
            .up
            .try_normalize()
            .ok_or(PlacementError::BadUp { up: self.up })?;
        Ok(self)
    }

    /// Distance of the center of mass from the surface along the outward normal, nm.
    #[must_use]
    pub fn offset(&self) -> f32 {
        self.leaflet.sign() * self.depth
    }

    /// How a molecule at `pose` misses its place.
    #[must_use]
    pub fn deviation(&self, compartment: &dyn Surface, pose: &Pose) -> Deviation {
        let surface = compartment.surface(pose.position);
        let normal = surface.normal;
        let up = pose.rotation * self.up;
        let target = normal * self.leaflet.sign();
        // The angle from sine and cosine: acos alone loses half the digits near zero.
        let sine = up.cross(target).length();
        Deviation {
            normal,
            height: surface.distance - self.offset(),
            up,
            target,
            tilt: sine.atan2(up.dot(target)),
        }
    }

    /// The pose at `position` with the head looking to its side, turned by `spin`
    /// radian about its axis.
    #[must_use]
    pub fn upright_pose(&self, compartment: &dyn Surface, position: Vec3, spin: f32) -> Pose {
        let target = compartment.normal(position) * self.leaflet.sign();
        let rotation =
            Quat::from_rotation_arc(self.up, target) * Quat::from_axis_angle(self.up, spin);
        Pose::new(position, rotation.normalize())
    }
}

/// How a molecule misses its place. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Deviation {
    /// Outward normal of the surface.
    pub normal: Vec3,
    /// Height of the center of mass above where it belongs, along `normal`, nm.
    pub height: f32,
    /// The molecule's up vector in the world.
    pub up: Vec3,
    /// Where `up` should point.
    pub target: Vec3,
    /// Angle between the two, radian.
    pub tilt: f32,
}

impl Deviation {
    /// Unit axis of the shortest turn from `up` to `target`; zero if they agree.
    #[must_use]
    pub fn upright_axis(&self) -> Vec3 {
        let axis = self.up.cross(self.target);
        if let Some(axis) = axis.try_normalize() {
            axis
        } else if self.up.dot(self.target) < 0.0 {
            // Head down: every axis across will do.
            self.up.any_orthonormal_vector()
        } else {
            Vec3::ZERO
        }
    }

    /// Whether the molecule is within its leeways, give or take rounding.
    #[must_use]
    pub fn is_in_place(&self, placement: &Placement) -> bool {
        self.height.abs() <= placement.leeway + HEIGHT_SLACK_NM
            && self.tilt <= placement.tilt_leeway + TILT_SLACK
    }
}

/// Fraction of a lipid's length, from tail end to head, by which the tails of the
/// two leaflets reach past the mid-surface. Puts POPC's phosphate 1.8 nm from it.
const TAIL_OVERLAP: f32 = 0.11;

/// Distance of a lipid's center of mass from the mid-surface of a bilayer, nm: such
/// that the tails of the two leaflets meet.
#[must_use]
pub fn bilayer_depth(template: &MoleculeTemplate) -> f32 {
    let (up, head) = up_and_head(template);
    let heights = template.positions().iter().map(|position| position.dot(up));
    let tail = heights.fold(0.0, f32::min);
    (head - tail) * (1.0 - TAIL_OVERLAP) - head
}

/// Finds which end of a lipid is its head: the direction from tail to head along
/// the longest axis (unit vector, body frame), and the height of the head above the
/// center of mass (nm).
///
/// The head is the phosphorus atom; a lipid without one has its head at the end
/// where its nitrogen, oxygen or sulfur atoms reach furthest. A molecule without
/// any of these has no head, and its longest axis is taken as it is.
#[must_use]
pub fn up_and_head(template: &MoleculeTemplate) -> (Vec3, f32) {
    // Least inertia is about the longest axis.
    let axis = template.principal_axes() * Vec3::X;
    let heights = |wanted: fn(Element) -> bool| {
        template
            .elements()
            .iter()
            .zip(template.positions())
            .filter(move |(element, _)| wanted(**element))
            .map(move |(_, position)| position.dot(axis))
    };
    let furthest = |wanted| heights(wanted).max_by(|a, b| a.abs().total_cmp(&b.abs()));
    let head = furthest(|element| element == Element::P)
        .or_else(|| furthest(|element| [Element::N, Element::O, Element::S].contains(&element)))
        .unwrap_or_else(|| heights(|_| true).fold(0.0, f32::max));
    (axis * 1.0_f32.copysign(head), head.abs())
}
