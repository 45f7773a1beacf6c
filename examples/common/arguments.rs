//! Options that several examples have.

use std::path::PathBuf;

use bevy_rapier_molecules::backend::Backend;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::screen::{Screen, Screenshot, Size, check_adapter, check_display};
use super::{AnyError, CommonArguments, check_target};

/// Default of `--seed`.
const DEFAULT_SEED: u64 = 1;

/// `--backend`.
#[derive(Args)]
pub struct BackendArguments {
    /// Where to compute: on a hardware GPU if there is one, on the CPU, or on any GPU, even a
    /// software one [default: auto].
    #[arg(long, value_name = "WHERE", value_parser = backend_parser())]
    backend: Option<Backend>,
}

impl BackendArguments {
    /// The given or default backend.
    pub fn get(&self) -> Backend {
        self.or(Backend::default())
    }

    /// The given backend, else that of a preset.
    pub fn or(&self, preset: Backend) -> Backend {
        self.backend.unwrap_or(preset)
    }
}

fn backend_parser() -> impl TypedValueParser<Value = Backend> {
    PossibleValuesParser::new(Backend::ALL.map(Backend::name))
        .try_map(|name| name.parse::<Backend>())
}

/// `--seed`.
#[derive(Args)]
pub struct SeedArguments {
    /// Seed of the random numbers; the same seed gives the same bits [default: 1].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl SeedArguments {
    /// The given or default seed.
    pub fn get(&self) -> u64 {
        self.or(DEFAULT_SEED)
    }

    /// The given seed.
    pub fn given(&self) -> Option<u64> {
        self.seed
    }

    /// The given seed, else that of a preset.
    pub fn or(&self, preset: u64) -> u64 {
        self.seed.unwrap_or(preset)
    }
}

/// Options of every example that can save a screenshot.
#[derive(Args)]
pub struct ScreenshotArguments {
    /// Save a screenshot to this .png file and quit. Needs no display, only a GPU or a software
    /// adapter.
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

impl ScreenshotArguments {
    /// The screenshot to save, if any. Fails if it cannot be rendered or written.
    pub fn get(&self) -> Result<Option<Screenshot>, AnyError> {
        let Some(file) = &self.screenshot else {
            return Ok(None);
        };
        if file.extension().is_none_or(|extension| extension != "png") {
            return Err(format!("'{}' must end in .png", file.display()).into());
        }
        check_target(file)?;
        check_adapter()?;
        Ok(Some(Screenshot {
            file: file.clone(),
            size: self.size_of_picture,
        }))
    }
}

/// Options of every example with a window.
#[derive(Args)]
pub struct SceneArguments {
    #[command(flatten)]
    pub seed: SeedArguments,
    #[command(flatten)]
    pub backend: BackendArguments,
    #[command(flatten)]
    pub common: CommonArguments,
    /// Run without a window. This is the default without a display, and with --report or
    /// --quiet.
    #[arg(long, conflicts_with = "screenshot")]
    headless: bool,
    #[command(flatten)]
    screenshot: ScreenshotArguments,
}

impl SceneArguments {
    /// Chooses the screen, checks that it can be used, and calls [`CommonArguments::prepare`].
    pub fn prepare(&self) -> Result<Screen, AnyError> {
        let common = &self.common;
        common.prepare()?;
        if let Some(screenshot) = self.screenshot.get()? {
            return match common.report {
                Some(_) => Err("--report and --screenshot exclude each other".into()),
                None => Ok(Screen::Screenshot(screenshot)),
            };
        }
        if self.headless || common.quiet {
            return Ok(Screen::Headless(None));
        }
        if let Err(reason) = check_display() {
            return Ok(Screen::Headless(Some(reason)));
        }
        if common.report.is_some() {
            return Ok(Screen::Headless(None));
        }
        Ok(match check_adapter() {
            Ok(()) => Screen::Window,
            Err(error) => Screen::Headless(Some(error.to_string())),
        })
    }
}
