//! Boxes and atoms of a vesicle of POPC lipids.

use std::sync::Arc;

use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, vesicle};
use bevy_rapier_molecules::search::SearchKind;
use bevy_rapier_molecules::search::boxes::BoxSet;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::{Quat, Vec3, Vec3Swizzles};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::Arguments;
use crate::common::{AnyError, Device};
use crate::device_search;
use crate::table::{self, Tables};
use crate::timing::{BoxRunner, SphereRunner, race};

/// Area of a leaflet at its heads for each lipid, nm².
const AREA_PER_LIPID_NM2: f32 = 1.23;

/// How far lipids move along each axis between two frames, at most, nm. Rapier's boxes have
/// 0.04 nm to spare: trembling lipids stay within them.
const MOTIONS: [(&str, f32); 3] = [("all moving", 0.1), ("trembling", 0.01), ("static", 0.0)];

/// Turn between two frames for each nm of motion, radian.
const TURN_PER_NM: f32 = 1.0;

/// Frames, the first of which warms up.
const FRAMES: usize = 16;

pub fn run(arguments: &Arguments, tables: &mut Tables) -> Result<Device, AnyError> {
    let sizes: &[u32] = if arguments.quick {
        &[1000]
    } else {
        &[7462, 29_850]
    };
    let mut rows = Vec::new();
    // Each size in each motion, then the atoms.
    let all = (sizes.len() + 1) * MOTIONS.len();
    for (size, &lipids) in sizes.iter().enumerate() {
        let lipid = Arc::new(load(
            concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/popc.pdb"),
            &LoadOptions::default(),
        )?);
        let poses = poses(&lipid, lipids)?;
        for (step, (motion, distance)) in MOTIONS.into_iter().enumerate() {
            tables.come_to(size * MOTIONS.len() + step, all, || {
                format!("vesicle: boxes of {lipids} lipids, {motion}")
            });
            rows.push(race_boxes(&lipid, &poses, motion, distance)?);
        }
    }
    let mut header = table::words(&["molecules", "motion", "pairs"]);
    header.extend(box_runners(0).iter().map(|runner| runner.name.to_owned()));
    header.push("Rapier ÷ box-grid".to_owned());
    let title =
        "**Boxes of molecules**: a vesicle of POPC. Of Rapier the update of its tree alone.";
    tables.add(title, header, rows)?;
    atoms(arguments, tables, sizes.len())
}

/// Those who search boxes; brute force only if there are few.
fn box_runners(boxes: usize) -> Vec<BoxRunner> {
    let kinds = SearchKind::ALL.into_iter();
    let kinds = kinds.filter(|kind| *kind != SearchKind::BruteForce || boxes < 10_000);
    let mut runners: Vec<BoxRunner> = kinds
        .filter_map(SearchKind::box_search)
        .map(BoxRunner::new)
        .collect();
    runners.push(BoxRunner::new(Box::new(RapierBvh::new())));
    runners
}

fn race_boxes(
    lipid: &MoleculeTemplate,
    poses: &[Pose],
    motion: &str,
    distance: f32,
) -> Result<Vec<String>, AnyError> {
    let frames = motion_of(poses, distance);
    let runs: Vec<_> = runs(poses.len(), lipid.atom_count()).collect();
    let mut runners = box_runners(poses.len());
    let mut pairs = 0;
    for (number, poses) in frames.iter().enumerate() {
        let spheres = place(lipid, poses)?;
        let mut boxes = BoxSet::new();
        boxes.set_around_runs(&spheres, &runs, 0.0)?;
        let mut found = Vec::new();
        for runner in &mut runners {
            // Rapier puts its tree in order over the first frames.
            found.push(runner.frame(&boxes, number > 3)?);
        }
        if found.iter().any(|count| *count != found[0]) {
            return Err(format!("pairs of boxes differ: {found:?}").into());
        }
        pairs = found[0];
    }
    let times: Vec<(&str, Option<f64>)> = runners
        .iter_mut()
        .map(|runner| (runner.name, runner.median()))
        .collect();
    let time_of = |start: &str| {
        let (_, time) = times.iter().find(|(name, _)| name.starts_with(start))?;
        *time
    };
    let mut row = vec![
        poses.len().to_string(),
        motion.to_owned(),
        pairs.to_string(),
    ];
    let names: Vec<&str> = box_runners(0).iter().map(|runner| runner.name).collect();
    row.extend(names.iter().map(|name| table::number(time_of(name))));
    let ratio = time_of("rapier").zip(time_of("box-grid"));
    row.push(table::number(ratio.map(|(rapier, grid)| rapier / grid)));
    Ok(row)
}

/// Atoms, all lipids moving, after so many sizes of boxes; and who searched for them beside
/// the processor.
fn atoms(arguments: &Arguments, tables: &mut Tables, sizes: usize) -> Result<Device, AnyError> {
    let lipids = if arguments.quick { 1000 } else { 7462 };
    let lipid = Arc::new(load(
        concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/popc.pdb"),
        &LoadOptions::default(),
    )?);
    let poses = poses(&lipid, lipids)?;
    let backend = arguments.backend.get();
    let mut device: Option<Device> = None;
    let mut rows = Vec::new();
    for (step, (motion, distance)) in MOTIONS.into_iter().enumerate() {
        let frames: Result<Vec<SphereSet>, _> = motion_of(&poses, distance)
            .iter()
            .take(6)
            .map(|poses| place(&lipid, poses))
            .collect();
        let frames = frames?;
        let mut runners = SphereRunner::for_spheres(frames[0].len());
        // One that is not there is looked for once.
        if device.as_ref().is_none_or(|known| known.adapter.is_some()) {
            let (search, found) = search_for_backend(backend);
            runners.extend(search.map(SphereRunner::new));
            device = Some(found);
        }
        let [done, all] = [sizes, sizes + 1].map(|sizes| sizes * MOTIONS.len());
        tables.come_to(done + step, all, || {
            format!("vesicle: atoms of {lipids} lipids, {motion}")
        });
        let pairs = race(&mut runners, &frames)?;
        if rows.is_empty() {
            let mut header = table::words(&["motion", "pairs"]);
            header.extend(runners.iter().map(|runner| runner.name.to_owned()));
            rows.push(header);
        }
        let mut row = vec![motion.to_owned(), format!("{pairs:.0}")];
        row.extend(
            runners
                .iter_mut()
                .map(|runner| table::number(runner.median())),
        );
        rows.push(row);
    }
    let header = rows.remove(0);
    let title = format!(
        "**Atoms**: the {} atoms of {lipids} lipids, radii by element.",
        lipids as usize * lipid.atom_count()
    );
    tables.add(&title, header, rows)?;
    Ok(device.unwrap_or_default())
}

fn poses(lipid: &Arc<MoleculeTemplate>, lipids: u32) -> Result<Vec<Pose>, AnyError> {
    let config = VesicleConfig {
        size: VesicleSize::Density {
            lipids,
            area_per_lipid: AREA_PER_LIPID_NM2,
        },
        ..VesicleConfig::default()
    };
    let vesicle = vesicle(Arc::clone(lipid), &config)?;
    Ok(vesicle.crowd.instances().map(|(_, pose)| pose).collect())
}

/// The same lipids, frame after frame a little further.
fn motion_of(poses: &[Pose], distance: f32) -> Vec<Vec<Pose>> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut frames = vec![poses.to_vec()];
    for frame in 1..FRAMES {
        let moved = frames[frame - 1].iter().map(|pose| {
            let by = Vec3::from_array(std::array::from_fn(|_| {
                distance * (2.0 * random.random::<f32>() - 1.0)
            }));
            let turn = Quat::from_scaled_axis(TURN_PER_NM * by.zxy());
            Pose {
                position: pose.position + by,
                rotation: (turn * pose.rotation).normalize(),
            }
        });
        let moved = moved.collect();
        frames.push(moved);
    }
    frames
}

fn place(lipid: &MoleculeTemplate, poses: &[Pose]) -> Result<SphereSet, AnyError> {
    let molecules = poses.iter().map(|pose| (lipid, *pose));
    Ok(SphereSet::from_molecules(molecules)?)
}

/// Atoms of each molecule.
fn runs(molecules: usize, atoms: usize) -> impl Iterator<Item = std::ops::Range<u32>> {
    let start = move |molecule: usize| (molecule * atoms) as u32;
    (0..molecules).map(move |molecule| start(molecule)..start(molecule + 1))
}
