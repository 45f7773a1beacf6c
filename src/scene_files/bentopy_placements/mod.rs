//! Placements of bentopy: rotations and positions of structure files, in a box from the origin.
//!
//! # Positions
//!
//! A position is the lowest corner of the box around the atom centers of the rotated molecule. With
//! atoms aᵢ in the frame of their file, their unweighted mean m and a rotation R, bentopy places
//! atom i at position + R(aᵢ − m) − minₖ R(aₖ − m). For a molecule with atoms at R aᵢ + t, the
//! position is therefore t + R m + minₖ R(aₖ − m), minimum by axis.
//!
//! # Writing
//!
//! Structure files are always written, one PDB file for each template, in the body frame, into the
//! folder `NAME_structures` beside the placements: a file that a kind names may have other atoms.
//! Corners are those of the rounded atoms of these files. The box of the scene is moved to the
//! origin; its lowest corner is in our own keys, which bentopy ignores, and moved back when reading.
//! A placement has the name of the molecule type, because bentopy writes it into topologies. Each
//! rotation is a batch; consecutive molecules with the same rotation share one.
//!
//! # Reading
//!
//! Paths are relative to the folder of the placements; other structure files are looked up in the
//! structure folders. A batch may also be a list of rotation and positions.

mod read;
mod write;

use glam::{DMat3, DVec3};

use super::structure_files::mean;

pub(super) use read::read;
pub(super) use write::write;

/// The lowest corners of a rotated molecule.
struct Corners {
    /// Mean of all atoms, nm.
    mean: DVec3,
    /// Atoms relative to the mean, nm.
    atoms: Vec<DVec3>,
}

impl Corners {
    /// Atoms in the frame of their file, nm.
    fn new(mut atoms: Vec<DVec3>) -> Self {
        let mean = mean(atoms.iter().copied());
        for atom in &mut atoms {
            *atom -= mean;
        }
        Self { mean, atoms }
    }

    /// The position of bentopy minus that of the origin of the file, for a rotation.
    fn offset(&self, rotation: DMat3) -> DVec3 {
        let rotated = self.atoms.iter().map(|&atom| rotation * atom);
        let lowest = rotated.fold(DVec3::INFINITY, DVec3::min);
        rotation * self.mean + lowest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corner_of_a_turned_rod_is_at_its_other_end() {
        let rod = Corners::new(vec![DVec3::new(1.0, 0.0, 0.0), DVec3::new(4.0, 0.0, 0.0)]);
        let corner = rod.offset(DMat3::IDENTITY);
        assert!(corner.abs_diff_eq(DVec3::new(1.0, 0.0, 0.0), 1.0e-12));
        let half_turn = DMat3::from_rotation_z(std::f64::consts::PI);
        let corner = rod.offset(half_turn);
        assert!(corner.abs_diff_eq(DVec3::new(-4.0, 0.0, 0.0), 1.0e-12));
    }
}
