//! Computes the proxies of molecules and measures how well they approximate the atoms.
//!
//! ```text
//! cargo run --release --example proxies -- protein.pdb lipid.pdb --proxies 17
//! cargo run --release --example proxies -- protein.pdb --tolerance 0.3 --save
//! cargo run --release --example proxies -- protein.pdb --screenshot proxies.png
//! ```
//!
//! Prints a table. `--screenshot` renders the molecules side by side with their proxies.
//! `--save` writes the proxies to FILE.proxy.ron for `ProxyCache::load`. `--help` lists the options
//! and exit codes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::molecule::{DEFAULT_RADIUS_SCALE, LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::proxy::{
    DEFAULT_PROXIES, PROXY_SEED, ProxyCache, ProxySet, proxy_file_path,
};
use clap::Parser;
use serde::Serialize;

use common::{
    AnyError, BackendArguments, CommonArguments, Device, Head, Screenshot, ScreenshotArguments,
    fall_back_to_cpu, print_load_warnings, round,
};

mod common;

fn main() -> ExitCode {
    common::finish(run(&Arguments::parse()))
}

/// Computes and measures the proxies of structure files.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
struct Arguments {
    /// Structure files: .pdb, .ent, .cif, .mmcif or .bcif, plain or gzipped.
    #[arg(required = true)]
    files: Vec<PathBuf>,
    /// Number of proxies per molecule.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_PROXIES)]
    proxies: usize,
    /// Maximum distance of the surface of the proxies from that of the atoms, nm. Determines the
    /// number of proxies, on the CPU.
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
    /// Save the proxies next to each file.
    #[arg(long)]
    save: bool,
    #[command(flatten)]
    backend: BackendArguments,
    #[command(flatten)]
    common: CommonArguments,
    #[command(flatten)]
    screenshot: ScreenshotArguments,
}

/// The output of `--report`.
#[derive(Serialize)]
struct Report {
    #[serde(flatten)]
    head: Head,
    molecules: usize,
    atoms: usize,
    structures: Vec<Row>,
}

/// The output of `--report` for each molecule.
#[derive(Serialize)]
struct Row {
    structure: String,
    atoms: usize,
    proxies: usize,
    atom_volume_nm3: f64,
    proxy_volume_nm3: f64,
    overestimate: f64,
    max_distance_nm: f64,
}

fn run(arguments: &Arguments) -> Result<(), AnyError> {
    if arguments.proxies == 0 {
        return Err("--proxies must be at least 1".into());
    }
    arguments.common.prepare()?;
    let screenshot = arguments.screenshot.get()?;
    let options = LoadOptions {
        radius_scale: arguments.radius_scale,
        ..LoadOptions::default()
    };
    let templates = arguments.files.iter().map(|file| load(file, &options));
    let templates: Vec<MoleculeTemplate> = templates.collect::<Result<_, _>>()?;
    for (file, template) in arguments.files.iter().zip(&templates) {
        print_load_warnings(file, template.load_warnings());
    }
    let backend = arguments.backend.get();
    let mut solver = match arguments.tolerance {
        Some(_) => ProxySolver::on_cpu(match backend {
            Backend::Gpu => fall_back_to_cpu(&"--tolerance is not supported on the GPU"),
            _ => Device::default(),
        }),
        None => ProxySolver::for_backend(backend),
    };
    let mut drawn = Vec::new();
    let mut structures = Vec::new();
    let mut time = Duration::ZERO;
    for (file, template) in arguments.files.iter().zip(templates) {
        let template = Arc::new(template);
        let begin = Instant::now();
        let set = match arguments.tolerance {
            Some(tolerance) => ProxySet::for_tolerance(&*template, tolerance, PROXY_SEED)?,
            None => solver.compute(&template, arguments.proxies)?,
        };
        time += begin.elapsed();
        structures.push(row(file, &template, &set)?);
        drawn.push((template.clone(), set.len() as u32));
        if arguments.save {
            let cache = ProxyCache::new(template);
            cache.insert(set)?;
            cache.save(proxy_file_path(file))?;
        }
    }
    let report = Report {
        head: Head::new(Some(PROXY_SEED), solver.device, time),
        molecules: structures.len(),
        atoms: structures.iter().map(|row| row.atoms).sum(),
        structures,
    };
    let common = &arguments.common;
    common.write_report(&report)?;
    common.print(|out| write_table(out, &report.structures))?;
    match screenshot {
        Some(screenshot) => draw(&drawn, &screenshot),
        None => Ok(()),
    }
}

/// The quality of the proxies of a molecule.
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
        max_distance_nm: round(quality.max_distance_nm.into()),
    })
}

fn write_table(out: &mut dyn Write, rows: &[Row]) -> io::Result<()> {
    writeln!(
        out,
        "| structure | atoms | proxies | atoms, nm³ | proxies, nm³ | overestimate | max distance, nm |"
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
            row.max_distance_nm
        )?;
    }
    Ok(())
}

/// The GPU that clusters atoms.
#[cfg(feature = "gpu")]
type Gpu = Arc<bevy_rapier_molecules::gpu::GpuDevice>;

/// There is no GPU without the feature.
#[cfg(not(feature = "gpu"))]
type Gpu = std::convert::Infallible;

/// Computes proxies on the GPU or the CPU.
struct ProxySolver {
    /// `None` on the CPU.
    gpu: Option<Gpu>,
    /// The device in the report.
    device: Device,
}

impl ProxySolver {
    fn on_cpu(device: Device) -> Self {
        Self { gpu: None, device }
    }

    #[cfg(feature = "gpu")]
    fn for_backend(backend: Backend) -> Self {
        use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};

        match GpuDevice::for_backend(backend, &GpuOptions::default()) {
            Ok(Some(gpu)) => Self {
                device: Device {
                    backend: Backend::Gpu,
                    adapter: Some(gpu.summary().to_string()),
                    fell_back: None,
                },
                gpu: Some(gpu),
            },
            Ok(None) => Self::on_cpu(Device::default()),
            Err(error) => Self::on_cpu(fall_back_to_cpu(&error)),
        }
    }

    #[cfg(not(feature = "gpu"))]
    fn for_backend(backend: Backend) -> Self {
        Self::on_cpu(match backend {
            Backend::Gpu => fall_back_to_cpu(&"this program was built without the feature `gpu`"),
            _ => Device::default(),
        })
    }

    /// Computes `count` proxies of a molecule. A GPU that fails is not used again.
    fn compute(&mut self, template: &MoleculeTemplate, count: usize) -> Result<ProxySet, AnyError> {
        if let Some(gpu) = &self.gpu {
            match on_gpu(gpu, template, count) {
                Ok(Some(set)) => return Ok(set),
                // The CPU reports why the atoms are invalid.
                Ok(None) => {}
                Err(error) => *self = Self::on_cpu(fall_back_to_cpu(&error)),
            }
        }
        Ok(ProxySet::from_atoms(template, count, PROXY_SEED)?)
    }
}

/// Computes proxies on the GPU; `None` if the atoms are invalid.
#[cfg(feature = "gpu")]
fn on_gpu(
    gpu: &Gpu,
    template: &MoleculeTemplate,
    count: usize,
) -> Result<Option<ProxySet>, AnyError> {
    Ok(gpu.proxies(template, count, PROXY_SEED)?.ok())
}

#[cfg(not(feature = "gpu"))]
fn on_gpu(gpu: &Gpu, _: &MoleculeTemplate, _: usize) -> Result<Option<ProxySet>, AnyError> {
    match *gpu {}
}

/// Frames before the screenshot: spawned entities are not visible in the first frame.
#[cfg(feature = "draw")]
const FRAMES: u32 = 3;

/// Gap between molecules, nm.
#[cfg(feature = "draw")]
const GAP_NM: f32 = 0.6;

/// Renders molecules side by side, each with its number of proxies.
#[cfg(feature = "draw")]
fn draw(drawn: &[(Arc<MoleculeTemplate>, u32)], screenshot: &Screenshot) -> Result<(), AnyError> {
    use bevy::camera::ScalingMode;
    use bevy::prelude::*;
    use bevy_rapier_molecules::prelude::*;
    use bevy_rapier_molecules::render::{
        DepthCue, DrawDetail, MoleculeInstance, MoleculeRenderPlugin, ProxyOverlay, ViewStyle,
    };

    let mut app = common::app::new("", Some((screenshot, FRAMES)), |plugins| plugins);
    app.add_plugins(MoleculeRenderPlugin)
        .insert_resource(ClearColor(DepthCue::default().color));
    let reach = |template: &MoleculeTemplate| template.bounding_radius() + GAP_NM;
    let width: f32 = drawn
        .iter()
        .map(|(template, _)| 2.0 * reach(template))
        .sum();
    let height = drawn.iter().map(|(template, _)| 2.0 * reach(template));
    let height = height.fold(0.0, f32::max);
    let mut left = -0.5 * width;
    let mut counts = Vec::new();
    for (template, count) in drawn {
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
            InstancedMolecules {
                templates: vec![template.clone()],
                molecules: vec![MoleculeInstance::new(
                    0,
                    Pose::from_translation(Vec3::X * middle),
                )],
                ..default()
            },
            bevy::camera::visibility::RenderLayers::layer(layer),
        ));
    }
    // One camera and layer per number of proxies, which is part of the style.
    for (layer, count) in counts.into_iter().enumerate() {
        let style = MoleculeStyle {
            color: ColorMode::Chain,
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
            ViewStyle(style),
            bevy::camera::visibility::RenderLayers::layer(layer),
        ));
    }
    common::app::run(app)
}

#[cfg(not(feature = "draw"))]
fn draw(_: &[(Arc<MoleculeTemplate>, u32)], _: &Screenshot) -> Result<(), AnyError> {
    common::screen::check_adapter()
}
