//! Precomputed energies on a grid around a receptor.

use glam::{DVec3, Quat, UVec3, Vec3};
use rayon::prelude::*;

use super::lennard_jones::LennardJones;
use super::pair_potential::{coulomb_constant, soft_charge};
use super::solvation::WIDTH_NM;
use super::{EnergyConfig, EnergyError, ForceFieldMolecule, Interaction};
use crate::docking::molecule::bounding_box;
use crate::pose::Pose;

/// Number of maps that all ligands need: charge, solvation cost, solvation volume.
const COMMON_MAPS: usize = 3;

/// Energy of ligands around a receptor, interpolated on a grid. Ligands do not act on each other.
#[derive(Clone, Debug)]
pub struct EnergyGrid {
    config: EnergyConfig,
    /// The atoms of each ligand.
    ligands: Vec<Vec<ProbeAtom>>,
    low: Vec3,
    /// 1 / spacing, 1/nm.
    inverse_spacing: f32,
    counts: UVec3,
    maps: usize,
    /// One value per map at each grid point, x fastest.
    values: Vec<f32>,
}

/// An atom of the ligand.
#[derive(Clone, Copy, Debug)]
struct ProbeAtom {
    /// Position in the body frame, nm.
    position: Vec3,
    /// Index of its Lennard-Jones map.
    map: usize,
    charge: f32,
    /// Solvation cost and volume, in the order of the maps that they are multiplied with.
    solvation: [f32; 2],
}

impl EnergyGrid {
    /// Computes the grid of a receptor for the atoms of a ligand.
    ///
    /// The grid covers the bounding box of the receptor plus the cutoff. Each point has four
    /// bytes for each Lennard-Jones type of the ligand, and twelve more. The result does not
    /// depend on the number of threads.
    ///
    /// # Errors
    /// [`EnergyError`] if the configuration is invalid, or the grid exceeds the maximum size.
    pub fn new(
        receptor: &ForceFieldMolecule,
        ligand: &ForceFieldMolecule,
        config: &EnergyConfig,
    ) -> Result<Self, EnergyError> {
        Self::for_ligands(receptor, std::slice::from_ref(ligand), config)
    }

    /// Computes one grid for several ligands, which share the maps of their common types.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn for_ligands(
        receptor: &ForceFieldMolecule,
        ligands: &[ForceFieldMolecule],
        config: &EnergyConfig,
    ) -> Result<Self, EnergyError> {
        config.check()?;
        let mut probes = Vec::new();
        let ligands = ligands
            .iter()
            .map(|ligand| probe_atoms(ligand, &mut probes));
        let ligands = ligands.collect();
        let margin = Vec3::splat(config.cutoff + config.spacing);
        let [low, high] = bounding_box(receptor.template().positions());
        let (low, high) = (low - margin, high + margin);
        let counts = ((high - low) / config.spacing).ceil().as_dvec3() + DVec3::ONE;
        let maps = probes.len() + COMMON_MAPS;
        let needed = counts.element_product() * maps as f64 * size_of::<f32>() as f64;
        if needed > config.max_bytes as f64 {
            return Err(EnergyError::TooLarge {
                receptor: receptor.template().name().to_owned(),
                needed: needed as u64,
                allowed: config.max_bytes,
            });
        }
        let counts = counts.as_uvec3();
        let [nx, ny, nz] = counts.to_array().map(|n| n as usize);
        let mut values = vec![0.0; nx * ny * nz * maps];
        let mut grid = Self {
            config: *config,
            ligands,
            low,
            inverse_spacing: 1.0 / config.spacing,
            counts,
            maps,
            values: Vec::new(),
        };
        let sources = sources(receptor, &probes, config);
        let planes = values.par_chunks_mut(nx * ny * maps).enumerate();
        planes.for_each(|(z, values)| {
            grid.fill_plane(low.z + z as f32 * config.spacing, &sources, values);
        });
        grid.values = values;
        Ok(grid)
    }

    /// The configuration.
    #[must_use]
    pub fn config(&self) -> &EnergyConfig {
        &self.config
    }

    /// Size of the grid, bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.values.len() * size_of::<f32>()
    }

    /// The interaction with the first ligand at `pose`: one trilinear interpolation per atom.
    ///
    /// Zero beyond the cutoff, and for poses that are not finite.
    #[must_use]
    pub fn interaction(&self, pose: &Pose, receptor_pose: &Pose) -> Interaction {
        let atoms = self.ligands.first().into_iter().flatten();
        self.sum(atoms.map(|atom| (atom.position, atom)), pose, receptor_pose)
    }

    /// The [`interaction`](Self::interaction) with a ligand whose atoms are at other `positions` of
    /// its body frame, nm. Zero if there is no such ligand.
    #[must_use]
    pub fn interaction_with(
        &self,
        ligand: usize,
        positions: &[Vec3],
        pose: &Pose,
        receptor_pose: &Pose,
    ) -> Interaction {
        let atoms = self.ligands.get(ligand).into_iter().flatten();
        self.sum(positions.iter().copied().zip(atoms), pose, receptor_pose)
    }

    /// The sum over atoms at positions in the body frame.
    #[inline]
    fn sum<'a>(
        &self,
        atoms: impl Iterator<Item = (Vec3, &'a ProbeAtom)>,
        pose: &Pose,
        receptor_pose: &Pose,
    ) -> Interaction {
        let to_frame = receptor_pose.rotation.inverse();
        let center = to_frame * (pose.position - receptor_pose.position);
        let rotation: Quat = to_frame * pose.rotation;
        let mut total = Interaction::default();
        let (mut force, mut torque) = (Vec3::ZERO, Vec3::ZERO);
        for (position, atom) in atoms {
            let arm = rotation * position;
            let Some(([vdw, charge, water], gradient)) = self.sample(center + arm, atom) else {
                continue;
            };
            total.lennard_jones += f64::from(vdw);
            total.coulomb += f64::from(charge);
            total.solvation += f64::from(water);
            force -= gradient;
            torque -= arm.cross(gradient);
        }
        total.force = receptor_pose.rotation * force;
        total.torque = receptor_pose.rotation * torque;
        total
    }

    /// The total energy of [`interaction`](Self::interaction), kJ/mol.
    #[must_use]
    pub fn energy(&self, pose: &Pose, receptor_pose: &Pose) -> f64 {
        self.interaction(pose, receptor_pose).energy()
    }

    /// Mean energy per atom of the first ligand, without charges, if all atoms were at one point of
    /// the receptor's body frame, kJ/mol. Low in pockets.
    pub(in crate::docking) fn point_energy(&self, point: Vec3) -> f64 {
        let atoms = self.ligands.first().map_or(&[][..], Vec::as_slice);
        let samples = atoms.iter().filter_map(|atom| self.sample(point, atom));
        let sum: f64 = samples
            .map(|([vdw, _, water], _)| f64::from(vdw + water))
            .sum();
        sum / atoms.len() as f64
    }

    /// Lennard-Jones, Coulomb and solvation energy of an atom at a point of the receptor's body
    /// frame, kJ/mol, and the gradient of their sum, kJ/(mol·nm): trilinear interpolation. None
    /// outside of the grid.
    #[inline]
    fn sample(&self, point: Vec3, atom: &ProbeAtom) -> Option<([f32; 3], Vec3)> {
        let at = (point - self.low) * self.inverse_spacing;
        let last = (self.counts - 1).as_vec3();
        // NaN fails both comparisons.
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
        let (mut energies, mut total_gradient) = ([0.0; 3], Vec3::ZERO);
        for dz in 0..2 {
            for dy in 0..2 {
                for dx in 0..2 {
                    let point = (first + (dz * ny + dy) * nx + dx) * self.maps;
                    let values = &self.values[point..point + self.maps];
                    let vdw = values[atom.map];
                    let charge = atom.charge * values[common];
                    let water = cost * values[common + 1] + volume * values[common + 2];
                    // Weight along each axis, and its derivative.
                    let [(x, sx), (y, sy), (z, sz)] =
                        [(dx, f.x), (dy, f.y), (dz, f.z)].map(|(side, f)| {
                            if side == 0 { (1.0 - f, -1.0) } else { (f, 1.0) }
                        });
                    let weight = x * y * z;
                    for (energy, value) in energies.iter_mut().zip([vdw, charge, water]) {
                        *energy += weight * value;
                    }
                    let gradient = Vec3::new(sx * y * z, x * sy * z, x * y * sz);
                    total_gradient += gradient * (vdw + charge + water);
                }
            }
        }
        Some((energies, total_gradient * self.inverse_spacing))
    }

    /// Computes the points at `z` nm. Adds all atoms in order, so that the rounding does not
    /// depend on threads.
    fn fill_plane(&self, z: f32, sources: &[Source], values: &mut [f32]) {
        let (spacing, cutoff) = (self.config.spacing, self.config.cutoff);
        let (nx, ny) = (self.counts.x as usize, self.counts.y as usize);
        // One contiguous array per map while summing.
        let mut sums = vec![0.0_f32; nx * ny * self.maps];
        for source in sources {
            let dz = z - source.center.z;
            let reach = cutoff * cutoff - dz * dz;
            if reach <= 0.0 {
                continue;
            }
            let rows = index_range(source.center.y - self.low.y, reach.sqrt(), spacing, ny);
            for y in rows {
                let dy = self.low.y + y as f32 * spacing - source.center.y;
                let reach = reach - dy * dy;
                if reach <= 0.0 {
                    continue;
                }
                let columns = index_range(source.center.x - self.low.x, reach.sqrt(), spacing, nx);
                let row = Row {
                    begin: self.low.x + columns.start as f32 * spacing - source.center.x,
                    spacing,
                    across: dz * dz + dy * dy,
                    config: &self.config,
                };
                for (map, sums) in sums.chunks_exact_mut(nx * ny).enumerate() {
                    let sums = &mut sums[y * nx..][columns.clone()];
                    match (
                        source.wells.get(map),
                        (map + COMMON_MAPS).saturating_sub(self.maps),
                    ) {
                        (Some(well), _) => row.add(sums, |s| well.at(s)),
                        (None, 0) => row.add_charge(sums, source.charge),
                        (None, which) => row.add_gaussian(sums, source.solvation[which - 1]),
                    }
                }
            }
        }
        for (map, sums) in sums.chunks_exact(nx * ny).enumerate() {
            for (point, sum) in values.chunks_exact_mut(self.maps).zip(sums) {
                point[map] = *sum;
            }
        }
    }
}

/// The atoms of a ligand. Adds its Lennard-Jones types to the distinct ones in `probes`.
fn probe_atoms(ligand: &ForceFieldMolecule, probes: &mut Vec<LennardJones>) -> Vec<ProbeAtom> {
    let mut atoms = Vec::with_capacity(ligand.lennard_jones.len());
    for (k, parameters) in ligand.lennard_jones.iter().enumerate() {
        let known = probes.iter().position(|probe| probe == parameters);
        let map = known.unwrap_or_else(|| {
            probes.push(*parameters);
            probes.len() - 1
        });
        let solvation = ligand.solvation[k];
        atoms.push(ProbeAtom {
            position: ligand.template().positions()[k],
            map,
            charge: ligand.charges()[k],
            solvation: [solvation.cost, solvation.volume].map(|value| value as f32),
        });
    }
    atoms
}

/// An atom of the receptor.
struct Source {
    center: Vec3,
    charge: f32,
    /// Solvation volume and cost.
    solvation: [f32; 2],
    /// Potential for each probe.
    wells: Vec<Well>,
}

/// A softened Lennard-Jones potential in `f32`.
#[derive(Clone, Copy)]
struct Well {
    /// Squared distance of the minimum, nm².
    square: f32,
    depth: f32,
    /// Squared distance below which it is linear, nm², with its energy and slope there.
    soft: f32,
    energy: f32,
    slope: f32,
}

impl Well {
    /// Energy at the squared distance `s` in nm².
    #[inline]
    fn at(&self, s: f32) -> f32 {
        let x = self.square / s.max(self.soft);
        let x = x * x * x;
        let outside = self.depth * (x * x - 2.0 * x);
        let inside = self.energy + self.slope * (s - self.soft);
        if s < self.soft { inside } else { outside }
    }
}

fn sources(
    receptor: &ForceFieldMolecule,
    probes: &[LennardJones],
    config: &EnergyConfig,
) -> Vec<Source> {
    let positions = receptor.template().positions().iter();
    let source = |(index, center): (usize, &Vec3)| {
        let (atom, solvation) = (receptor.lennard_jones[index], receptor.solvation[index]);
        let wells = probes.iter().map(|probe| {
            let potential = atom.with(probe, config);
            let (energy, slope) = potential.lennard_jones(potential.soft_square());
            Well {
                square: (potential.distance * potential.distance) as f32,
                depth: potential.depth as f32,
                soft: potential.soft_square() as f32,
                energy: energy as f32,
                slope: slope as f32,
            }
        });
        Source {
            center: *center,
            charge: receptor.charges()[index],
            solvation: [solvation.volume, solvation.cost].map(|value| value as f32),
            wells: wells.collect(),
        }
    };
    positions.enumerate().map(source).collect()
}

/// Indices of the points within `reach` of `middle` (nm) on a line, and possibly one more.
fn index_range(middle: f32, reach: f32, spacing: f32, count: usize) -> std::ops::Range<usize> {
    let first = ((middle - reach) / spacing).max(0.0) as usize;
    let last = ((middle + reach) / spacing).max(0.0) as usize + 1;
    first.min(count)..last.min(count)
}

/// Grid points along x, relative to an atom.
struct Row<'a> {
    /// x of the first point, nm.
    begin: f32,
    spacing: f32,
    /// Squared distance perpendicular to x, nm².
    across: f32,
    config: &'a EnergyConfig,
}

impl Row<'_> {
    /// Adds a potential of the squared distance, times the switching function.
    #[inline]
    fn add(&self, sums: &mut [f32], potential: impl Fn(f32) -> f32) {
        let [near, far] = [self.config.switch, self.config.cutoff].map(|r| r * r);
        let scale = 1.0 / (far - near);
        for (k, sum) in sums.iter_mut().enumerate() {
            let x = self.begin + k as f32 * self.spacing;
            let s = x * x + self.across;
            let t = ((far - s) * scale).clamp(0.0, 1.0);
            *sum += potential(s) * (t * t * (3.0 - 2.0 * t));
        }
    }

    fn add_charge(&self, sums: &mut [f32], charge: f32) {
        let (soft, k) = (soft_charge() as f32, coulomb_constant() as f32 * charge);
        self.add(sums, |s| {
            let inverse = 1.0 / s.max(soft);
            k * inverse - k * inverse * inverse * (s - soft).min(0.0)
        });
    }

    /// Adds the Gaussian of solvation.
    fn add_gaussian(&self, sums: &mut [f32], height: f32) {
        if height == 0.0 {
            return;
        }
        // exp(y) ≈ (1 + y/64 + (y/64)²/2)⁶⁴: accurate to 10⁻⁴ here, and vectorizable.
        let scale = (-0.5 / (WIDTH_NM * WIDTH_NM) / 64.0) as f32;
        self.add(sums, |s| {
            let y = s * scale;
            let mut power = 1.0 + y + 0.5 * y * y;
            for _ in 0..6 {
                power *= power;
            }
            height * power
        });
    }
}
