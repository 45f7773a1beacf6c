//! [`FiberLink`]: the rigid unit of a fiber.

use std::f32::consts::TAU;
use std::sync::Arc;

use glam::{Mat3, Quat, Vec2, Vec3};

use super::FiberError;
use super::error::{check, check_length};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Base pairs per turn of B-DNA.
const BASE_PAIRS_PER_TURN: f32 = 10.5;

/// Gap that straight links have beyond their contact, nm: more than the clearance of a relaxer with
/// its overshoot.
const END_GAP_NM: f32 = 0.01;

/// Distance of the balls of a rod, as a part of their radius.
const BALL_DISTANCE: f32 = 0.5;

/// Largest number of balls of a rod.
const MAX_BALLS: f32 = 10_000.0;

/// Names of nucleotides in structure files.
const NUCLEOTIDES: [&str; 9] = ["DA", "DC", "DG", "DT", "DU", "A", "C", "G", "U"];

/// A template with an axis, and how it follows itself in a fiber.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::fiber::FiberLink;
/// use bevy_rapier_molecules::prelude::*;
///
/// let dna = load("assets/molecules/4c64_dna.pdb", &LoadOptions::default())?;
/// let link = FiberLink::from_template(Arc::new(dna.with_uniform_radius(0.1)?))?;
/// assert_eq!(link.base_pairs(), 12);
/// assert!((4.0..4.5).contains(&link.rise()), "{} nm", link.rise());
///
/// let rod = FiberLink::rod("actin", 3.0, 20.0)?;
/// assert!((rod.rise() - 20.01).abs() < 1e-3, "{} nm", rod.rise());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct FiberLink {
    template: Arc<MoleculeTemplate>,
    /// Rotation whose z axis is the axis, in the body frame.
    frame: Quat,
    /// The middle of the axis, body frame.
    middle: Vec3,
    length: f32,
    radius: f32,
    rise: f32,
    twist: f32,
    base_pairs: u32,
}

impl FiberLink {
    /// A link along the longest principal axis of a molecule.
    ///
    /// The twist is that of B-DNA, 10.5 base pairs per turn, if the molecule has pairs of
    /// nucleotides, else none. The rise is the least distance at which the spheres of two straight
    /// links do not overlap; set the radii of the template first.
    ///
    /// # Errors
    /// [`FiberError::OutOfRange`] if the molecule is too large.
    pub fn from_template(template: Arc<MoleculeTemplate>) -> Result<Self, FiberError> {
        let residues = template.residues().iter();
        let nucleotides = residues.filter(|residue| NUCLEOTIDES.contains(&&*residue.name));
        let base_pairs = nucleotides.count() as u32 / 2;
        let mut axis = template.principal_axes() * Vec3::X;
        // Eigenvectors have no sign.
        let largest = axis.abs().max_position();
        axis *= axis[largest].signum();
        let side = axis.any_orthonormal_vector();
        let frame = Quat::from_mat3(&Mat3::from_cols(side, axis.cross(side), axis));
        Self::new(template, frame.normalize(), base_pairs)
    }

    /// A straight rod of balls along z, from end to end `length` nm long.
    ///
    /// # Errors
    /// [`FiberError::OutOfRange`] if the radius is not positive, or the length less than the
    /// diameter or more than 5,000 times the radius.
    pub fn rod(name: &str, radius: f32, length: f32) -> Result<Self, FiberError> {
        check_length("the radius of a link", radius)?;
        check_length("the length of a link", length)?;
        let between = length - 2.0 * radius;
        let gaps = (between / (BALL_DISTANCE * radius)).ceil();
        let in_range = between >= 0.0 && gaps < MAX_BALLS;
        let allowed = "at least its diameter and at most 5,000 radii";
        check(in_range, "the length of a link", allowed, length)?;
        let balls = (0..=gaps as u32).map(|ball| {
            let part = if gaps > 0.0 { ball as f32 / gaps } else { 0.5 };
            (Vec3::Z * (between * (part - 0.5)), radius)
        });
        let balls: Vec<(Vec3, f32)> = balls.collect();
        let template = MoleculeTemplate::coarse(name, &balls)?;
        Self::new(Arc::new(template), Quat::IDENTITY, 0)
    }

    fn new(
        template: Arc<MoleculeTemplate>,
        frame: Quat,
        base_pairs: u32,
    ) -> Result<Self, FiberError> {
        let (mut low, mut high, mut radius) = (f32::INFINITY, f32::NEG_INFINITY, 0.0_f32);
        let to_frame = frame.inverse();
        for (&position, &ball) in template.positions().iter().zip(template.radii()) {
            let local = to_frame * position;
            low = low.min(local.z - ball);
            high = high.max(local.z + ball);
            radius = radius.max(local.truncate().length() + ball);
        }
        let twist = base_pairs as f32 * TAU / BASE_PAIRS_PER_TURN;
        let mut link = Self {
            middle: frame * (Vec3::Z * (0.5 * (low + high))),
            template,
            frame,
            length: high - low,
            radius,
            rise: 0.0,
            twist,
            base_pairs,
        };
        link.rise = link.contact_distance() + END_GAP_NM;
        check_length("the rise of a link", link.rise)?;
        Ok(link)
    }

    /// The link with another rise, nm. Straight links overlap if it is less than that of
    /// [`from_template`](Self::from_template).
    ///
    /// # Errors
    /// [`FiberError::OutOfRange`] if it is not positive.
    pub fn with_rise(mut self, rise: f32) -> Result<Self, FiberError> {
        check_length("the rise of a link", rise)?;
        self.rise = rise;
        Ok(self)
    }

    /// The link with another twist, radian, and the rise that straight links need with it.
    ///
    /// # Errors
    /// [`FiberError::OutOfRange`] if it is not finite.
    pub fn with_twist(mut self, twist: f32) -> Result<Self, FiberError> {
        check(twist.is_finite(), "the twist of a link", "finite", twist)?;
        self.twist = twist % TAU;
        self.rise = self.contact_distance() + END_GAP_NM;
        Ok(self)
    }

    /// The template.
    #[must_use]
    pub fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.template
    }

    /// The axis, a unit vector in the body frame.
    #[must_use]
    pub fn axis(&self) -> Vec3 {
        self.frame * Vec3::Z
    }

    /// Extent along the axis, nm.
    #[must_use]
    pub fn length(&self) -> f32 {
        self.length
    }

    /// Largest distance of a sphere's surface from the axis, nm.
    #[must_use]
    pub fn radius(&self) -> f32 {
        self.radius
    }

    /// Distance from the start of a link to that of the next one along a straight fiber, nm.
    #[must_use]
    pub fn rise(&self) -> f32 {
        self.rise
    }

    /// Rotation about the axis from a link to the next one, radian.
    #[must_use]
    pub fn twist(&self) -> f32 {
        self.twist
    }

    /// Number of base pairs of a double-stranded nucleic acid, else zero.
    #[must_use]
    pub fn base_pairs(&self) -> u32 {
        self.base_pairs
    }

    /// Frames of the joints at the start and at the end, in the body frame: half a rise from the
    /// middle, with the axis as z. That of the end is turned by the twist.
    #[must_use]
    pub fn ends(&self) -> [Pose; 2] {
        let half = self.axis() * (0.5 * self.rise);
        let turned = self.frame * Quat::from_rotation_z(self.twist);
        [
            Pose::new(self.middle - half, self.frame),
            Pose::new(self.middle + half, turned.normalize()),
        ]
    }

    /// The pose whose axis is centered between two points (nm), with `side` as the x axis of the
    /// frame of its start. `side` is a unit vector perpendicular to the line between the points.
    pub(super) fn pose_between(&self, [start, end]: [Vec3; 2], side: Vec3) -> Pose {
        let axis = (end - start).normalize_or(Vec3::Z);
        let frame = Quat::from_mat3(&Mat3::from_cols(side, axis.cross(side), axis));
        let rotation = (frame * self.frame.inverse()).normalize();
        Pose::new(0.5 * (start + end) - rotation * self.middle, rotation)
    }

    /// The distance along the axis at which a copy that is turned by the twist touches this link.
    fn contact_distance(&self) -> f32 {
        let to_frame = self.frame.inverse();
        let turn = Quat::from_rotation_z(self.twist);
        let spheres = self.template.positions().iter().zip(self.template.radii());
        let own: Vec<(Vec3, f32)> = spheres.map(|(p, r)| (to_frame * *p, *r)).collect();
        let mut below = own.clone();
        let mut above: Vec<(Vec3, f32)> = own.iter().map(|(p, r)| (turn * *p, *r)).collect();
        // Those that reach furthest towards the other link first.
        below.sort_by(|(a, _), (b, _)| b.z.total_cmp(&a.z));
        above.sort_by(|(a, _), (b, _)| a.z.total_cmp(&b.z));
        let largest = own.iter().map(|(_, radius)| *radius).fold(0.0, f32::max);
        let mut distance = 0.0_f32;
        for (lower, lower_radius) in &below {
            for (upper, upper_radius) in &above {
                if lower.z - upper.z + lower_radius + largest <= distance {
                    break;
                }
                let reach = lower_radius + upper_radius;
                let aside: Vec2 = lower.truncate() - upper.truncate();
                let squared = reach * reach - aside.length_squared();
                if squared > 0.0 {
                    distance = distance.max(lower.z - upper.z + squared.sqrt());
                }
            }
        }
        distance
    }
}
