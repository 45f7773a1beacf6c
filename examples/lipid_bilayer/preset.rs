//! Presets: all parameters of the vesicle and the editor, saved as RON files.
//!
//! Missing fields have their defaults. Unknown fields are errors with file, line and column,
//! invalid values are errors with file and name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::certificate::DEFAULT_TOLERANCE_NM;
use bevy_rapier_molecules::force::{Projection, ThesisSteps};
use bevy_rapier_molecules::relax::{CoarseStart, ReactionLaw, RelaxConfig};
use bevy_rapier_molecules::scenes::{FilledSphereConfig, VesicleConfig, VesicleSize, VesicleStart};
use ron::extensions::Extensions;
use ron::ser::PrettyConfig;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::membrane_scene::MembraneScene;
use super::molecule_kind::MoleculeKind;

/// Max tolerance, nm: more than the distance of any overlapping atoms.
pub const MAX_TOLERANCE_NM: f32 = 1.0;

/// Default leeway of the depth of lipids, nm.
const LEEWAY_NM: f32 = 0.3;

/// Default leeway of the tilt of lipids, degrees: that of most lipids in a fluid bilayer.
const TILT_LEEWAY_DEGREES: f32 = 30.0;

/// Max radius, nm: beyond it, the spacing of `f32` exceeds the clearance.
pub const MAX_RADIUS_NM: f32 = 4000.0;

/// Max cell width of the grid, nm.
pub const MAX_CELL_NM: f32 = 100.0;

/// Why a preset cannot be loaded or saved.
#[derive(Debug, Error)]
pub enum PresetError {
    /// The file cannot be read.
    #[error("cannot read '{}': {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The text is not a preset.
    #[error("'{}', line {line}, column {column}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line of the error, from 1.
        line: usize,
        /// Column of the error, from 1.
        column: usize,
        /// The error of the parser.
        message: String,
    },
    /// A value is invalid.
    #[error("{name} must be {allowed}, but is {value}")]
    Value {
        /// Name of the value.
        name: &'static str,
        /// Valid values.
        allowed: String,
        /// The value.
        value: f32,
    },
    /// A value of a file is invalid.
    #[error("'{}': {source}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// The invalid value.
        source: Box<PresetError>,
    },
    /// The grid of all atoms does not find images.
    #[error("cell_width is not supported in the periodic box of a flat patch; remove it")]
    CellsInBox,
    /// A parameter of the law or the clearance is invalid.
    #[error(transparent)]
    Law(#[from] bevy_rapier_molecules::relax::RelaxError),
    /// The file cannot be written.
    #[error("cannot write '{}': {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The error of the system.
        source: io::Error,
    },
    /// The preset cannot be serialized.
    #[error("the preset cannot be serialized: {0}")]
    Text(#[from] ron::Error),
}

/// Names of the response laws.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Law {
    /// The heuristic forces of Pauschenwein (2022).
    Thesis,
    /// Rigid position-based projection.
    #[default]
    Projection,
}

/// What the colors show.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Color {
    /// The element of each atom.
    Element,
    /// A color per molecule.
    Molecule,
    /// Outer or inner leaflet, or both.
    Leaflet,
    /// The species of lipids and the proteins.
    Species,
    /// Green for free molecules, red for overlapping ones.
    #[default]
    Collision,
    /// The deepest overlap of each molecule.
    Penetration,
}

impl Color {
    /// All values, in the order of the menu.
    pub const ALL: [Self; 6] = [
        Self::Collision,
        Self::Penetration,
        Self::Leaflet,
        Self::Species,
        Self::Molecule,
        Self::Element,
    ];
}

/// Level of detail of the molecules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Detail {
    /// Atoms near the camera, blobs far away.
    #[default]
    Auto,
    /// Always atoms.
    Atoms,
    /// Always blobs, spheres that replace a few atoms.
    Blobs,
}

impl Detail {
    /// All values, in the order of the menu.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Atoms, Self::Blobs];
}

/// All parameters.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preset {
    /// A membrane of several species. `None`: a vesicle of one kind of molecule.
    pub membrane: Option<MembraneScene>,
    /// The molecule of the leaflets, without a membrane.
    pub molecule: MoleculeKind,
    /// Molecules of the outer leaflet, without a membrane.
    pub outer: u32,
    /// Molecules of the inner leaflet, without a membrane.
    pub inner: u32,
    /// Molecules anywhere inside the sphere, without a membrane. `None`: they are in leaflets.
    pub inside: Option<u32>,
    /// Radius of the mid-surface without a membrane, or of the sphere, nm.
    pub radius: f32,
    /// Positions of the molecules at the start, without a membrane.
    pub start: VesicleStart,
    /// Seed of the start.
    pub seed: u64,
    /// Atoms closer than this overlap, nm. `None`: atoms overlap if their spheres do.
    pub tolerance: Option<f32>,
    /// Min gap between atoms of different molecules, nm.
    pub clearance: f32,
    /// Max deviation of lipids from their distance to the mid-surface, nm.
    pub leeway: f32,
    /// Max tilt of lipids away from the normal, degrees.
    pub tilt_leeway: f32,
    /// Response of molecules to overlaps.
    pub law: Law,
    /// Step sizes of the thesis's law.
    pub thesis: ThesisSteps,
    /// Step sizes of the projection law.
    pub projection: Projection,
    /// Whether proxies replace the atoms in the first iterations.
    pub coarse_start: bool,
    /// Max number of iterations.
    pub max_iterations: u32,
    pub backend: Backend,
    /// Min cell width of the grid on the CPU, nm. `None`: chosen by the search.
    pub cell_width: Option<f32>,
    /// What the colors show.
    pub color: Color,
    /// Level of detail of the molecules.
    pub detail: Detail,
    /// Number of proxies drawn over each molecule; 0 for none.
    pub proxies: u32,
    /// Whether the front half is hidden to show the inside.
    pub cut_open: bool,
}

impl Default for Preset {
    fn default() -> Self {
        let (vesicle, config) = (VesicleConfig::default(), RelaxConfig::default());
        Self {
            membrane: Some(MembraneScene::default()),
            molecule: MoleculeKind::default(),
            outer: 500,
            inner: 120,
            inside: None,
            radius: 5.2,
            start: vesicle.start,
            seed: vesicle.seed,
            tolerance: Some(DEFAULT_TOLERANCE_NM),
            clearance: config.clearance,
            leeway: LEEWAY_NM,
            tilt_leeway: TILT_LEEWAY_DEGREES,
            law: Law::default(),
            thesis: ThesisSteps::default(),
            projection: Projection::default(),
            coarse_start: false,
            max_iterations: config.max_iterations,
            backend: Backend::default(),
            cell_width: None,
            color: Color::default(),
            detail: Detail::default(),
            proxies: 0,
            cut_open: false,
        }
    }
}

impl Preset {
    /// The vesicle of 500 + 120 POPC lipids, all of one shape.
    pub fn one_lipid() -> Self {
        let vesicle = VesicleConfig::default();
        Self {
            membrane: None,
            tolerance: None,
            leeway: vesicle.leeway,
            tilt_leeway: vesicle.tilt_leeway.to_degrees(),
            ..Self::default()
        }
    }

    /// The configuration of the relaxer.
    pub fn config(&self) -> RelaxConfig {
        RelaxConfig {
            law: match self.law {
                Law::Thesis => ReactionLaw::Thesis(self.thesis),
                Law::Projection => ReactionLaw::Projection(self.projection),
            },
            clearance: self.clearance,
            max_iterations: self.max_iterations,
            coarse: self.coarse_start.then_some(CoarseStart::PLACED),
            ..RelaxConfig::default()
        }
    }

    /// Size, leeways, start and seed of the vesicle.
    pub fn vesicle(&self) -> VesicleConfig {
        VesicleConfig {
            size: VesicleSize::Counts {
                outer: self.outer,
                inner: self.inner,
                radius: self.radius,
            },
            leeway: self.leeway,
            tilt_leeway: self.tilt_leeway.to_radians(),
            start: self.start,
            seed: self.seed,
        }
    }

    /// Number, radius and seed of molecules anywhere inside the sphere, if they are there.
    pub fn filled_sphere(&self) -> Option<FilledSphereConfig> {
        let molecules = self.inside.filter(|_| self.membrane.is_none())?;
        Some(FilledSphereConfig {
            molecules,
            radius: self.radius,
            seed: self.seed,
        })
    }

    /// Validates all values.
    pub fn check(&self) -> Result<(), PresetError> {
        check_positive("radius", self.radius, MAX_RADIUS_NM, " nm")?;
        if let Some(membrane) = &self.membrane {
            membrane.check()?;
            if membrane.shape.is_flat() && self.cell_width.is_some() {
                return Err(PresetError::CellsInBox);
            }
        }
        if let Some(tolerance) = self.tolerance {
            check_positive("tolerance", tolerance, MAX_TOLERANCE_NM, " nm")?;
        }
        if let Some(width) = self.cell_width {
            check_positive("cell_width", width, MAX_CELL_NM, " nm")?;
        }
        for (name, value) in [("leeway", self.leeway), ("tilt_leeway", self.tilt_leeway)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(PresetError::Value {
                    name,
                    allowed: "finite and not negative".into(),
                    value,
                });
            }
        }
        // Both laws, since the editor can switch between them.
        for law in [Law::Thesis, Law::Projection] {
            let preset = Self {
                law,
                ..self.clone()
            };
            preset.config().check()?;
        }
        Ok(())
    }

    /// Parses a preset; `path` is for error messages only.
    pub fn parse(text: &str, path: &Path) -> Result<Self, PresetError> {
        let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
        let mut preset: Self = options
            .from_str(text)
            .map_err(|error| PresetError::Syntax {
                path: path.to_owned(),
                line: error.span.start.line,
                column: error.span.start.col,
                message: error.code.to_string(),
            })?;
        if let Ok(present) = options.from_str::<PresentFields>(text) {
            present.set_defaults(&mut preset);
        }
        match preset.check() {
            Ok(()) => Ok(preset),
            Err(error) => Err(PresetError::Invalid {
                path: path.to_owned(),
                source: Box::new(error),
            }),
        }
    }

    /// Reads a preset from a file.
    pub fn load(path: &Path) -> Result<Self, PresetError> {
        let text = fs::read_to_string(path).map_err(|source| PresetError::Read {
            path: path.to_owned(),
            source,
        })?;
        Self::parse(&text, path)
    }

    /// Writes the preset to a file, completely or not at all.
    pub fn save(&self, path: &Path) -> Result<(), PresetError> {
        self.check()?;
        let config = PrettyConfig::new().struct_names(true);
        let mut text = ron::ser::to_string_pretty(self, config)?;
        text.push('\n');
        let failed = |source| PresetError::Write {
            path: path.to_owned(),
            source,
        };
        let Some(name) = path.file_name() else {
            return Err(failed(io::ErrorKind::InvalidFilename.into()));
        };
        let mut part = std::ffi::OsString::from(".");
        part.push(name);
        part.push(".part");
        let part = path.with_file_name(part);
        fs::write(&part, text)
            .and_then(|()| fs::rename(&part, path))
            .map_err(|source| {
                // It may not exist.
                let _ = fs::remove_file(&part);
                failed(source)
            })
    }
}

/// Checks that a value is positive and at most `max`, in `unit`.
pub fn check_positive(
    name: &'static str,
    value: f32,
    max: f32,
    unit: &str,
) -> Result<(), PresetError> {
    if value > 0.0 && value <= max {
        Ok(())
    } else {
        Err(PresetError::Value {
            name,
            allowed: format!("positive and at most {max}{unit}"),
            value,
        })
    }
}

/// Fields that a file has, with any value.
#[derive(Default, Deserialize)]
#[serde(rename = "Preset", default)]
struct PresentFields {
    membrane: Option<IgnoredAny>,
    molecule: Option<IgnoredAny>,
    outer: Option<IgnoredAny>,
    inner: Option<IgnoredAny>,
    inside: Option<IgnoredAny>,
    radius: Option<IgnoredAny>,
    start: Option<IgnoredAny>,
    tolerance: Option<IgnoredAny>,
    leeway: Option<IgnoredAny>,
    tilt_leeway: Option<IgnoredAny>,
}

impl PresentFields {
    /// Files without a membrane that have a field of the vesicle of one kind of molecule are of
    /// the time before membranes: their missing fields have the defaults of then.
    fn set_defaults(&self, preset: &mut Preset) {
        let of_vesicle = [
            &self.molecule,
            &self.outer,
            &self.inner,
            &self.inside,
            &self.radius,
            &self.start,
        ];
        if self.membrane.is_some() || of_vesicle.into_iter().all(Option::is_none) {
            return;
        }
        let defaults = Preset::one_lipid();
        preset.membrane = None;
        if self.tolerance.is_none() {
            preset.tolerance = defaults.tolerance;
        }
        if self.leeway.is_none() {
            preset.leeway = defaults.leeway;
        }
        if self.tilt_leeway.is_none() {
            preset.tilt_leeway = defaults.tilt_leeway;
        }
    }
}

/// The bundled presets: name, file and text.
pub const BUNDLED: [(&str, &str, &str); 8] = [
    (
        "popc vesicle",
        "popc_vesicle.ron",
        include_str!("../../assets/presets/popc_vesicle.ron"),
    ),
    (
        "mixed membrane",
        "mixed_membrane.ron",
        include_str!("../../assets/presets/mixed_membrane.ron"),
    ),
    (
        "porins",
        "porins.ron",
        include_str!("../../assets/presets/porins.ron"),
    ),
    (
        "flat patch",
        "flat_patch.ron",
        include_str!("../../assets/presets/flat_patch.ron"),
    ),
    (
        "dense bilayer",
        "dense_bilayer.ron",
        include_str!("../../assets/presets/dense_bilayer.ron"),
    ),
    (
        "sparse cytoplasm",
        "sparse_cytoplasm.ron",
        include_str!("../../assets/presets/sparse_cytoplasm.ron"),
    ),
    (
        "thesis defaults",
        "thesis_defaults.ron",
        include_str!("../../assets/presets/thesis_defaults.ron"),
    ),
    (
        "a million atoms",
        "million_atoms.ron",
        include_str!("../../assets/presets/million_atoms.ron"),
    ),
];

/// A file that is polled for changes.
#[derive(Debug)]
pub struct WatchedFile {
    pub path: PathBuf,
    modified: Option<SystemTime>,
}

impl WatchedFile {
    /// Watches a file for changes from now on.
    pub fn new(path: PathBuf) -> Self {
        let modified = modified(&path);
        Self { path, modified }
    }

    /// Whether the file has changed since the last call. A missing file has not: text editors
    /// replace files.
    pub fn has_changed(&mut self) -> bool {
        let current = modified(&self.path);
        let changed = current.is_some() && current != self.modified;
        if changed {
            self.modified = current;
        }
        changed
    }
}

/// Time of the last change of a file, if there is one.
pub fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}
