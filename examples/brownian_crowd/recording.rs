//! The motion of the proteins as a trajectory in a file.

use std::path::PathBuf;
use std::sync::Arc;

use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::motion::brownian::BrownianMolecule;
use bevy_rapier_molecules::trajectory::{
    TrajectoryError, TrajectoryFormat, TrajectoryKind, TrajectoryMolecule, TrajectoryOptions,
    TrajectoryWriter,
};
use clap::Args;
use glam::Vec3;

use super::common::{AnyError, check_target};

/// Options of the recording.
#[derive(Args)]
pub struct RecordingArguments {
    /// Record the motion in this file: .xtc (all atoms, with the first frame in NAME.first.pdb or
    /// .cif) or .simularium (a ball for each protein). It is complete after every frame.
    #[arg(long, value_name = "FILE")]
    record: Option<PathBuf>,
    /// With --record: steps from one frame to the next.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "record")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    every: u32,
}

impl RecordingArguments {
    /// Checks before the work that the file can be written.
    pub fn check(&self) -> Result<(), AnyError> {
        if let Some(path) = &self.record {
            check_target(path)?;
            TrajectoryFormat::of(path)?;
        }
        Ok(())
    }

    /// Starts the file, if there is one.
    pub fn start(
        &self,
        templates: &[Arc<MoleculeTemplate>],
        bounds: [Vec3; 2],
    ) -> Result<Option<Recording>, TrajectoryError> {
        let Some(path) = &self.record else {
            return Ok(None);
        };
        let options = TrajectoryOptions {
            title: "Crowded cytoplasm".into(),
            bounds: Some(bounds),
            ..TrajectoryOptions::default()
        };
        let kinds = templates.iter().map(TrajectoryKind::from);
        Ok(Some(Recording {
            writer: TrajectoryWriter::create(path, kinds, options)?,
            every: self.every,
            steps: 0,
        }))
    }
}

/// A file that is being written.
pub struct Recording {
    writer: TrajectoryWriter,
    every: u32,
    steps: u32,
}

impl Recording {
    /// Counts a step, and writes it if it is due. `time` is in seconds.
    pub fn step(
        &mut self,
        time: f64,
        molecules: &[BrownianMolecule],
    ) -> Result<(), TrajectoryError> {
        self.steps += 1;
        if self.steps.is_multiple_of(self.every) {
            self.write(time, molecules)?;
        }
        Ok(())
    }

    pub fn write(
        &mut self,
        time: f64,
        molecules: &[BrownianMolecule],
    ) -> Result<(), TrajectoryError> {
        let molecules = molecules.iter().zip(0..);
        let molecules = molecules.map(|(molecule, id)| TrajectoryMolecule {
            id,
            kind: molecule.template,
            pose: molecule.pose,
        });
        self.writer.write(time, molecules)
    }
}
