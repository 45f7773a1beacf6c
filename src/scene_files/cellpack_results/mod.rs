//! Results of cellPACK: spheres and transforms of ingredients, ångström.
//!
//! # Frames
//!
//! A sphere of an ingredient at p is at R p + t. With `source.pdb`, atoms of the structure file are
//! moved to the frame of the spheres first: to their unweighted mean if `transform.center` is set,
//! and by `transform.translate`.
//!
//! # Writing
//!
//! - Spheres are in the body frame of a kind: balls of coarse molecules, the atoms of small ones,
//!   k-means proxies of large ones.
//! - The structure file that a kind names becomes `source.pdb`, with the translation from its frame
//!   to the body frame.
//! - Rotations are 4×4 matrices (rows), because programs do not agree on the order of quaternions.
//! - The last group of a kind is its place: `surface`, `outer_leaflet` and `inner_leaflet` are
//!   surface n of the compartment that the groups before it name, `interior` is interior −n, and
//!   all others are `cytoplasme`, 0. The groups themselves are in our own keys, which cellPACK
//!   ignores.
//!
//! # Reading
//!
//! Matrices or quaternions, and the keys of older versions (`exteriorRecipe`, `NAME_surfaceRecipe`,
//! `NAME_innerRecipe`). A structure file is loaded if it is found and, for files of ours, has the
//! atoms of the template; else the spheres of the deepest level make a coarse molecule. Curves are
//! not read.

mod document;
mod read;
mod write;

pub(super) use read::read;
pub(super) use write::write;

/// Where in a compartment a kind is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Region {
    Surface,
    Interior,
}

impl Region {
    /// The region that the name of a group means.
    fn of_group(name: &str) -> Option<Self> {
        match name {
            "surface" | "outer_leaflet" | "inner_leaflet" => Some(Self::Surface),
            "interior" => Some(Self::Interior),
            _ => None,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Surface => "surface",
            Self::Interior => "interior",
        }
    }
}
