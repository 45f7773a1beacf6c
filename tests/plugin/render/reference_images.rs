//! Rendered images equal the references, up to a tolerance.
//!
//! With `MAKE_REFERENCES=1` in the environment, the references are overwritten: inspect them
//! before committing.

use std::f32::consts::TAU;
use std::path::PathBuf;
use std::sync::Arc;

use bevy::camera::ScalingMode;
use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::{DrawDetail, MoleculeInstance, ProxyOverlay};
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, VesicleStart, vesicle};
use image::{Rgb, RgbImage};

use super::render_app::{
    Frame, camera, finish_plugins, render_app, screenshot, single_molecule, target, template,
};
use crate::common::gpu_device::device;

/// Minimum similarity of an image and its reference, from 0 to 1: the root mean square of the
/// color differences is at most 1.5 %.
///
/// Adapters round differently along the rims of atoms.
const MIN_SIMILARITY: f64 = 0.985;

/// Size of references, pixels.
const SIZE: UVec2 = UVec2::new(192, 128);

fn compare(name: &str, image: &Frame) {
    let shown = RgbImage::from_fn(image.size.x, image.size.y, |x, y| {
        let [red, green, blue, _] = image.at(x, y);
        Rgb([red, green, blue])
    });
    let path: PathBuf = [env!("CARGO_MANIFEST_DIR"), "tests/data/render", name]
        .iter()
        .collect();
    let path = path.with_extension("png");
    if std::env::var("MAKE_REFERENCES").is_ok_and(|value| value == "1") {
        shown.save(&path).unwrap();
        return;
    }
    let reference = image::open(&path).unwrap().to_rgb8();
    let similarity = image_compare::rgb_similarity_structure(
        &image_compare::Algorithm::RootMeanSquared,
        &reference,
        &shown,
    );
    let score = similarity.unwrap().score;
    if score < MIN_SIMILARITY {
        let failed = std::env::temp_dir().join(format!("{name}.failed.png"));
        shown.save(&failed).unwrap();
        panic!(
            "the similarity of {name} and its reference is {score}; see {}",
            failed.display()
        );
    }
}

/// An app with two lights, and a camera at `position` (nm) that looks at the origin.
fn scene(position: Vec3) -> (App, Handle<Image>, Entity) {
    let mut app = render_app();
    finish_plugins(&mut app);
    app.insert_resource(ClearColor(Color::srgb(0.05, 0.06, 0.08)));
    app.insert_resource(GlobalAmbientLight {
        brightness: 400.0,
        ..default()
    });
    app.world_mut().spawn((
        DirectionalLight {
            illuminance: 5_000.0,
            ..default()
        },
        Transform::from_xyz(2.0, 4.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y),
    ));
    let image = target(&mut app, SIZE);
    let view = Transform::from_translation(position).looking_at(Vec3::ZERO, Vec3::Y);
    let camera_entity = app.world_mut().spawn((camera(&image), view)).id();
    (app, image, camera_entity)
}

#[test]
fn a_protein_equals_its_references() {
    if device().is_none() {
        return;
    }
    let (mut app, image, camera_entity) = scene(Vec3::new(0.0, 0.0, 9.0));
    let protein = app
        .world_mut()
        .spawn(single_molecule(template("1gzx.pdb")))
        .id();
    compare("hemoglobin_elements", &screenshot(&mut app, &image));
    app.world_mut().resource_mut::<MoleculeStyle>().color = ColorMode::Chain;
    compare("hemoglobin_chains", &screenshot(&mut app, &image));
    // Four proxies per chain, then many over a translucent molecule.
    for (proxies, opacity, name) in [
        (16, 1.0, "hemoglobin_proxies"),
        (64, 0.4, "hemoglobin_faint"),
    ] {
        app.world_mut().resource_mut::<MoleculeStyle>().proxies = Some(ProxyOverlay {
            count: proxies,
            opacity: 0.5,
        });
        app.world_mut()
            .entity_mut(protein)
            .insert(MoleculeTint::from_opacity(opacity));
        compare(name, &screenshot(&mut app, &image));
    }
    app.world_mut().resource_mut::<MoleculeStyle>().proxies = None;
    app.world_mut().entity_mut(protein).remove::<MoleculeTint>();
    compare("hemoglobin_chains", &screenshot(&mut app, &image));
    // Clusters, multisampled, orthographic.
    app.world_mut().resource_mut::<MoleculeStyle>().detail = DrawDetail::Clusters;
    app.world_mut().entity_mut(camera_entity).insert((
        Msaa::Sample4,
        Projection::Orthographic(OrthographicProjection {
            scaling_mode: ScalingMode::FixedVertical {
                viewport_height: 8.0,
            },
            ..OrthographicProjection::default_3d()
        }),
    ));
    compare("hemoglobin_clusters", &screenshot(&mut app, &image));
    app.world_mut().despawn(protein);
}

#[test]
fn a_vesicle_equals_its_references() {
    if device().is_none() {
        return;
    }
    let (mut app, image, _) = scene(Vec3::new(0.0, 5.0, 16.0));
    let config = VesicleConfig {
        size: VesicleSize::Counts {
            outer: 120,
            inner: 20,
            radius: 3.6,
        },
        start: VesicleStart::Uniform,
        ..VesicleConfig::default()
    };
    let vesicle = vesicle(template("popc.pdb"), &config).unwrap();
    let mut instances = InstancedMolecules::from_crowd(&vesicle.crowd);
    instances
        .templates
        .push(Arc::clone(&template("p_xylene.pdb")));
    for k in 0..24 {
        let angle = TAU * k as f32 / 24.0;
        let place = Vec3::new(8.0 * angle.cos(), -1.0, 8.0 * angle.sin());
        instances
            .molecules
            .push(MoleculeInstance::new(1, Pose::from_translation(place)));
    }
    for (k, molecule) in instances.molecules.iter_mut().enumerate() {
        if k % 3 == 0 {
            molecule.colliding = true;
            molecule.penetration = 0.0005 * k as f32;
        }
    }
    app.world_mut().spawn(instances);
    for (mode, name) in [
        (ColorMode::Molecule, "vesicle_molecules"),
        (ColorMode::Template, "vesicle_templates"),
        (ColorMode::Group, "vesicle_groups"),
        (ColorMode::Collision, "vesicle_collisions"),
        (ColorMode::Penetration, "vesicle_penetrations"),
    ] {
        app.world_mut().resource_mut::<MoleculeStyle>().color = mode;
        compare(name, &screenshot(&mut app, &image));
    }
}
