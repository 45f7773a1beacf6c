//! Packing, Rapier, Brownian motion, and back.

use super::*;

fn set_mode(app: &mut App, mode: CellEditorMode) {
    send(app, CellEditorCommand::SetMode(mode));
}

fn bodies(app: &mut App) -> usize {
    let world = app.world_mut();
    world.query::<&Molecule>().iter(world).count()
}

#[test]
fn physics_moves_molecules_and_gives_them_back_as_one_change() {
    for mode in [CellEditorMode::Rapier, CellEditorMode::Brownian] {
        let mut app = editor(&format!("mode_{mode:?}"), [0, 0, 16]);
        run_to_rest(&mut app);
        let all = packing(&app).molecule_ids().to_vec();
        let before = poses(&app);
        let frozen = molecules_of(&app, GRANULE)[0];
        let ids = vec![frozen];
        edit(&mut app, Edit::Freeze { ids, frozen: true });
        set_mode(&mut app, mode);
        assert_eq!(state(&app).mode(), mode);
        assert_eq!((bodies(&mut app), drawn(&mut app).1), (16, 16));
        run(&mut app, 30);
        // Changes wait for the packing.
        edit(
            &mut app,
            Edit::SetCount {
                entry: HEAD,
                count: 2,
            },
        );
        assert!(!state(&app).can_undo());
        let expected = "molecules can be changed only while packing: change the mode first";
        assert_eq!(notices(&app, NoticeLevel::Error), [expected]);
        state_mut(&mut app).paused = true;
        set_mode(&mut app, CellEditorMode::Packing);
        assert_eq!(bodies(&mut app), 0);
        assert_eq!(packing(&app).molecule_ids(), all);
        let after = poses(&app);
        let index = packing(&app).index_of(frozen).unwrap();
        assert_eq!(after[index], before[index]);
        let moved = after.iter().zip(&before).filter(|(now, old)| now != old);
        let moved = moved.count();
        assert!(moved > 10, "{mode}: {moved} moved");
        // One step takes all of it back.
        send(&mut app, CellEditorCommand::Undo);
        assert_eq!(poses(&app), before);
        assert!(packing(&app).is_frozen(frozen));
        send(&mut app, CellEditorCommand::Redo);
        assert_eq!(poses(&app), after);
        state_mut(&mut app).paused = false;
        run_to_rest(&mut app);
        assert_eq!(violations(&app), 0);
    }
}

#[test]
fn a_body_of_rapier_is_pulled_to_the_pointer() {
    let mut app = editor("pulled", [0, 0, 5]);
    run_to_rest(&mut app);
    set_mode(&mut app, CellEditorMode::Rapier);
    assert_eq!(state(&app).mode(), CellEditorMode::Rapier);
    run(&mut app, 3);
    let id = molecules_of(&app, GRANULE)[0];
    let from = packing(&app).pose_of(id).unwrap().position;
    let target = -from.normalize_or(Vec3::X) * 2.0;
    send(&mut app, CellEditorCommand::StartDrag { id, grabbed: from });
    send(&mut app, CellEditorCommand::DragTo(target));
    run(&mut app, 120);
    send(&mut app, CellEditorCommand::EndDrag);
    set_mode(&mut app, CellEditorMode::Packing);
    let reached = packing(&app).pose_of(id).unwrap().position;
    assert!(reached.distance(target) < 0.7, "{reached} {target}");
    run_to_rest(&mut app);
    assert_eq!(violations(&app), 0);
}

#[test]
fn opening_a_recipe_ends_physics() {
    let mut app = editor("first", [0, 0, 5]);
    run_to_rest(&mut app);
    set_mode(&mut app, CellEditorMode::Brownian);
    run(&mut app, 2);
    assert_eq!(bodies(&mut app), 5, "{:?}", state(&app).notices().last());
    let other = write_recipe("second.json", &cell([0, 1, 1]));
    open(&mut app, &other);
    assert_eq!(state(&app).mode(), CellEditorMode::Packing);
    assert_eq!((counts(&app), bodies(&mut app)), (vec![0, 1, 1], 0));
}

#[test]
fn an_app_without_physics_says_so() {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, CellEditorPlugin::default()));
    start(&mut app);
    let path = write_recipe("no_physics.json", &cell([3, 0, 1]));
    open(&mut app, &path);
    set_mode(&mut app, CellEditorMode::Rapier);
    assert_eq!(state(&app).mode(), CellEditorMode::Packing);
    let expected = "this app has no physics: add RapierPhysicsPlugin and MoleculePlugins";
    assert_eq!(notices(&app, NoticeLevel::Error), [expected]);
}
