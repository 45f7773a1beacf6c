//! Recipes become molecules, and the scene follows their files.

use std::fs;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex};

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{
    CompartmentSurface, InRecipe, RecipeMembers, RecipePacked, RecipeState,
};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::recipe::{PackOptions, ReadOptions, Recipe, pack};
use bevy_rapier3d::prelude::*;

use super::recipe_files::{
    app_in, empty_folder, folder_with_files, forget_state, recipe, spawn_recipe, state,
    wait_until_done,
};
use super::test_app::*;

const READY: RecipeState = RecipeState::Ready { complete: true };

/// Reported events.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<RecipePacked>>>);

impl Reports {
    fn of(app: &mut App) -> Self {
        let reports = Self::default();
        let seen = reports.0.clone();
        app.add_observer(move |packed: On<RecipePacked>| seen.lock().unwrap().push(packed.clone()));
        reports
    }

    fn take(&self) -> RecipePacked {
        let mut reports = self.0.lock().unwrap();
        assert_eq!(reports.len(), 1, "{reports:?}");
        reports.remove(0)
    }
}

fn count<T: Component>(app: &mut App) -> usize {
    let world = app.world_mut();
    world.query::<&T>().iter(world).count()
}

/// Number of atoms of a molecule.
fn atoms(app: &App, molecule: Entity) -> usize {
    let handle = &app.world().get::<Molecule>(molecule).unwrap().0;
    let templates = app.world().resource::<Assets<MoleculeTemplate>>();
    templates.get(handle).unwrap().atom_count()
}

/// Writes the file of a recipe and lets the app load it again.
fn rewrite(app: &mut App, folder: &Path, recipe: Entity, text: &str) {
    fs::write(folder.join("cell.json"), text).unwrap();
    forget_state(app, recipe);
    app.world().resource::<AssetServer>().reload("cell.json");
    wait_until_done(app, recipe);
}

#[test]
fn a_recipe_becomes_molecules_at_the_places_of_the_packing() {
    let folder = folder_with_files("scene");
    let mut app = app_in(&folder);
    let reports = Reports::of(&mut app);
    // Before physics moves them.
    let poses: Arc<Mutex<Vec<Transform>>> = Arc::default();
    let seen = poses.clone();
    app.add_observer(
        move |packed: On<RecipePacked>, molecules: Query<(&Transform, &Molecule)>| {
            let transforms = molecules.iter_many(&packed.added).map(|(at, _)| *at);
            seen.lock().unwrap().extend(transforms);
        },
    );
    let recipe = spawn_recipe(&mut app, "cell.json");
    assert_eq!(*state(app.world(), recipe), RecipeState::Loading);
    wait_until_done(&mut app, recipe);
    assert_eq!(*state(app.world(), recipe), READY);

    let packed = reports.take();
    assert_eq!((packed.recipe, packed.kept), (recipe, 0));
    assert!(packed.complete && packed.removed.is_empty());
    let on_disk = Recipe::load(folder.join("cell.json"), &ReadOptions::default()).unwrap();
    let options = PackOptions::default();
    let packing = pack(&on_disk, &options, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(packed.added.len(), packing.crowd.members().len());
    let poses = poses.lock().unwrap();
    assert_eq!(poses.len(), packing.crowd.members().len());
    for (transform, member) in poses.iter().zip(packing.crowd.members()) {
        assert_eq!(transform.translation, member.pose.position);
        assert_eq!(transform.rotation, member.pose.rotation);
    }
    for molecule in &packed.added {
        let owner = app.world().get::<InRecipe>(*molecule);
        assert_eq!(owner, Some(&InRecipe(recipe)));
        assert!(app.world().get::<InCompartment>(*molecule).is_some());
    }
    run(&mut app, 30);
    assert_eq!(
        count::<CompartmentSurface>(&mut app),
        count::<Compartment>(&mut app)
    );
    // The pairs stay in the cube.
    for molecule in &packed.added {
        let reach = position(&app, *molecule).abs().max_element();
        let limit = if atoms(&app, *molecule) == 2 {
            4.0
        } else {
            8.0
        };
        assert!(reach > 0.0 && reach < limit, "{reach} nm");
    }
}

#[test]
fn a_new_number_adds_and_removes_molecules_and_keeps_the_others() {
    let folder = folder_with_files("reload");
    let mut app = app_in(&folder);
    let reports = Reports::of(&mut app);
    let entity = spawn_recipe(&mut app, "cell.json");
    wait_until_done(&mut app, entity);
    let first = reports.take().added;
    assert_eq!(first.len(), 16);
    // What the app changes stays.
    let moved = first.iter().copied().find(|it| atoms(&app, *it) == 18);
    let moved = moved.unwrap();
    app.world_mut().entity_mut(moved).insert(RigidBody::Fixed);
    let place = |app: &mut App, to: Vec3| {
        let mut transform = app.world_mut().get_mut::<Transform>(moved).unwrap();
        transform.translation = to;
    };
    place(&mut app, Vec3::splat(7.0));
    run(&mut app, 2);
    let before: Vec<Vec3> = first.iter().map(|it| position(&app, *it)).collect();

    rewrite(&mut app, &folder, entity, &recipe(20, 4));
    let more = reports.take();
    assert_eq!((more.added.len(), more.kept), (8, 16));
    assert!(more.complete && more.removed.is_empty());
    assert!(more.added.iter().all(|it| atoms(&app, *it) == 18));
    for (molecule, before) in first.iter().zip(&before) {
        let moved = position(&app, *molecule).distance(*before);
        assert!(moved < 1.0, "{moved} nm");
    }
    assert_eq!(app.world().get::<RigidBody>(moved), Some(&RigidBody::Fixed));
    assert_eq!(count::<Molecule>(&mut app), 24);
    let compartments = count::<Compartment>(&mut app);

    rewrite(&mut app, &folder, entity, &recipe(5, 6));
    let fewer = reports.take();
    assert_eq!((fewer.added.len(), fewer.kept), (2, 9));
    assert_eq!(fewer.removed.len(), 15);
    assert!(fewer.added.iter().all(|it| atoms(&app, *it) == 2));
    let removed = more.added.iter().all(|it| fewer.removed.contains(it));
    assert!(removed, "the last ones are removed first");
    assert_eq!(count::<Molecule>(&mut app), 11);
    assert_eq!(count::<Compartment>(&mut app), compartments);
    let members = app.world().get::<RecipeMembers>(entity).unwrap().len();
    assert_eq!(members, 11 + compartments);
    // The scene of a recipe that has not changed does not change.
    rewrite(&mut app, &folder, entity, &recipe(5, 6));
    let same = reports.take();
    assert_eq!((same.added, same.kept, same.removed), (vec![], 11, vec![]));
}

#[test]
fn an_invalid_file_leaves_the_scene_as_it_is() {
    let folder = folder_with_files("invalid_reload");
    let mut app = app_in(&folder);
    let reports = Reports::of(&mut app);
    let entity = spawn_recipe(&mut app, "cell.json");
    wait_until_done(&mut app, entity);
    let molecules = reports.take().added;
    let typo = recipe(20, 4).replace("composition", "compositoin");
    rewrite(&mut app, &folder, entity, &typo);
    let RecipeState::Failed { error } = state(app.world(), entity) else {
        panic!("{:?}", state(app.world(), entity));
    };
    assert!(
        error.starts_with("cell.json: composition: expected an entry"),
        "{error}"
    );
    assert_eq!(count::<Molecule>(&mut app), 16);
    rewrite(&mut app, &folder, entity, &recipe(13, 4));
    assert_eq!(*state(app.world(), entity), READY);
    let repaired = reports.take();
    assert_eq!((repaired.added.len(), repaired.kept), (1, 16));
    assert!(
        molecules
            .iter()
            .all(|it| app.world().get_entity(*it).is_ok())
    );
}

#[test]
fn given_places_that_change_move_their_molecules() {
    let folder = empty_folder("places");
    let text = |x: f32| {
        format!(
            r#"{{
                "name": "places", "format_version": "2.1",
                "bounding_box": [[-90, -90, -90], [90, 90, 90]],
                "objects": {{ "ball": {{ "type": "single_sphere", "radius": 10 }} }},
                "composition": {{
                    "space": {{ "regions": {{ "interior": ["balls"] }} }},
                    "balls": {{ "object": "ball", "count": 3 }}
                }},
                "bevy_rapier_molecules": {{ "composition": {{ "balls": {{ "places": [
                    {{ "position": [{x}, 0, 0] }}, {{ "position": [-70, 0, 0] }}
                ] }} }} }}
            }}"#
        )
    };
    fs::write(folder.join("cell.json"), text(50.0)).unwrap();
    let mut app = app_in(&folder);
    let reports = Reports::of(&mut app);
    let entity = spawn_recipe(&mut app, "cell.json");
    wait_until_done(&mut app, entity);
    let balls = reports.take().added;
    let places = |app: &App| [0, 1].map(|index: usize| position(app, balls[index]));
    assert_eq!(places(&app), [Vec3::X * 5.0, Vec3::X * -7.0]);
    rewrite(&mut app, &folder, entity, &text(30.0));
    assert_eq!(reports.take().kept, 3);
    for (place, expected) in places(&app).into_iter().zip([3.0, -7.0]) {
        assert!(place.distance(Vec3::X * expected) < 1.0e-4, "{place}");
    }
}

#[test]
fn molecules_are_despawned_with_their_recipe() {
    let folder = folder_with_files("despawn");
    let mut app = app_in(&folder);
    for despawn in [true, false] {
        let entity = spawn_recipe(&mut app, "cell.json");
        wait_until_done(&mut app, entity);
        assert_eq!(count::<Molecule>(&mut app), 16);
        if despawn {
            app.world_mut().despawn(entity);
        } else {
            app.world_mut().entity_mut(entity).remove::<PackedRecipe>();
        }
        run(&mut app, 2);
        assert_eq!(
            (count::<Molecule>(&mut app), count::<Compartment>(&mut app)),
            (0, 0)
        );
        assert_eq!(count::<RecipeState>(&mut app), 0);
    }
    // While its molecules are packed.
    let entity = spawn_recipe(&mut app, "cell.json");
    wait_for(&mut app, |world| {
        *state(world, entity) != RecipeState::Loading
    });
    app.world_mut().despawn(entity);
    run(&mut app, 30);
    assert_eq!(count::<Molecule>(&mut app), 0);
}

#[test]
fn a_recipe_that_does_not_fit_is_spawned_with_its_overlaps() {
    let folder = empty_folder("too_many");
    let text = r#"{
        "name": "too_many", "format_version": "2.1",
        "bounding_box": [[-30, -30, -30], [30, 30, 30]],
        "objects": { "ball": { "type": "single_sphere", "radius": 10 } },
        "composition": { "space": { "regions": { "interior": [{ "object": "ball", "count": 60 }] } } }
    }"#;
    fs::write(folder.join("cell.json"), text).unwrap();
    let mut app = app_in(&folder);
    let reports = Reports::of(&mut app);
    let entity = spawn_recipe(&mut app, "cell.json");
    wait_for(&mut app, |world| {
        let state = state(world, entity);
        matches!(state, RecipeState::Packing { iterations, overlaps, .. } if *iterations > 0 && *overlaps > 0)
    });
    wait_until_done(&mut app, entity);
    let incomplete = RecipeState::Ready { complete: false };
    assert_eq!(*state(app.world(), entity), incomplete);
    let packed = reports.take();
    assert_eq!((packed.added.len(), packed.complete), (60, false));
}

#[test]
fn recipes_of_the_app_are_packed_around_their_entity() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let path = format!(
        "{}/tests/data/recipes/nested_spheres.json",
        env!("CARGO_MANIFEST_DIR")
    );
    let recipe = Recipe::load(path, &ReadOptions::default()).unwrap();
    let recipe = app.world_mut().resource_mut::<Assets<Recipe>>().add(recipe);
    let center = Vec3::new(300.0, 0.0, 0.0);
    let turn = Quat::from_rotation_z(0.7);
    let transform = Transform::from_translation(center).with_rotation(turn);
    let entity = (PackedRecipe(recipe), transform);
    let entity = app.world_mut().spawn(entity).id();
    wait_until_done(&mut app, entity);
    run(&mut app, 30);
    let world = app.world_mut();
    let mut molecules = world.query_filtered::<&GlobalTransform, With<Molecule>>();
    let mut found = 0;
    for transform in molecules.iter(world) {
        let local = turn.inverse() * (transform.translation() - center);
        assert!(local.abs().max_element() < 100.0, "{local}");
        found += 1;
    }
    assert_eq!(found, 105);
    let mut surfaces = world.query::<&CompartmentSurface>();
    assert!(surfaces.iter(world).count() > 2);
    for surface in surfaces.iter(world) {
        assert!(surface.surface().center().distance(center) < 1.0);
    }
}

#[test]
#[cfg(feature = "draw")]
fn colors_of_a_recipe_become_tints() {
    let folder = folder_with_files("colors");
    let mut app = app_in(&folder);
    let entity = spawn_recipe(&mut app, "cell.json");
    wait_until_done(&mut app, entity);
    let world = app.world_mut();
    let mut molecules = world.query::<(&Molecule, Option<&MoleculeTint>)>();
    let templates = world.resource::<Assets<MoleculeTemplate>>();
    let orange = MoleculeTint::from(Color::srgb(1.0, 0.5, 0.0));
    for (molecule, tint) in molecules.iter(world) {
        let is_pair = templates.get(&molecule.0).unwrap().atom_count() == 2;
        let expected = (!is_pair).then_some(&orange);
        assert_eq!(tint, expected);
    }
}
