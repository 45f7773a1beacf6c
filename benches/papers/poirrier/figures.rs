//! Figures 11 and 12: small numbers of spheres in early and late steps.

use super::competitor::Kind;
use super::measure::{Experiment, Measured};
use super::{EARLY, LATE, RUNS};
use crate::Options;
use crate::common::{Cell, Column, Done, Run};
use crate::plots::{Line, Plot};

/// Numbers of spheres.
const COUNTS: [u32; 5] = [500, 1000, 2000, 5000, 10_000];

/// CPU seconds per search and number of spheres.
const MAX_SECONDS: f64 = 5.0;

pub fn run(run: &mut Run, options: &Options) -> Done {
    std::fs::create_dir_all(&options.out)?;
    let counts = run.pick(&COUNTS[..], &[200]);
    for (figure, stage, steps) in [(11, "early", EARLY), (12, "late", LATE)] {
        let steps = match run.quick {
            true => *steps.start()..=*steps.start() + 1,
            false => steps,
        };
        let mut outcomes = Vec::new();
        for &count in counts {
            let experiment = Experiment {
                count,
                steps: steps.clone(),
                runs: run.pick(RUNS, 1),
                kinds: &Kind::ALL,
                max_seconds: MAX_SECONDS,
            };
            outcomes.push((count, experiment.run()?));
        }
        let title = format!(
            "**Poirrier, figure {figure}** ({stage} steps, {} to {}). CPU ms per step on one \
             thread: means over runs and steps, then standard deviations.",
            steps.start(),
            steps.end()
        );
        let mut columns = vec![Column::number("N")];
        columns.extend(Kind::ALL.map(|kind| Column::measured(kind.name(), "ms")));
        let deviation = |kind: Kind| format!("± {}", kind.name());
        columns.extend(Kind::ALL.map(|kind| Column::measured(deviation(kind), "ms").headed("±")));
        let mut table = run.table(&title, columns);
        for (count, outcome) in &outcomes {
            let mut row: Vec<Cell> = vec![(*count).into()];
            row.extend(outcome.iter().map(|measured| measured.mean_ms().into()));
            row.extend(
                outcome
                    .iter()
                    .map(|measured| measured.deviation_ms().into()),
            );
            table.row(row);
        }
        plot(options, figure, stage, &outcomes)?;
    }
    Ok(())
}

fn plot(options: &Options, figure: u32, stage: &str, outcomes: &[(u32, Vec<Measured>)]) -> Done {
    let lines = Kind::ALL.iter().enumerate().map(|(at, kind)| Line {
        points: outcomes
            .iter()
            .map(|(count, measured)| (f64::from(*count), measured[at].mean_ms()))
            .collect(),
        ..Line::new(kind.name())
    });
    let lines: Vec<Line> = lines.collect();
    let plot = Plot {
        title: &format!("Poirrier, figure {figure}: falling spheres, {stage} steps"),
        names: ["spheres", "CPU ms per step"],
        logarithmic: false,
        lines: &lines,
    };
    plot.write(&options.out.join(format!("poirrier_figure_{figure}")))
}
