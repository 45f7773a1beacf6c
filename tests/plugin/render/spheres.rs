//! Silhouette and depth of an atom are those of the analytic sphere, to a pixel.

use bevy::camera::ScalingMode;
use bevy::math::DVec3;
use bevy::prelude::*;
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;

use super::stage::{
    Depths, Picture, SIZE, alone, atom, bright, camera, keep_depths, shoot, stage, start, target,
};
use crate::common::gpu_device::device;

/// Distance of the near plane, nm.
const NEAR: f32 = 0.1;

/// Far plane of orthographic views, nm.
const FAR: f32 = 100.0;

/// Height of orthographic views, nm.
const HEIGHT: f32 = 4.0;

/// How a camera projects.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// With the angle from the bottom to the top of the view, radian.
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

    /// The ray through a point of the picture (pixels from the top left), view frame:
    /// where it starts and its direction.
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

    /// What the depth buffer has at a distance before the camera, nm. Near is 1.
    fn depth(self, distance: f64) -> f64 {
        let (near, far) = (f64::from(NEAR), f64::from(FAR));
        match self {
            Self::Perspective(_) => near / distance,
            Self::Orthographic => (far - distance) / (far - near),
        }
    }
}

/// Where a ray meets a sphere.
struct Expected {
    /// Depth where it meets the sphere; none if it misses.
    depth: Option<f64>,
    /// Depth where it is nearest to the center. On the rim the two are the same.
    rim: f64,
}

/// What there should be of the sphere at a point of the picture.
fn expected(kind: Kind, center: DVec3, radius: f64, x: f64, y: f64) -> Expected {
    let (origin, direction) = kind.ray(x, y);
    let way = center - origin;
    let along = way.dot(direction);
    let chord = radius * radius - (way - along * direction).length_squared();
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

/// Compares each pixel; returns how many show the sphere.
fn compare(kind: Kind, center: Vec3, radius: f32, picture: &Picture, depths: &[f32]) -> usize {
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
            let hit = picture.at(x, y)[..3] != [0, 0, 0];
            shown += usize::from(hit);
            let depth = f64::from(depths[(y * SIZE.x + x) as usize]);
            let here = format!("{kind:?}, {center} r {radius}: pixel {x} {y}, depth {depth}");
            let misses = around.iter().any(|near| near.depth.is_none());
            match at(0.0, 0.0).depth {
                Some(expected) if hit => {
                    // On the sphere: as deep as it is somewhere within a pixel, down to its
                    // rim if that is so near.
                    let known = around.iter().map(|near| near.depth.unwrap_or(near.rim));
                    let (low, high) = known.fold((expected, expected), |(low, high), depth| {
                        (f64::min(low, depth), f64::max(high, depth))
                    });
                    // And what 32 bits make of that.
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

/// An app whose depths are kept; none if there is no adapter and that is allowed.
#[track_caller]
fn with_depths() -> Option<(App, Depths)> {
    device()?;
    let mut app = stage();
    let depths = keep_depths(&mut app);
    start(&mut app);
    app.insert_resource(bright(ColorMode::Element));
    Some((app, depths))
}

#[test]
fn silhouette_and_depth_are_those_of_a_sphere() {
    let Some((mut app, depths)) = with_depths() else {
        return;
    };
    let picture = target(&mut app, SIZE);
    let eye = app.world_mut().spawn(camera(&picture)).id();
    let crowd = app.world_mut().spawn(alone(atom(Element::O, 1.0))).id();
    // Center in the view frame, radius, and how many pixels at least.
    let cases = [
        // In the middle, in the corner of a wide view, partly outside of it.
        (Vec3::new(0.0, 0.0, -4.0), 1.0, 100),
        (Vec3::new(3.4, 1.2, -3.0), 0.8, 40),
        (Vec3::new(-4.4, 0.3, -3.0), 0.9, 10),
        // So near that it fills the view; so near that the near plane cuts it.
        (Vec3::new(0.2, 0.1, -1.3), 1.15, 2000),
        (Vec3::new(0.0, 0.0, -1.0), 0.905, 1000),
        // Small and far away.
        (Vec3::new(0.5, -0.3, -30.0), 0.7, 1),
    ];
    let turns = [
        Transform::IDENTITY,
        Transform::from_xyz(300.0, -200.0, 100.0).looking_at(Vec3::ZERO, Vec3::Y),
    ];
    for kind in [
        Kind::Perspective(1.4),
        Kind::Perspective(0.3),
        Kind::Orthographic,
    ] {
        for view in turns {
            for (center, radius, least) in cases {
                app.world_mut()
                    .entity_mut(eye)
                    .insert((kind.projection(), view));
                let place = Transform::from_translation(view.transform_point(center))
                    .with_scale(Vec3::splat(radius));
                app.world_mut().entity_mut(crowd).insert(place);
                // What the renderer makes of numbers that are not exact.
                let exact = view
                    .to_matrix()
                    .inverse()
                    .transform_point3(place.translation);
                let shot = shoot(&mut app, &picture);
                let shown = compare(kind, exact, radius, &shot, &depths.take());
                if kind == Kind::Perspective(1.4) {
                    assert!(shown >= least, "{center} {radius}: {shown} pixels");
                }
            }
        }
    }
}

#[test]
fn many_atoms_have_the_depth_of_the_nearest() {
    let Some((mut app, depths)) = with_depths() else {
        return;
    };
    let picture = target(&mut app, SIZE);
    let template = super::stage::real("popc.pdb");
    let poses: Vec<Pose> = (0..5)
        .map(|k| {
            let turn = Quat::from_euler(EulerRot::XYZ, 0.7 * k as f32, 0.3, 1.1 * k as f32);
            Pose::new(Vec3::new(k as f32 - 2.0, 0.2 * k as f32, -4.0), turn)
        })
        .collect();
    let crowd = InstancedMolecules {
        templates: vec![template.clone()],
        molecules: poses
            .iter()
            .map(|&pose| MoleculeInstance::new(0, pose))
            .collect(),
        ..default()
    };
    app.world_mut().spawn(crowd);
    let eye = app.world_mut().spawn(camera(&picture)).id();
    for kind in [Kind::Perspective(0.9), Kind::Orthographic] {
        app.world_mut().entity_mut(eye).insert(kind.projection());
        let shot = shoot(&mut app, &picture);
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
                assert_eq!(depth > 0.0, shot.at(x, y)[..3] != [0, 0, 0]);
                off += usize::from((depth - nearest).abs() > 1.0e-4 * nearest);
            }
        }
        // Rays that graze an atom may take the other side of its edge.
        assert!(hits > 1000 && off * 200 < hits, "{kind:?}: {off} of {hits}");
    }
}
