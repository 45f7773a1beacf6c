//! Changes of molecules by commands.

use super::*;

#[test]
fn changed_numbers_make_room_and_can_be_taken_back() {
    let mut app = editor("counts", [30, 80, 10]);
    run_to_rest(&mut app);
    let first: Vec<MoleculeId> = packing(&app).molecule_ids().to_vec();
    for (entry, count) in [(BEAD, 60), (HEAD, 120), (GRANULE, 4)] {
        edit(&mut app, Edit::SetCount { entry, count });
        run_to_rest(&mut app);
        assert_eq!(violations(&app), 0);
    }
    assert_eq!(counts(&app), [60, 120, 4]);
    assert_eq!(drawn(&mut app).1, 184);
    for _ in 0..3 {
        assert!(state(&app).can_undo());
        send(&mut app, CellEditorCommand::Undo);
        run_to_rest(&mut app);
        assert_eq!(violations(&app), 0);
    }
    assert_eq!(counts(&app), [30, 80, 10]);
    let mut back: Vec<MoleculeId> = packing(&app).molecule_ids().to_vec();
    back.sort_unstable();
    assert_eq!(back, first);
    assert!(!state(&app).can_undo() && state(&app).can_redo());
    send(&mut app, CellEditorCommand::Redo);
    assert_eq!(counts(&app), [60, 80, 10]);
}

#[test]
fn a_dragged_molecule_follows_and_the_others_give_way() {
    let mut app = editor("dragged", [0, 0, 14]);
    run_to_rest(&mut app);
    let id = molecules_of(&app, GRANULE)[0];
    let before = packing(&app).pose_of(id).unwrap().position;
    let target = -before.normalize_or(Vec3::X) * 2.0;
    send(
        &mut app,
        CellEditorCommand::StartDrag {
            id,
            grabbed: before,
        },
    );
    send(&mut app, CellEditorCommand::DragTo(target));
    run_to_rest(&mut app);
    let reached = packing(&app).pose_of(id).unwrap().position;
    assert!(reached.distance(target) < 1.0e-3, "{reached} {target}");
    send(&mut app, CellEditorCommand::EndDrag);
    run_to_rest(&mut app);
    assert_eq!(violations(&app), 0);
    send(&mut app, CellEditorCommand::Undo);
    let back = packing(&app).pose_of(id).unwrap().position;
    assert!(back.distance(before) < 1.0, "{back} {before}");
    run_to_rest(&mut app);
    assert_eq!(violations(&app), 0);
}

#[test]
fn the_selection_is_frozen_freed_and_removed() {
    let mut app = editor("selection", [20, 60, 5]);
    run_to_rest(&mut app);
    let ids = molecules_of(&app, BEAD)[..3].to_vec();
    send(&mut app, CellEditorCommand::Select(ids.clone()));
    assert_eq!(state(&app).selection(), ids);
    let frozen = |app: &App| ids.iter().filter(|id| packing(app).is_frozen(**id)).count();
    send(&mut app, CellEditorCommand::FreezeSelected);
    assert_eq!(frozen(&app), 3);
    let places: Vec<_> = ids.iter().map(|id| packing(&app).pose_of(*id)).collect();
    edit(
        &mut app,
        Edit::SetCount {
            entry: BEAD,
            count: 60,
        },
    );
    run_to_rest(&mut app);
    let after: Vec<_> = ids.iter().map(|id| packing(&app).pose_of(*id)).collect();
    assert_eq!(places, after);
    assert_eq!(violations(&app), 0);
    send(&mut app, CellEditorCommand::FreezeSelected);
    assert_eq!(frozen(&app), 0);
    send(&mut app, CellEditorCommand::RemoveSelected);
    assert_eq!(counts(&app), [57, 60, 5]);
    assert!(state(&app).selection().is_empty());
    // Nothing is selected: nothing happens.
    send(&mut app, CellEditorCommand::RemoveSelected);
    assert_eq!(counts(&app), [57, 60, 5]);
    assert!(notices(&app, NoticeLevel::Error).is_empty());
}

#[test]
fn impossible_commands_change_nothing_and_say_why() {
    let mut app = editor("impossible", [20, 60, 5]);
    run_to_rest(&mut app);
    let before = poses(&app);
    let far = Edit::Paint {
        entry: HEAD,
        center: Vec3::ZERO,
        radius: 1.0,
        count: 3,
    };
    edit(&mut app, far);
    edit(&mut app, Edit::SetCount { entry: 7, count: 1 });
    send(&mut app, CellEditorCommand::Export("cell.xyz".into()));
    assert_eq!(poses(&app), before);
    let errors = notices(&app, NoticeLevel::Error);
    assert_eq!(errors.len(), 3, "{errors:?}");
    let outside =
        "no part of vesicle.outer_leaflet is within 1 nm of [0, 0, 0]; move or enlarge the brush";
    assert!(errors[0].ends_with(outside), "{}", errors[0]);
    assert!(errors[1].ends_with("there is no entry 7: the recipe has 3"));
    assert!(errors[2].starts_with("unknown format of 'cell.xyz'"));
}

#[test]
fn commands_without_a_recipe_say_that_there_is_none() {
    let mut app = bare_app();
    app.add_plugins(CellEditorPlugin::default());
    start(&mut app);
    for command in [
        CellEditorCommand::Undo,
        CellEditorCommand::EndDrag,
        CellEditorCommand::Save("cell.json".into()),
        CellEditorCommand::Export("cell.cif".into()),
        CellEditorCommand::SetMode(CellEditorMode::Rapier),
    ] {
        send(&mut app, command);
    }
    let errors = notices(&app, NoticeLevel::Error);
    assert_eq!(errors, ["open a recipe first"; 5]);
}

/// Sizes that must not grow.
fn sizes(app: &mut App) -> [usize; 4] {
    let packing = packing(app);
    let (members, templates) = (
        packing.crowd().members().len(),
        packing.crowd().templates().len(),
    );
    let placements = packing.crowd().placements().len();
    let entities = app.world().entities().count_spawned() as usize;
    [members, templates, placements, entities]
}

#[test]
fn nothing_grows_in_a_thousand_edits() {
    let mut app = editor("thousand", [20, 40, 5]);
    run_to_rest(&mut app);
    let before = sizes(&mut app);
    let point = Vec3::X * (RADIUS + DEPTH);
    for round in 0..200 {
        edit(
            &mut app,
            Edit::SetCount {
                entry: BEAD,
                count: 22 + round % 3,
            },
        );
        let brush = Edit::Paint {
            entry: HEAD,
            center: point,
            radius: 2.0,
            count: 1,
        };
        edit(&mut app, brush);
        let ids = molecules_of(&app, HEAD)[40..].to_vec();
        edit(&mut app, Edit::Remove(ids));
        send(&mut app, CellEditorCommand::Undo);
        send(&mut app, CellEditorCommand::Redo);
    }
    edit(
        &mut app,
        Edit::SetCount {
            entry: BEAD,
            count: 20,
        },
    );
    run_to_rest(&mut app);
    assert_eq!(sizes(&mut app), before);
    assert!(state(&app).notices().count() <= 100);
    assert!(notices(&app, NoticeLevel::Error).is_empty());
    assert_eq!(violations(&app), 0);
}
