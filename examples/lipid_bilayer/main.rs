//! A vesicle of two leaflets of lipids at random places, relaxed until no two
//! lipids overlap.
//!
//! ```text
//! cargo run --release --example lipid_bilayer -- --outer 500 --inner 120 --radius 5.2
//!     --tolerance 0.2 --export vesicle.pdb
//! cargo run --release --example lipid_bilayer -- --lipids 7462 --area-per-lipid 1.23
//! ```
//!
//! Without arguments: 500 + 120 POPC lipids at 5.2 nm. `--help` lists the rest.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;

use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load, read_bytes};
use bevy_rapier_molecules::scenes::{Vesicle, VesicleConfig, VesicleSize, vesicle};
use clap::Parser;
use serde::Serialize;

use relaxation::{AnyError, RelaxArguments, Scene};

#[path = "common/backend.rs"]
mod backend;
mod common;
#[path = "common/relaxation/mod.rs"]
mod relaxation;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    common::finish(relaxation::run(&arguments.relaxation, || build(&arguments)))
}

/// Lipids of the outer leaflet, unless told otherwise.
const OUTER: u32 = 500;

/// Lipids of the inner leaflet, unless told otherwise.
const INNER: u32 = 120;

/// Radius of the mid-surface, unless told otherwise, nm.
const RADIUS_NM: f32 = 5.2;

/// Area of a leaflet at its heads for each lipid, unless told otherwise, nm²: that
/// of 500 + 120 lipids at 5.2 nm.
const AREA_PER_LIPID_NM2: f32 = 1.23;

/// Largest tolerance, nm: further apart, no two atoms overlap.
const MAX_TOLERANCE_NM: f32 = 1.0;

/// Largest radius, nm: further out, 32 bits are coarser than the clearance.
const MAX_RADIUS_NM: f32 = 4000.0;

/// Builds a vesicle of lipids at random places and relaxes it until nothing overlaps.
///
/// Its size is either --outer, --inner and --radius, or --lipids and --area-per-lipid.
#[derive(Parser)]
#[command(after_help = relaxation::AFTER_HELP)]
struct Arguments {
    #[command(flatten)]
    size: SizeArguments,
    /// Structure file of the lipid [default: the POPC that comes with the program].
    #[arg(long, value_name = "FILE")]
    lipid: Option<PathBuf>,
    /// Atoms of different lipids closer than this many nm overlap [default: when
    /// their spheres do, 0.7 of the van der Waals radii].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    tolerance: Option<f32>,
    /// How far lipids may leave their distance from the mid-surface, nm.
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    #[arg(default_value_t = VesicleConfig::default().leeway)]
    leeway: f32,
    /// How far lipids may lean away from the normal, degrees.
    #[arg(long, value_name = "DEG", allow_negative_numbers = true)]
    #[arg(default_value_t = VesicleConfig::default().tilt_leeway.to_degrees())]
    tilt_leeway: f32,
    #[command(flatten)]
    relaxation: RelaxArguments,
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

impl SizeArguments {
    fn size(&self) -> Result<VesicleSize, AnyError> {
        let by_counts = self.outer.is_some() || self.inner.is_some() || self.radius.is_some();
        match (self.lipids, self.area_per_lipid) {
            (None, None) => Ok(VesicleSize::Counts {
                outer: self.outer.unwrap_or(OUTER),
                inner: self.inner.unwrap_or(INNER),
                radius: self.radius.unwrap_or(RADIUS_NM),
            }),
            _ if by_counts => Err(
                "give either --outer, --inner and --radius, or --lipids and --area-per-lipid, not some of both"
                    .into(),
            ),
            (None, Some(_)) => Err("--area-per-lipid needs --lipids".into()),
            (Some(lipids), area) => Ok(VesicleSize::Density {
                lipids,
                area_per_lipid: area.unwrap_or(AREA_PER_LIPID_NM2),
            }),
        }
    }
}

/// What the report tells about the vesicle.
#[derive(Serialize)]
struct Details {
    lipid: String,
    outer: u32,
    inner: u32,
    radius_nm: f32,
}

fn build(arguments: &Arguments) -> Result<Scene<Details>, AnyError> {
    let size = arguments.size.size()?;
    let leeway = not_negative("--leeway", arguments.leeway)?;
    let tilt_leeway = not_negative("--tilt-leeway", arguments.tilt_leeway)?.to_radians();
    let (lipid, template) = lipid(arguments)?;
    check_size(&size, template.atom_count())?;
    let config = VesicleConfig {
        size,
        leeway,
        tilt_leeway,
        seed: arguments.relaxation.seed,
    };
    let Vesicle {
        crowd,
        outer,
        inner,
        radius,
        ..
    } = vesicle(Arc::new(template), &config)?;
    within("the radius of the vesicle in nm", radius, MAX_RADIUS_NM)?;
    Ok(Scene {
        name: "lipid_bilayer",
        headline: format!("{outer} outer + {inner} inner lipids ({lipid}) at {radius:.2} nm"),
        crowd,
        tolerance: arguments.tolerance,
        details: Details {
            lipid,
            outer,
            inner,
            radius_nm: radius,
        },
    })
}

/// Name and shape of the lipid, with its radii.
fn lipid(arguments: &Arguments) -> Result<(String, MoleculeTemplate), AnyError> {
    let options = LoadOptions::default();
    let (name, mut template) = match &arguments.lipid {
        Some(path) => (path.display().to_string(), load(path, &options)?),
        None => {
            // In the program, so that it runs from any folder.
            let popc = include_bytes!("../assets/molecules/popc.pdb");
            let structure = read_bytes(popc, "popc.pdb", &options)?;
            ("popc.pdb".to_owned(), structure.template(&options)?)
        }
    };
    if let Some(tolerance) = arguments.tolerance {
        within("--tolerance", tolerance, MAX_TOLERANCE_NM)?;
        template = template.with_uniform_radius(tolerance / 2.0)?;
    }
    Ok((name, template))
}

/// Whether the radius is possible and the atoms can be counted in 32 bits.
fn check_size(size: &VesicleSize, atoms_each: usize) -> Result<(), AnyError> {
    let lipids = match *size {
        VesicleSize::Counts {
            outer,
            inner,
            radius,
        } => {
            within("--radius", radius, MAX_RADIUS_NM)?;
            u64::from(outer) + u64::from(inner)
        }
        VesicleSize::Density { lipids, .. } => lipids.into(),
    };
    let most = u64::from(u32::MAX) / atoms_each as u64;
    if lipids > most {
        return Err(format!(
            "{lipids} lipids of {atoms_each} atoms are too many: the limit is {most} lipids"
        )
        .into());
    }
    Ok(())
}

fn within(what: &str, value: f32, most: f32) -> Result<(), AnyError> {
    if value > 0.0 && value <= most {
        Ok(())
    } else {
        Err(format!("{what} must be positive and at most {most}, and is {value}").into())
    }
}

fn not_negative(option: &str, value: f32) -> Result<f32, AnyError> {
    if value >= 0.0 {
        Ok(value)
    } else {
        Err(format!("{option} must be zero or more, and is {value}").into())
    }
}
