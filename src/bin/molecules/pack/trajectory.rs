//! `--trajectory`: the relaxation as a file that other programs play.

use std::path::PathBuf;

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::recipe::Packing;
use bevy_rapier_molecules::relax::Relaxer;
use bevy_rapier_molecules::scene_files::Scene;
use bevy_rapier_molecules::trajectory::{
    TimeUnit, TrajectoryError, TrajectoryFormat, TrajectoryKind, TrajectoryMolecule,
    TrajectoryOptions, TrajectoryWriter,
};
use clap::Args;

use crate::common::{AnyError, check_target};

/// Options of the trajectory.
#[derive(Args)]
pub struct TrajectoryArguments {
    /// Record the relaxation in this file: .xtc (all atoms, with the first frame in
    /// NAME.first.pdb or .cif) or .simularium (a ball for each molecule). It is complete after
    /// every frame. Molecules are in the order of --output.
    #[arg(long, value_name = "FILE", conflicts_with = "dry_run")]
    trajectory: Option<PathBuf>,
    /// Iterations from one frame to the next; the last one is always there.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "trajectory")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..))]
    trajectory_every: u32,
}

impl TrajectoryArguments {
    /// Checks before the work that the file can be written.
    pub fn check(&self) -> Result<(), AnyError> {
        if let Some(path) = &self.trajectory {
            check_target(path)?;
            TrajectoryFormat::of(path)?;
        }
        Ok(())
    }

    /// Starts the file, if there is one. Molecules are in the order of the scene; `order` has the
    /// member of the crowd that each one is.
    pub fn start(&self, scene: &Scene, order: Vec<u32>) -> Result<RelaxationRecorder, AnyError> {
        let mut recorder = RelaxationRecorder {
            file: None,
            every: self.trajectory_every,
            last: None,
            failure: None,
        };
        let Some(path) = &self.trajectory else {
            return Ok(recorder);
        };
        let options = TrajectoryOptions {
            title: scene.name.clone(),
            time_unit: TimeUnit::Iterations,
            periodic_box: scene.periodic_box,
            bounds: scene.bounds.filter(|_| scene.periodic_box.is_none()),
            ..TrajectoryOptions::default()
        };
        let kinds = scene.kinds.iter().map(TrajectoryKind::from);
        let writer = TrajectoryWriter::create(path, kinds, options)?;
        let kinds = scene.kinds.iter().zip(0..);
        let kinds = kinds.flat_map(|(kind, index)| kind.poses.iter().map(move |_| index));
        let molecules = order.into_iter().zip(kinds).collect();
        recorder.file = Some((writer, molecules));
        Ok(recorder)
    }
}

/// Records iterations.
pub struct RelaxationRecorder {
    /// The file, and the member of the crowd and the kind of each molecule.
    file: Option<(TrajectoryWriter, Vec<(u32, u32)>)>,
    every: u32,
    /// The last recorded iteration.
    last: Option<u32>,
    /// Why the recording has ended. The relaxation goes on.
    failure: Option<TrajectoryError>,
}

impl RelaxationRecorder {
    /// Writes the current iteration, if it is due.
    pub fn record(&mut self, relaxer: &Relaxer) {
        let iteration = relaxer.iterations();
        if self.file.is_some() && iteration.is_multiple_of(self.every) {
            self.write(iteration, relaxer.crowd());
        }
    }

    /// Writes the last iteration, and returns the first error.
    pub fn finish(mut self, packing: &Packing) -> Result<(), TrajectoryError> {
        let iterations = packing.relaxed.iterations;
        if self.last != Some(iterations) {
            self.write(iterations, &packing.crowd);
        }
        match (self.failure, self.file) {
            (Some(failure), _) => Err(failure),
            (None, Some((writer, _))) => writer.finish().map(|_| ()),
            (None, None) => Ok(()),
        }
    }

    fn write(&mut self, iteration: u32, crowd: &Crowd) {
        let Some((writer, molecules)) = &mut self.file else {
            return;
        };
        let molecules = molecules.iter().zip(0..);
        let molecules = molecules.map(|(&(member, kind), id)| TrajectoryMolecule {
            id,
            kind,
            pose: crowd.members()[member as usize].pose,
        });
        match writer.write(f64::from(iteration), molecules) {
            Ok(()) => self.last = Some(iteration),
            Err(failure) => {
                self.failure = Some(failure);
                self.file = None;
            }
        }
    }
}
