//! Ten thousand proteins in one world: time and memory.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::crowd::{Crowd, CrowdError};
use bevy_rapier_molecules::plugin::Colliding;
use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
use bevy_rapier3d::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::Options;
use crate::common::cpu_time::resident_bytes;
use crate::common::molecules::bundled;
use crate::common::{Cell, Column, Done, Run};
use crate::pile::FILES;
use crate::world::{
    Body, Kind, Settings, random_vector, take_turns, time_cells, time_columns, transform,
};

/// Number of molecules, and in a quick run.
const MOLECULES: [u32; 2] = [10_000, 100];

/// Lattice constant over the mean bounding radius: about half of the molecules touch another one.
pub const SPACING: f32 = 1.5;

/// Largest initial speed along each axis, nm/s.
const SPEED: f32 = 0.5;

/// Untimed steps, in which the deepest overlaps are resolved.
const WARM_UP: [usize; 2] = [20, 3];

/// Timed steps.
const STEPS: [usize; 2] = [30, 1];

const KINDS: [Kind; 2] = [Kind::Crowd, Kind::CrowdOnly];

pub fn run(run: &mut Run, options: &Options) -> Done {
    let molecules = run.pick(MOLECULES[0], MOLECULES[1]);
    let crowd = proteins(molecules, options.spacing)?;
    let mut grown = Vec::new();
    let mut apps = KINDS.map(|kind| {
        let before = resident_bytes();
        let mut app = world_of(&crowd, kind);
        for _ in 0..run.pick(WARM_UP[0], WARM_UP[1]) {
            app.update();
        }
        let after = resident_bytes();
        grown.push(before.zip(after).map(|(before, after)| after - before));
        app
    });
    let steps = take_turns(&mut apps, run.pick(STEPS[0], STEPS[1]));
    let title = format!(
        "{molecules} proteins, {} atoms, in one world, ms per step of one substep.",
        crowd.atom_count()
    );
    let mut columns = time_columns("world");
    columns.extend([
        Column::measured("molecules that touch others", "%"),
        Column::measured("memory of the search per molecule", "bytes"),
        Column::measured("of it, pairs of clusters", "bytes"),
        Column::measured("memory of the process per molecule", "bytes"),
    ]);
    let mut table = run.table(&title, columns);
    let per_molecule = |value: f64| value / f64::from(molecules);
    for (((kind, app), steps), grown) in KINDS.iter().zip(&mut apps).zip(&steps).zip(grown) {
        let last = steps.last().copied().unwrap_or_default();
        let mut row = time_cells(kind.name(), steps);
        row.extend([
            Cell::from(per_molecule(100.0 * touching(app) as f64)),
            Cell::from(per_molecule(last.remembered as f64)),
            Cell::from(per_molecule(last.clusters as f64)),
            Cell::from(grown.map(per_molecule)),
        ]);
        table.row(row);
    }
    Ok(())
}

/// Proteins of five kinds in a box.
pub fn proteins(molecules: u32, spacing: f32) -> Result<Crowd, CrowdError> {
    let config = CrowdedBoxConfig {
        molecules,
        spacing,
        ..CrowdedBoxConfig::default()
    };
    crowded_box(&FILES.map(|file| Arc::new(bundled(file))), &config)
}

/// A world of these molecules with random velocities.
pub fn world_of(crowd: &Crowd, kind: Kind) -> App {
    let mut app = Settings::default().app(kind);
    let templates = crowd.templates().iter();
    let bodies: Vec<Body> = templates
        .map(|template| Body::new(&mut app, template))
        .collect();
    let mut random = Pcg64Mcg::seed_from_u64(1);
    for member in crowd.members() {
        let velocity = Velocity::linear(random_vector(&mut random, SPEED));
        let bundle = (transform(&member.pose), velocity);
        bodies[member.template as usize].spawn(&mut app, kind, bundle);
    }
    app
}

/// Number of molecules that touch another one.
fn touching(app: &mut App) -> usize {
    let world = app.world_mut();
    let mut molecules = world.query::<&Colliding>();
    let molecules = molecules.iter(world);
    molecules.filter(|colliding| colliding.any()).count()
}
