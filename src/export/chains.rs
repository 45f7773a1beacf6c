//! Which chain letter and residue numbers a molecule gets in a PDB file.
//!
//! A PDB file tells chains apart by one character, so there are 62 of them
//! (`A`–`Z`, `a`–`z`, `0`–`9`), each with residue numbers up to 2,436,111 in
//! hybrid-36. No two molecules ever share a residue, that is a letter and number:
//!
//! 1. Molecules of one residue (lipids, waters, ions) share a chain and are
//!    numbered one after the other; when its numbers are used up, the next letter
//!    follows.
//! 2. A chain of a molecule of several residues keeps its letter and numbers if no
//!    molecule before it has the letter;
//! 3. otherwise it takes the first letter that no molecule has and keeps its numbers;
//! 4. when every letter is taken, it goes behind the lowest-numbered chain, with
//!    its numbers shifted as a block. Split by residue, such molecules are still
//!    apart; split by chain, they are not.

use crate::hybrid36;

/// The chain letters, in the order in which they are given away.
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Lowest and highest residue number that four columns hold.
const LOWEST_NUMBER: i64 = -999;
const HIGHEST_NUMBER: i64 = hybrid36::max_value(4);

/// Where a chain of a molecule goes: its letter, and what is added to its numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ChainSlot {
    pub(super) letter: u8,
    pub(super) shift: i64,
}

/// Gives away chain letters and residue numbers, each once.
pub(super) struct ChainBook {
    /// Highest number in use for each letter; a letter without one is free.
    highest: [Option<i64>; LETTERS.len()],
    /// Index of the letter that molecules of one residue currently share.
    singles: Option<usize>,
}

impl ChainBook {
    pub(super) fn new() -> Self {
        Self {
            highest: [None; LETTERS.len()],
            singles: None,
        }
    }

    /// Letter and number of the next molecule of one residue, whose chain was
    /// called `name`; nothing if all are used up.
    pub(super) fn single(&mut self, name: &str) -> Option<(u8, i64)> {
        let index = match self.singles {
            Some(index) if self.next_number(index) <= HIGHEST_NUMBER => index,
            _ => self.free_letter(name).unwrap_or_else(|| self.emptiest()),
        };
        let number = self.next_number(index);
        if number > HIGHEST_NUMBER {
            return None;
        }
        self.singles = Some(index);
        self.highest[index] = Some(number);
        Some((LETTERS[index], number))
    }

    /// Place for a chain called `name` with residue numbers `low..=high`; nothing
    /// if there is none left.
    pub(super) fn chain(&mut self, name: &str, low: i64, high: i64) -> Option<ChainSlot> {
        let (index, shift) = match self.free_letter(name) {
            Some(index) if low >= LOWEST_NUMBER && high <= HIGHEST_NUMBER => (index, 0),
            Some(index) => (index, 1 - low),
            None => {
                let index = self.emptiest();
                (index, self.next_number(index) - low)
            }
        };
        if high + shift > HIGHEST_NUMBER {
            return None;
        }
        self.highest[index] = Some(high + shift);
        Some(ChainSlot {
            letter: LETTERS[index],
            shift,
        })
    }

    /// The letter `name` if it is one and is free, else the first free letter.
    fn free_letter(&self, name: &str) -> Option<usize> {
        let own = match name.as_bytes() {
            [letter] => LETTERS.iter().position(|l| l == letter),
            _ => None,
        };
        own.filter(|&index| self.highest[index].is_none())
            .or_else(|| self.highest.iter().position(Option::is_none))
    }

    /// The letter with the most numbers left.
    fn emptiest(&self) -> usize {
        (0..LETTERS.len())
            .min_by_key(|&index| self.highest[index])
            .unwrap_or(0)
    }

    /// The number after the highest one in use, at least 1.
    fn next_number(&self, index: usize) -> i64 {
        self.highest[index].map_or(1, |highest| highest + 1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn molecules_of_one_residue_are_numbered_along_one_chain() {
        let mut book = ChainBook::new();
        assert_eq!(book.single("L"), Some((b'L', 1)));
        assert_eq!(book.single("M"), Some((b'L', 2)));
        assert_eq!(book.single(""), Some((b'L', 3)));
    }

    #[test]
    fn the_next_letter_follows_when_the_numbers_of_a_chain_are_used_up() {
        let mut book = ChainBook::new();
        for number in 1..=HIGHEST_NUMBER {
            assert_eq!(book.single(""), Some((b'A', number)));
        }
        assert_eq!(book.single(""), Some((b'B', 1)));
    }

    #[test]
    fn a_chain_keeps_its_letter_and_numbers_while_they_are_free() {
        let mut book = ChainBook::new();
        let slot = |letter, shift| Some(ChainSlot { letter, shift });
        assert_eq!(book.chain("H", -3, 120), slot(b'H', 0));
        assert_eq!(book.chain("H", -3, 120), slot(b'A', 0));
        assert_eq!(book.chain("AA", 5, 9), slot(b'B', 0));
        assert_eq!(book.chain("", 5, 9), slot(b'C', 0));
        assert_eq!(book.single("H"), Some((b'D', 1)));
    }

    #[test]
    fn no_residue_is_given_away_twice() {
        let mut book = ChainBook::new();
        let mut seen = std::collections::HashSet::new();
        for k in 0..2_000 {
            if k % 3 == 0 {
                assert!(seen.insert(book.single("A").unwrap()));
                continue;
            }
            let low = [-30, 1, 500][k % 3];
            let high = low + 40;
            let slot = book.chain("A", low, high).unwrap();
            for number in low..=high {
                assert!(seen.insert((slot.letter, number + slot.shift)));
            }
        }
    }

    #[test]
    fn numbers_outside_the_columns_are_shifted_or_refused() {
        let mut book = ChainBook::new();
        let far = book.chain("A", 3_000_000, 3_000_010).unwrap();
        assert_eq!((far.letter, 3_000_000 + far.shift), (b'A', 1));
        let low = book.chain("B", -5_000, 10).unwrap();
        assert_eq!((low.letter, -5_000 + low.shift), (b'B', 1));
        assert_eq!(book.chain("C", 0, 3_000_000), None);
        assert_eq!(
            book.chain("C", i64::from(i32::MIN), i64::from(i32::MAX)),
            None
        );
    }

    #[test]
    fn a_full_book_refuses() {
        let mut book = ChainBook::new();
        for _ in 0..LETTERS.len() {
            assert!(book.chain("", 1, HIGHEST_NUMBER).is_some());
        }
        assert_eq!(book.chain("", 1, 1), None);
        assert_eq!(book.single(""), None);
    }
}
