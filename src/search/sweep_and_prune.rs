//! Sweep and prune: sorted end points along the axes, kept from step to step.

use std::time::{Duration, Instant};

use super::boxes::{BoxSearch, BoxSet};
use super::{Pair, PairBuffer, SearchError, SearchTimes};

/// Swaps for each end point, on the average, after which sorting goes on from scratch: the
/// scene is another.
const MOST_SWAPS: u64 = 4096;

/// Most pairs: boxes heaped up in one place would make pairs until the memory is full.
const MOST_PAIRS: u64 = 1 << 28;

/// An end point of a box on an axis.
#[derive(Clone, Copy, Debug, Default)]
struct EndPoint {
    /// Coordinate, nm.
    at: f32,
    /// Twice the box, plus one if it is the upper end.
    end: u32,
}

impl EndPoint {
    fn index(self) -> usize {
        (self.end >> 1) as usize
    }

    fn is_upper(self) -> bool {
        self.end & 1 != 0
    }

    /// Whether it belongs before `other`. Boxes that touch overlap: lower ends first.
    fn is_before(self, other: Self) -> bool {
        self.at < other.at || (self.at == other.at && !self.is_upper() && other.is_upper())
    }
}

/// Incremental sweep and prune, sequential as in the paper. Pairs come in the order of their
/// indices.
///
/// The baseline of Poirrier (2009), after Baraff (1992) and I-COLLIDE (Cohen, Lin,
/// Manocha, Ponamgi 1995):
///
/// 1. each box has two end points on each axis, and each axis a list of all end points;
/// 2. the first time, and whenever the boxes are others, the lists are sorted, and one
///    axis is swept with the boxes that are open there;
/// 3. from then on the lists are nearly sorted, and *insertion sort* finishes them;
/// 4. where it swaps a lower with an upper end point, two boxes begin or cease to overlap
///    along that axis: they become a pair if they now overlap along all axes, or are one
///    no longer.
///
/// Costs as much as moved past each other: next to nothing in a scene at rest, and far
/// too much in one that is all in motion, since along a single axis boxes pass each
/// other that are nowhere near in space.
///
/// ```
/// use bevy_rapier_molecules::search::boxes::{BoxSearch, BoxSet};
/// use bevy_rapier_molecules::search::{PairBuffer, SweepAndPrune};
/// use glam::Vec3;
///
/// let mut search = SweepAndPrune::new();
/// let mut pairs = PairBuffer::new();
/// for step in 0..3 {
///     // One box stands still, the other comes nearer by half a nanometer a step.
///     let mut boxes = BoxSet::new();
///     let near = Vec3::X * (2.0 - 0.5 * step as f32);
///     boxes.push(Vec3::ZERO, Vec3::ONE, 0)?;
///     boxes.push(near, near + Vec3::ONE, 1)?;
///     search.find_box_pairs(&boxes, &mut pairs)?;
///     assert_eq!(pairs.len(), usize::from(step == 2));
/// }
/// // In the last step two end points passed each other.
/// assert_eq!(search.swaps(), 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct SweepAndPrune {
    axes: [Vec<EndPoint>; 3],
    /// For each box its partners with larger indices.
    partners: Vec<Vec<u32>>,
    /// Owners of the boxes of the last search.
    owners: Vec<u32>,
    /// Boxes that are open where the sweep is.
    open: Vec<u32>,
    /// For each open box its place among them.
    place: Vec<u32>,
    swaps: u64,
    pairs: u64,
}

impl SweepAndPrune {
    /// A search that has seen nothing yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Swaps that sorting the end points took in the last search.
    #[must_use]
    pub fn swaps(&self) -> u64 {
        self.swaps
    }

    /// Step 2.
    fn start_afresh(&mut self, boxes: &BoxSet) {
        for (k, axis) in self.axes.iter_mut().enumerate() {
            axis.clear();
            axis.extend((0..2 * boxes.len() as u32).map(|end| end_point(boxes, k, end)));
            let order = |end: &EndPoint| (sortable(end.at), end.is_upper());
            axis.sort_unstable_by_key(|end| (order(end), end.end));
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

    /// Sweeps the axis along which boxes are most spread out.
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
            if self.pairs > MOST_PAIRS {
                return;
            }
            self.place[end.index()] = self.open.len() as u32;
            self.open.push(index);
        }
    }

    /// What to say of the box with most partners.
    fn crowded(&self, boxes: &BoxSet) -> SearchError {
        let partners = self.partners.iter().map(Vec::len).enumerate();
        let (index, count) = partners.max_by_key(|(_, count)| *count).unwrap_or_default();
        SearchError::TooCrowded {
            sphere: index as u32,
            spheres: count as u32,
            reach: (boxes.high(index) - boxes.low(index)).max_element(),
        }
    }

    /// Steps 3 and 4; false if the boxes have moved too much for it.
    fn follow(&mut self, boxes: &BoxSet) -> bool {
        let most = MOST_SWAPS * boxes.len() as u64;
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
                        let before = self.pairs;
                        self.pairs = meet_or_part(&mut self.partners, boxes, [end, passed], before);
                    }
                }
                axis[at] = end;
                self.swaps += (sorted - at) as u64;
                if self.swaps > most || self.pairs > MOST_PAIRS {
                    return false;
                }
            }
        }
        true
    }
}

/// An end moves down past another: two boxes begin or cease to overlap on an axis. Returns
/// how many pairs there are then.
fn meet_or_part(
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
        // An upper end falls below a lower one: they part.
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

/// A number that sorts as `value` does, zeros alike.
fn sortable(value: f32) -> u32 {
    let bits = (value + 0.0).to_bits();
    if bits >> 31 == 0 {
        bits | 1 << 31
    } else {
        !bits
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
        if self.owners != boxes.owner || !self.follow(boxes) {
            self.start_afresh(boxes);
        }
        if self.pairs > MOST_PAIRS {
            // What was sorted is in no state to go on from.
            self.owners.clear();
            return Err(self.crowded(boxes));
        }
        let list = &mut pairs.start(1)[0];
        for (a, partners) in self.partners.iter_mut().enumerate() {
            // What came when is history, and the order must not tell it.
            partners.sort_unstable();
            list.extend(partners.iter().map(|&b| Pair { a: a as u32, b }));
        }
        Ok(SearchTimes {
            build: Duration::ZERO,
            walk: start.elapsed(),
        })
    }
}
