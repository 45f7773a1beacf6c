//! [`SphereTree`]: the collision shape of a cellPACK ingredient, from a `.sph` file.

use glam::Vec3;
use thiserror::Error;

use crate::plain_text::{parse, quote, split_line, words};

/// Spheres that cover a molecule more closely from level to level.
///
/// The file has the smallest and the largest radius, the number of levels, and for each level
/// the number of spheres and a line `x y z r` for each of them. `#` starts a comment. Indices of
/// child spheres may follow the radius; they and the two radii at the start are not used, as in
/// cellPACK, which tests only the deepest level.
///
/// ```
/// use bevy_rapier_molecules::recipe::SphereTree;
/// use glam::Vec3;
///
/// let text = "# rmin rmax\n1.5 3\n# levels\n2\n1\n0 0 0 3 0 1\n2\n-1.5 0 0 1.5\n1.5 0 0 1.5\n";
/// let tree = SphereTree::read(text.as_bytes(), "two.sph")?;
/// assert_eq!(tree.levels().len(), 2);
/// assert_eq!(tree.spheres()[1], (Vec3::new(1.5, 0.0, 0.0), 1.5));
/// # Ok::<(), bevy_rapier_molecules::recipe::SphereTreeError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct SphereTree {
    /// Not empty, and no level is.
    levels: Vec<Vec<(Vec3, f32)>>,
}

/// A sphere tree file is invalid.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{file}, line {line}: {problem}")]
pub struct SphereTreeError {
    /// The file name given to the reader.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub problem: SphereTreeProblem,
}

/// What is wrong with a sphere tree file.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SphereTreeProblem {
    /// The file ends too early.
    #[error("the file ends, expected {expected}; it may be truncated")]
    FileEnds {
        /// What comes next in a complete file.
        expected: &'static str,
    },
    /// A line has something else than it should.
    #[error("found '{found}', expected {expected}")]
    Unexpected {
        /// The line.
        found: String,
        /// What it should have.
        expected: &'static str,
    },
    /// A value is not a finite number.
    #[error("{what} is '{found}', expected a finite number")]
    InvalidNumber {
        /// The value.
        what: &'static str,
        /// Its text.
        found: String,
    },
    /// A sphere has a negative radius.
    #[error("the radius is {radius}, expected zero or more")]
    NegativeRadius {
        /// The radius, in the unit of the file.
        radius: f32,
    },
}

impl SphereTree {
    /// Reads a file. `source` is its name in errors.
    ///
    /// # Errors
    /// [`SphereTreeError`] with file, line and cause.
    pub fn read(bytes: &[u8], source: &str) -> Result<Self, SphereTreeError> {
        let mut lines = Lines {
            rest: bytes,
            taken: 0,
        };
        read_levels(&mut lines)
            .map(|levels| Self { levels })
            .map_err(|problem| SphereTreeError {
                file: source.to_owned(),
                // An empty file ends in its first line.
                line: lines.taken.max(1),
                problem,
            })
    }

    /// Centers and radii of the spheres of each level, in the unit and frame of the file, from
    /// the coarsest level. There is at least one level, and each has a sphere.
    #[must_use]
    pub fn levels(&self) -> &[Vec<(Vec3, f32)>] {
        &self.levels
    }

    /// Centers and radii of the spheres of the deepest level, in the unit and frame of the file:
    /// the collision shape.
    #[must_use]
    pub fn spheres(&self) -> &[(Vec3, f32)] {
        self.levels.last().map_or(&[], Vec::as_slice)
    }
}

fn read_levels(lines: &mut Lines<'_>) -> Result<Vec<Vec<(Vec3, f32)>>, SphereTreeProblem> {
    let expected = "the smallest and the largest radius";
    let line = lines.required(expected)?;
    let &[smallest, largest] = line.as_slice() else {
        return Err(unexpected(&line, expected));
    };
    number(smallest, "the smallest radius")?;
    number(largest, "the largest radius")?;
    // Counts are not trusted: memory grows with the lines that are there.
    let mut levels = Vec::new();
    for _ in 0..lines.count("the number of levels, at least 1")? {
        let mut spheres = Vec::new();
        for _ in 0..lines.count("the number of spheres of a level, at least 1")? {
            spheres.push(read_sphere(lines)?);
        }
        levels.push(spheres);
    }
    match lines.next() {
        None => Ok(levels),
        Some(line) => {
            let expected = "the end of the file after the spheres of the deepest level";
            Err(unexpected(&line, expected))
        }
    }
}

fn read_sphere(lines: &mut Lines<'_>) -> Result<(Vec3, f32), SphereTreeProblem> {
    let expected = "the center and the radius of a sphere";
    let line = lines.required(expected)?;
    // Indices of child spheres follow.
    let &[x, y, z, radius, ..] = line.as_slice() else {
        return Err(unexpected(&line, expected));
    };
    let center = Vec3::new(number(x, "x")?, number(y, "y")?, number(z, "z")?);
    let radius = number(radius, "the radius")?;
    if radius < 0.0 {
        return Err(SphereTreeProblem::NegativeRadius { radius });
    }
    Ok((center, radius))
}

fn number(word: &[u8], what: &'static str) -> Result<f32, SphereTreeProblem> {
    let value = parse(word).filter(|value: &f32| value.is_finite());
    value.ok_or_else(|| SphereTreeProblem::InvalidNumber {
        what,
        found: quote(word),
    })
}

fn unexpected(line: &[&[u8]], expected: &'static str) -> SphereTreeProblem {
    SphereTreeProblem::Unexpected {
        found: quote(&line.join(&b' ')),
        expected,
    }
}

/// Lines that have words.
struct Lines<'a> {
    rest: &'a [u8],
    /// Number of lines taken.
    taken: usize,
}

impl<'a> Lines<'a> {
    /// The words of the next line that has any besides a comment.
    fn next(&mut self) -> Option<Vec<&'a [u8]>> {
        while let Some((line, rest)) = split_line(self.rest) {
            self.rest = rest;
            self.taken += 1;
            let text = line.split(|&byte| byte == b'#').next()?;
            let words: Vec<&[u8]> = words(text).collect();
            if !words.is_empty() {
                return Some(words);
            }
        }
        None
    }

    fn required(&mut self, expected: &'static str) -> Result<Vec<&'a [u8]>, SphereTreeProblem> {
        let ends = SphereTreeProblem::FileEnds { expected };
        self.next().ok_or(ends)
    }

    /// A number, at least 1, alone in its line.
    fn count(&mut self, expected: &'static str) -> Result<u64, SphereTreeProblem> {
        let line = self.required(expected)?;
        let count = match line.as_slice() {
            &[word] => parse(word).filter(|&count| count > 0),
            _ => None,
        };
        count.ok_or_else(|| unexpected(&line, expected))
    }
}
