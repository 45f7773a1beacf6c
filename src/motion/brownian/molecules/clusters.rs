//! Molecules that stick together move as one.

use super::BrownianMolecules;
use crate::motion::MotionError;
use glam::DVec3;

/// Molecules that move as one.
#[derive(Clone, Debug)]
pub(super) struct Body {
    /// They, in order; none if they have become part of another body.
    pub(super) members: Vec<u32>,
    /// Diffusion coefficient, nm²/s.
    pub(super) diffusion: f64,
    /// Rotational diffusion coefficient, rad²/s.
    pub(super) rotational_diffusion: f64,
}

impl Body {
    pub(super) fn is_mobile(&self) -> bool {
        self.diffusion > 0.0 || self.rotational_diffusion > 0.0
    }
}

impl BrownianMolecules {
    /// The cluster of a molecule: all that stick to it, itself included.
    #[must_use]
    pub fn cluster(&self, molecule: u32) -> Option<&[u32]> {
        let body = *self.body_of.get(molecule as usize)?;
        Some(&self.bodies[body as usize].members)
    }

    /// All clusters, also those of one molecule, in the order of their first ones.
    pub fn clusters(&self) -> impl Iterator<Item = &[u32]> + '_ {
        let members = self.bodies.iter().map(|body| body.members.as_slice());
        members.filter(|members| !members.is_empty())
    }

    /// Makes two molecules stick together as they are, with all that stick to them.
    ///
    /// # Errors
    /// [`MotionError::IndexOutOfRange`] if there is no such molecule.
    pub fn join(&mut self, one: u32, other: u32) -> Result<(), MotionError> {
        let count = self.molecules.len() as u32;
        if let Some(sphere) = [one, other].into_iter().find(|index| *index >= count) {
            return Err(MotionError::IndexOutOfRange { sphere, count });
        }
        let [one, other] = [one, other].map(|index| self.body_of[index as usize]);
        if one == other {
            return Ok(());
        }
        let (keep, gone) = (one.min(other), one.max(other));
        let gone = &mut self.bodies[gone as usize];
        let members = std::mem::take(&mut gone.members);
        let (diffusion, rotational) = (gone.diffusion, gone.rotational_diffusion);
        for &member in &members {
            self.body_of[member as usize] = keep;
        }
        let body = &mut self.bodies[keep as usize];
        body.members.extend(members);
        body.members.sort_unstable();
        body.diffusion = (body.diffusion.powi(-3) + diffusion.powi(-3)).powf(-1.0 / 3.0);
        body.rotational_diffusion =
            (body.rotational_diffusion.recip() + rotational.recip()).recip();
        Ok(())
    }

    /// Nobody sticks to anybody.
    pub(super) fn part_all(&mut self) {
        let alone = self
            .molecules
            .iter()
            .zip(0..)
            .map(|(molecule, index)| Body {
                members: vec![index],
                diffusion: molecule.diffusion,
                rotational_diffusion: molecule.rotational_diffusion,
            });
        self.bodies = alone.collect();
        self.body_of = (0..self.molecules.len() as u32).collect();
    }

    /// The point that a body turns about, nm: the center of the volume of its members, which
    /// goes with 1 / D³, or that of their places if one of them only turns.
    pub(super) fn center(&self, body: &Body) -> DVec3 {
        let volume = |member: u32| self.molecules[member as usize].diffusion.powi(-3);
        let known = body.members.iter().all(|&one| volume(one).is_finite());
        let weight = |member: u32| if known { volume(member) } else { 1.0 };
        let place = |member: u32| self.places[member as usize].0;
        match body.members[..] {
            [] => DVec3::ZERO,
            [alone] => place(alone),
            [first, ..] => {
                // From the first one on, so that digits are not lost far from the origin.
                let mut sum = (0.0, DVec3::ZERO);
                for &member in &body.members {
                    sum.0 += weight(member);
                    sum.1 += weight(member) * (place(member) - place(first));
                }
                place(first) + sum.1 / sum.0
            }
        }
    }
}
