//! Packs lipids into a vesicle until no two atoms of different lipids overlap, without Bevy.
//! Writes `vesicle.cif`.

use std::error::Error;
use std::io::{Write, stdout};
use std::ops::ControlFlow;
use std::sync::Arc;

use bevy_rapier_molecules::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let (crowd, report) = example(&VesicleConfig::default())?;
    let lipids = crowd.members().len();
    let (before, after) = (report.start.overlaps, report.end.overlaps);
    writeln!(stdout(), "{lipids} lipids: {before} overlaps, then {after}")?;
    let (reason, iterations) = (report.reason, report.iterations);
    writeln!(stdout(), "{reason}, after {iterations} iterations")?;
    export("vesicle.cif", crowd.instances(), &ExportOptions::default())?;
    Ok(())
}

/// A vesicle without overlaps, and the report of its relaxation.
pub fn example(config: &VesicleConfig) -> Result<(Crowd, RelaxReport), Box<dyn Error>> {
    let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
    // Lipids at random angles in two leaflets: nearly all of them overlap.
    let vesicle = vesicle(Arc::new(lipid), config)?;
    let mut relaxer = Relaxer::new(vesicle.crowd, RelaxConfig::default())?;
    // The closure sees each iteration, and may stop.
    let report = relaxer.run(|_| ControlFlow::Continue(()))?;
    Ok((relaxer.into_crowd(), report))
}
