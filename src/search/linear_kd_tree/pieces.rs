//! Pieces of boxes: made in parallel, then put in the order of the tree.

use rayon::prelude::*;

use super::Record;
use super::code::{CellBox, Code};
use super::lattice::Lattice;
use super::split::Pieces;
use crate::search::boxes::BoxSet;
use crate::search::uniform_grid::scan::LANES;

/// Boxes that one task makes pieces of.
const BOXES_PER_TASK: usize = 4096;

/// Bits that tell the pieces of one task apart: eight for each box at most.
const TASK_BITS: u32 = (8 * BOXES_PER_TASK).ilog2();

/// Pieces that one task puts in order.
const PIECES_PER_TASK: usize = 4096;

/// A piece of a box.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Piece {
    /// Lower corner of the box, nm.
    pub(super) low: [f32; 3],
    /// Where the piece starts if it does not where the box does, else −∞, nm.
    pub(super) from: [f32; 3],
    /// Where the piece ends, nm.
    pub(super) high: [f32; 3],
    pub(super) owner: u32,
    /// Index of the box.
    pub(super) element: u32,
}

/// Pieces and their records, a list of each for every task.
#[derive(Clone, Debug, Default)]
pub(super) struct PieceLists {
    pieces: Vec<Vec<Piece>>,
    records: Vec<Vec<Record>>,
}

impl PieceLists {
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
                let whole = Piece {
                    low: boxes.low(index).to_array(),
                    from: [f32::NEG_INFINITY; 3],
                    high: boxes.high(index).to_array(),
                    owner: boxes.owner(index),
                    element: index as u32,
                };
                let cells = lattice.cells(whole.low, whole.high);
                let parts = if splits {
                    Pieces::split(&cells)
                } else {
                    Pieces::whole(&cells)
                };
                for part in parts.as_slice() {
                    records.push(Record {
                        code: Code::around(part, lattice.bits),
                        piece: (task << TASK_BITS | pieces.len()) as u64,
                    });
                    pieces.push(whole.clip(&cells, part, lattice));
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
    pub(super) fn piece(&self, number: u64) -> &Piece {
        let within = (1 << TASK_BITS) - 1;
        &self.pieces[(number >> TASK_BITS) as usize][(number & within) as usize]
    }
}

impl Piece {
    /// The part of a box that is in some of its leaves.
    #[inline]
    fn clip(mut self, cells: &CellBox, part: &CellBox, lattice: &Lattice) -> Self {
        for axis in 0..3 {
            if part.low[axis] > cells.low[axis] {
                self.from[axis] = lattice.low(axis, part.low[axis]);
            }
            if part.high[axis] < cells.high[axis] {
                self.high[axis] = lattice.high(axis, part.high[axis]);
            }
        }
        self
    }
}

/// Pieces in columns, with [`LANES`] readable entries beyond the last.
#[derive(Clone, Debug, Default)]
pub(super) struct Columns {
    /// Lower corners of boxes, then starts and ends of pieces, along x, y and z.
    pub(super) places: [Vec<f32>; 9],
    pub(super) owner: Vec<u32>,
    pub(super) element: Vec<u32>,
}

impl Columns {
    /// Puts the pieces in the order of `records`.
    pub(super) fn gather(&mut self, lists: &PieceLists, records: &[Record]) {
        let padded = records.len() + LANES;
        self.owner.resize(padded, 0);
        self.element.resize(padded, 0);
        let part = ColumnsPart {
            places: self.places.each_mut().map(|column| {
                column.resize(padded, 0.0);
                &mut column[..]
            }),
            owner: &mut self.owner,
            element: &mut self.element,
        };
        part.gather(lists, records);
    }

    /// One of the pieces.
    #[inline]
    pub(super) fn piece(&self, at: usize) -> Piece {
        let [a, b, c, d, e, f, g, h, i] = self.places.each_ref();
        Piece {
            low: [a[at], b[at], c[at]],
            from: [d[at], e[at], f[at]],
            high: [g[at], h[at], i[at]],
            owner: self.owner[at],
            element: self.element[at],
        }
    }
}

/// A range of the columns, to be written.
struct ColumnsPart<'a> {
    places: [&'a mut [f32]; 9],
    owner: &'a mut [u32],
    element: &'a mut [u32],
}

impl ColumnsPart<'_> {
    /// Halves the range until it is small, and writes the halves in parallel.
    fn gather(self, lists: &PieceLists, records: &[Record]) {
        if records.len() <= PIECES_PER_TASK {
            return self.write(lists, records);
        }
        let middle = records.len() / 2;
        let [mut left, mut right]: [[&mut [f32]; 9]; 2] = Default::default();
        for (axis, column) in self.places.into_iter().enumerate() {
            (left[axis], right[axis]) = column.split_at_mut(middle);
        }
        let owner = self.owner.split_at_mut(middle);
        let element = self.element.split_at_mut(middle);
        let [left, right] = [(left, owner.0, element.0), (right, owner.1, element.1)].map(
            |(places, owner, element)| ColumnsPart {
                places,
                owner,
                element,
            },
        );
        rayon::join(
            || left.gather(lists, &records[..middle]),
            || right.gather(lists, &records[middle..]),
        );
    }

    fn write(mut self, lists: &PieceLists, records: &[Record]) {
        for (at, record) in records.iter().enumerate() {
            let piece = lists.piece(record.piece);
            let corners = [piece.low, piece.from, piece.high];
            for (column, value) in self.places.iter_mut().zip(corners.as_flattened()) {
                column[at] = *value;
            }
            self.owner[at] = piece.owner;
            self.element[at] = piece.element;
        }
    }
}
