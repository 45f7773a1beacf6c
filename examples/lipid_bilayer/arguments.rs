//! Command-line options, and the preset that they result in.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, VesicleStart, vesicle};
use clap::{Parser, ValueEnum};

use super::common::{AnyError, EXIT_CODES, SceneArguments};
use super::membrane_scene::{
    MAX_AREA_SCALE, MAX_CONFORMERS, MAX_EDGE_NM, MembraneScene, ProteinCopies, Shape,
};
use super::molecule_kind::MoleculeKind;
use super::preset::{BUNDLED, Law, MAX_RADIUS_NM, MAX_TOLERANCE_NM, Preset};
use super::scene::check_count;
use super::species_entry::{parse_species, set_ratios};

/// Default of `--area-per-lipid`, nm²: that of 500 + 120 lipids at 5.2 nm.
const AREA_PER_LIPID_NM2: f32 = 1.23;

/// The end of `--help`, before the exit codes.
const AFTER_HELP: &str = "\
Ctrl-C stops the relaxation, and report, export and summary describe the state reached. A \
second Ctrl-C ends the program at once. The relaxation is done when no lipids overlap and all \
are in place. If it stops before, report and export are written nevertheless.";

/// Builds a membrane of overlapping lipids and proteins, and relaxes it until no two overlap.
///
/// With a display it is an editor that can change every parameter during the relaxation. The
/// default is a POPC vesicle in 16 shapes; the numbers of lipids follow from their areas. With
/// --lipid, --positions, --outer and --inner, or --lipids and --area-per-lipid, it is a vesicle of
/// one kind of lipid in one shape.
#[derive(Parser)]
#[command(after_help = format!("{AFTER_HELP}\n\n{EXIT_CODES}"))]
pub struct Arguments {
    /// Start from a preset: a .ron file, or one of --list-presets. Other options override it.
    #[arg(long, value_name = "NAME")]
    preset: Option<PathBuf>,
    /// List the bundled presets and quit.
    #[arg(long)]
    pub list_presets: bool,
    #[command(flatten)]
    membrane: MembraneArguments,
    #[command(flatten)]
    size: SizeArguments,
    /// Structure file of the only lipid [default: the bundled POPC].
    #[arg(long, value_name = "FILE")]
    lipid: Option<PathBuf>,
    /// Atoms closer than this many nm overlap [default: 0.2; with one kind of lipid, if their
    /// spheres of 0.7 van der Waals radii do].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    tolerance: Option<f32>,
    /// Max deviation of lipids from their distance to the mid-surface, nm [default: 0.3; 0.2
    /// with one kind of lipid].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    leeway: Option<f32>,
    /// Max tilt of lipids away from the normal, degrees [default: 30; 25 with one kind of lipid].
    #[arg(long, value_name = "DEG", allow_negative_numbers = true)]
    tilt_leeway: Option<f32>,
    /// Positions of one kind of lipid at the start [default: even].
    #[arg(long, value_enum)]
    positions: Option<StartName>,
    /// Response of molecules to overlaps [default: projection].
    #[arg(long, value_enum)]
    law: Option<LawName>,
    /// Max number of iterations [default: 5000].
    #[arg(long, value_name = "N")]
    max_iterations: Option<u32>,
    /// Max time of the relaxation, seconds [default: unlimited].
    #[arg(long, value_name = "S", allow_negative_numbers = true)]
    max_seconds: Option<f64>,
    /// Write the molecules to this file without a window: .pdb, .ent, .cif or .mmcif, optionally
    /// with .gz.
    #[arg(long, value_name = "FILE", conflicts_with = "screenshot")]
    pub export: Option<PathBuf>,
    /// Read the export again, and check distances, rings and places of its molecules. The exit
    /// code is 1 if they are not clean.
    #[arg(long, requires = "export")]
    certify: bool,
    /// As --certify, and write the result to this JSON file.
    #[arg(long, value_name = "FILE", requires = "export")]
    pub certificate: Option<PathBuf>,
    #[command(flatten)]
    pub scene: SceneArguments,
    /// Number of steps without a window or before a screenshot: max iterations [default: until
    /// the molecules are at rest].
    #[arg(long, value_name = "N", conflicts_with = "max_iterations")]
    pub steps: Option<u32>,
    /// With --screenshot: show the panels of the editor.
    #[arg(long, requires = "screenshot")]
    pub panel: bool,
    /// Hide the front half to show the inside.
    #[arg(long)]
    cut_open: bool,
}

/// Names of the response laws.
#[derive(Clone, Copy, ValueEnum)]
enum LawName {
    /// The heuristic forces of Pauschenwein (2022).
    Thesis,
    /// Rigid position-based projection.
    Projection,
}

/// Names of the starts.
#[derive(Clone, Copy, ValueEnum)]
enum StartName {
    /// Evenly spread.
    Even,
    /// Uniformly random, as in Pauschenwein (2022).
    Uniform,
}

/// A membrane of several species.
#[derive(clap::Args)]
#[group(
    id = "membrane",
    multiple = true,
    conflicts_with_all = ["outer", "inner", "lipids", "area_per_lipid", "lipid", "positions"]
)]
struct MembraneArguments {
    /// Lipids of both leaflets with their ratios, such as popc:4,pope:3,cholesterol:3: popc, pope,
    /// dppc, cholesterol, or FILE@AREA:RATIO for a file of conformers and the area of a lipid in
    /// nm² [default: popc].
    #[arg(long, value_name = "LIST")]
    species: Option<String>,
    /// Lipids of the outer leaflet, instead of --species.
    #[arg(long, value_name = "LIST")]
    outer_species: Option<String>,
    /// Lipids of the inner leaflet, instead of --species.
    #[arg(long, value_name = "LIST")]
    inner_species: Option<String>,
    /// Factor of the area of all lipids [default: 1].
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    area_scale: Option<f32>,
    /// Max number of conformers of each lipid [default: 16].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_CONFORMERS)))]
    conformers: Option<u32>,
    /// Copies of a protein at random places: a file, or 2por, and a number. May be repeated.
    #[arg(long = "protein", value_name = "FILE:COUNT")]
    proteins: Vec<String>,
    /// Never move proteins.
    #[arg(long)]
    fixed_proteins: bool,
    /// Flat membrane with these edges in a periodic box, nm, instead of a vesicle.
    #[arg(long, value_name = "XxY", conflicts_with = "radius")]
    flat: Option<String>,
}

/// Two ways to specify the size of the vesicle.
#[derive(clap::Args)]
struct SizeArguments {
    /// Lipids of the outer leaflet of one kind of lipid [default: 500].
    #[arg(long, value_name = "N")]
    outer: Option<u32>,
    /// Lipids of the inner leaflet of one kind of lipid [default: 120].
    #[arg(long, value_name = "N")]
    inner: Option<u32>,
    /// Radius of the mid-surface, nm [default: 8; 5.2 with one kind of lipid].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    radius: Option<f32>,
    /// Lipids of both leaflets of one kind of lipid, split by area. Determines the radius.
    #[arg(long, value_name = "N")]
    lipids: Option<u32>,
    /// With --lipids: area per lipid at the heads, nm² [default: 1.23].
    #[arg(long, value_name = "NM2", allow_negative_numbers = true)]
    area_per_lipid: Option<f32>,
}

impl Arguments {
    /// The preset, with the other options applied.
    pub fn preset(&self) -> Result<Preset, AnyError> {
        let has_one_lipid = self.has_one_lipid();
        let mut preset = match &self.preset {
            Some(name) => load_preset(name)?,
            None if has_one_lipid => Preset::one_lipid(),
            None => Preset::default(),
        };
        if has_one_lipid {
            preset.membrane = None;
        } else {
            self.membrane.apply(&mut preset.membrane)?;
        }
        if self.size.is_of_leaflets() {
            preset.inside = None;
        }
        if let Some(path) = &self.lipid {
            preset.molecule = MoleculeKind::File(path.clone());
        }
        if let Some(tolerance) = self.tolerance {
            preset.tolerance = Some(check_positive("--tolerance", tolerance, MAX_TOLERANCE_NM)?);
        }
        if let Some(leeway) = self.leeway {
            preset.leeway = check_not_negative("--leeway", leeway)?;
        }
        if let Some(tilt) = self.tilt_leeway {
            preset.tilt_leeway = check_not_negative("--tilt-leeway", tilt)?;
        }
        if let Some(start) = self.positions {
            preset.start = match start {
                StartName::Even => VesicleStart::Even,
                StartName::Uniform => VesicleStart::Uniform,
            };
        }
        if let Some(law) = self.law {
            preset.law = match law {
                LawName::Thesis => Law::Thesis,
                LawName::Projection => Law::Projection,
            };
        }
        preset.seed = self.scene.seed.or(preset.seed);
        preset.backend = self.scene.backend.or(preset.backend);
        preset.max_iterations = self.max_iterations.unwrap_or(preset.max_iterations);
        preset.cut_open |= self.cut_open;
        self.size.apply(&mut preset)?;
        Ok(preset)
    }

    /// Whether an option asks for a vesicle of one kind of lipid.
    fn has_one_lipid(&self) -> bool {
        self.size.is_of_leaflets() || self.lipid.is_some() || self.positions.is_some()
    }

    /// Whether the export is checked.
    pub fn certifies(&self) -> bool {
        self.certify || self.certificate.is_some()
    }

    /// Max time of the relaxation.
    pub fn max_time(&self) -> Result<Option<Duration>, AnyError> {
        let Some(seconds) = self.max_seconds else {
            return Ok(None);
        };
        let time = Duration::try_from_secs_f64(seconds).map_err(|_| {
            format!("--max-seconds must be finite and not negative, but is {seconds}")
        })?;
        Ok(Some(time))
    }
}

/// A bundled preset, or that of a file.
fn load_preset(name: &Path) -> Result<Preset, AnyError> {
    let bundled = BUNDLED.iter().find(|(known, ..)| Path::new(known) == name);
    Ok(match bundled {
        Some((_, file, text)) => Preset::parse(text, Path::new(file))?,
        None if name.extension().is_none() && !name.exists() => {
            let name = name.display();
            return Err(format!("there is no preset '{name}'; see --list-presets").into());
        }
        None => Preset::load(name)?,
    })
}

/// Writes the name of each bundled preset and its description, the first line of its file.
pub fn list_presets(out: &mut dyn Write) -> io::Result<()> {
    for (name, _, text) in BUNDLED {
        let first = text.lines().next().unwrap_or_default();
        writeln!(out, "{name}\t{}", first.trim_start_matches("// "))?;
    }
    out.flush()
}

impl MembraneArguments {
    /// Changes a membrane, or creates one if there is an option about it.
    fn apply(&self, membrane: &mut Option<MembraneScene>) -> Result<(), AnyError> {
        let is_given = self.area_scale.is_some()
            || self.conformers.is_some()
            || self.fixed_proteins
            || self.flat.is_some()
            || !self.proteins.is_empty();
        let lists = [&self.species, &self.outer_species, &self.inner_species];
        if membrane.is_none() && !is_given && lists.iter().all(|list| list.is_none()) {
            return Ok(());
        }
        let membrane = membrane.get_or_insert_default();
        for (list, option, leaflets) in [
            (&self.species, "--species", [true, true]),
            (&self.outer_species, "--outer-species", [true, false]),
            (&self.inner_species, "--inner-species", [false, true]),
        ] {
            if let Some(list) = list {
                let parts = parse_species(option, list)?;
                set_ratios(&mut membrane.species, &parts, leaflets);
            }
        }
        if let Some(scale) = self.area_scale {
            membrane.area_scale = check_positive("--area-scale", scale, MAX_AREA_SCALE)?;
        }
        membrane.conformers = self.conformers.unwrap_or(membrane.conformers);
        if !self.proteins.is_empty() {
            let proteins = self.proteins.iter().map(|text| parse_protein(text));
            membrane.proteins = proteins.collect::<Result<_, _>>()?;
        }
        membrane.fixed_proteins |= self.fixed_proteins;
        if let Some(flat) = &self.flat {
            membrane.shape = parse_flat(flat)?;
        }
        Ok(())
    }
}

/// Parses `FILE:COUNT`.
fn parse_protein(text: &str) -> Result<ProteinCopies, AnyError> {
    let parts = text.rsplit_once(':');
    let parts = parts.and_then(|(protein, count)| Some((protein, count.trim().parse().ok()?)));
    match parts {
        Some((protein, copies)) if !protein.is_empty() => Ok(ProteinCopies {
            protein: protein.to_owned(),
            copies,
        }),
        _ => Err(format!("--protein must be FILE:COUNT, such as 2por:6, but is '{text}'").into()),
    }
}

/// Parses the edges of a flat patch, such as `20x20`.
fn parse_flat(text: &str) -> Result<Shape, AnyError> {
    let edges = text.split_once('x');
    let number = |text: &str| text.trim().parse::<f32>().ok();
    let Some((x, y)) = edges.and_then(|(x, y)| Some((number(x)?, number(y)?))) else {
        return Err(
            format!("--flat must be two edges in nm, such as 20x20, but is '{text}'").into(),
        );
    };
    Ok(Shape::Flat {
        x: check_positive("an edge of --flat", x, MAX_EDGE_NM)?,
        y: check_positive("an edge of --flat", y, MAX_EDGE_NM)?,
    })
}

impl SizeArguments {
    /// Whether an option asks for molecules in leaflets.
    fn is_of_leaflets(&self) -> bool {
        self.outer.is_some()
            || self.inner.is_some()
            || self.lipids.is_some()
            || self.area_per_lipid.is_some()
    }

    fn apply(&self, preset: &mut Preset) -> Result<(), AnyError> {
        let by_counts = self.outer.is_some() || self.inner.is_some() || self.radius.is_some();
        match (self.lipids, self.area_per_lipid) {
            (None, None) => {
                preset.outer = self.outer.unwrap_or(preset.outer);
                preset.inner = self.inner.unwrap_or(preset.inner);
                if let Some(radius) = self.radius {
                    let radius = check_positive("--radius", radius, MAX_RADIUS_NM)?;
                    match &mut preset.membrane {
                        Some(membrane) => membrane.shape = Shape::Vesicle { radius },
                        None => preset.radius = radius,
                    }
                }
                Ok(())
            }
            _ if by_counts => {
                Err("--lipids and --area-per-lipid exclude --outer, --inner and --radius".into())
            }
            (None, Some(_)) => Err("--area-per-lipid needs --lipids".into()),
            (Some(lipids), area) => {
                let area_per_lipid = area.unwrap_or(AREA_PER_LIPID_NM2);
                set_size_from_density(preset, lipids, area_per_lipid)
            }
        }
    }
}

/// Computes the counts of both leaflets and the radius.
fn set_size_from_density(
    preset: &mut Preset,
    lipids: u32,
    area_per_lipid: f32,
) -> Result<(), AnyError> {
    let template = preset.molecule.template(preset.tolerance)?;
    check_count(lipids.into(), &template)?;
    let config = VesicleConfig {
        size: VesicleSize::Density {
            lipids,
            area_per_lipid,
        },
        ..preset.vesicle()
    };
    let vesicle = vesicle(Arc::new(template), &config)?;
    preset.radius = check_positive(
        "the radius of the vesicle in nm",
        vesicle.radius,
        MAX_RADIUS_NM,
    )?;
    (preset.outer, preset.inner) = (vesicle.outer, vesicle.inner);
    Ok(())
}

fn check_positive(name: &str, value: f32, max: f32) -> Result<f32, AnyError> {
    if value > 0.0 && value <= max {
        Ok(value)
    } else {
        Err(format!("{name} must be positive and at most {max}, but is {value}").into())
    }
}

fn check_not_negative(name: &str, value: f32) -> Result<f32, AnyError> {
    if value.is_finite() && value >= 0.0 {
        Ok(value)
    } else {
        Err(format!("{name} must be finite and not negative, but is {value}").into())
    }
}
