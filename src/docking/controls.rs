//! Keyboard, mouse and gamepad input as motions of a molecule.
//!
//! Turk's users reported that joysticks moved molecules about the wrong axes. They asked for a
//! twist about the vertical, and for motion along the axes of the object instead of those of the
//! screen. So a [`ControlInput`] from any device has components along and about the right, up
//! and near axes, and [`ControlSettings::motion`] takes the orientation of these axes.

use glam::{Quat, Vec2, Vec3};

use super::RigidMotion;

/// Deflection up to which a stick counts as released.
const DEAD_ZONE: f32 = 0.15;

/// Requested fraction of the full speed, from −1 to 1 per axis: right, up, and near, which is
/// towards the viewer. Default: none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlInput {
    /// Translation along the axes.
    pub translation: Vec3,
    /// Rotation about the axes, counterclockwise when looking against them.
    pub rotation: Vec3,
}

impl ControlInput {
    /// Whether no motion is requested.
    #[must_use]
    pub fn is_zero(&self) -> bool {
        self.translation == Vec3::ZERO && self.rotation == Vec3::ZERO
    }
}

impl std::ops::AddAssign for ControlInput {
    fn add_assign(&mut self, other: Self) {
        self.translation += other.translation;
        self.rotation += other.rotation;
    }
}

/// Raw state of a gamepad. Default: released.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GamepadState {
    /// Left stick, from −1 to 1, right and up: translates.
    pub left_stick: Vec2,
    /// Right stick, from −1 to 1: rotates about the vertical and the horizontal.
    pub right_stick: Vec2,
    /// Left trigger, from 0 to 1: moves away from the viewer.
    pub left_trigger: f32,
    /// Right trigger, from 0 to 1: moves towards the viewer.
    pub right_trigger: f32,
    /// Shoulder buttons, 1 for the left and −1 for the right one: rolls to that side.
    pub roll: f32,
}

impl GamepadState {
    /// The requested motion.
    #[must_use]
    pub fn control_input(&self) -> ControlInput {
        let [left, right] = [self.left_stick, self.right_stick].map(apply_dead_zone);
        let pull = |trigger: f32| apply_dead_zone(Vec2::new(trigger, 0.0)).x;
        ControlInput {
            translation: left.extend(pull(self.right_trigger) - pull(self.left_trigger)),
            // A stick pushed forward tips the molecule away from the viewer.
            rotation: Vec3::new(-right.y, right.x, pull(self.roll)),
        }
    }
}

/// Removes the dead zone of a stick: zero inside of it, then linear up to length 1 at the rim.
/// Values that are not finite count as released.
#[must_use]
pub fn apply_dead_zone(stick: Vec2) -> Vec2 {
    let length = stick.length();
    if !length.is_finite() || length <= DEAD_ZONE {
        return Vec2::ZERO;
    }
    let scaled = (length - DEAD_ZONE) / (1.0 - DEAD_ZONE);
    stick / length * scaled.min(1.0)
}

/// Rotation vector of a trackball that is dragged from one point to another, in the right, up
/// and near axes.
///
/// Points are in units of the ball's radius, from its center, right and up. Near the rim and
/// outside, the ball rotates about the line of sight. At 45° the ball continues as a hyperbola
/// (Bell's trackball), so that there is no jump at the rim.
#[must_use]
pub fn arcball(from: Vec2, to: Vec2) -> Vec3 {
    let [from, to] = [from, to].map(on_ball);
    let axis = from.cross(to);
    let rotation = axis.normalize_or_zero() * axis.length().atan2(from.dot(to));
    if rotation.is_finite() {
        rotation
    } else {
        Vec3::ZERO
    }
}

fn on_ball(point: Vec2) -> Vec3 {
    let square = point.length_squared();
    let height = if square <= 0.5 {
        (1.0 - square).sqrt()
    } else {
        0.5 / square.sqrt()
    };
    point.extend(height)
}

/// Speeds of the controls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlSettings {
    /// Full speed, nm/s. Default: 0.8.
    pub speed: f32,
    /// Full angular speed, radian/s. Default: 1.2.
    pub angular_speed: f32,
    /// Maximum duration of a frame, s, so that a slow frame does not cause a long motion.
    /// Default: 0.1.
    pub max_frame: f32,
    /// Rate at which a body approaches the requested velocity, 1/s. Default: 20.
    pub response_rate: f32,
    /// Maximum speed of any atom of a body, nm/s, so that it does not tunnel through another
    /// within a substep of a few milliseconds. Default: 4.
    pub max_speed: f32,
}

impl Default for ControlSettings {
    fn default() -> Self {
        Self {
            speed: 0.8,
            angular_speed: 1.2,
            max_frame: 0.1,
            response_rate: 20.0,
            max_speed: 4.0,
        }
    }
}

impl ControlSettings {
    /// The motion of a frame of `dt` s along axes with the orientation `axes`.
    #[must_use]
    pub fn motion(&self, input: &ControlInput, axes: Quat, dt: f32) -> RigidMotion {
        let dt = dt.min(self.max_frame).max(0.0);
        RigidMotion {
            translation: axes * input.translation * self.speed * dt,
            rotation: axes * input.rotation * self.angular_speed * dt,
        }
    }

    /// The velocity (nm/s and radian/s) that makes a motion in `dt` s, limited to the maximum
    /// speed of a body with this bounding radius (nm).
    #[must_use]
    pub fn velocity(&self, motion: &RigidMotion, dt: f32, radius: f32) -> RigidMotion {
        if dt.is_nan() || dt <= 0.0 || !motion.is_finite() {
            return RigidMotion::default();
        }
        let velocity = motion.scaled(dt.recip());
        let speed = velocity.max_displacement(radius);
        if speed > self.max_speed {
            velocity.scaled(self.max_speed / speed)
        } else {
            velocity
        }
    }

    /// The velocity of a body after `dt` s of exponential approach to the `target` velocity.
    /// Independent of the frame rate.
    #[must_use]
    pub fn approach(&self, velocity: &RigidMotion, target: &RigidMotion, dt: f32) -> RigidMotion {
        let kept = (-self.response_rate * dt.max(0.0)).exp();
        let approach = |current: Vec3, target: Vec3| target + (current - target) * kept;
        RigidMotion {
            translation: approach(velocity.translation, target.translation),
            rotation: approach(velocity.rotation, target.rotation),
        }
    }
}
