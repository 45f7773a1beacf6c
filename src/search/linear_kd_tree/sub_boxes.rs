//! Sub-boxes: created in parallel, then gathered in the order of the tree.

use rayon::prelude::*;

use super::Record;
use super::lattice::Lattice;
use super::locational_code::{CellBox, Code};
use super::split::SplitBox;
use crate::search::boxes::BoxSet;
use crate::search::uniform_grid::simd::LANES;

/// Boxes per task.
const BOXES_PER_TASK: usize = 4096;

/// Number of bits that identify a sub-box of one task: at most eight per box.
const TASK_BITS: u32 = (8 * BOXES_PER_TASK).ilog2();

/// Smallest number of blocks per task.
const BLOCKS_PER_TASK: usize = 256;

/// A sub-box; its fields are contiguous, since sub-boxes are gathered in random order.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct SubBox {
    /// Lower corner, nm.
    start: [f32; 3],
    owner: u32,
    /// Upper corner, nm.
    high: [f32; 3],
    /// Index of the box.
    pub(super) element: u32,
}

/// Sub-boxes and their records, a list of each per task.
#[derive(Clone, Debug, Default)]
pub(super) struct SubBoxLists {
    sub_boxes: Vec<Vec<SubBox>>,
    pub(super) records: Vec<Vec<Record>>,
}

impl SubBoxLists {
    /// Splits all boxes.
    pub(super) fn fill(&mut self, boxes: &BoxSet, lattice: &Lattice, whole: bool) {
        let tasks = boxes.len().div_ceil(BOXES_PER_TASK);
        self.sub_boxes.resize_with(tasks, Vec::new);
        self.records.resize_with(tasks, Vec::new);
        let lists = self.sub_boxes.par_iter_mut().zip(&mut self.records);
        lists.enumerate().for_each(|(task, (sub_boxes, records))| {
            sub_boxes.clear();
            records.clear();
            let first = task * BOXES_PER_TASK;
            for index in first..(first + BOXES_PER_TASK).min(boxes.len()) {
                let full = SubBox {
                    start: boxes.low(index).to_array(),
                    owner: boxes.owner(index),
                    high: boxes.high(index).to_array(),
                    element: index as u32,
                };
                let cells = lattice.cells(full.start, full.high);
                let parts = SplitBox::new(cells, !whole);
                for part in parts.as_slice() {
                    let (sub_box, at_plane) = full.clip(&cells, part, lattice);
                    records.push(Record {
                        code: Code::around(part, lattice.bits),
                        sub_box: SubBoxId::new(task, sub_boxes.len(), at_plane),
                    });
                    sub_boxes.push(sub_box);
                }
            }
        });
    }

    /// Bytes of memory of all lists.
    pub(super) fn memory_bytes(&self) -> usize {
        let sub_boxes = self.sub_boxes.iter().map(|list| size_of_val(&**list));
        let records = self.records.iter().map(|list| size_of_val(&**list));
        sub_boxes.chain(records).sum()
    }

    /// A sub-box by its id.
    #[inline]
    pub(super) fn sub_box(&self, number: SubBoxId) -> &SubBox {
        let (task, within) = number.place();
        &self.sub_boxes[task][within]
    }
}

/// The task of a sub-box, its index there, and the axes along which it starts at a plane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SubBoxId(u64);

impl SubBoxId {
    #[inline]
    fn new(task: usize, within: usize, at_plane: [bool; 3]) -> Self {
        let [x, y, z] = at_plane.map(u64::from);
        let place = (task << TASK_BITS | within) as u64;
        Self(place << 3 | z << 2 | y << 1 | x)
    }

    #[inline]
    fn place(self) -> (usize, usize) {
        let place = (self.0 >> 3) as usize;
        (place >> TASK_BITS, place & ((1 << TASK_BITS) - 1))
    }

    /// All bits set if the sub-box starts at a plane along an axis, otherwise none.
    #[inline]
    fn plane_mask(self, axis: usize) -> u32 {
        ((self.0 >> axis & 1) as u32).wrapping_neg()
    }
}

impl SubBox {
    /// The part of a box in some of its leaves, and the axes along which it starts at a plane.
    #[inline]
    fn clip(mut self, cells: &CellBox, part: &CellBox, lattice: &Lattice) -> (Self, [bool; 3]) {
        let mut at_plane = [false; 3];
        for (axis, at_plane) in at_plane.iter_mut().enumerate() {
            *at_plane = part.low[axis] > cells.low[axis];
            if *at_plane {
                self.start[axis] = lattice.low(axis, part.low[axis]);
            }
            if part.high[axis] < cells.high[axis] {
                self.high[axis] = lattice.high(axis, part.high[axis]);
            }
        }
        (self, at_plane)
    }
}

/// Eight sub-boxes as columns.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct SubBoxBlock {
    /// Lower corners along x, y and z, nm; −∞ where the sub-box starts at a plane.
    pub(super) low: [[f32; LANES]; 3],
    /// Lower corners where the sub-box starts at a plane, nm; −∞ elsewhere.
    pub(super) from: [[f32; LANES]; 3],
    /// Upper corners, nm.
    pub(super) high: [[f32; LANES]; 3],
    pub(super) owner: [u32; LANES],
    /// Indices of the boxes.
    pub(super) element: [u32; LANES],
}

impl SubBoxBlock {
    /// Copies the sub-boxes of up to eight records; the rest is arbitrary.
    fn load(&mut self, lists: &SubBoxLists, records: &[Record]) {
        // All loads first, since each may miss the cache.
        let mut sub_boxes = [SubBox::default(); LANES];
        for (sub_box, record) in sub_boxes.iter_mut().zip(records) {
            *sub_box = *lists.sub_box(record.sub_box);
        }
        for (at, (sub_box, record)) in sub_boxes.iter().zip(records).enumerate() {
            for axis in 0..3 {
                let start = sub_box.start[axis].to_bits();
                let outside = f32::NEG_INFINITY.to_bits();
                // Branch-free selection, since the outcome is unpredictable.
                let either = (start ^ outside) & record.sub_box.plane_mask(axis);
                self.low[axis][at] = f32::from_bits(start ^ either);
                self.from[axis][at] = f32::from_bits(outside ^ either);
                self.high[axis][at] = sub_box.high[axis];
            }
            self.owner[at] = sub_box.owner;
            self.element[at] = sub_box.element;
        }
    }
}

/// Gathers the sub-boxes in the order of `records`.
pub(super) fn gather(lists: &SubBoxLists, records: &[Record], blocks: &mut Vec<SubBoxBlock>) {
    blocks.resize(records.len().div_ceil(LANES), SubBoxBlock::default());
    blocks
        .par_iter_mut()
        .zip(records.par_chunks(LANES))
        .with_min_len(BLOCKS_PER_TASK)
        .for_each(|(block, records)| block.load(lists, records));
}
