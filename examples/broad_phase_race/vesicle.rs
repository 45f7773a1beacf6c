//! Boxes and atoms of a vesicle of POPC lipids.

use std::sync::Arc;

use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, VesicleStart, vesicle};
use bevy_rapier_molecules::search::SearchKind;
use bevy_rapier_molecules::search::boxes::BoxSet;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::{Quat, Vec3, Vec3Swizzles};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::Arguments;
use crate::common::{AnyError, Device, search_for_backend};
use crate::runners::{BoxRunner, SphereRunner, race};
use crate::table::{self, Tables};

/// Area per lipid at the heads, nm².
const AREA_PER_LIPID_NM2: f32 = 1.23;

/// Max motion per frame along each axis, nm. Rapier enlarges boxes by 0.04 nm: trembling lipids
/// stay within them.
const MOTIONS: [(&str, f32); 3] = [("all moving", 0.1), ("trembling", 0.01), ("static", 0.0)];

/// Rotation per nm of motion, rad.
const TURN_PER_NM: f32 = 1.0;

/// Number of frames; the first is a warm-up.
const FRAMES: usize = 16;

pub fn run(arguments: &Arguments, tables: &mut Tables) -> Result<Device, AnyError> {
    let sizes: &[u32] = if arguments.quick {
        &[1000]
    } else {
        &[7462, 29_850]
    };
    let mut rows = Vec::new();
    // All sizes with all motions, and the atoms with all motions.
    let all = (sizes.len() + 1) * MOTIONS.len();
    for (index, &lipids) in sizes.iter().enumerate() {
        let lipid = Arc::new(load(
            concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/popc.pdb"),
            &LoadOptions::default(),
        )?);
        let poses = poses(&lipid, lipids)?;
        for (step, (motion, distance)) in MOTIONS.into_iter().enumerate() {
            tables.progress(index * MOTIONS.len() + step, all, || {
                format!("vesicle: boxes of {lipids} lipids, {motion}")
            });
            rows.push(race_boxes(&lipid, &poses, motion, distance)?);
        }
    }
    let mut header = table::strings(&["molecules", "motion", "pairs"]);
    header.extend(box_runners(0).iter().map(|runner| runner.name.to_owned()));
    header.push("Rapier ÷ box-grid".to_owned());
    let title =
        "**Boxes of molecules**: a vesicle of POPC. Rapier's time is the update of its tree alone.";
    tables.add(title, header, rows)?;
    atoms(arguments, tables, sizes.len())
}

/// All searches of boxes; brute force only for few boxes.
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
    let frames = moving(poses, distance);
    let ranges: Vec<_> = atom_ranges(poses.len(), lipid.atom_count()).collect();
    let mut runners = box_runners(poses.len());
    let mut pairs = 0;
    let mut boxes = BoxSet::new();
    for (number, poses) in frames.iter().enumerate() {
        // As with Rapier's colliders, boxes are set only if something has moved.
        if number == 0 || *poses != frames[number - 1] {
            boxes.set_around_runs(&place(lipid, poses)?, &ranges, 0.0)?;
        }
        let mut found = Vec::new();
        for runner in &mut runners {
            // Rapier optimizes its tree over the first frames.
            found.push(runner.frame(&boxes, number > 3)?);
        }
        if found.iter().any(|count| *count != found[0]) {
            return Err(format!("the searches find different numbers of pairs: {found:?}").into());
        }
        pairs = found[0];
    }
    let times: Vec<(&str, Option<f64>)> = runners
        .iter_mut()
        .map(|runner| (runner.name, runner.median()))
        .collect();
    let median_time = |prefix: &str| {
        let (_, time) = times.iter().find(|(name, _)| name.starts_with(prefix))?;
        *time
    };
    let mut row = vec![
        poses.len().to_string(),
        motion.to_owned(),
        pairs.to_string(),
    ];
    let names: Vec<&str> = box_runners(0).iter().map(|runner| runner.name).collect();
    row.extend(
        names
            .iter()
            .map(|name| table::format_number(median_time(name))),
    );
    let ratio = median_time("rapier").zip(median_time("box-grid"));
    row.push(table::format_number(
        ratio.map(|(rapier, grid)| rapier / grid),
    ));
    Ok(row)
}

/// Searches the atoms. `sizes` sizes of boxes are done before. Returns the device that took
/// part besides the CPU.
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
        let frames: Result<Vec<SphereSet>, _> = moving(&poses, distance)
            .iter()
            .take(6)
            .map(|poses| place(&lipid, poses))
            .collect();
        let frames = frames?;
        let mut runners = SphereRunner::for_spheres(frames[0].len());
        // A missing GPU is reported once.
        if device.as_ref().is_none_or(|known| known.adapter.is_some()) {
            let (search, found) = search_for_backend(backend);
            runners.extend(search.map(SphereRunner::new));
            device = Some(found);
        }
        let [done, all] = [sizes, sizes + 1].map(|sizes| sizes * MOTIONS.len());
        tables.progress(done + step, all, || {
            format!("vesicle: atoms of {lipids} lipids, {motion}")
        });
        let pairs = race(&mut runners, &frames)?;
        if rows.is_empty() {
            let mut header = table::strings(&["motion", "pairs"]);
            header.extend(runners.iter().map(|runner| runner.name.to_owned()));
            rows.push(header);
        }
        let mut row = vec![motion.to_owned(), format!("{pairs:.0}")];
        row.extend(
            runners
                .iter_mut()
                .map(|runner| table::format_number(runner.median())),
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
        start: VesicleStart::Uniform,
        ..VesicleConfig::default()
    };
    let vesicle = vesicle(Arc::clone(lipid), &config)?;
    Ok(vesicle.crowd.instances().map(|(_, pose)| pose).collect())
}

/// Frames in which each lipid moves slightly.
fn moving(poses: &[Pose], distance: f32) -> Vec<Vec<Pose>> {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    if distance == 0.0 {
        return vec![poses.to_vec(); FRAMES];
    }
    let mut frames = vec![poses.to_vec()];
    for frame in 1..FRAMES {
        let moved = frames[frame - 1].iter().map(|pose| {
            let motion = Vec3::from_array(std::array::from_fn(|_| {
                distance * (2.0 * random.random::<f32>() - 1.0)
            }));
            let turn = Quat::from_scaled_axis(TURN_PER_NM * motion.zxy());
            Pose {
                position: pose.position + motion,
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

/// Index ranges of the atoms of each molecule.
fn atom_ranges(molecules: usize, atoms: usize) -> impl Iterator<Item = std::ops::Range<u32>> {
    let start = move |molecule: usize| (molecule * atoms) as u32;
    (0..molecules).map(move |molecule| start(molecule)..start(molecule + 1))
}
