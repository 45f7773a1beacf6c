//! Contact dynamics: impulses between rigid molecules that touch.
//!
//! [`CrowdContacts`] takes the spheres of all molecules once and their bodies in every substep,
//! and returns an [`Impulse`] per molecule and the pairs that touch. Bodies keep their
//! velocities; linear and angular momentum are conserved to rounding. (The module
//! [`relax`](crate::relax) instead moves molecules until nothing overlaps.) Quantities are in the
//! world frame, in nm, s, Da and radian.
//!
//! # One substep
//!
//! [`gather`](CrowdContacts::gather) → [`detect`](CrowdContacts::detect) →
//! [`respond`](CrowdContacts::respond):
//!
//! 1. *Gather* the bodies.
//! 2. *Detect* candidate pairs within the prediction distance, group them by molecules, and keep
//!    at most 16 per pair of molecules.
//!    Members that move fast and have [`ccd`](MovingBody::ccd) also get contacts with what they
//!    would hit within the substep.
//! 3. *Wake* sleeping bodies that are hit, overlap deeply or have lost a neighbor.
//! 4. *Relax*: solve the contacts of the previous substep again without pushing overlaps out, so
//!    that the push adds no energy.
//! 5. *Predict* the velocities at the end of the substep from gravity and other forces.
//! 6. *Prepare* a [`ContactConstraint`] per kept pair and [`ExternalContact`], with the impulse
//!    of the previous substep (warm start).
//! 7. *Iterate*: solve all pairs of bodies at the same time (Jacobi), the contacts of each pair in
//!    turn (Gauss–Seidel), and add up the impulses per body.
//!
//! Contacts are soft: damped springs integrated implicitly, stable at any stiffness (the soft step
//! of `Box2D` v3, see [`Softness`]). Mass splitting makes the Jacobi iteration stable (Tonge,
//! Benevolenski, Voroshilov 2012): the mass of a body is divided among its pairs, and its velocity
//! is the mean of the parts. The contacts are those of J. Pauschenwein's thesis (2022, section
//! 3.2); the impulses are not, since molecules have no velocities there.
//!
//! Members may be added and removed between substeps
//! ([`update_members`](CrowdContacts::update_members)): contacts, and what the search knows of the
//! other members, are kept.
//!
//! # Index spaces
//!
//! | type | counts |
//! |---|---|
//! | [`MemberIndex`] | all members, in the order of [`members`](CrowdContacts::members) |
//! | [`OwnerIndex`] | members that are not excluded; spheres refer to their owner |
//! | [`BodyIndex`] | bodies of the solver: one per owner, then the external bodies |
//!
//! # Determinism
//!
//! The same input gives the same bits on any number of threads: contacts and bodies are processed
//! in a fixed order. Device solvers are deterministic too, but round differently.
//!
//! # Errors
//!
//! Members whose body is missing or not finite, or that lie in a place too crowded to search, are
//! excluded (see [`Exclusion`]) without effect on the others. What remains is a
//! [`SearchError`](crate::search::SearchError).
//!
//! # Device solvers
//!
//! A [`DeviceSolver`] does steps 2 to 7 on a GPU, all of them in
//! [`respond`](CrowdContacts::respond): before it, there are no
//! [`touches`](CrowdContacts::touches). Contacts stay on the device. Substeps with too many
//! molecules in one place are left to the CPU. If the device fails, the CPU continues within the
//! same substep: with the contacts of the device if they can still be read, else with cold ones (no
//! warm start in that substep). Bodies and poses are not affected, since the physics engine owns
//! them.
//! [`take_device_error`](CrowdContacts::take_device_error) returns the error.

mod contact_constraint;
mod contact_groups;
pub(crate) mod contact_reduction;
mod contact_solver;
mod continuous_contacts;
mod crowd_contacts;
mod detection;
mod device_session;
mod device_solver;
mod external_contact;
mod group_search;
mod index;
mod jacobi;
mod material;
mod members;
mod moving_body;
mod simd;
mod surface;
mod task_groups;
mod touch_contact;
mod wake;
mod wide_constraint;

pub use contact_constraint::ContactConstraint;
#[cfg(feature = "gpu")]
pub(crate) use contact_constraint::DEEP_SHARE;
pub use continuous_contacts::CrowdImpact;
pub use crowd_contacts::{ContactSnapshot, CrowdContacts};
pub use detection::CrowdTouch;
pub use device_solver::{DeviceResponse, DeviceSolver, DeviceSubstep, SavedContacts};
pub use external_contact::{BoundContact, ContactSide, ExternalBody, ExternalContact};
pub use group_search::{GroupSearch, PairGroup, PairGrouper, PairGroups};
pub use index::{BodyIndex, MemberIndex, OwnerIndex};
pub use material::{CombineRule, ContactMaterial, ContactSolverConfig, Softness};
pub use members::{ContactMember, Exclusion};
pub use moving_body::{Dominance, MovingBody};
pub use surface::{BodyType, ContactSurface, InteractionGroups, InteractionTypes, PairResponse};
pub use touch_contact::TouchContact;
#[cfg(feature = "plugin")]
pub(crate) use touch_contact::overlapping_spheres;
#[cfg(feature = "gpu")]
pub(crate) use wake::{WAKE_OVERLAP, WAKE_SPEED};

pub use crate::force::Impulse;
