//! Exchange of conformers and spins.
//!
//! Rigid molecules at the density of a real membrane jam: pushes alone cannot turn a lipid past its
//! neighbors. So each molecule of a conformer set ([`Crowd::add_conformers`]) tries all conformers
//! of its set at several spins about its axis, and takes the one that overlaps least with its
//! neighbors at their current poses.
//!
//! The neighbors are drawn into a field of voxels around the molecule, in which each atom adds to
//! the voxels that it overlaps. The overlap of a candidate is the sum of the voxels of its atoms.
//! Voxels of the candidates are known in advance, as the field has the axis of the molecule.
//!
//! Molecules are sorted into cells that are wider than two molecules. Cells of the same parity do
//! not see each other and are searched in parallel, so that the result does not depend on the
//! number of threads.

use std::collections::{BTreeMap, HashMap};
use std::f32::consts::TAU;

use glam::{IVec3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use crate::compartment::Confinement;
use crate::crowd::{Crowd, CrowdMember};
use crate::pose::Pose;

/// Width of a voxel, nm.
const VOXEL_NM: f32 = 0.08;

/// Spins of each conformer that are tried.
const SPINS: u32 = 16;

/// Voxels by which a stuck molecule may be raised or lowered.
const RAISE_VOXELS: usize = 3;

/// A stuck molecule is turned by more than this, radian.
const MIN_TURN: f32 = 0.7;

/// How molecules are exchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ExchangeMode {
    /// If the candidate overlaps less.
    Improve,
    /// For the best candidate that differs clearly, raised or lowered if that helps.
    Force,
}

/// The conformer sets of a crowd, prepared for exchanges.
pub(super) struct Exchange {
    sets: Vec<ConformerSet>,
    /// Set and conformer of a template with a placement.
    set_of: HashMap<(u32, u32), (u32, u32)>,
    /// Largest radius of a molecule that is exchanged, nm.
    max_radius: f32,
}

/// Molecules that may replace each other.
struct ConformerSet {
    conformers: Vec<Conformer>,
    /// Half width of the field across the axis, and its lower end along the axis, nm.
    half_width: f32,
    low: f32,
    /// Voxels across and along the axis.
    width: usize,
    height: usize,
    /// Mean radius of an atom, nm.
    atom_radius: f32,
}

struct Conformer {
    template: u32,
    placement: u32,
    up: Vec3,
    depth: f32,
    atoms: Vec<Vec3>,
    /// Voxel of each atom: one run for each spin.
    voxels: Vec<u32>,
}

/// A molecule after an exchange.
struct Change {
    member: u32,
    template: u32,
    placement: u32,
    pose: Pose,
}

impl Exchange {
    /// None if the crowd has no conformer sets.
    pub fn new(crowd: &Crowd) -> Option<Self> {
        let mut exchange = Self {
            sets: Vec::new(),
            set_of: HashMap::new(),
            max_radius: 0.0,
        };
        for set in crowd.conformer_sets() {
            let conformers = set.iter().filter_map(|&(template, placement)| {
                let Confinement::Surface(place) =
                    crowd.placements()[placement as usize].confinement
                else {
                    return None;
                };
                Some(Conformer {
                    template,
                    placement,
                    up: place.up,
                    depth: place.depth,
                    atoms: crowd.templates()[template as usize].positions().to_vec(),
                    voxels: Vec::new(),
                })
            });
            let index = exchange.sets.len() as u32;
            let set = ConformerSet::new(conformers.collect(), crowd);
            for (conformer, number) in set.conformers.iter().zip(0..) {
                let key = (conformer.template, conformer.placement);
                exchange.set_of.insert(key, (index, number));
                let radius = crowd.templates()[conformer.template as usize].bounding_radius();
                exchange.max_radius = exchange.max_radius.max(radius);
            }
            exchange.sets.push(set);
        }
        (!exchange.set_of.is_empty()).then_some(exchange)
    }

    /// Set and conformer of a molecule.
    fn set_of(&self, member: &CrowdMember) -> Option<(&ConformerSet, &Conformer)> {
        let key = (member.template, member.placement?);
        let &(set, conformer) = self.set_of.get(&key).filter(|_| !member.fixed)?;
        let set = &self.sets[set as usize];
        Some((set, &set.conformers[conformer as usize]))
    }

    /// Exchanges the molecules that `is_included` holds for. Returns those that have changed.
    pub fn sweep(
        &self,
        crowd: &mut Crowd,
        clearance: f32,
        seed: u64,
        mode: ExchangeMode,
        is_included: impl Fn(usize) -> bool + Sync,
    ) -> Vec<u32> {
        let cells = Cells::new(self, crowd);
        let mut changed = Vec::new();
        for color in 0..8 {
            let current = &*crowd;
            let of_color: Vec<_> = cells
                .members
                .iter()
                .filter(|(cell, _)| Cells::color(**cell) == color)
                .collect();
            let changes: Vec<Vec<Change>> = of_color
                .into_par_iter()
                .map(|(&cell, members)| {
                    let mut search = CellSearch {
                        exchange: self,
                        crowd: current,
                        clearance,
                        mode,
                        around: cells.around(cell),
                        field: Vec::new(),
                        changes: Vec::new(),
                    };
                    for &member in members {
                        if is_included(member as usize) {
                            search.exchange(member, seed);
                        }
                    }
                    search.changes
                })
                .collect();
            for change in changes.into_iter().flatten() {
                let member = &mut crowd.members_mut()[change.member as usize];
                member.template = change.template;
                member.placement = Some(change.placement);
                member.pose = change.pose;
                changed.push(change.member);
            }
        }
        changed
    }
}

impl ConformerSet {
    fn new(mut conformers: Vec<Conformer>, crowd: &Crowd) -> Self {
        let (mut half_width, mut low, mut high) = (0.0_f32, f32::INFINITY, f32::NEG_INFINITY);
        let (mut radii, mut atoms) = (0.0, 0);
        for conformer in &conformers {
            for atom in &conformer.atoms {
                let height = atom.dot(conformer.up) + conformer.depth;
                half_width = half_width.max((*atom).reject_from(conformer.up).length());
                (low, high) = (low.min(height), high.max(height));
            }
            let template = &crowd.templates()[conformer.template as usize];
            radii += template.radii().iter().sum::<f32>();
            atoms += template.atom_count();
        }
        let margin = (RAISE_VOXELS + 1) as f32 * VOXEL_NM;
        let half_width = half_width + VOXEL_NM;
        let low = low - margin;
        let mut set = Self {
            half_width,
            low,
            width: (2.0 * half_width / VOXEL_NM).ceil() as usize,
            height: ((high + margin - low) / VOXEL_NM).ceil().max(1.0) as usize,
            atom_radius: radii / atoms.max(1) as f32,
            conformers: Vec::new(),
        };
        for conformer in &mut conformers {
            let upright = Quat::from_rotation_arc(conformer.up, Vec3::Z);
            let spins = (0..SPINS).map(spin);
            conformer.voxels = spins
                .flat_map(|spin| set.voxels(conformer, spin * upright))
                .collect();
        }
        set.conformers = conformers;
        set
    }

    /// The voxels of the atoms of a conformer with this rotation in the field.
    fn voxels(&self, conformer: &Conformer, rotation: Quat) -> Vec<u32> {
        let corner = Vec3::new(-self.half_width, -self.half_width, self.low);
        let atoms = conformer.atoms.iter().map(|&atom| {
            let point = rotation * atom + Vec3::Z * conformer.depth;
            let voxel = ((point - corner) / VOXEL_NM).as_uvec3();
            let [x, y] = [voxel.x, voxel.y].map(|at| (at as usize).min(self.width - 1));
            // Heights leave room for a raise.
            let z = (voxel.z as usize).clamp(RAISE_VOXELS, self.height - 1 - RAISE_VOXELS);
            ((z * self.width + y) * self.width + x) as u32
        });
        atoms.collect()
    }

    /// Adds an atom of a neighbor to the field. `reach` is the distance at which it would touch an
    /// atom of this set.
    fn draw(&self, field: &mut [f32], point: Vec3, reach: f32) {
        let corner = Vec3::new(-self.half_width, -self.half_width, self.low);
        // In voxels, from the center of the first one.
        let center = (point - corner) / VOXEL_NM - Vec3::splat(0.5);
        let reach = reach / VOXEL_NM;
        let range = |center: f32, count: usize| {
            let first = (center - reach).ceil().max(0.0) as usize;
            let end = ((center + reach).floor() + 1.0).clamp(0.0, count as f32) as usize;
            first..end.max(first)
        };
        let inverse = 1.0 / (reach * reach);
        let columns = range(center.x, self.width);
        if columns.is_empty() {
            return;
        }
        for z in range(center.z, self.height) {
            for y in range(center.y, self.width) {
                let (dz, dy) = (z as f32 - center.z, y as f32 - center.y);
                let row_distance = dz * dz + dy * dy;
                let row = (z * self.width + y) * self.width;
                let voxels = &mut field[row + columns.start..row + columns.end];
                for (voxel, x) in voxels.iter_mut().zip(columns.start as i32..) {
                    let dx = x as f32 - center.x;
                    let share = (1.0 - (row_distance + dx * dx) * inverse).max(0.0);
                    *voxel += share * share;
                }
            }
        }
    }
}

fn spin(number: u32) -> Quat {
    Quat::from_rotation_z(TAU * number as f32 / SPINS as f32)
}

/// Molecules in cells that are wider than two of those that are exchanged.
struct Cells {
    members: BTreeMap<[i32; 3], Vec<u32>>,
    /// Molecules that are too large for a cell.
    large: Vec<u32>,
    /// Number of cells along each edge of a periodic box; 0 without one.
    counts: IVec3,
}

impl Cells {
    fn new(exchange: &Exchange, crowd: &Crowd) -> Self {
        let margin = RAISE_VOXELS as f32 * VOXEL_NM;
        let edge = 2.0 * exchange.max_radius + 2.0 * margin + VOXEL_NM;
        let (edges, counts) = match crowd.periodic_box() {
            None => (Vec3::splat(edge), IVec3::ZERO),
            Some(periodic) => {
                // An even number, so that neighbors have another parity; or one.
                let counts = (periodic.size() / edge).floor().as_ivec3();
                let counts = (counts - (counts & IVec3::ONE)).max(IVec3::ONE);
                (periodic.size() / counts.as_vec3(), counts)
            }
        };
        let mut members: BTreeMap<[i32; 3], Vec<u32>> = BTreeMap::new();
        let mut large = Vec::new();
        for (member, index) in crowd.members().iter().zip(0..) {
            if crowd.template_of(member).bounding_radius() > exchange.max_radius {
                large.push(index);
                continue;
            }
            let position = match crowd.periodic_box() {
                None => member.pose.position,
                Some(periodic) => periodic.wrap(member.pose.position),
            };
            let mut cell = (position / edges).floor().as_ivec3();
            if crowd.periodic_box().is_some() {
                cell = cell.min(counts - 1);
            }
            members.entry(cell.to_array()).or_default().push(index);
        }
        Self {
            members,
            large,
            counts,
        }
    }

    /// Cells of the same color are not adjacent.
    fn color(cell: [i32; 3]) -> i32 {
        let [x, y, z] = cell.map(|number| number & 1);
        x + 2 * y + 4 * z
    }

    /// The molecules of a cell and the cells around it.
    fn around(&self, cell: [i32; 3]) -> Vec<u32> {
        let mut cells = Vec::with_capacity(27);
        for step in 0..27 {
            let mut near = IVec3::from(cell) + IVec3::new(step % 3, step / 3 % 3, step / 9) - 1;
            if self.counts != IVec3::ZERO {
                near = near.rem_euclid(self.counts);
            }
            cells.push(near.to_array());
        }
        cells.sort_unstable();
        cells.dedup();
        let members = cells.iter().filter_map(|cell| self.members.get(cell));
        members.flatten().chain(&self.large).copied().collect()
    }
}

/// The search in one cell.
struct CellSearch<'a> {
    exchange: &'a Exchange,
    crowd: &'a Crowd,
    clearance: f32,
    mode: ExchangeMode,
    /// Molecules of this cell and the adjacent ones.
    around: Vec<u32>,
    field: Vec<f32>,
    changes: Vec<Change>,
}

/// A candidate for a molecule.
#[derive(Clone, Copy)]
struct Candidate<'a> {
    overlap: f32,
    conformer: &'a Conformer,
    /// In the field.
    rotation: Quat,
    raise: f32,
}

impl CellSearch<'_> {
    /// A molecule at its current pose, with its template.
    fn current(&self, member: u32) -> (u32, Pose) {
        let mut changes = self.changes.iter().rev();
        match changes.find(|change| change.member == member) {
            Some(change) => (change.template, change.pose),
            None => {
                let member = &self.crowd.members()[member as usize];
                (member.template, member.pose)
            }
        }
    }

    /// Exchanges one molecule, if that is better.
    fn exchange(&mut self, index: u32, seed: u64) {
        let member = &self.crowd.members()[index as usize];
        let exchange = self.exchange;
        let Some((set, conformer)) = exchange.set_of(member) else {
            return;
        };
        let mut random = Pcg64Mcg::seed_from_u64(seed ^ u64::from(index) << 20);
        let up = member.pose.rotation * conformer.up;
        let spin_of_field = Quat::from_rotation_z(TAU * random.random::<f32>());
        let to_world = Quat::from_rotation_arc(Vec3::Z, up) * spin_of_field;
        let origin = member.pose.position - up * conformer.depth;
        self.draw_neighbors(index, set, &Pose::new(origin, to_world));

        let rotation = to_world.inverse() * member.pose.rotation;
        let own_voxels = set.voxels(conformer, rotation);
        let mut best = Candidate {
            overlap: overlap(&self.field, &own_voxels, 0),
            conformer,
            rotation,
            raise: 0.0,
        };
        let force = self.mode == ExchangeMode::Force;
        if force {
            best.overlap = f32::INFINITY;
        } else if best.overlap == 0.0 {
            return;
        }
        let raises: &[i32] = if force {
            &[0, -(RAISE_VOXELS as i32), RAISE_VOXELS as i32]
        } else {
            &[0]
        };
        let layer = (set.width * set.width) as i32;
        let mut has_changed = false;
        for candidate in &set.conformers {
            let upright = Quat::from_rotation_arc(candidate.up, Vec3::Z);
            let is_same = std::ptr::eq(candidate, conformer);
            let runs = candidate.voxels.chunks_exact(candidate.atoms.len().max(1));
            for (voxels, number) in runs.zip(0..) {
                let rotated = spin(number) * upright;
                if force && is_same && rotated.angle_between(rotation) < MIN_TURN {
                    continue;
                }
                for &raise in raises {
                    let overlap = overlap(&self.field, voxels, raise * layer);
                    if overlap < best.overlap {
                        has_changed = true;
                        best = Candidate {
                            overlap,
                            conformer: candidate,
                            rotation: rotated,
                            raise: raise as f32 * VOXEL_NM,
                        };
                    }
                }
            }
        }
        if has_changed {
            let position = origin + up * (best.conformer.depth + best.raise);
            self.changes.push(Change {
                member: index,
                template: best.conformer.template,
                placement: best.conformer.placement,
                pose: Pose::new(position, (to_world * best.rotation).normalize()),
            });
        }
    }

    /// Draws the neighbors of a molecule into the field.
    fn draw_neighbors(&mut self, index: u32, set: &ConformerSet, frame: &Pose) {
        let mut field = std::mem::take(&mut self.field);
        field.clear();
        field.resize(set.width * set.width * set.height, 0.0);
        let high = set.low + set.height as f32 * VOXEL_NM;
        let half = Vec3::new(set.half_width, set.half_width, (high - set.low) / 2.0);
        let middle = Vec3::Z * (high + set.low) / 2.0;
        let periodic = self.crowd.periodic_box();
        let to_field = frame.rotation.inverse();
        for &neighbor in &self.around {
            if neighbor == index {
                continue;
            }
            let (template, pose) = self.current(neighbor);
            let template = &self.crowd.templates()[template as usize];
            let mut apart = pose.position - frame.position;
            if let Some(periodic) = periodic {
                apart = periodic.shortest(apart.as_dvec3()).as_vec3();
            }
            let center = to_field * apart;
            let reach = template.bounding_radius() + set.atom_radius + self.clearance;
            if ((center - middle).abs() - half)
                .cmpgt(Vec3::splat(reach))
                .any()
            {
                continue;
            }
            let rotation = to_field * pose.rotation;
            for (&atom, &radius) in template.positions().iter().zip(template.radii()) {
                let point = rotation * atom + center;
                let reach = set.atom_radius + radius + self.clearance;
                if ((point - middle).abs() - half)
                    .cmplt(Vec3::splat(reach))
                    .all()
                {
                    set.draw(&mut field, point, reach);
                }
            }
        }
        self.field = field;
    }
}

/// Sum of the voxels, each raised by `offset`.
fn overlap(field: &[f32], voxels: &[u32], offset: i32) -> f32 {
    let value = |&voxel: &u32| field[voxel.wrapping_add_signed(offset) as usize];
    voxels.iter().map(value).sum()
}
