//! Turning a bond of a molecule until a contact.
//!
//! The atoms on one side of the bond move on circles about its axis: a rigid rotation, so that
//! conservative advancement is as exact as for motions of whole molecules.

use std::f64::consts::TAU;

use glam::{DQuat, DVec3, Vec3};

use super::conservative_advancement::{AtomPath, AtomSweep, Obstacle, check_tolerance};
use super::distance_field::DistanceField;
use super::docking_group::DockingGroup;
use super::rigid_motion::RelativeMotion;
use super::{DockingError, RigidMotion};
use crate::molecule::{LocalGrid, RotatableBond};
use crate::pose::Pose;

/// A turn about a bond of the moving molecule of a group.
pub(super) struct BondTurn<'a> {
    pub group: &'a DockingGroup<'a>,
    pub bond: &'a RotatableBond,
    /// Atoms of the moving molecule that each of its atoms never collides with, sorted.
    pub ignored: &'a [Vec<u32>],
    /// Angle of the turn, radian.
    pub angle: f32,
}

impl BondTurn<'_> {
    /// The angle up to the first contact of a turning atom with another molecule, or with the rest
    /// of its own, if there is a contact.
    ///
    /// As in [`DockingPair::sweep`](super::DockingPair::sweep), the closest atoms end at most the
    /// tolerance apart and never overlap.
    pub(super) fn first_contact(&self) -> Result<Option<f64>, DockingError> {
        if !self.angle.is_finite() {
            return Err(DockingError::NotFinite);
        }
        // After a full turn, all atoms are back.
        let angle = f64::from(self.angle).clamp(-TAU, TAU);
        let (moving, pose) = (self.group.moving, self.group.pose);
        let positions = moving.template().positions();
        let [first, second] = self.bond.atoms.map(|atom| positions[atom as usize]);
        let axis = (second - first).normalize_or_zero();
        let mut limit = None;
        for (other, other_pose) in &self.group.others {
            let at_axis = Pose::new(pose.transform_point(second), pose.rotation);
            let rotation = RigidMotion::rotation(pose.rotation * axis * angle as f32);
            let motion = RelativeMotion::new(&at_axis, other_pose, &rotation)?;
            let obstacle = (&other.grid, Some(other.distance_field()));
            limit = self.contact_with(obstacle, &motion, limit, |_, _| true)?;
        }
        // The own atoms that do not turn, in the body frame.
        let motion = RelativeMotion {
            start: second.as_dvec3(),
            rotation: DQuat::IDENTITY,
            velocity: DVec3::ZERO,
            spin: axis.as_dvec3() * angle,
        };
        let collides = |atom: u32, other: u32| {
            self.bond.turned.binary_search(&other).is_err()
                && self.ignored[atom as usize].binary_search(&other).is_err()
        };
        let is_own = |error| match error {
            DockingError::StartsOverlapping {
                moving,
                fixed,
                penetration,
            } => DockingError::OverlapsItself {
                atoms: [moving, fixed],
                penetration,
            },
            other => other,
        };
        let limit = self
            .contact_with((&moving.grid, None), &motion, limit, collides)
            .map_err(is_own)?;
        Ok(limit.map(|fraction| fraction * angle))
    }

    /// The fraction of the motion at the first contact with the atoms of a grid, or `limit`.
    fn contact_with(
        &self,
        (grid, field): (&LocalGrid, Option<&DistanceField>),
        motion: &RelativeMotion,
        mut limit: Option<f64>,
        collides: impl Fn(u32, u32) -> bool,
    ) -> Result<Option<f64>, DockingError> {
        let tolerance = check_tolerance(self.group.tolerance)?;
        let template = self.group.moving.template();
        let center: Vec3 = template.positions()[self.bond.atoms[1] as usize];
        for &atom in &self.bond.turned {
            let position = template.positions()[atom as usize];
            let sweep = AtomSweep {
                grid,
                field,
                radius: f64::from(template.radii()[atom as usize]),
                tolerance,
                limit: limit.unwrap_or(1.0),
                collides_with: |other| collides(atom, other),
            };
            let arm = position.as_dvec3() - center.as_dvec3();
            match sweep.run(&AtomPath::moving(motion, arm)) {
                Ok(()) => {}
                Err(Obstacle::Contact(fraction)) => limit = Some(fraction),
                Err(Obstacle::Overlap { atom: fixed, depth }) => {
                    return Err(DockingError::StartsOverlapping {
                        moving: atom,
                        fixed,
                        penetration: depth as f32,
                    });
                }
            }
        }
        Ok(limit)
    }
}
