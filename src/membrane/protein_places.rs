//! [`ProteinPlacer`]: places of proteins in the membrane, without overlaps.
//!
//! Proteins with given places come first. All others start at points that are spread evenly over
//! the surface, the largest first. Where the outlines or atoms of two proteins overlap, other spins
//! and then other places are tried.

use std::f32::consts::{SQRT_2, TAU};
use std::ops::ControlFlow;

use glam::{Vec2, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::config::ProteinEntry;
use super::protein_outline::ProteinOutline;
use super::{MembraneError, MembraneProtein, ProteinPlaces};
use crate::compartment::{Surface, even_points};
use crate::molecule::LocalGrid;
use crate::pose::Pose;

/// Spins that are tried at each of the even points.
const SPINS: usize = 4;

/// Random places that are tried if there is an overlap at the even point.
const RANDOM_TRIES: usize = 300;

/// Times that all proteins are placed from the start.
const ROUNDS: u64 = 4;

/// Even points hold at most this many times as many proteins as random ones do: a hexagonal lattice
/// of discs covers 0.91 of a plane, random discs that jam cover 0.55.
const MAX_GAIN: usize = 3;

/// A protein, one way round.
#[derive(Debug)]
pub(super) struct ProteinKind {
    /// Index of the entry.
    pub entry: usize,
    /// The protein, with `up` along the outward normal.
    pub protein: MembraneProtein,
    /// Whether it is the other way round than the protein of its entry.
    pub flipped: bool,
    grid: LocalGrid,
}

impl ProteinKind {
    /// Both ways round for each entry: the unflipped one first.
    pub fn both(entries: &[ProteinEntry]) -> Vec<Self> {
        let kinds = entries.iter().enumerate().flat_map(|(index, entry)| {
            [false, true].map(|flipped| {
                let protein = &entry.protein;
                let template = &protein.template;
                Self {
                    entry: index,
                    protein: if flipped {
                        protein.flipped()
                    } else {
                        protein.clone()
                    },
                    flipped,
                    grid: LocalGrid::new(template.positions(), template.radii()),
                }
            })
        });
        kinds.collect()
    }

    /// Whether atoms of two proteins overlap.
    fn touches(&self, pose: &Pose, other: &Self, other_pose: &Pose) -> bool {
        let [own, others] = [&self.protein.template, &other.protein.template];
        let reach = own.bounding_radius() + others.bounding_radius();
        if pose.position.distance(other_pose.position) > reach {
            return false;
        }
        if own.atom_count() > others.atom_count() {
            return other.touches(other_pose, self, pose);
        }
        let mut atoms = own.positions().iter().zip(own.radii());
        atoms.any(|(&atom, &radius)| {
            let center = other_pose.inverse_transform_point(pose.transform_point(atom));
            let grid = &other.grid;
            let visited = grid.visit_touching(center, radius, |_| ControlFlow::Break(()));
            visited.is_break()
        })
    }
}

/// A protein in the membrane.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedProtein {
    /// Index of its [`ProteinKind`].
    pub kind: usize,
    pub pose: Pose,
    /// Its point of the mid-surface, nm.
    pub anchor: Vec3,
    /// Unit normal there.
    pub normal: Vec3,
}

/// Places proteins.
pub(super) struct ProteinPlacer<'a> {
    pub surface: &'a dyn Surface,
    /// The edges along x and y, nm, if the surface is periodic.
    pub period: Option<Vec2>,
    pub entries: &'a [ProteinEntry],
    pub kinds: &'a [ProteinKind],
    /// Outlines of all kinds, for each leaflet that has lipids.
    pub outlines: &'a [Vec<ProteinOutline>],
}

impl ProteinPlacer<'_> {
    /// The places of all proteins, entry by entry.
    pub fn place(&self, seed: u64) -> Result<Vec<PlacedProtein>, MembraneError> {
        let given = self.given()?;
        let mut wanted = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            if let ProteinPlaces::Random(count) = entry.places {
                let kind = 2 * index + usize::from(entry.flipped);
                wanted.extend(std::iter::repeat_n(kind, count as usize));
            }
        }
        let radius = |kind: usize| self.kinds[kind].protein.template.bounding_radius();
        wanted.sort_by(|&a, &b| radius(b).total_cmp(&radius(a)));
        let place = |wanted: &[usize], round: u64| {
            let mut random = Pcg64Mcg::seed_from_u64(seed.wrapping_add(round));
            let mut placed = given.clone();
            self.add_random(wanted, &mut placed, &mut random);
            placed
        };
        let mut most = 0;
        for round in 0..ROUNDS {
            let mut placed = place(&wanted, round);
            let random = placed.len() - given.len();
            if random == wanted.len() {
                // Stable: proteins of an entry keep their order.
                placed.sort_by_key(|protein| self.kinds[protein.kind].entry);
                return Ok(placed);
            }
            most = most.max(random);
        }
        // Fewer proteins have more distant even points: bisect.
        let mut too_many = wanted.len().min(MAX_GAIN * (most + 1));
        while most + 1 < too_many {
            let count = most.midpoint(too_many);
            let random = place(&wanted[..count], 0).len() - given.len();
            if random < count {
                too_many = count;
            }
            most = most.max(random);
        }
        Err(MembraneError::ProteinsDoNotFit {
            wanted: given.len() + wanted.len(),
            placed: given.len() + most,
        })
    }

    /// The proteins with given places.
    fn given(&self) -> Result<Vec<PlacedProtein>, MembraneError> {
        let mut placed: Vec<PlacedProtein> = Vec::new();
        for (index, entry) in self.entries.iter().enumerate() {
            let ProteinPlaces::At(places) = &entry.places else {
                continue;
            };
            for place in places {
                if !(place.point.is_finite() && place.spin.is_finite()) {
                    return Err(MembraneError::BadPlace {
                        protein: entry.protein.name.clone(),
                        point: place.point,
                        spin: place.spin,
                    });
                }
                let kind = 2 * index + usize::from(entry.flipped != place.flipped);
                let protein = self.protein_at(kind, place.point, place.spin);
                let mut others = placed.iter();
                if let Some(other) = others.find(|other| self.atoms_overlap(&protein, other)) {
                    return Err(MembraneError::ProteinsOverlap {
                        first: self.kinds[other.kind].protein.name.clone(),
                        second: entry.protein.name.clone(),
                    });
                }
                placed.push(protein);
            }
        }
        Ok(placed)
    }

    /// Adds proteins until one finds no place.
    fn add_random(&self, wanted: &[usize], placed: &mut Vec<PlacedProtein>, random: &mut Pcg64Mcg) {
        let even = even_points(self.surface, 0.0, wanted.len(), random);
        for (&kind, point) in wanted.iter().zip(even) {
            let free = (0..SPINS + RANDOM_TRIES).find_map(|attempt| {
                let point = if attempt < SPINS {
                    point
                } else {
                    self.surface.sample(0.0, random)
                };
                let protein = self.protein_at(kind, point, TAU * random.random::<f32>());
                let mut others = placed.iter();
                let is_free = others.all(|other| {
                    !self.outlines_overlap(&protein, other) && !self.atoms_overlap(&protein, other)
                });
                is_free.then_some(protein)
            });
            let Some(protein) = free else { return };
            placed.push(protein);
        }
    }

    fn protein_at(&self, kind: usize, point: Vec3, spin: f32) -> PlacedProtein {
        let surface = self.surface.distance_and_normal(point);
        let anchor = wrapped(point - surface.normal * surface.distance, self.period);
        let normal = self.surface.normal(anchor);
        PlacedProtein {
            kind,
            pose: self.kinds[kind].protein.pose_at(anchor, normal, spin),
            anchor,
            normal,
        }
    }

    /// Whether atoms of two proteins, or of their images, overlap.
    fn atoms_overlap(&self, a: &PlacedProtein, b: &PlacedProtein) -> bool {
        let mut images = images(self.period);
        images.any(|shift| {
            let pose = Pose::new(a.pose.position + shift, a.pose.rotation);
            self.kinds[a.kind].touches(&pose, &self.kinds[b.kind], &b.pose)
        })
    }

    /// Whether outlines of two proteins, or of their images, overlap in a leaflet.
    fn outlines_overlap(&self, a: &PlacedProtein, b: &PlacedProtein) -> bool {
        if a.normal.dot(b.normal) <= 0.0 {
            return false;
        }
        let mut images = images(self.period);
        images.any(|shift| {
            let pose = Pose::new(a.pose.position + shift, a.pose.rotation);
            self.outlines.iter().any(|outlines| {
                let [own, other] = [&outlines[a.kind], &outlines[b.kind]];
                let reach = SQRT_2 * (own.radius + other.radius);
                b.anchor.distance(a.anchor + shift) <= reach && own.overlaps(&pose, other, &b.pose)
            })
        })
    }
}

/// The image of a point in the first period of a surface that is periodic along x and y.
pub(super) fn wrapped(point: Vec3, period: Option<Vec2>) -> Vec3 {
    let Some(size) = period else { return point };
    let share = point.truncate() / size;
    (point.truncate() - share.floor() * size).extend(point.z)
}

/// Shifts to the periodic images around a point, itself included; only itself if nothing is
/// periodic.
pub(super) fn images(period: Option<Vec2>) -> impl Iterator<Item = Vec3> {
    let (steps, size) = match period {
        Some(size) => (-1..=1, size),
        None => (0..=0, Vec2::ZERO),
    };
    let columns = steps.clone();
    columns.flat_map(move |x| {
        let rows = steps.clone();
        rows.map(move |y| (Vec2::new(x as f32, y as f32) * size).extend(0.0))
    })
}
