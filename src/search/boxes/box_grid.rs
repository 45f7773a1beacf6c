//! Grid of boxes that remembers what is close.

use std::time::Instant;

use glam::Vec3;
use rayon::prelude::*;

use super::cell_search::{CellSearch, few};
use super::pair_sort::{PairSort, reserve, slab_size};
use super::{BoxSearch, BoxSet, MAX_COORDINATE_NM};
use crate::search::content_id::ContentId;
use crate::search::uniform_grid::simd::Instructions;
use crate::search::{GridCell, PairBuffer, SearchError, SearchTimes};

/// Number of boxes that are checked for changes at a time.
const BLOCK: usize = 256;

/// Smallest number of blocks per task.
const BLOCKS_PER_TASK: usize = 16;

/// Number of calls that a skin should last.
const SKIN_CALLS: f32 = 8.0;

/// Range of widths of a skin, relative to the median of the longest sides.
const MIN_SKIN: f32 = 0.01;
const MAX_SKIN: f32 = 0.1;

/// Candidates that late changes may add, relative to those of the last search.
const MAX_ADDED: f32 = 0.25;

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
/// # Memory
///
/// The grid remembers the boxes of the last call. If none has changed, its result stands, and
/// nothing is written if the buffer still holds it; if the set has not been touched, that costs
/// nothing. Otherwise, where boxes move slowly, they are
/// searched with a *skin* around each. The pairs that are found that way are candidates for as long
/// as all boxes stay within their skins, and only they are compared. The few boxes that leave
/// their skins first get new ones, and are compared with all others.
///
/// The skin is several times as wide as the boxes moved since the last call, within limits. It is
/// omitted if it would last for less than two calls. The pairs do not depend on what is
/// remembered, but their order does: with a skin they are sorted, without one they are in the order
/// of the cells. Sorting them always would take almost as long as a search.
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
    search: CellSearch,
    sort: PairSort,
    /// Pairs in the order of the cells.
    found: PairBuffer,
    is_forgetful: bool,
    /// The result of the last call; none if nothing is remembered.
    result: Option<ContentId>,
    /// The boxes of the last call, and their id.
    last: BoxSet,
    last_content: Option<ContentId>,
    /// Width of the skin, nm; none if there are no candidates.
    skin: Option<f32>,
    /// The boxes with their skins.
    fat: BoxSet,
    /// All pairs of `fat`, and some more, sorted like a result.
    candidates: PairBuffer,
    /// Number of candidates that may still be added before the next search.
    spare: usize,
    /// Boxes that have left their skins.
    strays: Vec<u32>,
    /// Which blocks have such boxes.
    has_strays: Vec<bool>,
    /// Largest motion in each block, nm.
    motions: Vec<f32>,
    /// Corners for the comparison of candidates.
    corners: Corners,
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
        let mut grid = Self::default();
        grid.search.instructions = Instructions::Scalar;
        grid
    }

    /// A grid that remembers nothing, for boxes that always change much.
    #[must_use]
    pub fn forgetful() -> Self {
        Self {
            is_forgetful: true,
            ..Self::default()
        }
    }

    /// The cell around `point` (nm) in the last search, for drawing; `None` if there was none.
    #[must_use]
    pub fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.search.cell_around(point)
    }

    /// Forgets everything, for instance to measure a search from scratch.
    pub fn forget(&mut self) {
        self.result = None;
        self.skin = None;
    }

    /// Writes the pairs of the boxes `some`, in ascending order, with all boxes into `pairs`. What
    /// is remembered stays.
    pub(crate) fn find_pairs_of(&mut self, some: &[u32], boxes: &BoxSet, pairs: &mut PairBuffer) {
        let lists = pairs.start(some.len());
        self.search.compare_with_all(boxes, some, lists);
    }

    /// Writes the pairs of `boxes` into `pairs`; returns when the candidates were known.
    fn update(&mut self, boxes: &BoxSet, pairs: &mut PairBuffer) -> Result<Instant, SearchError> {
        if self.is_forgetful {
            return self.search.find(boxes, pairs);
        }
        let is_known = boxes.content.is_some() && boxes.content == self.last_content;
        let is_comparable = self.result.is_some() && (is_known || self.last.owner == boxes.owner);
        let is_same = is_comparable && (is_known || is_same(&self.last, boxes));
        self.last_content = None;
        if let Some(result) = self.result
            && is_same
            && pairs.holds(result)
        {
            self.last_content = boxes.content;
            return Ok(Instant::now());
        }
        let keep = is_comparable && self.skin.is_some() && (is_same || self.renew_strays(boxes));
        let mut known = Instant::now();
        if !keep {
            self.skin = is_comparable.then(|| self.skin_for(boxes)).flatten();
            if let Some(skin) = self.skin {
                boxes.extent()?;
                self.fat.set_wider(boxes, skin);
                match self.search.find(&self.fat, &mut self.found) {
                    Ok(built) => {
                        known = built;
                        self.sort
                            .sort(boxes.len(), &self.found, &mut self.candidates);
                        self.spare = (MAX_ADDED * self.candidates.len() as f32) as usize;
                    }
                    // There may be space for the boxes without skins.
                    Err(_) => self.skin = None,
                }
            }
        }
        if self.skin.is_some() {
            self.corners.set(boxes);
            self.corners.filter(&self.candidates, pairs);
        } else {
            known = self.search.find(boxes, pairs)?;
        }
        if !is_same {
            self.last.copy_from(boxes);
        }
        let result = ContentId::new();
        pairs.set_result(result);
        self.result = Some(result);
        self.last_content = boxes.content;
        Ok(known)
    }

    /// The width of the skin for boxes that moved as they did since the last call, nm; none if it
    /// would last for less than two calls.
    fn skin_for(&mut self, boxes: &BoxSet) -> Option<f32> {
        let blocks = (0..boxes.len().div_ceil(BLOCK)).into_par_iter();
        let last = &self.last;
        blocks
            .with_min_len(BLOCKS_PER_TASK)
            .map(|block| block_motion(last, boxes, block))
            .collect_into_vec(&mut self.motions);
        // Few boxes may be faster.
        let rank = few(boxes.len()).min(self.motions.len().saturating_sub(1) / 8);
        let motion = match self.motions.len() {
            0 => 0.0,
            _ => {
                let descending = |a: &f32, b: &f32| b.total_cmp(a);
                *self.motions.select_nth_unstable_by(rank, descending).1
            }
        };
        let [min, max] = [MIN_SKIN, MAX_SKIN].map(|factor| factor * boxes.median_side());
        (2.0 * motion <= max).then(|| (SKIN_CALLS * motion).clamp(min, max))
    }

    /// Gives new skins to the boxes that have left theirs; returns false if they are too many, or
    /// a box is invalid.
    fn renew_strays(&mut self, boxes: &BoxSet) -> bool {
        let blocks = (0..boxes.len().div_ceil(BLOCK)).into_par_iter();
        let fat = &self.fat;
        blocks
            .with_min_len(BLOCKS_PER_TASK)
            .map(|block| !block_is_inside(fat, boxes, block))
            .collect_into_vec(&mut self.has_strays);
        self.strays.clear();
        let limit = few(boxes.len());
        for (block, _) in
            (self.has_strays.iter().enumerate()).filter(|(_, has_strays)| **has_strays)
        {
            for index in block * BLOCK..((block + 1) * BLOCK).min(boxes.len()) {
                if is_inside(&self.fat, boxes, index) {
                    continue;
                }
                if self.strays.len() == limit || !boxes.is_valid(index) {
                    return false;
                }
                self.strays.push(index as u32);
            }
        }
        let Some(skin) = self.skin else {
            return false;
        };
        for &stray in &self.strays {
            self.fat.widen(boxes, stray as usize, skin);
        }
        let lists = self.found.start(self.strays.len());
        self.search.compare_with_all(&self.fat, &self.strays, lists);
        let slab = slab_size(boxes.len());
        let lists = self.candidates.lists_mut();
        for pair in self.found.iter() {
            let list = &mut lists[pair.a as usize / slab];
            if let Err(at) = list.binary_search(&pair) {
                if self.spare == 0 {
                    return false;
                }
                self.spare -= 1;
                list.insert(at, pair);
            }
        }
        true
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
        let start = Instant::now();
        let updated = self.update(boxes, pairs);
        if updated.is_err() {
            self.forget();
            pairs.clear();
        }
        Ok(SearchTimes::of(start, updated?))
    }
}

/// The corners of each box in one place, since candidates are accessed in random order.
///
/// Two boxes overlap if no number of one's `own` is larger than that of the other's `opposite`.
#[derive(Clone, Debug, Default)]
struct Corners {
    /// The lower corner, the upper corner negated, and zeros.
    own: Vec<[f32; 8]>,
    /// The upper corner, the lower corner negated, and zeros.
    opposite: Vec<[f32; 8]>,
}

impl Corners {
    fn set(&mut self, boxes: &BoxSet) {
        let count = boxes.len();
        self.own.resize(count, [0.0; 8]);
        self.opposite.resize(count, [0.0; 8]);
        let own = self.own.par_chunks_mut(BLOCK);
        let blocks = own.zip(self.opposite.par_chunks_mut(BLOCK)).enumerate();
        blocks
            .with_min_len(BLOCKS_PER_TASK)
            .for_each(|(block, (own, opposite))| {
                let (low, high) = columns(boxes, block);
                for k in 0..own.len() {
                    let (l, h) = (low.map(|axis| axis[k]), high.map(|axis| axis[k]));
                    own[k] = [l[0], l[1], l[2], -h[0], -h[1], -h[2], 0.0, 0.0];
                    opposite[k] = [h[0], h[1], h[2], -l[0], -l[1], -l[2], 0.0, 0.0];
                }
            });
    }

    /// Writes the `candidates` that overlap into `pairs`, in order.
    fn filter(&self, candidates: &PairBuffer, pairs: &mut PairBuffer) {
        let candidates = candidates.lists();
        let lists = pairs.start(candidates.len()).par_iter_mut();
        lists.zip(candidates).for_each(|(list, candidates)| {
            reserve(list, candidates.len());
            list.extend_from_slice(candidates);
            let mut kept = 0;
            // Branch-free, since the outcome is unpredictable.
            for &pair in candidates {
                list[kept] = pair;
                let own = &self.own[pair.a as usize];
                let opposite = &self.opposite[pair.b as usize];
                let overlap = (0..8).fold(true, |overlap, k| overlap & (own[k] <= opposite[k]));
                kept += usize::from(overlap);
            }
            list.truncate(kept);
        });
    }
}

/// The columns of a block of boxes.
#[inline(always)]
fn columns(boxes: &BoxSet, block: usize) -> ([&[f32]; 3], [&[f32]; 3]) {
    let range = block * BLOCK..((block + 1) * BLOCK).min(boxes.len());
    let low = boxes.low.each_ref().map(|axis| &axis[range.clone()]);
    let high = boxes.high.each_ref().map(|axis| &axis[range.clone()]);
    (low, high)
}

/// Whether as many boxes have the same corners.
fn is_same(last: &BoxSet, boxes: &BoxSet) -> bool {
    let blocks = (0..boxes.len().div_ceil(BLOCK)).into_par_iter();
    blocks.with_min_len(BLOCKS_PER_TASK).all(|block| {
        let ((last_low, last_high), (low, high)) = (columns(last, block), columns(boxes, block));
        let axes = (last_low.iter().zip(low)).chain(last_high.iter().zip(high));
        let mut different = 0;
        for (last, now) in axes {
            for (last, now) in last.iter().zip(now) {
                different |= last.to_bits() ^ now.to_bits();
            }
        }
        different == 0
    })
}

/// Largest motion of a face in a block, nm.
fn block_motion(last: &BoxSet, boxes: &BoxSet, block: usize) -> f32 {
    let ((last_low, last_high), (low, high)) = (columns(last, block), columns(boxes, block));
    let axes = (last_low.iter().zip(low)).chain(last_high.iter().zip(high));
    let mut largest = 0;
    for (last, now) in axes {
        for (last, now) in last.iter().zip(now) {
            // Bits of numbers that are not negative sort like them, and their maximum is
            // vectorized. Those of NaN are larger.
            largest = largest.max((last - now).abs().to_bits().cast_signed());
        }
    }
    f32::from_bits(largest.cast_unsigned())
}

/// Whether all boxes of a block are valid and within their skins.
fn block_is_inside(fat: &BoxSet, boxes: &BoxSet, block: usize) -> bool {
    let ((fat_low, fat_high), (low, high)) = (columns(fat, block), columns(boxes, block));
    let mut inside = true;
    for axis in 0..3 {
        let count = low[axis].len();
        let [fat_low, fat_high] = [&fat_low[axis][..count], &fat_high[axis][..count]];
        let [low, high] = [&low[axis][..count], &high[axis][..count]];
        let mut outside = 0_u32;
        for k in 0..count {
            // False for NaN.
            let is_inside = (fat_low[k] <= low[k]) & (low[k] <= high[k]) & (high[k] <= fat_high[k]);
            outside |= u32::from(!is_inside);
        }
        inside &= outside == 0;
    }
    inside
}

/// Whether a box is valid and within its skin.
fn is_inside(fat: &BoxSet, boxes: &BoxSet, index: usize) -> bool {
    let (low, high) = (boxes.low(index), boxes.high(index));
    let inside = fat.low(index).cmple(low) & low.cmple(high) & high.cmple(fat.high(index));
    inside.all()
}

/// The corners of a box with a skin, within the range of coordinates.
#[inline]
fn wider(low: f32, high: f32, skin: f32) -> (f32, f32) {
    (
        (low - skin).max(-MAX_COORDINATE_NM),
        (high + skin).min(MAX_COORDINATE_NM),
    )
}

impl BoxSet {
    /// Replaces the boxes by `boxes`, keeping the memory.
    fn copy_from(&mut self, boxes: &Self) {
        for (target, source) in self.low.iter_mut().zip(&boxes.low) {
            target.clone_from(source);
        }
        for (target, source) in self.high.iter_mut().zip(&boxes.high) {
            target.clone_from(source);
        }
        self.owner.clone_from(&boxes.owner);
    }

    /// Replaces the boxes by `boxes` with a skin, nm.
    fn set_wider(&mut self, boxes: &Self, skin: f32) {
        self.copy_from(boxes);
        for (low, high) in self.low.iter_mut().zip(&mut self.high) {
            let corners = low.par_iter_mut().zip(high);
            corners
                .with_min_len(BLOCK * BLOCKS_PER_TASK)
                .for_each(|(low, high)| (*low, *high) = wider(*low, *high, skin));
        }
    }

    /// Replaces a box by that of `boxes` with a skin, nm.
    fn widen(&mut self, boxes: &Self, index: usize, skin: f32) {
        for axis in 0..3 {
            let (low, high) = (boxes.low[axis][index], boxes.high[axis][index]);
            (self.low[axis][index], self.high[axis][index]) = wider(low, high, skin);
        }
    }
}
