//! Subspaces: a hierarchy of grids, each twice as coarse as the one before.
//!
//! A sphere is a *native* of the grid that fits its size, and a *guest* of all coarser
//! ones. Two spheres then share a subspace of the coarser one of their grids, in which one
//! of them at least is a native: natives look at natives and guests of their own grid, and
//! at natives of coarser grids, and nobody has to look through the many subspaces of finer
//! grids within its own. Faces of a coarse grid are also faces of all finer ones, so that
//! nobody becomes a guest anywhere without crossing a face of its own grid.
//!
//! Subspaces repeat themselves in space, so that nothing is outside, and far ones may
//! share their list.

use glam::DVec3;

/// Subspaces for each sphere of a grid at most.
const SUBSPACES_PER_SPHERE: usize = 4;

/// Subspaces along an axis at least. Neighbors never share a list.
const MIN_ALONG: usize = 4;

/// Radii of a sphere in a side of its subspaces, at least. The paper has four; where bounds
/// collide long before they are that large, fewer make fewer neighbors.
pub(super) const RADII_PER_SIDE: f64 = 2.5;

/// Subspaces are counted this far: 2⁵⁰, where digits end.
const FURTHEST: f64 = 1_125_899_906_842_624.0;

/// Grids at most: the finest one is a thousand times as fine as the coarsest.
pub(super) const MOST_LEVELS: usize = 11;

/// Subspaces that a bound is in, in the grid where it is a native: from the lowest to the
/// highest, both included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) low: [i64; 3],
    pub(super) high: [i64; 3],
}

impl Range {
    /// The range in a grid that is coarser by `steps` levels.
    fn coarser(&self, steps: usize) -> Self {
        Self {
            low: self.low.map(|k| k >> steps),
            high: self.high.map(|k| k >> steps),
        }
    }

    fn has(&self, cell: [i64; 3]) -> bool {
        (0..3).all(|k| (self.low[k]..=self.high[k]).contains(&cell[k]))
    }

    fn meets(&self, other: &Self) -> bool {
        (0..3).all(|k| self.low[k] <= other.high[k] && other.low[k] <= self.high[k])
    }

    fn for_each(&self, mut visit: impl FnMut([i64; 3])) {
        for x in self.low[0]..=self.high[0] {
            for y in self.low[1]..=self.high[1] {
                for z in self.low[2]..=self.high[2] {
                    visit([x, y, z]);
                }
            }
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Subspace {
    natives: Vec<u32>,
    guests: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Grid {
    /// Subspaces along each axis, powers of two.
    along: [usize; 3],
    subspaces: Vec<Subspace>,
}

impl Grid {
    fn new(extent: DVec3, side: f64, spheres: usize) -> Self {
        let budget = (SUBSPACES_PER_SPHERE * spheres).max(MIN_ALONG.pow(3));
        let mut along = [0, 1, 2].map(|k| {
            let wanted = (extent[k] / side).clamp(1.0, budget as f64) as usize + 2;
            wanted.next_power_of_two().max(MIN_ALONG)
        });
        while along.iter().product::<usize>() > budget {
            let longest = if along[0] >= along[1].max(along[2]) {
                0
            } else if along[1] >= along[2] {
                1
            } else {
                2
            };
            if along[longest] == MIN_ALONG {
                break;
            }
            along[longest] /= 2;
        }
        Self {
            along,
            subspaces: vec![Subspace::default(); along.iter().product()],
        }
    }

    fn slot(&self, cell: [i64; 3]) -> usize {
        let [x, y, z] = [0, 1, 2].map(|k| cell[k] as usize & (self.along[k] - 1));
        (z * self.along[1] + y) * self.along[0] + x
    }
}

/// All subspaces, and where each bound is.
#[derive(Clone, Debug)]
pub(super) struct Grids {
    finest: f64,
    grids: Vec<Grid>,
    /// The grid of each sphere.
    levels: Vec<u8>,
    ranges: Vec<Range>,
    /// The last search that met each sphere.
    met: Vec<u32>,
    search: u32,
}

impl Grids {
    /// Grids of sides `finest`, twice, four times... nm for spheres of these radii in a
    /// space of `extent` nm, in which no one is yet.
    pub(super) fn new(finest: f64, extent: DVec3, radii: impl Iterator<Item = f64>) -> Self {
        let levels: Vec<u8> = radii.map(|radius| level(finest, radius) as u8).collect();
        let count = levels.iter().max().map_or(1, |&top| usize::from(top) + 1);
        let grids = (0..count)
            .map(|k| {
                let here = levels.iter().filter(|&&level| usize::from(level) <= k);
                Grid::new(extent, finest * f64::from(1 << k), here.count())
            })
            .collect();
        let nowhere = Range {
            low: [0; 3],
            high: [-1; 3],
        };
        Self {
            finest,
            grids,
            ranges: vec![nowhere; levels.len()],
            met: vec![0; levels.len()],
            search: 0,
            levels,
        }
    }

    /// Side of the subspaces of a sphere, nm.
    pub(super) fn side(&self, sphere: u32) -> f64 {
        self.finest * f64::from(1_u32 << self.levels[sphere as usize])
    }

    /// How many grids there are.
    pub(super) fn count(&self) -> usize {
        self.grids.len()
    }

    /// Side of the finest subspaces, nm.
    pub(super) fn finest(&self) -> f64 {
        self.finest
    }

    pub(super) fn range(&self, sphere: u32) -> Range {
        self.ranges[sphere as usize]
    }

    /// The subspaces that a sphere of this place and size is in.
    pub(super) fn range_of(&self, sphere: u32, center: DVec3, radius: f64) -> Range {
        let scale = 1.0 / self.side(sphere);
        let cell = |at: DVec3| {
            (at * scale)
                .floor()
                .to_array()
                .map(|k| k.clamp(-FURTHEST, FURTHEST) as i64)
        };
        Range {
            low: cell(center - radius),
            high: cell(center + radius),
        }
    }

    /// Moves a sphere to other subspaces.
    pub(super) fn put(&mut self, sphere: u32, new: Range) {
        let old = self.ranges[sphere as usize];
        if old == new {
            return;
        }
        let native = usize::from(self.levels[sphere as usize]);
        self.ranges[sphere as usize] = new;
        for (steps, grid) in self.grids[native..].iter_mut().enumerate() {
            // A range that is empty stays empty, since −1 >> k is −1.
            let [before, after] = [old.coarser(steps), new.coarser(steps)];
            if before == after {
                break;
            }
            before.for_each(|cell| {
                if !after.has(cell) {
                    let slot = grid.slot(cell);
                    let list = grid.subspaces[slot].list(steps);
                    if let Some(at) = list.iter().position(|&other| other == sphere) {
                        list.swap_remove(at);
                    }
                }
            });
            after.for_each(|cell| {
                if !before.has(cell) {
                    let slot = grid.slot(cell);
                    grid.subspaces[slot].list(steps).push(sphere);
                }
            });
        }
    }

    /// Visits all others that share a subspace with a sphere, once each.
    pub(super) fn neighbors(&mut self, sphere: u32, visit: impl FnMut(u32)) {
        self.visit(sphere, None, visit);
    }

    /// The same, but for those that shared one with it where it was before.
    pub(super) fn new_neighbors(&mut self, sphere: u32, before: Range, visit: impl FnMut(u32)) {
        self.visit(sphere, Some(before), visit);
    }

    fn visit(&mut self, sphere: u32, before: Option<Range>, mut visit: impl FnMut(u32)) {
        if self.search == u32::MAX {
            self.met.fill(0);
            self.search = 0;
        }
        self.search += 1;
        let search = self.search;
        let native = usize::from(self.levels[sphere as usize]);
        let range = self.ranges[sphere as usize];
        let (levels, ranges, met) = (&self.levels, &self.ranges, &mut self.met);
        met[sphere as usize] = search;
        for (steps, grid) in self.grids[native..].iter().enumerate() {
            let here = range.coarser(steps);
            let before = before.map(|before| before.coarser(steps));
            if before == Some(here) {
                break;
            }
            here.for_each(|cell| {
                if before.is_some_and(|before| before.has(cell)) {
                    return;
                }
                let subspace = &grid.subspaces[grid.slot(cell)];
                let guests: &[u32] = if steps == 0 { &subspace.guests } else { &[] };
                for &other in subspace.natives.iter().chain(guests) {
                    let index = other as usize;
                    if met[index] == search {
                        continue;
                    }
                    met[index] = search;
                    let level = native + steps;
                    let there = ranges[index].coarser(level - usize::from(levels[index]));
                    // Far ones that only share the list are not there.
                    if there.meets(&here) && !before.is_some_and(|before| there.meets(&before)) {
                        visit(other);
                    }
                }
            });
        }
    }
}

impl Subspace {
    /// The list for spheres that are `steps` grids finer.
    fn list(&mut self, steps: usize) -> &mut Vec<u32> {
        if steps == 0 {
            &mut self.natives
        } else {
            &mut self.guests
        }
    }
}

/// The grid of a sphere: the finest whose side leaves its bound room to grow.
pub(super) fn level(finest: f64, radius: f64) -> usize {
    (0..MOST_LEVELS - 1)
        .find(|&k| finest * f64::from(1 << k) >= RADII_PER_SIDE * radius)
        .unwrap_or(MOST_LEVELS - 1)
}
