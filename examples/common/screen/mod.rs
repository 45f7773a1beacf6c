//! Examples with a window: their options, and whether they are seen in it, in a picture, or
//! not at all.

#[path = "../backend.rs"]
mod backend;
mod display;
#[path = "../picture/mod.rs"]
pub mod picture;
#[path = "../seed.rs"]
mod seed;
#[cfg(feature = "draw")]
pub mod window;

use std::io::{self, Write};

use clap::Args;

use crate::common::{AnyError, CommonArguments};
use backend::BackendArguments;
use picture::{PictureArguments, Shot};
use seed::SeedArguments;

/// Options of every example that has a window.
#[derive(Args)]
pub struct SceneArguments {
    #[command(flatten)]
    pub seed: SeedArguments,
    #[command(flatten)]
    pub backend: BackendArguments,
    #[command(flatten)]
    pub common: CommonArguments,
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

impl SceneArguments {
    /// Decides where, and finds out before the work whether it can be drawn after it. To be
    /// called once, before anything else.
    pub fn prepare(&self) -> Result<Screen, AnyError> {
        let common = &self.common;
        common.prepare()?;
        if let Some(shot) = self.picture.shot()? {
            return match common.report {
                Some(_) => Err("there is no --report of a --screenshot: give one of both".into()),
                None => Ok(Screen::Picture(shot)),
            };
        }
        if self.headless || common.quiet {
            return Ok(Screen::Nowhere(None));
        }
        if let Err(reason) = display::check() {
            return Ok(Screen::Nowhere(Some(reason)));
        }
        if common.report.is_some() {
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
