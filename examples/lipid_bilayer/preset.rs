//! Everything that can be set, and its files.
//!
//! A preset is a RON file. What it leaves out has its default; what it has and nobody
//! knows is an error, with file, line and column, and so is an impossible value, with file
//! and name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::force::{Projection, ThesisSteps};
use bevy_rapier_molecules::relax::{CoarseStart, ReactionLaw, RelaxConfig};
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize};
use ron::extensions::Extensions;
use ron::ser::PrettyConfig;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::molecules::MoleculeKind;

/// Largest tolerance, nm: further apart, no two atoms overlap.
pub const MAX_TOLERANCE_NM: f32 = 1.0;

/// Largest radius, nm: further out, 32 bits are coarser than the clearance.
pub const MAX_RADIUS_NM: f32 = 4000.0;

/// Widest cell of the grid, nm: wider than any vesicle that fits into a window.
pub const MAX_CELL_NM: f32 = 100.0;

/// Why a preset cannot be used, or saved.
#[derive(Debug, Error)]
pub enum PresetError {
    /// The file cannot be read.
    #[error("cannot read '{}': {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// The text is not a preset.
    #[error("'{}', line {line}, column {column}: {message}", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// Line of the fault, from 1.
        line: usize,
        /// Column of the fault, from 1.
        column: usize,
        /// What is wrong there.
        message: String,
    },
    /// A value is impossible.
    #[error("{what} must be {allowed}, and is {value}")]
    Value {
        /// Which value.
        what: &'static str,
        /// What it may be.
        allowed: String,
        /// What it is.
        value: f32,
    },
    /// A file can be read, and a value of it is impossible.
    #[error("'{}': {source}", path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Which value, and what it may be.
        source: Box<PresetError>,
    },
    /// A parameter of the law or the clearance is impossible.
    #[error(transparent)]
    Law(#[from] bevy_rapier_molecules::relax::RelaxError),
    /// The file cannot be written.
    #[error("cannot write '{}': {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// A number cannot be written down.
    #[error("the preset cannot be written down: {0}")]
    Text(#[from] ron::Error),
}

/// The laws by name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Law {
    /// The heuristic forces of Pauschenwein (2022).
    Thesis,
    /// Rigid position-based projection.
    #[default]
    Projection,
}

/// What colors stand for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Color {
    /// The element of each atom.
    Element,
    /// Each molecule its own.
    Molecule,
    /// Outer or inner leaflet.
    Leaflet,
    /// Green if a molecule is free, red if it overlaps another.
    #[default]
    Collision,
    /// How deep a molecule overlaps others.
    Penetration,
}

impl Color {
    /// All there are, in the order of a menu.
    pub const ALL: [Self; 5] = [
        Self::Collision,
        Self::Penetration,
        Self::Leaflet,
        Self::Molecule,
        Self::Element,
    ];
}

/// How much of a molecule is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Detail {
    /// Atoms near by, blobs far away.
    #[default]
    Auto,
    /// Always atoms.
    Atoms,
    /// Always blobs of a few atoms.
    Blobs,
}

impl Detail {
    /// All there are, in the order of a menu.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Atoms, Self::Blobs];
}

/// Everything that can be set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Preset {
    /// What is packed.
    pub molecule: MoleculeKind,
    /// Molecules of the outer leaflet.
    pub outer: u32,
    /// Molecules of the inner leaflet.
    pub inner: u32,
    /// Radius of the mid-surface, nm.
    pub radius: f32,
    /// Seed of the random start.
    pub seed: u64,
    /// Atoms closer than this overlap, nm; none: when their spheres do.
    pub tolerance: Option<f32>,
    /// Gap that must be left between atoms of different molecules, nm.
    pub clearance: f32,
    /// How far molecules may leave their distance from the mid-surface, nm.
    pub leeway: f32,
    /// How far molecules may lean away from the normal, degrees.
    pub tilt_leeway: f32,
    /// Which law answers to overlaps.
    pub law: Law,
    /// Step sizes of the thesis's law.
    pub thesis: ThesisSteps,
    /// Step sizes of the projection law.
    pub projection: Projection,
    /// Whether proxies stand for the molecules in the first iterations.
    pub coarse_start: bool,
    /// Most iterations.
    pub max_iterations: u32,
    /// Who does the work.
    pub backend: Backend,
    /// Least width of the grid's cells on the processor, nm; none: as narrow as can be.
    pub cell_width: Option<f32>,
    /// What colors stand for.
    pub color: Color,
    /// How much of a molecule is drawn.
    pub detail: Detail,
    /// Proxies of each molecule that are drawn over its atoms; 0 for none.
    pub proxies: u32,
    /// Whether the half in front is left out, to look inside.
    pub cut_open: bool,
}

impl Default for Preset {
    fn default() -> Self {
        let (vesicle, config) = (VesicleConfig::default(), RelaxConfig::default());
        Self {
            molecule: MoleculeKind::default(),
            outer: 500,
            inner: 120,
            radius: 5.2,
            seed: vesicle.seed,
            tolerance: None,
            clearance: config.clearance,
            leeway: vesicle.leeway,
            tilt_leeway: vesicle.tilt_leeway.to_degrees(),
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
    /// What the relaxer is told.
    pub fn config(&self) -> RelaxConfig {
        RelaxConfig {
            law: match self.law {
                Law::Thesis => ReactionLaw::Thesis(self.thesis),
                Law::Projection => ReactionLaw::Projection(self.projection),
            },
            clearance: self.clearance,
            max_iterations: self.max_iterations,
            coarse: self.coarse_start.then_some(CoarseStart::HELD),
            ..RelaxConfig::default()
        }
    }

    /// Size, leeways and seed of the vesicle.
    pub fn vesicle(&self) -> VesicleConfig {
        VesicleConfig {
            size: VesicleSize::Counts {
                outer: self.outer,
                inner: self.inner,
                radius: self.radius,
            },
            leeway: self.leeway,
            tilt_leeway: self.tilt_leeway.to_radians(),
            seed: self.seed,
        }
    }

    /// Checks every value.
    pub fn check(&self) -> Result<(), PresetError> {
        positive("radius", self.radius, MAX_RADIUS_NM)?;
        if let Some(tolerance) = self.tolerance {
            positive("tolerance", tolerance, MAX_TOLERANCE_NM)?;
        }
        if let Some(width) = self.cell_width {
            positive("cell_width", width, MAX_CELL_NM)?;
        }
        for (what, value) in [("leeway", self.leeway), ("tilt_leeway", self.tilt_leeway)] {
            if !(value.is_finite() && value >= 0.0) {
                return Err(PresetError::Value {
                    what,
                    allowed: "finite and not negative".into(),
                    value,
                });
            }
        }
        // Both laws: the other one may be switched to.
        for law in [Law::Thesis, Law::Projection] {
            let other = Self {
                law,
                ..self.clone()
            };
            other.config().check()?;
        }
        Ok(())
    }

    /// Reads a preset; `path` is for messages only.
    pub fn parse(text: &str, path: &Path) -> Result<Self, PresetError> {
        let options = ron::Options::default().with_default_extension(Extensions::IMPLICIT_SOME);
        let preset: Self = options
            .from_str(text)
            .map_err(|error| PresetError::Syntax {
                path: path.to_owned(),
                line: error.span.start.line,
                column: error.span.start.col,
                message: error.code.to_string(),
            })?;
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

    /// Writes the preset to a file, whole or not at all.
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
                // It may never have been there.
                let _ = fs::remove_file(&part);
                failed(source)
            })
    }
}

fn positive(what: &'static str, value: f32, most: f32) -> Result<(), PresetError> {
    if value > 0.0 && value <= most {
        Ok(())
    } else {
        Err(PresetError::Value {
            what,
            allowed: format!("positive and at most {most} nm"),
            value,
        })
    }
}

/// The presets that come with the program: name, file and text.
pub const BUNDLED: [(&str, &str, &str); 4] = [
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

/// A file that is looked at now and then, to see whether somebody changed it.
#[derive(Debug)]
pub struct Watched {
    /// The file.
    pub path: PathBuf,
    modified: Option<SystemTime>,
}

impl Watched {
    /// A file as it is now.
    pub fn new(path: PathBuf) -> Self {
        let modified = modified(&path);
        Self { path, modified }
    }

    /// Whether the file was changed since the last look. One that is gone was not: editors
    /// put a new file in the place of the old one.
    pub fn has_changed(&mut self) -> bool {
        let now = modified(&self.path);
        let changed = now.is_some() && now != self.modified;
        if changed {
            self.modified = now;
        }
        changed
    }
}

fn modified(path: &Path) -> Option<SystemTime> {
    fs::metadata(path).ok()?.modified().ok()
}
