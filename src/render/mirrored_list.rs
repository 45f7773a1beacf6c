//! [`MirroredList`]: a list that a GPU buffer mirrors.

use std::ops::{Deref, Range};

use bytemuck::Pod;

/// Maximum number of equal elements between two changed ones that are written together: each write
/// has a cost of its own.
const MAX_GAP: usize = 8;

/// Maximum number of ranges. More are merged into one.
const MAX_RANGES: usize = 256;

/// A list that is filled again each frame, and the ranges in which its copy on the GPU is outdated.
/// What is the same as before need not be written.
#[derive(Clone, Debug)]
pub(crate) struct MirroredList<T> {
    /// The content, then what remains of longer contents.
    elements: Vec<T>,
    length: usize,
    /// Ranges of elements that have changed since the last write.
    outdated: Vec<Range<usize>>,
}

impl<T> Default for MirroredList<T> {
    fn default() -> Self {
        Self {
            elements: Vec::new(),
            length: 0,
            outdated: Vec::new(),
        }
    }
}

impl<T> Deref for MirroredList<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.elements[..self.length]
    }
}

impl<T: Pod> MirroredList<T> {
    /// Begins again with an empty list.
    pub fn restart(&mut self) {
        self.length = 0;
    }

    pub fn push(&mut self, element: T) {
        let index = self.length;
        self.length += 1;
        match self.elements.get_mut(index) {
            Some(old) if bytemuck::bytes_of(old) == bytemuck::bytes_of(&element) => return,
            Some(old) => *old = element,
            None => self.elements.push(element),
        }
        match self.outdated.last_mut() {
            Some(last) if last.start <= index && index <= last.end + MAX_GAP => {
                last.end = last.end.max(index + 1);
            }
            _ => self.outdated.push(index..index + 1),
        }
        if self.outdated.len() > MAX_RANGES {
            let start = self.outdated.iter().map(|range| range.start).min();
            let end = self.outdated.iter().map(|range| range.end).max();
            self.outdated.clear();
            self.outdated
                .extend(start.zip(end).map(|(start, end)| start..end));
        }
    }

    pub fn extend_from_slice(&mut self, elements: &[T]) {
        elements.iter().for_each(|&element| self.push(element));
    }

    /// Passes the changed elements to `write`, with the index of the first; all elements if the
    /// buffer is new. After that, the buffer is up to date.
    pub fn write_changes(&mut self, buffer_is_new: bool, mut write: impl FnMut(usize, &[T])) {
        // Beyond the end, nothing is known about the buffer.
        self.elements.truncate(self.length);
        if buffer_is_new {
            self.outdated.clear();
            self.outdated.push(0..self.length);
        }
        for range in self.outdated.drain(..) {
            let range = range.start..range.end.min(self.length);
            if !range.is_empty() {
                write(range.start, &self.elements[range]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Fills the list, applies its writes to `buffer`, and returns the number of written elements.
    fn update(list: &mut MirroredList<u32>, buffer: &mut Vec<u32>, content: &[u32]) -> usize {
        list.restart();
        list.extend_from_slice(content);
        let is_new = buffer.len() < content.len();
        if is_new {
            *buffer = vec![u32::MAX; content.len() + content.len() / 2];
        }
        let mut written = 0;
        list.write_changes(is_new, |first, elements| {
            buffer[first..][..elements.len()].copy_from_slice(elements);
            written += elements.len();
        });
        written
    }

    #[test]
    fn only_changed_elements_are_written() {
        let (mut list, mut buffer) = (MirroredList::default(), Vec::new());
        let mut content: Vec<u32> = (0..1000).collect();
        assert_eq!(update(&mut list, &mut buffer, &content), 1000);
        assert_eq!(update(&mut list, &mut buffer, &content), 0);
        content[500] = 7;
        assert_eq!(update(&mut list, &mut buffer, &content), 1);
        content[0] = 7;
        content[900] = 7;
        assert_eq!(update(&mut list, &mut buffer, &content), 2);
        // Close changes are one write, and many changes are few writes.
        content[100] = 7;
        content[103] = 7;
        assert_eq!(update(&mut list, &mut buffer, &content), 4);
        assert_eq!(buffer[..1000], content);
    }

    #[test]
    fn many_separate_changes_are_merged() {
        let mut list = MirroredList::default();
        list.extend_from_slice(&[0_u32; 100_000]);
        list.write_changes(true, |_, _| {});
        list.restart();
        (0..100_000).for_each(|k| list.push(u32::from(k % 20 == 0)));
        let mut writes = 0;
        list.write_changes(false, |_, _| writes += 1);
        assert!((1..=MAX_RANGES).contains(&writes), "{writes}");
    }

    proptest! {
        #[test]
        fn the_buffer_equals_the_list(
            contents in prop::collection::vec(prop::collection::vec(0_u32..3, 0..60), 1..20),
            skipped in prop::collection::vec(any::<bool>(), 20),
        ) {
            let (mut list, mut buffer) = (MirroredList::default(), Vec::new());
            for (content, skipped) in contents.iter().zip(skipped) {
                if skipped {
                    // Filled, but not written in this frame.
                    list.restart();
                    list.extend_from_slice(content);
                } else {
                    update(&mut list, &mut buffer, content);
                    prop_assert_eq!(&buffer[..content.len()], &content[..]);
                    prop_assert_eq!(&list[..], &content[..]);
                }
            }
        }
    }
}
