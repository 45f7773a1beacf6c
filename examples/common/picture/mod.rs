//! `--screenshot`: pictures without a window or a display.

#[cfg(feature = "draw")]
mod offscreen;

use std::path::PathBuf;
use std::str::FromStr;

use clap::Args;

use crate::common::{AnyError, check_target};

#[cfg(feature = "draw")]
pub use offscreen::{app, check_adapter, finish};

/// Options of every example that can make a picture of itself.
#[derive(Args)]
pub struct PictureArguments {
    /// Save a picture to this .png and quit. Needs no display, but an adapter, if only
    /// one in software.
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// With --screenshot: width and height, pixels.
    #[arg(
        long,
        value_name = "WxH",
        default_value = "1280x720",
        requires = "screenshot"
    )]
    size_of_picture: Size,
}

/// Width and height, pixels.
#[derive(Clone, Copy)]
struct Size(u32, u32);

/// Most pixels along a side: what every adapter can do.
const MOST_PIXELS: u32 = 8192;

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let side = |text: &str| text.parse().ok().filter(|n| (1..=MOST_PIXELS).contains(n));
        let sides = text.split_once('x');
        sides
            .and_then(|(width, height)| Some(Self(side(width)?, side(height)?)))
            .ok_or_else(|| format!("it must look like 1280x720, each at most {MOST_PIXELS}"))
    }
}

/// A picture that is to be made.
#[cfg_attr(
    not(feature = "draw"),
    expect(dead_code, reason = "nothing can draw it")
)]
#[derive(Clone)]
pub struct Shot {
    /// The file.
    pub file: PathBuf,
    /// Width and height, pixels.
    pub size: (u32, u32),
}

impl PictureArguments {
    /// The picture, if one is asked for, and can be drawn and written.
    pub fn shot(&self) -> Result<Option<Shot>, AnyError> {
        let Some(file) = &self.screenshot else {
            return Ok(None);
        };
        if file.extension().is_none_or(|extension| extension != "png") {
            return Err(format!("'{}' must end in .png", file.display()).into());
        }
        check_target(file)?;
        check_adapter()?;
        let Size(width, height) = self.size_of_picture;
        Ok(Some(Shot {
            file: file.clone(),
            size: (width, height),
        }))
    }
}

/// Whether something can be drawn: not by this program.
#[cfg(not(feature = "draw"))]
pub fn check_adapter() -> Result<(), AnyError> {
    Err("nothing can be drawn: this program was built without the feature `draw`".into())
}
