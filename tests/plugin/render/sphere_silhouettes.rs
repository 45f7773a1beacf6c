//! Silhouette and depth of an atom equal the analytic sphere, to a pixel.

use bevy::camera::ScalingMode;
use bevy::math::DVec3;
use bevy::prelude::*;
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::MoleculeInstance;

use super::render_app::{
    Depths, Frame, SIZE, atom, camera, finish_plugins, headlit, record_depths, render_app,
    screenshot, single_molecule, target,
};
use crate::common::gpu_device::device;

/// Distance of the near plane, nm.
const NEAR: f32 = 0.1;

/// Far plane of orthographic views, nm.
const FAR: f32 = 100.0;

/// Height of orthographic views, nm.
const HEIGHT: f32 = 4.0;

/// Projection of a camera.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// With the vertical field of view, radian.
    Perspective(f32),
    Orthographic,
}

impl Kind {
    fn projection(self) -> Projection {
        match self {
            Self::Perspective(fov) => Projection::Perspective(PerspectiveProjection {
                fov,
                near: NEAR,
                ..default()
            }),
            Self::Orthographic => Projection::Orthographic(OrthographicProjection {
                near: NEAR,
                far: FAR,
                scaling_mode: ScalingMode::FixedVertical {
                    viewport_height: HEIGHT,
                },
                ..OrthographicProjection::default_3d()
            }),
        }
    }

    /// Origin and direction of the ray through a point of the image (pixels from the top left),
    /// view frame.
    fn ray(self, x: f64, y: f64) -> (DVec3, DVec3) {
        let size = SIZE.as_dvec2();
        let right = (2.0 * x / size.x - 1.0) * size.x / size.y;
        let up = 1.0 - 2.0 * y / size.y;
        match self {
            Self::Perspective(fov) => {
                let half = f64::from(0.5 * fov).tan();
                let direction = DVec3::new(right * half, up * half, -1.0);
                (DVec3::ZERO, direction.normalize())
            }
            Self::Orthographic => {
                let half = 0.5 * f64::from(HEIGHT);
                (DVec3::new(right * half, up * half, 0.0), DVec3::NEG_Z)
            }
        }
    }

    /// Reversed depth at a distance in front of the camera, nm.
    fn depth(self, distance: f64) -> f64 {
        let (near, far) = (f64::from(NEAR), f64::from(FAR));
        match self {
            Self::Perspective(_) => near / distance,
            Self::Orthographic => (far - distance) / (far - near),
        }
    }
}

/// Intersection of a ray with a sphere.
struct Expected {
    /// Depth of the hit; `None` if the ray misses.
    depth: Option<f64>,
    /// Depth of the point closest to the center. On the rim, it equals `depth`.
    rim: f64,
}

/// The analytic sphere at a point of the image.
fn expected(kind: Kind, center: DVec3, radius: f64, x: f64, y: f64) -> Expected {
    let (origin, direction) = kind.ray(x, y);
    let to_center = center - origin;
    let along = to_center.dot(direction);
    let chord = radius * radius - (to_center - along * direction).length_squared();
    let depth = |along: f64| kind.depth(-(origin + direction * along).z);
    let hit = (chord >= 0.0)
        .then(|| along - chord.sqrt())
        .filter(|&along| (origin + direction * along).z < 0.0)
        .map(depth);
    Expected {
        depth: hit.filter(|depth| (0.0..=1.0).contains(depth)),
        rim: depth(along),
    }
}

/// Compares each pixel; returns the number of pixels that show the sphere.
fn compare(kind: Kind, center: Vec3, radius: f32, image: &Frame, depths: &[f32]) -> usize {
    let (center, radius) = (center.as_dvec3(), f64::from(radius));
    let mut shown = 0;
    for y in 0..SIZE.y {
        for x in 0..SIZE.x {
            let at = |dx: f64, dy: f64| {
                let (x, y) = (f64::from(x) + 0.5 + dx, f64::from(y) + 0.5 + dy);
                expected(kind, center, radius, x, y)
            };
            let around = [
                at(-1.0, 0.0),
                at(1.0, 0.0),
                at(0.0, -1.0),
                at(0.0, 1.0),
                at(-0.7, -0.7),
                at(0.7, -0.7),
                at(-0.7, 0.7),
                at(0.7, 0.7),
            ];
            let hit = image.at(x, y)[..3] != [0, 0, 0];
            shown += usize::from(hit);
            let depth = f64::from(depths[(y * SIZE.x + x) as usize]);
            let here = format!("{kind:?}, {center} r {radius}: pixel {x} {y}, depth {depth}");
            let misses = around.iter().any(|near| near.depth.is_none());
            match at(0.0, 0.0).depth {
                Some(expected) if hit => {
                    // The depth lies between those within a pixel, including the rim.
                    let known = around.iter().map(|near| near.depth.unwrap_or(near.rim));
                    let (low, high) = known.fold((expected, expected), |(low, high), depth| {
                        (f64::min(low, depth), f64::max(high, depth))
                    });
                    // Rounding in f32.
                    let slack = 1.0e-4 * expected.abs() + 1.0e-7;
                    assert!(
                        (low - slack..=high + slack).contains(&depth),
                        "{here}, expected {low} to {high}"
                    );
                }
                Some(_) => assert!(misses, "{here}: hole"),
                None if hit => {
                    let meets = around.iter().any(|near| near.depth.is_some());
                    assert!(meets, "{here}: too much");
                }
                None => assert_eq!(depth, 0.0, "{here}: depth beside the sphere"),
            }
        }
    }
    shown
}

/// An app whose depth buffer is read back; `None` without an adapter.
#[track_caller]
fn with_depths() -> Option<(App, Depths)> {
    device()?;
    let mut app = render_app();
    let depths = record_depths(&mut app);
    finish_plugins(&mut app);
    app.insert_resource(headlit(ColorMode::Element));
    Some((app, depths))
}

#[test]
fn silhouette_and_depth_equal_the_analytic_sphere() {
    let Some((mut app, depths)) = with_depths() else {
        return;
    };
    let image = target(&mut app, SIZE);
    let camera_entity = app.world_mut().spawn(camera(&image)).id();
    let instances = app
        .world_mut()
        .spawn(single_molecule(atom(Element::O, 1.0)))
        .id();
    // Center in the view frame, radius, and minimum number of pixels.
    let cases = [
        // In the middle, in the corner of a wide view, partly outside.
        (Vec3::new(0.0, 0.0, -4.0), 1.0, 100),
        (Vec3::new(3.4, 1.2, -3.0), 0.8, 40),
        (Vec3::new(-4.4, 0.3, -3.0), 0.9, 10),
        // Filling the view; clipped by the near plane.
        (Vec3::new(0.2, 0.1, -1.3), 1.15, 2000),
        (Vec3::new(0.0, 0.0, -1.0), 0.905, 1000),
        // Small and distant.
        (Vec3::new(0.5, -0.3, -30.0), 0.7, 1),
    ];
    let views = [
        Transform::IDENTITY,
        Transform::from_xyz(300.0, -200.0, 100.0).looking_at(Vec3::ZERO, Vec3::Y),
    ];
    for kind in [
        Kind::Perspective(1.4),
        Kind::Perspective(0.3),
        Kind::Orthographic,
    ] {
        for view in views {
            for (center, radius, min_pixels) in cases {
                app.world_mut()
                    .entity_mut(camera_entity)
                    .insert((kind.projection(), view));
                let transform = Transform::from_translation(view.transform_point(center))
                    .with_scale(Vec3::splat(radius));
                app.world_mut().entity_mut(instances).insert(transform);
                // The center after rounding.
                let exact = view
                    .to_matrix()
                    .inverse()
                    .transform_point3(transform.translation);
                let frame = screenshot(&mut app, &image);
                let shown = compare(kind, exact, radius, &frame, &depths.take());
                if kind == Kind::Perspective(1.4) {
                    assert!(shown >= min_pixels, "{center} {radius}: {shown} pixels");
                }
            }
        }
    }
}

#[test]
fn the_depth_of_many_atoms_is_that_of_the_nearest() {
    let Some((mut app, depths)) = with_depths() else {
        return;
    };
    let image = target(&mut app, SIZE);
    let template = super::render_app::template("popc.pdb");
    let poses: Vec<Pose> = (0..5)
        .map(|k| {
            let turn = Quat::from_euler(EulerRot::XYZ, 0.7 * k as f32, 0.3, 1.1 * k as f32);
            Pose::new(Vec3::new(k as f32 - 2.0, 0.2 * k as f32, -4.0), turn)
        })
        .collect();
    let instances = InstancedMolecules {
        templates: vec![template.clone()],
        molecules: poses
            .iter()
            .map(|&pose| MoleculeInstance::new(0, pose))
            .collect(),
        ..default()
    };
    app.world_mut().spawn(instances);
    let camera_entity = app.world_mut().spawn(camera(&image)).id();
    for kind in [Kind::Perspective(0.9), Kind::Orthographic] {
        app.world_mut()
            .entity_mut(camera_entity)
            .insert(kind.projection());
        let frame = screenshot(&mut app, &image);
        let depths = depths.take();
        let mut off = 0;
        let mut hits = 0;
        for y in 0..SIZE.y {
            for x in 0..SIZE.x {
                let (px, py) = (f64::from(x) + 0.5, f64::from(y) + 0.5);
                let atoms = template.positions().iter().zip(template.radii());
                let atoms = atoms.flat_map(|(place, radius)| {
                    let radius = f64::from(*radius);
                    poses.iter().filter_map(move |pose| {
                        let center = pose.transform_point(*place).as_dvec3();
                        expected(kind, center, radius, px, py).depth
                    })
                });
                let nearest = atoms.fold(0.0, f64::max);
                let depth = f64::from(depths[(y * SIZE.x + x) as usize]);
                hits += usize::from(nearest > 0.0);
                assert_eq!(depth > 0.0, frame.at(x, y)[..3] != [0, 0, 0]);
                off += usize::from((depth - nearest).abs() > 1.0e-4 * nearest);
            }
        }
        // Grazing rays may fall on either side of the rim.
        assert!(hits > 1000 && off * 200 < hits, "{kind:?}: {off} of {hits}");
    }
}
