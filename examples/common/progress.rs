//! Tells on standard error how far the work is: a bar on a terminal, else a line now and
//! then.

use std::io::{self, IsTerminal, Write};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Time between two updates of the bar.
const BAR_INTERVAL: Duration = Duration::from_millis(100);

/// Time between two lines where there is no terminal.
const LINE_INTERVAL: Duration = Duration::from_secs(2);

/// Length of the bar; only its fraction matters.
const BAR_LENGTH: u64 = 1000;

/// The progress of some work.
pub struct Progress {
    shown: Shown,
    begin: Instant,
    last: Option<Instant>,
}

enum Shown {
    Nothing,
    Lines,
    /// The bar, while it is on the screen.
    Bar(Option<ProgressBar>),
}

impl Progress {
    /// Progress that is shown the way standard error allows, or not at all.
    pub fn new(quiet: bool) -> Self {
        let shown = if quiet {
            Shown::Nothing
        } else if io::stderr().is_terminal() {
            Shown::Bar(None)
        } else {
            Shown::Lines
        };
        Self {
            shown,
            begin: Instant::now(),
            last: None,
        }
    }

    /// Shows that a part of the work is done, from 0 to 1, and says more about it, unless it
    /// just did.
    pub fn update(&mut self, done: f64, text: impl FnOnce() -> String) {
        let interval = match self.shown {
            Shown::Nothing => return,
            Shown::Lines => LINE_INTERVAL,
            Shown::Bar(_) => BAR_INTERVAL,
        };
        if self.last.is_some_and(|last| last.elapsed() < interval) {
            return;
        }
        self.last = Some(Instant::now());
        self.say(done, text());
    }

    /// Shows the same at once.
    pub fn say(&mut self, done: f64, text: String) {
        match &mut self.shown {
            Shown::Nothing => {}
            Shown::Lines => {
                // Progress that cannot be shown is no reason to stop.
                let _ = writeln!(io::stderr(), "{text}");
            }
            Shown::Bar(bar) => {
                let bar = bar.get_or_insert_with(|| new_bar(self.begin.elapsed()));
                bar.set_position((done.clamp(0.0, 1.0) * BAR_LENGTH as f64) as u64);
                bar.set_message(text);
            }
        }
    }

    /// Takes the bar away, until there is more to show: whoever writes to the terminal does
    /// so first.
    pub fn clear(&mut self) {
        if let Shown::Bar(bar) = &mut self.shown
            && let Some(bar) = bar.take()
        {
            bar.finish_and_clear();
        }
    }
}

/// A bar of work that has taken some time already.
fn new_bar(elapsed: Duration) -> ProgressBar {
    let bar = ProgressBar::new(BAR_LENGTH).with_elapsed(elapsed);
    // The template is a constant; should it ever be wrong, the plain bar will do.
    if let Ok(style) = ProgressStyle::with_template("{elapsed} [{bar:8}] {wide_msg}") {
        bar.set_style(style.progress_chars("=> "));
    }
    bar
}
