//! Energies around a receptor, read by the atoms of a ligand.

use glam::{Quat, Vec3};

use super::lattice::{COMMON_MAPS, Lattice};
use super::{EnergyConfig, EnergyError, ForceFieldMolecule, Interaction, LennardJones};
use crate::pose::Pose;

/// Energies around a receptor for the atoms of one ligand.
#[derive(Clone, Debug)]
pub struct EnergyGrid {
    config: EnergyConfig,
    lattice: Lattice,
    atoms: Vec<ProbeAtom>,
}

/// An atom of the ligand.
#[derive(Clone, Copy, Debug)]
struct ProbeAtom {
    /// In the body frame, nm.
    position: Vec3,
    /// Map of its kind.
    map: usize,
    charge: f32,
    /// Cost of solvation and volume, in the order of the maps that they are multiplied with.
    solvation: [f32; 2],
}

impl EnergyGrid {
    /// Sums up what a receptor does to the kinds of atoms that a ligand has.
    ///
    /// Takes one number of four bytes for each kind and three more at each point of the box
    /// around the receptor, enlarged by the cutoff on all sides. The result does not depend
    /// on the number of threads.
    ///
    /// # Errors
    /// [`EnergyError`] if a setting makes no sense, or the lattice would take more memory
    /// than the settings allow.
    pub fn new(
        receptor: &ForceFieldMolecule,
        ligand: &ForceFieldMolecule,
        config: &EnergyConfig,
    ) -> Result<Self, EnergyError> {
        let mut probes: Vec<LennardJones> = Vec::new();
        let mut atoms = Vec::with_capacity(ligand.kinds().len());
        for (k, kind) in ligand.kinds().iter().enumerate() {
            let known = probes.iter().position(|probe| probe == kind);
            let map = known.unwrap_or_else(|| {
                probes.push(*kind);
                probes.len() - 1
            });
            atoms.push(ProbeAtom {
                position: ligand.template().positions()[k],
                map,
                charge: ligand.charges()[k],
                solvation: {
                    let solvation = ligand.solvation()[k];
                    [solvation.cost, solvation.volume].map(|value| value as f32)
                },
            });
        }
        Ok(Self {
            config: *config,
            lattice: Lattice::new(receptor, &probes, config)?,
            atoms,
        })
    }

    /// How it was summed up.
    #[must_use]
    pub fn config(&self) -> &EnergyConfig {
        &self.config
    }

    /// Bytes that the lattice takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.lattice.values.len() * size_of::<f32>()
    }

    /// What the receptor does to the ligand at `pose`, by looking at eight points for each
    /// atom of the ligand.
    ///
    /// Beyond the cutoff there is nothing. A pose that is not finite is far from everything.
    #[must_use]
    pub fn interaction(&self, pose: &Pose, receptor_pose: &Pose) -> Interaction {
        let to_frame = receptor_pose.rotation.inverse();
        let center = to_frame * (pose.position - receptor_pose.position);
        let turn: Quat = to_frame * pose.rotation;
        let mut total = Interaction::default();
        let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
        for atom in &self.atoms {
            let arm = turn * atom.position;
            let Some(read) = self.lattice.read(center + arm, atom) else {
                continue;
            };
            total.lennard_jones += f64::from(read.lennard_jones);
            total.coulomb += f64::from(read.coulomb);
            total.solvation += f64::from(read.solvation);
            force -= read.slope;
            torque -= arm.cross(read.slope);
        }
        total.force = receptor_pose.rotation * force;
        total.torque = receptor_pose.rotation * torque;
        total
    }

    /// Energy of the ligand if all its atoms were at one point of the receptor's body frame,
    /// nm, without its charges, kJ/mol for each atom: low in pockets.
    #[must_use]
    pub(in crate::docking) fn point_energy(&self, point: Vec3) -> f64 {
        let atoms = self.atoms.iter();
        let read = atoms.filter_map(|atom| self.lattice.read(point, atom));
        let sum: f64 = read
            .map(|read| f64::from(read.lennard_jones + read.solvation))
            .sum();
        sum / self.atoms.len() as f64
    }

    /// Energy alone, kJ/mol: what [`interaction`](Self::interaction) has.
    #[must_use]
    pub fn energy(&self, pose: &Pose, receptor_pose: &Pose) -> f64 {
        self.interaction(pose, receptor_pose).energy()
    }
}

/// What one atom reads.
struct Reading {
    lennard_jones: f32,
    coulomb: f32,
    solvation: f32,
    /// Of all energies, kJ/(mol·nm).
    slope: Vec3,
}

impl Lattice {
    /// Trilinear interpolation between the eight points around `place`; nothing outside of
    /// the lattice.
    #[inline]
    fn read(&self, place: Vec3, atom: &ProbeAtom) -> Option<Reading> {
        let at = (place - self.low) * self.inverse_spacing;
        let last = (self.counts - 1).as_vec3();
        // Not a number is nowhere.
        if !(at.cmpge(Vec3::ZERO).all() && at.cmplt(last).all()) {
            return None;
        }
        let cell = at.as_uvec3();
        let f = at - cell.as_vec3();
        let [nx, ny] = [self.counts.x, self.counts.y].map(|n| n as usize);
        let [x, y, z] = cell.to_array().map(|k| k as usize);
        let first = (z * ny + y) * nx + x;
        let common = self.maps - COMMON_MAPS;
        let [cost, volume] = atom.solvation;
        let mut read = Reading {
            lennard_jones: 0.0,
            coulomb: 0.0,
            solvation: 0.0,
            slope: Vec3::ZERO,
        };
        // The eight points, each with its share of the value and of the slope.
        for dz in 0..2 {
            for dy in 0..2 {
                for dx in 0..2 {
                    let point = (first + (dz * ny + dy) * nx + dx) * self.maps;
                    let values = &self.values[point..point + self.maps];
                    let near = values[atom.map];
                    let far = atom.charge * values[common];
                    let water = cost * values[common + 1] + volume * values[common + 2];
                    let [(x, sx), (y, sy), (z, sz)] =
                        [(dx, f.x), (dy, f.y), (dz, f.z)].map(|(side, f)| {
                            if side == 0 { (1.0 - f, -1.0) } else { (f, 1.0) }
                        });
                    let share = x * y * z;
                    read.lennard_jones += share * near;
                    read.coulomb += share * far;
                    read.solvation += share * water;
                    let slope = Vec3::new(sx * y * z, x * sy * z, x * y * sz);
                    read.slope += slope * (near + far + water);
                }
            }
        }
        read.slope *= self.inverse_spacing;
        Some(read)
    }
}
