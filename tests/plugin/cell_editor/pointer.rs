//! The tools, by rays of the pointer, and the keys.

use bevy_rapier_molecules::cell_editor::{CellEditorInput, CellEditorTool};

use super::*;

/// A ray from far above through this point.
fn ray_to(point: Vec3) -> Option<Ray3d> {
    Some(Ray3d::new(point + Vec3::Z * 50.0, Dir3::NEG_Z))
}

/// Moves the pointer, and runs a frame.
fn point_at(app: &mut App, ray: Option<Ray3d>, pressed: bool) {
    let mut input = app.world_mut().resource_mut::<CellEditorInput>();
    input.ray = ray;
    input.pressed = pressed;
    app.update();
}

/// The molecule that is nearest to the pointer.
fn topmost(app: &App) -> (MoleculeId, Vec3) {
    let packing = packing(app);
    let all = packing.molecule_ids().iter().zip(packing.crowd().members());
    let all = all.map(|(id, member)| (*id, member.pose.position));
    all.max_by(|one, other| one.1.z.total_cmp(&other.1.z))
        .unwrap()
}

#[test]
fn a_click_selects_and_moves_nothing() {
    let mut app = editor("click", [20, 40, 5]);
    run_to_rest(&mut app);
    let before = poses(&app);
    let (id, center) = topmost(&app);
    point_at(&mut app, ray_to(center), false);
    point_at(&mut app, ray_to(center), true);
    assert!(app.world().resource::<CellEditorInput>().in_use);
    assert_eq!(state(&app).selection(), [id]);
    point_at(&mut app, ray_to(center), false);
    assert_eq!(poses(&app), before);
    assert!(!state(&app).can_undo());
    // A click beside all molecules selects none.
    point_at(&mut app, ray_to(Vec3::X * 70.0), true);
    assert!(!app.world().resource::<CellEditorInput>().in_use);
    assert!(state(&app).selection().is_empty());
}

#[test]
fn the_pointer_drags_a_molecule_on_the_plane_that_faces_the_camera() {
    let mut app = editor("pointer_drag", [40, 60, 5]);
    run_to_rest(&mut app);
    let (id, center) = topmost(&app);
    point_at(&mut app, ray_to(center), true);
    let way = Vec3::new(-center.x.signum() * 1.5, -center.y.signum() * 1.0, 0.0);
    point_at(&mut app, ray_to(center + way), true);
    run(&mut app, 20);
    let reached = packing(&app).pose_of(id).unwrap().position;
    assert!(
        reached.distance(center + way) < 1.0e-2,
        "{reached} {center}"
    );
    point_at(&mut app, ray_to(center + way), false);
    assert_eq!(packing(&app).dragged(), None);
    run_to_rest(&mut app);
    assert_eq!(violations(&app), 0);
    assert!(state(&app).can_undo());
}

#[test]
fn a_panel_takes_the_pointer() {
    let mut app = editor("panel", [20, 40, 5]);
    run_to_rest(&mut app);
    let (_, center) = topmost(&app);
    app.world_mut()
        .resource_mut::<CellEditorInput>()
        .pointer_taken = true;
    point_at(&mut app, ray_to(center), true);
    // The button stays with the panel until it is released.
    app.world_mut()
        .resource_mut::<CellEditorInput>()
        .pointer_taken = false;
    point_at(&mut app, ray_to(center), true);
    assert!(state(&app).selection().is_empty());
    point_at(&mut app, ray_to(center), false);
    point_at(&mut app, ray_to(center), true);
    assert_eq!(state(&app).selection().len(), 1);
}

#[test]
fn lipids_are_painted_on_the_membrane_under_the_pointer() {
    let mut app = editor("paint", [0, 20, 0]);
    run_to_rest(&mut app);
    let mut state = state_mut(&mut app);
    state.tool = CellEditorTool::Paint { entry: HEAD };
    state.brush.count = 3;
    // A stroke along x, over the top of the sphere.
    for step in 0..9 {
        let x = -4.0 + step as f32;
        point_at(&mut app, ray_to(Vec3::X * x), true);
        let point = super::state(&app).brush_point().unwrap();
        assert!((point.length() - RADIUS).abs() < 0.02, "{point}");
    }
    point_at(&mut app, None, false);
    // A ball for each brush radius of the way: the way over the sphere is 9.3 nm.
    let added = counts(&app)[HEAD] - 20;
    assert!([6, 9, 12].contains(&added), "{added}");
    run_to_rest(&mut app);
    assert_eq!(violations(&app), 0);
    let new = molecules_of(&app, HEAD)[20..].to_vec();
    for id in new {
        let place = packing(&app).pose_of(id).unwrap().position;
        assert!(place.z > 0.0 && place.y.abs() < 4.5, "{place}");
    }
    // Beside the vesicle there is nothing to paint on.
    point_at(&mut app, ray_to(Vec3::X * 8.0), false);
    assert_eq!(super::state(&app).brush_point(), None);
}

#[test]
fn inside_is_painted_where_the_ray_meets_the_cut_else_in_the_middle() {
    let mut app = editor("paint_inside", [0, 0, 2]);
    run_to_rest(&mut app);
    let mut state = state_mut(&mut app);
    state.tool = CellEditorTool::Paint { entry: GRANULE };
    state.toggle_cut(Dir3::NEG_Z);
    state.cut.offset = 2.0;
    point_at(&mut app, ray_to(Vec3::new(1.0, -2.0, 0.0)), false);
    let point = super::state(&app).brush_point().unwrap();
    assert!(
        point.distance(Vec3::new(1.0, -2.0, 2.0)) < 1.0e-3,
        "{point}"
    );
    let before = counts(&app)[GRANULE];
    point_at(&mut app, ray_to(Vec3::new(1.0, -2.0, 0.0)), true);
    assert_eq!(counts(&app)[GRANULE], before + 1);
    point_at(&mut app, None, false);
    run_to_rest(&mut app);
    assert_eq!(violations(&app), 0);
    // Without a cut and without a molecule in the way, in the middle of the compartment.
    let mut state = state_mut(&mut app);
    state.toggle_cut(Dir3::NEG_Z);
    state.looks[GRANULE].visible = false;
    point_at(&mut app, None, false);
    point_at(&mut app, ray_to(Vec3::new(3.0, 0.0, 0.0)), false);
    let point = super::state(&app).brush_point().unwrap();
    assert!(point.distance(Vec3::new(3.0, 0.0, 0.0)) < 1.0e-3, "{point}");
}

#[test]
fn the_cut_tool_moves_the_plane() {
    let mut app = editor("cut_tool", [20, 40, 5]);
    run_to_rest(&mut app);
    state_mut(&mut app).tool = CellEditorTool::Cut;
    point_at(&mut app, ray_to(Vec3::ZERO), true);
    app.world_mut().resource_mut::<CellEditorInput>().height = -50.0;
    point_at(&mut app, ray_to(Vec3::ZERO), true);
    let cut = state(&app).cut;
    // 50 pixels of 0.002 of 18 nm each.
    assert!(cut.enabled && (cut.offset + 1.8).abs() < 1.0e-4, "{cut:?}");
}

#[test]
fn keys_do_what_the_docs_say() {
    let mut app = editor("keys", [0, 0, 5]);
    app.init_resource::<ButtonInput<KeyCode>>();
    run_to_rest(&mut app);
    let press = |app: &mut App, keys: &[KeyCode]| {
        for key in keys {
            let mut input = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
            input.press(*key);
        }
        app.update();
        let mut input = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
        input.reset_all();
    };
    let id = molecules_of(&app, GRANULE)[0];
    send(&mut app, CellEditorCommand::Select(vec![id]));
    press(&mut app, &[KeyCode::KeyF]);
    assert!(packing(&app).is_frozen(id));
    press(&mut app, &[KeyCode::ControlLeft, KeyCode::KeyZ]);
    assert!(!packing(&app).is_frozen(id));
    press(&mut app, &[KeyCode::ControlLeft, KeyCode::KeyY]);
    assert!(packing(&app).is_frozen(id));
    press(&mut app, &[KeyCode::KeyP]);
    assert_eq!(state(&app).tool, CellEditorTool::Paint { entry: GRANULE });
    press(&mut app, &[KeyCode::KeyV]);
    assert_eq!(state(&app).tool, CellEditorTool::Select);
    press(&mut app, &[KeyCode::Delete]);
    assert_eq!(counts(&app)[GRANULE], 4);
    press(&mut app, &[KeyCode::ControlLeft, KeyCode::KeyZ]);
    press(
        &mut app,
        &[KeyCode::ControlLeft, KeyCode::ShiftLeft, KeyCode::KeyZ],
    );
    assert_eq!(counts(&app)[GRANULE], 4);
    press(&mut app, &[KeyCode::KeyC]);
    press(&mut app, &[KeyCode::PageDown]);
    assert!(state(&app).cut.enabled && state(&app).cut.offset == -0.5);
    press(&mut app, &[KeyCode::Space]);
    assert!(state(&app).paused);
    press(&mut app, &[KeyCode::Tab]);
    assert_eq!(state(&app).mode(), CellEditorMode::Rapier);
    // A text field has the keys.
    app.world_mut().resource_mut::<CellEditorInput>().keys_taken = true;
    press(&mut app, &[KeyCode::Tab]);
    assert_eq!(state(&app).mode(), CellEditorMode::Rapier);
}
