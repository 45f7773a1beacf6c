//! Where a molecule belongs: in a surface, inside of it, or outside.

use glam::Vec3;

use super::placement::{HEIGHT_SLACK_NM, TILT_SLACK};
use super::{Placement, PlacementError, Surface};
use crate::pose::Pose;

/// Where a molecule belongs relative to a compartment.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let cell = ShapeCompartment::cuboid(Vec3::splat(5.0), Pose::IDENTITY)?;
/// let inside = Confinement::Inside { distance: 1.0 }.checked()?;
/// let excess = |x: f32| inside.excess(&cell, &Pose::from_translation(Vec3::X * x));
/// assert!(excess(3.9).is_in_place());
/// assert!((excess(4.5).height - 0.5).abs() < 1e-5, "too far out by so much, nm");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Confinement {
    /// In the surface, upright: a lipid or a membrane protein.
    Surface(Placement),
    /// In the volume, any way round: what is dissolved in a cell.
    ///
    /// A compartment that is nowhere as deep as that distance cannot hold the molecule:
    /// it is drawn to the deepest place and trembles there.
    Inside {
        /// Least depth of the center of mass below the surface, nm. Negative if it may
        /// stick out by as much.
        distance: f32,
    },
    /// Anywhere but in the volume: the compartment excludes it.
    Outside {
        /// Least height of the center of mass above the surface, nm. Negative if it may
        /// dip in by as much.
        distance: f32,
    },
}

impl Confinement {
    /// Checks that distances are finite and placements possible.
    ///
    /// # Errors
    /// [`PlacementError`] if not.
    pub fn checked(self) -> Result<Self, PlacementError> {
        match self {
            Self::Surface(placement) => placement.checked().map(Self::Surface),
            Self::Inside { distance } | Self::Outside { distance } => {
                if distance.is_finite() {
                    Ok(self)
                } else {
                    Err(PlacementError::BadDistance { distance })
                }
            }
        }
    }

    /// The same for all of a molecule and not only its center of mass: distances
    /// become larger by its bounding radius (nm). In a surface nothing changes.
    #[must_use]
    pub fn of_whole_molecule(self, bounding_radius: f32) -> Self {
        match self {
            Self::Surface(_) => self,
            Self::Inside { distance } => Self::Inside {
                distance: distance + bounding_radius,
            },
            Self::Outside { distance } => Self::Outside {
                distance: distance + bounding_radius,
            },
        }
    }

    /// By how much a molecule at `pose` is out of place, beyond what it may be.
    #[must_use]
    pub fn excess(&self, compartment: &dyn Surface, pose: &Pose) -> Excess {
        let arm = pose.position - compartment.center();
        let in_volume = |height: fn(f32, f32) -> f32, distance: f32| {
            let surface = compartment.surface(pose.position);
            Excess {
                normal: surface.normal,
                height: height(surface.distance, distance),
                arm,
                up: Vec3::ZERO,
                axis: Vec3::ZERO,
                tilt: 0.0,
                lean: 0.0,
            }
        };
        match self {
            Self::Surface(placement) => {
                let deviation = placement.deviation(compartment, pose);
                let beyond = (deviation.height.abs() - placement.leeway).max(0.0);
                let tilt = (deviation.tilt - placement.tilt_leeway).max(0.0);
                Excess {
                    normal: deviation.normal,
                    height: beyond.copysign(deviation.height),
                    arm,
                    up: deviation.up,
                    axis: deviation.upright_axis(),
                    tilt,
                    lean: deviation.tilt,
                }
            }
            Self::Inside { distance } => {
                in_volume(|above, distance| (above + distance).max(0.0), *distance)
            }
            Self::Outside { distance } => {
                in_volume(|above, distance| (above - distance).min(0.0), *distance)
            }
        }
    }
}

impl From<Placement> for Confinement {
    fn from(placement: Placement) -> Self {
        Self::Surface(placement)
    }
}

/// By how much a molecule is out of place, beyond its leeways. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Excess {
    /// Outward unit normal of the surface.
    pub normal: Vec3,
    /// How far the center of mass is beyond its leeway along `normal`, nm: positive if
    /// it is too far out, negative if too far in, zero if it is in place.
    pub height: f32,
    /// From the center of the compartment to the center of mass, nm.
    pub arm: Vec3,
    /// The molecule's up vector; zero if any way round will do.
    pub up: Vec3,
    /// Unit axis of the shortest turn that brings the head up; zero if there is none.
    pub axis: Vec3,
    /// Angle that the head leans by beyond its leeway, radian: zero if it is in place.
    pub tilt: f32,
    /// The whole angle that the head leans by, radian.
    pub lean: f32,
}

impl Excess {
    /// Whether the molecule is in place, give or take rounding.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.height.abs() <= HEIGHT_SLACK_NM && self.tilt <= TILT_SLACK
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compartment::{Leaflet, SphereShell};
    use glam::Quat;

    fn height(belonging: Confinement, distance: f32) -> f32 {
        let shell = SphereShell::new(Vec3::ZERO, 5.0).unwrap();
        let pose = Pose::from_translation(Vec3::X * (5.0 + distance));
        let excess = belonging.excess(&shell, &pose);
        assert_eq!((excess.tilt, excess.lean), (0.0, 0.0));
        excess.height
    }

    #[test]
    fn volumes_hold_on_one_side_only() {
        let inside = Confinement::Inside { distance: 1.0 };
        assert_eq!(height(inside, -4.0), 0.0);
        assert_eq!(height(inside, -1.0), 0.0);
        assert_eq!(height(inside, 0.5), 1.5);
        let outside = Confinement::Outside { distance: 1.0 };
        assert_eq!(height(outside, 7.0), 0.0);
        assert_eq!(height(outside, 0.5), -0.5);
        assert_eq!(height(outside.of_whole_molecule(0.5), 0.5), -1.0);
        assert_eq!(height(inside.of_whole_molecule(0.5), -1.0), 0.5);
    }

    #[test]
    fn in_a_surface_the_excess_starts_at_the_leeway() {
        let shell = SphereShell::new(Vec3::ZERO, 5.0).unwrap();
        let placement = Placement {
            leaflet: Leaflet::Outer,
            depth: 1.0,
            up: Vec3::Y,
            leeway: 0.5,
            tilt_leeway: 0.25,
        };
        let belonging = Confinement::from(placement).checked().unwrap();
        let at = |height: f32, lean: f32| {
            let pose = Pose::new(Vec3::Y * (6.0 + height), Quat::from_rotation_x(lean));
            belonging.excess(&shell, &pose)
        };
        assert!(at(0.4, -0.2).is_in_place());
        assert_eq!((at(0.4, -0.2).height, at(0.4, -0.2).tilt), (0.0, 0.0));
        let out = at(-1.5, 1.25);
        assert!((out.height + 1.0).abs() < 1e-5 && (out.tilt - 1.0).abs() < 1e-5);
        assert!((out.lean - 1.25).abs() < 1e-5 && (out.axis + Vec3::X).length() < 1e-5);
        assert!(!out.is_in_place());
    }

    #[test]
    fn distances_that_are_none_are_refused() {
        for distance in [f32::NAN, f32::INFINITY] {
            assert!(Confinement::Inside { distance }.checked().is_err());
            assert!(Confinement::Outside { distance }.checked().is_err());
        }
        assert!(Confinement::Inside { distance: -1.0 }.checked().is_ok());
    }
}
