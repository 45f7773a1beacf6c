//! Which scenes the law of the thesis brings to rest: collisions "resolved" in its words, all
//! molecules green.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy_rapier_molecules::force::ThesisSteps;
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::relax::{ReactionLaw, RelaxConfig, RelaxReport, Relaxer};
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, VesicleStart, vesicle};

use super::lipid;
use crate::common::{Column, Done, Run, cells};

/// Seeds of each scene.
const SEEDS: u64 = 5;

/// A scene and the step sizes of the law.
struct Case {
    lipids: u32,
    /// nm² at the heads.
    area_per_lipid: f32,
    start: VesicleStart,
    steps: ThesisSteps,
}

fn cases() -> Vec<Case> {
    let steps = ThesisSteps::default();
    let case = |area_per_lipid: f32, start: VesicleStart, steps: ThesisSteps| Case {
        lipids: 620,
        area_per_lipid,
        start,
        steps,
    };
    let (even, uniform) = (VesicleStart::Even, VesicleStart::Uniform);
    let large = Case {
        lipids: 2000,
        ..case(1.23, uniform, steps)
    };
    let scaled = |factor: f32| ThesisSteps {
        force: steps.force * factor,
        torque: steps.torque * factor,
        ..steps
    };
    let first = ThesisSteps {
        force: 2.0e-4,
        torque: 1.0e-4,
        spring_force: 2.0e-3,
        spring_torque: 0.1,
    };
    let with = |force: f32, torque: f32| ThesisSteps {
        force,
        torque,
        ..steps
    };
    vec![
        case(2.0, uniform, steps),
        case(1.6, uniform, steps),
        case(1.4, uniform, steps),
        case(1.23, uniform, steps),
        case(1.23, even, steps),
        large,
        case(1.4, uniform, scaled(0.5)),
        case(1.4, uniform, scaled(0.25)),
        case(1.4, uniform, scaled(0.125)),
        case(1.4, uniform, with(1.0e-3, 1.0e-4)),
        case(1.23, uniform, scaled(0.5)),
        case(1.23, uniform, with(2.0e-3, 1.2e-2)),
        case(1.23, uniform, with(3.0e-3, 1.6e-2)),
        // The defaults of earlier versions.
        case(2.0, uniform, first),
    ]
}

pub fn run(run: &mut Run) -> Done {
    let seeds = run.pick(SEEDS, 1);
    let mut cases = cases();
    if run.quick {
        cases.truncate(1);
        cases[0].lipids = 100;
    }
    let config = RelaxConfig::default();
    let title = format!(
        "The law of section 4.3 on the CPU, seeds 1 to {seeds}: at rest means that no pair of atoms \
         of different lipids is closer than 0.2 nm plus {} nm, and every lipid is within its leeways \
         (0.2 nm, 25°), within {} iterations and without {} iterations that bring no progress. \
         Iterations: median of the runs at rest. Overlaps: at the end, the worst run.",
        config.clearance, config.max_iterations, config.stall_window
    );
    let columns = vec![
        Column::number("lipids"),
        Column::measured("area per lipid", "nm²").decimals(2),
        Column::text("start"),
        Column::measured("force", "nm³").decimals(5),
        Column::measured("torque", "1/nm").decimals(4),
        Column::number("spring force").decimals(3),
        Column::number("spring torque").decimals(1),
        Column::text("at rest"),
        Column::number("iterations").decimals(0),
        Column::number("overlaps at the start, mean"),
        Column::number("overlaps at the end").decimals(0),
        Column::number("out of place").decimals(0),
    ];
    let lipid = lipid();
    let mut table = run.table(&title, columns);
    for case in &cases {
        let reports: Result<Vec<_>, _> =
            (1..=seeds).map(|seed| relax(&lipid, case, seed)).collect();
        let reports = reports?;
        let mut iterations: Vec<u32> = reports
            .iter()
            .filter(|report| report.converged())
            .map(|report| report.iterations)
            .collect();
        iterations.sort_unstable();
        let worst = reports.iter().max_by_key(|report| report.end.remaining());
        let starts: u64 = reports.iter().map(|report| report.start.overlaps).sum();
        table.row(cells![
            u64::from(case.lipids),
            f64::from(case.area_per_lipid),
            match case.start {
                VesicleStart::Even => "even",
                _ => "uniform",
            },
            f64::from(case.steps.force),
            f64::from(case.steps.torque),
            f64::from(case.steps.spring_force),
            f64::from(case.steps.spring_torque),
            format!("{} of {}", iterations.len(), reports.len()),
            iterations
                .get(iterations.len() / 2)
                .map(|&count| f64::from(count)),
            starts / seeds,
            worst.map(|report| report.end.overlaps as f64),
            worst.map(|report| report.end.out_of_place as f64),
        ]);
    }
    Ok(())
}

fn relax(
    lipid: &Arc<MoleculeTemplate>,
    case: &Case,
    seed: u64,
) -> Result<RelaxReport, Box<dyn std::error::Error>> {
    let config = VesicleConfig {
        size: VesicleSize::Density {
            lipids: case.lipids,
            area_per_lipid: case.area_per_lipid,
        },
        start: case.start,
        seed,
        ..VesicleConfig::default()
    };
    let crowd = vesicle(Arc::clone(lipid), &config)?.crowd;
    let config = RelaxConfig {
        law: ReactionLaw::Thesis(case.steps),
        ..RelaxConfig::default()
    };
    let mut relaxer = Relaxer::new(crowd, config)?;
    Ok(relaxer.run(|_| ControlFlow::Continue(()))?)
}
