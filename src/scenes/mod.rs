//! Seeded scenes that examples, tests and benches share.
//!
//! A config with a seed goes in, molecules or spheres at their first places come out; some
//! scenes also move them. The same config gives the same bits on any machine with the same
//! maths library, whatever the number of threads. Lengths are nm, times s, masses Da, in the
//! world frame. What does not fit is an error, one for each kind of scene.
//!
//! | scene | what it is | where it is from |
//! |---|---|---|
//! | [`vesicle`] | lipids in two leaflets on a sphere, overlapping | Pauschenwein (2022), sections 3.2 and 4.1 |
//! | [`crowded_box`] | proteins side by side, each turned at random | |
//! | [`FallingSpheres`] | equal spheres that fall on a floor and pile up | Poirrier (2009), sections 4.2 and 6 |
//! | [`ForcedSpheres`] | spheres that random forces push about in a box | Kim, Guibas and Shin (2005), section 4.2 |
//! | [`CirculatingSpheres`] | particles that a velocity field carries round in a box | Kim, Guibas and Shin (2005), section 4.3 |
//! | [`polydisperse_spheres`] | spheres of many sizes at random places | |

mod bouncing_spheres;
mod circulating_spheres;
mod crowded_box;
mod falling_spheres;
mod forced_spheres;
mod polydisperse_spheres;
mod separation;
mod vesicle;

pub use circulating_spheres::{CirculatingSpheres, CirculatingSpheresConfig};
pub use crowded_box::{CrowdedBoxConfig, crowded_box};
pub use falling_spheres::{FallingError, FallingSpheres, STEPS_TO_FALL};
pub use forced_spheres::{ForcedSpheres, ForcedSpheresConfig};
pub use polydisperse_spheres::{RadiusDistribution, polydisperse_spheres};
pub use separation::SeparationError;
pub use vesicle::{Vesicle, VesicleConfig, VesicleError, VesicleSize, vesicle};
