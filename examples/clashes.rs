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
//! exit codes. Without Bevy, and without GPU and pictures, the same is `molecules clashes` (feature
//! `cli`).

use std::process::ExitCode;
use std::time::Instant;

use bevy_rapier_molecules::contact::clashes::{
    ClashError, ClashOptions, ClashReport, find_clashes, find_clashes_with,
};
use bevy_rapier_molecules::molecule::MoleculePart;
use bevy_rapier_molecules::search::SearchError;
use clap::Parser;
use serde::Serialize;

use clash_search::{By, ClashArguments, write_clashes};
use common::{
    AnyError, BackendArguments, CommonArguments, Head, Screenshot, ScreenshotArguments,
    fall_back_to_cpu, print_load_warnings, search_for_backend,
};

/// The options, parts and table of the command `clashes` of the program `molecules`.
#[path = "../src/bin/molecules/common/clash_search.rs"]
mod clash_search;
mod common;

fn main() -> ExitCode {
    common::finish(run(Arguments::parse()))
}

/// Counts pairs of atoms of different parts that are too close, and lists the worst.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
struct Arguments {
    #[command(flatten)]
    search: ClashArguments,
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
    let (parts, clash_options) = arguments.search.load()?;
    let screenshot = arguments.screenshot.get()?;
    let (head, report) = search(&arguments, &parts, &clash_options)?;
    let file = &arguments.search.file;
    let output = Output {
        head,
        file: &file.to_string_lossy(),
        by: arguments.search.by,
        report: &report,
    };
    arguments.common.write_report(&output)?;
    let adapter = output.head.device.adapter.as_deref();
    arguments
        .common
        .print(|out| write_clashes(out, file, adapter, &report))?;
    match screenshot {
        Some(screenshot) => draw(&parts, &clash_options, &screenshot),
        None => Ok(()),
    }
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
