//! Compartments as entities, and molecules that belong in them.

use bevy::prelude::*;
use bevy_rapier3d::rapier::geometry::SharedShape;

use super::prepare::PreparedMolecule;
use crate::compartment::{Belonging, Leaflet, Placement, bilayer_depth, up_and_head};
use crate::force::SpringLaw;

/// A surface or volume that holds molecules, at the entity's [`Transform`]. Lengths
/// are nm; the scale of the transform is ignored.
///
/// It acts on molecules that name it in [`InCompartment`], and is no obstacle to
/// others.
#[derive(Clone, Debug, Component, Reflect)]
#[reflect(Component, Debug, Default)]
#[require(Transform, Visibility)]
pub enum Compartment {
    /// The surface of a sphere: a vesicle.
    SphereShell {
        /// Radius, nm.
        radius: f32,
    },
    /// A box.
    Box {
        /// Half its extents, nm.
        half_extents: Vec3,
    },
    /// A capsule along y: a rod-shaped bacterium.
    Capsule {
        /// Half the distance between the centres of its ends, nm.
        half_height: f32,
        /// Radius, nm.
        radius: f32,
    },
    /// Any parry shape.
    Shape(ParryShape),
    /// The surface of a closed triangle mesh, when it is loaded.
    Mesh(Handle<Mesh>),
}

impl Default for Compartment {
    /// A sphere of 10 nm.
    fn default() -> Self {
        Self::SphereShell { radius: 10.0 }
    }
}

/// A parry shape that can be reflected.
#[derive(Clone, Debug, Reflect, Deref)]
#[reflect(opaque)]
#[reflect(Debug, Default)]
pub struct ParryShape(pub SharedShape);

impl Default for ParryShape {
    fn default() -> Self {
        Self(SharedShape::ball(1.0))
    }
}

/// Which part of a compartment a molecule belongs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Debug, Default, PartialEq)]
pub enum CompartmentPlace {
    /// In the surface, head outwards: the outer leaflet of a bilayer.
    #[default]
    OuterLeaflet,
    /// In the surface, head inwards: the inner leaflet of a bilayer.
    InnerLeaflet,
    /// Inside, any way round.
    Inside,
    /// Outside, any way round.
    Outside,
}

/// The spring that brings a molecule back.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Debug, Default, PartialEq)]
pub enum CompartmentSpring {
    /// A damped spring, stable however stiff.
    Damped {
        /// Swings a second without damping, Hz.
        frequency_hz: f32,
        /// Damping; 1 is critical.
        damping_ratio: f32,
    },
    /// The law of the thesis: undamped, as strong as the way to the centre.
    Thesis {
        /// Acceleration for each nm between molecule and centre, 1/s².
        force: f32,
        /// Angular acceleration for each radian of tilt, 1/s².
        torque: f32,
    },
}

impl Default for CompartmentSpring {
    /// Critically damped, 2 Hz.
    fn default() -> Self {
        Self::Damped {
            frequency_hz: 2.0,
            damping_ratio: 1.0,
        }
    }
}

impl CompartmentSpring {
    pub(super) fn law(self) -> SpringLaw {
        match self {
            Self::Damped {
                frequency_hz,
                damping_ratio,
            } => SpringLaw::CriticallyDamped {
                frequency_hz,
                damping_ratio,
            },
            Self::Thesis { force, torque } => SpringLaw::Thesis { force, torque },
        }
    }
}

/// Ties a molecule to a [`Compartment`]: a spring acts when it leaves its place.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     let vesicle = commands.spawn(Compartment::SphereShell { radius: 8.0 }).id();
///     commands.spawn((
///         Molecule(assets.load("molecules/popc.pdb")),
///         InCompartment::new(vesicle, CompartmentPlace::OuterLeaflet),
///         Transform::from_xyz(0.0, 9.0, 0.0),
///     ));
/// }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[reflect(Component, Debug, Default, PartialEq)]
pub struct InCompartment {
    /// The entity with the [`Compartment`].
    #[entities]
    pub compartment: Entity,
    /// Which part of it.
    pub place: CompartmentPlace,
    /// In a leaflet: how far the centre of mass may leave its depth before the spring
    /// acts, nm. Inside and outside: how close the molecule may come to the surface,
    /// nm. Default: 0.1 nm.
    pub leeway: f32,
    /// In a leaflet: how far the head may lean before the spring acts, radian.
    /// Default: 0.2.
    pub tilt_leeway: f32,
    /// In a leaflet: distance of the centre of mass from the surface, nm. Default:
    /// such that the tails of two leaflets meet.
    pub depth: Option<f32>,
    /// In a leaflet: direction from tail to head in the body frame. Default: along the
    /// longest axis to the end with the phosphorus, or the polar atoms.
    pub up: Option<Vec3>,
    /// The spring. Default: critically damped, 2 Hz.
    pub spring: CompartmentSpring,
}

impl Default for InCompartment {
    fn default() -> Self {
        Self::new(Entity::PLACEHOLDER, CompartmentPlace::default())
    }
}

impl InCompartment {
    /// A molecule in `place` of `compartment`, with the default leeways and spring.
    #[must_use]
    pub fn new(compartment: Entity, place: CompartmentPlace) -> Self {
        Self {
            compartment,
            place,
            leeway: 0.1,
            tilt_leeway: 0.2,
            depth: None,
            up: None,
            spring: CompartmentSpring::default(),
        }
    }

    /// Where the molecule belongs, from what is given and what its atoms say.
    pub(super) fn belonging(&self, prepared: &PreparedMolecule) -> Belonging {
        let template = prepared.shared().template();
        let margin = self.leeway + template.bounding_radius();
        let leaflet = match self.place {
            CompartmentPlace::Inside => return Belonging::Inside { margin },
            CompartmentPlace::Outside => return Belonging::Outside { margin },
            CompartmentPlace::OuterLeaflet => Leaflet::Outer,
            CompartmentPlace::InnerLeaflet => Leaflet::Inner,
        };
        Belonging::Surface(Placement {
            leaflet,
            depth: self.depth.unwrap_or_else(|| bilayer_depth(template)),
            up: self.up.unwrap_or_else(|| up_and_head(template).0),
            leeway: self.leeway,
            tilt_leeway: self.tilt_leeway,
        })
    }
}
