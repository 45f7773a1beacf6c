//! Certificates: what a written structure file contains, checked atom by atom.
//!
//! [`certify`] reads a file that [`export`](crate::export) wrote, splits it into its molecules and
//! compares all atoms by a grid search, with the images of a periodic box. It shares neither poses
//! nor search with the relaxer: what it states holds for the atoms in the file, including the
//! rounding of their coordinates. A [`Certificate`] states
//! - the least distance between atoms of different molecules, and the number of pairs closer than
//!   the tolerance,
//! - the number of rings that a bond of another molecule passes through (see [`rings`]),
//! - and with the crowd that was written: whether every molecule is whole and in its place.
//!
//! Coordinates in PDB files, and in mmCIF files by default, have steps of 0.0001 nm, so that a
//! distance changes by up to 0.00018 nm: relax with a tolerance that is larger by that.

mod members;
mod piercing;
mod report;
pub mod rings;

pub use report::{Certificate, MemberCheck};

use std::path::Path;

use thiserror::Error;

use self::members::check_members;
use self::piercing::find_pierced;
use crate::contact::clashes::{ClashError, ClashOptions, find_clashes};
use crate::crowd::Crowd;
use crate::molecule::{
    LoadOptions, MoleculeError, MoleculeTemplate, SplitBy, Structure, load_structure,
};
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;
use crate::search::SearchError;

/// Default of [`CertificateOptions::tolerance`], nm.
pub const DEFAULT_TOLERANCE_NM: f32 = 0.2;

/// Largest difference of an edge in a file from the edge that was written, nm: the last decimal of
/// PDB files.
const EDGE_ROUNDING_NM: f32 = 1.0e-4;

/// Why a file has no certificate.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CertificateError {
    /// The file cannot be read.
    #[error(transparent)]
    Molecule(#[from] MoleculeError),
    /// The tolerance is invalid, or too many atoms lie in one place.
    #[error(transparent)]
    Clash(#[from] ClashError),
    /// The search for rings and bonds failed.
    #[error(transparent)]
    Search(#[from] SearchError),
    /// The unit cell of the file is not a box with right angles.
    #[error("{file}: the unit cell has other angles than 90°, which is not supported")]
    OtherAngles {
        /// The file.
        file: String,
    },
    /// The file and the crowd have different periodic boxes.
    #[error(
        "{file}: the file has {}, but the crowd has {}; export with the box of the crowd",
        describe_box(in_file),
        describe_box(in_crowd)
    )]
    OtherBox {
        /// The file.
        file: String,
        /// The box of the file.
        in_file: Option<PeriodicBox>,
        /// The box of the crowd.
        in_crowd: Option<PeriodicBox>,
    },
}

fn describe_box(periodic: &Option<PeriodicBox>) -> String {
    match periodic.map(|periodic| periodic.size()) {
        Some(size) => format!("a periodic box of {} × {} × {} nm", size.x, size.y, size.z),
        None => "no periodic box".to_owned(),
    }
}

/// Options of [`certify`].
#[derive(Clone, Copy, Debug)]
pub struct CertificateOptions<'a> {
    /// Least allowed distance between atoms of different molecules, nm. Default:
    /// [`DEFAULT_TOLERANCE_NM`].
    pub tolerance: f32,
    /// The crowd that was written: its templates, compartments and placements are compared with
    /// the file, molecule by molecule. Default: none.
    pub crowd: Option<&'a Crowd>,
}

impl Default for CertificateOptions<'_> {
    fn default() -> Self {
        Self {
            tolerance: DEFAULT_TOLERANCE_NM,
            crowd: None,
        }
    }
}

/// Reads a file and checks its molecules.
///
/// The molecules of the file are those of [`SplitBy::Molecule`]. A unit cell with right angles is a
/// periodic box.
///
/// ```
/// use bevy_rapier_molecules::certificate::{CertificateOptions, certify};
///
/// let options = CertificateOptions { tolerance: 0.1, ..CertificateOptions::default() };
/// let certificate = certify("assets/molecules/1gzx.pdb", &options)?;
/// assert!(certificate.is_clean(), "{certificate}");
/// # Ok::<(), bevy_rapier_molecules::certificate::CertificateError>(())
/// ```
///
/// # Errors
/// [`CertificateError`] if the file cannot be read or checked, or its box is not that of the crowd.
pub fn certify(
    path: impl AsRef<Path>,
    options: &CertificateOptions<'_>,
) -> Result<Certificate, CertificateError> {
    let path = path.as_ref();
    let file = path.to_string_lossy().into_owned();
    let load_options = LoadOptions {
        waters: true,
        ..LoadOptions::default()
    };
    let structure = load_structure(path, &load_options)?;
    let periodic_box = box_of(&structure, &file, options.crowd)?;
    let parts = structure.split_by(SplitBy::Molecule, &load_options)?;
    let placed: Vec<(&MoleculeTemplate, Pose)> = parts
        .iter()
        .map(|part| (&*part.template, part.pose))
        .collect();
    let clash_options = ClashOptions {
        tolerance: Some(options.tolerance),
        worst: 0,
        periodic_box,
    };
    let clashes = find_clashes(&placed, &clash_options)?;
    let rings = find_pierced(&placed, periodic_box)?;
    Ok(Certificate {
        file,
        molecules: clashes.parts,
        atoms: clashes.atoms,
        tolerance_nm: options.tolerance,
        box_nm: periodic_box,
        least_distance_nm: clashes.closest_nm,
        pairs_below_tolerance: clashes.pairs,
        rings: rings.rings,
        rings_pierced: rings.pierced.len(),
        first_pierced: rings.pierced.first().copied(),
        members: options
            .crowd
            .map(|crowd| check_members(&placed, crowd, periodic_box)),
    })
}

/// The periodic box of a file, which is that of the crowd.
fn box_of(
    structure: &Structure,
    file: &str,
    crowd: Option<&Crowd>,
) -> Result<Option<PeriodicBox>, CertificateError> {
    let cell = structure.unit_cell().filter(|cell| !cell.is_placeholder());
    let in_file = cell.and_then(|cell| cell.orthorhombic());
    if cell.is_some() && in_file.is_none() {
        return Err(CertificateError::OtherAngles {
            file: file.to_owned(),
        });
    }
    let Some(crowd) = crowd else {
        return Ok(in_file);
    };
    let in_crowd = crowd.periodic_box();
    let is_same = match (in_file, in_crowd) {
        (None, None) => true,
        (Some(a), Some(b)) => {
            let rounding = EDGE_ROUNDING_NM + f32::EPSILON * b.size().max_element();
            a.size().abs_diff_eq(b.size(), rounding)
        }
        _ => false,
    };
    if is_same {
        Ok(in_file)
    } else {
        Err(CertificateError::OtherBox {
            file: file.to_owned(),
            in_file,
            in_crowd,
        })
    }
}
