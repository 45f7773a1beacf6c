//! Levels of the hierarchy: which spheres they contain, and how wide their cells are.

use std::ops::Range;

use glam::Vec3;
use rayon::prelude::*;

use crate::search::uniform_grid::GridLayout;
use crate::search::uniform_grid::sorted_spheres::CellMap;
use crate::search::uniform_grid::{Reach, ReachPlan};
use crate::spheres::{CHUNK, SphereSet};

/// Number of size classes, each half the size of the previous one. The last one contains all
/// smaller sizes, too.
pub(crate) const OCTAVES: usize = 32;

/// Largest number of levels. Each finer sphere is compared with all coarser levels.
pub(crate) const MAX_LEVELS: usize = 16;

/// An octave gets its own level if it has more than this fraction of the spheres, 1 / 256.
/// Otherwise its spheres go to the next coarser level.
const MIN_FRACTION: usize = 256;

/// Smallest number of cells along an axis of a folded level: a sphere overlaps up to five cells
/// of a coarser level, which must be different.
const MIN_FOLDED_CELLS: u32 = 8;

/// Factor on the reach into a coarser level, for the rounding of a distance, a radius and a sum.
const REACH_FACTOR: f32 = 1.000_02;

/// Size of a sphere, nm: its reach with a sphere of the same radius. It determines the level.
/// Two spheres of one level reach no further than the larger size.
#[inline]
pub(crate) fn size_of(radius: f32, margin: f32) -> f32 {
    2.0 * radius + margin
}

/// Number of times that `size` must double to match the largest size, whose exponent is `top`.
#[inline]
pub(crate) fn octave(size: f32, top: u32) -> usize {
    (top.saturating_sub(size.to_bits() >> 23) as usize).min(OCTAVES - 1)
}

/// The spheres of an octave.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Octave {
    count: usize,
    low: Vec3,
    high: Vec3,
    largest_radius: f32,
}

impl Octave {
    const EMPTY: Self = Self {
        count: 0,
        low: Vec3::INFINITY,
        high: Vec3::NEG_INFINITY,
        largest_radius: 0.0,
    };

    fn merge(self, other: Self) -> Self {
        Self {
            count: self.count + other.count,
            low: self.low.min(other.low),
            high: self.high.max(other.high),
            largest_radius: self.largest_radius.max(other.largest_radius),
        }
    }
}

/// Histogram of the sphere sizes.
#[derive(Clone, Debug)]
pub(crate) struct SizeHistogram {
    octaves: [Octave; OCTAVES],
    /// Exponent of the largest size.
    top: u32,
    margin: f32,
}

impl SizeHistogram {
    /// Counts the spheres of each octave.
    pub(crate) fn of(spheres: &SphereSet, plan: &ReachPlan) -> Self {
        let margin = match plan.reach {
            Reach::Mixed { margin } => margin,
            // All spheres are in the first octave, whatever the margin.
            Reach::Same { .. } => 0.0,
        };
        let top = size_of(plan.extent.largest_radius, margin).to_bits() >> 23;
        let part = |start: usize| {
            let mut octaves = [Octave::EMPTY; OCTAVES];
            for k in start..(start + CHUNK).min(spheres.len()) {
                let octave = &mut octaves[octave(size_of(spheres.radius[k], margin), top)];
                let center = spheres.center(k);
                octave.count += 1;
                octave.low = octave.low.min(center);
                octave.high = octave.high.max(center);
                octave.largest_radius = octave.largest_radius.max(spheres.radius[k]);
            }
            octaves
        };
        let merge = |mut a: [Octave; OCTAVES], b: [Octave; OCTAVES]| {
            for (a, b) in a.iter_mut().zip(b) {
                *a = a.merge(b);
            }
            a
        };
        let octaves = (0..spheres.len().div_ceil(CHUNK))
            .into_par_iter()
            .map(|chunk| part(chunk * CHUNK))
            .reduce(|| [Octave::EMPTY; OCTAVES], merge);
        Self {
            octaves,
            top,
            margin,
        }
    }

    /// Octave of the median sphere.
    pub(crate) fn median_octave(&self) -> usize {
        let half = self.octaves.iter().map(|o| o.count).sum::<usize>() / 2;
        let mut count = 0;
        let median = self.octaves.iter().position(|octave| {
            count += octave.count;
            count > half
        });
        median.unwrap_or(0)
    }

    /// The spheres of several octaves.
    fn merged(&self, octaves: Range<usize>) -> Octave {
        let octaves = self.octaves[octaves].iter().copied();
        octaves.fold(Octave::EMPTY, Octave::merge)
    }

    /// Bit `k` is set if octave `k` is the coarsest of a level.
    fn level_starts(&self) -> u32 {
        let few = self.merged(0..OCTAVES).count / MIN_FRACTION;
        // Octaves without spheres join any level, those with few the next coarser one. Cells of
        // no size would have no width.
        let joins = |octave: &Octave| {
            let size = size_of(octave.largest_radius, self.margin);
            octave.count <= few || size < f32::MIN_POSITIVE
        };
        let own = (1..OCTAVES).filter(|&k| !joins(&self.octaves[k]));
        let mut starts = own.fold(1_u32, |starts, k| starts | 1 << k);
        while starts.count_ones() as usize > MAX_LEVELS {
            // The level with the fewest spheres joins the next coarser one.
            let is_start = |k: &usize| starts >> k & 1 != 0;
            let emptiest = (1..OCTAVES).filter(is_start).min_by_key(|&first| {
                let end = (first + 1..OCTAVES).find(is_start);
                self.merged(first..end.unwrap_or(OCTAVES)).count
            });
            starts ^= emptiest.map_or(starts, |first| 1 << first);
        }
        starts
    }
}

/// One grid of the hierarchy.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Level {
    pub(crate) layout: GridLayout,
    /// Index of its first cell among the cells of all levels.
    pub(crate) first_cell: u32,
    /// Maximum distance (nm) at which a point overlaps a sphere of this level, plus rounding.
    pub(crate) reach: f32,
}

/// The grids of a hierarchy, finest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Levels {
    levels: [Level; MAX_LEVELS],
    len: usize,
    /// Level of each octave.
    pub(crate) level_of: [u8; OCTAVES],
    /// Exponent of the largest size.
    pub(crate) top: u32,
    pub(crate) margin: f32,
    cells: usize,
}

impl Levels {
    /// Levels for this histogram.
    pub(crate) fn of(sizes: &SizeHistogram, plan: &ReachPlan) -> Self {
        let mut levels = Self {
            top: sizes.top,
            margin: sizes.margin,
            ..Self::default()
        };
        let (mut starts, mut end) = (sizes.level_starts(), OCTAVES);
        // Finest first: pairs of two levels are found from the finer one.
        while starts != 0 {
            let first = starts.ilog2() as usize;
            starts ^= 1 << first;
            let spheres = sizes.merged(first..end);
            let reach = match plan.reach {
                Reach::Same { .. } => plan.longest,
                Reach::Mixed { margin } => size_of(spheres.largest_radius, margin),
            };
            let mut layout = GridLayout::fit(spheres.low, spheres.high, reach, spheres.count);
            if layout.folded {
                layout.cells = layout.cells.map(|n| n.max(MIN_FOLDED_CELLS));
            }
            levels.levels[levels.len] = Level {
                layout,
                first_cell: levels.cells as u32,
                reach: (spheres.largest_radius + sizes.margin) * REACH_FACTOR,
            };
            levels.cells += layout.cell_count();
            levels.level_of[first..end].fill(levels.len as u8);
            levels.len += 1;
            end = first;
        }
        levels
    }

    /// The grids, finest first.
    pub(crate) fn all(&self) -> &[Level] {
        &self.levels[..self.len]
    }
}

impl CellMap for Levels {
    fn cell_count(&self) -> usize {
        self.cells
    }

    fn write_cells(&self, spheres: &SphereSet, range: Range<usize>, cells: &mut [u32]) {
        for (k, cell) in range.zip(cells) {
            let size = size_of(spheres.radius[k], self.margin);
            let level = &self.levels[self.level_of[octave(size, self.top)] as usize];
            let center = [&spheres.x, &spheres.y, &spheres.z].map(|axis| &axis[k..=k]);
            level.layout.write_cells(center, std::slice::from_mut(cell));
            *cell += level.first_cell;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spheres(radii: impl IntoIterator<Item = f32>) -> SphereSet {
        let mut spheres = SphereSet::new();
        for (k, radius) in radii.into_iter().enumerate() {
            let center = Vec3::new(k as f32, 0.0, 0.0);
            spheres.push(center, radius, k as u32).unwrap();
        }
        spheres
    }

    fn levels(spheres: &SphereSet, margin: f32) -> Levels {
        let plan = ReachPlan::new(spheres, margin).unwrap().unwrap();
        Levels::of(&SizeHistogram::of(spheres, &plan), &plan)
    }

    #[test]
    fn spheres_are_in_the_level_of_their_octave() {
        let all = spheres((0..400).map(|k| 0.1 * 1.5_f32.powi(k % 10)));
        let levels = levels(&all, 0.0);
        // 1.5⁹ = 38, a bit more than five octaves.
        assert_eq!(levels.all().len(), 6);
        let mut cells = vec![0; all.len()];
        CellMap::write_cells(&levels, &all, 0..all.len(), &mut cells);
        for (k, &cell) in cells.iter().enumerate() {
            let level = levels.all().iter().rposition(|l| l.first_cell <= cell);
            let level = &levels.all()[level.unwrap()];
            assert!(2.0 * all.radius(k) <= 1.0 / level.layout.per_nm);
            assert!(level.reach >= all.radius(k));
        }
    }

    #[test]
    fn one_giant_gets_its_own_level_and_one_speck_does_not() {
        let level_count = |odd: f32, others: f32| {
            let radii = (0..5000).map(|k| if k == 7 { odd } else { others });
            levels(&spheres(radii), 0.0).all().len()
        };
        assert_eq!(level_count(1.0e6, 0.1), 2);
        assert_eq!(level_count(1.0e-6, 0.1), 1);
        assert_eq!(level_count(0.1, 0.0), 1, "points");
    }

    #[test]
    fn the_number_of_levels_is_limited() {
        let all = spheres((0..4000).map(|k| 1.0e8 * 0.5_f32.powi(k % 40)));
        let levels = levels(&all, 0.0);
        assert_eq!(levels.all().len(), MAX_LEVELS);
    }

    #[test]
    fn the_median_octave_ignores_outliers() {
        let median_octave = |radii: &dyn Fn(usize) -> f32| {
            let all = spheres((0..1000).map(radii));
            let plan = ReachPlan::new(&all, 0.0).unwrap().unwrap();
            SizeHistogram::of(&all, &plan).median_octave()
        };
        assert_eq!(median_octave(&|k| if k == 3 { 0.001 } else { 1.0 }), 0);
        assert_eq!(median_octave(&|k| if k == 3 { 64.0 } else { 1.0 }), 6);
    }
}
