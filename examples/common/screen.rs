//! Where an example is shown: in a window, in a screenshot, or not at all.

use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;

use super::AnyError;

/// Max width and height of a screenshot, pixels: the limit of the smallest adapters.
const MAX_PIXELS: u32 = 8192;

/// Where an example is shown.
pub enum Screen {
    Window,
    Screenshot(Screenshot),
    /// Not at all, with the reason why a window is not possible.
    Headless(Option<String>),
}

impl Screen {
    /// Prints why there is no window. Call it once the input is known to be valid: an error in
    /// the input must be the only message.
    pub fn announce(self) -> Self {
        if let Self::Headless(Some(reason)) = &self {
            // A message that cannot be printed is no reason to stop.
            let _ = writeln!(io::stderr(), "{reason}: running without a window");
        }
        self
    }
}

/// A screenshot to save.
#[derive(Clone)]
pub struct Screenshot {
    pub file: PathBuf,
    pub size: Size,
}

/// Width and height, pixels.
#[derive(Clone, Copy)]
pub struct Size {
    pub width: u32,
    pub height: u32,
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let parse = |text: &str| text.parse().ok().filter(|n| (1..=MAX_PIXELS).contains(n));
        let sides = text.split_once('x');
        sides
            .and_then(|(width, height)| {
                Some(Self {
                    width: parse(width)?,
                    height: parse(height)?,
                })
            })
            .ok_or_else(|| {
                format!("expected a size such as 1280x720, at most {MAX_PIXELS} per side")
            })
    }
}

/// Checks that a window can be opened. `DISPLAY` is not enough: its server may have ended or
/// refuse connections, and then Bevy's window panics.
#[cfg(target_os = "linux")]
pub fn check_display() -> Result<(), String> {
    // Bevy is built with X11, which Wayland compositors offer, too, and then set `DISPLAY`.
    match std::env::var("DISPLAY") {
        Ok(name) if !name.is_empty() => match x11rb::connect(None) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("cannot open the display '{name}': {error}")),
        },
        _ => Err("there is no display".into()),
    }
}

/// Checks that a window can be opened, which other systems always allow.
#[cfg(not(target_os = "linux"))]
pub fn check_display() -> Result<(), String> {
    Ok(())
}

/// Checks that there is an adapter to draw with. Without one, Bevy's renderer panics.
#[cfg(feature = "draw")]
pub fn check_adapter() -> Result<(), AnyError> {
    match bevy_rapier_molecules::render::offscreen::adapter() {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("cannot draw: {error}").into()),
    }
}

/// Fails: this build cannot draw.
#[cfg(not(feature = "draw"))]
pub fn check_adapter() -> Result<(), AnyError> {
    Err("cannot draw: this program was built without the feature `draw`".into())
}
