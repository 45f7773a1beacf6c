//! A molecule with torsions.

use std::ops::ControlFlow;
use std::sync::Arc;

use glam::Vec3;

use super::{AtomPair, CONTACT_TOLERANCE_NM, DockingMolecule};
use crate::molecule::{
    LocalGrid, MoleculeTemplate, RotatableBond, TemplateError, atoms_within_bonds, rotatable_bonds,
};
use crate::pose::Pose;

/// Atoms of one molecule collide if they are more than this number of bonds apart.
const MAX_BONDS_APART: usize = 3;

/// Atoms of one molecule that are at most this far apart in the file never collide, nm: twice the
/// gap of a contact.
const MIN_GAP_IN_FILE_NM: f32 = 2.0 * CONTACT_TOLERANCE_NM;

/// A molecule, the angles of its rotatable bonds, and a factor on its radii.
#[derive(Clone, Debug)]
pub(super) struct FlexibleMolecule {
    /// With the original radii, in the conformation of the file.
    template: Arc<MoleculeTemplate>,
    bonds: Arc<[RotatableBond]>,
    /// Atoms at most [`MAX_BONDS_APART`] from each atom.
    bonded: Arc<[Vec<u32>]>,
    radius_scale: f32,
    angles: Vec<f32>,
    /// Atoms of the molecule that each atom never collides with, sorted: bonded ones, and those
    /// that touch in the file.
    ignored: Arc<[Vec<u32>]>,
    /// With the current radii and angles.
    molecule: DockingMolecule,
    /// Its center of mass in the body frame of `template`, nm.
    center: Vec3,
}

impl FlexibleMolecule {
    /// A molecule without torsions.
    pub(super) fn rigid(template: Arc<MoleculeTemplate>) -> Self {
        Self {
            bonds: Arc::new([]),
            bonded: Arc::new([]),
            radius_scale: 1.0,
            angles: Vec::new(),
            ignored: Arc::new([]),
            molecule: DockingMolecule::new(Arc::clone(&template)),
            center: Vec3::ZERO,
            template,
        }
    }

    /// A molecule with its rotatable bonds.
    pub(super) fn new(template: Arc<MoleculeTemplate>) -> Self {
        let bonds = rotatable_bonds(&template);
        let mut molecule = Self::rigid(template);
        if !bonds.is_empty() {
            molecule.angles = vec![0.0; bonds.len()];
            molecule.bonds = bonds.into();
            molecule.bonded = atoms_within_bonds(&molecule.template, MAX_BONDS_APART).into();
            molecule.ignored = molecule.ignored_atoms(&molecule.template).into();
        }
        molecule
    }

    /// The molecule in its file.
    pub(super) fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.template
    }

    /// The molecule with the current radii and angles.
    pub(super) fn molecule(&self) -> &DockingMolecule {
        &self.molecule
    }

    pub(super) fn bonds(&self) -> &[RotatableBond] {
        &self.bonds
    }

    /// Angles by which the bonds are turned, radian from −π to π.
    pub(super) fn angles(&self) -> &[f32] {
        &self.angles
    }

    /// Atoms of the molecule that each atom never collides with, sorted.
    pub(super) fn ignored(&self) -> &[Vec<u32>] {
        &self.ignored
    }

    /// The molecule with the original radii times a factor.
    pub(super) fn with_radius_scale(&self, factor: f32) -> Result<Self, TemplateError> {
        let in_file = MoleculeTemplate::clone(&self.template).with_scaled_radii(factor)?;
        let ignored = self.ignored_atoms(&in_file).into();
        self.rebuilt(factor, self.angles.clone(), ignored)
    }

    /// The molecule with these angles of its bonds.
    pub(super) fn with_angles(&self, angles: Vec<f32>) -> Result<Self, TemplateError> {
        self.rebuilt(self.radius_scale, angles, Arc::clone(&self.ignored))
    }

    fn rebuilt(
        &self,
        radius_scale: f32,
        angles: Vec<f32>,
        ignored: Arc<[Vec<u32>]>,
    ) -> Result<Self, TemplateError> {
        let (shape, center) = self.template.with_turned_bonds(&self.bonds, &angles)?;
        let shape = shape.with_scaled_radii(radius_scale)?;
        Ok(Self {
            template: Arc::clone(&self.template),
            bonds: Arc::clone(&self.bonds),
            bonded: Arc::clone(&self.bonded),
            radius_scale,
            angles,
            ignored,
            molecule: DockingMolecule::new(Arc::new(shape)),
            center,
        })
    }

    /// The pose of this molecule at which the atoms that do not turn are where they are for
    /// `before` at `pose`.
    pub(super) fn pose_like(&self, before: &Self, pose: &Pose) -> Pose {
        let shift = pose.rotation * (self.center - before.center);
        Pose::new(pose.position + shift, pose.rotation)
    }

    /// Pairs of own atoms that collide and whose surfaces are at most `margin` nm apart, sorted.
    pub(super) fn own_contacts(&self, margin: f32) -> Vec<AtomPair> {
        let mut pairs = Vec::new();
        if self.angles.iter().all(|angle| *angle == 0.0) {
            return pairs;
        }
        let template = self.molecule.template();
        let atoms = template.positions().iter().zip(template.radii());
        for ((&center, &radius), a) in atoms.zip(0..) {
            let ignored = &self.ignored[a as usize];
            let _ = self
                .molecule
                .grid
                .visit_touching(center, radius + margin, |other| {
                    let b = other.index;
                    if b > a && ignored.binary_search(&b).is_err() {
                        let gap = center.distance(other.center) - radius - other.radius;
                        pairs.push(AtomPair { a, b, gap });
                    }
                    ControlFlow::<()>::Continue(())
                });
        }
        pairs.sort_unstable_by_key(|pair| (pair.a, pair.b));
        pairs
    }

    /// The atoms that each atom never collides with, given the molecule in its file with the
    /// current radii.
    fn ignored_atoms(&self, in_file: &MoleculeTemplate) -> Vec<Vec<u32>> {
        let (positions, radii) = (in_file.positions(), in_file.radii());
        let grid = LocalGrid::new(positions, radii);
        let around = |(atom, bonded): (usize, &Vec<u32>)| {
            let mut ignored = bonded.clone();
            let reach = radii[atom] + MIN_GAP_IN_FILE_NM;
            let _ = grid.visit_touching(positions[atom], reach, |other| {
                ignored.push(other.index);
                ControlFlow::<()>::Continue(())
            });
            ignored.sort_unstable();
            ignored.dedup();
            ignored
        };
        self.bonded.iter().enumerate().map(around).collect()
    }
}
