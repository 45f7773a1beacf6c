//! Points around a molecule at which energies are summed up.

use glam::{DVec3, UVec3, Vec3};
use rayon::prelude::*;

use super::pair_potential::{EnergyConfig, coulomb_constant, soft_charge};
use super::solvation::WIDTH_NM;
use super::{EnergyError, ForceFieldMolecule, LennardJones};
use crate::docking::molecule::corners;

/// Maps that do not depend on the kind of a probe: charge, cost of solvation, volume.
pub(super) const COMMON_MAPS: usize = 3;

/// Energies of lone probes at the points of a lattice; one value for each map at each
/// point, x fastest.
#[derive(Clone, Debug)]
pub(super) struct Lattice {
    pub low: Vec3,
    /// One over the distance of two points, 1/nm.
    pub inverse_spacing: f32,
    pub counts: UVec3,
    pub maps: usize,
    pub values: Vec<f32>,
}

/// A receptor's atom as a row of points sees it.
struct Source {
    center: Vec3,
    charge: f32,
    /// Volume and cost of solvation.
    solvation: [f32; 2],
    /// For each kind of probe.
    wells: Vec<Well>,
}

/// Lennard-Jones of two kinds, ready for 32 bits.
#[derive(Clone, Copy)]
struct Well {
    /// Square of the distance of the minimum, nm².
    square: f32,
    depth: f32,
    /// Square of the distance at which it is bent over, nm²; energy and slope there.
    soft: f32,
    energy: f32,
    slope: f32,
}

impl Lattice {
    /// Sums up the energy of each kind of `probes`, and then of a unit charge, of a unit cost
    /// of solvation (which meets volumes) and of a unit volume (which meets costs), around a
    /// receptor.
    pub fn new(
        receptor: &ForceFieldMolecule,
        probes: &[LennardJones],
        config: &EnergyConfig,
    ) -> Result<Self, EnergyError> {
        config.check()?;
        let positions = receptor.template().positions();
        let edge = Vec3::splat(config.cutoff + config.spacing);
        let [low, high] = corners(positions);
        let (low, high) = (low - edge, high + edge);
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
        let mut lattice = Self {
            low,
            inverse_spacing: 1.0 / config.spacing,
            counts,
            maps,
            values: vec![0.0; nx * ny * nz * maps],
        };
        let sources = sources(receptor, probes, config);
        let layers = lattice.values.par_chunks_mut(nx * ny * maps).enumerate();
        layers.for_each(|(z, layer)| {
            let plane = Plane {
                low,
                counts,
                maps,
                z: low.z + z as f32 * config.spacing,
                config,
            };
            plane.fill(&sources, layer);
        });
        Ok(lattice)
    }
}

fn sources(
    receptor: &ForceFieldMolecule,
    probes: &[LennardJones],
    config: &EnergyConfig,
) -> Vec<Source> {
    let positions = receptor.template().positions().iter();
    let source = |(index, center): (usize, &Vec3)| {
        let (kind, solvation) = (receptor.kinds()[index], receptor.solvation()[index]);
        let wells = probes.iter().map(|probe| well(&kind, probe, config));
        Source {
            center: *center,
            charge: receptor.charges()[index],
            solvation: [solvation.volume, solvation.cost].map(|value| value as f32),
            wells: wells.collect(),
        }
    };
    positions.enumerate().map(source).collect()
}

fn well(kind: &LennardJones, probe: &LennardJones, config: &EnergyConfig) -> Well {
    let law = kind.with(probe, config);
    let (energy, slope) = law.lennard_jones(law.soft_square());
    Well {
        square: (law.distance * law.distance) as f32,
        depth: law.depth as f32,
        soft: law.soft_square() as f32,
        energy: energy as f32,
        slope: slope as f32,
    }
}

/// The points of one z.
struct Plane<'a> {
    low: Vec3,
    counts: UVec3,
    maps: usize,
    z: f32,
    config: &'a EnergyConfig,
}

impl Plane<'_> {
    /// Adds all atoms in their order, so that sums are rounded the same way on any thread.
    fn fill(&self, sources: &[Source], layer: &mut [f32]) {
        let (spacing, cutoff) = (self.config.spacing, self.config.cutoff);
        let (nx, ny) = (self.counts.x as usize, self.counts.y as usize);
        // Maps apart from each other while they are summed up: rows of numbers of one kind.
        let mut sums = vec![0.0_f32; nx * ny * self.maps];
        for source in sources {
            let dz = self.z - source.center.z;
            let reach = cutoff * cutoff - dz * dz;
            if reach <= 0.0 {
                continue;
            }
            let rows = span(source.center.y - self.low.y, reach.sqrt(), spacing, ny);
            for y in rows {
                let dy = self.low.y + y as f32 * spacing - source.center.y;
                let reach = reach - dy * dy;
                if reach <= 0.0 {
                    continue;
                }
                let columns = span(source.center.x - self.low.x, reach.sqrt(), spacing, nx);
                let begin = self.low.x + columns.start as f32 * spacing - source.center.x;
                let row = Row {
                    begin,
                    spacing,
                    across: dz * dz + dy * dy,
                    config: self.config,
                };
                for (map, sums) in sums.chunks_exact_mut(nx * ny).enumerate() {
                    let sums = &mut sums[y * nx..][columns.clone()];
                    match (
                        source.wells.get(map),
                        (map + COMMON_MAPS).saturating_sub(self.maps),
                    ) {
                        (Some(well), _) => row.add(sums, |s| well.at(s)),
                        (None, 0) => row.add_charge(sums, source.charge),
                        (None, which) => row.add_bell(sums, source.solvation[which - 1]),
                    }
                }
            }
        }
        for (map, sums) in sums.chunks_exact(nx * ny).enumerate() {
            for (point, sum) in layer.chunks_exact_mut(self.maps).zip(sums) {
                point[map] = *sum;
            }
        }
    }
}

/// Points of a line no further than `reach` from `middle`, both nm, and perhaps one more.
fn span(middle: f32, reach: f32, spacing: f32, count: usize) -> std::ops::Range<usize> {
    let first = ((middle - reach) / spacing).max(0.0) as usize;
    let last = ((middle + reach) / spacing).max(0.0) as usize + 1;
    first.min(count)..last.min(count)
}

/// Points along x, seen from an atom.
struct Row<'a> {
    /// First point's x, nm.
    begin: f32,
    spacing: f32,
    /// Square of the distance across x, nm².
    across: f32,
    config: &'a EnergyConfig,
}

impl Row<'_> {
    /// Adds the energy of a law over the square of the distance.
    #[inline]
    fn add(&self, sums: &mut [f32], law: impl Fn(f32) -> f32) {
        let [near, far] = [self.config.switch, self.config.cutoff].map(|r| r * r);
        let scale = 1.0 / (far - near);
        for (k, sum) in sums.iter_mut().enumerate() {
            let x = self.begin + k as f32 * self.spacing;
            let s = x * x + self.across;
            let t = ((far - s) * scale).clamp(0.0, 1.0);
            *sum += law(s) * (t * t * (3.0 - 2.0 * t));
        }
    }

    fn add_charge(&self, sums: &mut [f32], charge: f32) {
        let (soft, k) = (soft_charge() as f32, coulomb_constant() as f32 * charge);
        self.add(sums, |s| {
            let inverse = 1.0 / s.max(soft);
            k * inverse - k * inverse * inverse * (s - soft).min(0.0)
        });
    }

    /// Adds Gauss's bell of solvation.
    fn add_bell(&self, sums: &mut [f32], height: f32) {
        if height == 0.0 {
            return;
        }
        // exp(y) as (1 + y/64 + (y/64)²/2) to the power of 64: no further off than 10⁻⁴ of
        // itself here, and fast for many points at once.
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

impl Well {
    /// Energy at the squared distance `s`, nm².
    #[inline]
    fn at(&self, s: f32) -> f32 {
        let x = self.square / s.max(self.soft);
        let x = x * x * x;
        let outside = self.depth * (x * x - 2.0 * x);
        let inside = self.energy + self.slope * (s - self.soft);
        if s < self.soft { inside } else { outside }
    }
}
