//! Misspelled names: the known name that was probably meant.

/// Max number of changed letters of a suggested name.
const MAX_TYPOS: usize = 2;

/// Length of the longest name that is compared, in letters. The time of a comparison is quadratic
/// in it, and names in a file can have any length.
const MAX_LETTERS: usize = 64;

/// The known name that is most like `name`: the one with the fewest changed letters, if there are
/// at most two, or one that begins with `name`. Upper and lower case are the same.
///
/// ```
/// use bevy_rapier_molecules::names::closest_name;
///
/// let known = ["cytosol", "membrane"];
/// assert_eq!(closest_name("Citosol", known).as_deref(), Some("cytosol"));
/// assert_eq!(closest_name("mem", known).as_deref(), Some("membrane"));
/// assert_eq!(closest_name("nucleus", known), None);
/// ```
#[must_use]
pub fn closest_name<'a>(name: &str, names: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let letters = lower_case(name)?;
    let similar = names.into_iter().filter_map(|known| {
        let other = lower_case(known)?;
        let begins = letters.len() > MAX_TYPOS && other.starts_with(&letters);
        let changes = changed_letters(&letters, &other);
        let is_similar = begins || changes <= MAX_TYPOS && changes < other.len();
        is_similar.then_some((changes, known))
    });
    similar.min().map(|(_, known)| known.to_owned())
}

/// The letters of a name that is short enough to be compared.
fn lower_case(name: &str) -> Option<Vec<char>> {
    let letters = name.chars().flat_map(char::to_lowercase);
    let letters: Vec<char> = letters.take(MAX_LETTERS + 1).collect();
    (letters.len() <= MAX_LETTERS).then_some(letters)
}

/// Number of inserted, removed and replaced letters between two words (Levenshtein distance).
fn changed_letters(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, letter) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, other) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(letter != other);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
