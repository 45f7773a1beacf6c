//! [`Confinement`]: where a molecule belongs, and [`Excess`], how far it is off.

use glam::Vec3;

use super::placement::{HEIGHT_SLACK_NM, TILT_SLACK};
use super::{DistanceAndNormal, Placement, PlacementError, Surface};
use crate::pose::Pose;

/// Where a molecule belongs relative to a compartment.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Confinement {
    /// In the surface, upright: a lipid or a membrane protein.
    Surface(Placement),
    /// In the volume, with any orientation: a protein in a cell.
    ///
    /// If the compartment is nowhere that deep, the molecule is pulled to the deepest point and
    /// jitters there.
    Inside {
        /// Minimum depth of the center of mass below the surface, nm. Negative if the center
        /// of mass may be outside by as much.
        distance: f32,
    },
    /// Outside the volume, with any orientation.
    Outside {
        /// Minimum height of the center of mass above the surface, nm. Negative if the center
        /// of mass may be inside by as much.
        distance: f32,
    },
}

impl Confinement {
    /// Validates the distance or placement.
    ///
    /// # Errors
    /// [`PlacementError`] if the distance is not finite or the placement is invalid.
    pub fn checked(self) -> Result<Self, PlacementError> {
        match self {
            Self::Surface(placement) => placement.checked().map(Self::Surface),
            Self::Inside { distance } | Self::Outside { distance } if !distance.is_finite() => {
                Err(PlacementError::BadDistance { distance })
            }
            Self::Inside { .. } | Self::Outside { .. } => Ok(self),
        }
    }

    /// How far a molecule at `pose` exceeds its leeways.
    #[must_use]
    pub fn excess(&self, compartment: &dyn Surface, pose: &Pose) -> Excess {
        let surface = || compartment.distance_and_normal(pose.position);
        let (DistanceAndNormal { normal, .. }, height) = match *self {
            Self::Surface(placement) => return placement.excess(compartment, pose),
            Self::Inside { distance } => {
                let surface = surface();
                (surface, (surface.distance + distance).max(0.0))
            }
            Self::Outside { distance } => {
                let surface = surface();
                (surface, (surface.distance - distance).min(0.0))
            }
        };
        Excess {
            normal,
            height,
            arm: pose.position - compartment.center(),
            ..Excess::default()
        }
    }
}

impl From<Placement> for Confinement {
    fn from(placement: Placement) -> Self {
        Self::Surface(placement)
    }
}

/// How far a molecule exceeds its leeways. World frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Excess {
    /// Outward unit normal of the surface.
    pub normal: Vec3,
    /// Distance of the center of mass beyond its leeway along `normal`, nm: positive if it is
    /// too far out, negative if too far in, zero if it is in place.
    pub height: f32,
    /// From the center of the compartment to the center of mass, nm.
    pub arm: Vec3,
    /// The molecule's up vector; zero if any orientation is allowed.
    pub up: Vec3,
    /// Unit axis of the shortest rotation that turns the molecule upright; zero if it is upright.
    pub axis: Vec3,
    /// Tilt beyond its leeway, radian: zero if it is in place.
    pub tilt: f32,
    /// Total tilt, radian.
    pub total_tilt: f32,
}

impl Excess {
    /// Whether the molecule is within its leeways, up to rounding.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.height.abs() <= HEIGHT_SLACK_NM && self.tilt <= TILT_SLACK
    }
}
