//! The impulses of the last substep, found again by their pair of spheres.

use glam::Vec3;

use super::ContactConstraint;
use crate::search::Pair;

/// What a contact carried: the other sphere and the impulses.
#[derive(Clone, Copy, Debug, Default)]
struct Carried {
    other: u32,
    normal: f32,
    friction: Vec3,
}

impl Carried {
    fn of(contact: &ContactConstraint) -> Self {
        Self {
            other: contact.spheres.b,
            normal: contact.normal_impulse,
            friction: contact.friction_impulse,
        }
    }

    fn impulses(&self) -> (f32, Vec3) {
        (self.normal, self.friction)
    }
}

/// Impulses by pair: for each sphere a short list of those with a larger index.
#[derive(Clone, Debug, Default)]
pub(super) struct WarmStart {
    /// First entry of each sphere, and one more.
    starts: Vec<u32>,
    entries: Vec<Carried>,
    /// Impulses of contacts that the engine holds, sorted by key.
    held: Vec<(Pair, Carried)>,
}

impl WarmStart {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.starts.clear();
        self.entries.clear();
        self.held.clear();
    }

    /// Remembers the impulses of `contacts` between `spheres` spheres.
    pub fn remember(&mut self, contacts: &[ContactConstraint], spheres: usize) {
        self.clear();
        let loaded = || {
            let loaded = contacts
                .iter()
                .filter(|contact| contact.normal_impulse > 0.0);
            loaded.filter(|contact| !contact.held)
        };
        let held = contacts.iter().filter(|contact| contact.held);
        self.held
            .extend(held.map(|contact| (contact.spheres, Carried::of(contact))));
        self.held.sort_unstable_by_key(|(key, _)| *key);
        self.starts.resize(spheres + 1, 0);
        for contact in loaded() {
            self.starts[contact.spheres.a as usize] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        // Filled from the back, each start ends up where it belongs.
        self.entries.resize(sum as usize, Carried::default());
        for contact in loaded() {
            let at = &mut self.starts[contact.spheres.a as usize];
            *at -= 1;
            self.entries[*at as usize] = Carried::of(contact);
        }
    }

    /// Impulses that `pair` carried, along and across its normal.
    pub fn of(&self, pair: Pair) -> Option<(f32, Vec3)> {
        let first = pair.a as usize;
        let range = *self.starts.get(first)? as usize..*self.starts.get(first + 1)? as usize;
        self.entries[range]
            .iter()
            .find(|carried| carried.other == pair.b)
            .map(Carried::impulses)
    }

    /// Impulses that a held contact with this key carried.
    pub fn of_held(&self, key: Pair) -> Option<(f32, Vec3)> {
        let at = self.held.binary_search_by_key(&key, |(key, _)| *key).ok()?;
        Some(self.held[at].1.impulses())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn impulses_are_found_again_by_their_pair() {
        let contact = |a, b, normal_impulse| ContactConstraint {
            spheres: Pair { a, b },
            normal_impulse,
            ..ContactConstraint::IDLE
        };
        let mut memory = WarmStart::default();
        assert!(memory.of(Pair { a: 0, b: 1 }).is_none());
        let contacts = [
            contact(2, 5, 1.0),
            contact(0, 1, 2.0),
            contact(2, 3, 3.0),
            contact(1, 4, 0.0),
        ];
        memory.remember(&contacts, 6);
        let normal = |a, b| memory.of(Pair { a, b }).map(|(normal, _)| normal);
        assert_eq!(normal(2, 5), Some(1.0));
        assert_eq!(normal(0, 1), Some(2.0));
        assert_eq!(normal(2, 3), Some(3.0));
        assert_eq!(normal(1, 4), None);
        assert_eq!(normal(5, 6), None);
        assert_eq!(normal(9, 10), None);
    }
}
