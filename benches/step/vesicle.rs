//! Lipids of a relaxed vesicle that springs hold in its membrane.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::plugin::CompartmentRegion;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::scenes::Vesicle;
use bevy_rapier3d::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::Options;
use crate::common::molecules::{popc, vesicle_of};
use crate::common::{Cell, Column, Done, Run};
use crate::world::{
    Body, Kind, STEP, Settings, Step, positions, random_vector, time_cells, time_columns, transform,
};

/// Atom radius at which atoms closer than 0.2 nm overlap, nm.
const RADIUS_NM: f32 = 0.1;

/// Lipids of the large vesicle, and of both in a quick run.
const LIPIDS: u32 = 29_850;
const FEW_LIPIDS: u32 = 150;

/// Untimed steps, in which contacts and springs come to rest.
const SETTLING_STEPS: usize = 30;

/// Timed steps of the large and the small vesicle.
const STEPS: [usize; 2] = [15, 100];

/// How the lipids move.
#[derive(Clone, Copy)]
enum Motion {
    /// As contacts and springs move them.
    Settled,
    /// With new random velocities before each step, whose root mean square is this, nm per step.
    Random(f32),
}

const MOTIONS: [(&str, Motion); 3] = [
    ("settled", Motion::Settled),
    ("trembling", Motion::Random(0.002)),
    // Contacts stop about half of it.
    ("fast", Motion::Random(0.2)),
];

pub fn large(run: &mut Run, _: &Options) -> Done {
    let vesicle = vesicle_of(&lipid(), run.pick(LIPIDS, FEW_LIPIDS));
    measure(run, vesicle, run.pick(STEPS[0], 1))
}

pub fn small(run: &mut Run, _: &Options) -> Done {
    let vesicle = match run.quick {
        true => vesicle_of(&lipid(), FEW_LIPIDS),
        false => vesicle(lipid(), &VesicleConfig::default())?,
    };
    measure(run, vesicle, run.pick(STEPS[1], 1))
}

fn lipid() -> Arc<MoleculeTemplate> {
    let lipid = popc().with_uniform_radius(RADIUS_NM);
    Arc::new(lipid.expect("the radius is positive"))
}

fn measure(run: &mut Run, vesicle: Vesicle, steps: usize) -> Done {
    let Vesicle { outer, radius, .. } = vesicle;
    let mut relaxer = Relaxer::new(vesicle.crowd, RelaxConfig::default())?;
    relaxer.run(|_| ControlFlow::Continue(()))?;
    let crowd = relaxer.into_crowd();
    let mut apps = MOTIONS.map(|(_, motion)| (world(&crowd, outer as usize, radius), motion));
    let mut random = Pcg64Mcg::seed_from_u64(1);
    for (app, motion) in &mut apps {
        for _ in 0..run.pick(SETTLING_STEPS, 2) {
            motion.begin(app, &mut random);
            app.update();
        }
    }
    let mut taken = MOTIONS.map(|_| Vec::new());
    let mut moved = MOTIONS.map(|_| 0.0);
    for _ in 0..steps {
        for (((app, motion), taken), moved) in apps.iter_mut().zip(&mut taken).zip(&mut moved) {
            motion.begin(app, &mut random);
            let before = positions(app);
            taken.push(Step::of(app));
            let after = positions(app);
            let distances = before.iter().zip(&after).map(|(a, b)| a.distance(*b));
            let distance: f64 = distances.map(f64::from).sum();
            *moved += distance / (before.len() * steps) as f64;
        }
    }
    let title = format!(
        "{} lipids of a relaxed vesicle with springs, without colliders, {} atoms, ms per step of \
         one substep.",
        crowd.members().len(),
        crowd.atom_count()
    );
    let mut columns = time_columns("motion");
    columns.push(Column::measured("mean motion per substep", "nm").decimals(4));
    let mut table = run.table(&title, columns);
    for (((name, _), steps), moved) in MOTIONS.iter().zip(&taken).zip(moved) {
        let mut row = time_cells(name, steps);
        row.push(Cell::from(moved));
        table.row(row);
    }
    Ok(())
}

/// A world with the lipids of a vesicle, of which the first `outer` are in the outer leaflet.
fn world(crowd: &Crowd, outer: usize, radius: f32) -> App {
    let kind = Kind::CrowdOnly;
    let mut app = Settings::default().app(kind);
    let lipid = Body::new(&mut app, &crowd.templates()[0]);
    let shell = app.world_mut().spawn(Compartment::SphereShell { radius });
    let compartment = shell.id();
    let config = VesicleConfig::default();
    for (index, member) in crowd.members().iter().enumerate() {
        let region = match index < outer {
            true => CompartmentRegion::OuterLeaflet,
            false => CompartmentRegion::InnerLeaflet,
        };
        let place = InCompartment {
            leeway: config.leeway,
            tilt_leeway: config.tilt_leeway,
            ..InCompartment::new(compartment, region)
        };
        lipid.spawn(&mut app, kind, (transform(&member.pose), place));
    }
    app
}

impl Motion {
    /// Sets the velocities before a step.
    fn begin(self, app: &mut App, random: &mut Pcg64Mcg) {
        let Self::Random(length) = self else {
            return;
        };
        // Uniform components between -1 and 1 have a mean square of one third each.
        let half_edge = length / STEP;
        let world = app.world_mut();
        let mut molecules = world.query::<&mut Velocity>();
        for mut velocity in molecules.iter_mut(world) {
            velocity.linear = random_vector(random, half_edge);
        }
    }
}
