//! Detection of the contacts of a crowd: by molecules, against a grid over all atoms.

use std::error::Error;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Duration;

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::dynamics::{ContactMember, CrowdContacts, MovingBody};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{RelaxConfig, Relaxer};
use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
use bevy_rapier_molecules::search::{AutoGrid, RigidSpheres};
use glam::Quat;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::Options;
use crate::common::interleave::{Samples, ms, ratio};
use crate::common::molecules::{bundled, popc, vesicle_of};
use crate::common::{Column, Done, Run, cells};
use crate::pile::FILES;
use crate::world::random_vector;

/// Rotation per nm of motion, rad.
const TURN_PER_NM: f32 = 0.5;

/// Steps of which the median is taken.
const STEPS: usize = 15;

pub fn run(run: &mut Run, _: &Options) -> Done {
    let proteins = FILES.map(|file| Arc::new(bundled(file)));
    let config = CrowdedBoxConfig {
        molecules: run.pick(2000, 50),
        ..CrowdedBoxConfig::default()
    };
    let proteins = crowded_box(&proteins, &config)?;
    let thin = Arc::new(popc().with_uniform_radius(0.1)?);
    let thick = Arc::new(popc().with_uniform_radius(0.17)?);
    let vesicle = vesicle_of(&thin, run.pick(29_850, 150)).crowd;
    let mut relaxer = Relaxer::new(vesicle, RelaxConfig::default())?;
    relaxer.run(|_| ControlFlow::Continue(()))?;
    let vesicle = relaxer.into_crowd();
    let overlapping = vesicle_of(&thick, run.pick(746, 150)).crowd;
    let scenes = [
        ("proteins, half of which touch", &proteins, 0.01),
        ("relaxed vesicle, settled", &vesicle, 0.0),
        ("relaxed vesicle, trembling", &vesicle, 0.002),
        ("relaxed vesicle, fast", &vesicle, 0.1),
        ("overlapping lipids", &overlapping, 0.01),
    ];
    let title = "Detection of contacts, ms per substep.";
    let columns = vec![
        Column::text("scene"),
        Column::number("molecules"),
        Column::number("atoms"),
        Column::number("motion, nm").decimals(3),
        Column::measured("by molecules", "ms").decimals(2),
        Column::measured("grid over all atoms", "ms").decimals(2),
        Column::measured("times faster", ""),
    ];
    let mut table = run.table(title, columns);
    for (name, crowd, motion) in scenes {
        let [by_molecules, grid] = compare(crowd, motion)?;
        let (molecules, atoms) = (crowd.members().len(), crowd.atom_count());
        table.row(cells![
            name,
            molecules as f64,
            atoms as f64,
            f64::from(motion),
            ms(by_molecules),
            ms(grid),
            ratio(grid, by_molecules)
        ]);
    }
    Ok(())
}

/// Median times of both searches, in turns, over molecules that move by up to `motion`, nm, from
/// their places along each axis.
fn compare(crowd: &Crowd, motion: f32) -> Result<[Duration; 2], Box<dyn Error>> {
    let shapes = crowd.templates().iter();
    let shapes: Vec<_> = shapes
        .map(|template| Arc::new(RigidSpheres::atoms(template)))
        .collect();
    let mut searches = [CrowdContacts::default(), CrowdContacts::default()];
    searches[1].set_search(Box::new(AutoGrid::new()));
    for contacts in &mut searches {
        let members = crowd.members().iter().zip(0..);
        let members = members.map(|(member, id)| ContactMember {
            id,
            spheres: shapes[member.template as usize].clone(),
            ..ContactMember::default()
        });
        contacts.set_members(members.collect())?;
    }
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut times: [Samples; 2] = Default::default();
    for _ in 0..STEPS {
        let bodies = crowd.members().iter().map(|member| {
            let mut pose = member.pose;
            if motion > 0.0 {
                let shift = random_vector(&mut random, motion);
                let turn = Quat::from_scaled_axis(TURN_PER_NM * shift);
                pose = Pose::new(pose.position + shift, (turn * pose.rotation).normalize());
            }
            MovingBody {
                pose,
                center: pose.position,
                ..MovingBody::default()
            }
        });
        let bodies: Vec<MovingBody> = bodies.collect();
        let mut found = Vec::new();
        for (contacts, times) in searches.iter_mut().zip(&mut times) {
            contacts.gather(|member| bodies.get(member.index()).copied())?;
            times.time(|| contacts.detect())?;
            found.push(contacts.candidate_pairs());
        }
        if found[0] != found[1] {
            return Err(format!("the searches find {found:?} pairs").into());
        }
    }
    Ok(times.map(|times| times.median()))
}
