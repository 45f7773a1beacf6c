//! `--trajectory`: the relaxation as a file that other programs play.

use std::collections::HashMap;
use std::path::PathBuf;

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::recipe::{Packing, Population, Recipe};
use bevy_rapier_molecules::relax::Relaxer;
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
    /// every frame.
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

    /// Starts the file, if there is one.
    pub fn start(
        &self,
        recipe: &Recipe,
        population: &Population,
    ) -> Result<RelaxationRecorder, AnyError> {
        let mut recorder = RelaxationRecorder {
            file: None,
            every: self.trajectory_every,
            last: None,
            failure: None,
        };
        let Some(path) = &self.trajectory else {
            return Ok(recorder);
        };
        let crowd = &population.crowd;
        let options = TrajectoryOptions {
            title: recipe.name.clone(),
            time_unit: TimeUnit::Iterations,
            periodic_box: crowd.periodic_box(),
            bounds: crowd.periodic_box().is_none().then_some(recipe.bounds),
            ..TrajectoryOptions::default()
        };
        let mut writer = TrajectoryWriter::create(path, [], options)?;
        // Members of a row differ in their templates, such as conformers.
        let mut known = HashMap::new();
        let members = crowd.members().iter().zip(&population.rows);
        let kinds = members.map(|(member, &row)| {
            *known.entry((row, member.template)).or_insert_with(|| {
                let name = &population.report.entries[row as usize].object;
                let mut ingredients = recipe.ingredients.iter();
                let ingredient = ingredients.find(|ingredient| ingredient.name == *name);
                let template = &crowd.templates()[member.template as usize];
                writer.add_kind(TrajectoryKind {
                    name: name.clone(),
                    template: template.clone(),
                    color: ingredient.and_then(|ingredient| ingredient.color),
                })
            })
        });
        let kinds = kinds.collect();
        recorder.file = Some((writer, kinds));
        Ok(recorder)
    }
}

/// Records iterations.
pub struct RelaxationRecorder {
    /// The file, and the kind of each member of the crowd.
    file: Option<(TrajectoryWriter, Vec<u32>)>,
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
        let Some((writer, kinds)) = &mut self.file else {
            return;
        };
        let members = crowd.members().iter().zip(kinds.iter()).zip(0..);
        let molecules = members.map(|((member, &kind), id)| TrajectoryMolecule {
            id,
            kind,
            pose: member.pose,
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
