//! [`Scatter`]: places of molecules before they are relaxed.
//!
//! A molecule gets the first of some random candidates at which it overlaps nothing that is there
//! already (darts, which gives blue noise), or else the candidate with the smallest overlap.
//! Molecules count as balls here; the atoms are left to the relaxer.
//!
//! What is there already is found by a hierarchy of hashed grids: each ball is in the grid whose
//! cells are as wide as its diameter, rounded up to a power of two. With one grid, a ball of 0.5 nm
//! next to others of 50 nm would be compared with all in a cell of 100 nm.

use std::collections::BTreeMap;
use std::collections::HashMap;

use glam::{IVec3, Vec3};

use crate::periodic_box::PeriodicBox;

/// The balls in one cell of a grid: their indices.
type Cells = HashMap<IVec3, Vec<u32>>;

/// A ball that stands for a molecule.
#[derive(Clone, Copy, Debug)]
struct Ball {
    center: Vec3,
    radius: f32,
}

/// The balls of the molecules that are placed.
#[derive(Debug, Default)]
pub(in crate::recipe) struct Scatter {
    balls: Vec<Ball>,
    /// The grid of each power of two.
    levels: BTreeMap<i32, Cells>,
    periodic: Option<PeriodicBox>,
}

impl Scatter {
    pub fn new(periodic: Option<PeriodicBox>) -> Self {
        Self {
            periodic,
            ..Self::default()
        }
    }

    /// Adds a molecule.
    pub fn push(&mut self, center: Vec3, radius: f32) {
        let center = self
            .periodic
            .map_or(center, |periodic| periodic.wrap(center));
        let level = level_of(radius);
        let cells = self.levels.entry(level).or_default();
        let index = self.balls.len() as u32;
        cells
            .entry(cell_of(center, width_of(level)))
            .or_default()
            .push(index);
        self.balls.push(Ball { center, radius });
    }

    /// The deepest overlap of a ball with those that are there, nm; at most `limit` is told apart
    /// from deeper ones.
    pub fn overlap(&self, center: Vec3, radius: f32, limit: f32) -> f32 {
        let mut deepest: f32 = 0.0;
        for image in self.images(center, radius) {
            for (&level, cells) in &self.levels {
                let width = width_of(level);
                // Balls of a level are at most half a cell in radius.
                let reach = radius + 0.5 * width;
                let low = cell_of(image - reach, width);
                let high = cell_of(image + reach, width);
                let mut visit = |indices: &[u32]| {
                    for &index in indices {
                        let ball = self.balls[index as usize];
                        let overlap = radius + ball.radius - ball.center.distance(image);
                        deepest = deepest.max(overlap);
                    }
                };
                let size = (high - low + IVec3::ONE).as_i64vec3();
                if size.x.saturating_mul(size.y).saturating_mul(size.z) > cells.len() as i64 {
                    // Fewer cells are occupied than in reach.
                    for (cell, indices) in cells {
                        if cell.cmpge(low).all() && cell.cmple(high).all() {
                            visit(indices);
                        }
                    }
                } else {
                    for x in low.x..=high.x {
                        for y in low.y..=high.y {
                            for z in low.z..=high.z {
                                if let Some(indices) = cells.get(&IVec3::new(x, y, z)) {
                                    visit(indices);
                                }
                            }
                        }
                    }
                }
                if deepest >= limit {
                    return deepest;
                }
            }
        }
        deepest
    }

    /// The images of a ball that may reach into the periodic box.
    fn images(&self, center: Vec3, radius: f32) -> impl Iterator<Item = Vec3> {
        let home = self
            .periodic
            .map_or(center, |periodic| periodic.wrap(center));
        let largest = self
            .levels
            .keys()
            .next_back()
            .map_or(0.0, |level| 0.5 * width_of(*level));
        let reach = radius + largest;
        let size = self.periodic.map(|periodic| periodic.size());
        let shifts = (0..27).filter_map(move |k: i32| {
            let image = IVec3::new(k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1);
            let Some(size) = size else {
                return (image == IVec3::ZERO).then_some(home);
            };
            let shifted = home + image.as_vec3() * size;
            // The box of `PeriodicBox` begins at the origin.
            let is_near =
                shifted.cmpge(-Vec3::splat(reach)).all() && shifted.cmple(size + reach).all();
            (is_near || image == IVec3::ZERO).then_some(shifted)
        });
        shifts.collect::<Vec<_>>().into_iter()
    }
}

/// The power of two whose cells are at least as wide as a ball.
fn level_of(radius: f32) -> i32 {
    (2.0 * radius.max(f32::MIN_POSITIVE)).log2().ceil() as i32
}

fn width_of(level: i32) -> f32 {
    (level as f32).exp2()
}

fn cell_of(point: Vec3, width: f32) -> IVec3 {
    (point / width).floor().as_ivec3()
}
