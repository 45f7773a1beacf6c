//! Springs pull molecules back into their compartments.

use std::sync::Arc;

use bevy::asset::RenderAssetUsages;
use bevy::mesh::{PrimitiveTopology, SphereKind, SphereMeshBuilder};
use bevy::prelude::*;
use bevy_rapier_molecules::compartment::{Confinement, Region, Surface, Torus};
use bevy_rapier_molecules::force::SpringLaw;
use bevy_rapier_molecules::plugin::{CompartmentRegion, MoleculeWorld};
use bevy_rapier_molecules::plugin::{CompartmentSurface, ParryShape, SharedSurface};
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

/// A closed mesh: a sphere of 5 nm.
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
    confined: InCompartment,
    position: Vec3,
) -> Entity {
    let molecule = spawn(app, template, position);
    app.world_mut().entity_mut(molecule).insert(confined);
    molecule
}

#[test]
fn a_lipid_moves_to_its_leaflet_and_stands_upright() {
    for (region, sign) in [
        (CompartmentRegion::OuterLeaflet, 1.0),
        (CompartmentRegion::InnerLeaflet, -1.0),
    ] {
        let mut app = weightless_app();
        let template = add(&mut app, real("popc.pdb"));
        let shell = spawn_shell(&mut app, 8.0);
        let confined = InCompartment::new(shell, region);
        let lipid = spawn_in(&mut app, &template, confined, Vec3::new(0.0, 10.0, 0.0));
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
fn a_lipid_moves_to_its_given_depth() {
    let mut app = weightless_app();
    let template = add(&mut app, real("popc.pdb"));
    let shell = spawn_shell(&mut app, 8.0);
    let confined = InCompartment {
        depth: Some(1.0),
        ..InCompartment::new(shell, CompartmentRegion::OuterLeaflet)
    };
    let lipid = spawn_in(&mut app, &template, confined, Vec3::new(0.0, 12.0, 0.0));
    run(&mut app, 300);
    let distance = position(&app, lipid).length();
    assert!((distance - 9.0).abs() < 0.15, "{distance}");
}

#[test]
fn compartments_of_all_shapes_keep_molecules_inside() {
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
            let confined = InCompartment::new(compartment, CompartmentRegion::Inside);
            let start = center + Vec3::new(4.0, 0.3, 0.2);
            let molecule = spawn_in(&mut app, &template, confined, start);
            let velocity = Velocity::linear(Vec3::new(3.0, 1.0, 0.5));
            app.world_mut().entity_mut(molecule).insert(velocity);
            (molecule, center, shape)
        })
        .collect();
    for frame in 0..300 {
        app.update();
        for (molecule, center, shape) in &molecules {
            let offset = position(&app, *molecule) - *center;
            assert!(offset.is_finite(), "{shape:?}");
            if frame > 120 {
                assert!(offset.abs().max_element() < 8.0, "{shape:?}: {offset}");
            }
        }
    }
}

#[test]
fn molecules_confined_to_the_outside_leave_the_compartment() {
    let mut app = weightless_app();
    let template = add(&mut app, bar());
    let compartment = spawn_shell(&mut app, 3.0);
    let confined = InCompartment::new(compartment, CompartmentRegion::Outside);
    let molecule = spawn_in(&mut app, &template, confined, Vec3::X * 2.0);
    run(&mut app, 240);
    assert!(position(&app, molecule).length() > 3.0);
}

#[test]
fn a_moving_compartment_moves_its_molecules() {
    let mut app = weightless_app();
    let template = add(&mut app, bar());
    let compartment = spawn_shell(&mut app, 3.0);
    let confined = InCompartment::new(compartment, CompartmentRegion::Inside);
    let molecule = spawn_in(&mut app, &template, confined, Vec3::ZERO);
    run(&mut app, 10);
    app.world_mut()
        .get_mut::<Transform>(compartment)
        .unwrap()
        .translation
        .x = 20.0;
    run(&mut app, 400);
    let position = position(&app, molecule);
    assert!(position.distance(Vec3::X * 20.0) < 3.0, "{position}");
}

#[test]
fn removing_a_compartment_frees_its_molecules() {
    for despawn in [true, false] {
        let mut app = weightless_app();
        let template = add(&mut app, bar());
        let compartment = spawn_shell(&mut app, 3.0);
        let confined = InCompartment::new(compartment, CompartmentRegion::Inside);
        let molecule = spawn_in(&mut app, &template, confined, Vec3::X * 6.0);
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
        assert_eq!(velocity(&app, molecule), before);
    }
}

#[test]
fn invalid_compartments_confine_nothing() {
    let mut app = weightless_app();
    let template = add(&mut app, bar());
    let bad = spawn_shell(&mut app, -1.0);
    let good = app.world_mut().spawn(Compartment::default()).id();
    let in_bad = InCompartment::new(bad, CompartmentRegion::Inside);
    let invalid_leeway = InCompartment {
        leeway: f32::NAN,
        ..InCompartment::new(good, CompartmentRegion::Inside)
    };
    let mut height = 0.0;
    let molecules = [in_bad, invalid_leeway, InCompartment::default()].map(|confined| {
        height += 5.0;
        spawn_in(&mut app, &template, confined, Vec3::new(30.0, height, 0.0))
    });
    run(&mut app, 30);
    for molecule in molecules {
        assert_eq!(velocity(&app, molecule), Vec3::ZERO);
    }
}

/// Asserts that an invalid mesh gives no surface and that its error contains `reason`, while
/// another compartment is valid.
fn assert_mesh_is_invalid(mesh: Mesh, reason: &str) {
    log::capture();
    let mut app = weightless_app();
    let [bad, good] = [mesh, ball()].map(|mesh| {
        let mesh = add_mesh(&mut app, mesh);
        app.world_mut().spawn(Compartment::Mesh(mesh)).id()
    });
    run(&mut app, 3);
    let is_valid = |compartment| app.world().get::<CompartmentSurface>(compartment).is_some();
    assert!(!is_valid(bad) && is_valid(good));
    let message = format!("compartment {bad} is invalid");
    assert_eq!(log::count(&[&message, reason]), 1, "{reason}");
}

#[test]
fn a_mesh_only_in_the_render_world_is_invalid() {
    let mut mesh = ball();
    mesh.asset_usage = RenderAssetUsages::RENDER_WORLD;
    assert!(mesh.take_gpu_data().is_ok());
    assert_mesh_is_invalid(mesh, "RenderAssetUsages::MAIN_WORLD");
}

#[test]
fn a_mesh_that_is_not_a_triangle_list_is_invalid() {
    let ball = ball();
    let positions = ball.attribute(Mesh::ATTRIBUTE_POSITION).unwrap().clone();
    let usage = RenderAssetUsages::default();
    let strip = Mesh::new(PrimitiveTopology::TriangleStrip, usage)
        .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
        .with_inserted_indices(ball.indices().unwrap().clone());
    assert_mesh_is_invalid(strip, "TriangleStrip");
}

#[test]
fn the_spring_of_the_thesis_pulls_molecules_back() {
    let mut app = weightless_app();
    let template = add(&mut app, real("popc.pdb"));
    let shell = spawn_shell(&mut app, 8.0);
    let confined = InCompartment {
        spring: SpringLaw::Thesis {
            force: 1.0,
            torque: 1.0,
        },
        ..InCompartment::new(shell, CompartmentRegion::OuterLeaflet)
    };
    let lipid = spawn_in(&mut app, &template, confined, Vec3::Y * 12.0);
    run(&mut app, 5);
    assert!(velocity(&app, lipid).y < 0.0);
}

#[test]
fn springs_do_not_wake_molecules_in_place() {
    let mut app = weightless_app();
    let template = add(&mut app, bar());
    let shell = app.world_mut().spawn(Compartment::default()).id();
    let confined = InCompartment::new(shell, CompartmentRegion::Inside);
    let molecule = spawn_in(&mut app, &template, confined, Vec3::ZERO);
    app.world_mut()
        .entity_mut(molecule)
        .insert(Sleeping::default());
    run(&mut app, 240);
    assert!(app.world().get::<Sleeping>(molecule).unwrap().sleeping);
}

/// In `ContactModel::Solver` only springs count as response.
#[test]
fn the_time_of_springs_is_that_of_their_context() {
    let mut app = app(ContactModel::Solver);
    weightless(&mut app);
    let template = add(&mut app, bar());
    spawn(&mut app, &template, Vec3::ZERO);
    let second = weightless_context(&mut app);
    let shell = spawn_shell(&mut app, 3.0);
    let confined = InCompartment::new(shell, CompartmentRegion::Inside);
    let molecule = spawn_in(&mut app, &template, confined, Vec3::X * 6.0);
    app.world_mut()
        .entity_mut(molecule)
        .insert(RapierContextEntityLink(second));
    run(&mut app, 5);
    let world = app.world().get::<MoleculeWorld>(second).unwrap();
    assert!(!world.times().respond.is_zero());
}

#[test]
fn any_surface_is_a_compartment() {
    let mut app = weightless_app();
    let template = add(&mut app, real("p_xylene.pdb"));
    let cell = Arc::new(SphereShell::new(Vec3::ZERO, 8.0).unwrap());
    let nucleus = Arc::new(SphereShell::new(Vec3::X * 2.0, 3.0).unwrap());
    let cytosol = Region::new(Some(cell), vec![nucleus], None).unwrap();
    let ring = Torus::new(8.0, 2.0, Pose::from_translation(Vec3::ONE)).unwrap();
    let surfaces: [(Arc<dyn Surface>, Vec3); 3] = [
        (Arc::new(cytosol.clone()), Vec3::new(2.0, 1.5, 0.0)),
        (Arc::new(cytosol), Vec3::new(-9.5, 0.0, 0.0)),
        // The frame of the ring is that of the entity.
        (Arc::new(ring), Vec3::new(0.0, 11.0, 1.0)),
    ];
    for (surface, start) in surfaces {
        let compartment = Compartment::Surface(SharedSurface(surface.clone()));
        let at = Pose::from_translation(Vec3::new(20.0, 0.0, -5.0));
        let compartment = (compartment, Transform::from_translation(at.position));
        let compartment = app.world_mut().spawn(compartment).id();
        let confined = InCompartment::new(compartment, CompartmentRegion::WholeInside);
        let molecule = spawn_in(&mut app, &template, confined, at.position + start);
        run(&mut app, 300);
        let transform = app.world().get::<Transform>(molecule).unwrap();
        let pose = Pose::new(transform.translation, transform.rotation);
        let world = surface.with_pose(&at).unwrap();
        let inside = Confinement::WholeInside {
            clearance: confined.leeway,
        };
        let excess = inside.excess(&*world, &real("p_xylene.pdb"), &pose);
        assert!(excess.height.abs() < 0.02, "{surface:?}: {excess:?}");
        let moved = pose.position.distance(at.position + start);
        assert!((0.3..4.0).contains(&moved), "{surface:?}: {moved}");
        app.world_mut().despawn(molecule);
        app.world_mut().despawn(compartment);
    }
}
