//! The two grids of Turk (1989), section 5.2, over the spheres of one molecule.
//!
//! 1. Cells are cubes as wide as the diameter of the largest sphere.
//! 2. Every cell has a list of the spheres that fall within it, so a sphere is in several lists.
//! 3. Either all cells of the bounding box exist (the full grid, built in two passes), or a hash
//!    function maps cells to an array of 4,096 lists (the hashed grid, built in one pass without
//!    bounds). Cells that share a list are not distinguished.
//! 4. A ball is tested against all spheres in the lists of all cells that it falls within.
//!
//! Lists are linked, with indices of 32 bits. Tests are in 64-bit floats on 32-bit coordinates.
//! The paper does not state the hash function, nor whether "falls within" refers to a sphere or
//! to its bounding box: both are parameters here.

use std::fmt;
use std::ops::{ControlFlow, RangeInclusive};

use glam::{DVec3, Vec3};

/// Number of lists of the hashed grid in the paper.
pub const SLOTS: usize = 4096;

/// Maximum number of cells of a full grid: their lists take 1 GiB.
const MAX_CELLS: f64 = (1_u32 << 28) as f64;

/// Rounding error of the position of a cell face, relative to the coordinates.
const FACE_ROUNDING: f64 = 1.0e-12;

/// An odd number with mixed bits: 2⁶⁴ divided by the golden ratio.
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// End of a list.
const NONE: u32 = u32::MAX;

/// Coordinates of a cell.
type Cell = [i64; 3];

/// A sphere, nm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ball {
    /// Center.
    pub center: Vec3,
    /// Radius.
    pub radius: f32,
}

impl Ball {
    /// Whether two balls overlap or touch. A negative sum of radii never does.
    #[inline]
    pub fn touches(&self, other: &Self) -> bool {
        let reach = f64::from(self.radius) + f64::from(other.radius);
        let difference = self.center.as_dvec3() - other.center.as_dvec3();
        reach >= 0.0 && difference.length_squared() <= reach * reach
    }
}

/// Maps cells to 4,096 lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hash {
    /// The lowest four bits of each coordinate: cells 16 apart along an axis share a list.
    Wrapped,
    /// Mixed bits: any two cells may share a list.
    Mixed,
}

impl Hash {
    #[inline]
    fn slot(self, cell: Cell) -> usize {
        let [x, y, z] = cell.map(|coordinate| coordinate as u64);
        match self {
            Self::Wrapped => ((x & 15) | (y & 15) << 4 | (z & 15) << 8) as usize,
            Self::Mixed => {
                let mix = |bits: u64| (bits ^ bits >> 32).wrapping_mul(MIX);
                (mix(mix(mix(mix(x) ^ y) ^ z)) >> 52) as usize
            }
        }
    }
}

/// Where the lists are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Storage {
    /// All cells of the bounding box.
    Full,
    /// 4,096 lists.
    Hashed(Hash),
}

/// Which cells a sphere falls within.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Within {
    /// Cells that its bounding box overlaps.
    Box,
    /// Cells that the sphere itself overlaps.
    Sphere,
}

/// The bounding box has too many cells, or no finite number.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TooManyCells(pub f64);

impl fmt::Display for TooManyCells {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a full grid would have {:.3e} cells", self.0)
    }
}

impl std::error::Error for TooManyCells {}

/// How many spheres the lists hold.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Density {
    /// Number of lists.
    pub lists: usize,
    /// Number of lists that are not empty.
    pub occupied: usize,
    /// Number of spheres in all lists.
    pub entries: usize,
}

impl Density {
    /// Mean number of spheres in a list that is not empty; 0 without spheres.
    pub fn mean(&self) -> f64 {
        self.entries as f64 / self.occupied.max(1) as f64
    }
}

/// An entry of a list.
#[derive(Clone, Copy)]
struct Entry {
    ball: u32,
    next: u32,
}

/// Spheres in lists of cells.
pub struct CellLists {
    balls: Vec<Ball>,
    storage: Storage,
    within: Within,
    width: f64,
    /// Corner of the first cell of a full grid, nm; zero for a hashed one.
    low: DVec3,
    /// Numbers of cells of a full grid.
    counts: Cell,
    /// First entry of each list.
    first: Vec<u32>,
    entries: Vec<Entry>,
}

impl CellLists {
    /// Puts finite spheres with positive radii into cells.
    pub fn new(balls: &[Ball], storage: Storage, within: Within) -> Result<Self, TooManyCells> {
        let largest = balls.iter().map(|ball| ball.radius).fold(0.0, f32::max);
        let mut lists = Self {
            balls: balls.to_vec(),
            storage,
            within,
            width: (2.0 * f64::from(largest)).max(f64::MIN_POSITIVE),
            low: DVec3::ZERO,
            counts: [0; 3],
            first: Vec::new(),
            entries: Vec::new(),
        };
        let cells = match storage {
            Storage::Full => lists.choose_cells()?,
            Storage::Hashed(_) => SLOTS,
        };
        lists.first = vec![NONE; cells];
        for index in 0..balls.len() {
            lists.insert(index as u32);
        }
        Ok(lists)
    }

    /// The first pass of the full grid: the bounding box. Returns the number of its cells.
    fn choose_cells(&mut self) -> Result<usize, TooManyCells> {
        let corner = |sign: f64| {
            let corner = move |ball: &Ball| ball.center.as_dvec3() + sign * f64::from(ball.radius);
            self.balls.iter().map(corner)
        };
        let low = corner(-1.0).fold(DVec3::INFINITY, DVec3::min);
        let high = corner(1.0).fold(DVec3::NEG_INFINITY, DVec3::max);
        if self.balls.is_empty() {
            return Ok(0);
        }
        let counts = ((high - low) / self.width).floor() + 1.0;
        let cells = counts.element_product();
        if cells.is_nan() || cells > MAX_CELLS {
            return Err(TooManyCells(cells));
        }
        self.low = low;
        self.counts = counts.to_array().map(|count| count as i64);
        Ok(cells as usize)
    }

    fn insert(&mut self, index: u32) {
        let ball = self.balls[index as usize];
        let cells = self.range(&ball);
        let _ = for_each(&cells, |cell| {
            if let Some(list) = self.list_of(cell, &ball) {
                let next = std::mem::replace(&mut self.first[list], self.entries.len() as u32);
                self.entries.push(Entry { ball: index, next });
            }
            ControlFlow::<()>::Continue(())
        });
    }

    /// Tests the spheres in the lists of the cells of `ball`. `visit` receives those that touch
    /// or overlap it, some more than once, until it breaks. Counts the `tests`.
    #[inline]
    pub fn visit_touching<B>(
        &self,
        ball: &Ball,
        tests: &mut u64,
        mut visit: impl FnMut(u32) -> ControlFlow<B>,
    ) -> ControlFlow<B> {
        let cells = self.range(ball);
        let count = |range: &RangeInclusive<i64>| (range.end() - range.start() + 1).max(0) as f64;
        let cell_count: f64 = cells.iter().map(count).product();
        if cell_count == 0.0 {
            return ControlFlow::Continue(());
        }
        if cell_count > self.first.len() as f64 {
            // A huge ball: every sphere once.
            for (index, other) in self.balls.iter().enumerate() {
                *tests += 1;
                if ball.touches(other) {
                    visit(index as u32)?;
                }
            }
            return ControlFlow::Continue(());
        }
        for_each(&cells, |cell| {
            let Some(list) = self.list_of(cell, ball) else {
                return ControlFlow::Continue(());
            };
            let mut at = self.first[list];
            while at != NONE {
                let entry = self.entries[at as usize];
                *tests += 1;
                if ball.touches(&self.balls[entry.ball as usize]) {
                    visit(entry.ball)?;
                }
                at = entry.next;
            }
            ControlFlow::Continue(())
        })
    }

    /// The cells of the bounding box of a ball; within the bounds of a full grid.
    #[inline]
    fn range(&self, ball: &Ball) -> [RangeInclusive<i64>; 3] {
        let center = ball.center.as_dvec3() - self.low;
        // A ball with a negative radius may touch spheres that contain its center.
        let radius = f64::from(ball.radius).max(0.0);
        // Rounding must not separate balls that touch at a face.
        let reach = radius + FACE_ROUNDING * (ball.center.as_dvec3().abs().max_element() + radius);
        let [low, high] = [-reach, reach].map(|reach| ((center + reach) / self.width).floor());
        std::array::from_fn(|axis| {
            let (low, high) = (low[axis] as i64, high[axis] as i64);
            match self.storage {
                Storage::Full => low.max(0)..=high.min(self.counts[axis] - 1),
                // Saturated coordinates must not overflow.
                Storage::Hashed(_) => low.max(i64::MIN / 4)..=high.min(i64::MAX / 4),
            }
        })
    }

    /// The list of a cell, if the ball falls within it.
    #[inline]
    fn list_of(&self, cell: Cell, ball: &Ball) -> Option<usize> {
        if self.within == Within::Sphere {
            let low = DVec3::from_array(cell.map(|coordinate| coordinate as f64)) * self.width;
            let center = ball.center.as_dvec3() - self.low;
            let nearest = center.clamp(low, low + self.width);
            let radius = f64::from(ball.radius).max(0.0);
            let scale = ball.center.as_dvec3().abs().max_element() + radius;
            if nearest.distance(center) > radius + FACE_ROUNDING * scale {
                return None;
            }
        }
        Some(match self.storage {
            Storage::Full => {
                let [x, y, z] = cell;
                ((z * self.counts[1] + y) * self.counts[0] + x) as usize
            }
            Storage::Hashed(hash) => hash.slot(cell),
        })
    }

    /// A sphere by its index.
    pub fn ball(&self, index: u32) -> &Ball {
        &self.balls[index as usize]
    }

    /// How many spheres the lists hold.
    pub fn density(&self) -> Density {
        Density {
            lists: self.first.len(),
            occupied: self.first.iter().filter(|&&first| first != NONE).count(),
            entries: self.entries.len(),
        }
    }

    /// Size of the lists without the spheres, bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(&self.first[..]) + size_of_val(&self.entries[..])
    }
}

/// Visits the cells of a box until `visit` breaks, x fastest.
#[inline]
fn for_each<B>(
    [x, y, z]: &[RangeInclusive<i64>; 3],
    mut visit: impl FnMut(Cell) -> ControlFlow<B>,
) -> ControlFlow<B> {
    for z in z.clone() {
        for y in y.clone() {
            for x in x.clone() {
                visit([x, y, z])?;
            }
        }
    }
    ControlFlow::Continue(())
}
