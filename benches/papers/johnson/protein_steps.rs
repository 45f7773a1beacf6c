//! Section 4.1 for proteins: coarse steps, whose moves are rejected, against fine-grained ones from
//! collision to collision, atom by atom.

use std::error::Error;
use std::sync::Arc;

use bevy_rapier_molecules::motion::brownian::{
    BrownianMolecule, BrownianMolecules, BrownianSteps, Medium, hydrodynamic_radius,
};
use bevy_rapier_molecules::motion::time_of_impact::Wall;
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec3, Vec3};

use crate::common::cpu_time::process_seconds;
use crate::common::molecules::bundled;
use crate::common::{Cell, Column, Done, Run, cells};

/// Distance of the proteins at the start, nm: they do not overlap in any rotation that they have.
const SPACING_NM: f32 = 4.4;

/// Standard deviations of a step along each axis, nm.
const STEPS_NM: [f64; 4] = [0.05, 0.1, 0.2, 0.4];

pub fn run(run: &mut Run) -> Done {
    let (along, longest) = run.pick((5, 25), (2, 1));
    let title = format!(
        "**Fine-grained steps of proteins**: {} ubiquitins in a box, atom by atom, for the same time \
         in steps of different lengths. Collisions per protein and mean squared displacement in \
         that time; CPU time per step.",
        along * along * along
    );
    let columns = vec![
        Column::number("step, nm").decimals(2),
        Column::number("steps"),
        Column::number("coarse: collisions").decimals(1),
        Column::number("fine: collisions").decimals(1),
        Column::number("coarse: displacement, nm²").decimals(2),
        Column::number("fine: displacement, nm²").decimals(2),
        Column::measured("coarse: ms per step", "ms").decimals(1),
        Column::measured("fine: ms per step", "ms").decimals(1),
    ];
    let mut table = run.table(&title, columns);
    let last = STEPS_NM[STEPS_NM.len() - 1];
    for spread in STEPS_NM {
        let steps = ((last / spread).powi(2) * f64::from(longest)).round() as u32;
        let [coarse, fine] = [BrownianSteps::Coarse, BrownianSteps::Fine]
            .map(|kind| measure(along, spread, steps, kind));
        let mut row = cells![spread, steps].to_vec();
        for (coarse, fine) in coarse?.into_iter().zip(fine?) {
            row.extend([coarse, fine]);
        }
        table.row(row);
    }
    Ok(())
}

/// Collisions per protein, mean squared displacement (nm²), and CPU time per step, ms.
fn measure(
    along: u32,
    spread: f64,
    steps: u32,
    kind: BrownianSteps,
) -> Result<[Cell; 3], Box<dyn Error>> {
    let template = Arc::new(bundled("1ubq.cif"));
    let radius = hydrodynamic_radius(f64::from(template.mass()));
    let place = |k: u32| {
        let cell = [k % along, k / along % along, k / along / along];
        let position = Vec3::from_array(cell.map(|k| (k as f32 + 0.5) * SPACING_NM));
        let pose = Pose::from_translation(position);
        BrownianMolecule::in_medium(0, pose, radius, &Medium::default())
    };
    let start: Vec<BrownianMolecule> = (0..along.pow(3)).map(place).collect();
    let side = f64::from(along as f32 * SPACING_NM);
    let walls = Wall::box_faces(DVec3::splat(-1.0), DVec3::splat(side + 1.0)).to_vec();
    let mut crowd = BrownianMolecules::new(&[template], &start, walls, 1)?;
    crowd.set_steps(kind);
    let dt = 0.5 * spread * spread / start[0].diffusion;
    let begin = process_seconds();
    let mut collisions = 0;
    for _ in 0..steps {
        collisions += crowd.step(dt)?.collisions;
    }
    let time = process_seconds().zip(begin).map(|(end, begin)| end - begin);
    let squares = crowd
        .molecules()
        .iter()
        .zip(&start)
        .map(|(now, then)| f64::from(now.pose.position.distance_squared(then.pose.position)));
    let count = start.len() as f64;
    Ok(cells![
        collisions as f64 / count,
        squares.sum::<f64>() / count,
        time.map(|seconds| seconds * 1.0e3 / f64::from(steps)),
    ])
}
