//! `--headless` and `--screenshot`: in a window, in a picture, or not seen at all.

mod display;
#[path = "../picture/mod.rs"]
pub mod picture;
#[cfg(feature = "draw")]
pub mod window;

use std::io::{self, Write};

use clap::Args;

use crate::common::{AnyError, OutputArguments};
use picture::{PictureArguments, Shot};

/// Options of every example that has a window.
#[derive(Args)]
pub struct ScreenArguments {
    /// Run without a window, which is also what happens where there is no display, and with
    /// --report or --quiet.
    #[arg(long, conflicts_with = "screenshot")]
    headless: bool,
    #[command(flatten)]
    picture: PictureArguments,
}

/// Where an example is seen.
#[cfg_attr(
    not(feature = "draw"),
    expect(dead_code, reason = "nothing can draw it")
)]
pub enum Screen {
    Window,
    Picture(Shot),
    /// Not at all; why, unless that is what was asked for.
    Nowhere(Option<String>),
}

impl ScreenArguments {
    /// Decides, and finds out before the work whether it can be drawn after it.
    pub fn choose(&self, output: &OutputArguments) -> Result<Screen, AnyError> {
        output.check()?;
        if let Some(shot) = self.picture.shot()? {
            return match output.report {
                Some(_) => Err("there is no --report of a --screenshot: give one of both".into()),
                None => Ok(Screen::Picture(shot)),
            };
        }
        if self.headless || output.quiet {
            return Ok(Screen::Nowhere(None));
        }
        if !display::is_there() {
            return Ok(Screen::Nowhere(Some("there is no display".into())));
        }
        if output.report.is_some() {
            return Ok(Screen::Nowhere(None));
        }
        Ok(match picture::check_adapter() {
            Ok(()) => Screen::Window,
            Err(error) => Screen::Nowhere(Some(error.to_string())),
        })
    }
}

impl Screen {
    /// Says why there is no window, if there is none for a reason. To be called when the
    /// input is known to be good: what is wrong with it would be the only thing to say.
    pub fn announced(self) -> Self {
        if let Self::Nowhere(Some(reason)) = &self {
            // What cannot be said is no reason to stop.
            let _ = writeln!(io::stderr(), "{reason}: it runs without a window");
        }
        self
    }
}
