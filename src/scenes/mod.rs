//! Seeded scenes, shared by examples, tests and benches.
//!
//! Each scene is built from a config with a seed; some also simulate their motion. The same
//! config gives the same bits on any machine with the same math library, for any number of
//! threads. Lengths are nm, times s, masses Da, in the world frame. Each scene has its own error
//! type for configs that do not fit.
//!
//! | scene | content | source |
//! |---|---|---|
//! | [`vesicle`] | overlapping lipids in two leaflets on a sphere, at even or random positions | Pauschenwein (2022), sections 3.2 and 4.1 |
//! | [`filled_sphere`] | molecules anywhere in a sphere: a sparse cytoplasm | Pauschenwein (2022), section 4.3 |
//! | [`crowded_box`] | densely packed proteins with random rotations | |
//! | [`FallingSpheres`] | equal spheres that fall on a floor and pile up | Poirrier (2009), sections 4.2 and 6 |
//! | [`ForcedSpheres`] | spheres in a box, driven by random forces | Kim, Guibas and Shin (2005), section 4.2 |
//! | [`CirculatingSpheres`] | particles in a box, carried by a velocity field | Kim, Guibas and Shin (2005), section 4.3 |
//! | [`polydisperse_spheres`] | spheres of many sizes at random positions | |

mod bouncing_spheres;
mod circulating_spheres;
mod crowded_box;
mod falling_spheres;
mod filled_sphere;
mod forced_spheres;
mod polydisperse_spheres;
mod vesicle;

pub use bouncing_spheres::SeparationError;
pub use circulating_spheres::{CirculatingSpheres, CirculatingSpheresConfig};
pub use crowded_box::{CrowdedBoxConfig, crowded_box};
pub use falling_spheres::{
    FallingConfig, FallingError, FallingRegion, FallingResponse, FallingSpheres,
};
pub use filled_sphere::{FilledSphereConfig, FilledSphereError, filled_sphere};
pub use forced_spheres::{ForcedSpheres, ForcedSpheresConfig};
pub use polydisperse_spheres::{RadiusDistribution, polydisperse_spheres};
pub use vesicle::{Vesicle, VesicleConfig, VesicleError, VesicleSize, VesicleStart, vesicle};
