//! Molecules that are spawned and despawned in each frame: what they cost, whatever the number of
//! the others.

use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use rand::SeedableRng;
use rand::seq::index::sample;
use rand_pcg::Pcg64Mcg;

use crate::Options;
use crate::common::interleave::ms;
use crate::common::{Cell, Column, Done, Run};
use crate::dense::{proteins, world_of};
use crate::world::{Kind, Step, median, take_turns, time_cells, time_columns};

/// Numbers of molecules, and in a quick run: many, and as many as are replaced.
const MOLECULES: [[u32; 2]; 2] = [[10_000, 100], [200, 100]];

/// Molecules that are despawned and spawned in each frame.
const REPLACED: usize = 100;

/// Untimed steps, in which the deepest overlaps are resolved.
const WARM_UP: [usize; 2] = [20, 3];

/// Timed frames.
const FRAMES: [usize; 2] = [300, 2];

const KINDS: [Kind; 2] = [Kind::Crowd, Kind::CrowdOnly];

pub fn run(run: &mut Run, options: &Options) -> Done {
    let numbers = run.pick(MOLECULES[0], MOLECULES[1]);
    let frames = run.pick(FRAMES[0], FRAMES[1]);
    let warm_up = run.pick(WARM_UP[0], WARM_UP[1]);
    let title = format!(
        "{REPLACED} proteins despawned and {REPLACED} spawned in each of {frames} frames, ms per frame of one substep."
    );
    let mut columns = time_columns("world");
    columns.push(Column::measured("over a frame without, median", "ms").decimals(2));
    let mut table = run.table(&title, columns);
    for molecules in numbers {
        let crowd = proteins(molecules, options.spacing)?;
        for kind in KINDS {
            // Without and with changes, in turns.
            let mut apps = [false, true].map(|changes| {
                let mut app = world_of(&crowd, kind);
                for _ in 0..warm_up {
                    app.update();
                }
                if changes {
                    app.add_systems(Update, replace_some);
                    app.update();
                }
                app
            });
            let steps = take_turns(&mut apps, frames);
            let total = |steps: &[Step]| ms(median(steps, |step| step.total));
            let over = total(&steps[1]) - total(&steps[0]);
            let rows = [("none replaced", None), ("100 replaced", Some(over))];
            for ((name, over), steps) in rows.into_iter().zip(&steps) {
                let name = format!("{molecules}, {}, {name}", kind.name());
                let mut row = time_cells(&name, steps);
                row.push(Cell::from(over));
                table.row(row);
            }
        }
    }
    Ok(())
}

/// Despawns some molecules, and spawns as many at their poses.
fn replace_some(
    mut commands: Commands,
    entities: Query<Entity, With<Molecule>>,
    molecules: Query<(&Molecule, &Transform, &Velocity, Has<CrowdOnly>)>,
    mut state: Local<Option<(Pcg64Mcg, Vec<Entity>)>>,
) {
    let start = || (Pcg64Mcg::seed_from_u64(2), entities.iter().collect());
    let (random, all) = state.get_or_insert_with(start);
    for index in sample(random, all.len(), REPLACED.min(all.len())) {
        let Ok((molecule, transform, velocity, crowd_only)) = molecules.get(all[index]) else {
            continue;
        };
        commands.entity(all[index]).despawn();
        let mut new = commands.spawn((molecule.clone(), *transform, *velocity));
        if crowd_only {
            new.insert(CrowdOnly);
        }
        all[index] = new.id();
    }
}
