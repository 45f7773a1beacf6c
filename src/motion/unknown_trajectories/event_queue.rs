//! The queue of candidate events.
//!
//! Each bound has at most two relevant events: its next crossing, and its *end*, which is a reset
//! or a collision. Section 3.3 omits candidates later than the reset; this queue also omits those
//! later than any end of either bound, since the end finds them again. So each bound has two slots,
//! and a new event replaces the old one in its slot. The only outdated events are collisions whose
//! other bound has ended before; they trigger a new search when they are due. By the published
//! rules, collisions of bounds are in a [`CandidateTree`](super::candidate_tree::CandidateTree)
//! instead.
//!
//! The queue is an indexed heap with four children per node.

use super::grid_hierarchy::Crossing;

/// Kind of an event.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum EventKind {
    /// The bound enters or leaves a cell.
    Crossing(Crossing),
    /// The bound has grown to the size of its cell.
    Reset,
    /// The bound collides with the wall of this index.
    WallCollision(u32),
    /// The bound collides with that of sphere `other`, whose end had this version.
    Collision { other: u32, other_version: u32 },
}

/// A candidate event of a sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    /// Time, s.
    pub(super) time: f64,
    pub(super) sphere: u32,
    pub(super) kind: EventKind,
}

/// The slot for crossings of a sphere, or the slot for its end.
fn slot(sphere: u32, is_crossing: bool) -> u32 {
    2 * sphere + u32::from(is_crossing)
}

/// Children per node.
const CHILDREN: usize = 4;

/// Heap position of a slot that is not in the heap.
const NOT_QUEUED: u32 = u32::MAX;

#[derive(Clone, Copy, Debug)]
struct Node {
    time: f64,
    slot: u32,
}

impl Node {
    /// Orders by time, then by slot for determinism.
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        self.time < other.time || (self.time == other.time && self.slot < other.slot)
    }
}

/// Events in order of time.
#[derive(Clone, Debug)]
pub(super) struct EventQueue {
    heap: Vec<Node>,
    /// Heap position of each slot.
    positions: Vec<u32>,
    events: Vec<Event>,
}

impl EventQueue {
    /// An empty queue for this number of spheres.
    pub(super) fn new(spheres: usize) -> Self {
        let never = Event {
            time: f64::INFINITY,
            sphere: 0,
            kind: EventKind::Reset,
        };
        Self {
            heap: Vec::with_capacity(2 * spheres),
            positions: vec![NOT_QUEUED; 2 * spheres],
            events: vec![never; 2 * spheres],
        }
    }

    /// The first event.
    pub(super) fn first(&self) -> Option<&Event> {
        let node = self.heap.first()?;
        Some(&self.events[node.slot as usize])
    }

    /// Queues an event and replaces the previous one in its slot.
    pub(super) fn set(&mut self, event: Event) {
        let slot = slot(event.sphere, matches!(event.kind, EventKind::Crossing(_)));
        self.events[slot as usize] = event;
        let node = Node {
            time: event.time,
            slot,
        };
        let at = self.positions[slot as usize];
        if at == NOT_QUEUED {
            self.heap.push(node);
            self.sift_up(self.heap.len() - 1, node);
        } else {
            self.sift(at as usize, node);
        }
    }

    /// Removes the next crossing of a sphere, or its end.
    pub(super) fn clear(&mut self, sphere: u32, is_crossing: bool) {
        let slot = slot(sphere, is_crossing) as usize;
        let at = std::mem::replace(&mut self.positions[slot], NOT_QUEUED);
        if at == NOT_QUEUED {
            return;
        }
        let at = at as usize;
        if let Some(last) = self.heap.pop()
            && at < self.heap.len()
        {
            self.sift(at, last);
        }
    }

    /// Inserts a node at or below or above the free position `at`.
    fn sift(&mut self, at: usize, node: Node) {
        if at > 0 && node.is_before(&self.heap[(at - 1) / CHILDREN]) {
            self.sift_up(at, node);
        } else {
            self.sift_down(at, node);
        }
    }

    fn sift_up(&mut self, mut at: usize, node: Node) {
        while at > 0 {
            let parent = (at - 1) / CHILDREN;
            if !node.is_before(&self.heap[parent]) {
                break;
            }
            self.put(at, self.heap[parent]);
            at = parent;
        }
        self.put(at, node);
    }

    fn sift_down(&mut self, mut at: usize, node: Node) {
        loop {
            let first = CHILDREN * at + 1;
            let last = (first + CHILDREN).min(self.heap.len());
            let (mut min, mut to) = (node, at);
            for child in first..last {
                if self.heap[child].is_before(&min) {
                    (min, to) = (self.heap[child], child);
                }
            }
            if to == at {
                break;
            }
            self.put(at, min);
            at = to;
        }
        self.put(at, node);
    }

    #[inline]
    fn put(&mut self, at: usize, node: Node) {
        self.heap[at] = node;
        self.positions[node.slot as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    #[test]
    fn events_are_ordered_by_time_after_replacements() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for spheres in [1, 2, 7, 100] {
            let mut queue = EventQueue::new(spheres as usize);
            let mut expected = vec![None; 2 * spheres as usize];
            for _ in 0..2000 {
                let sphere = random.random_range(0..spheres);
                let is_crossing = random.random::<bool>();
                let slot = slot(sphere, is_crossing) as usize;
                if random.random_range(0..4) == 0 {
                    queue.clear(sphere, is_crossing);
                    expected[slot] = None;
                } else {
                    // Few distinct times, so that many are equal.
                    let time = f64::from(random.random_range(0..50_u32));
                    queue.set(Event {
                        time,
                        sphere,
                        kind: if is_crossing {
                            EventKind::Crossing(Crossing::default())
                        } else {
                            EventKind::Reset
                        },
                    });
                    expected[slot] = Some(time);
                }
                let times = expected.iter().flatten().copied();
                let first = times.reduce(f64::min);
                assert_eq!(queue.first().map(|event| event.time), first);
            }
            let mut last = f64::NEG_INFINITY;
            while let Some(&event) = queue.first() {
                assert!(event.time >= last);
                last = event.time;
                queue.clear(event.sphere, matches!(event.kind, EventKind::Crossing(_)));
            }
        }
    }
}
