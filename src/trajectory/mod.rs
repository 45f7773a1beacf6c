//! Trajectories: the poses of all molecules over time, as files that other programs play.
//!
//! A [`TrajectoryWriter`] writes frame by frame, in the [`TrajectoryFormat`] of the extension:
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::Arc;
//! use bevy_rapier_molecules::prelude::*;
//! use bevy_rapier_molecules::trajectory::{TimeUnit, TrajectoryOptions, TrajectoryWriter};
//!
//! let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
//! let size = VesicleSize::Counts { outer: 20, inner: 3, radius: 2.2 };
//! let vesicle = vesicle(Arc::new(lipid), &VesicleConfig { size, ..VesicleConfig::default() })?;
//! let mut relaxer = Relaxer::new(vesicle.crowd, RelaxConfig::default())?;
//!
//! let path = std::env::temp_dir().join("relaxation_of_a_doc_test.simularium");
//! let options = TrajectoryOptions { time_unit: TimeUnit::Iterations, ..Default::default() };
//! let mut writer = TrajectoryWriter::of_crowd(&path, relaxer.crowd(), options)?;
//! let mut written = Ok(());
//! let report = relaxer.run(|relaxer| {
//!     written = writer.write_crowd(f64::from(relaxer.iterations()), relaxer.crowd());
//!     if written.is_ok() { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
//! })?;
//! written?;
//! assert_eq!(writer.finish()?.frames, u64::from(report.iterations) + 1);
//! # std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Formats
//!
//! | format | extension | content of a frame | molecules |
//! |---|---|---|---|
//! | XTC of GROMACS (feature `xtc`) | `.xtc` | all atoms, to 0.001 nm | the same in all frames |
//! | Simularium | `.simularium` | poses, to 0.001 nm and 0.001 rad; each molecule is a ball of its volume | may come and go |
//!
//! XTC has only coordinates. The names of the atoms are in a structure file with the first frame,
//! `NAME.first.pdb` unless [`TopologyFile`] says otherwise, which programs open together with it.
//!
//! # Interruption
//!
//! The file appears with the first frame, in place of an older one, and is complete after every
//! frame: it can be opened while the simulation runs, and after it was interrupted. If a frame
//! cannot be written, say on a full disk, the file keeps the frames before it.

mod error;
mod euler;
mod growing_file;
mod options;
mod simularium;
mod writer;
#[cfg(feature = "xtc")]
mod xtc;

pub use error::TrajectoryError;
pub use options::{TimeUnit, TopologyFile, TrajectoryFormat, TrajectoryOptions};
pub use writer::{TrajectoryKind, TrajectoryMolecule, TrajectorySummary, TrajectoryWriter};
