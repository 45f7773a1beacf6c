//! Counting-sorted uniform grid of boxes.

use std::time::Instant;

use rayon::prelude::*;

use super::box_compare::{BoxColumns, compare_cell};
use super::{BoxSearch, BoxSet};
use crate::search::uniform_grid::GridLayout;
use crate::search::uniform_grid::cell_walk::CellWalk;
use crate::search::uniform_grid::simd::{Instructions, LANES};
use crate::search::uniform_grid::sorted_spheres::{SortedSpheres, gather};
use crate::search::{MIN_REACH_NM, PairBuffer, SearchError, SearchTimes};
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

/// Number of size classes: one per exponent of a 32-bit float.
const SIZE_CLASSES: usize = 256;

/// Uniform grid of boxes: the broad phase of molecules.
///
/// 1. exclude the few *oversize* boxes that are much larger than the others (Johnson and Whalley
///    2002, section 5): one giant would put all small boxes into one cell;
/// 2. bin each other box by its lower corner, in cells at least as wide as the largest box:
///    overlapping boxes are never two cells apart;
/// 3. counting sort, as for spheres;
/// 4. walk: compare each box with its own cell and the following half of the 26 neighboring
///    cells, eight boxes at a time;
/// 5. compare the oversize boxes with all boxes.
///
/// Corners are used instead of centers, since they are not rounded.
///
/// ```
/// use bevy_rapier_molecules::search::PairBuffer;
/// use bevy_rapier_molecules::search::boxes::{BoxGrid, BoxSearch, BoxSet};
/// use glam::Vec3;
///
/// let mut boxes = BoxSet::new();
/// for k in 0..10 {
///     // Each touches the next.
///     let low = Vec3::X * k as f32;
///     boxes.push(low, low + Vec3::ONE, k)?;
/// }
/// let mut pairs = PairBuffer::new();
/// BoxGrid::new().find_box_pairs(&boxes, &mut pairs)?;
/// assert_eq!(pairs.len(), 9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct BoxGrid {
    /// Indices of the boxes in the grid.
    ordinary: Vec<u32>,
    /// Indices of the oversize boxes.
    oversize: Vec<u32>,
    /// Lower corners of the boxes in the grid.
    corners: SphereSet,
    sorted: SortedSpheres,
    /// The boxes, sorted by cell.
    columns: [Vec<f32>; 6],
    /// All indices, for the comparison of oversize boxes.
    all: Vec<u32>,
    /// Padded columns of all boxes, for the same.
    padded: BoxSet,
    instructions: Instructions,
}

impl BoxGrid {
    /// A grid that uses the widest vector instructions of the CPU.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A grid that uses scalar code, the reference of the vector code.
    #[must_use]
    pub fn scalar() -> Self {
        Self {
            instructions: Instructions::Scalar,
            ..Self::default()
        }
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
        let limit = ordinary_limit(boxes);
        for index in 0..boxes.len() {
            let side = longest_side(boxes, index);
            if side > limit {
                self.oversize.push(index as u32);
            } else {
                self.ordinary.push(index as u32);
                let (low, owner) = (boxes.low(index), boxes.owner(index));
                self.corners.push_unchecked(low, side, owner);
            }
        }
    }

    /// Gathers the columns by index.
    fn gather(&mut self, boxes: &BoxSet) {
        let count = self.corners.len();
        let index = &self.sorted.index[..count];
        let sources = boxes.low.iter().chain(&boxes.high);
        for (column, source) in self.columns.iter_mut().zip(sources) {
            column.resize(count + LANES, 0.0);
            gather(&mut column[..count], source, index);
        }
    }

    /// Step 5: appends the pairs of the oversize boxes, one list for each.
    fn compare_oversize(&mut self, boxes: &BoxSet, pairs: &mut PairBuffer, first_list: usize) {
        if self.oversize.is_empty() {
            return;
        }
        self.padded.clone_from(boxes);
        let padded = boxes.len() + LANES;
        let axes = self.padded.low.iter_mut().chain(&mut self.padded.high);
        axes.for_each(|axis| axis.resize(padded, 0.0));
        self.padded.owner.resize(padded, 0);
        self.all.clear();
        self.all.extend(0..padded as u32);
        let columns = BoxColumns {
            low: self.padded.low.each_ref().map(|axis| &axis[..]),
            high: self.padded.high.each_ref().map(|axis| &axis[..]),
            owner: &self.padded.owner,
            index: &self.all,
        };
        let (instructions, oversize) = (self.instructions, &self.oversize);
        let lists = &mut pairs.lists_mut()[first_list..];
        lists.par_iter_mut().zip(oversize).for_each(|(list, &own)| {
            let own = own as usize;
            // All boxes before it, then all boxes after it.
            let runs = [(own, own), (0, own), (own + 1, boxes.len())];
            compare_cell(instructions, &columns, own..own + 1, runs.into_iter(), list);
            // Two oversize boxes find each other twice: keep the pair of the smaller index.
            let is_oversize = |index: u32| oversize.binary_search(&index).is_ok();
            list.retain(|pair| pair.a == own as u32 || !is_oversize(pair.a));
        });
    }
}

impl BoxSearch for BoxGrid {
    fn name(&self) -> &'static str {
        "box-grid"
    }

    fn find_box_pairs(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        let start = Instant::now();
        let layout = self.build(boxes)?;
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
            let columns = self.columns.each_ref().map(|column| &column[..]);
            let [lx, ly, lz, hx, hy, hz] = columns;
            let columns = BoxColumns {
                low: [lx, ly, lz],
                high: [hx, hy, hz],
                owner: &self.sorted.spheres.owner,
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
        self.compare_oversize(boxes, pairs, walked);
        Ok(SearchTimes::of(start, built))
    }
}

/// Longest side of a box that is not oversize, nm: the largest number of the smallest size class
/// with few enough larger boxes.
fn ordinary_limit(boxes: &BoxSet) -> f32 {
    let mut classes = [0_usize; SIZE_CLASSES];
    for index in 0..boxes.len() {
        classes[size_class(longest_side(boxes, index))] += 1;
    }
    let mut spare = MIN_OVERSIZE + boxes.len().isqrt() / ROOT_PER_OVERSIZE;
    let mut top = SIZE_CLASSES - 1;
    while top > 0 && classes[top] <= spare {
        spare -= classes[top];
        top -= 1;
    }
    // The largest number of that class.
    f32::from_bits(((top as u32 + 1) << 23) - 1)
}

/// Longest side of a box, nm.
#[inline]
fn longest_side(boxes: &BoxSet, index: usize) -> f32 {
    (boxes.high(index) - boxes.low(index)).max_element()
}

fn size_class(side: f32) -> usize {
    (side.to_bits() >> 23) as usize & (SIZE_CLASSES - 1)
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;

    fn boxes_of(sides: impl IntoIterator<Item = f32>) -> BoxSet {
        let mut boxes = BoxSet::new();
        for (owner, side) in sides.into_iter().enumerate() {
            boxes
                .push(Vec3::ZERO, Vec3::splat(side), owner as u32)
                .unwrap();
        }
        boxes
    }

    #[test]
    fn few_giants_are_oversize_and_many_are_not() {
        let small = std::iter::repeat_n(1.5, 100);
        let limit = ordinary_limit(&boxes_of(small.clone().chain([1000.0, 7.0])));
        assert!((1.5..7.0).contains(&limit));
        let many = std::iter::repeat_n(1000.0, 50);
        assert!(ordinary_limit(&boxes_of(small.chain(many))) >= 1000.0);
    }

    #[test]
    fn boxes_without_size_are_not_oversize() {
        for count in [0, 1, 3, 100] {
            assert!(ordinary_limit(&boxes_of(std::iter::repeat_n(0.0, count))) >= 0.0);
        }
    }
}
