//! Rules: where the molecules of an entry are relative to others.

use schemars::JsonSchema;
use serde::Deserialize;

/// Where the molecules of an entry are relative to others. Lengths are in the unit of the recipe.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RuleFile {
    /// Touching the atoms of other molecules, with `up` of the object, if it is given, along the
    /// normal of their surface.
    OnSurfaceOf {
        /// Name of an entry of the composition or of an object.
        of: String,
        /// Number of molecules at each of the others, instead of `count`.
        #[serde(default)]
        per_instance: Option<u32>,
    },
    /// The center of mass within a range of distances from that of one of the other molecules.
    DistanceFrom {
        /// Name of an entry of the composition or of an object.
        of: String,
        /// Least distance. Default: 0.
        #[serde(default)]
        min: Option<f64>,
        /// Largest distance.
        max: f64,
    },
    /// One molecule at each of the others, or as many as `count`: sites and axes coincide.
    AttachedTo {
        /// Name of an entry of the composition or of an object.
        to: String,
        /// Site in the frame of the structure file of the other molecule.
        site: [f64; 3],
        /// Direction out of the other molecule. Default: from its center of mass to the site.
        #[serde(default)]
        axis: Option<[f64; 3]>,
        /// Site in the frame of the own structure file. Default: the center of mass.
        #[serde(default)]
        own_site: Option<[f64; 3]>,
        /// Own direction that is put along `axis`. Default: from the own site to the center of
        /// mass, or any if the site is the center.
        #[serde(default)]
        own_axis: Option<[f64; 3]>,
    },
    /// Beside fibers, with `up` of the object, if it is given, away from the axis.
    Along {
        /// Name of an entry of the composition or of an object: the fibers.
        fiber: String,
        /// Number of links from one molecule to the next.
        #[serde(default)]
        every: Option<u32>,
        /// Length of the fiber from one molecule to the next, instead of `every`.
        #[serde(default)]
        spacing: Option<f64>,
        /// Distance of the center of mass from the axis. Default: the molecule touches the fiber.
        #[serde(default)]
        distance: Option<f64>,
        /// Angle of the first molecule about the axis, radian. Default: 0 with `turn`, else random
        /// for each molecule.
        #[serde(default)]
        angle: Option<f64>,
        /// Rotation about the axis from one molecule to the next, radian. Default: 0 with `angle`.
        #[serde(default)]
        turn: Option<f64>,
    },
    /// As many molecules as there is room for in the region.
    Fill {
        /// Number of random places without room after which it ends.
        failures: u32,
    },
}
