//! Grabs the body under the cursor and pulls it with impulses at the grabbed point. A
//! released body keeps its velocity, which throws it.

use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_rapier3d::prelude::*;

/// Speed toward the cursor per distance, 1/s.
const PULL: f32 = 8.0;

/// Max pulling speed, nm/s.
const MAX_SPEED: f32 = 60.0;

/// Fraction of the velocity error corrected per frame. Off the center of mass, the effective
/// mass is lower than that of the body: for a ball, 2/7 of it. Larger fractions would oscillate.
const CORRECTION: f32 = 0.25;

/// Fraction of the angular velocity removed per frame.
const SPIN_DAMPING: f32 = 0.1;

/// Max distance of the ray cast, nm.
const MAX_DISTANCE: f32 = 10_000.0;

/// The left mouse button grabs, pulls and throws.
pub struct GrabPlugin;

impl Plugin for GrabPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Update, (grab_or_release, pull, draw_grip).chain());
    }
}

/// The grabbed body.
#[derive(Resource)]
struct Grip {
    body: Entity,
    /// Grabbed point, body frame, nm.
    local_point: Vec3,
    /// Distance from the camera along its view direction, nm.
    depth: f32,
}

type View<'w, 's> = Query<'w, 's, (&'static Camera, &'static GlobalTransform), With<Camera3d>>;
type Cursor<'w, 's> = Query<'w, 's, &'static Window, With<PrimaryWindow>>;

/// The ray from the camera through the cursor, and the view direction.
fn cursor_ray(windows: &Cursor, cameras: &View) -> Option<(Ray3d, Vec3)> {
    let cursor = windows.single().ok()?.cursor_position()?;
    let (camera, transform) = cameras.single().ok()?;
    let ray = camera.viewport_to_world(transform, cursor).ok()?;
    Some((ray, *transform.forward()))
}

fn grab_or_release(
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
    let hit = physics.cast_ray(ray.origin, *ray.direction, MAX_DISTANCE, true, filter);
    if let Some((body, distance)) = hit
        && let Ok(transform) = transforms.get(body)
    {
        let point = ray.get_point(distance);
        commands.entity(body).insert(ExternalImpulse::default());
        commands.insert_resource(Grip {
            body,
            local_point: transform.affine().inverse().transform_point3(point),
            depth: (point - ray.origin).dot(forward),
        });
    }
}

/// The grabbed point, and its target: where the cursor ray meets the plane through the
/// grabbed point that faces the camera. World frame, nm.
fn grip_and_target(
    grip: &Grip,
    transform: &GlobalTransform,
    ray: Ray3d,
    forward: Vec3,
) -> (Vec3, Vec3) {
    let along = ray.direction.dot(forward);
    (
        transform.transform_point(grip.local_point),
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
    let is_running = configurations
        .iter()
        .all(|configuration| configuration.physics_pipeline_active);
    let (Some(grip), Some((ray, forward)), true) =
        (grip, cursor_ray(&windows, &cameras), is_running)
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
    let (point, target) = grip_and_target(&grip, transform, ray, forward);
    let center = body.mass_properties().world_com;
    let velocity = body.linvel() + body.angvel().cross(point - center);
    let missing = (PULL * (target - point)).clamp_length_max(MAX_SPEED) - velocity;
    *impulse = ExternalImpulse::at_point(body.mass() * CORRECTION * missing, point, center);
    let inertia = body
        .mass_properties()
        .local_mprops
        .principal_inertia()
        .min_element();
    impulse.torque_impulse -= SPIN_DAMPING * inertia * body.angvel();
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
        let (point, target) = grip_and_target(&grip, transform, ray, forward);
        gizmos.line(point, target, Color::srgb(1.0, 0.8, 0.1));
    }
}
