//! Contacts in time: what molecules that touch do to each other's velocities.
//!
//! Members with their spheres go into [`CrowdContacts`] once, their [`MovingBody`]s in every
//! substep; an [`Impulse`] for each comes out, and who touches whom. Everything is in the world
//! frame about centers of mass: nm, s, Da, radian. The same input gives the same bits on any
//! number of threads. A body that is not finite, or lies in a heap that cannot be searched, is
//! [set aside](Exclusion) and does no harm to the others; a device that fails is replaced within
//! the substep. What remains is a [`CrowdContactsError`].
//!
//! Where the room `relax` moves molecules until nothing overlaps, this room
//! answers contacts with impulses, as a physics engine does: bodies keep their
//! velocities, and linear and angular momentum are kept. One substep of length `h`:
//!
//! 1. *relax*: the contacts of the last substep are solved once more without the
//!    term that pushes overlaps apart, so that parting adds no energy;
//! 2. *predict*: velocities as gravity and other forces will have them at the end;
//! 3. *prepare*: touching spheres, of each two molecules 16 pairs at most, become
//!    [`ContactConstraint`]s with normal, levers and effective mass, and the impulse
//!    they had last time; so do contacts with what holds the molecules from outside;
//! 4. *iterate*: all pairs of molecules at the same time (Jacobi), and the contacts of
//!    each pair in turn (Gauss–Seidel), take out the velocity error; then each body
//!    sums up its pairs.
//!
//! Each contact is *soft*: a damped spring whose frequency and damping ratio are
//! given, integrated implicitly, so that no stiffness makes it unstable (the soft
//! step of `Box2D` v3; see [`Softness`]). That all contacts can be solved at once is
//! due to *mass splitting* (Tonge, Benevolenski, Voroshilov 2012): a body's mass is
//! divided among its neighbors, and its velocity is the mean of the parts.
//!
//! Either side of a contact receives the same vector with opposite sign at the same
//! point, so that momentum is kept to rounding. Contacts and bodies are worked on in
//! a fixed order: the bits do not depend on the number of threads.
//!
//! All of it can be done by another device: see [`DeviceSolver`]. An *engine* is always such a
//! device here; what moves the bodies, such as Rapier, is called the *physics engine*.
//!
//! The contacts are those of J. Pauschenwein's thesis (2022, section 3.2); the answer to them is
//! not, since there molecules have no velocities.

mod config;
mod contact_constraint;
mod contact_groups;
pub(crate) mod contact_reduction;
mod contact_solver;
mod crowd_contacts;
mod device_session;
mod device_solver;
mod external_contact;
mod fallback_search;
mod group_search;
mod grouped;
mod jacobi;
mod layout;
mod material;
mod members;
mod pair_grouper;
mod past;
mod results;
mod simd;
mod wake;
mod wide_constraint;

pub use config::ContactSolverConfig;
pub use contact_constraint::ContactConstraint;
#[cfg(feature = "gpu")]
pub(crate) use contact_constraint::DEEP_SHARE;
use contact_solver::ContactSolver;
pub use crowd_contacts::{CrowdContacts, CrowdContactsError};
pub use device_solver::{
    CarriedImpulse, DeviceDetection, DeviceResponse, DeviceSolver, DeviceSubstep, SavedContacts,
};
pub use external_contact::{ContactSide, ExternalBody, ExternalContact};
pub use group_search::{GroupSearch, PairGroup, PairGroups};
pub use grouped::Grouped;
pub use material::{ContactMaterial, InteractionGroups, Softness};
pub use members::{ContactMember, CrowdTouch, Exclusion, MemberSpheres};
#[cfg(feature = "gpu")]
pub(crate) use wake::{WAKE_OVERLAP, WAKE_SPEED};

pub use crate::force::Impulse;

use glam::{Mat3, Vec3};

use crate::pose::Pose;

/// A rigid body at one moment: what the contact solver needs of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MovingBody {
    /// Pose of the body frame in the world; spheres follow it.
    pub pose: Pose,
    /// Center of mass in the world, nm.
    pub center: Vec3,
    /// Inverse mass along each world axis, 1/Da; zero where it cannot move.
    pub inverse_mass: Vec3,
    /// Inverse inertia in the world frame, 1/(Da·nm²).
    pub inverse_inertia: Mat3,
    /// Velocity of the center of mass, nm/s.
    pub velocity: Vec3,
    /// Angular velocity, radian/s.
    pub angular_velocity: Vec3,
    /// Acceleration that gravity and other forces will cause in this substep, nm/s².
    pub acceleration: Vec3,
    /// Asleep: contacts treat it as immovable until something wakes it.
    pub asleep: bool,
}

impl Default for MovingBody {
    /// A body at the origin that nothing moves.
    fn default() -> Self {
        Self {
            pose: Pose::IDENTITY,
            center: Vec3::ZERO,
            inverse_mass: Vec3::ZERO,
            inverse_inertia: Mat3::ZERO,
            velocity: Vec3::ZERO,
            angular_velocity: Vec3::ZERO,
            acceleration: Vec3::ZERO,
            asleep: false,
        }
    }
}

impl MovingBody {
    /// Velocity of the body's point at `lever` from its center of mass, nm/s.
    #[inline]
    #[must_use]
    pub fn velocity_at(&self, lever: Vec3) -> Vec3 {
        self.velocity + self.angular_velocity.cross(lever)
    }

    /// How far a unit push along `direction` at `lever` moves that point along
    /// `direction`: n·M⁻¹n + (r × n)·I⁻¹(r × n), 1/Da.
    #[inline]
    #[must_use]
    pub fn mobility(&self, lever: Vec3, direction: Vec3) -> f32 {
        let turn = lever.cross(direction);
        direction.dot(self.inverse_mass * direction) + turn.dot(self.inverse_inertia * turn)
    }

    /// Whether any push would move it.
    #[inline]
    #[must_use]
    pub fn is_movable(&self) -> bool {
        self.inverse_mass != Vec3::ZERO || self.inverse_inertia != Mat3::ZERO
    }

    /// Whether every number is finite.
    #[must_use]
    pub fn is_finite(&self) -> bool {
        self.pose.is_finite()
            && self.center.is_finite()
            && self.inverse_mass.is_finite()
            && self.inverse_inertia.is_finite()
            && self.velocity.is_finite()
            && self.angular_velocity.is_finite()
            && self.acceleration.is_finite()
    }
}
