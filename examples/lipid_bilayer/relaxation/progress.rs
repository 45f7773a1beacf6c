//! Tells on standard error how far a relaxation is: a bar on a terminal, else a
//! line now and then.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use bevy_rapier_molecules::relax::{RelaxStatus, Relaxer};
use indicatif::{ProgressBar, ProgressStyle};

/// Time between two updates of the bar.
const BAR_INTERVAL: Duration = Duration::from_millis(100);

/// Time between two lines where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(2);

/// Length of the bar; only its fraction matters.
const BAR_LENGTH: u64 = 1000;

/// The progress of one relaxation.
pub struct Progress {
    shown: Shown,
    last: Option<Instant>,
}

enum Shown {
    Nothing,
    Lines,
    Bar(ProgressBar),
}

impl Progress {
    /// Progress that is shown the way standard error allows, or not at all.
    pub fn new(quiet: bool) -> Self {
        let shown = if quiet {
            Shown::Nothing
        } else if io::stderr().is_terminal() {
            let bar = ProgressBar::new(BAR_LENGTH);
            // The template is a constant; should it ever be wrong, the plain bar will do.
            if let Ok(style) = ProgressStyle::with_template("{elapsed} [{bar:8}] {wide_msg}") {
                bar.set_style(style.progress_chars("=> "));
            }
            Shown::Bar(bar)
        } else {
            Shown::Lines
        };
        Self { shown, last: None }
    }

    /// Shows where the relaxation is, unless it just did.
    pub fn update(&mut self, relaxer: &Relaxer) {
        let interval = match self.shown {
            Shown::Nothing => return,
            Shown::Lines => LINE_INTERVAL,
            Shown::Bar(_) => BAR_INTERVAL,
        };
        if self.last.is_some_and(|last| last.elapsed() < interval) {
            return;
        }
        self.last = Some(Instant::now());
        let status = relaxer.status();
        if let Shown::Bar(bar) = &self.shown {
            let done = fraction_done(&relaxer.start_status(), &status);
            bar.set_position((done * BAR_LENGTH as f64) as u64);
        }
        self.say(&format!(
            "iteration {}: {} overlaps, deepest {:.4} nm, {} out of place",
            relaxer.iterations(),
            status.overlaps,
            status.max_penetration_nm,
            status.out_of_place,
        ));
    }

    /// Shows a message in place of the iterations.
    pub fn say(&self, message: &str) {
        match &self.shown {
            Shown::Nothing => {}
            Shown::Lines => {
                // Progress that cannot be shown is no reason to stop.
                let _ = writeln!(io::stderr(), "{message}");
            }
            Shown::Bar(bar) => bar.set_message(message.to_owned()),
        }
    }

    /// Takes the bar away.
    pub fn clear(&self) {
        if let Shown::Bar(bar) = &self.shown {
            bar.finish_and_clear();
        }
    }
}

/// How much of the burden is gone, on a logarithmic scale: the last few overlaps
/// take as long as the first million.
fn fraction_done(start: &RelaxStatus, now: &RelaxStatus) -> f64 {
    let burden = |status: &RelaxStatus| ((status.unresolved + status.out_of_place) as f64).ln_1p();
    let start = burden(start);
    if start > 0.0 {
        (1.0 - burden(now) / start).clamp(0.0, 1.0)
    } else {
        1.0
    }
}
