//! What Rapier shows of the collider of a molecule when it debugs.

use std::sync::Arc;

use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::rapier::MoleculeShape;
use bevy_rapier3d::parry::shape::{Shape, ShapeType, SharedShape, TypedShape};
use bevy_rapier3d::prelude::*;

use super::test_app::*;

#[test]
fn a_collider_of_a_molecule_can_be_printed_and_viewed() {
    let mut app = app(ContactModel::Crowd);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    run(&mut app, 2);
    let collider = app.world().get::<Collider>(molecule).unwrap();
    let radius = bar().bounding_radius();
    // These panicked with "not yet implemented".
    assert!(format!("{collider:?}").contains(&radius.to_string()));
    let ColliderView::RoundCylinder(view) = collider.as_typed_shape() else {
        panic!("{collider:?}");
    };
    assert_eq!(view.raw.border_radius, radius);
    // The molecule itself is found by its type.
    let shape = collider.raw.as_shape::<MoleculeShape>().unwrap();
    assert_eq!(shape.template().atom_count(), bar().atom_count());
}

#[test]
fn the_outline_for_debug_renderers_is_the_bounding_sphere() {
    let template = real("popc.pdb");
    let radius = template.bounding_radius();
    let shape = MoleculeShape::new(Arc::new(template));
    // Rapier's debug renderer draws the outline of a round cylinder, with these defaults.
    let (subdivisions, border_subdivisions) = (20, 5);
    let TypedShape::RoundCylinder(outline) = shape.as_typed_shape() else {
        panic!("{shape:?}");
    };
    let (points, lines) = outline.to_outline(subdivisions, border_subdivisions);
    assert!(lines.len() > 50, "{} lines", lines.len());
    for point in points {
        assert!((point.length() - radius).abs() < 1.0e-4, "{point}");
    }
    let contained = |(center, radius): (&Vec3, &f32)| {
        center.length() + radius <= outline.border_radius + 1.0e-5
    };
    let atoms = shape.template().positions().iter();
    assert!(atoms.zip(shape.template().radii()).all(contained));
    // Parry's dispatcher and compartments do not mistake it for that cylinder.
    assert_eq!(shape.shape_type(), ShapeType::Custom);
    let compartment = ShapeCompartment::new(SharedShape::new(shape), Pose::IDENTITY);
    let error = compartment.unwrap_err().to_string();
    assert!(error.contains("custom shape"), "{error}");
}
