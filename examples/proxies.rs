//! Few spheres in the place of many atoms: how good are they?
//!
//! ```text
//! cargo run --release --example proxies -- protein.pdb lipid.pdb --proxies 17
//! cargo run --release --example proxies -- protein.pdb --tolerance 0.3 --save
//! cargo run --release --example proxies -- protein.pdb --screenshot proxies.png
//! ```
//!
//! Prints a table. With `--screenshot` a picture shows the molecules side by side, each
//! with its proxies over its atoms. With `--save` the proxies go to FILE.proxy.ron, from where
//! `ProxyCache::load` reads them. `--help` lists the options and the exit codes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::molecule::{DEFAULT_RADIUS_SCALE, LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::proxy::{
    DEFAULT_PROXIES, PROXY_SEED, ProxyCache, ProxySet, proxy_file_of,
};
use clap::Parser;
use serde::Serialize;

use backend::BackendArguments;
use common::report::round;
use common::{AnyError, CommonArguments, Device, Head};

#[path = "common/backend.rs"]
mod backend;
mod common;
#[path = "common/fallback.rs"]
mod fallback;
#[path = "common/picture/mod.rs"]
mod picture;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Makes the proxies of structure files, and measures them.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
struct Arguments {
    /// Structure files: .pdb, .ent, .cif or .bcif, plain or gzipped.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// How many proxies each molecule gets.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PROXIES)]
    proxies: usize,
    /// As many as it takes for their surface to be nowhere further than this many nm from
    /// that of the atoms; found by the processor.
    #[arg(
        long,
        value_name = "NM",
        conflicts_with = "proxies",
        allow_negative_numbers = true
    )]
    tolerance: Option<f32>,
    /// Radii of the atoms in units of their van der Waals radii.
    #[arg(long, value_name = "X", default_value_t = DEFAULT_RADIUS_SCALE)]
    #[arg(allow_negative_numbers = true)]
    radius_scale: f32,
    /// Save the proxies beside each file.
    #[arg(long)]
    save: bool,
    #[command(flatten)]
    backend: BackendArguments,
    #[command(flatten)]
    common: CommonArguments,
    #[command(flatten)]
    picture: picture::PictureArguments,
}

/// What `--report` writes.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    head: Head,
    molecules: usize,
    atoms: usize,
    structures: Vec<Row>,
}

/// What `--report` writes of each molecule.
#[derive(Serialize)]
struct Row {
    structure: String,
    atoms: usize,
    proxies: usize,
    atom_volume_nm3: f64,
    proxy_volume_nm3: f64,
    overestimate: f64,
    largest_distance_nm: f64,
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    if arguments.proxies == 0 {
        return Err("--proxies must be at least 1".into());
    }
    arguments.common.prepare()?;
    let shot = arguments.picture.shot()?;
    let options = LoadOptions {
        radius_scale: arguments.radius_scale,
        ..LoadOptions::default()
    };
    let mut shown = Vec::new();
    let mut structures = Vec::new();
    let (mut device, mut time) = (Device::default(), Duration::ZERO);
    for file in &arguments.files {
        let template = Arc::new(load(file, &options)?);
        let begin = Instant::now();
        let set = match arguments.tolerance {
            Some(tolerance) => ProxySet::for_tolerance(&*template, tolerance, PROXY_SEED)?,
            None => {
                let (set, who) = proxies(&template, arguments)?;
                device = who;
                set
            }
        };
        time += begin.elapsed();
        structures.push(row(file, &template, &set)?);
        shown.push((template.clone(), set.len() as u32));
        if arguments.save {
            let cache = ProxyCache::new(template);
            cache.insert(set)?;
            cache.save(proxy_file_of(file))?;
        }
    }
    if arguments.tolerance.is_some() && arguments.backend.backend == Some(Backend::Gpu) {
        device = fallback::processor(&"a tolerance is met by trying, which no GPU does");
    }
    let report = Report {
        head: Head::new(Some(PROXY_SEED), device, time),
        molecules: structures.len(),
        atoms: structures.iter().map(|row| row.atoms).sum(),
        structures,
    };
    let common = &arguments.common;
    common.write(&report)?;
    common.tell(|out| write_table(out, &report.structures))?;
    match shot {
        Some(shot) => draw(&shown, &shot),
        None => Ok(()),
    }
}

/// How good the proxies of a molecule are.
fn row(file: &Path, template: &MoleculeTemplate, set: &ProxySet) -> Result<Row, AnyError> {
    let quality = set.quality(template)?;
    let name = file.file_name().unwrap_or(file.as_os_str());
    Ok(Row {
        structure: name.to_string_lossy().into_owned(),
        atoms: template.atom_count(),
        proxies: set.len(),
        atom_volume_nm3: round(quality.atom_volume_nm3.into()),
        proxy_volume_nm3: round(quality.proxy_volume_nm3.into()),
        overestimate: round(quality.overestimate().into()),
        largest_distance_nm: round(quality.largest_distance_nm.into()),
    })
}

fn write_table(out: &mut dyn Write, rows: &[Row]) -> io::Result<()> {
    writeln!(
        out,
        "| structure | atoms | proxies | atoms, nm³ | proxies, nm³ | overestimate | farthest, nm |"
    )?;
    writeln!(out, "|---|--:|--:|--:|--:|--:|--:|")?;
    for row in rows {
        writeln!(
            out,
            "| {} | {} | {} | {:.2} | {:.2} | {:.0} % | {:.2} |",
            row.structure,
            row.atoms,
            row.proxies,
            row.atom_volume_nm3,
            row.proxy_volume_nm3,
            100.0 * row.overestimate,
            row.largest_distance_nm
        )?;
    }
    Ok(())
}

/// As many proxies as were asked for, and who found them.
fn proxies(
    template: &MoleculeTemplate,
    arguments: &Arguments,
) -> Result<(ProxySet, Device), AnyError> {
    let backend = arguments.backend.backend.unwrap_or_default();
    let device = match on_gpu(template, arguments.proxies, backend) {
        Ok(Some((set, adapter))) => {
            let device = Device {
                backend: Backend::Gpu,
                adapter: Some(adapter),
                fell_back: None,
            };
            return Ok((set, device));
        }
        Ok(None) => Device::default(),
        Err(error) => fallback::processor(&error),
    };
    let set = ProxySet::from_atoms(template, arguments.proxies, PROXY_SEED)?;
    Ok((set, device))
}

/// The proxies that a GPU finds, and its name; none if the processor is to find them.
#[cfg(feature = "gpu")]
fn on_gpu(
    template: &MoleculeTemplate,
    count: usize,
    backend: Backend,
) -> Result<Option<(ProxySet, String)>, AnyError> {
    use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};

    let Some(device) = GpuDevice::for_backend(backend, &GpuOptions::default())? else {
        return Ok(None);
    };
    // Atoms that cannot have proxies are the processor's, which says why.
    let set = device.proxies(template, count, PROXY_SEED)?.ok();
    Ok(set.map(|set| (set, device.summary().to_string())))
}

/// None: there is no GPU in a program without the feature.
#[cfg(not(feature = "gpu"))]
fn on_gpu(
    _: &MoleculeTemplate,
    _: usize,
    backend: Backend,
) -> Result<Option<(ProxySet, String)>, AnyError> {
    match backend {
        Backend::Gpu => Err("this program was built without the feature `gpu`".into()),
        _ => Ok(None),
    }
}

/// Frames until a picture: in the first one, what was just spawned is not there yet.
#[cfg(feature = "draw")]
const FRAMES: u32 = 3;

/// Space between two molecules, nm.
#[cfg(feature = "draw")]
const GAP_NM: f32 = 0.6;

/// A picture of molecules side by side, each with so many proxies over its atoms.
#[cfg(feature = "draw")]
fn draw(shown: &[(Arc<MoleculeTemplate>, u32)], shot: &picture::Shot) -> Result<(), AnyError> {
    use bevy::camera::ScalingMode;
    use bevy::prelude::*;
    use bevy_rapier_molecules::prelude::*;

    let mut app = picture::app(shot, FRAMES, |plugins| plugins);
    app.add_plugins(MoleculeRenderPlugin)
        .insert_resource(ClearColor(DepthCue::default().colour));
    let reach = |template: &MoleculeTemplate| template.bounding_radius() + GAP_NM;
    let width: f32 = shown.iter().map(|(one, _)| 2.0 * reach(one)).sum();
    let height = shown.iter().map(|(one, _)| 2.0 * reach(one));
    let height = height.fold(0.0, f32::max);
    let mut left = -0.5 * width;
    let mut counts = Vec::new();
    for (template, count) in shown {
        let middle = left + reach(template);
        left += 2.0 * reach(template);
        let layer = match counts.iter().position(|known| known == count) {
            Some(layer) => layer,
            None => {
                counts.push(*count);
                counts.len() - 1
            }
        };
        app.world_mut().spawn((
            DrawnCrowd {
                templates: vec![template.clone()],
                molecules: vec![DrawnMolecule::new(
                    0,
                    Pose::from_translation(Vec3::X * middle),
                )],
                ..default()
            },
            bevy::camera::visibility::RenderLayers::layer(layer),
        ));
    }
    // One camera for each number of proxies: how many there are is a matter of the look.
    for (layer, count) in counts.into_iter().enumerate() {
        let look = MoleculeLook {
            colour: ColourMode::Chain,
            headlight: 0.9,
            proxies: Some(ProxyOverlay {
                count,
                opacity: 0.4,
            }),
            detail: DrawDetail::Atoms,
            depth_cue: DepthCue {
                strength: 0.3,
                ..default()
            },
            ..default()
        };
        app.world_mut().spawn((
            Camera3d::default(),
            Camera {
                order: layer as isize,
                clear_color: match layer {
                    0 => ClearColorConfig::Default,
                    _ => ClearColorConfig::None,
                },
                ..default()
            },
            Projection::Orthographic(OrthographicProjection {
                scaling_mode: ScalingMode::AutoMin {
                    min_width: width,
                    min_height: height,
                },
                ..OrthographicProjection::default_3d()
            }),
            Transform::from_xyz(0.0, 0.0, height),
            ViewLook(look),
            bevy::camera::visibility::RenderLayers::layer(layer),
        ));
    }
    picture::finish(app)
}

#[cfg(not(feature = "draw"))]
fn draw(_: &[(Arc<MoleculeTemplate>, u32)], _: &picture::Shot) -> Result<(), AnyError> {
    picture::check_adapter()
}
