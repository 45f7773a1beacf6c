//! Molecules at rest: body-frame templates, elements, readers and writers of structure files.

mod element;
mod template;

pub use element::Element;
pub use template::{Atom, MoleculeTemplate, Residue, TemplateError};
