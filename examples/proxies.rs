//! Few spheres in the place of many atoms: how good are they?
//!
//! ```text
//! cargo run --release --example proxies -- FILE... [--proxies N | --tolerance NM]
//!     [--radius-scale X] [--backend auto|cpu|gpu] [--save] [--report FILE.json]
//!     [--screenshot FILE.png]
//! ```
//!
//! Prints a table. With `--screenshot` a picture shows the molecules side by side, each
//! with its proxies over its atoms. With `--save` the proxies go to FILE.proxy.ron, from where
//! `ProxyCache::load` reads them. Exit code 0 if all files were good, and 2 if one was not.

use std::error::Error;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::molecule::{DEFAULT_RADIUS_SCALE, LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::proxy::{
    DEFAULT_PROXIES, PROXY_SEED, ProxyCache, ProxySet, proxy_file_of,
};
use clap::Parser;
use serde::Serialize;

#[path = "common/backend.rs"]
mod backend;
mod common;
#[path = "common/picture/mod.rs"]
mod picture;
#[path = "common/report_file.rs"]
mod report_file;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Makes the proxies of structure files, and measures them.
#[derive(Parser)]
struct Arguments {
    /// Structure files: .pdb, .ent, .cif or .bcif, plain or gzipped.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// How many proxies each molecule gets.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PROXIES)]
    proxies: usize,
    /// As many as it takes for their surface to be nowhere further than this many nm from
    /// that of the atoms.
    #[arg(long, value_name = "NM", conflicts_with = "proxies")]
    tolerance: Option<f32>,
    /// Radii of the atoms in units of their van der Waals radii.
    #[arg(long, value_name = "X", default_value_t = DEFAULT_RADIUS_SCALE)]
    radius_scale: f32,
    /// Who clusters the atoms: the same proxies in any case. With --tolerance it is the
    /// processor.
    #[arg(long, value_name = "WHERE", default_value_t = Backend::Auto)]
    #[arg(value_parser = backend::parser())]
    backend: Backend,
    /// Save the proxies beside each file.
    #[arg(long)]
    save: bool,
    /// Write the table as JSON to FILE; "-" prints that instead of the table.
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,
    #[command(flatten)]
    picture: picture::PictureArguments,
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

fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error + Send + Sync>> {
    if arguments.proxies == 0 {
        return Err("--proxies must be at least 1".into());
    }
    let shot = arguments.picture.shot()?;
    let mut shown = Vec::new();
    let options = LoadOptions {
        radius_scale: arguments.radius_scale,
        ..LoadOptions::default()
    };
    if let Some(path) = &arguments.report {
        report_file::check_target(path)?;
    }
    let mut rows = Vec::new();
    for file in &arguments.files {
        let template = Arc::new(load(file, &options)?);
        let set = match arguments.tolerance {
            Some(tolerance) => ProxySet::for_tolerance(&*template, tolerance, PROXY_SEED)?,
            None => proxies(&template, arguments)?,
        };
        let quality = set.quality(&*template)?;
        let name = file.file_name().unwrap_or(file.as_os_str());
        rows.push(Row {
            structure: name.to_string_lossy().into_owned(),
            atoms: template.atom_count(),
            proxies: set.len(),
            atom_volume_nm3: report_file::round(quality.atom_volume_nm3.into()),
            proxy_volume_nm3: report_file::round(quality.proxy_volume_nm3.into()),
            overestimate: report_file::round(quality.overestimate().into()),
            largest_distance_nm: report_file::round(quality.largest_distance_nm.into()),
        });
        shown.push((template.clone(), set.len() as u32));
        if arguments.save {
            let cache = ProxyCache::new(template);
            cache.insert(set)?;
            cache.save(proxy_file_of(file))?;
        }
    }
    if let Some(path) = &arguments.report {
        report_file::write_json(&rows, path)?;
    }
    if arguments.report.as_deref() != Some(Path::new(report_file::STDOUT)) {
        write_table(&rows)?;
    }
    if let Some(shot) = shot {
        draw(&shown, &shot)?;
    }
    Ok(ExitCode::SUCCESS)
}

fn write_table(rows: &[Row]) -> io::Result<()> {
    let mut out = io::stdout().lock();
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
    out.flush()
}

/// As many proxies as were asked for, on the backend that was.
#[cfg(feature = "gpu")]
fn proxies(
    template: &MoleculeTemplate,
    arguments: &Arguments,
) -> Result<ProxySet, Box<dyn Error + Send + Sync>> {
    use bevy_rapier_molecules::gpu::{GpuDevice, GpuError, GpuOptions};

    let on_gpu = || -> Result<_, GpuError> {
        let device = GpuDevice::for_backend(arguments.backend, &GpuOptions::default())?;
        device
            .map(|device| device.proxies(template, arguments.proxies, PROXY_SEED))
            .transpose()
    };
    match on_gpu() {
        Ok(Some(set)) => return Ok(set?),
        Ok(None) => {}
        Err(error) => backend::say_fallback(&error),
    }
    Ok(ProxySet::from_atoms(
        template,
        arguments.proxies,
        PROXY_SEED,
    )?)
}

/// As many proxies as were asked for.
#[cfg(not(feature = "gpu"))]
fn proxies(
    template: &MoleculeTemplate,
    arguments: &Arguments,
) -> Result<ProxySet, Box<dyn Error + Send + Sync>> {
    if arguments.backend == Backend::Gpu {
        backend::say_fallback(&"this program was built without the feature `gpu`");
    }
    Ok(ProxySet::from_atoms(
        template,
        arguments.proxies,
        PROXY_SEED,
    )?)
}

/// Frames until a picture: in the first one, what was just spawned is not there yet.
#[cfg(feature = "draw")]
const FRAMES: u32 = 3;

/// Space between two molecules, nm.
#[cfg(feature = "draw")]
const GAP_NM: f32 = 0.6;

/// A picture of molecules side by side, each with so many proxies over its atoms.
#[cfg(feature = "draw")]
fn draw(
    shown: &[(Arc<MoleculeTemplate>, u32)],
    shot: &picture::Shot,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    use bevy::camera::ScalingMode;
    use bevy::prelude::*;
    use bevy_rapier_molecules::prelude::*;

    picture::check_adapter()?;
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
fn draw(
    _: &[(Arc<MoleculeTemplate>, u32)],
    _: &picture::Shot,
) -> Result<(), Box<dyn Error + Send + Sync>> {
    Err("this program was built without the feature `draw`".into())
}
