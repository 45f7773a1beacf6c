//! Sliding along surfaces, and pushing molecules away.

use glam::Vec3;

use super::conservative_advancement::TOUCHING;
use super::docking_group::{DockingGroup, GroupContact, GroupReport};
use super::{DockingError, DockingMolecule, RigidMotion};
use crate::force::Body;
use crate::pose::Pose;

/// Maximum number of sweeps that a motion is divided into by its contacts.
const MAX_SWEEPS: usize = 12;

/// Solver iterations per contact set.
const ITERATIONS: usize = 60;

/// Fraction of the motion that separates from each contact. Motion exactly along the surface
/// would touch again immediately.
const SEPARATION: f32 = 2.0e-3;

/// Fraction of the motion below which the remainder only separates.
const MIN_REMAINDER: f32 = 2.0 * SEPARATION;

/// Motions of the molecules of a group: the moving one, and translations of all others.
struct GroupMotion {
    moving: RigidMotion,
    others: Vec<Vec3>,
}

impl GroupMotion {
    fn scaled(&self, factor: f32) -> Self {
        Self {
            moving: self.moving.scaled(factor),
            others: self.others.iter().map(|other| *other * factor).collect(),
        }
    }

    /// The motion of one molecule relative to another one, which does not rotate.
    fn relative(&self, [a, b]: [usize; 2]) -> RigidMotion {
        match a.checked_sub(1) {
            None => RigidMotion {
                translation: self.moving.translation - self.others[b - 1],
                ..self.moving
            },
            Some(a) => RigidMotion::translation(self.others[a] - self.others[b - 1]),
        }
    }

    /// Upper bound on the displacement of an atom of the moving molecule, plus the translations
    /// of all others, nm.
    fn size(&self, radius: f32) -> f32 {
        let others = self.others.iter().map(|other| other.length());
        self.moving.max_displacement(radius) + others.sum::<f32>()
    }
}

impl DockingGroup<'_> {
    /// Moves the molecule and slides along contacts with the others, which translate when pushed.
    /// `inverse_mass` gives their inverse masses in 1/Da, zero for fixed ones. Pushed molecules
    /// push the molecules that they touch.
    ///
    /// Sweeps use relative motions of two molecules, one of which does not rotate, so they are as
    /// exact as past a fixed one.
    pub(super) fn slide_and_push(
        &self,
        motion: &RigidMotion,
        inverse_mass: impl Fn(&DockingMolecule) -> f32,
    ) -> Result<GroupReport, DockingError> {
        let mut group = self.clone();
        let others = self.others.iter().map(|(other, _)| inverse_mass(other));
        let inverse_masses: Vec<f32> = others.collect();
        let mut rest = GroupMotion {
            moving: *motion,
            others: vec![Vec3::ZERO; self.others.len()],
        };
        let radius = self.moving.template().bounding_radius();
        let total = motion.max_displacement(radius);
        let report = |group: &Self, contacts, blocked| GroupReport {
            contacts,
            blocked,
            ..group.report(group.pose)
        };
        for _ in 0..MAX_SWEEPS {
            let first = group.first_contact_of_all(&rest)?;
            let fraction = first.unwrap_or(1.0);
            group.advance(&rest, fraction);
            let contacts = match first {
                Some(_) => group.contacts_of(group.pairs(), TOUCHING * self.tolerance),
                None => Vec::new(),
            };
            if contacts.is_empty() {
                return Ok(report(&group, contacts, false));
            }
            rest = rest.scaled((1.0 - fraction) as f32);
            deflect(&mut rest, &contacts, &group, &inverse_masses);
            if rest.size(radius) <= MIN_REMAINDER * total {
                return Ok(report(&group, contacts, true));
            }
        }
        let contacts = group.contacts_of(group.pairs(), self.tolerance);
        Ok(report(&group, contacts, true))
    }

    /// All pairs of molecules.
    fn pairs(&self) -> impl Iterator<Item = [usize; 2]> + use<> {
        let count = self.len();
        (0..count).flat_map(move |a| (a + 1..count).map(move |b| [a, b]))
    }

    /// The fraction of the motions at the first contact of any two molecules, if there is one.
    fn first_contact_of_all(&self, motions: &GroupMotion) -> Result<Option<f64>, DockingError> {
        let mut first = None;
        for molecules in self.pairs() {
            let relative = motions.relative(molecules);
            // Others that rest relative to each other may overlap.
            if molecules[0] > 0 && relative == RigidMotion::default() {
                continue;
            }
            let pair = self.pair(molecules);
            let contact = pair.first_contact(&relative, first.unwrap_or(1.0))?;
            first = contact.or(first);
        }
        Ok(first)
    }

    /// Moves all molecules by a fraction of their motions.
    fn advance(&mut self, motions: &GroupMotion, fraction: f64) {
        let factor = fraction as f32;
        // In the frame of the first of the others, in which its atoms were swept.
        let (relative, carried) = match motions.others.first() {
            Some(first) => (motions.relative([0, 1]), *first * factor),
            None => (motions.moving, Vec3::ZERO),
        };
        let pose = relative.pose_at(&self.pose, fraction);
        self.pose = Pose::new(pose.position + carried, pose.rotation);
        for ((_, pose), motion) in self.others.iter_mut().zip(&motions.others) {
            pose.position += *motion * factor;
        }
    }
}

/// A contact constraint on the motions.
struct ContactRow {
    /// The two molecules; 0 is the moving one.
    molecules: [usize; 2],
    normal: Vec3,
    /// Lever arm of the contact crossed with the normal; zero if the first molecule does not
    /// rotate.
    angular: Vec3,
    /// Change of the rotation per unit impulse.
    angular_response: Vec3,
    /// Change of the approach per unit impulse, 1/Da.
    mobility: f32,
    impulse: f32,
}

impl ContactRow {
    fn new(
        contact: &GroupContact,
        group: &DockingGroup,
        body: &Body,
        inverse_masses: &[f32],
    ) -> Self {
        let [a, b] = contact.molecules;
        let pair = group.pair([a, b]);
        let normal = pair.contact_normal(&contact.atoms);
        let mut row = Self {
            molecules: [a, b],
            normal,
            angular: Vec3::ZERO,
            angular_response: Vec3::ZERO,
            mobility: inverse_masses[b - 1],
            impulse: 0.0,
        };
        if let Some(other) = a.checked_sub(1) {
            row.mobility += inverse_masses[other];
        } else {
            let (template, atom) = (group.moving.template(), contact.atoms.a as usize);
            let arm =
                group.pose.rotation * template.positions()[atom] - normal * template.radii()[atom];
            row.angular = arm.cross(normal);
            row.angular_response = body.inverse_inertia * row.angular;
            row.mobility += body.mobility(arm, normal);
        }
        row
    }
}

/// Replaces motions by the closest ones, measured by inertia, that enter no contact: projected
/// Gauss-Seidel over the contacts.
fn deflect(
    motions: &mut GroupMotion,
    contacts: &[GroupContact],
    group: &DockingGroup,
    inverse_masses: &[f32],
) {
    let template = group.moving.template();
    let body = Body::new(template, &group.pose);
    let size = motions.moving.max_displacement(template.bounding_radius());
    let separation = SEPARATION * size;
    let rows = contacts
        .iter()
        .map(|contact| ContactRow::new(contact, group, &body, inverse_masses));
    // Nothing resolves a contact of two fixed molecules.
    let mut rows: Vec<ContactRow> = rows.filter(|row| row.mobility > 0.0).collect();
    for _ in 0..ITERATIONS {
        for row in &mut rows {
            let [a, b] = row.molecules;
            let relative = motions.relative([a, b]);
            let approach =
                relative.translation.dot(row.normal) + motions.moving.rotation.dot(row.angular);
            let previous = row.impulse;
            row.impulse = (previous + (separation - approach) / row.mobility).max(0.0);
            let change = row.impulse - previous;
            if let Some(other) = a.checked_sub(1) {
                motions.others[other] += row.normal * (change * inverse_masses[other]);
            } else {
                motions.moving.translation += row.normal * (change * body.inverse_mass);
                motions.moving.rotation += row.angular_response * change;
            }
            motions.others[b - 1] -= row.normal * (change * inverse_masses[b - 1]);
        }
    }
}
