//! Compartments as entities, and molecules that belong in them.

use bevy::prelude::*;
use bevy_rapier3d::rapier::geometry::SharedShape;

use super::prepared_molecule::PreparedMolecule;
use crate::compartment::{Confinement, Leaflet, Placement, bilayer_depth, up_and_head};
use crate::force::SpringLaw;

/// A surface or volume that holds molecules, at the entity's [`Transform`]. Lengths
/// are nm, in the frame of the entity; the scale of the transform is ignored.
///
/// It acts on molecules that name it in [`InCompartment`], and is no obstacle to
/// others. A compartment that cannot be, because a length is not positive or a mesh is not
/// closed, holds nothing, and the log says why. Default: a sphere of 10 nm.
#[derive(Clone, Debug, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
#[require(Transform, Visibility)]
#[non_exhaustive]
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
        /// Half the distance between the centers of its ends, nm.
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

/// A parry shape that can be reflected. Default: a ball of 1 nm.
#[derive(Clone, Debug, Reflect, Deref)]
#[reflect(opaque)]
#[reflect(Clone, Debug, Default)]
pub struct ParryShape(pub SharedShape);

impl Default for ParryShape {
    fn default() -> Self {
        Self(SharedShape::ball(1.0))
    }
}

/// Which part of a compartment a molecule belongs in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum CompartmentRegion {
    /// In the surface, head outwards: the outer leaflet of a bilayer. Default.
    #[default]
    OuterLeaflet,
    /// In the surface, head inwards: the inner leaflet of a bilayer.
    InnerLeaflet,
    /// Inside, any way round.
    Inside,
    /// Outside, any way round.
    Outside,
}

/// Ties a molecule to a [`Compartment`]: a spring acts when it leaves its place (section 4.3
/// of the thesis, and a damped one of ours).
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut app = App::new();
/// # app.add_plugins((
/// #     MinimalPlugins,
/// #     TransformPlugin,
/// #     RapierPhysicsPlugin::<NoUserData>::default(),
/// #     MoleculePlugins::default().with_backend(Backend::Cpu),
/// # ));
/// # app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 60.0, substeps: 2 });
/// # app.finish();
/// # app.cleanup();
/// # let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// # let lipid = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>().add(lipid);
/// let world = app.world_mut();
/// let vesicle = world.spawn(Compartment::SphereShell { radius: 8.0 }).id();
/// // A lipid far outside of its leaflet.
/// let lipid = world.spawn((
///     Molecule(lipid),
///     GravityScale(0.0),
///     InCompartment {
///         depth: Some(1.0),
///         ..InCompartment::new(vesicle, CompartmentRegion::OuterLeaflet)
///     },
///     Transform::from_xyz(0.0, 12.0, 0.0),
/// ));
/// let lipid = lipid.id();
/// for _ in 0..60 {
///     app.update();
/// }
/// // A second later it is back, within its leeway.
/// let place = app.world().get::<Transform>(lipid).ok_or("it is gone")?.translation;
/// assert!((place.length() - 9.0).abs() < 0.15, "{place}");
/// # Ok(())
/// # }
/// ```
///
/// A molecule whose compartment is gone floats free, and the log says so.
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct InCompartment {
    /// The entity with the [`Compartment`]. Default: a placeholder, which holds nothing.
    #[entities]
    pub compartment: Entity,
    /// Which part of it. Default: the outer leaflet.
    pub place: CompartmentRegion,
    /// In a leaflet: how far the center of mass may leave its depth before the spring
    /// acts, nm. Inside and outside: how close the molecule may come to the surface,
    /// nm. Default: 0.1 nm.
    pub leeway: f32,
    /// In a leaflet: how far the head may lean before the spring acts, radian.
    /// Default: 0.2.
    pub tilt_leeway: f32,
    /// In a leaflet: distance of the center of mass from the surface, nm. Default:
    /// such that the tails of two leaflets meet.
    pub depth: Option<f32>,
    /// In a leaflet: direction from tail to head in the body frame. Default: along the
    /// longest axis to the end with the phosphorus, or the polar atoms.
    pub up: Option<Vec3>,
    /// The spring. Default: critically damped, 2 Hz.
    pub spring: SpringLaw,
}

impl Default for InCompartment {
    fn default() -> Self {
        Self::new(Entity::PLACEHOLDER, CompartmentRegion::default())
    }
}

impl InCompartment {
    /// A molecule in `place` of `compartment`, with the default leeways and spring.
    #[must_use]
    pub fn new(compartment: Entity, place: CompartmentRegion) -> Self {
        Self {
            compartment,
            place,
            leeway: 0.1,
            tilt_leeway: 0.2,
            depth: None,
            up: None,
            spring: SpringLaw::default(),
        }
    }

    /// Where the molecule belongs, from what is given and what its atoms say.
    pub(super) fn belonging(&self, prepared: &PreparedMolecule) -> Confinement {
        let template = prepared.shared().template();
        let distance = self.leeway + template.bounding_radius();
        let leaflet = match self.place {
            CompartmentRegion::Inside => return Confinement::Inside { distance },
            CompartmentRegion::Outside => return Confinement::Outside { distance },
            CompartmentRegion::OuterLeaflet => Leaflet::Outer,
            CompartmentRegion::InnerLeaflet => Leaflet::Inner,
        };
        Confinement::Surface(Placement {
            leaflet,
            depth: self.depth.unwrap_or_else(|| bilayer_depth(template)),
            up: self.up.unwrap_or_else(|| up_and_head(template).0),
            leeway: self.leeway,
            tilt_leeway: self.tilt_leeway,
        })
    }
}
