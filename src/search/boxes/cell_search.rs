//! Counting-sorted uniform grid of boxes.

use std::time::Instant;

use glam::{DVec3, Vec3};
use rayon::prelude::*;

use super::BoxSet;
use super::box_compare::{BoxColumns, compare_cell};
use crate::search::uniform_grid::GridLayout;
use crate::search::uniform_grid::cell_walk::CellWalk;
use crate::search::uniform_grid::simd::{Instructions, MAX_LANES};
use crate::search::uniform_grid::sorted_spheres::{SortedSpheres, gather};
use crate::search::{GridCell, MIN_REACH_NM, Pair, PairBuffer, SearchError};
use crate::spheres::SphereSet;

/// Approximate number of boxes per task: fewer than for spheres, since boxes have more neighbors.
const BOXES_PER_TASK: usize = 512;

/// Largest number of comparisons within cells: the boxes of one cell must not fill the memory
/// with pairs.
const MAX_COMPARISONS: u64 = 1 << 29;

/// Number of oversize boxes that is always allowed.
const MIN_OVERSIZE: usize = 4;

/// One more oversize box is allowed for each time that this divides the square root of the
/// number of boxes. An oversize box costs one comparison with each box, eight at a time.
const ROOT_PER_OVERSIZE: usize = 8;

/// Number of boxes whose sides one task computes.
const SIDES_PER_TASK: usize = 4096;

/// Number of size classes: one per exponent of a 32-bit float.
const SIZE_CLASSES: usize = 256;

/// One search of boxes with a counting-sorted uniform grid. See [`BoxGrid`](super::BoxGrid).
#[derive(Clone, Debug, Default)]
pub(super) struct CellSearch {
    /// Longest side of each box, nm.
    sides: Vec<f32>,
    /// Indices of the boxes in the grid, if there are oversize boxes.
    ordinary: Vec<u32>,
    /// Indices of the oversize boxes.
    oversize: Vec<u32>,
    /// Lower corners of the boxes in the grid.
    corners: SphereSet,
    sorted: SortedSpheres,
    layout: Option<GridLayout>,
    /// Largest coordinates of the boxes along x, y and z, sorted by cell.
    high: [Vec<f32>; 3],
    /// All indices, for the comparison with all boxes.
    all: Vec<u32>,
    pub(super) instructions: Instructions,
}

impl CellSearch {
    /// The cell around `point` (nm) in the last search, for drawing; `None` if there was none.
    pub(super) fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.layout.map(|layout| layout.cell_around(point))
    }

    /// Steps 1 to 3; `None` if there are no boxes in the grid.
    fn build(&mut self, boxes: &BoxSet) -> Result<Option<GridLayout>, SearchError> {
        boxes.extent()?;
        self.exclude_oversize(boxes);
        if self.corners.is_empty() {
            return Ok(None);
        }
        let extent = self.corners.extent()?;
        let width = extent.largest_radius.max(MIN_REACH_NM);
        let layout = GridLayout::fit(extent.low, extent.high, width, self.corners.len());
        self.sorted.sort(&self.corners, &layout, false);
        if !self.oversize.is_empty() {
            self.sorted.rename(&self.ordinary);
        }
        self.sorted.check_crowding(MAX_COMPARISONS, width)?;
        self.gather(boxes);
        Ok(Some(layout))
    }

    /// Step 1; copies the lower corners of the boxes in the grid, with their longest sides as radii.
    fn exclude_oversize(&mut self, boxes: &BoxSet) {
        self.ordinary.clear();
        self.oversize.clear();
        self.corners.clear();
        set_longest_sides(&mut self.sides, boxes);
        let limit = ordinary_limit(&self.sides);
        if self.sides.iter().all(|side| *side <= limit) {
            let corners = &mut self.corners;
            let targets = [&mut corners.x, &mut corners.y, &mut corners.z];
            for (target, source) in targets.into_iter().zip(&boxes.low) {
                target.extend_from_slice(source);
            }
            corners.radius.extend_from_slice(&self.sides);
            corners.owner.extend_from_slice(&boxes.owner);
            return;
        }
        for (index, &side) in self.sides.iter().enumerate() {
            if side > limit {
                self.oversize.push(index as u32);
            } else {
                self.ordinary.push(index as u32);
                let (low, owner) = (boxes.low(index), boxes.owner(index));
                self.corners.push_unchecked(low, side, owner);
            }
        }
    }

    /// Gathers the upper corners by index; the lower ones are sorted already.
    fn gather(&mut self, boxes: &BoxSet) {
        let count = self.corners.len();
        let index = &self.sorted.index[..count];
        for (column, source) in self.high.iter_mut().zip(&boxes.high) {
            column.resize(count + MAX_LANES, 0.0);
            gather(&mut column[..count], source, index);
        }
    }

    /// Writes the pairs of each of the boxes `some`, in ascending order, with all boxes into one of
    /// `lists`.
    pub(super) fn compare_with_all(
        &mut self,
        boxes: &BoxSet,
        some: &[u32],
        lists: &mut [Vec<Pair>],
    ) {
        if some.is_empty() {
            return;
        }
        let known = self.all.len();
        self.all.extend(known as u32..boxes.len().max(known) as u32);
        let columns = BoxColumns {
            low: boxes.low.each_ref().map(|axis| &axis[..]),
            high: boxes.high.each_ref().map(|axis| &axis[..]),
            owner: &boxes.owner,
            index: &self.all,
        };
        let instructions = self.instructions;
        lists.par_iter_mut().zip(some).for_each(|(list, &own)| {
            let own = own as usize;
            // All boxes before it, then all boxes after it.
            let runs = [(own, own), (0, own), (own + 1, boxes.len())];
            compare_cell(instructions, &columns, own..own + 1, runs.into_iter(), list);
            // Two of them find each other twice: keep the pair of the smaller index.
            let is_one = |index: u32| some.binary_search(&index).is_ok();
            list.retain(|pair| pair.a == own as u32 || !is_one(pair.a));
        });
    }

    /// Writes all pairs of overlapping boxes into `pairs`, in the order of their cells; returns
    /// when the boxes were sorted.
    pub(super) fn find(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<Instant, SearchError> {
        pairs.clear();
        self.layout = None;
        let layout = self.build(boxes)?;
        self.layout = layout;
        let built = Instant::now();
        let walk = layout.map(|layout| CellWalk {
            sorted: &self.sorted,
            cell_start: &self.sorted.cell_start,
            layout,
            per_task: BOXES_PER_TASK,
        });
        let walked = walk.map_or(0, |walk| walk.tasks());
        let lists = pairs.start(walked + self.oversize.len());
        if let Some(walk) = walk {
            let sorted = &self.sorted.spheres;
            let columns = BoxColumns {
                low: [&sorted.x, &sorted.y, &sorted.z],
                high: self.high.each_ref().map(|column| &column[..]),
                owner: &sorted.owner,
                index: &self.sorted.index,
            };
            let instructions = self.instructions;
            let lists = lists[..walked].par_iter_mut().enumerate();
            lists.for_each(|(task, list)| {
                walk.for_each_cell(task, |own, runs| {
                    compare_cell(instructions, &columns, own, runs.iter(), list);
                });
            });
        }
        let oversize = std::mem::take(&mut self.oversize);
        self.compare_with_all(boxes, &oversize, &mut pairs.lists_mut()[walked..]);
        self.oversize = oversize;
        Ok(built)
    }
}

/// Number of boxes, out of `count`, that may be compared with all others.
pub(super) fn few(count: usize) -> usize {
    MIN_OVERSIZE + count.isqrt() / ROOT_PER_OVERSIZE
}

/// Longest side of a box that is not oversize, nm: the largest number of the smallest size class
/// with few enough larger boxes.
fn ordinary_limit(sides: &[f32]) -> f32 {
    if sides.len() <= MIN_OVERSIZE {
        return f32::MAX;
    }
    let mut classes = [0_usize; SIZE_CLASSES];
    for &side in sides {
        classes[size_class(side)] += 1;
    }
    let mut spare = few(sides.len());
    let mut top = SIZE_CLASSES - 1;
    while top > 0 && classes[top] <= spare {
        spare -= classes[top];
        top -= 1;
    }
    // The largest number of that class.
    f32::from_bits(((top as u32 + 1) << 23) - 1)
}

/// Mean number of boxes per cell, if the grid is filled evenly. `sides` is a buffer.
pub(super) fn mean_occupancy(boxes: &BoxSet, sides: &mut Vec<f32>) -> f64 {
    set_longest_sides(sides, boxes);
    let limit = ordinary_limit(sides);
    let (mut count, mut width) = (0, MIN_REACH_NM);
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for (index, &side) in sides.iter().enumerate().filter(|(_, side)| **side <= limit) {
        let corner = boxes.low(index);
        (low, high) = (low.min(corner), high.max(corner));
        width = width.max(side);
        count += 1;
    }
    if count == 0 {
        return 0.0;
    }
    let cells = (high - low).as_dvec3() / f64::from(width);
    f64::from(count) / cells.max(DVec3::ONE).element_product()
}

/// Writes the longest side of each box, nm.
fn set_longest_sides(sides: &mut Vec<f32>, boxes: &BoxSet) {
    sides.resize(boxes.len(), 0.0);
    let chunks = sides.par_chunks_mut(SIDES_PER_TASK).enumerate();
    chunks.for_each(|(chunk, sides)| {
        sides.fill(0.0);
        let start = chunk * SIDES_PER_TASK;
        for (low, high) in boxes.low.iter().zip(&boxes.high) {
            for (side, (low, high)) in sides
                .iter_mut()
                .zip(low[start..].iter().zip(&high[start..]))
            {
                *side = side.max(high - low);
            }
        }
    });
}

fn size_class(side: f32) -> usize {
    (side.to_bits() >> 23) as usize & (SIZE_CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_giants_are_oversize_and_many_are_not() {
        let small = std::iter::repeat_n(1.5, 100);
        let limit = ordinary_limit(&Vec::from_iter(small.clone().chain([1000.0, 7.0])));
        assert!((1.5..7.0).contains(&limit));
        let many = std::iter::repeat_n(1000.0, 50);
        assert!(ordinary_limit(&Vec::from_iter(small.chain(many))) >= 1000.0);
    }

    #[test]
    fn boxes_without_size_are_not_oversize() {
        for count in [0, 1, 3, 100] {
            assert!(ordinary_limit(&vec![0.0; count]) >= 0.0);
        }
    }
}
