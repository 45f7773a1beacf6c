//! Grabs what is under the cursor and pulls it along, by impulses at the place where
//! it was grabbed. Let go, it keeps its velocity: that is a throw.

use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_rapier3d::prelude::*;

/// Speed towards the cursor for each nm of distance, 1/s.
const PULL: f32 = 8.0;

/// Fastest that anything is pulled, nm/s.
const FASTEST: f32 = 60.0;

/// Share of the missing velocity that is given each frame. The place of the grip is
/// off the center of mass and so lighter than the body: for a ball by 2/7. With more
/// than that it would swing up.
const GRIP: f32 = 0.25;

/// Share of the spin that is taken away each frame.
const STEADY: f32 = 0.1;

/// Furthest that the cursor reaches, nm.
const REACH: f32 = 10_000.0;

/// Left mouse button: grab, pull, throw.
pub struct GrabPlugin;

impl Plugin for GrabPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, (take_or_leave, pull, draw_grip).chain());
    }
}

/// What is held.
#[derive(Resource)]
struct Grip {
    body: Entity,
    /// Place of the grip in the body frame, nm.
    place: Vec3,
    /// Distance of the grip from the camera along its view, nm.
    depth: f32,
}

type View<'w, 's> = Query<'w, 's, (&'static Camera, &'static GlobalTransform), With<Camera3d>>;
type Cursor<'w, 's> = Query<'w, 's, &'static Window, With<PrimaryWindow>>;

/// The ray from the camera through the cursor.
fn cursor_ray(windows: &Cursor, cameras: &View) -> Option<(Ray3d, Vec3)> {
    let cursor = windows.single().ok()?.cursor_position()?;
    let (camera, transform) = cameras.single().ok()?;
    let ray = camera.viewport_to_world(transform, cursor).ok()?;
    Some((ray, *transform.forward()))
}

fn take_or_leave(
    mut commands: Commands,
    buttons: Res<ButtonInput<MouseButton>>,
    windows: Cursor,
    cameras: View,
    physics: ReadRapierContext,
    transforms: Query<&GlobalTransform>,
) {
    if buttons.just_released(MouseButton::Left) {
        commands.remove_resource::<Grip>();
    }
    if !buttons.just_pressed(MouseButton::Left) {
        return;
    }
    let Some((ray, forward)) = cursor_ray(&windows, &cameras) else {
        return;
    };
    let Ok(physics) = physics.single() else {
        return;
    };
    let filter = QueryFilter::only_dynamic();
    let hit = physics.cast_ray(ray.origin, *ray.direction, REACH, true, filter);
    if let Some((body, distance)) = hit
        && let Ok(transform) = transforms.get(body)
    {
        let point = ray.get_point(distance);
        commands.entity(body).insert(ExternalImpulse::default());
        commands.insert_resource(Grip {
            body,
            place: transform.affine().inverse().transform_point3(point),
            depth: (point - ray.origin).dot(forward),
        });
    }
}

/// Where the grip is, and where the cursor wants it: on the plane that faces the camera.
fn places(grip: &Grip, transform: &GlobalTransform, ray: Ray3d, forward: Vec3) -> (Vec3, Vec3) {
    let along = ray.direction.dot(forward);
    (
        transform.transform_point(grip.place),
        ray.get_point(grip.depth / along),
    )
}

fn pull(
    grip: Option<Res<Grip>>,
    windows: Cursor,
    cameras: View,
    physics: ReadRapierContext,
    configurations: Query<&RapierConfiguration>,
    mut bodies: Query<(
        &GlobalTransform,
        &RapierRigidBodyHandle,
        &mut ExternalImpulse,
    )>,
) {
    let running = configurations
        .iter()
        .all(|configuration| configuration.physics_pipeline_active);
    let (Some(grip), Some((ray, forward)), true) = (grip, cursor_ray(&windows, &cameras), running)
    else {
        return;
    };
    let (Ok((transform, handle, mut impulse)), Ok(physics)) =
        (bodies.get_mut(grip.body), physics.single())
    else {
        return;
    };
    let Some(body) = physics.rigidbody_set.bodies.get(handle.0) else {
        return;
    };
    let (place, wanted) = places(&grip, transform, ray, forward);
    let center = body.mass_properties().world_com;
    let velocity = body.linvel() + body.angvel().cross(place - center);
    let missing = (PULL * (wanted - place)).clamp_length_max(FASTEST) - velocity;
    *impulse = ExternalImpulse::at_point(body.mass() * GRIP * missing, place, center);
    let inertia = body
        .mass_properties()
        .local_mprops
        .principal_inertia()
        .min_element();
    impulse.torque_impulse -= STEADY * inertia * body.angvel();
}

fn draw_grip(
    grip: Option<Res<Grip>>,
    windows: Cursor,
    cameras: View,
    transforms: Query<&GlobalTransform>,
    mut gizmos: Gizmos,
) {
    if let (Some(grip), Some((ray, forward))) = (grip, cursor_ray(&windows, &cameras))
        && let Ok(transform) = transforms.get(grip.body)
    {
        let (place, wanted) = places(&grip, transform, ray, forward);
        gizmos.line(place, wanted, Color::srgb(1.0, 0.8, 0.1));
    }
}
