//! Progress on standard error: a bar on a terminal, else a line every two seconds.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Time between two updates of the bar.
const BAR_INTERVAL: Duration = Duration::from_millis(100);

/// Time between two lines.
const LINE_INTERVAL: Duration = Duration::from_secs(2);

/// Length of the bar; only fractions of it matter.
const BAR_LENGTH: u64 = 1000;

/// Shows progress on standard error.
pub struct Progress {
    output: Output,
    begin: Instant,
    last_update: Option<Instant>,
}

enum Output {
    Nothing,
    Lines,
    /// The bar, while it is visible.
    Bar(Option<ProgressBar>),
}

impl Progress {
    /// Shows a bar on a terminal, else lines; nothing if `quiet`.
    pub fn new(quiet: bool) -> Self {
        let output = if quiet {
            Output::Nothing
        } else if io::stderr().is_terminal() {
            Output::Bar(None)
        } else {
            Output::Lines
        };
        Self {
            output,
            begin: Instant::now(),
            last_update: None,
        }
    }

    /// Shows the fraction of the work that is done, from 0 to 1, and a text. Does nothing if
    /// the last update was a moment ago.
    pub fn update(&mut self, done: f64, text: impl FnOnce() -> String) {
        let interval = match self.output {
            Output::Nothing => return,
            Output::Lines => LINE_INTERVAL,
            Output::Bar(_) => BAR_INTERVAL,
        };
        if self
            .last_update
            .is_some_and(|last| last.elapsed() < interval)
        {
            return;
        }
        self.last_update = Some(Instant::now());
        self.show(done, text());
    }

    /// Like [`update`](Self::update), at once.
    pub fn show(&mut self, done: f64, text: String) {
        match &mut self.output {
            Output::Nothing => {}
            Output::Lines => {
                // Progress that cannot be printed is no reason to stop.
                let _ = writeln!(io::stderr(), "{text}");
            }
            Output::Bar(bar) => {
                let bar = bar.get_or_insert_with(|| new_bar(self.begin.elapsed()));
                bar.set_position((done.clamp(0.0, 1.0) * BAR_LENGTH as f64) as u64);
                bar.set_message(text);
            }
        }
    }

    /// Hides the bar until the next update. Call it before printing to the terminal.
    pub fn clear(&mut self) {
        if let Output::Bar(bar) = &mut self.output
            && let Some(bar) = bar.take()
        {
            bar.finish_and_clear();
        }
    }
}

/// A bar of work that began `elapsed` ago.
fn new_bar(elapsed: Duration) -> ProgressBar {
    let bar = ProgressBar::new(BAR_LENGTH).with_elapsed(elapsed);
    // The template is a constant. If it is invalid, the default style is used.
    if let Ok(style) = ProgressStyle::with_template("{elapsed} [{bar:8}] {wide_msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}
