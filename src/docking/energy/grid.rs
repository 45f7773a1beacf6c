//! Energies around a receptor, read by the atoms of a ligand.

use glam::{Quat, Vec3};

use super::lattice::{COMMON_MAPS, Lattice};
use super::{AtomKind, EnergyConfig, EnergyError, Interaction, TypedMolecule};
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
        receptor: &TypedMolecule,
        ligand: &TypedMolecule,
        config: &EnergyConfig,
    ) -> Result<Self, EnergyError> {
        let mut probes: Vec<AtomKind> = Vec::new();
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
        let centre = to_frame * (pose.position - receptor_pose.position);
        let turn: Quat = to_frame * pose.rotation;
        let mut total = Interaction::default();
        let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
        for atom in &self.atoms {
            let arm = turn * atom.position;
            let Some(read) = self.lattice.read(centre + arm, atom) else {
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
        let first = ((z * ny + y) * nx + x) * self.maps;
        let steps = [self.maps, nx * self.maps, nx * ny * self.maps];
        let common = first + self.maps - COMMON_MAPS;
        let blend = |map: usize, factor: f32| {
            if factor == 0.0 {
                return (0.0, Vec3::ZERO);
            }
            let (value, slope) = self.blend(map, steps, f);
            (factor * value, slope * factor)
        };
        let (near, near_slope) = self.blend(first + atom.map, steps, f);
        let (far, far_slope) = blend(common, atom.charge);
        let [cost, volume] = atom.solvation;
        let (by_cost, cost_slope) = blend(common + 1, cost);
        let (by_volume, volume_slope) = blend(common + 2, volume);
        Some(Reading {
            lennard_jones: near,
            coulomb: far,
            solvation: by_cost + by_volume,
            slope: (near_slope + far_slope + cost_slope + volume_slope) * self.inverse_spacing,
        })
    }

    /// Value and slope (for each spacing) inside a cell of eight values.
    #[inline]
    fn blend(&self, first: usize, [dx, dy, dz]: [usize; 3], f: Vec3) -> (f32, Vec3) {
        let value = |k: usize| self.values[first + k];
        let edge = |k: usize| {
            let (low, high) = (value(k), value(k + dx));
            (low + (high - low) * f.x, high - low)
        };
        let face = |k: usize| {
            let ((low, low_x), (high, high_x)) = (edge(k), edge(k + dy));
            (
                low + (high - low) * f.y,
                low_x + (high_x - low_x) * f.y,
                high - low,
            )
        };
        let ((low, low_x, low_y), (high, high_x, high_y)) = (face(0), face(dz));
        (
            low + (high - low) * f.z,
            Vec3::new(
                low_x + (high_x - low_x) * f.z,
                low_y + (high_y - low_y) * f.z,
                high - low,
            ),
        )
    }
}
