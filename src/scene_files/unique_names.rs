//! [`UniqueNames`]: names that differ, for files and keys.

use std::collections::HashSet;

/// Longest name of a file without extension, bytes.
const MAX_LENGTH: usize = 100;

/// Gives each name once, also if upper and lower case are the same.
#[derive(Default)]
pub(super) struct UniqueNames {
    taken: HashSet<String>,
}

impl UniqueNames {
    /// `name`, or `name_2` and so on if it is taken.
    pub fn take(&mut self, name: &str) -> String {
        let mut unique = name.to_owned();
        let mut number = 1;
        while !self.taken.insert(unique.to_lowercase()) {
            number += 1;
            unique = format!("{name}_{number}");
        }
        unique
    }

    /// As [`take`](Self::take), with letters, digits, `-` and `_` only.
    pub fn take_file(&mut self, name: &str) -> String {
        let is_plain = |c: &char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        let letters = name.chars().take(MAX_LENGTH);
        let plain: String = letters
            .map(|c| if is_plain(&c) { c } else { '_' })
            .collect();
        let is_blank = plain.chars().all(|c| c == '_');
        self.take(if is_blank { "molecule" } else { &plain })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_given_once() {
        let mut names = UniqueNames::default();
        let mut take = |name: &str| names.take_file(name);
        assert_eq!(take("popc"), "popc");
        assert_eq!(take("POPC"), "POPC_2");
        assert_eq!(take("popc"), "popc_3");
        assert_eq!(take("../a b"), "___a_b");
        assert_eq!(take("µ"), "molecule");
        assert_eq!(take(""), "molecule_2");
        assert_eq!(take(&"x".repeat(500)).len(), 100);
    }
}
