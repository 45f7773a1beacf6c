//! Finds clashes in a structure file: atoms of different parts that are too close.
//!
//! ```text
//! cargo run --release --example clashes -- structure.pdb
//! cargo run --release --example clashes -- vesicle.pdb --by residue --tolerance 0.2
//! cargo run --release --example clashes -- structure.cif --report - --worst 100
//! cargo run --release --example clashes -- membrane.pdb --by molecule --periodic
//! cargo run --release --example clashes -- structure.cif --screenshot clashes.png
//! ```
//!
//! Without `--tolerance`, atoms clash if their collision spheres (0.7 of the van der Waals radii)
//! overlap. With a periodic box, parts also clash with the images of others and of themselves. The
//! exit code does not depend on the number of clashes. `--help` lists the options and
//! exit codes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use bevy_rapier_molecules::contact::clashes::{
    Clash, ClashAtom, ClashError, ClashOptions, ClashReport, find_clashes, find_clashes_with,
};
use bevy_rapier_molecules::molecule::{
    LoadOptions, MoleculePart, SplitBy, Structure, load_structure,
};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::search::SearchError;
use clap::{Parser, ValueEnum};
use glam::Vec3;
use serde::Serialize;

use common::{
    AnyError, BackendArguments, CommonArguments, Head, Screenshot, ScreenshotArguments,
    fall_back_to_cpu, print_load_warnings, search_for_backend,
};

mod common;

fn main() -> ExitCode {
    common::finish(run(Arguments::parse()))
}

/// Counts pairs of atoms of different parts that are too close, and lists the worst.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
struct Arguments {
    /// Structure file: .pdb, .ent, .cif, .mmcif or .bcif, plain or gzipped.
    file: PathBuf,
    /// The parts of the file. Atoms of the same part never clash.
    #[arg(long, value_enum, default_value_t = By::Chain)]
    by: By,
    /// Atoms closer than this many nm overlap [default: if their spheres of 0.7 van der Waals
    /// radii do].
    #[arg(long, value_name = "NM", allow_negative_numbers = true)]
    tolerance: Option<f32>,
    /// Edges of the box that repeats in space, nm.
    #[arg(
        long = "box",
        value_name = "X,Y,Z",
        value_delimiter = ',',
        allow_hyphen_values = true
    )]
    edges: Option<Vec<f32>>,
    /// Use the unit cell of the file as the box that repeats in space.
    #[arg(long, conflicts_with = "edges")]
    periodic: bool,
    /// Number of listed clashes.
    #[arg(long, value_name = "N", default_value_t = 10)]
    worst: usize,
    /// Include waters.
    #[arg(long)]
    waters: bool,
    #[command(flatten)]
    backend: BackendArguments,
    #[command(flatten)]
    common: CommonArguments,
    /// Print the report to standard output: short for --report -.
    #[arg(long, conflicts_with = "report")]
    json: bool,
    #[command(flatten)]
    screenshot: ScreenshotArguments,
}

/// The parts of a structure file.
#[derive(Clone, Copy, ValueEnum, Serialize)]
#[serde(rename_all = "lowercase")]
enum By {
    /// Each chain is a part.
    Chain,
    /// Each residue is a part.
    Residue,
    /// Each molecule of a file that this library wrote is a part.
    Molecule,
    /// Each model is a part.
    Model,
}

/// The output of `--report`.
#[derive(Serialize)]
struct Output<'a> {
    #[serde(flatten)]
    head: Head,
    file: &'a str,
    by: By,
    #[serde(flatten)]
    report: &'a ClashReport,
}

fn run(mut arguments: Arguments) -> Result<(), AnyError> {
    if arguments.json {
        arguments.common.report = Some("-".into());
    }
    arguments.common.prepare()?;
    let mut clash_options = ClashOptions {
        tolerance: arguments.tolerance,
        worst: arguments.worst,
        periodic_box: given_box(&arguments)?,
    };
    // Invalid options are reported before a device is opened.
    clash_options.check()?;
    let options = LoadOptions {
        waters: arguments.waters,
        ..LoadOptions::default()
    };
    let by = match arguments.by {
        By::Chain => SplitBy::Chain,
        By::Residue => SplitBy::Residue,
        By::Molecule => SplitBy::Molecule,
        By::Model => SplitBy::Model,
    };
    let structure = load_structure(&arguments.file, &options)?;
    print_load_warnings(&arguments.file, structure.warnings());
    if arguments.periodic {
        clash_options.periodic_box = Some(box_of(&structure, &arguments.file)?);
    }
    let parts = structure.split_by(by, &options)?;
    let screenshot = arguments.screenshot.get()?;
    let (head, report) = search(&arguments, &parts, &clash_options)?;
    let output = Output {
        head,
        file: &arguments.file.to_string_lossy(),
        by: arguments.by,
        report: &report,
    };
    arguments.common.write_report(&output)?;
    arguments.common.print(|out| write_table(out, &output))?;
    match screenshot {
        Some(screenshot) => draw(&parts, &clash_options, &screenshot),
        None => Ok(()),
    }
}

/// The box of the command line.
fn given_box(arguments: &Arguments) -> Result<Option<PeriodicBox>, AnyError> {
    let Some(edges) = &arguments.edges else {
        return Ok(None);
    };
    let [x, y, z] = edges[..] else {
        return Err("--box needs three edges in nm, such as 6.4,6.7,7.3".into());
    };
    Ok(Some(PeriodicBox::new(Vec3::new(x, y, z))?))
}

/// The box that is the unit cell of the file.
fn box_of(structure: &Structure, file: &Path) -> Result<PeriodicBox, AnyError> {
    let file = file.display();
    let Some(cell) = structure.unit_cell().filter(|cell| !cell.is_placeholder()) else {
        return Err(format!("{file}: the file has no unit cell; give the edges with --box").into());
    };
    let periodic = cell.orthorhombic();
    periodic.ok_or_else(|| format!("{file}: the unit cell has other angles than 90°").into())
}

/// Finds the clashes on the requested backend.
fn search(
    arguments: &Arguments,
    parts: &[MoleculePart],
    options: &ClashOptions,
) -> Result<(Head, ClashReport), AnyError> {
    let placed: Vec<_> = parts
        .iter()
        .map(|part| (&*part.template, part.pose))
        .collect();
    let begin = Instant::now();
    let backend = arguments.backend.get();
    let (search, mut device) = search_for_backend(backend);
    let on_device = search.map(|mut search| find_clashes_with(&placed, options, &mut *search));
    let report = match on_device {
        Some(Err(ClashError::Search(SearchError::Device(error)))) => {
            device = fall_back_to_cpu(&error);
            find_clashes(&placed, options)?
        }
        Some(report) => report?,
        None => find_clashes(&placed, options)?,
    };
    Ok((Head::new(None, device, begin.elapsed()), report))
}

/// Frames before the screenshot: spawned entities are not visible in the first frame.
#[cfg(feature = "draw")]
const FRAMES: u32 = 3;

/// Renders the parts: green without clashes, red with clashes.
#[cfg(feature = "draw")]
fn draw(
    parts: &[MoleculePart],
    options: &ClashOptions,
    screenshot: &Screenshot,
) -> Result<(), AnyError> {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use bevy::prelude::*;
    use bevy_rapier_molecules::prelude::*;
    use bevy_rapier_molecules::render::{DepthCue, MoleculeInstance, MoleculeRenderPlugin};
    use bevy_rapier_molecules::search::{AutoGrid, PairSearch, PeriodicSearch};
    use bevy_rapier_molecules::spheres::SphereSet;

    let mut templates = Vec::with_capacity(parts.len());
    for part in parts {
        templates.push(Arc::new(match options.tolerance {
            Some(tolerance) => (*part.template)
                .clone()
                .with_uniform_radius(tolerance / 2.0)?,
            None => (*part.template).clone(),
        }));
    }
    let placed = templates.iter().zip(parts);
    let placed = placed.map(|(template, part)| (&**template, part.pose));
    let spheres = SphereSet::from_molecules(placed)?;
    let colliding: Vec<AtomicBool> = parts.iter().map(|_| AtomicBool::new(false)).collect();
    let mark = |sphere: u32| {
        colliding[spheres.owner(sphere as usize) as usize].store(true, Ordering::Relaxed);
    };
    let mut grid = AutoGrid::new();
    if let Some(periodic) = options.periodic_box {
        PeriodicSearch::new(&mut grid, periodic).visit_pairs(&spheres, 0.0, &|pairs, _| {
            pairs
                .iter()
                .flat_map(|pair| [pair.a, pair.b])
                .for_each(mark);
        })?;
    } else {
        grid.visit_pairs(&spheres, 0.0, &|pairs, _| {
            pairs
                .iter()
                .flat_map(|pair| [pair.a, pair.b])
                .for_each(mark);
        })?;
    }
    let molecules = (0..).zip(parts).map(|(template, part)| MoleculeInstance {
        template,
        pose: part.pose,
        ..default()
    });
    let mut molecules: Vec<MoleculeInstance> = molecules.collect();
    for (molecule, colliding) in molecules.iter_mut().zip(colliding) {
        molecule.colliding = colliding.into_inner();
    }
    // The camera shows the bounding sphere of all atoms.
    let centers = (0..spheres.len()).map(|sphere| spheres.center(sphere));
    let (low, high) = centers.fold((Vec3::MAX, Vec3::MIN), |(low, high), center| {
        (low.min(center), high.max(center))
    });
    let (middle, reach) = ((low + high) / 2.0, (high - low).length() / 2.0 + 0.5);
    let camera =
        Transform::from_translation(middle + Vec3::new(0.4, 0.35, 1.0).normalize() * 2.0 * reach)
            .looking_at(middle, Vec3::Y);
    let mut app = common::app::new("", Some((screenshot, FRAMES)), |plugins| plugins);
    app.add_plugins(MoleculeRenderPlugin)
        .insert_resource(ClearColor(DepthCue::default().color))
        .insert_resource(MoleculeStyle {
            color: ColorMode::Collision,
            headlight: 0.8,
            ..default()
        });
    app.world_mut().spawn((Camera3d::default(), camera));
    app.world_mut().spawn(InstancedMolecules {
        templates,
        molecules,
        ..default()
    });
    common::app::run(app)
}

#[cfg(not(feature = "draw"))]
fn draw(_: &[MoleculePart], _: &ClashOptions, _: &Screenshot) -> Result<(), AnyError> {
    common::screen::check_adapter()
}

fn write_table(out: &mut dyn Write, output: &Output) -> io::Result<()> {
    let report = output.report;
    writeln!(
        out,
        "{}: {} atoms in {} parts",
        output.file, report.atoms, report.parts
    )?;
    if let Some(adapter) = &output.head.device.adapter {
        writeln!(out, "searched on {adapter}")?;
    }
    if let Some(periodic) = report.box_nm {
        let size = periodic.size();
        writeln!(out, "periodic box: {} × {} × {} nm", size.x, size.y, size.z)?;
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
        writeln!(out, "\ndistance nm  penetration nm  atoms")?;
    }
    for Clash {
        distance_nm,
        penetration_nm,
        a,
        b,
        image,
        ..
    } in &report.worst
    {
        let (a, mut b) = (label(a), label(b));
        if let Some([x, y, z]) = image.filter(|image| *image != [0; 3]) {
            b += &format!(" in image {x} {y} {z}");
        }
        writeln!(
            out,
            "{distance_nm:11.4}  {penetration_nm:14.4}  {a:<24}  {b}"
        )?;
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
