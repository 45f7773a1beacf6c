//! Where the products of a reaction of two molecules appear, and how they move.

use glam::{DMat3, DVec3, Vec3};

use crate::molecule::MoleculeTemplate;
use crate::pose::{Pose, RigidMotion};
use crate::search::{IMPACT_TOLERANCE_NM, MovingMolecule, RigidSpheres, first_impact};

/// Pose and velocity of a molecule. World frame.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoleculeMotion {
    /// Center of mass, nm, and rotation.
    pub pose: Pose,
    /// Velocity of the center of mass, nm/s.
    pub velocity: Vec3,
    /// Angular velocity, rad/s.
    pub angular_velocity: Vec3,
}

/// Where the products of a reaction appear, and how they move.
///
/// - *One product* appears at the center of mass of the reactants, with the orientation of the
///   first. It has the velocity of the center of mass, and the angular momentum of both.
/// - *Two products* take the places, orientations and velocities of the reactants. If they would
///   overlap there, they are moved apart along the line of their centers, inversely to their
///   masses.
///
/// Momentum is conserved if the mass of the products is that of the reactants.
#[must_use]
pub fn place_products(
    reactants: [(&MoleculeTemplate, MoleculeMotion); 2],
    products: &[&MoleculeTemplate],
) -> Vec<MoleculeMotion> {
    let motions = reactants.map(|(_, motion)| motion);
    match *products {
        [product] => vec![merge(reactants, product)],
        [one, other] => part([one, other], motions).to_vec(),
        _ => Vec::new(),
    }
}

/// The motion of a single product.
fn merge(
    reactants: [(&MoleculeTemplate, MoleculeMotion); 2],
    product: &MoleculeTemplate,
) -> MoleculeMotion {
    let [first, second] = reactants.map(|(_, motion)| motion.pose.position.as_dvec3());
    let masses = reactants.map(|(template, _)| f64::from(template.mass()));
    let share = masses[1] / (masses[0] + masses[1]);
    let center = first + share * (second - first);
    let [v, w] = reactants.map(|(_, motion)| motion.velocity.as_dvec3());
    let velocity = v + share * (w - v);
    let mut angular_momentum = DVec3::ZERO;
    for ((template, motion), mass) in reactants.into_iter().zip(masses) {
        let arm = motion.pose.position.as_dvec3() - center;
        let momentum = mass * (motion.velocity.as_dvec3() - velocity);
        let spin = inertia(template, &motion.pose) * motion.angular_velocity.as_dvec3();
        angular_momentum += arm.cross(momentum) + spin;
    }
    let pose = Pose::new(center.as_vec3(), reactants[0].1.pose.rotation);
    let angular_velocity = inertia(product, &pose).inverse() * angular_momentum;
    MoleculeMotion {
        pose,
        velocity: velocity.as_vec3(),
        angular_velocity: if angular_velocity.is_finite() {
            angular_velocity.as_vec3()
        } else {
            Vec3::ZERO
        },
    }
}

/// Moment of inertia in the world frame, Da·nm².
fn inertia(template: &MoleculeTemplate, pose: &Pose) -> DMat3 {
    let axes = DMat3::from_quat((pose.rotation * template.principal_axes()).as_dquat());
    axes * DMat3::from_diagonal(template.principal_inertia().as_dvec3()) * axes.transpose()
}

/// Two products at the places of the reactants, apart if they would overlap.
fn part(
    templates: [&MoleculeTemplate; 2],
    mut motions: [MoleculeMotion; 2],
) -> [MoleculeMotion; 2] {
    let [one, other] = motions.map(|motion| motion.pose);
    let direction = (other.position - one.position).normalize_or(Vec3::X);
    let reach = templates[0].bounding_radius() + templates[1].bounding_radius();
    let far = reach + IMPACT_TOLERANCE_NM as f32 - one.position.distance(other.position);
    if far <= 0.0 {
        return motions;
    }
    // The second approaches the first from afar.
    let spheres = templates.map(RigidSpheres::atoms);
    let resting = MovingMolecule::new(&spheres[0], one, RigidMotion::default());
    let start = Pose::new(other.position + far * direction, other.rotation);
    let approach = RigidMotion::translation(-far * direction);
    let moving = MovingMolecule::new(&spheres[1], start, approach);
    if let Some(impact) = first_impact(&resting, &moving, IMPACT_TOLERANCE_NM as f32) {
        let shift = far * (1.0 - impact.fraction as f32) * direction;
        let [mass, other_mass] = templates.map(MoleculeTemplate::mass);
        let share = mass / (mass + other_mass);
        motions[0].pose.position -= (1.0 - share) * shift;
        motions[1].pose.position += share * shift;
    }
    motions
}
