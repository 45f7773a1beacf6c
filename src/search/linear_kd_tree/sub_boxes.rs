//! SplitBox of boxes: made in parallel, then put in the order of the tree.

use rayon::prelude::*;

use super::Record;
use super::lattice::Lattice;
use super::locational_code::{CellBox, Code};
use super::split::SplitBox;
use crate::search::boxes::BoxSet;
use crate::search::uniform_grid::simd::LANES;

/// Boxes that one task makes pieces of.
const BOXES_PER_TASK: usize = 4096;

/// Bits that tell the pieces of one task apart: eight for each box at most.
const TASK_BITS: u32 = (8 * BOXES_PER_TASK).ilog2();

/// Blocks of pieces that one task fills, at least.
const BLOCKS_PER_TASK: usize = 256;

/// A piece of a box, in one place of memory: they are put in order from all over it.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct SubBox {
    /// Where the piece starts, nm.
    start: [f32; 3],
    owner: u32,
    /// Where the piece ends, nm.
    high: [f32; 3],
    /// Index of the box.
    pub(super) element: u32,
}

/// SplitBox and their records, a list of each for every task.
#[derive(Clone, Debug, Default)]
pub(super) struct SubBoxLists {
    pieces: Vec<Vec<SubBox>>,
    records: Vec<Vec<Record>>,
}

impl SubBoxLists {
    /// Makes pieces of all boxes.
    pub(super) fn fill(&mut self, boxes: &BoxSet, lattice: &Lattice, splits: bool) {
        let tasks = boxes.len().div_ceil(BOXES_PER_TASK);
        self.pieces.resize_with(tasks, Vec::new);
        self.records.resize_with(tasks, Vec::new);
        let lists = self.pieces.par_iter_mut().zip(&mut self.records);
        lists.enumerate().for_each(|(task, (pieces, records))| {
            pieces.clear();
            records.clear();
            let first = task * BOXES_PER_TASK;
            for index in first..(first + BOXES_PER_TASK).min(boxes.len()) {
                let whole = SubBox {
                    start: boxes.low(index).to_array(),
                    owner: boxes.owner(index),
                    high: boxes.high(index).to_array(),
                    element: index as u32,
                };
                let cells = lattice.cells(whole.start, whole.high);
                let parts = if splits {
                    SplitBox::split(&cells)
                } else {
                    SplitBox::whole(&cells)
                };
                for part in parts.as_slice() {
                    let (piece, cut) = whole.clip(&cells, part, lattice);
                    records.push(Record {
                        code: Code::around(part, lattice.bits),
                        piece: SubBoxId::new(task, pieces.len(), cut),
                    });
                    pieces.push(piece);
                }
            }
        });
    }

    /// Number of pieces.
    pub(super) fn count(&self) -> usize {
        self.records.iter().map(Vec::len).sum()
    }

    /// The records, task by task.
    pub(super) fn records(&self) -> &[Vec<Record>] {
        &self.records
    }

    /// A piece by the number that its record has for it.
    #[inline]
    pub(super) fn piece(&self, number: SubBoxId) -> &SubBox {
        let (task, within) = number.place();
        &self.pieces[task][within]
    }
}

/// Which task made a piece, as which of its pieces, and along which axes the piece does not
/// start where its box does.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SubBoxId(u64);

impl SubBoxId {
    #[inline]
    fn new(task: usize, within: usize, cut: [bool; 3]) -> Self {
        let [x, y, z] = cut.map(u64::from);
        let place = (task << TASK_BITS | within) as u64;
        Self(place << 3 | z << 2 | y << 1 | x)
    }

    #[inline]
    fn place(self) -> (usize, usize) {
        let place = (self.0 >> 3) as usize;
        (place >> TASK_BITS, place & ((1 << TASK_BITS) - 1))
    }

    /// All bits if the piece does not start where its box does along an axis, else none.
    #[inline]
    fn cut_mask(self, axis: usize) -> u32 {
        ((self.0 >> axis & 1) as u32).wrapping_neg()
    }
}

impl SubBox {
    /// The part of a box that is in some of its leaves, and along which axes it starts
    /// where the box is cut.
    #[inline]
    fn clip(mut self, cells: &CellBox, part: &CellBox, lattice: &Lattice) -> (Self, [bool; 3]) {
        let mut cut = [false; 3];
        for (axis, cut) in cut.iter_mut().enumerate() {
            *cut = part.low[axis] > cells.low[axis];
            if *cut {
                self.start[axis] = lattice.low(axis, part.low[axis]);
            }
            if part.high[axis] < cells.high[axis] {
                self.high[axis] = lattice.high(axis, part.high[axis]);
            }
        }
        (self, cut)
    }
}

/// Eight pieces side by side, as they are compared.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C, align(32))]
pub(super) struct SubBoxBlock {
    /// Where pieces start if their boxes do, along x, y and z, nm; −∞ if they are cut there.
    pub(super) low: [[f32; LANES]; 3],
    /// Where pieces start if they are cut there, nm; −∞ if they are not.
    pub(super) from: [[f32; LANES]; 3],
    /// Where pieces end, nm.
    pub(super) high: [[f32; LANES]; 3],
    pub(super) owner: [u32; LANES],
    /// Indices of the boxes.
    pub(super) element: [u32; LANES],
}

impl SubBoxBlock {
    /// Takes the pieces of up to eight records; what is behind them is of no meaning.
    fn take(&mut self, lists: &SubBoxLists, records: &[Record]) {
        // All at once: each may have to come from far away.
        let mut pieces = [SubBox::default(); LANES];
        for (piece, record) in pieces.iter_mut().zip(records) {
            *piece = *lists.piece(record.piece);
        }
        for (at, (piece, record)) in pieces.iter().zip(records).enumerate() {
            for axis in 0..3 {
                let start = piece.start[axis].to_bits();
                let outside = f32::NEG_INFINITY.to_bits();
                // One of the two, without a branch that would be wrong half of the time.
                let either = (start ^ outside) & record.piece.cut_mask(axis);
                self.low[axis][at] = f32::from_bits(start ^ either);
                self.from[axis][at] = f32::from_bits(outside ^ either);
                self.high[axis][at] = piece.high[axis];
            }
            self.owner[at] = piece.owner;
            self.element[at] = piece.element;
        }
    }
}

/// Puts the pieces in the order of `records`.
pub(super) fn gather(lists: &SubBoxLists, records: &[Record], blocks: &mut Vec<SubBoxBlock>) {
    blocks.resize(records.len().div_ceil(LANES), SubBoxBlock::default());
    blocks
        .par_iter_mut()
        .zip(records.par_chunks(LANES))
        .with_min_len(BLOCKS_PER_TASK)
        .for_each(|(block, records)| block.take(lists, records));
}
