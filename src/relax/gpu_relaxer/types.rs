//! Structs of the relaxer that Rust and WGSL share.

use bytemuck::{Pod, Zeroable};

use super::super::contact_sums::MIN_CENTER_WEIGHT;
use super::super::{CountedSpheres, DeviceScene, ReactionLaw, RelaxStatus};
use crate::backend::DeviceError;
use crate::crowd::{Crowd, CrowdPlacement};
use crate::force::{Projection, Push, ThesisSteps};
use crate::gpu::GpuSumMax;
use crate::gpu::shader_constants::{NO_PLACEMENT, PROJECTION_LAW};

/// The law of a relaxation; `LawParams` in WGSL. Parameters of the other law are zero.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuLawParams {
    /// Number of molecules.
    pub molecules: u32,
    /// Which law.
    pub law: u32,
    /// Gap to which contacts are pushed apart, nm.
    pub gap: f32,
    /// Gap from which a pair is resolved, nm.
    pub clearance: f32,
    /// Weight of the direction between centers.
    pub center_weight: f32,
    /// Projection: over-relaxation.
    pub relaxation: f32,
    /// Projection: fraction of the last push added to the next (heavy-ball momentum).
    pub momentum: f32,
    /// Projection: maximum shift, nm.
    pub max_shift: f32,
    /// Projection: maximum rotation, radian.
    pub max_turn: f32,
    /// Projection: fraction of an excess that a spring corrects.
    pub spring: f32,
    /// Thesis: scale of the reaction force, nm³.
    pub force: f32,
    /// Thesis: scale of the reaction torque, 1/nm.
    pub torque: f32,
    /// Thesis: scale of the spring force.
    pub spring_force: f32,
    /// Thesis: scale of the spring torque.
    pub spring_torque: f32,
    /// Always 0, opaque to the shader compiler.
    pub zero: u32,
}

impl GpuLawParams {
    pub(super) fn new(scene: &DeviceScene<'_>) -> Self {
        let common = Self {
            molecules: scene.order.len() as u32,
            gap: scene.gap,
            clearance: scene.config.clearance,
            ..Self::default()
        };
        match scene.config.law {
            ReactionLaw::Projection(Projection {
                momentum,
                relaxation,
                max_shift,
                max_turn,
                spring,
                ..
            }) => Self {
                law: PROJECTION_LAW,
                relaxation,
                momentum,
                max_shift,
                max_turn,
                spring,
                ..common
            },
            ReactionLaw::Thesis(ThesisSteps {
                force,
                torque,
                spring_force,
                spring_torque,
            }) => Self {
                force,
                torque,
                spring_force,
                spring_torque,
                ..common
            },
        }
    }

    /// The same with another weight of the direction between centers, at least
    /// [`MIN_CENTER_WEIGHT`].
    pub(super) fn with_center_weight(self, weight: f32) -> Self {
        Self {
            center_weight: weight.max(MIN_CENTER_WEIGHT),
            ..self
        }
    }
}

/// Mass, inertia and placement of a molecule; `Molecule` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuMolecule {
    /// Inverse principal inertia, 1/(Da·nm²).
    pub inverse_inertia: [f32; 3],
    /// Inverse mass, 1/Da.
    pub inverse_mass: f32,
    /// Rotation of the principal axes in the body frame.
    pub principal_axes: [f32; 4],
    /// Index of its placement, or `u32::MAX` if it has none.
    pub placement: u32,
    /// Padding.
    pub spare: [u32; 3],
}

/// A placement relative to a spherical compartment; `Placement` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuPlacement {
    /// Center of the sphere, nm.
    pub center: [f32; 3],
    /// Its radius, nm.
    pub radius: f32,
    /// Unit vector in the body frame that points from tail to head.
    pub up: [f32; 3],
    /// Target distance of the center of mass from the sphere along its outward normal, nm.
    pub offset: f32,
    /// +1 if the head points outward, −1 if inward.
    pub sign: f32,
    /// Maximum deviation of the center of mass from `offset`, nm.
    pub leeway: f32,
    /// Maximum angle between `up` and the normal, radian.
    pub tilt_leeway: f32,
    /// Padding.
    pub spare: f32,
}

/// Inverse mass and inverse world inertia of a molecule; `Body` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuBody {
    /// Center of mass in the world, nm.
    pub center: [f32; 3],
    /// Inverse mass, 1/Da.
    pub inverse_mass: f32,
    /// Columns of the inverse inertia tensor in the world frame, 1/(Da·nm²).
    pub inverse_inertia: [[f32; 4]; 3],
}

/// Shift and rotation of a molecule in one iteration; `Push` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuPush {
    /// Shift, nm.
    pub linear: [f32; 3],
    /// Number of contacts in a sum of contacts, else 0.
    pub contacts: f32,
    /// Rotation vector in the world frame, radian.
    pub angular: [f32; 3],
    /// Padding.
    pub spare: f32,
}

impl From<GpuPush> for Push {
    fn from(push: GpuPush) -> Self {
        Self {
            linear: push.linear.into(),
            angular: push.angular.into(),
        }
    }
}

impl From<Push> for GpuPush {
    fn from(push: Push) -> Self {
        Self {
            linear: push.linear.into(),
            angular: push.angular.into(),
            ..Self::default()
        }
    }
}

/// Spheres that a dispatch compares by brute force; `ContactBatch` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuContactBatch {
    /// First sphere whose contacts are summed.
    pub first_sphere: u32,
    /// End of these spheres.
    pub end_sphere: u32,
    /// First sphere that they are compared with.
    pub first_other: u32,
    /// End of those.
    pub end_other: u32,
}

/// Counters that are read back after an iteration; `RelaxCounters` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuRelaxCounters {
    /// Pairs of atoms that overlap, lower half.
    pub overlaps: u32,
    /// Upper half.
    pub overlaps_high: u32,
    /// Pairs with a gap below the clearance, lower half.
    pub unresolved: u32,
    /// Upper half.
    pub unresolved_high: u32,
    /// Bits of the maximum penetration, nm.
    pub deepest: u32,
    /// Molecules that exceed their leeway.
    pub out_of_place: u32,
    /// `u32::MAX` minus the first molecule that would move out of range; 0 if there is none.
    pub diverged: u32,
    /// Padding.
    pub spare: u32,
}

/// Counters and cell occupancy, read back together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub(super) struct StepResult {
    pub(super) counters: GpuRelaxCounters,
    pub(super) occupancy: GpuSumMax,
}

impl GpuRelaxCounters {
    pub(super) fn status(&self) -> RelaxStatus {
        let joined = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        RelaxStatus {
            overlaps: joined(self.overlaps_high, self.overlaps),
            unresolved: joined(self.unresolved_high, self.unresolved),
            max_penetration_nm: f32::from_bits(self.deepest),
            out_of_place: self.out_of_place.into(),
            spheres: CountedSpheres::Atoms,
            // The CPU relaxes crowds with joints.
            strained_joints: 0,
        }
    }

    /// The first owner that would move out of range.
    pub(super) fn diverged(&self) -> Option<u32> {
        (self.diverged != 0).then(|| u32::MAX - self.diverged)
    }
}

/// Mass, inertia and placement of each owner.
pub(super) fn molecules(scene: &DeviceScene<'_>) -> Vec<GpuMolecule> {
    let members = scene.crowd.members();
    let table = scene.order.iter().map(|&member| {
        let member = &members[member as usize];
        let template = scene.crowd.template_of(member);
        GpuMolecule {
            inverse_inertia: template.principal_inertia().recip().to_array(),
            inverse_mass: template.mass().recip(),
            principal_axes: template.principal_axes().to_array(),
            placement: member.placement.unwrap_or(NO_PLACEMENT),
            spare: [0; 3],
        }
    });
    table.collect()
}

/// All placements, if they are in the surfaces of spheres.
pub(super) fn placements(crowd: &Crowd) -> Result<Vec<GpuPlacement>, DeviceError> {
    let convert = |place: &CrowdPlacement| {
        let surface = &crowd.compartments()[place.compartment as usize];
        let (center, radius) = surface.as_sphere().ok_or(DeviceError::Unsupported {
            feature: "a compartment other than a sphere",
        })?;
        let placement = place.confinement.placement();
        let placement = placement.ok_or(DeviceError::Unsupported {
            feature: "a molecule inside or outside a compartment",
        })?;
        Ok(GpuPlacement {
            center: center.to_array(),
            radius,
            up: placement.up.to_array(),
            offset: placement.offset(),
            sign: placement.leaflet.sign(),
            leeway: placement.leeway,
            tilt_leeway: placement.tilt_leeway,
            spare: 0.0,
        })
    };
    crowd.placements().iter().map(convert).collect()
}
