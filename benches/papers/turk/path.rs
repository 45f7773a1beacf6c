//! Figure 3 and section 5.3: collisions along the path of a motion.

use bevy_rapier_molecules::pose::{Pose, RigidMotion};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::molecules::{DHFR, TRIMETHOPRIM};
use super::scene::{Scene, unit};
use crate::common::{Column, Done, Run, cells};

/// Lengths of the motions, nm.
const LENGTHS_NM: [f32; 6] = [0.02, 0.05, 0.1, 0.2, 0.5, 1.0];

/// Rotation per length, radian/nm.
const TURN_PER_NM: f32 = 1.0;

/// Spread of the directions around that of the center of the receptor.
const SPREAD: f32 = 0.8;

/// Motions of each length.
const MOTIONS: usize = 400;

/// Distance of two samples of a path, nm, relative to the motion of the center.
const SAMPLE_NM: f32 = 0.0005;

pub fn run(run: &mut Run) -> Done {
    let scene = Scene::new(DHFR, TRIMETHOPRIM)?;
    let wanted = run.pick(MOTIONS, 4);
    let lengths = run.pick(&LENGTHS_NM[..], &LENGTHS_NM[2..3]);
    let columns = vec![
        Column::measured("motion, nm", "nm").decimals(2),
        Column::number("motions"),
        Column::number("collide"),
        Column::number("static: pass through"),
        Column::measured("static: stop before, nm", "nm"),
        Column::number("binary search: pass through"),
        Column::number("binary search: pass a contact"),
        Column::number("binary search: end in overlap"),
        Column::measured("binary search: stop before, nm", "nm"),
        Column::number("this crate: pass a contact"),
        Column::number("this crate: end in overlap"),
        Column::measured("this crate: stop before, nm", "nm"),
    ];
    let title = format!(
        "**Figure 3.** Motions of trimethoprim near dihydrofolate reductase, by their length: \
         how many collide on their way; of these, how many a method does not stop in time, and \
         how far before the first contact the others end (mean). Paths are sampled every \
         {SAMPLE_NM} nm."
    );
    let mut table = run.table(&title, columns);
    for &length in lengths {
        let mut random = Pcg64::seed_from_u64(1);
        let starts = scene.surface_poses(wanted)?;
        let mut sums = Sums::default();
        for touching in starts {
            let Some((pose, motion)) = motion(&scene, touching, length, &mut random) else {
                continue;
            };
            sums.add(&scene, &pose, &motion, length)?;
        }
        let mean = |(count, sum): (u32, f64)| (count > 0).then(|| sum / f64::from(count));
        table.row(cells![
            f64::from(length),
            sums.motions,
            sums.collide,
            sums.static_passes,
            mean(sums.static_gap),
            sums.binary_passes,
            sums.binary_beyond,
            sums.binary_overlaps,
            mean(sums.binary_gap),
            sums.ours_beyond,
            sums.ours_overlaps,
            mean(sums.ours_gap),
        ]);
    }
    Ok(())
}

/// A motion towards the receptor from a free pose up to its length away from the surface.
fn motion(
    scene: &Scene,
    touching: Pose,
    length: f32,
    random: &mut Pcg64,
) -> Option<(Pose, RigidMotion)> {
    let inwards = (unit(random) * SPREAD - touching.position.normalize()).normalize();
    let back: f32 = random.random_range(0.01..1.0);
    let position = touching.position - inwards * back * length;
    let pose = Pose::new(position, touching.rotation);
    let motion = RigidMotion {
        translation: inwards * length,
        rotation: unit(random) * TURN_PER_NM * length,
    };
    let is_free = !scene.brute_force.collides(&scene.atoms, &pose, &mut 0);
    is_free.then_some((pose, motion))
}

/// Sums over the motions.
#[derive(Default)]
struct Sums {
    motions: u32,
    collide: u32,
    static_passes: u32,
    static_gap: (u32, f64),
    binary_passes: u32,
    binary_beyond: u32,
    binary_overlaps: u32,
    binary_gap: (u32, f64),
    ours_beyond: u32,
    ours_overlaps: u32,
    ours_gap: (u32, f64),
}

impl Sums {
    fn add(&mut self, scene: &Scene, pose: &Pose, motion: &RigidMotion, length: f32) -> Done {
        self.motions += 1;
        let collides = |fraction: f64| {
            let pose = motion.pose_at(pose, fraction);
            scene.brute_force.collides(&scene.atoms, &pose, &mut 0)
        };
        let samples = f64::from((length / SAMPLE_NM).ceil());
        let on_the_way = |sample: &u32| {
            let pose = motion.pose_at(pose, f64::from(*sample) / samples);
            scene.full.collides(&scene.atoms, &pose, &mut 0)
        };
        let Some(first) = (1..=samples as u32).find(on_the_way) else {
            return Ok(());
        };
        self.collide += 1;
        // Between the two samples is the first contact.
        let before = f64::from(first - 1) / samples;
        let after = f64::from(first) / samples;
        let gap = |fraction: f64| f64::from(length) * (before - fraction).max(0.0);
        let add = |sum: &mut (u32, f64), gap: f64| *sum = (sum.0 + 1, sum.1 + gap);
        // The static check: all or nothing.
        if collides(1.0) {
            add(&mut self.static_gap, gap(0.0));
        } else {
            self.static_passes += 1;
        }
        let binary = scene.full.move_to_touch(&scene.atoms, pose, motion, &mut 0);
        match binary {
            1.0 => self.binary_passes += 1,
            _ if collides(binary) => self.binary_overlaps += 1,
            _ if binary > after => self.binary_beyond += 1,
            _ => add(&mut self.binary_gap, gap(binary)),
        }
        let ours = scene.pair(*pose).sweep(motion)?.fraction;
        match ours {
            _ if collides(ours) => self.ours_overlaps += 1,
            _ if ours > after => self.ours_beyond += 1,
            _ => add(&mut self.ours_gap, gap(ours)),
        }
        Ok(())
    }
}
