//! A molecule as others meet it: proxies first, then atoms.

use std::ops::ControlFlow;
use std::sync::Arc;

use crate::molecule::{LocalGrid, MoleculeTemplate};
use crate::pose::Pose;
use crate::proxy::{ProxyError, ProxySet};

/// Atoms for each proxy.
const ATOMS_PER_PROXY: usize = 24;

/// Proxies at most: all of two molecules are compared with each other.
const MOST_PROXIES: usize = 48;

/// Seed of the proxies.
const SEED: u64 = 1;

/// What proxies are taken larger by, nm: poses and proxies are rounded.
const ROUNDING_NM: f32 = 1.0e-3;

/// A molecule with its atoms in cells and in proxies.
#[derive(Clone, Debug)]
pub struct OverlapShape {
    template: Arc<MoleculeTemplate>,
    grid: LocalGrid,
    proxies: ProxySet,
}

impl OverlapShape {
    /// Builds the proxies and the cell grid of a template.
    ///
    /// # Errors
    /// [`ProxyError`] if the template has no atoms, or too many.
    pub fn new(template: Arc<MoleculeTemplate>) -> Result<Self, ProxyError> {
        let wanted = template.atom_count().div_ceil(ATOMS_PER_PROXY);
        let proxies = ProxySet::from_atoms(&*template, wanted.clamp(1, MOST_PROXIES), SEED)?;
        Ok(Self {
            grid: LocalGrid::new(template.positions(), template.radii()),
            proxies,
            template,
        })
    }

    pub(crate) fn bounding_radius(&self) -> f32 {
        self.template.bounding_radius()
    }

    /// Radius of the molecule where it is thinnest, nm: the shortest half axis of the
    /// ellipsoid that has its mass and inertia, and an atom on top.
    pub(crate) fn thickness(&self) -> f32 {
        let inertia = self.template.principal_inertia();
        // For an ellipsoid, c² = 5 (Iₐ + I_b − I_c) / (2 m); the largest I has the smallest c.
        let rest = inertia.element_sum() - 2.0 * inertia.max_element();
        let square = 2.5 * rest / self.template.mass().max(f32::MIN_POSITIVE);
        let radii = self.template.radii();
        let atom = radii.iter().sum::<f32>() / radii.len().max(1) as f32;
        square.max(0.0).sqrt() + atom
    }

    /// Whether any two atoms of two molecules overlap or touch.
    pub(crate) fn overlaps(&self, pose: &Pose, other: &Self, other_pose: &Pose) -> bool {
        self.is_within(0.0, pose, other, other_pose)
    }

    /// Whether any two atoms of two molecules are `gap` nm apart, or less.
    pub(crate) fn is_within(&self, gap: f32, pose: &Pose, other: &Self, other_pose: &Pose) -> bool {
        if self.template.atom_count() > other.template.atom_count() {
            return other.is_within(gap, other_pose, self, pose);
        }
        let rotation = other_pose.rotation.inverse();
        // This molecule as the other one sees it.
        let seen = Pose::new(
            rotation * (pose.position - other_pose.position),
            (rotation * pose.rotation).normalize(),
        );
        let far = other.bounding_radius() + gap + ROUNDING_NM;
        for (k, (&center, &radius)) in self
            .proxies
            .centers()
            .iter()
            .zip(self.proxies.radii())
            .enumerate()
        {
            let center = seen.transform_point(center);
            if center.length_squared() > (radius + far) * (radius + far) {
                continue;
            }
            let mut others = other.proxies.centers().iter().zip(other.proxies.radii());
            let near = others.any(|(place, other_radius)| {
                let reach = radius + other_radius + gap + ROUNDING_NM;
                place.distance_squared(center) <= reach * reach
            });
            if near && self.atoms_are_within(gap, k, &seen, other) {
                return true;
            }
        }
        false
    }

    /// Whether an atom of a proxy is as near to one of the other molecule.
    fn atoms_are_within(&self, gap: f32, proxy: usize, seen: &Pose, other: &Self) -> bool {
        let (positions, radii) = (self.template.positions(), self.template.radii());
        self.proxies.atoms_of(proxy).iter().any(|&atom| {
            let center = seen.transform_point(positions[atom as usize]);
            let visited = other
                .grid
                .visit_touching(center, radii[atom as usize] + gap, |_| {
                    ControlFlow::Break(())
                });
            visited.is_break()
        })
    }
}
