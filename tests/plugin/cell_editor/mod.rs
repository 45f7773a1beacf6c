//! The cell editor in headless apps: a small cell of coarse molecules.

mod edits;
mod files;
mod modes;
mod pointer;

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::ecs::change_detection::Tick;
use bevy::prelude::*;
use bevy_rapier_molecules::cell_editor::{
    CellEditor, CellEditorCommand, CellEditorMode, CellEditorPlugin, CellEditorSettings,
    CellMolecules, FrameWork, NoticeLevel,
};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::recipe::{Edit, LivePacking, MoleculeId};

use super::test_app::*;

/// Entries of the cell, in their order.
const BEAD: usize = 0;
const HEAD: usize = 1;
const GRANULE: usize = 2;

/// Radius of the vesicle, nm.
const RADIUS: f32 = 5.0;

/// Height of the heads of the lipids above the middle of the membrane, nm.
const DEPTH: f32 = 1.8;

/// A vesicle of coarse heads with granules inside and beads outside, with these numbers of beads,
/// heads and granules.
fn cell([beads, heads, granules]: [u32; 3]) -> String {
    format!(
        r#"{{
  "name": "small cell",
  "format_version": "2.1",
  "version": "1.0.0",
  "bounding_box": [[-90, -90, -90], [90, 90, 90]],
  "objects": {{
    "shell": {{ "type": "single_sphere", "radius": 50 }},
    "bead": {{ "type": "single_sphere", "radius": 8, "color": [0.1, 0.8, 0.3] }},
    "head": {{ "type": "single_sphere", "radius": 5 }},
    "granule": {{ "type": "single_sphere", "radius": 10, "color": [0.8, 0.2, 0.1] }}
  }},
  "composition": {{
    "space": {{
      "regions": {{ "interior": [ "vesicle", {{ "object": "bead", "count": {beads} }} ] }}
    }},
    "vesicle": {{
      "object": "shell",
      "count": 1,
      "regions": {{
        "outer_leaflet": [ {{ "object": "head", "count": {heads} }} ],
        "interior": [ {{ "object": "granule", "count": {granules} }} ]
      }}
    }}
  }},
  "bevy_rapier_molecules": {{ "objects": {{ "head": {{ "depth": 18 }} }} }}
}}"#
    )
}

/// A file in a folder for scratch files, with this content.
fn write_recipe(name: &str, text: &str) -> PathBuf {
    let path = scratch(name);
    fs::write(&path, text).unwrap();
    path
}

/// A path for a file that does not exist.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("cell_editor");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    path
}

/// An app with the editor and physics, and the recipe of this file.
fn editor_of(path: &Path) -> App {
    let mut app = bare_app();
    let settings = CellEditorSettings {
        work: FrameWork::Iterations(20),
        watch_interval: Duration::ZERO,
        ..default()
    };
    app.add_plugins((MoleculePlugins::default(), CellEditorPlugin { settings }));
    start(&mut app);
    open(&mut app, path);
    app
}

/// An app with the editor and a cell with these numbers of beads, heads and granules.
fn editor(name: &str, counts: [u32; 3]) -> App {
    editor_of(&write_recipe(&format!("{name}.json"), &cell(counts)))
}

/// Opens a recipe and waits until it is read.
fn open(app: &mut App, path: &Path) {
    send(app, CellEditorCommand::Open(path.to_owned()));
    wait_for(app, |world| {
        world.resource::<CellEditor>().loading().is_none()
    });
}

/// Sends a command, and runs the frame that processes it.
fn send(app: &mut App, command: CellEditorCommand) {
    app.world_mut().write_message(command);
    app.update();
}

fn edit(app: &mut App, edit: Edit) {
    send(app, CellEditorCommand::Edit(edit));
}

fn state(app: &App) -> &CellEditor {
    app.world().resource()
}

fn state_mut(app: &mut App) -> Mut<'_, CellEditor> {
    app.world_mut().resource_mut()
}

fn packing(app: &App) -> &LivePacking {
    state(app).packing().unwrap()
}

/// Runs frames until nothing overlaps.
fn run_to_rest(app: &mut App) {
    for _ in 0..500 {
        app.update();
        if packing(app).is_at_rest() {
            return;
        }
    }
    panic!("not at rest: {:?}", packing(app).status());
}

/// Pairs of overlapping spheres, and spheres that are not where they belong, by brute force.
fn violations(app: &App) -> usize {
    let packing = packing(app);
    let members = packing.crowd().members();
    let radius = |index: usize| packing.crowd().template_of(&members[index]).radii()[0];
    let center = |index: usize| members[index].pose.position;
    let pairs = (0..members.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    let overlaps = pairs.filter(|&(a, b)| center(a).distance(center(b)) < radius(a) + radius(b));
    let misplaced = (0..members.len()).filter(|&index| {
        let from_middle = center(index).length();
        match packing.molecule_entries()[index] as usize {
            HEAD => (from_middle - RADIUS - DEPTH).abs() > 1.0,
            GRANULE => from_middle > RADIUS,
            _ => from_middle < RADIUS,
        }
    });
    overlaps.count() + misplaced.count()
}

/// The molecules of an entry.
fn molecules_of(app: &App, entry: usize) -> Vec<MoleculeId> {
    let packing = packing(app);
    let all = packing
        .molecule_ids()
        .iter()
        .zip(packing.molecule_entries());
    let own = all.filter(|(_, row)| **row as usize == entry);
    own.map(|(id, _)| *id).collect()
}

fn counts(app: &App) -> Vec<u32> {
    packing(app).entries().map(|entry| entry.count).collect()
}

fn poses(app: &App) -> Vec<Pose> {
    let members = packing(app).crowd().members().iter();
    members.map(|member| member.pose).collect()
}

/// The notices of this level.
fn notices(app: &App, level: NoticeLevel) -> Vec<String> {
    let notices = state(app).notices().filter(|notice| notice.level == level);
    notices.map(|notice| notice.text.clone()).collect()
}

/// The ids that are drawn, and the number of instances.
fn drawn(app: &mut App) -> (Vec<MoleculeId>, usize) {
    let world = app.world_mut();
    let mut query = world.query::<(&CellMolecules, &InstancedMolecules)>();
    let (cell, molecules) = query.single(world).unwrap();
    (cell.ids().to_vec(), molecules.molecules.len())
}

/// When the instances were last changed.
fn last_drawn(app: &mut App) -> Tick {
    let world = app.world_mut();
    let mut query = world.query::<Ref<InstancedMolecules>>();
    query.single(world).unwrap().last_changed()
}

#[test]
fn a_recipe_is_opened_and_packed_until_nothing_overlaps() {
    let mut app = editor("packed", [60, 120, 20]);
    assert_eq!(state(&app).failure(), None);
    assert_eq!(counts(&app), [60, 120, 20]);
    assert_eq!(state(&app).mode(), CellEditorMode::Packing);
    run_to_rest(&mut app);
    assert_eq!(violations(&app), 0);
    assert_eq!(state(&app).progress(), 1.0);
    let last = packing(&app).iterations();
    assert!(last > 0);
    // At rest nothing is done and nothing is drawn anew.
    let (before, drawn_at) = (poses(&app), last_drawn(&mut app));
    run(&mut app, 5);
    assert_eq!(last_drawn(&mut app), drawn_at);
    assert_eq!(packing(&app).iterations(), last);
    assert_eq!(poses(&app), before);
    let (ids, instances) = drawn(&mut app);
    assert_eq!(ids, packing(&app).molecule_ids());
    assert_eq!(instances, 200);
    assert!(notices(&app, NoticeLevel::Done)[0].ends_with("packed.json: 200 molecules"));
}

#[test]
fn the_tree_has_all_entries_by_compartment_and_region() {
    let app = editor("tree", [3, 4, 5]);
    let tree = state(&app).tree();
    let mut rows = Vec::new();
    for compartment in &tree {
        for region in &compartment.regions {
            for entry in &region.entries {
                rows.push((compartment.name.as_str(), region.name.as_str(), *entry));
            }
        }
    }
    let expected = [
        ("space", "interior", BEAD),
        ("vesicle", "outer_leaflet", HEAD),
        ("vesicle", "interior", GRANULE),
    ];
    assert_eq!(rows, expected);
    let looks = &state(&app).looks;
    assert_eq!(looks[BEAD].color, Color::srgb(0.1, 0.8, 0.3));
    assert!(looks.iter().all(|look| look.visible));
    // A color of the palette, as the recipe has none.
    assert_ne!(looks[HEAD].color, looks[GRANULE].color);
}

#[test]
fn hidden_molecules_are_packed_all_the_same() {
    let end = |hide: bool| {
        let mut app = editor(if hide { "hidden" } else { "shown" }, [40, 80, 10]);
        if hide {
            let mut state = state_mut(&mut app);
            state.set_compartment_visible("vesicle", false);
            state.toggle_cut(Dir3::NEG_Z);
            app.update();
        } else {
            app.update();
        }
        let (ids, _) = drawn(&mut app);
        run_to_rest(&mut app);
        (ids, poses(&app))
    };
    let (visible, hidden) = (end(false), end(true));
    assert_eq!(visible.1, hidden.1);
    assert_eq!(visible.0.len(), 130);
    assert!(
        hidden.0.len() < 40 && hidden.0.len() > 5,
        "{}",
        hidden.0.len()
    );
}

#[test]
fn the_cut_hides_molecules_beyond_the_plane() {
    let mut app = editor("cut", [40, 80, 10]);
    run_to_rest(&mut app);
    state_mut(&mut app).toggle_cut(Dir3::NEG_X);
    state_mut(&mut app).cut.offset = 1.5;
    app.update();
    let (ids, instances) = drawn(&mut app);
    let packing = packing(&app);
    let all = packing.molecule_ids().iter().zip(packing.crowd().members());
    let expected = all.filter(|(_, member)| member.pose.position.x <= 1.5);
    let expected: Vec<MoleculeId> = expected.map(|(id, _)| *id).collect();
    assert_eq!(ids, expected);
    assert_eq!(instances, expected.len());
    state_mut(&mut app).toggle_cut(Dir3::NEG_X);
    app.update();
    assert_eq!(drawn(&mut app).1, 130);
}
