//! [`Bond`]: the pose of a molecule relative to another one, and the joint that keeps it.

use std::f32::consts::{PI, TAU};

use glam::{Quat, Vec3};
use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::places::random_rotation;
use super::touch::{Ball, GAP_NM, Touch, balls_of, first_free, from_outside, normal_at};
use crate::compartment::sample_unit_sphere;
use crate::crowd::JointLimits;
use crate::fiber::FiberLink;
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;
use crate::recipe::defaults::{RULE_ANGLE, RULE_TOLERANCE_NM};
use crate::recipe::error::RecipeProblem;
use crate::recipe::model::RotationRange;
use crate::recipe::rule::Attachment;

/// Rotations about the axis of an attached molecule that are compared.
const SPINS: u32 = 12;

/// Radius of the ball that finds the surface of a molecule, nm.
const PROBE_NM: f32 = 0.3;

/// Distance up to which spheres determine the normal of a surface, nm.
const NORMAL_REACH_NM: f32 = 1.0;

/// Directions in which a surface is looked for.
const DIRECTIONS: u32 = 32;

/// Below this distance of a site from the center of mass, there is no direction from one to the
/// other, nm.
const MIN_LEVER_NM: f32 = 1.0e-3;

/// The pose of a molecule relative to another one, and the joint that keeps it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bond {
    /// Pose in the body frame of the other molecule.
    pub pose: Pose,
    /// Frames of the joint in the body frames of the molecule and of the other one.
    pub frames: [Pose; 2],
    pub limits: JointLimits,
}

/// What is bound.
pub(super) struct Bound<'a> {
    pub template: &'a MoleculeTemplate,
    /// Body axis that points away from the other molecule, if it is given.
    pub up: Option<Vec3>,
    /// Rotations without that axis.
    pub rotation: RotationRange,
}

impl Bound<'_> {
    /// A random rotation with the axis, if it is given, along a unit vector.
    fn turned(&self, normal: Vec3, random: &mut Pcg64Mcg) -> Quat {
        match self.up {
            Some(up) => aligned(up, normal, TAU * random.random::<f32>()),
            None => random_rotation(self.rotation, random),
        }
    }

    /// A bond at a point, with the axis along a normal; both in the frame of the other molecule.
    fn at_point(&self, pose: Pose, point: Vec3, normal: Vec3, gap: f32) -> Bond {
        let bend = if self.up.is_some() { RULE_ANGLE } else { PI };
        let limits = JointLimits {
            gap,
            bend,
            ..JointLimits::default()
        };
        coincident(pose, point, normal, limits)
    }

    /// A bond at a random place where the molecule touches the spheres of another one.
    pub fn on_surface(&self, other: &MoleculeTemplate, random: &mut Pcg64Mcg) -> Bond {
        let still = balls_of(other, &Pose::IDENTITY);
        let (base, normal) = surface_point(&still, random);
        let rotation = self.turned(normal, random);
        let moved = balls_of(self.template, &Pose::new(base, rotation));
        let touch = from_outside(&still, &moved, normal);
        let touch = touch.unwrap_or(Touch {
            distance: 0.0,
            point: base,
        });
        let pose = Pose::new(base + normal * touch.distance, rotation);
        self.at_point(pose, touch.point, normal, RULE_TOLERANCE_NM - GAP_NM)
    }

    /// A bond at a random place with the center of mass within a range of distances.
    pub fn at_distance(&self, [min, max]: [f32; 2], random: &mut Pcg64Mcg) -> Bond {
        let direction = sample_unit_sphere(random.random(), random.random());
        // Uniform in the volume of the shell.
        let [inner, outer] = [min, max].map(|distance| distance.powi(3));
        let distance = (inner + (outer - inner) * random.random::<f32>()).cbrt();
        Bond {
            pose: Pose::new(
                direction * distance.clamp(min, max),
                random_rotation(self.rotation, random),
            ),
            frames: [Pose::IDENTITY; 2],
            limits: JointLimits {
                min_gap: min,
                gap: max,
                ..JointLimits::default()
            },
        }
    }

    /// Bonds at a site of another molecule, with other rotations about the axis: those that are
    /// almost as close as the closest one.
    ///
    /// # Errors
    /// [`RecipeProblem`] if the axis is needed but not given.
    pub fn attached(
        &self,
        other: &MoleculeTemplate,
        attachment: &Attachment,
        random: &mut Pcg64Mcg,
    ) -> Result<Vec<Bond>, RecipeProblem> {
        let (file, own_file) = (other.file_pose(), self.template.file_pose());
        let site = file.inverse_transform_point(attachment.site);
        let axis = attachment
            .axis
            .map(|axis| file.rotation.inverse() * axis)
            .or_else(|| (site.length() > MIN_LEVER_NM).then(|| site.normalize()));
        let Some(axis) = axis else {
            let expected = format!(
                "expected axis, since the site is the center of mass of '{}'",
                other.name()
            );
            return Err(RecipeProblem::Missing(expected));
        };
        let own_site = attachment.own_site;
        let own_site = own_site.map_or(Vec3::ZERO, |site| own_file.inverse_transform_point(site));
        let own_axis = attachment
            .own_axis
            .map(|axis| own_file.rotation.inverse() * axis)
            .or_else(|| (own_site.length() > MIN_LEVER_NM).then(|| -own_site.normalize()));
        let still = balls_of(other, &Pose::IDENTITY);
        let mut bonds = Vec::new();
        for spin in 0..SPINS {
            let rotation = match own_axis {
                Some(own) => aligned(own, axis, TAU * spin as f32 / SPINS as f32),
                None => crate::pose::random_rotation(random),
            };
            let start = Pose::new(site - rotation * own_site, rotation);
            let slide = first_free(&still, &balls_of(self.template, &start), axis);
            let pose = Pose::new(start.position + axis * slide, rotation);
            let limits = JointLimits {
                gap: RULE_TOLERANCE_NM,
                bend: if own_axis.is_some() { RULE_ANGLE } else { PI },
                ..JointLimits::default()
            };
            bonds.push((slide, coincident(pose, site + axis * slide, axis, limits)));
        }
        let least = bonds
            .iter()
            .map(|(slide, _)| *slide)
            .fold(f32::MAX, f32::min);
        bonds.retain(|(slide, _)| *slide <= least + RULE_TOLERANCE_NM);
        Ok(bonds.into_iter().map(|(_, bond)| bond).collect())
    }

    /// A bond beside the link of a fiber.
    pub fn beside(&self, seat: &Seat<'_>, random: &mut Pcg64Mcg) -> Bond {
        let [start, end] = seat.link.ends();
        let base = 0.5 * (start.position + end.position) + seat.link.axis() * seat.offset;
        let angle = seat.angle.unwrap_or_else(|| TAU * random.random::<f32>());
        let normal = start.rotation * Quat::from_rotation_z(angle) * Vec3::X;
        let rotation = self.turned(normal, random);
        let distance = seat.distance.unwrap_or_else(|| {
            let moved = balls_of(self.template, &Pose::new(base, rotation));
            let touch = from_outside(&seat.still, &moved, normal);
            touch.map_or(0.0, |touch| touch.distance)
        });
        let pose = Pose::new(base + normal * distance, rotation);
        self.at_point(pose, pose.position, normal, RULE_TOLERANCE_NM)
    }
}

/// A place beside the link of a fiber, in the body frame of the link.
pub(super) struct Seat<'a> {
    pub link: &'a FiberLink,
    /// Spheres of the link and of its neighbors in the fiber.
    pub still: Vec<Ball>,
    /// From the middle of the link along its axis, nm.
    pub offset: f32,
    /// Angle about the axis, radian; none for a random one.
    pub angle: Option<f32>,
    /// Distance of the center of mass from the axis, nm; none if the molecule touches the fiber.
    pub distance: Option<f32>,
}

/// A random point on a surface of spheres, seen from the origin, and its normal.
fn surface_point(still: &[Ball], random: &mut Pcg64Mcg) -> (Vec3, Vec3) {
    let probe = [(Vec3::ZERO, PROBE_NM)];
    let mut direction = Vec3::X;
    for _ in 0..DIRECTIONS {
        direction = sample_unit_sphere(random.random(), random.random());
        if let Some(hit) = from_outside(still, &probe, direction) {
            let normal = normal_at(still, hit.point, NORMAL_REACH_NM);
            return (hit.point, normal.unwrap_or(direction));
        }
    }
    (Vec3::ZERO, direction)
}

/// A bond whose frames coincide at a point, with an axis as z; both in the frame of the other
/// molecule.
fn coincident(pose: Pose, point: Vec3, axis: Vec3, limits: JointLimits) -> Bond {
    let frame = Pose::new(point, Quat::from_rotation_arc(Vec3::Z, axis));
    let own = Pose::new(
        pose.inverse_transform_point(point),
        (pose.rotation.inverse() * frame.rotation).normalize(),
    );
    Bond {
        pose,
        frames: [own, frame],
        limits,
    }
}

/// The rotation that takes a unit vector to another one, followed by a rotation about that one.
fn aligned(own: Vec3, axis: Vec3, spin: f32) -> Quat {
    let turn = Quat::from_axis_angle(axis, spin) * Quat::from_rotation_arc(own, axis);
    turn.normalize()
}
