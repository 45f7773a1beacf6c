//! Sub-boxes: created in parallel, then gathered in the order of the tree.

use rayon::prelude::*;

use super::Record;
use super::lattice::Lattice;
use super::locational_code::{CellBox, Code};
use super::split::SplitBox;
use crate::search::boxes::BoxSet;
use crate::search::uniform_grid::simd::LANES;

/// Number of bits that identify a box of one task.
const BOX_BITS: u32 = 12;

/// Boxes per task.
const BOXES_PER_TASK: usize = 1 << BOX_BITS;

/// Number of bits that identify a sub-box of one box: at most eight.
const PART_BITS: u32 = 3;

/// Number of bits that identify a sub-box of one task.
const WITHIN_BITS: u32 = BOX_BITS + PART_BITS;

/// Number of bits for the axes along which a sub-box starts at a plane.
const PLANE_BITS: u32 = 3;

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
    /// First record of each box in the list of its task; the number of boxes of the last call.
    firsts: Vec<Vec<u16>>,
    pub(super) boxes: usize,
}

impl SubBoxLists {
    /// Splits all boxes.
    pub(super) fn fill(&mut self, boxes: &BoxSet, lattice: &Lattice, whole: bool) {
        let tasks = boxes.len().div_ceil(BOXES_PER_TASK);
        self.sub_boxes.resize_with(tasks, Vec::new);
        self.records.resize_with(tasks, Vec::new);
        self.firsts.resize_with(tasks, Vec::new);
        self.boxes = boxes.len();
        let lists = self.sub_boxes.par_iter_mut().zip(&mut self.records);
        let lists = lists.zip(&mut self.firsts).enumerate();
        lists.for_each(|(task, ((sub_boxes, records), firsts))| {
            sub_boxes.clear();
            records.clear();
            firsts.clear();
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
                firsts.push(sub_boxes.len() as u16);
                for (number, part) in parts.as_slice().iter().enumerate() {
                    let (sub_box, at_plane) = full.clip(&cells, part, lattice);
                    records.push(Record {
                        code: Code::around(part, lattice.bits),
                        sub_box: SubBoxId::new([index, number], sub_boxes.len(), at_plane),
                    });
                    sub_boxes.push(sub_box);
                }
            }
        });
    }

    /// The records of a box.
    #[inline]
    pub(super) fn of_box(&self, index: usize) -> &[Record] {
        let (task, at) = (index >> BOX_BITS, index % BOXES_PER_TASK);
        let (firsts, records) = (&self.firsts[task], &self.records[task]);
        let end = firsts
            .get(at + 1)
            .map_or(records.len(), |end| usize::from(*end));
        &records[usize::from(firsts[at])..end]
    }

    /// Bytes of memory of all lists.
    pub(super) fn memory_bytes(&self) -> usize {
        let sub_boxes = self.sub_boxes.iter().map(|list| size_of_val(&**list));
        let records = self.records.iter().map(|list| size_of_val(&**list));
        let firsts = self.firsts.iter().map(|list| size_of_val(&**list));
        sub_boxes.chain(records).chain(firsts).sum()
    }

    /// A sub-box by its id.
    #[inline]
    pub(super) fn sub_box(&self, number: SubBoxId) -> &SubBox {
        let (task, within) = number.place();
        &self.sub_boxes[task][within]
    }
}

/// The box of a sub-box, its number in it, its index in the list of its task, and the axes along
/// which it starts at a plane.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SubBoxId(u64);

impl SubBoxId {
    #[inline]
    fn new([index, number]: [usize; 2], within: usize, at_plane: [bool; 3]) -> Self {
        let [x, y, z] = at_plane.map(u64::from);
        let part = index << PART_BITS | number;
        let place = (part << WITHIN_BITS | within) as u64;
        Self(place << PLANE_BITS | z << 2 | y << 1 | x)
    }

    /// The box, and the number of the sub-box in it.
    #[inline]
    pub(super) fn part(self) -> (usize, usize) {
        let part = (self.0 >> (PLANE_BITS + WITHIN_BITS)) as usize;
        (part >> PART_BITS, part & ((1 << PART_BITS) - 1))
    }

    /// The task, and the index in its list.
    #[inline]
    fn place(self) -> (usize, usize) {
        let (index, _) = self.part();
        let within = (self.0 >> PLANE_BITS) as usize & ((1 << WITHIN_BITS) - 1);
        (index >> BOX_BITS, within)
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
