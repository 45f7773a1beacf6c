//! Membranes at the density of real ones: iterations and time to rest, and a certificate of the
//! exported file of each seed.
//!
//! Scenes are built by `membrane()` from slim conformers, and relaxed with the default config on
//! the CPU. Times are those of building and relaxing; loading, export and certificate are not
//! included.

mod common;
#[path = "../tests/common/revolution.rs"]
mod revolution;

use std::error::Error;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::certificate::{Certificate, CertificateOptions, certify};
use bevy_rapier_molecules::compartment::{FlatPatch, ShapeCompartment, SphereShell, Surface};
use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::export::{ExportOptions, export};
use bevy_rapier_molecules::membrane::{
    Composition, MembraneConfig, MembraneProtein, ProteinEntry, ProteinPlaces, Species, membrane,
};
use bevy_rapier_molecules::molecule::LoadOptions;
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{RelaxConfig, RelaxReport, Relaxer};
use clap::Args;
use common::{Column, Done, Part, Run, cells};
use glam::{Vec2, Vec3};

/// Atoms closer than this overlap, nm.
const TOLERANCE_NM: f32 = 0.2;

/// Iterations after which a scene counts as jammed.
const MAX_ITERATIONS: u32 = 3000;

#[derive(Args)]
struct Options {
    /// Seeds of each scene [default: 10, or as many as the scene says].
    #[arg(long, value_name = "N")]
    seeds: Option<u64>,
    /// Only scenes with this text in their names.
    #[arg(long, value_name = "TEXT")]
    scene: Option<String>,
}

fn main() -> ExitCode {
    let about = "Membranes at the density of real ones";
    let parts = [Part::new(
        "densities",
        "iterations and time to rest, and certificates",
        densities,
    )];
    common::run("membranes", about, &parts)
}

/// A species: file, ratio, area (nm²), and number of conformers.
type Lipid = (&'static str, f32, f32, usize);

const MIXTURE: [Lipid; 3] = [
    ("popc", 4.0, 0.66, 16),
    ("pope", 3.0, 0.56, 16),
    ("cholesterol", 3.0, 0.40, 4),
];

/// A scene.
struct Scene {
    name: &'static str,
    lipids: Vec<Lipid>,
    scale: f32,
    config: MembraneConfig,
    seeds: u64,
}

fn scene(
    name: &'static str,
    surface: impl Surface + 'static,
    lipids: &[Lipid],
    seeds: u64,
) -> Scene {
    Scene {
        name,
        lipids: lipids.to_vec(),
        scale: 1.0,
        config: MembraneConfig::new(Arc::new(surface)),
        seeds,
    }
}

fn scenes() -> Result<Vec<Scene>, Box<dyn Error>> {
    let sphere = |radius| SphereShell::new(Vec3::ZERO, radius);
    let popc = |area, conformers| [("popc", 1.0, area, conformers)];
    let mut flat = scene(
        "flat patch, 20 × 20 nm, periodic",
        FlatPatch::new(Vec2::splat(20.0), 5.0)?,
        &popc(0.65, 16),
        10,
    );
    flat.config.periodic_box = Some(PeriodicBox::new(Vec3::new(20.0, 20.0, 10.0))?);
    let mut porins = scene(
        "vesicle, 12 nm, six porins",
        sphere(12.0)?,
        &popc(0.65, 16),
        3,
    );
    let protein = common::molecules::bundled("2por.pdb").with_uniform_radius(TOLERANCE_NM / 2.0)?;
    let protein = MembraneProtein::guess("porin", Arc::new(protein))?;
    porins.config.proteins = vec![ProteinEntry::new(protein, ProteinPlaces::Random(6))];
    let mixed = |name, scale| {
        sphere(8.0).map(|surface| Scene {
            scale,
            ..scene(name, surface, &MIXTURE, 5)
        })
    };
    Ok(vec![
        scene("vesicle, 8 nm", sphere(8.0)?, &popc(0.65, 16), 10),
        scene(
            "vesicle, 8 nm, 4 conformers",
            sphere(8.0)?,
            &popc(0.65, 4),
            10,
        ),
        scene("vesicle, 8 nm, dense", sphere(8.0)?, &popc(0.60, 16), 3),
        flat,
        mixed(
            "vesicle, 8 nm, POPC:POPE:cholesterol 4:3:3, areas × 1.10",
            1.1,
        )?,
        mixed(
            "vesicle, 8 nm, POPC:POPE:cholesterol 4:3:3, areas × 1.00",
            1.0,
        )?,
        porins,
        scene(
            "capsule, 60 × 20 nm",
            ShapeCompartment::capsule(20.0, 10.0, Pose::IDENTITY)?,
            &popc(0.70, 16),
            1,
        ),
        scene("biconcave disc", biconcave_disc()?, &popc(0.70, 16), 1),
        scene("vesicle, 28 nm", sphere(27.77)?, &popc(0.65, 16), 1),
    ])
}

/// A disc of 36 nm, 10 nm thick at the center and 14 nm at the rim.
fn biconcave_disc() -> Result<ShapeCompartment, Box<dyn Error>> {
    const POINTS: usize = 81;
    let point = |k| {
        let (sine, cosine) = revolution::half_turn(k, POINTS);
        Vec2::new(18.0 * sine, cosine * (5.0 + 10.0 * sine * sine))
    };
    let profile: Vec<Vec2> = (0..POINTS).map(point).collect();
    let (vertices, triangles) = revolution::revolution(&profile, 96);
    Ok(ShapeCompartment::mesh(
        &vertices,
        &triangles,
        Pose::IDENTITY,
    )?)
}

fn species(lipids: &[Lipid]) -> Result<Vec<Species>, Box<dyn Error>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/lipids");
    let load = |&(name, _, area, conformers): &Lipid| {
        let path = folder.join(format!("{name}_conformers.pdb"));
        let species = Species::load(name, &[path], &LoadOptions::default(), area)?;
        let species = species.take(conformers).with_radius(TOLERANCE_NM / 2.0)?;
        Ok(species.slimmed()?)
    };
    lipids.iter().map(load).collect()
}

/// What came of one seed.
struct Outcome {
    lipids: usize,
    atoms: usize,
    relaxation: RelaxReport,
    time: Duration,
    certificate: Certificate,
}

fn relax(species: &[Species], config: &MembraneConfig) -> Result<Outcome, Box<dyn Error>> {
    let begin = Instant::now();
    let membrane = membrane(species, config)?;
    let lipids = membrane.outer.len() + membrane.inner.len();
    let relaxing = RelaxConfig {
        max_iterations: MAX_ITERATIONS,
        ..RelaxConfig::default()
    };
    let mut relaxer = Relaxer::new(membrane.crowd, relaxing)?;
    let relaxation = relaxer.run(|_| ControlFlow::Continue(()))?;
    let time = begin.elapsed();
    let crowd = relaxer.into_crowd();
    Ok(Outcome {
        lipids,
        atoms: crowd.atom_count(),
        relaxation,
        time,
        certificate: certified(&crowd)?,
    })
}

/// Exports a crowd to a temporary file and checks that.
fn certified(crowd: &Crowd) -> Result<Certificate, Box<dyn Error>> {
    let name = format!("membranes_bench_{}.cif", std::process::id());
    let path = std::env::temp_dir().join(name);
    let options = ExportOptions {
        periodic_box: crowd.periodic_box(),
        ..ExportOptions::default()
    };
    export(&path, crowd.instances(), &options)?;
    let options = CertificateOptions {
        tolerance: TOLERANCE_NM,
        crowd: Some(crowd),
        ..CertificateOptions::default()
    };
    let certificate = certify(&path, &options);
    std::fs::remove_file(&path)?;
    Ok(certificate?)
}

fn densities(run: &mut Run, options: &Options) -> Done {
    let title = format!(
        "Lipids as rigid bodies, all atoms, {TOLERANCE_NM} nm between atoms of different \
         molecules. Areas are those in the middle of each leaflet. Clean: the written file has a \
         certificate without overlaps, pierced rings, or molecules out of place."
    );
    let columns = vec![
        Column::text("membrane"),
        Column::measured("area", "nm²").decimals(3),
        Column::number("lipids"),
        Column::number("atoms"),
        Column::text("at rest"),
        Column::text("clean"),
        Column::measured("closest", "nm").decimals(4),
        Column::text("iterations"),
        Column::measured("median", "s").decimals(2),
        Column::measured("slowest", "s").decimals(2),
    ];
    let quick = run.pick(false, true);
    let mut notes = Vec::new();
    let mut table = run.table(&title, columns);
    for mut scene in scenes()? {
        let wanted = options.scene.as_ref();
        if wanted.is_some_and(|text| !scene.name.contains(text.as_str())) {
            continue;
        }
        let seeds = options.seeds.unwrap_or(scene.seeds);
        let seeds = if quick { 1 } else { seeds };
        let species = species(&scene.lipids)?;
        let ratios = scene
            .lipids
            .iter()
            .enumerate()
            .map(|(k, lipid)| (k, lipid.1));
        let composition = Composition::ratios(&ratios.collect::<Vec<_>>());
        scene.config.outer = Some(composition.clone());
        scene.config.inner = Some(composition);
        scene.config.area_scale = scene.scale;
        let mut outcomes = Vec::new();
        for seed in 1..=seeds {
            scene.config.seed = seed;
            let outcome = relax(&species, &scene.config)?;
            if !outcome.certificate.is_clean() {
                notes.push(format!(
                    "{}, seed {seed}: {}",
                    scene.name, outcome.certificate
                ));
            }
            outcomes.push(outcome);
        }
        table.row(row(&scene, &mut outcomes));
        if quick {
            break;
        }
    }
    for note in notes {
        run.note(&note);
    }
    Ok(())
}

fn row(scene: &Scene, outcomes: &mut [Outcome]) -> Vec<common::Cell> {
    outcomes.sort_by_key(|outcome| outcome.time);
    let count = outcomes.len();
    let seconds = |index: usize| outcomes[index].time.as_secs_f64();
    let share = |is_counted: fn(&Outcome) -> bool| {
        let counted = outcomes.iter().filter(|outcome| is_counted(outcome));
        format!("{} of {count}", counted.count())
    };
    let iterations = || outcomes.iter().map(|outcome| outcome.relaxation.iterations);
    let [fewest, most] = [iterations().min(), iterations().max()].map(Option::unwrap_or_default);
    let closest = outcomes
        .iter()
        .filter_map(|outcome| outcome.certificate.least_distance_nm)
        .fold(f64::INFINITY, f64::min);
    let total: f32 = scene.lipids.iter().map(|lipid| lipid.1).sum();
    let areas = scene.lipids.iter().map(|lipid| lipid.1 * lipid.2);
    let area = f64::from(scene.scale * areas.sum::<f32>() / total);
    cells![
        scene.name,
        area,
        outcomes[0].lipids,
        outcomes[0].atoms,
        share(|outcome| outcome.relaxation.converged()),
        share(|outcome| outcome.certificate.is_clean()),
        closest,
        format!("{fewest} to {most}"),
        seconds(count / 2),
        seconds(count - 1),
    ]
    .into()
}
