//! What a hand wants: keys, sticks and the mouse become motions of a molecule.
//!
//! Turk's users found that joysticks moved molecules about the wrong axes, and asked for a
//! twist about the vertical, and for motion along the axes of the object rather than those
//! of the screen. So a [`ControlInput`] has parts along and about right, up and near, whoever
//! makes it, and [`ControlSettings::motion`] is told which way those axes point.

use glam::{Quat, Vec2, Vec3};

use super::RigidMotion;

/// How far a stick may be off its middle and still be let go.
const DEAD_ZONE: f32 = 0.15;

/// How much a hand wants of its full speed, from −1 to 1 along each axis: right, up, and
/// near, which is towards the viewer. Default: nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ControlInput {
    /// Along the axes, from −1 to 1.
    pub shift: Vec3,
    /// About the axes, from −1 to 1, counterclockwise for who looks against them.
    pub turn: Vec3,
}

impl ControlInput {
    /// Whether nothing is wanted.
    #[must_use]
    pub fn is_nothing(&self) -> bool {
        self.shift == Vec3::ZERO && self.turn == Vec3::ZERO
    }
}

impl std::ops::AddAssign for ControlInput {
    fn add_assign(&mut self, other: Self) {
        self.shift += other.shift;
        self.turn += other.turn;
    }
}

/// Two sticks, two triggers and two shoulder buttons, as they are read. Default: all let go.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct GamepadState {
    /// Left stick, from −1 to 1, right and up: moves.
    pub left: Vec2,
    /// Right stick: turns about the vertical and the horizontal.
    pub right: Vec2,
    /// Left trigger, from 0 to 1: away from the viewer, into the screen.
    pub away: f32,
    /// Right trigger, from 0 to 1: towards the viewer.
    pub near: f32,
    /// Shoulders, −1 for the right one and 1 for the left one: turns as the left side goes
    /// down.
    pub roll: f32,
}

impl GamepadState {
    /// What the pad wants.
    #[must_use]
    pub fn reach(&self) -> ControlInput {
        let [left, right] = [self.left, self.right].map(apply_dead_zone);
        let pull = |trigger: f32| apply_dead_zone(Vec2::new(trigger, 0.0)).x;
        ControlInput {
            shift: left.extend(pull(self.near) - pull(self.away)),
            // A stick that is pushed away tips the molecule over, away from the viewer.
            turn: Vec3::new(-right.y, right.x, pull(self.roll)),
        }
    }
}

/// A stick without the range in which it is let go: 0 there, and growing evenly to length
/// 1 at its rim. What is not finite is let go, too.
#[must_use]
pub fn apply_dead_zone(stick: Vec2) -> Vec2 {
    let length = stick.length();
    if !length.is_finite() || length <= DEAD_ZONE {
        return Vec2::ZERO;
    }
    let wanted = (length - DEAD_ZONE) / (1.0 - DEAD_ZONE);
    stick / length * wanted.min(1.0)
}

/// The turn of a ball that the mouse drags from one place to another, axis times radian:
/// right, up and near.
///
/// Places are in units of the ball's radius, from its center, right and up. Within the ball
/// the mouse holds its surface; near its rim and outside it turns it about the line of
/// sight. The ball goes over into a hyperbola at 45° (Bell's trackball), so that there is no
/// jump at the rim.
#[must_use]
pub fn arcball(from: Vec2, to: Vec2) -> Vec3 {
    let [from, to] = [from, to].map(on_ball);
    let axis = from.cross(to);
    let turn = axis.normalize_or_zero() * axis.length().atan2(from.dot(to));
    if turn.is_finite() { turn } else { Vec3::ZERO }
}

fn on_ball(place: Vec2) -> Vec3 {
    let square = place.length_squared();
    let height = if square <= 0.5 {
        (1.0 - square).sqrt()
    } else {
        0.5 / square.sqrt()
    };
    place.extend(height)
}

/// How fast a hand is, and how firm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ControlSettings {
    /// Speed at full reach, nm/s.
    ///
    /// Default: 0.8.
    pub speed: f32,
    /// Turning speed at full reach, radian/s.
    ///
    /// Default: 1.2.
    pub turning: f32,
    /// Longest time that one frame stands for, s: a slow frame must not become a long way.
    ///
    /// Default: 0.1.
    pub longest_frame: f32,
    /// How fast a body takes on the velocity that is wanted, 1/s.
    ///
    /// Default: 20.
    pub grip: f32,
    /// Fastest that any atom of a body is moved, nm/s: in a substep of some milliseconds it
    /// must not pass through another.
    ///
    /// Default: 4.
    pub fastest: f32,
}

impl Default for ControlSettings {
    fn default() -> Self {
        Self {
            speed: 0.8,
            turning: 1.2,
            longest_frame: 0.1,
            grip: 20.0,
            fastest: 4.0,
        }
    }
}

impl ControlSettings {
    /// The motion of a frame of so many seconds, along axes that are turned by `axes`.
    #[must_use]
    pub fn motion(&self, reach: &ControlInput, axes: Quat, seconds: f32) -> RigidMotion {
        let seconds = seconds.min(self.longest_frame).max(0.0);
        RigidMotion {
            translation: axes * reach.shift * self.speed * seconds,
            rotation: axes * reach.turn * self.turning * seconds,
        }
    }

    /// The velocity (nm/s and radian/s) at which a body of this bounding radius (nm) would
    /// make a motion in so many seconds, or a slower one.
    #[must_use]
    pub fn velocity(&self, motion: &RigidMotion, seconds: f32, radius: f32) -> RigidMotion {
        if seconds.is_nan() || seconds <= 0.0 || !motion.is_finite() {
            return RigidMotion::default();
        }
        let wanted = motion.scaled(seconds.recip());
        let speed = wanted.translation.length() + wanted.rotation.length() * radius;
        if speed > self.fastest {
            wanted.scaled(self.fastest / speed)
        } else {
            wanted
        }
    }

    /// The velocity of a body that had `velocity` and is held by a hand that wants `wanted`,
    /// after so many seconds. It comes closer by the same share in the same time, however
    /// long the frames are.
    #[must_use]
    pub fn pull(&self, velocity: &RigidMotion, wanted: &RigidMotion, seconds: f32) -> RigidMotion {
        let kept = (-self.grip * seconds.max(0.0)).exp();
        let towards = |now: Vec3, wanted: Vec3| wanted + (now - wanted) * kept;
        RigidMotion {
            translation: towards(velocity.translation, wanted.translation),
            rotation: towards(velocity.rotation, wanted.rotation),
        }
    }
}
