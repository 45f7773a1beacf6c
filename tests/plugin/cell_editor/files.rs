//! Files: broken ones, those that change on disk, saving and exports.

use super::*;

/// Writes a file and waits until it is read.
fn rewrite(app: &mut App, path: &Path, text: &str) {
    let notices = state(app).notices().count();
    // Another time or another size: file systems have coarse clocks.
    fs::write(path, format!("{text}\n")).unwrap();
    wait_for(app, |world| {
        let editor = world.resource::<CellEditor>();
        editor.notices().count() > notices
    });
}

#[test]
fn a_broken_recipe_keeps_the_scene_and_says_what_is_wrong_where() {
    let mut app = editor("whole", [10, 20, 3]);
    let good = state(&app).path().unwrap().to_owned();
    let text = cell([10, 20, 3]).replace("\"object\": \"bead\"", "\"object\": \"baed\"");
    let broken = write_recipe("broken.json", &text);
    open(&mut app, &broken);
    let failure = state(&app).failure().unwrap();
    let expected = "broken.json: composition.space.regions.interior[1].object: there is no object 'baed'; did you mean 'bead'?";
    assert!(failure.ends_with(expected), "{failure}");
    assert_eq!(notices(&app, NoticeLevel::Error), [failure]);
    assert_eq!(counts(&app), [10, 20, 3]);
    assert_eq!(state(&app).path(), Some(&*good));
    // The user corrects it.
    rewrite(&mut app, &broken, &cell([11, 20, 3]));
    assert_eq!(state(&app).failure(), None);
    assert_eq!(counts(&app), [11, 20, 3]);
    assert_eq!(state(&app).path(), Some(&*broken));
}

#[test]
fn a_number_that_changes_in_the_file_changes_the_scene() {
    let mut app = editor("reloaded", [10, 20, 3]);
    run_to_rest(&mut app);
    let path = state(&app).path().unwrap().to_owned();
    state_mut(&mut app).looks[BEAD].visible = false;
    edit(
        &mut app,
        Edit::SetCount {
            entry: HEAD,
            count: 25,
        },
    );
    run_to_rest(&mut app);
    let granules = molecules_of(&app, GRANULE);
    let kept: Vec<_> = granules
        .iter()
        .map(|id| packing(&app).pose_of(*id))
        .collect();
    state_mut(&mut app).paused = true;
    rewrite(&mut app, &path, &cell([140, 20, 3]));
    // The number that was edited here stays.
    assert_eq!(counts(&app), [140, 25, 3]);
    assert!(!state(&app).looks[BEAD].visible && state(&app).looks[HEAD].visible);
    let now: Vec<_> = granules
        .iter()
        .map(|id| packing(&app).pose_of(*id))
        .collect();
    assert_eq!(now, kept);
    state_mut(&mut app).paused = false;
    run_to_rest(&mut app);
    assert_eq!(violations(&app), 0);
    let done = notices(&app, NoticeLevel::Done);
    let last = done.last().unwrap();
    assert_eq!(last, "the file has changed: 130 molecules added, 0 removed");
    // A file that breaks leaves all as it is.
    let before = poses(&app);
    rewrite(&mut app, &path, "{");
    assert!(state(&app).failure().is_some());
    assert_eq!(poses(&app), before);
    rewrite(&mut app, &path, &cell([139, 20, 3]));
    assert_eq!(state(&app).failure(), None);
    assert_eq!(counts(&app), [139, 25, 3]);
}

/// The poses of each entry as bits, sorted: a file has the molecules of one entry together.
fn sorted_poses(app: &App) -> Vec<(u32, [u32; 7])> {
    let rows = packing(app).molecule_entries();
    let bits = |pose: Pose| {
        let [x, y, z] = pose.position.to_array();
        let [a, b, c, w] = pose.rotation.to_array();
        [x, y, z, a, b, c, w].map(f32::to_bits)
    };
    let mut all: Vec<_> = rows
        .iter()
        .copied()
        .zip(poses(app).into_iter().map(bits))
        .collect();
    all.sort_unstable();
    all
}

#[test]
fn a_saved_cell_opens_with_the_same_poses() {
    let mut app = editor("to_save", [20, 40, 5]);
    run_to_rest(&mut app);
    edit(
        &mut app,
        Edit::SetCount {
            entry: BEAD,
            count: 25,
        },
    );
    run_to_rest(&mut app);
    let (before, numbers) = (sorted_poses(&app), counts(&app));
    let saved = scratch("saved.json");
    send(&mut app, CellEditorCommand::Save(saved.clone()));
    assert!(notices(&app, NoticeLevel::Error).is_empty());
    let mut app = editor_of(&saved);
    assert_eq!(state(&app).failure(), None);
    assert_eq!(counts(&app), numbers);
    assert!(sorted_poses(&app) == before);
    // It is at rest at once. Saving over itself is not a change.
    run(&mut app, 3);
    assert_eq!(packing(&app).iterations(), 0);
    send(&mut app, CellEditorCommand::Save(saved));
    run(&mut app, 20);
    assert!(state(&app).loading().is_none());
    assert_eq!(notices(&app, NoticeLevel::Done).len(), 2);
}

#[test]
fn exports_have_all_molecules() {
    let recipe =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/recipes/proteins_in_a_box.json");
    let mut app = editor_of(&recipe);
    state_mut(&mut app).set_compartment_visible("space", false);
    let atoms = packing(&app).crowd().atom_count();
    for name in ["cell.cif", "cell.pdb"] {
        let path = scratch(name);
        send(&mut app, CellEditorCommand::Export(path.clone()));
        let written = load(&path, &LoadOptions::default()).unwrap();
        assert_eq!(written.atom_count(), atoms);
    }
    let last = notices(&app, NoticeLevel::Done);
    let last = last.last().unwrap();
    assert!(
        last.ends_with(&format!("cell.pdb: 28 molecules, {atoms} atoms")),
        "{last}"
    );
}

#[test]
fn a_missing_file_is_reported_and_opened_once_it_is_there() {
    let path = scratch("later.json");
    let mut app = editor_of(&path);
    assert!(state(&app).packing().is_none());
    let failure = state(&app).failure().unwrap();
    assert!(
        failure.contains("later.json: cannot read the file"),
        "{failure}"
    );
    rewrite(&mut app, &path, &cell([1, 2, 3]));
    assert_eq!(counts(&app), [1, 2, 3]);
}
