//! Lipids of a vesicle: both contact models against Rapier's compounds of balls, and what the
//! plugin adds to Rapier's step.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::Options;
use crate::common::interleave::{Samples, ms, ratio};
use crate::common::molecules::{popc, vesicle_of};
use crate::common::{Cell, Column, Done, Run, cells};
use crate::world::{Body, Kind, Settings, Step, median, random_vector, transform};

/// Largest initial speed along each axis, nm/s.
const SPEED: f32 = 0.5;

/// Untimed steps at the start, in which bodies and contacts are created.
const WARM_UP: usize = 3;

/// Timed steps per round.
const STEPS: usize = 5;

/// Atom radius at which atoms closer than 0.34 nm overlap, as in the bench `search`, nm.
const RADIUS_NM: f32 = 0.17;

/// Lipids in the compared worlds.
const LIPIDS: u32 = 746;

/// Lipids in the world of `overhead`.
const MANY_LIPIDS: u32 = 29_850;

/// Lipids in a quick run.
const FEW_LIPIDS: u32 = 150;

/// Rounds of each world.
const ROUNDS: usize = 4;

/// Steps whose stages are timed.
const STAGED_STEPS: usize = 15;

/// States of the vesicle: name, whether it is relaxed, and the radius of all atoms if it is
/// uniform.
const STATES: [(&str, bool, Option<f32>); 3] = [
    ("0.17 nm atoms, overlapping", false, Some(RADIUS_NM)),
    ("radii by element, overlapping", false, None),
    ("relaxed, nothing overlaps", true, None),
];

/// The worlds in order; the last one is the baseline.
const KINDS: [Kind; 4] = [Kind::Crowd, Kind::CrowdOnly, Kind::Solver, Kind::Compound];

/// The lipids of a vesicle.
struct Scene {
    lipid: Arc<MoleculeTemplate>,
    poses: Vec<Pose>,
}

impl Scene {
    /// A vesicle of `lipids` POPC, relaxed until nothing overlaps if `relaxed`, with radii by
    /// element or one `radius` (nm) for all atoms.
    fn vesicle(lipids: u32, relaxed: bool, radius: Option<f32>) -> Self {
        let lipid = popc();
        let lipid = match radius {
            Some(radius) => lipid
                .with_uniform_radius(radius)
                .expect("the radius is positive"),
            None => lipid,
        };
        let lipid = Arc::new(lipid);
        let vesicle = vesicle_of(&lipid, lipids);
        let mut relaxer =
            Relaxer::new(vesicle.crowd, RelaxConfig::default()).expect("the vesicle is finite");
        if relaxed {
            relaxer
                .run(|_| ControlFlow::Continue(()))
                .expect("the vesicle is finite");
        }
        let crowd = relaxer.into_crowd();
        let poses = crowd.members().iter().map(|member| member.pose).collect();
        Self { lipid, poses }
    }

    fn atom_count(&self) -> usize {
        self.poses.len() * self.lipid.atom_count()
    }

    /// An app with these lipids, after the untimed steps.
    fn app(&self, kind: Kind) -> App {
        let mut app = Settings::default().app(kind);
        let lipid = Body::new(&mut app, &self.lipid);
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for pose in &self.poses {
            let velocity = Velocity::linear(random_vector(&mut random, SPEED));
            lipid.spawn(&mut app, kind, (transform(pose), velocity));
        }
        for _ in 0..WARM_UP {
            app.update();
        }
        app
    }
}

pub fn worlds(run: &mut Run, options: &Options) -> Done {
    let default_size = [run.pick(LIPIDS, FEW_LIPIDS)];
    let sizes = match &options.lipids[..] {
        [] => &default_size[..],
        sizes => sizes,
    };
    for &lipids in sizes {
        let mut medians = Vec::new();
        let mut atoms = 0;
        for (_, relaxed, radius) in STATES {
            let scene = Scene::vesicle(lipids, relaxed, radius);
            atoms = scene.atom_count();
            medians.push(compare(&scene, run.pick(ROUNDS, 1)));
        }
        let mut columns = vec![Column::text("world")];
        columns.extend(STATES.map(|(state, ..)| Column::measured(state, "ms").decimals(2)));
        let faster = "times faster than compounds: ";
        columns.extend(STATES.map(|(state, ..)| Column::number(format!("{faster}{state}"))));
        let title = format!("{lipids} lipids, {atoms} atoms, ms per step.");
        let mut table = run.table(&title, columns);
        for (world, kind) in KINDS.iter().enumerate() {
            let mut row = vec![Cell::from(kind.name())];
            row.extend(medians.iter().map(|times| Cell::from(ms(times[world]))));
            let slowest = KINDS.len() - 1;
            let faster = medians
                .iter()
                .map(|times| ratio(times[slowest], times[world]));
            row.extend(faster.map(Cell::from));
            table.row(row);
        }
    }
    Ok(())
}

/// The time of a step in each world.
fn compare(scene: &Scene, rounds: usize) -> [Duration; 4] {
    let mut samples: [[Samples; STEPS]; 4] = Default::default();
    for _ in 0..rounds {
        for (kind, samples) in KINDS.iter().zip(&mut samples) {
            // Overlaps shrink step by step, so all worlds are timed over the same steps.
            let mut app = scene.app(*kind);
            for samples in samples {
                samples.time(|| app.update());
            }
        }
    }
    samples.map(|steps| {
        steps
            .iter()
            .map(Samples::best)
            .collect::<Samples>()
            .median()
    })
}

/// What the plugin adds to Rapier's step.
pub fn overhead(run: &mut Run, _: &Options) -> Done {
    let scene = Scene::vesicle(run.pick(MANY_LIPIDS, FEW_LIPIDS), true, None);
    let mut app = scene.app(Kind::CrowdOnly);
    let steps = (0..run.pick(STAGED_STEPS, 1)).map(|_| Step::of(&mut app));
    let steps: Vec<Step> = steps.collect();
    let of = |stage: fn(&Step) -> Duration| ms(median(&steps, stage));
    let title = format!(
        "{} lipids without colliders, {} atoms; the median of a step's stages.",
        scene.poses.len(),
        scene.atom_count()
    );
    let columns = vec![
        Column::text("stage"),
        Column::measured("ms", "ms").decimals(2),
    ];
    let mut table = run.table(&title, columns);
    table.row(cells!["gather", of(|step| step.times.gather)]);
    table.row(cells!["detect", of(|step| step.times.detect)]);
    table.row(cells!["respond", of(|step| step.times.respond)]);
    table.row(cells!["apply", of(|step| step.times.apply)]);
    table.row(cells!["Rapier's step", of(|step| step.times.step)]);
    Ok(())
}
