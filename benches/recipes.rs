//! Recipes: time to zero overlaps of the bundled ones and of an enlarged one, and searches of mixed
//! radii.

mod common;

use std::error::Error;
use std::fs;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::recipe::{
    Edit, LivePacking, PackOptions, ReadOptions, Recipe, RecipeError, Region, pack, populate, relax,
};
use bevy_rapier_molecules::relax::RelaxConfig;
use bevy_rapier_molecules::search::{
    FoundPairs, FoundPairsSink, HierarchicalGrid, MoleculeSearch, PairSearch, RigidSpheres,
    UniformGrid,
};
use bevy_rapier_molecules::spheres::SphereSet;
use clap::Args;
use common::interleave::{Samples, ms, ratio};
use common::{Cell, Column, Done, Part, Run, cells};
use serde_json::Value;

/// The bundled recipes, small ones first.
const RECIPES: [&str; 5] = [
    "proteins_in_a_box",
    "blood_plasma",
    "coarse_spheres",
    "vesicle",
    "bacterium",
];

/// Rounds of which the median is taken.
const ROUNDS: usize = 7;

/// Limit of the time of one relaxation.
const MAX_TIME: Duration = Duration::from_secs(300);

/// Number of molecules by which an entry grows.
const MORE_MOLECULES: u32 = 10;

/// Way of a dragged molecule, nm, and steps in which it goes that way.
const DRAG_NM: f32 = 10.0;
const DRAG_STEPS: u32 = 60;

#[derive(Args)]
struct Options {
    /// Recipe to pack instead of the bundled ones.
    #[arg(long, value_name = "FILE")]
    recipe: Option<PathBuf>,
    /// Factor of all lengths of the enlarged vesicle; numbers grow with volumes and areas.
    #[arg(long, value_name = "X", default_value_t = 4.0)]
    enlarge: f64,
}

fn main() -> ExitCode {
    let about =
        "Recipes: time to zero overlaps, also of an enlarged one, and searches of mixed radii";
    let parts = [
        Part::new("packing", "time to zero overlaps", packing),
        Part::new("enlarged", "the vesicle recipe, enlarged", enlarged),
        Part::new("editing", "time to zero overlaps after an edit", editing),
        Part::new("mixed", "searches of mixed radii", mixed),
    ];
    common::run("recipes", about, &parts)
}

fn recipes(run: &Run, options: &Options) -> Vec<(String, PathBuf)> {
    if let Some(path) = &options.recipe {
        return vec![(path.display().to_string(), path.clone())];
    }
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/recipes");
    let some = run.pick(RECIPES.len(), 1);
    let all = RECIPES[..some].iter();
    all.map(|name| ((*name).to_owned(), folder.join(format!("{name}.json"))))
        .collect()
}

fn packing(run: &mut Run, options: &Options) -> Done {
    let title = "Packing of recipes: populate and relax to zero overlaps.";
    let recipes = recipes(run, options);
    let mut table = run.table(title, packing_columns());
    for (name, path) in recipes {
        let recipe = Recipe::load(&path, &ReadOptions::default())?;
        table.row(packing_row(&name, &recipe)?);
    }
    Ok(())
}

fn packing_columns() -> Vec<Column> {
    vec![
        Column::text("recipe"),
        Column::number("molecules"),
        Column::number("atoms"),
        Column::number("overlaps at the start"),
        Column::number("iterations"),
        Column::number("overlaps left"),
        Column::measured("populate", "s").decimals(2),
        Column::measured("relax", "s").decimals(2),
    ]
}

/// Packs a recipe once. The time of the relaxation includes the first search.
fn packing_row(name: &str, recipe: &Recipe) -> Result<[Cell; 8], Box<dyn Error>> {
    let begin = Instant::now();
    let population = populate(recipe, None)?;
    let populating = begin.elapsed();
    let config = RelaxConfig {
        max_time: Some(MAX_TIME),
        ..RelaxConfig::default()
    };
    let begin = Instant::now();
    let packing = relax(recipe, population, config, |_| ControlFlow::Continue(()))?;
    let relaxing = begin.elapsed();
    Ok(cells![
        name,
        packing.report.molecules as u64,
        packing.report.atoms as u64,
        packing.relaxed.start.overlaps,
        u64::from(packing.relaxed.iterations),
        packing.relaxed.end.overlaps,
        populating.as_secs_f64(),
        relaxing.as_secs_f64(),
    ])
}

fn enlarged(run: &mut Run, options: &Options) -> Done {
    let title = "The vesicle recipe, enlarged: populate and relax to zero overlaps.";
    let factor = run.pick(options.enlarge, 1.0);
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("assets/recipes");
    let mut file: Value = serde_json::from_slice(&fs::read(folder.join("vesicle.json"))?)?;
    enlarge(&mut file, factor);
    let text = serde_json::to_vec(&file)?;
    let recipe = Recipe::read(&text, "vesicle.json", &folder, &ReadOptions::default())?;
    let mut table = run.table(title, packing_columns());
    table.row(packing_row(&format!("vesicle × {factor}"), &recipe)?);
    Ok(())
}

/// Multiplies the box and the radius of the vesicle by a factor, and the numbers of its molecules by
/// that of the volume or area. Those of lipids follow from the area.
fn enlarge(file: &mut Value, factor: f64) {
    for corner in file["bounding_box"].as_array_mut().into_iter().flatten() {
        for value in corner.as_array_mut().into_iter().flatten() {
            *value = (factor * value.as_f64().unwrap_or_default()).into();
        }
    }
    let radius = &mut file["objects"]["vesicle_shape"]["radius"];
    *radius = (factor * radius.as_f64().unwrap_or_default()).into();
    for compartment in ["space", "vesicle"] {
        for (region, power) in [("interior", 3), ("surface", 2)] {
            let place = format!("/composition/{compartment}/regions/{region}");
            let items = file.pointer_mut(&place).and_then(Value::as_array_mut);
            for item in items.into_iter().flatten() {
                if let Some(count) = item.get_mut("count") {
                    let number = count.as_f64().unwrap_or_default();
                    *count = (number * factor.powi(power)).round().into();
                }
            }
        }
    }
}

fn editing(run: &mut Run, options: &Options) -> Done {
    let title = "Edits of packed recipes: from the edit to zero overlaps.";
    let columns = vec![
        Column::text("recipe"),
        Column::text("edit"),
        Column::number("overlaps at the start"),
        Column::number("iterations"),
        Column::number("overlaps left"),
        Column::measured("applied in", "ms").decimals(1),
        Column::measured("to zero overlaps", "s").decimals(2),
    ];
    let recipes = recipes(run, options);
    let mut table = run.table(title, columns);
    for (name, path) in recipes {
        let recipe = Recipe::load(&path, &ReadOptions::default())?;
        let mut inside = recipe.entries.iter();
        let Some(entry) = inside.rposition(|entry| entry.region == Region::Interior) else {
            continue;
        };
        let mut packing = LivePacking::new(recipe, &PackOptions::default())?;
        settle(&mut packing)?;
        let count = packing.entries().nth(entry).map_or(0, |entry| entry.count) + MORE_MOLECULES;
        let mut row = |what: &str, times: &Settled| {
            table.row(cells![
                &*name,
                what,
                times.start,
                u64::from(times.iterations),
                times.end,
                ms(times.edit),
                times.settling.as_secs_f64(),
            ]);
        };
        let more = |packing: &mut LivePacking| {
            packing.apply(Edit::SetCount { entry, count })?;
            Ok(())
        };
        row(
            &format!("{MORE_MOLECULES} molecules more"),
            &edit(&mut packing, more)?,
        );
        row("the same, undone", &edit(&mut packing, undo)?);
        let ids = packing.molecule_ids().iter().copied();
        let dragged = ids.clone().find(|id| packing.entry_of(*id) == Some(entry));
        if let Some(id) = dragged {
            let drag = |packing: &mut LivePacking| {
                let from = packing
                    .pose_of(id)
                    .map_or(glam::Vec3::ZERO, |pose| pose.position);
                packing.start_drag(id, from)?;
                packing.drag_to(from - from.normalize_or_zero() * DRAG_NM)?;
                for _ in 0..DRAG_STEPS {
                    packing.step()?;
                }
                packing.end_drag()
            };
            row(
                &format!("one molecule dragged by {DRAG_NM} nm"),
                &edit(&mut packing, drag)?,
            );
            row("the same, undone", &edit(&mut packing, undo)?);
        }
    }
    Ok(())
}

fn undo(packing: &mut LivePacking) -> Result<(), RecipeError> {
    packing.undo().map(|_| ())
}

/// An edit and the steps after it.
struct Settled {
    edit: Duration,
    settling: Duration,
    iterations: u32,
    /// Overlaps after the edit, and in the end.
    start: u64,
    end: u64,
}

fn edit(
    packing: &mut LivePacking,
    change: impl FnOnce(&mut LivePacking) -> Result<(), RecipeError>,
) -> Result<Settled, RecipeError> {
    let begin = Instant::now();
    change(packing)?;
    let edit = begin.elapsed();
    let (start, before) = (packing.status().overlaps, packing.iterations());
    let begin = Instant::now();
    settle(packing)?;
    Ok(Settled {
        edit,
        settling: begin.elapsed(),
        iterations: packing.iterations() - before,
        start,
        end: packing.status().overlaps,
    })
}

/// Steps until all molecules are at rest, or nothing helps.
fn settle(packing: &mut LivePacking) -> Result<(), RecipeError> {
    while !packing.is_at_rest() && !packing.is_stalled() {
        packing.step()?;
    }
    Ok(())
}

/// Times of one search each, s.
struct Searches {
    pairs: u64,
    by_molecules: Duration,
    from_scratch: Duration,
    hierarchical: Duration,
    uniform: Option<Duration>,
}

fn mixed(run: &mut Run, options: &Options) -> Done {
    let title = "Pairs of overlapping spheres in scenes of mixed radii, ms per search.";
    let columns = vec![
        Column::text("scene"),
        Column::number("spheres"),
        Column::number("largest radius / smallest").decimals(0),
        Column::number("pairs"),
        Column::measured("by molecules", "ms").decimals(2),
        Column::measured("by molecules, from scratch", "ms").decimals(2),
        Column::measured("hierarchical grid", "ms").decimals(2),
        Column::measured("uniform grid", "ms").decimals(2),
        Column::measured("hierarchical / by molecules", "").decimals(1),
    ];
    let recipes = recipes(run, options);
    let rounds = run.pick(ROUNDS, 1);
    let mut table = run.table(title, columns);
    for (name, path) in recipes {
        let recipe = Recipe::load(&path, &ReadOptions::default())?;
        let start = populate(&recipe, None)?.crowd;
        let packing = pack(&recipe, &PackOptions::default(), |_| {
            ControlFlow::Continue(())
        })?;
        for (state, crowd) in [("at the start", &start), ("at rest", &packing.crowd)] {
            let radii = crowd
                .members()
                .iter()
                .flat_map(|m| crowd.template_of(m).radii());
            let (low, high) = radii.fold((f32::MAX, 0.0_f32), |(low, high), radius| {
                (low.min(*radius), high.max(*radius))
            });
            let found = search(crowd, rounds)?;
            table.row(cells![
                &*format!("{name}, {state}"),
                crowd.atom_count() as u64,
                f64::from(high / low),
                found.pairs,
                ms(found.by_molecules),
                ms(found.from_scratch),
                ms(found.hierarchical),
                found.uniform.map(ms),
                ratio(found.hierarchical, found.by_molecules),
            ]);
        }
    }
    Ok(())
}

/// Counts pairs with each search, in turns. All find the same number.
fn search(crowd: &Crowd, rounds: usize) -> Result<Searches, Box<dyn Error>> {
    let shapes: Vec<Arc<RigidSpheres>> = crowd
        .templates()
        .iter()
        .map(|template| Arc::new(RigidSpheres::atoms(template)))
        .collect();
    let members = crowd.members();
    let mut molecules = MoleculeSearch::new();
    molecules.set_molecules(members.iter().map(|m| shapes[m.template as usize].clone()))?;
    molecules.set_periodic_box(crowd.periodic_box());
    let spheres = SphereSet::from_molecules(crowd.instances())?;
    let (mut hierarchical, mut uniform) = (HierarchicalGrid::new(), UniformGrid::new());
    let mut times: [Samples; 4] = Default::default();
    let [mut remembered, mut scratch, mut levels, mut cells] = [0; 4];
    let mut has_uniform = true;
    count(&mut molecules, |k| members[k].pose)?;
    for round in 0..rounds {
        // All molecules move a little, so that nothing is known beforehand.
        let shift = glam::Vec3::X * (1.0e-4 * (round as f32 + 1.0));
        let pose = |k: usize| Pose {
            position: members[k].pose.position + shift,
            ..members[k].pose
        };
        remembered = times[0].time(|| count(&mut molecules, pose))?;
        molecules.forget();
        scratch = times[1].time(|| count(&mut molecules, pose))?;
        levels = times[2].time(|| hierarchical.count_pairs(&spheres, 0.0))?;
        if has_uniform {
            match times[3].time(|| uniform.count_pairs(&spheres, 0.0)) {
                Ok(found) => cells = found,
                // Its cells are as wide as the largest sphere.
                Err(_) => has_uniform = false,
            }
        }
    }
    let differs = |found: u64| found.abs_diff(levels) > levels / 10_000 + 2;
    if crowd.periodic_box().is_none()
        && (differs(remembered) || differs(scratch) || has_uniform && differs(cells))
    {
        return Err(format!("{remembered}, {scratch}, {levels} and {cells} pairs").into());
    }
    Ok(Searches {
        pairs: scratch,
        by_molecules: times[0].median(),
        from_scratch: times[1].median(),
        hierarchical: times[2].median(),
        uniform: has_uniform.then(|| times[3].median()),
    })
}

fn count(
    search: &mut MoleculeSearch,
    pose: impl Fn(usize) -> Pose + Sync,
) -> Result<u64, Box<dyn Error>> {
    let mut parts: Vec<u64> = Vec::new();
    let sink = FoundPairsSink {
        parts: &mut parts,
        keep_unmoved: |_: &u64| false,
        with_centers: false,
        clear: |part: &mut u64| *part = 0,
        repeat: |_: &mut u64, _| false,
        receive: |part: &mut u64, found: &FoundPairs<'_>| *part += found.pairs.len() as u64,
    };
    search.find(pose, 0.0, sink)?;
    Ok(parts.iter().sum())
}
