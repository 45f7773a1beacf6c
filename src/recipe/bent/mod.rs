//! Reader of `.bent` files, the input of [bentopy](https://github.com/marrink-lab/bentopy) 1.0.
//!
//! [`BentFile::read`] returns what the file says, in nm and mol/L. It does not open other files.
//!
//! ```
//! use bevy_rapier_molecules::recipe::bent::{BentFile, Quantity};
//!
//! let text = r#"
//! [ space ]
//! dimensions 60, 60, 60   # nm
//! resolution 0.5
//!
//! [ compartments ]
//! cell    as sphere at center with radius 25
//! nucleus as sphere at center with diameter 20
//! cytosol combines cell and not nucleus
//!
//! [ constraints ]
//! upright rotates z
//!
//! [ segments ]
//! ubiquitin:UBQ 1.5mM from "1ubq.pdb" in cytosol, nucleus
//! porin         20    from "2por.pdb" in cytosol satisfies upright
//! "#;
//! let file = BentFile::read(text, "cell.bent")?;
//! assert_eq!(file.segments[0].quantity, Quantity::Molarity(0.0015));
//!
//! let error = BentFile::read(text.replace("cell and", "cel and"), "cell.bent").unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "cell.bent:9:18: expected the id of a compartment, found 'cel'; did you mean 'cell'?"
//! );
//! # Ok::<(), bevy_rapier_molecules::recipe::bent::BentError>(())
//! ```
//!
//! # Syntax
//!
//! A file is a list of sections in any order. `[ space ]` with `dimensions` and `[ segments ]` are
//! required. A section may repeat: entries are appended, and the last value of a setting counts.
//!
//! | section | entries |
//! |---|---|
//! | `[ general ]` | `title "…"`, `seed 7`, `bead-radius 0.2`, `max-tries-mult 1000`, `max-tries-rot-div 100`, `rearrange moment` (`volume`, `bounding-sphere`, `none`) |
//! | `[ space ]` | `dimensions 60, 60, 60`, `resolution 0.5`, `periodic true` |
//! | `[ includes ]` | `"topology.itp"` |
//! | `[ compartments ]` | an id, followed by one of the shapes of [`CompartmentShape`] |
//! | `[ constraints ]` | `upright rotates z`, with any number of axes |
//! | `[ segments ]` | `name:tag 300 from "file.pdb" in a, b satisfies upright`; tag and rules are optional |
//!
//! White space, including line ends, separates words and means nothing else. `#` and `;` start a
//! comment. Upper and lower case differ. Concentrations have the units M, mM, uM or µM, nM and pM,
//! without space before them.
//!
//! # Differences from bentopy
//!
//! - Names may start with `and`, `or` or `not`, as in `organelle`, and like a concentration, as in
//!   `5Mg`.
//! - A compartment may refer to one further down.
//! - Numbers may have a sign everywhere, and end with a point.
//! - An id that is defined twice, a length or distance that is not positive, and expressions nested
//!   deeper than [`MAX_NESTING`] are errors.

mod error;
mod expression;
mod number;
mod parser;
mod references;
mod scanner;
mod syntax_tree;

pub use error::{BentError, BentErrorKind, Location};
pub use expression::Expression;
pub use parser::MAX_NESTING;
pub use syntax_tree::{
    Anchor, Axis, BentFile, Comparison, Compartment, CompartmentShape, Constraint, General, Limit,
    MAX_TAG_LETTERS, Quantity, Rearrange, Segment, Space,
};
