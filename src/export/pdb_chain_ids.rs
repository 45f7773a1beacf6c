//! Assigns chain letters and residue numbers to the molecules of a PDB file.
//!
//! PDB identifies chains by one character, so there are 62 (`A`–`Z`, `a`–`z`, `0`–`9`), each with
//! residue numbers up to 2,436,111 in hybrid-36. No two molecules share a letter and number:
//!
//! 1. Molecules with one residue (lipids, waters, ions) share a chain and are numbered
//!    consecutively. When its numbers are used up, they continue with the next letter.
//! 2. A chain of a molecule with several residues keeps its letter and numbers if the letter is
//!    free;
//! 3. otherwise it gets the first free letter and keeps its numbers;
//! 4. if no letter is free, it is appended to the chain with the lowest numbers, with its
//!    numbers offset. Such molecules are distinct if the file is split by residue, but not if it
//!    is split by chain.

use smol_str::SmolStr;

use crate::hybrid36;
use crate::molecule::Residue;

/// The chain letters, in the order of their assignment.
const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/// Lowest and highest residue number that fit into four columns.
const LOWEST_NUMBER: i64 = -999;
const HIGHEST_NUMBER: i64 = hybrid36::max_value(4);

/// Assigns chain letters and residue numbers, each once.
pub(super) struct ChainIds {
    /// Highest assigned number of each letter; `None` if the letter is free.
    highest: [Option<i64>; LETTERS.len()],
    /// Index of the letter that molecules with one residue currently share.
    single_residues: Option<usize>,
}

impl ChainIds {
    pub(super) fn new() -> Self {
        Self {
            highest: [None; LETTERS.len()],
            single_residues: None,
        }
    }

    /// Letter and number of each residue of a molecule; `None` if there are not enough left.
    pub(super) fn assign(&mut self, residues: &[Residue]) -> Option<Vec<(u8, i64)>> {
        if let [residue] = residues {
            return Some(vec![self.assign_residue(&residue.chain)?]);
        }
        let mut ranges: Vec<(&SmolStr, i64, i64)> = Vec::new();
        for residue in residues {
            let number = i64::from(residue.number);
            match ranges.iter_mut().find(|range| range.0 == &residue.chain) {
                Some((_, low, high)) => {
                    *low = number.min(*low);
                    *high = number.max(*high);
                }
                None => ranges.push((&residue.chain, number, number)),
            }
        }
        let ids = ranges
            .iter()
            .map(|&(name, low, high)| self.assign_chain(name, low, high));
        let ids: Vec<(u8, i64)> = ids.collect::<Option<_>>()?;
        let assigned = residues.iter().map(|residue| {
            let chain = ranges.iter().position(|range| range.0 == &residue.chain)?;
            let (letter, offset) = ids[chain];
            Some((letter, i64::from(residue.number) + offset))
        });
        assigned.collect()
    }

    /// Letter and number of the next molecule with one residue, in a chain called `name`; `None`
    /// if all are used up.
    fn assign_residue(&mut self, name: &str) -> Option<(u8, i64)> {
        let index = match self.single_residues {
            Some(index) if self.next_number(index) <= HIGHEST_NUMBER => index,
            _ => self
                .free_letter(name)
                .unwrap_or_else(|| self.least_used_letter()),
        };
        let number = self.next_number(index);
        if number > HIGHEST_NUMBER {
            return None;
        }
        self.single_residues = Some(index);
        self.highest[index] = Some(number);
        Some((LETTERS[index], number))
    }

    /// Letter and offset of a chain called `name` with residue numbers `low..=high`; `None` if
    /// there is no space left.
    fn assign_chain(&mut self, name: &str, low: i64, high: i64) -> Option<(u8, i64)> {
        let (index, offset) = match self.free_letter(name) {
            Some(index) if low >= LOWEST_NUMBER && high <= HIGHEST_NUMBER => (index, 0),
            Some(index) => (index, 1 - low),
            None => {
                let index = self.least_used_letter();
                (index, self.next_number(index) - low)
            }
        };
        if high + offset > HIGHEST_NUMBER {
            return None;
        }
        self.highest[index] = Some(high + offset);
        Some((LETTERS[index], offset))
    }

    /// The letter `name` if it is a free letter, else the first free letter.
    fn free_letter(&self, name: &str) -> Option<usize> {
        let own = match name.as_bytes() {
            [letter] => LETTERS.iter().position(|l| l == letter),
            _ => None,
        };
        own.filter(|&index| self.highest[index].is_none())
            .or_else(|| self.highest.iter().position(Option::is_none))
    }

    /// The letter with the most numbers left.
    fn least_used_letter(&self) -> usize {
        (0..LETTERS.len())
            .min_by_key(|&index| self.highest[index])
            .unwrap_or(0)
    }

    /// The number after the highest assigned one, at least 1.
    fn next_number(&self, index: usize) -> i64 {
        self.highest[index].map_or(1, |highest| highest + 1).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn molecules_with_one_residue_share_a_chain() {
        let mut ids = ChainIds::new();
        assert_eq!(ids.assign_residue("L"), Some((b'L', 1)));
        assert_eq!(ids.assign_residue("M"), Some((b'L', 2)));
        assert_eq!(ids.assign_residue(""), Some((b'L', 3)));
    }

    #[test]
    fn numbering_continues_with_the_next_letter() {
        let mut ids = ChainIds::new();
        for number in 1..=HIGHEST_NUMBER {
            assert_eq!(ids.assign_residue(""), Some((b'A', number)));
        }
        assert_eq!(ids.assign_residue(""), Some((b'B', 1)));
    }

    #[test]
    fn chains_keep_free_letters_and_their_numbers() {
        let mut ids = ChainIds::new();
        assert_eq!(ids.assign_chain("H", -3, 120), Some((b'H', 0)));
        assert_eq!(ids.assign_chain("H", -3, 120), Some((b'A', 0)));
        assert_eq!(ids.assign_chain("AA", 5, 9), Some((b'B', 0)));
        assert_eq!(ids.assign_chain("", 5, 9), Some((b'C', 0)));
        assert_eq!(ids.assign_residue("H"), Some((b'D', 1)));
    }

    #[test]
    fn no_residue_is_assigned_twice() {
        let mut ids = ChainIds::new();
        let mut seen = std::collections::HashSet::new();
        for k in 0..2_000 {
            if k % 3 == 0 {
                assert!(seen.insert(ids.assign_residue("A").unwrap()));
                continue;
            }
            let low = [-30, 1, 500][k % 3];
            let high = low + 40;
            let (letter, offset) = ids.assign_chain("A", low, high).unwrap();
            for number in low..=high {
                assert!(seen.insert((letter, number + offset)));
            }
        }
    }

    #[test]
    fn numbers_outside_the_columns_are_shifted_or_rejected() {
        let mut ids = ChainIds::new();
        let far = ids.assign_chain("A", 3_000_000, 3_000_010);
        assert_eq!(far, Some((b'A', 1 - 3_000_000)));
        assert_eq!(ids.assign_chain("B", -5_000, 10), Some((b'B', 5_001)));
        assert_eq!(ids.assign_chain("C", 0, 3_000_000), None);
        assert_eq!(
            ids.assign_chain("C", i64::from(i32::MIN), i64::from(i32::MAX)),
            None
        );
    }

    #[test]
    fn used_up_letters_are_rejected() {
        let mut ids = ChainIds::new();
        for _ in 0..LETTERS.len() {
            assert!(ids.assign_chain("", 1, HIGHEST_NUMBER).is_some());
        }
        assert_eq!(ids.assign_chain("", 1, 1), None);
        assert_eq!(ids.assign_residue(""), None);
    }
}
