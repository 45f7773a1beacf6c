//! Options of the command line, and the preset that they make.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, vesicle};
use clap::Parser;

use super::common::{AnyError, SceneArguments};
use super::molecules::MoleculeKind;
use super::preset::{BUNDLED, Law, MAX_RADIUS_NM, MAX_TOLERANCE_NM, Preset};
use super::relaxation::{self, RelaxArguments};
use super::simulation::refuse_too_many;

/// Area of a leaflet at its heads for each lipid, unless told otherwise, nm²: that
/// of 500 + 120 lipids at 5.2 nm.
const AREA_PER_LIPID_NM2: f32 = 1.23;

/// Builds a vesicle of lipids at random places and relaxes it until nothing overlaps.
///
/// With a display it is an editor: every parameter can be changed while it runs. The size
/// is either --outer, --inner and --radius, or --lipids and --area-per-lipid.
#[derive(Parser)]
#[command(after_help = relaxation::after_help())]
pub struct Arguments {
    /// Start from a preset: a .ron file, or one of --list-presets. Other options go
    /// before it.
    #[arg(long, value_name = "NAME")]
    preset: Option<PathBuf>,
    /// List the presets that come with the program, and end.
    #[arg(long)]
    pub list_presets: bool,
    #[command(flatten)]
    size: SizeArguments,
    /// Structure file of the lipid [default: the POPC that comes with the program].
    #[arg(long, value_name = "FILE")]
    lipid: Option<PathBuf>,
    /// Atoms closer than this many nm overlap [default: when their spheres do, 0.7 of the
    /// van der Waals radii].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    tolerance: Option<f32>,
    /// How far lipids may leave their distance from the mid-surface, nm [default: 0.2].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    leeway: Option<f32>,
    /// How far lipids may lean away from the normal, degrees [default: 25].
    #[arg(long, value_name = "DEG", allow_negative_numbers = true)]
    tilt_leeway: Option<f32>,
    #[command(flatten)]
    pub relaxation: RelaxArguments,
    #[command(flatten)]
    pub scene: SceneArguments,
    /// Number of steps without a window or before a screenshot: max iterations [default: until
    /// it comes to rest].
    #[arg(long, value_name = "N", conflicts_with = "max_iterations")]
    pub steps: Option<u32>,
    /// With --screenshot: show the editor's panels, too.
    #[arg(long, requires = "screenshot")]
    pub panel: bool,
    /// Leave out the half in front, to look inside.
    #[arg(long)]
    cut_open: bool,
}

/// Two ways to say how large the vesicle is.
#[derive(clap::Args)]
struct SizeArguments {
    /// Lipids of the outer leaflet [default: 500].
    #[arg(long, value_name = "N")]
    outer: Option<u32>,
    /// Lipids of the inner leaflet [default: 120].
    #[arg(long, value_name = "N")]
    inner: Option<u32>,
    /// Radius of the mid-surface, nm [default: 5.2].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    radius: Option<f32>,
    /// Lipids of both leaflets; they are split by area, and the radius follows.
    #[arg(long, value_name = "N")]
    lipids: Option<u32>,
    /// With --lipids: area at the heads for each lipid, nm² [default: 1.23].
    #[arg(long, value_name = "NM2", allow_negative_numbers = true)]
    area_per_lipid: Option<f32>,
}

impl Arguments {
    /// The preset, with what the other options say.
    pub fn preset(&self) -> Result<Preset, AnyError> {
        let mut preset = match &self.preset {
            Some(name) => named(name)?,
            None => Preset::default(),
        };
        if let Some(path) = &self.lipid {
            preset.molecule = MoleculeKind::File(path.clone());
        }
        if let Some(tolerance) = self.tolerance {
            preset.tolerance = Some(within("--tolerance", tolerance, MAX_TOLERANCE_NM)?);
        }
        if let Some(leeway) = self.leeway {
            preset.leeway = not_negative("--leeway", leeway)?;
        }
        if let Some(tilt) = self.tilt_leeway {
            preset.tilt_leeway = not_negative("--tilt-leeway", tilt)?;
        }
        let relaxation = &self.relaxation;
        if let Some(law) = relaxation.law {
            preset.law = match law {
                relaxation::Law::Thesis => Law::Thesis,
                relaxation::Law::Projection => Law::Projection,
            };
        }
        preset.seed = self.scene.seed.or(preset.seed);
        preset.backend = self.scene.backend.or(preset.backend);
        preset.max_iterations = relaxation.max_iterations.unwrap_or(preset.max_iterations);
        preset.cut_open |= self.cut_open;
        self.size.apply(&mut preset)?;
        Ok(preset)
    }
}

/// A preset that comes with the program, or that of a file.
fn named(name: &Path) -> Result<Preset, AnyError> {
    let bundled = BUNDLED.iter().find(|(known, ..)| Path::new(known) == name);
    Ok(match bundled {
        Some((_, file, text)) => Preset::parse(text, Path::new(file))?,
        None if name.extension().is_none() && !name.exists() => {
            let name = name.display();
            return Err(format!("there is no preset '{name}'; --list-presets names them").into());
        }
        None => Preset::load(name)?,
    })
}

/// Writes a line for each preset that comes with the program: its name, and what it is,
/// which is the first line of its file.
pub fn list_presets(out: &mut dyn Write) -> io::Result<()> {
    for (name, _, text) in BUNDLED {
        let first = text.lines().next().unwrap_or_default();
        writeln!(out, "{name}\t{}", first.trim_start_matches("// "))?;
    }
    out.flush()
}

impl SizeArguments {
    fn apply(&self, preset: &mut Preset) -> Result<(), AnyError> {
        let by_counts = self.outer.is_some() || self.inner.is_some() || self.radius.is_some();
        match (self.lipids, self.area_per_lipid) {
            (None, None) => {
                preset.outer = self.outer.unwrap_or(preset.outer);
                preset.inner = self.inner.unwrap_or(preset.inner);
                if let Some(radius) = self.radius {
                    preset.radius = within("--radius", radius, MAX_RADIUS_NM)?;
                }
                Ok(())
            }
            _ if by_counts => Err(
                "give either --outer, --inner and --radius, or --lipids and --area-per-lipid, not some of both"
                    .into(),
            ),
            (None, Some(_)) => Err("--area-per-lipid needs --lipids".into()),
            (Some(lipids), area) => {
                let area_per_lipid = area.unwrap_or(AREA_PER_LIPID_NM2);
                resolve(preset, lipids, area_per_lipid)
            }
        }
    }
}

/// Turns a density into counts and a radius.
fn resolve(preset: &mut Preset, lipids: u32, area_per_lipid: f32) -> Result<(), AnyError> {
    let template = preset.molecule.template(preset.tolerance)?;
    refuse_too_many(lipids.into(), &template)?;
    let config = VesicleConfig {
        size: VesicleSize::Density {
            lipids,
            area_per_lipid,
        },
        ..preset.vesicle()
    };
    let vesicle = vesicle(Arc::new(template), &config)?;
    preset.radius = within(
        "the radius of the vesicle in nm",
        vesicle.radius,
        MAX_RADIUS_NM,
    )?;
    (preset.outer, preset.inner) = (vesicle.outer, vesicle.inner);
    Ok(())
}

fn within(what: &str, value: f32, most: f32) -> Result<f32, AnyError> {
    if value > 0.0 && value <= most {
        Ok(value)
    } else {
        Err(format!("{what} must be positive and at most {most}, and is {value}").into())
    }
}

fn not_negative(option: &str, value: f32) -> Result<f32, AnyError> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(format!("{option} must be finite and not negative, and is {value}").into())
    }
}
