//! Conformations: a molecule with some of its rotatable bonds turned.

use glam::{DQuat, DVec3, Vec3};

use super::{MoleculeTemplate, RotatableBond, TemplateError};

impl MoleculeTemplate {
    /// The molecule with each bond turned by an angle (radian) from this conformation, and its
    /// center of mass in the body frame of this one, nm. Both body frames have the same axes.
    ///
    /// Positive angles turn counterclockwise when looking against the direction from the first to
    /// the second atom of a bond. The positions are computed in `f64` from this conformation and
    /// rounded once, so bond lengths and angles do not drift. The atoms that no bond turns stay. If
    /// all angles are zero, the molecule is the same bit for bit.
    ///
    /// # Errors
    /// [`TemplateError`] if an angle is not finite.
    ///
    /// # Panics
    /// If the bonds are those of a larger molecule.
    ///
    /// ```
    /// use bevy_rapier_molecules::molecule::rotatable_bonds;
    /// use bevy_rapier_molecules::prelude::*;
    ///
    /// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
    /// let bonds = rotatable_bonds(&lipid);
    /// let mut angles = vec![0.0; bonds.len()];
    /// angles[3] = 2.0;
    /// let (turned, center) = lipid.with_turned_bonds(&bonds, &angles)?;
    /// let [before, after] = [&lipid, &turned].map(|shape| bonds[3].dihedral(shape));
    /// assert!((after - before - 2.0).sin().abs() < 1.0e-5);
    /// assert!(center.length() > 0.0);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn with_turned_bonds(
        &self,
        bonds: &[RotatableBond],
        angles: &[f32],
    ) -> Result<(Self, Vec3), TemplateError> {
        let positions = self.positions().iter();
        let mut positions: Vec<DVec3> = positions.map(|position| position.as_dvec3()).collect();
        let mut is_changed = false;
        for (bond, &angle) in bonds.iter().zip(angles).filter(|(_, angle)| **angle != 0.0) {
            is_changed = true;
            let [first, second] = bond.atoms.map(|atom| positions[atom as usize]);
            let axis = (second - first).normalize_or_zero();
            let rotation = DQuat::from_scaled_axis(axis * f64::from(angle));
            for &atom in &bond.turned {
                let position = &mut positions[atom as usize];
                *position = second + rotation * (*position - second);
            }
        }
        if is_changed {
            self.with_positions(&positions)
        } else {
            Ok((self.clone(), Vec3::ZERO))
        }
    }
}

impl RotatableBond {
    /// The dihedral angle of the bond between its neighbors, radian from −π to π, with the sign
    /// of IUPAC: positive if, with the near neighbor in front, the far one is clockwise from it.
    /// Zero if the angle is not defined.
    #[must_use]
    pub fn dihedral(&self, molecule: &MoleculeTemplate) -> f64 {
        let at = |atom: u32| molecule.positions()[atom as usize].as_dvec3();
        let [first, second] = self.atoms.map(at);
        let [near, far] = self.neighbors.map(at);
        let axis = second - first;
        let (one, other) = (axis.cross(near - first), axis.cross(far - second));
        let sine = one.cross(other).dot(axis);
        sine.atan2(one.dot(other) * axis.length())
    }
}
