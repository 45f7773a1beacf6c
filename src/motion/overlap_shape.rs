//! Overlap tests between molecules, at rest and in motion.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::molecule::{LocalGrid, MoleculeTemplate};
use crate::pose::Pose;
use crate::proxy::{ProxyError, ProxySet};
use crate::search::RigidSpheres;

/// Target number of atoms per proxy.
const ATOMS_PER_PROXY: usize = 24;

/// Maximum number of proxies: all proxies of two molecules are compared with each other.
const MAX_PROXIES: usize = 48;

/// Seed of the proxy clustering.
const SEED: u64 = 1;

/// Margin of the proxy tests for the rounding of poses and proxies, nm.
const ROUNDING_NM: f32 = 1.0e-3;

/// The atoms of a molecule in a cell grid and in proxies for overlap tests, and in clusters for
/// tests in motion.
#[derive(Clone, Debug)]
pub struct OverlapShape {
    template: Arc<MoleculeTemplate>,
    grid: LocalGrid,
    proxies: ProxySet,
    spheres: RigidSpheres,
}

impl OverlapShape {
    /// Builds the cell grid, the proxies and the clusters of a template.
    ///
    /// # Errors
    /// [`ProxyError`] if the template has no atoms, or too many.
    pub fn new(template: Arc<MoleculeTemplate>) -> Result<Self, ProxyError> {
        let count = template.atom_count().div_ceil(ATOMS_PER_PROXY);
        let proxies = ProxySet::from_atoms(&*template, count.clamp(1, MAX_PROXIES), SEED)?;
        Ok(Self {
            grid: LocalGrid::new(template.positions(), template.radii()),
            proxies,
            spheres: RigidSpheres::atoms(&template),
            template,
        })
    }

    /// The atoms, for a [`MovingMolecule`](crate::search::MovingMolecule).
    pub(crate) fn spheres(&self) -> &RigidSpheres {
        &self.spheres
    }

    pub(crate) fn bounding_radius(&self) -> f32 {
        self.template.bounding_radius()
    }

    /// Radius of the molecule where it is thinnest, nm: the shortest semi-axis of the
    /// ellipsoid with its mass and inertia, plus the mean radius of an atom.
    pub(crate) fn thickness(&self) -> f32 {
        let inertia = self.template.principal_inertia();
        // For an ellipsoid, c² = 5 (Iₐ + I_b − I_c) / (2 m); the largest I has the smallest c.
        let difference = inertia.element_sum() - 2.0 * inertia.max_element();
        let square = 2.5 * difference / self.template.mass().max(f32::MIN_POSITIVE);
        let radii = self.template.radii();
        let atom = radii.iter().sum::<f32>() / radii.len().max(1) as f32;
        square.max(0.0).sqrt() + atom
    }

    /// Whether any two atoms of the molecules are at most `gap` nm apart.
    pub(crate) fn is_within(&self, gap: f32, pose: &Pose, other: &Self, other_pose: &Pose) -> bool {
        if self.template.atom_count() > other.template.atom_count() {
            return other.is_within(gap, other_pose, self, pose);
        }
        // The pose of this molecule in the frame of the other.
        let rotation = other_pose.rotation.inverse();
        let relative = Pose::new(
            rotation * (pose.position - other_pose.position),
            (rotation * pose.rotation).normalize(),
        );
        let max_distance = other.bounding_radius() + gap + ROUNDING_NM;
        let proxies = self.proxies.centers().iter().zip(self.proxies.radii());
        for (proxy, (&center, &radius)) in proxies.enumerate() {
            let center = relative.transform_point(center);
            if center.length_squared() > (radius + max_distance) * (radius + max_distance) {
                continue;
            }
            let mut others = other.proxies.centers().iter().zip(other.proxies.radii());
            let is_near = others.any(|(other_center, other_radius)| {
                let reach = radius + other_radius + gap + ROUNDING_NM;
                other_center.distance_squared(center) <= reach * reach
            });
            if is_near && self.proxy_atoms_are_within(gap, proxy, &relative, other) {
                return true;
            }
        }
        false
    }

    /// Whether an atom of a proxy is at most `gap` nm from an atom of the other molecule.
    fn proxy_atoms_are_within(
        &self,
        gap: f32,
        proxy: usize,
        relative: &Pose,
        other: &Self,
    ) -> bool {
        let (positions, radii) = (self.template.positions(), self.template.radii());
        self.proxies.atoms_of(proxy).iter().any(|&atom| {
            let center = relative.transform_point(positions[atom as usize]);
            let reach = radii[atom as usize] + gap;
            let visited = other
                .grid
                .visit_touching(center, reach, |_| ControlFlow::Break(()));
            visited.is_break()
        })
    }
}
