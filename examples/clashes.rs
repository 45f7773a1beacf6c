//! Which atoms of different parts of a structure file are too close?
//!
//! ```text
//! cargo run --release --example clashes -- FILE [--by chain|residue|model]
//!     [--tolerance NM] [--worst N] [--waters] [--threads N] [--backend auto|cpu|gpu]
//!     [--report FILE.json] [--screenshot FILE.png]
//! ```
//!
//! Without `--tolerance`, atoms clash when their collision spheres (0.7 of the van
//! der Waals radii) overlap. Exit code 0 if the file was searched, with or without
//! clashes, and 2 if it could not be.

use std::error::Error;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::contact::clashes::{
    Clash, ClashAtom, ClashError, ClashOptions, ClashReport, find_clashes, find_clashes_with,
};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculePart, SplitBy, load_structure};
use bevy_rapier_molecules::search::SearchError;
use clap::{Parser, ValueEnum};
use serde::Serialize;

use picture::PictureArguments;

#[path = "common/backend.rs"]
mod backend;
mod common;
#[path = "common/device_search.rs"]
mod device_search;
#[path = "common/picture/mod.rs"]
mod picture;
#[path = "common/report_file.rs"]
mod report_file;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Counts the pairs of atoms of different parts that are too close, and lists the worst.
#[derive(Parser)]
struct Arguments {
    /// Structure file: .pdb, .ent, .cif or .bcif, plain or gzipped.
    file: PathBuf,
    /// What is a part. Atoms of the same part never clash.
    #[arg(long, value_enum, default_value_t = By::Chain)]
    by: By,
    /// Atoms closer than this many nm clash [default: when their spheres overlap].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    tolerance: Option<f32>,
    /// How many of the worst clashes to list.
    #[arg(long, value_name = "N", default_value_t = 10)]
    worst: usize,
    /// Keep waters.
    #[arg(long)]
    waters: bool,
    /// Threads to use, 0 for all.
    #[arg(long, value_name = "N", default_value_t = 0)]
    threads: usize,
    /// Who searches: a GPU if there is a real one, the processor, or any GPU, even one in
    /// software.
    #[arg(long, value_name = "WHERE", default_value_t = Backend::Auto)]
    #[arg(value_parser = backend::parser())]
    backend: Backend,
    /// Write the clashes as JSON to FILE; "-" prints them instead of the table.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    picture: PictureArguments,
}

/// What makes atoms belong together.
#[derive(Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum By {
    /// Each chain is a part.
    Chain,
    /// Each residue is a part.
    Residue,
    /// Each model is a part.
    Model,
}

/// What `--report` writes.
#[derive(Serialize)]
struct Output<'a> {
    file: &'a str,
    by: By,
    /// Who searched.
    backend: Backend,
    /// The device that did, if it was not the processor.
    adapter: Option<&'a str>,
    /// How long the search took.
    seconds: f64,
    #[serde(flatten)]
    report: &'a ClashReport,
}

fn run(arguments: &Arguments) -> Result<(), Box<dyn Error + Send + Sync>> {
    rayon::ThreadPoolBuilder::new()
        .num_threads(arguments.threads)
        .build_global()?;
    let options = LoadOptions {
        waters: arguments.waters,
        ..LoadOptions::default()
    };
    let by = match arguments.by {
        By::Chain => SplitBy::Chain,
        By::Residue => SplitBy::Residue,
        By::Model => SplitBy::Model,
    };
    let parts = load_structure(&arguments.file, &options)?.split_by(by, &options)?;
    let placed: Vec<_> = parts
        .iter()
        .map(|part| (&*part.template, part.pose))
        .collect();
    let options = ClashOptions {
        tolerance: arguments.tolerance,
        worst: arguments.worst,
    };
    // Before anybody looks for a device.
    options.check()?;
    if let Some(path) = &arguments.report {
        report_file::check_target(path)?;
    }
    let shot = arguments.picture.shot()?;
    let begin = Instant::now();
    let (report, adapter) = match device_search::for_backend(arguments.backend) {
        Some((mut search, adapter)) => match find_clashes_with(&placed, &options, &mut *search) {
            Err(ClashError::Search(SearchError::Device(fault))) => {
                backend::say_fallback(&fault);
                (find_clashes(&placed, &options)?, None)
            }
            report => (report?, Some(adapter)),
        },
        None => (find_clashes(&placed, &options)?, None),
    };
    let output = Output {
        file: &arguments.file.to_string_lossy(),
        by: arguments.by,
        backend: used(adapter.as_deref()),
        adapter: adapter.as_deref(),
        seconds: report_file::round(begin.elapsed().as_secs_f64()),
        report: &report,
    };
    if let Some(path) = &arguments.report {
        report_file::write_json(&output, path)?;
    }
    if arguments.report.as_deref() != Some(Path::new(report_file::STDOUT)) {
        let mut out = BufWriter::new(io::stdout().lock());
        write_table(&mut out, &output)?;
        out.flush()?;
    }
    match shot {
        Some(shot) => draw(&parts, arguments.tolerance, &shot),
        None => Ok(()),
    }
}

/// Frames until a picture: in the first one, what was just spawned is not there yet.
#[cfg(feature = "draw")]
const FRAMES: u32 = 3;

/// A picture of the parts: green those that are free, red those that clash.
#[cfg(feature = "draw")]
fn draw(
    parts: &[MoleculePart],
    tolerance: Option<f32>,
    shot: &picture::Shot,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    use bevy::prelude::*;
    use bevy_rapier_molecules::prelude::*;

    picture::check_adapter()?;
    let mut templates = Vec::with_capacity(parts.len());
    for part in parts {
        templates.push(Arc::new(match tolerance {
            Some(tolerance) => (*part.template)
                .clone()
                .with_uniform_radius(tolerance / 2.0)?,
            None => (*part.template).clone(),
        }));
    }
    let placed = templates.iter().zip(parts);
    let placed = placed.map(|(template, part)| (&**template, part.pose));
    let spheres = SphereSet::from_molecules(placed)?;
    let mut pairs = PairBuffer::new();
    UniformGrid::new().find_pairs(&spheres, 0.0, &mut pairs)?;
    let molecules = (0..).zip(parts).map(|(template, part)| DrawnMolecule {
        template,
        pose: part.pose,
        ..default()
    });
    let mut molecules: Vec<DrawnMolecule> = molecules.collect();
    for pair in pairs.iter() {
        for sphere in [pair.a, pair.b] {
            let part = &mut molecules[spheres.owner(sphere as usize) as usize];
            part.state = MoleculeState::Colliding;
        }
    }
    // The camera sees the ball around all atoms.
    let centres = (0..spheres.len()).map(|sphere| spheres.centre(sphere));
    let (low, high) = centres.fold((Vec3::MAX, Vec3::MIN), |(low, high), centre| {
        (low.min(centre), high.max(centre))
    });
    let (middle, reach) = ((low + high) / 2.0, (high - low).length() / 2.0 + 0.5);
    let camera =
        Transform::from_translation(middle + Vec3::new(0.4, 0.35, 1.0).normalize() * 2.0 * reach)
            .looking_at(middle, Vec3::Y);
    let mut app = picture::app(shot, FRAMES, |plugins| plugins);
    app.add_plugins(MoleculeRenderPlugin)
        .insert_resource(ClearColor(DepthCue::default().colour))
        .insert_resource(MoleculeLook {
            colour: ColourMode::Collision,
            headlight: 0.8,
            ..default()
        });
    app.world_mut().spawn((Camera3d::default(), camera));
    app.world_mut().spawn(DrawnCrowd {
        templates,
        molecules,
        ..default()
    });
    picture::finish(app)
}

#[cfg(not(feature = "draw"))]
fn draw(
    _: &[MoleculePart],
    _: Option<f32>,
    _: &picture::Shot,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    Err("this program was built without the feature `draw`".into())
}

/// Who searched, if it was on that device.
fn used(adapter: Option<&str>) -> Backend {
    match adapter {
        Some(_) => Backend::Gpu,
        None => Backend::Cpu,
    }
}

fn write_table(out: &mut impl Write, output: &Output) -> io::Result<()> {
    let report = output.report;
    writeln!(
        out,
        "{}: {} atoms in {} parts",
        output.file, report.atoms, report.parts
    )?;
    if let Some(adapter) = output.adapter {
        writeln!(out, "searched on {adapter}")?;
    }
    match report.tolerance_nm {
        Some(tolerance) => writeln!(out, "pairs closer than {tolerance} nm: {}", report.pairs)?,
        None => writeln!(out, "pairs whose spheres overlap: {}", report.pairs)?,
    }
    match report.closest_nm {
        Some(closest) => writeln!(out, "closest pair: {closest:.4} nm")?,
        None => writeln!(out, "closest pair: none, there is only one part")?,
    }
    if !report.worst.is_empty() {
        writeln!(out, "\ndistance nm  overlap nm  atoms")?;
    }
    for Clash {
        distance_nm,
        overlap_nm,
        a,
        b,
    } in &report.worst
    {
        let (a, b) = (label(a), label(b));
        writeln!(out, "{distance_nm:11.4}  {overlap_nm:10.4}  {a:<24}  {b}")?;
    }
    Ok(())
}

/// Chain, residue, number and atom, such as `A ALA 12 CA (C)`.
fn label(atom: &ClashAtom) -> String {
    let code = atom.insertion_code.map(String::from).unwrap_or_default();
    format!(
        "{} {} {}{code} {} ({})",
        atom.chain, atom.residue, atom.number, atom.atom, atom.element
    )
}
