//! Linear kd-tree: cells of a tree as numbers in a sorted array.
//!
//! The broad phase of Poirrier (2009). The tree halves space along x, y and z in turn,
//! and exists only as the paths from its root:
//!
//! 1. each box is [split](split) once along each axis at most, where that makes its
//!    enclosing cells smaller;
//! 2. each piece gets the [locational code](code) of the smallest cell around it: the
//!    interleaved bits of its corners, as far as they agree;
//! 3. the records (code, box) are sorted, prefixes first: what is inside a cell follows
//!    it at once;
//! 4. sweep: each record meets those behind it for as long as its code is their prefix.
//!
//! *kd-tree-1* of the paper takes what the sweep selects: a pair of boxes up to eight
//! times. *kd-tree-2* makes unique pairs of it with a list of those it has seen. Here a
//! pair is taken only where the lower corner of the two boxes' intersection lies, which
//! is in one piece of either: no memory is needed for it.
//!
//! The paper leaves the parallel construction open (section 7.2). Codes are made by many
//! tasks, records have a total order so that any parallel sort gives the same array, and
//! tasks sweep from different places: the lists do not depend on the threads.

mod code;
mod sort;
mod split;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use glam::DVec3;
use rayon::prelude::*;

use super::boxes::{BoxSearch, BoxSet};
use super::uniform_grid::MAX_COMPARISONS;
use super::{Pair, PairBuffer, SearchError, SearchTimes};
use code::{BITS, CellBox, Code, Raster};
use split::Pieces;

/// Boxes whose codes one task makes.
const BOXES_PER_TASK: usize = 4096;

/// Records that one task sweeps from.
const RECORDS_PER_TASK: usize = 4096;

/// A piece of a box: its cell, and whose it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Record {
    code: Code,
    element: u32,
}

/// A box in one place of memory: the sweep looks boxes up in no order.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Element {
    low: [f32; 3],
    owner: u32,
    high: [f32; 3],
}

impl Element {
    #[inline]
    fn overlaps(&self, other: &Self) -> bool {
        let along = |k: usize| (self.low[k] <= other.high[k]) & (other.low[k] <= self.high[k]);
        (self.owner != other.owner) & along(0) & along(1) & along(2)
    }
}

/// What the sweep selects, before any box is looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Selection {
    /// Pieces of boxes, N to 8 N.
    pub sub_elements: usize,
    /// Volume of the cells of all pieces, nm³; a cell counts once for each piece.
    pub cell_volume: f64,
    /// Pairs that are selected, some of them several times.
    pub pairs: u64,
}

/// How a [`LinearKdTree`] comes to unique pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Unique {
    /// All are written down, then sorted; doubles are dropped (kd-tree-1).
    BySorting,
    /// A pair is taken where the lower corner of the intersection is (kd-tree-2).
    #[default]
    ByCorner,
}

/// Boxes in the cells of an implicit kd-tree.
#[derive(Clone, Debug)]
pub struct LinearKdTree {
    splits: bool,
    unique: Unique,
    raster: Raster,
    elements: Vec<Element>,
    /// Records by task, before they are sorted.
    made: Vec<Vec<Record>>,
    /// Where each task writes in each part of the sorted array.
    offsets: Vec<u32>,
    records: Vec<Record>,
}

impl Default for LinearKdTree {
    fn default() -> Self {
        Self {
            splits: true,
            unique: Unique::ByCorner,
            raster: Raster::default(),
            elements: Vec::new(),
            made: Vec::new(),
            offsets: Vec::new(),
            records: Vec::new(),
        }
    }
}

impl LinearKdTree {
    /// The paper's kd-tree-2: unique pairs.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The paper's kd-tree-1: the sweep takes a pair as often as it meets it. Doubles are
    /// sorted out at the end.
    #[must_use]
    pub fn with_duplicates() -> Self {
        Self {
            unique: Unique::BySorting,
            ..Self::default()
        }
    }

    /// Leaves boxes whole: what section 4 of the paper improves on.
    #[must_use]
    pub fn without_splitting(self) -> Self {
        Self {
            splits: false,
            ..self
        }
    }

    /// What the sweep selects among `boxes`; calls `each` for every pair of boxes of
    /// different owners as often as it is selected, from any thread.
    ///
    /// # Errors
    /// [`SearchError`] if a box cannot be searched, or too many lie in one place.
    pub fn select(
        &mut self,
        boxes: &BoxSet,
        each: &(dyn Fn(Pair) + Sync),
    ) -> Result<Selection, SearchError> {
        self.build(boxes)?;
        let tasks = self.records.len().div_ceil(RECORDS_PER_TASK);
        let met = AtomicU64::new(0);
        let pairs = (0..tasks)
            .into_par_iter()
            .map(|task| {
                let mut selected = 0;
                self.sweep(task, &met, |a, b, _| {
                    if self.elements[a as usize].owner != self.elements[b as usize].owner {
                        selected += 1;
                        each(Pair::new(a, b));
                    }
                });
                selected
            })
            .sum();
        self.check(&met)?;
        let smallest = (self.raster.edge / f64::from(1_u32 << BITS)).powi(3);
        let volume = |record: &Record| record.code.volume() as f64 * smallest;
        Ok(Selection {
            sub_elements: self.records.len(),
            cell_volume: self.records.iter().map(volume).sum(),
            pairs,
        })
    }

    /// Steps 1 to 3.
    fn build(&mut self, boxes: &BoxSet) -> Result<(), SearchError> {
        let extent = boxes.extent()?;
        self.raster = if boxes.is_empty() {
            Raster::default()
        } else {
            Raster::new(extent.low.as_dvec3(), extent.high.as_dvec3())
        };
        self.elements.resize(boxes.len(), Element::default());
        let tasks = boxes.len().div_ceil(BOXES_PER_TASK);
        self.made.resize_with(tasks, Vec::new);
        let (raster, splits) = (self.raster, self.splits);
        self.elements
            .par_chunks_mut(BOXES_PER_TASK)
            .zip(&mut self.made)
            .enumerate()
            .for_each(|(task, (elements, records))| {
                records.clear();
                for (element, index) in elements.iter_mut().zip(task * BOXES_PER_TASK..) {
                    *element = Element {
                        low: boxes.low(index).to_array(),
                        owner: boxes.owner(index),
                        high: boxes.high(index).to_array(),
                    };
                    let cells = CellBox {
                        low: raster.cell(corner(element.low)),
                        high: raster.cell(corner(element.high)),
                    };
                    let pieces = if splits {
                        Pieces::split(&cells)
                    } else {
                        Pieces::whole(&cells)
                    };
                    let element = index as u32;
                    let codes = pieces.codes().iter();
                    records.extend(codes.map(|&code| Record { code, element }));
                }
            });
        sort::sort(&self.made, &mut self.offsets, &mut self.records);
        // Before anything is written down: a heap would make pairs until the memory is full.
        let cells = self.records.chunk_by(|one, other| one.code == other.code);
        let comparisons: u64 = cells.map(|cell| (cell.len() as u64).pow(2)).sum();
        if comparisons > MAX_COMPARISONS {
            return Err(self.crowded());
        }
        Ok(())
    }

    /// Step 4: calls `meet` with two boxes and the smaller of the cells where they met.
    #[inline]
    fn sweep(&self, task: usize, met: &AtomicU64, mut meet: impl FnMut(u32, u32, Code)) {
        let start = task * RECORDS_PER_TASK;
        let end = (start + RECORDS_PER_TASK).min(self.records.len());
        let mut behind_us = 0;
        for at in start..end {
            let own = self.records[at];
            let mut next = at + 1;
            while let Some(other) = self.records.get(next)
                && own.code.is_prefix_of(other.code)
            {
                meet(own.element, other.element, other.code);
                next += 1;
            }
            behind_us += (next - at - 1) as u64;
            if behind_us > MAX_COMPARISONS >> 10 {
                let all = met.fetch_add(behind_us, Ordering::Relaxed) + behind_us;
                behind_us = 0;
                if all > MAX_COMPARISONS {
                    return;
                }
            }
        }
        met.fetch_add(behind_us, Ordering::Relaxed);
    }

    /// Refuses what could not be swept to the end.
    fn check(&self, met: &AtomicU64) -> Result<(), SearchError> {
        if met.load(Ordering::Relaxed) > MAX_COMPARISONS {
            return Err(self.crowded());
        }
        Ok(())
    }

    /// What to say of the fullest cell.
    fn crowded(&self) -> SearchError {
        let cells = self.records.chunk_by(|one, other| one.code == other.code);
        let fullest = cells.max_by_key(|cell| cell.len()).unwrap_or_default();
        let sphere = fullest.first().map_or(0, |record| record.element);
        let element = &self.elements[sphere as usize];
        let sides = [0, 1, 2].map(|k| element.high[k] - element.low[k]);
        SearchError::TooCrowded {
            sphere,
            spheres: fullest.len() as u32,
            reach: sides.into_iter().fold(0.0, f32::max),
        }
    }

    /// Whether the lower corner of the intersection of two boxes is in a cell.
    #[inline]
    fn is_corner_in(&self, a: &Element, b: &Element, cell: Code) -> bool {
        let corner = corner([0, 1, 2].map(|k| a.low[k].max(b.low[k])));
        cell.holds(self.raster.cell(corner))
    }
}

fn corner(coordinates: [f32; 3]) -> DVec3 {
    DVec3::from_array(coordinates.map(f64::from))
}

impl BoxSearch for LinearKdTree {
    fn name(&self) -> &'static str {
        match self.unique {
            Unique::BySorting => "kd-tree-1",
            Unique::ByCorner => "kd-tree-2",
        }
    }

    fn find_box_pairs(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        let start = Instant::now();
        self.build(boxes)?;
        let built = Instant::now();
        let met = AtomicU64::new(0);
        let lists = pairs.start(self.records.len().div_ceil(RECORDS_PER_TASK));
        let by_corner = self.unique == Unique::ByCorner;
        lists.par_iter_mut().enumerate().for_each(|(task, list)| {
            self.sweep(task, &met, |a, b, cell| {
                let (one, other) = (&self.elements[a as usize], &self.elements[b as usize]);
                if one.overlaps(other) && (!by_corner || self.is_corner_in(one, other, cell)) {
                    list.push(Pair::new(a, b));
                }
            });
        });
        if let Err(error) = self.check(&met) {
            pairs.clear();
            return Err(error);
        }
        if !by_corner {
            pairs.sort_and_dedup();
        }
        Ok(SearchTimes {
            build: built - start,
            walk: built.elapsed(),
        })
    }
}
