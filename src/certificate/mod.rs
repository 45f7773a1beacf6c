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
mod tiles;

pub use report::{Certificate, MemberCheck};

use std::path::Path;

use thiserror::Error;

use self::members::check_members;
use self::piercing::find_pierced;
use self::tiles::{MAX_TILE_ATOMS, Tile, tiles};
use crate::contact::clashes::{ClashError, ClashOptions, count_close_pairs, find_clashes};
use crate::crowd::Crowd;
use crate::molecule::{
    LoadOptions, MoleculeError, MoleculeTemplate, SplitBy, Structure, load_structure,
};
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;
use crate::search::SearchError;

/// Default of [`CertificateOptions::tolerance`], nm.
pub const DEFAULT_TOLERANCE_NM: f32 = 0.2;

/// Distance (nm) within which molecules of different tiles are compared, at least.
const TILE_REACH_NM: f64 = 0.5;

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
    /// The instances of the file cannot be read.
    #[cfg(feature = "recipe")]
    #[error(transparent)]
    Scene(#[from] crate::scene_files::SceneReadError),
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
    /// Which member of the crowd each molecule of the file is. Default: in the order of the crowd.
    pub order: Option<&'a [u32]>,
}

impl Default for CertificateOptions<'_> {
    fn default() -> Self {
        Self {
            tolerance: DEFAULT_TOLERANCE_NM,
            crowd: None,
            order: None,
        }
    }
}

/// Reads a file and checks its molecules.
///
/// The molecules of the file are those of [`SplitBy::Molecule`], or the instances of a scene. A unit cell with right angles is a
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
    #[cfg(feature = "recipe")]
    if structure.scene_assembly().is_some() {
        let read = crate::scene_files::ReadSceneOptions::default();
        let scene = crate::scene_files::scene_of_structure(&structure, &read)?;
        return certify_scene(&file, &scene, options);
    }
    let parts = structure.split_by(SplitBy::Molecule, &load_options)?;
    let placed: Vec<(&MoleculeTemplate, Pose)> = parts
        .iter()
        .map(|part| (&*part.template, part.pose))
        .collect();
    certify_placed(file, &placed, periodic_box, options)
}

/// As [`certify`], for a scene that was [read](crate::scene_files::read_scene) from `file`.
///
/// # Errors
/// [`CertificateError`] if the scene cannot be checked, or its box is not that of the crowd.
#[cfg(feature = "recipe")]
pub fn certify_scene(
    file: &str,
    scene: &crate::scene_files::Scene,
    options: &CertificateOptions<'_>,
) -> Result<Certificate, CertificateError> {
    check_box(scene.periodic_box, file, options.crowd)?;
    let placed: Vec<(&MoleculeTemplate, Pose)> = scene.instances().collect();
    certify_placed(file.to_owned(), &placed, scene.periodic_box, options)
}

/// Distances and rings.
#[derive(Default)]
struct Checked {
    least_distance: Option<f64>,
    pairs: u64,
    rings: usize,
    pierced: usize,
    first_pierced: Option<[usize; 2]>,
}

fn certify_placed(
    file: String,
    placed: &[(&MoleculeTemplate, Pose)],
    periodic_box: Option<PeriodicBox>,
    options: &CertificateOptions<'_>,
) -> Result<Certificate, CertificateError> {
    let checked = check_all(placed, periodic_box, options.tolerance, MAX_TILE_ATOMS)?;
    let members = options.crowd.map(|crowd| {
        let order = options.order;
        check_members(placed, crowd, order, periodic_box)
    });
    Ok(Certificate {
        file,
        molecules: placed.len(),
        atoms: placed
            .iter()
            .map(|(template, _)| template.atom_count())
            .sum(),
        tolerance_nm: options.tolerance,
        box_nm: periodic_box,
        least_distance_nm: checked.least_distance,
        pairs_below_tolerance: checked.pairs as usize,
        rings: checked.rings,
        rings_pierced: checked.pierced,
        first_pierced: checked.first_pierced,
        members,
    })
}

/// Checks distances and rings, tile by tile if there are many atoms.
fn check_all(
    placed: &[(&MoleculeTemplate, Pose)],
    periodic: Option<PeriodicBox>,
    tolerance: f32,
    max_atoms: usize,
) -> Result<Checked, CertificateError> {
    let clash_options = ClashOptions {
        tolerance: Some(tolerance),
        worst: 0,
        periodic_box: periodic,
    };
    clash_options.check()?;
    // Beyond the tolerance, so that the closest pair is known even if nothing is closer.
    let mut reach = f64::from(tolerance).max(TILE_REACH_NM);
    loop {
        let tiles = tiles(placed, periodic, reach, max_atoms);
        if let [_] = tiles[..] {
            let clashes = find_clashes(placed, &clash_options)?;
            let rings = find_pierced(placed, placed.len(), periodic)?;
            return Ok(Checked {
                least_distance: clashes.closest_nm,
                pairs: clashes.pairs as u64,
                rings: rings.rings,
                pierced: rings.pierced.len(),
                first_pierced: rings.pierced.first().copied(),
            });
        }
        let mut checked = Checked::default();
        for tile in &tiles {
            checked.add(placed, tile, periodic, tolerance)?;
        }
        // A closer pair may be out of reach of each other's tiles.
        if checked.least_distance.is_some_and(|least| least <= reach) {
            return Ok(checked);
        }
        reach *= 8.0;
    }
}

impl Checked {
    /// Adds what is found in a tile.
    fn add(
        &mut self,
        placed: &[(&MoleculeTemplate, Pose)],
        tile: &Tile,
        periodic: Option<PeriodicBox>,
        tolerance: f32,
    ) -> Result<(), CertificateError> {
        let indices = &tile.molecules;
        let parts: Vec<(&MoleculeTemplate, Pose)> = indices
            .iter()
            .map(|&index| placed[index as usize])
            .collect();
        let is_counted = |pair: [u32; 2]| {
            let first = pair.into_iter().min_by_key(|&part| indices[part as usize]);
            first.is_some_and(|part| (part as usize) < tile.own)
        };
        let (pairs, closest) = count_close_pairs(&parts, tolerance, periodic, is_counted)?;
        self.pairs += pairs;
        let distances = [self.least_distance, closest].into_iter().flatten();
        self.least_distance = distances.min_by(f64::total_cmp);
        let rings = find_pierced(&parts, tile.own, periodic)?;
        self.rings += rings.rings;
        self.pierced += rings.pierced.len();
        let pierced = rings.pierced.iter();
        let pierced = pierced.map(|pair| pair.map(|part| indices[part] as usize));
        self.first_pierced = self.first_pierced.into_iter().chain(pierced).min();
        Ok(())
    }
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
    check_box(in_file, file, crowd)?;
    Ok(in_file)
}

/// Checks that the box of a file is that of the crowd.
fn check_box(
    in_file: Option<PeriodicBox>,
    file: &str,
    crowd: Option<&Crowd>,
) -> Result<(), CertificateError> {
    let Some(crowd) = crowd else {
        return Ok(());
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
        Ok(())
    } else {
        Err(CertificateError::OtherBox {
            file: file.to_owned(),
            in_file,
            in_crowd,
        })
    }
}
