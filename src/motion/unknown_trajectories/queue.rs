//! The queue of candidate events.
//!
//! Each bound has two events at most that count: its next crossing, and what ends it: it is
//! reset, or collides. Section 3.3 leaves out candidates later than the reset; here those
//! later than any end of either bound are left out too, since they would be found anew
//! then. So each bound has two slots, and a new event takes the place of the old one: the
//! queue never holds what is void, but for collisions whose other bound has had another end
//! before. Those are a reason to look for the next one, when their time has come.
//!
//! The queue is a heap of slots with four children to a node, which knows where each slot
//! is.

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A bound enters or leaves a subspace.
    Crossing,
    /// A bound is as large as its subspace.
    Resetting,
    /// A bound collides with a wall, whose index is in place of the other sphere's.
    AtWall,
    /// Two bounds collide.
    Colliding,
}

/// A candidate event of a sphere.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Event {
    /// When, s.
    pub(super) time: f64,
    pub(super) kind: Kind,
    pub(super) sphere: u32,
    /// The other sphere, or the wall, or the crossing.
    pub(super) other: u32,
    /// The number that the other sphere's end had when this was planned.
    pub(super) other_ticket: u32,
}

impl Event {
    fn slot(&self) -> Slot {
        Slot::new(self.sphere, self.kind == Kind::Crossing)
    }
}

/// A place for an event: two for each sphere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Slot(u32);

impl Slot {
    /// The slot for crossings of a sphere, or that for its end.
    pub(super) fn new(sphere: u32, is_crossing: bool) -> Self {
        Self(2 * sphere + u32::from(is_crossing))
    }
}

/// Children of a node.
const CHILDREN: usize = 4;

/// Place of a slot that is not in the heap.
const NOWHERE: u32 = u32::MAX;

/// A node of the heap.
#[derive(Clone, Copy, Debug)]
struct Node {
    time: f64,
    slot: u32,
}

impl Node {
    /// Slots of the same time have an order as well, so that all runs are the same.
    #[inline]
    fn is_before(&self, other: &Self) -> bool {
        self.time < other.time || (self.time == other.time && self.slot < other.slot)
    }
}

/// Events in the order of time.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    heap: Vec<Node>,
    /// Where in the heap each slot is.
    places: Vec<u32>,
    events: Vec<Event>,
}

impl Queue {
    /// A queue for so many spheres, in which nothing waits.
    pub(super) fn new(spheres: usize) -> Self {
        let never = Event {
            time: f64::INFINITY,
            kind: Kind::Crossing,
            sphere: 0,
            other: 0,
            other_ticket: 0,
        };
        Self {
            heap: Vec::with_capacity(2 * spheres),
            places: vec![NOWHERE; 2 * spheres],
            events: vec![never; 2 * spheres],
        }
    }

    /// The first event.
    pub(super) fn first(&self) -> Option<&Event> {
        let node = self.heap.first()?;
        Some(&self.events[node.slot as usize])
    }

    /// Queues an event in place of what its slot held.
    pub(super) fn set(&mut self, event: Event) {
        let Slot(slot) = event.slot();
        self.events[slot as usize] = event;
        let node = Node {
            time: event.time,
            slot,
        };
        let at = self.places[slot as usize];
        if at == NOWHERE {
            self.heap.push(node);
            self.raise(self.heap.len() - 1, node);
        } else {
            self.settle(at as usize, node);
        }
    }

    /// Empties a slot.
    pub(super) fn clear(&mut self, slot: Slot) {
        let at = std::mem::replace(&mut self.places[slot.0 as usize], NOWHERE);
        if at == NOWHERE {
            return;
        }
        let at = at as usize;
        if let Some(last) = self.heap.pop()
            && at < self.heap.len()
        {
            self.settle(at, last);
        }
    }

    /// Puts a node where it belongs, from a place that is free for it.
    fn settle(&mut self, at: usize, node: Node) {
        if at > 0 && node.is_before(&self.heap[(at - 1) / CHILDREN]) {
            self.raise(at, node);
        } else {
            self.lower(at, node);
        }
    }

    fn raise(&mut self, mut at: usize, node: Node) {
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

    fn lower(&mut self, mut at: usize, node: Node) {
        loop {
            let first = CHILDREN * at + 1;
            let last = (first + CHILDREN).min(self.heap.len());
            let mut least = node;
            let mut to = at;
            for child in first..last {
                if self.heap[child].is_before(&least) {
                    (least, to) = (self.heap[child], child);
                }
            }
            if to == at {
                break;
            }
            self.put(at, least);
            at = to;
        }
        self.put(at, node);
    }

    #[inline]
    fn put(&mut self, at: usize, node: Node) {
        self.heap[at] = node;
        self.places[node.slot as usize] = at as u32;
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    #[test]
    fn events_come_in_the_order_of_time_however_they_were_replaced() {
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for spheres in [1, 2, 7, 100] {
            let mut queue = Queue::new(spheres as usize);
            let mut expected = vec![None; 2 * spheres as usize];
            for _ in 0..2000 {
                let sphere = random.random_range(0..spheres);
                let is_crossing = random.random::<bool>();
                let slot = Slot::new(sphere, is_crossing);
                if random.random_range(0..4) == 0 {
                    queue.clear(slot);
                    expected[slot.0 as usize] = None;
                } else {
                    // Few times, so that many are the same.
                    let time = f64::from(random.random_range(0..50_u32));
                    queue.set(Event {
                        time,
                        kind: if is_crossing {
                            Kind::Crossing
                        } else {
                            Kind::Resetting
                        },
                        sphere,
                        other: 0,
                        other_ticket: 0,
                    });
                    expected[slot.0 as usize] = Some(time);
                }
                let times = expected.iter().flatten().copied();
                let first = times.reduce(f64::min);
                assert_eq!(queue.first().map(|event| event.time), first);
            }
            let mut last = f64::NEG_INFINITY;
            while let Some(&event) = queue.first() {
                assert!(event.time >= last);
                last = event.time;
                queue.clear(event.slot());
            }
        }
    }
}
