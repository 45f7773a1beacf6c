//! Springs bring molecules back to where they belong.

use bevy::asset::RenderAssetUsages;
use bevy::mesh::{PrimitiveTopology, SphereKind, SphereMeshBuilder};
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{CompartmentSurface, ParryShape};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use bevy_rapier3d::rapier::geometry::SharedShape;

use super::log;
use super::test_app::*;

fn weightless_app() -> App {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    app
}

fn spawn_shell(app: &mut App, radius: f32) -> Entity {
    let shell = Compartment::SphereShell { radius };
    app.world_mut().spawn(shell).id()
}

/// A closed mesh: a ball of 5 nm.
fn ball() -> Mesh {
    let kind = SphereKind::Ico { subdivisions: 3 };
    Mesh::from(SphereMeshBuilder::new(5.0, kind))
}

fn add_mesh(app: &mut App, mesh: Mesh) -> Handle<Mesh> {
    app.init_resource::<Assets<Mesh>>();
    app.world_mut().resource_mut::<Assets<Mesh>>().add(mesh)
}

fn spawn_in(
    app: &mut App,
    template: &Handle<MoleculeTemplate>,
    place: InCompartment,
    position: Vec3,
) -> Entity {
    let molecule = spawn(app, template, position);
    app.world_mut().entity_mut(molecule).insert(place);
    molecule
}

#[test]
fn a_lipid_finds_its_leaflet_and_stands_upright() {
    for (place, sign) in [
        (CompartmentRegion::OuterLeaflet, 1.0),
        (CompartmentRegion::InnerLeaflet, -1.0),
    ] {
        let mut app = weightless_app();
        let template = add(&mut app, real("popc.pdb"));
        let shell = spawn_shell(&mut app, 8.0);
        let place = InCompartment::new(shell, place);
        let lipid = spawn_in(&mut app, &template, place, Vec3::new(0.0, 10.0, 0.0));
        run(&mut app, 300);
        let transform = *app.world().get::<Transform>(lipid).unwrap();
        let (up, _) = bevy_rapier_molecules::compartment::up_and_head(&real("popc.pdb"));
        let tilt = (transform.rotation * up).angle_between(transform.translation * sign);
        assert!(tilt < 0.25, "{tilt}");
        let depth = bevy_rapier_molecules::compartment::bilayer_depth(&real("popc.pdb"));
        let height = transform.translation.length() - 8.0;
        assert!((height - sign * depth).abs() < 0.15, "{height} {depth}");
    }
}

#[test]
fn volumes_of_every_shape_keep_molecules_inside() {
    let mut app = weightless_app();
    let ball = add_mesh(&mut app, ball());
    let shapes = [
        Compartment::SphereShell { radius: 5.0 },
        Compartment::Box {
            half_extents: Vec3::splat(5.0),
        },
        Compartment::Capsule {
            half_height: 3.0,
            radius: 5.0,
        },
        Compartment::Shape(ParryShape(SharedShape::cylinder(5.0, 5.0))),
        Compartment::Mesh(ball),
    ];
    let template = add(&mut app, bar());
    let molecules: Vec<_> = shapes
        .into_iter()
        .enumerate()
        .map(|(k, shape)| {
            let center = Vec3::X * 40.0 * k as f32;
            let transform = Transform::from_translation(center);
            let compartment = app.world_mut().spawn((shape.clone(), transform)).id();
            let place = InCompartment::new(compartment, CompartmentRegion::Inside);
            let start = center + Vec3::new(4.0, 0.3, 0.2);
            let molecule = spawn_in(&mut app, &template, place, start);
            let velocity = Velocity::linear(Vec3::new(3.0, 1.0, 0.5));
            app.world_mut().entity_mut(molecule).insert(velocity);
            (molecule, center, shape)
        })
        .collect();
    for frame in 0..300 {
        app.update();
        for (molecule, center, shape) in &molecules {
            let place = position(&app, *molecule) - *center;
            assert!(place.is_finite(), "{shape:?}");
            if frame > 120 {
                assert!(place.abs().max_element() < 8.0, "{shape:?}: {place}");
            }
        }
    }
}

#[test]
fn an_excluder_keeps_molecules_out() {
    let mut app = weightless_app();
    let template = add(&mut app, bar());
    let compartment = spawn_shell(&mut app, 3.0);
    let place = InCompartment::new(compartment, CompartmentRegion::Outside);
    let molecule = spawn_in(&mut app, &template, place, Vec3::X * 2.0);
    run(&mut app, 240);
    assert!(position(&app, molecule).length() > 3.0);
}

#[test]
fn a_compartment_that_moves_takes_its_molecules_along() {
    let mut app = weightless_app();
    let template = add(&mut app, bar());
    let compartment = spawn_shell(&mut app, 3.0);
    let place = InCompartment::new(compartment, CompartmentRegion::Inside);
    let molecule = spawn_in(&mut app, &template, place, Vec3::ZERO);
    run(&mut app, 10);
    app.world_mut()
        .get_mut::<Transform>(compartment)
        .unwrap()
        .translation
        .x = 20.0;
    run(&mut app, 400);
    let place = position(&app, molecule);
    assert!(place.distance(Vec3::X * 20.0) < 3.0, "{place}");
}

#[test]
fn a_compartment_removed_while_in_use_lets_go() {
    for despawn in [true, false] {
        let mut app = weightless_app();
        let template = add(&mut app, bar());
        let compartment = spawn_shell(&mut app, 3.0);
        let place = InCompartment::new(compartment, CompartmentRegion::Inside);
        let molecule = spawn_in(&mut app, &template, place, Vec3::X * 6.0);
        run(&mut app, 5);
        assert!(velocity(&app, molecule).x < 0.0);
        if despawn {
            app.world_mut().despawn(compartment);
        } else {
            app.world_mut()
                .entity_mut(compartment)
                .remove::<Compartment>();
        }
        run(&mut app, 2);
        let before = velocity(&app, molecule);
        run(&mut app, 60);
        assert_eq!(velocity(&app, molecule), before, "it floats on");
    }
}

#[test]
fn impossible_compartments_and_places_hold_nothing() {
    let mut app = weightless_app();
    let template = add(&mut app, bar());
    let bad = spawn_shell(&mut app, -1.0);
    let good = app.world_mut().spawn(Compartment::default()).id();
    let in_bad = InCompartment::new(bad, CompartmentRegion::Inside);
    let badly_in_good = InCompartment {
        leeway: f32::NAN,
        ..InCompartment::new(good, CompartmentRegion::Inside)
    };
    let mut height = 0.0;
    let molecules = [in_bad, badly_in_good, InCompartment::default()].map(|place| {
        height += 5.0;
        spawn_in(&mut app, &template, place, Vec3::new(30.0, height, 0.0))
    });
    run(&mut app, 30);
    for molecule in molecules {
        assert_eq!(velocity(&app, molecule), Vec3::ZERO);
    }
}

/// Spawns a compartment of a mesh that cannot be one, beside one that can, and asks that the
/// log says `why`.
fn assert_mesh_is_refused(mesh: Mesh, why: &str) {
    log::listen();
    let mut app = weightless_app();
    let [bad, good] = [mesh, ball()].map(|mesh| {
        let mesh = add_mesh(&mut app, mesh);
        app.world_mut().spawn(Compartment::Mesh(mesh)).id()
    });
    run(&mut app, 3);
    let holds = |compartment| app.world().get::<CompartmentSurface>(compartment).is_some();
    assert!(!holds(bad) && holds(good));
    let who = format!("compartment {bad} is invalid");
    assert_eq!(log::count(&[&who, why]), 1, "{why}");
}

#[test]
fn a_mesh_that_only_the_renderer_has_holds_nothing_and_is_told() {
    let mut taken = ball();
    taken.asset_usage = RenderAssetUsages::RENDER_WORLD;
    assert!(taken.take_gpu_data().is_ok());
    assert_mesh_is_refused(taken, "RenderAssetUsages::MAIN_WORLD");
}

#[test]
fn a_mesh_that_is_no_list_of_triangles_holds_nothing_and_is_told() {
    let ball = ball();
    let positions = ball.attribute(Mesh::ATTRIBUTE_POSITION).unwrap().clone();
    let usage = RenderAssetUsages::default();
    let strip = Mesh::new(PrimitiveTopology::TriangleStrip, usage)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_indices(ball.indices().unwrap().clone());
    assert_mesh_is_refused(strip, "TriangleStrip");
}

#[test]
fn the_law_of_the_thesis_pulls_too() {
    let mut app = weightless_app();
    let template = add(&mut app, real("popc.pdb"));
    let shell = spawn_shell(&mut app, 8.0);
    let place = InCompartment {
        spring: SpringLaw::Thesis {
            force: 1.0,
            torque: 1.0,
        },
        ..InCompartment::new(shell, CompartmentRegion::OuterLeaflet)
    };
    let lipid = spawn_in(&mut app, &template, place, Vec3::Y * 12.0);
    run(&mut app, 5);
    assert!(velocity(&app, lipid).y < 0.0);
}

#[test]
fn springs_let_sleeping_molecules_sleep() {
    let mut app = weightless_app();
    let template = add(&mut app, bar());
    let shell = app.world_mut().spawn(Compartment::default()).id();
    let place = InCompartment::new(shell, CompartmentRegion::Inside);
    let molecule = spawn_in(&mut app, &template, place, Vec3::ZERO);
    app.world_mut()
        .entity_mut(molecule)
        .insert(Sleeping::default());
    run(&mut app, 240);
    assert!(app.world().get::<Sleeping>(molecule).unwrap().sleeping);
}
