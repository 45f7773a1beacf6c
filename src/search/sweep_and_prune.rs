//! Sweep and prune: sorted end points along the axes, updated from step to step.

use std::time::{Duration, Instant};

use super::boxes::{BoxSearch, BoxSet};
use super::{MAX_STORED_PAIRS, Pair, PairBuffer, SearchError, SearchTimes};

/// Mean number of swaps per box after which the end points are sorted from scratch: the boxes
/// have changed completely.
const MAX_SWAPS_PER_BOX: u64 = 4096;

/// An end point of a box on an axis.
#[derive(Clone, Copy, Debug, Default)]
struct EndPoint {
    /// Coordinate, nm.
    at: f32,
    /// Twice the index of the box, plus one for the upper end.
    end: u32,
}

impl EndPoint {
    fn index(self) -> usize {
        (self.end >> 1) as usize
    }

    fn is_upper(self) -> bool {
        self.end & 1 != 0
    }

    /// Whether it sorts before `other`. Lower ends come first, since touching boxes overlap.
    fn is_before(self, other: Self) -> bool {
        self.at < other.at || (self.at == other.at && !self.is_upper() && other.is_upper())
    }
}

/// Incremental sweep and prune, sequential as in the paper. Pairs are sorted by index.
///
/// The baseline of Poirrier (2009), after Baraff (1992) and I-COLLIDE (Cohen, Lin, Manocha,
/// Ponamgi 1995):
///
/// 1. each box has two end points on each axis, and each axis a list of all end points;
/// 2. at first, and whenever the number or the owners of the boxes change, the lists are
///    sorted, and one axis is swept with the set of open boxes;
/// 3. afterwards the lists are nearly sorted, and *insertion sort* updates them;
/// 4. where it swaps a lower with an upper end point, two boxes start or cease to overlap along
///    that axis: they become a pair if they overlap along all axes, or cease to be one.
///
/// The cost is the number of swaps: very low at rest, and very high if everything moves, since
/// boxes that are far apart in space pass each other along a single axis. It grows with the square
/// of the number of boxes then, so the lists are sorted from scratch after 4,096 swaps per box,
/// except with [`without_rebuilds`](Self::without_rebuilds).
#[derive(Clone, Debug, Default)]
pub struct SweepAndPrune {
    /// Whether the lists are updated however far the boxes have moved.
    always_update: bool,
    /// Number of swaps in the last search.
    swaps: u64,
    axes: [Vec<EndPoint>; 3],
    /// Partners of each box with larger indices.
    partners: Vec<Vec<u32>>,
    /// Owners of the boxes of the last search.
    owners: Vec<u32>,
    /// Boxes that are open at the current position of the sweep.
    open: Vec<u32>,
    /// Position of each open box in `open`.
    place: Vec<u32>,
    pairs: u64,
}

impl SweepAndPrune {
    /// An empty search.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Updates the lists by insertion sort however far the boxes have moved, like the paper's
    /// baseline. The pairs are the same.
    #[must_use]
    pub fn without_rebuilds(mut self) -> Self {
        self.always_update = true;
        self
    }

    /// Number of swaps of end points in the last search; including those before the lists were
    /// sorted from scratch instead.
    #[must_use]
    pub fn swaps(&self) -> u64 {
        self.swaps
    }

    /// Step 2.
    fn rebuild(&mut self, boxes: &BoxSet) {
        for (k, axis) in self.axes.iter_mut().enumerate() {
            axis.clear();
            axis.extend((0..2 * boxes.len() as u32).map(|end| end_point(boxes, k, end)));
            axis.sort_unstable_by(|a, b| {
                // Zeros of both signs are equal.
                let order = (a.at + 0.0).total_cmp(&(b.at + 0.0));
                order.then((a.is_upper(), a.end).cmp(&(b.is_upper(), b.end)))
            });
        }
        self.owners.clone_from(&boxes.owner);
        self.partners.resize_with(boxes.len(), Vec::new);
        for partners in &mut self.partners {
            partners.clear();
        }
        self.place.resize(boxes.len(), 0);
        self.pairs = 0;
        self.sweep(boxes);
    }

    /// Sweeps the axis along which the boxes are spread out most.
    fn sweep(&mut self, boxes: &BoxSet) {
        let spread = |axis: &Vec<EndPoint>| match (axis.first(), axis.last()) {
            (Some(first), Some(last)) => last.at - first.at,
            _ => 0.0,
        };
        let widest = (0..3).fold(0, |widest, k| {
            let wider = spread(&self.axes[k]) > spread(&self.axes[widest]);
            if wider { k } else { widest }
        });
        self.open.clear();
        for end in &self.axes[widest] {
            let index = end.index() as u32;
            if end.is_upper() {
                let place = self.place[end.index()];
                self.open.swap_remove(place as usize);
                if let Some(&moved) = self.open.get(place as usize) {
                    self.place[moved as usize] = place;
                }
                continue;
            }
            for &other in &self.open {
                if boxes.overlap(index as usize, other as usize) {
                    let pair = Pair::new(index, other);
                    self.partners[pair.a as usize].push(pair.b);
                    self.pairs += 1;
                }
            }
            if self.pairs > MAX_STORED_PAIRS {
                return;
            }
            self.place[end.index()] = self.open.len() as u32;
            self.open.push(index);
        }
    }

    /// The error for the box with the most partners.
    fn too_crowded(&self, boxes: &BoxSet) -> SearchError {
        let partners = self.partners.iter().map(Vec::len).enumerate();
        let (index, count) = partners.max_by_key(|(_, count)| *count).unwrap_or_default();
        SearchError::TooCrowded {
            sphere: index as u32,
            spheres: count as u32,
            reach: (boxes.high(index) - boxes.low(index)).max_element(),
        }
    }

    /// Steps 3 and 4; false if the boxes have moved too far.
    fn update(&mut self, boxes: &BoxSet) -> bool {
        let max_swaps = match self.always_update {
            true => u64::MAX,
            false => MAX_SWAPS_PER_BOX * boxes.len() as u64,
        };
        for (k, axis) in self.axes.iter_mut().enumerate() {
            for end in axis.iter_mut() {
                *end = end_point(boxes, k, end.end);
            }
            for sorted in 1..axis.len() {
                let end = axis[sorted];
                let mut at = sorted;
                while at > 0 && end.is_before(axis[at - 1]) {
                    let passed = axis[at - 1];
                    axis[at] = passed;
                    at -= 1;
                    if end.is_upper() != passed.is_upper() {
                        let previous = self.pairs;
                        self.pairs =
                            update_pair(&mut self.partners, boxes, [end, passed], previous);
                    }
                }
                axis[at] = end;
                self.swaps += (sorted - at) as u64;
                if self.swaps > max_swaps || self.pairs > MAX_STORED_PAIRS {
                    return false;
                }
            }
        }
        true
    }
}

/// Updates the pairs after `end` has moved down past `passed`. Returns the number of pairs.
fn update_pair(
    partners: &mut [Vec<u32>],
    boxes: &BoxSet,
    [end, passed]: [EndPoint; 2],
    pairs: u64,
) -> u64 {
    let (one, other) = (end.index(), passed.index());
    if one == other {
        return pairs;
    }
    let pair = Pair::new(one as u32, other as u32);
    let list = &mut partners[pair.a as usize];
    let place = list.iter().position(|partner| *partner == pair.b);
    match (end.is_upper(), place) {
        // An upper end moves below a lower one: the boxes no longer overlap.
        (true, Some(place)) => {
            list.swap_remove(place);
            pairs - 1
        }
        (false, None) if boxes.overlap(one, other) => {
            list.push(pair.b);
            pairs + 1
        }
        _ => pairs,
    }
}

fn end_point(boxes: &BoxSet, axis: usize, end: u32) -> EndPoint {
    let index = (end >> 1) as usize;
    let corners = if end & 1 == 0 {
        &boxes.low
    } else {
        &boxes.high
    };
    EndPoint {
        at: corners[axis][index],
        end,
    }
}

impl BoxSearch for SweepAndPrune {
    fn name(&self) -> &'static str {
        "sweep-and-prune"
    }

    fn find_box_pairs(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        boxes.extent()?;
        let start = Instant::now();
        self.swaps = 0;
        if self.owners != boxes.owner || !self.update(boxes) {
            self.rebuild(boxes);
        }
        if self.pairs > MAX_STORED_PAIRS {
            // The lists are incomplete: sort them next time.
            self.owners.clear();
            return Err(self.too_crowded(boxes));
        }
        let list = &mut pairs.start(1)[0];
        for (a, partners) in self.partners.iter_mut().enumerate() {
            // The order must not depend on the previous steps.
            partners.sort_unstable();
            list.extend(partners.iter().map(|&b| Pair { a: a as u32, b }));
        }
        Ok(SearchTimes {
            build: Duration::ZERO,
            walk: start.elapsed(),
        })
    }
}
