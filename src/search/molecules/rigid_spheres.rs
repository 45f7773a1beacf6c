//! The spheres of a rigid molecule, and the clusters in which they are compared.

use std::fmt;

use glam::{Mat3, Vec3};

use super::wide::LANES;
use crate::molecule::{BodySpheres, MoleculeTemplate};
use crate::proxy::ProxySet;
use crate::spheres::SphereError;

/// Spheres per cluster.
pub(crate) const CLUSTER: usize = LANES;

/// Clusters per region.
pub(super) const CLUSTERS_PER_REGION: usize = 16;

/// Largest number of spheres of a molecule whose box is computed from its spheres instead of its
/// clusters.
const MAX_BOXED_SPHERES: usize = 256;

/// Coordinate of the unused places of a cluster, nm: out of reach, and its square is finite.
const FAR_NM: f32 = 1.0e15;

/// The collision spheres of a rigid molecule in its body frame, shared by all molecules of its
/// kind.
///
/// Neighboring spheres are grouped into clusters of 16 once, when the molecule is created.
/// Searches compare clusters first.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::search::RigidSpheres;
///
/// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
/// assert_eq!(RigidSpheres::atoms(&protein).len(), 602);
/// assert_eq!(RigidSpheres::residues(&protein).len(), 76);
/// assert_eq!(RigidSpheres::whole(&protein).radii(), [protein.bounding_radius()]);
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
#[derive(Clone, Default, PartialEq)]
pub struct RigidSpheres {
    centers: Vec<Vec3>,
    radii: Vec<f32>,
    /// Largest distance of a surface from the origin of the body frame, nm.
    bounding_radius: f32,
    /// Smallest radius, nm.
    smallest_radius: f32,
    pub(super) clusters: Vec<Cluster>,
    pub(super) bounds: ClusterBounds,
    /// Spheres (center, radius, nm) that enclose [`CLUSTERS_PER_REGION`] clusters each.
    pub(super) regions: Vec<(Vec3, f32)>,
}

/// Up to [`CLUSTER`] neighboring spheres, in the body frame; unused places are out of reach.
#[derive(Clone, Debug, PartialEq)]
#[repr(C, align(64))]
pub(super) struct Cluster {
    pub x: [f32; CLUSTER],
    pub y: [f32; CLUSTER],
    pub z: [f32; CLUSTER],
    pub radius: [f32; CLUSTER],
    /// Index of each sphere in the molecule.
    pub index: [u32; CLUSTER],
    /// Number of spheres.
    pub len: u32,
}

/// Spheres that enclose the clusters.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct ClusterBounds {
    pub blocks: Vec<BoundsBlock>,
    pub largest_radius: f32,
}

/// Spheres that enclose as many clusters as there are lanes; unused places are out of reach.
#[derive(Clone, Copy, Debug, PartialEq)]
#[repr(C, align(64))]
pub(super) struct BoundsBlock {
    pub x: [f32; LANES],
    pub y: [f32; LANES],
    pub z: [f32; LANES],
    pub radius: [f32; LANES],
}

impl BoundsBlock {
    const UNUSED: Self = Self {
        x: [FAR_NM; LANES],
        y: [FAR_NM; LANES],
        z: [FAR_NM; LANES],
        radius: [0.0; LANES],
    };

    pub fn center(&self, lane: usize) -> Vec3 {
        Vec3::new(self.x[lane], self.y[lane], self.z[lane])
    }
}

impl ClusterBounds {
    fn new(spheres: &[(Vec3, f32)]) -> Self {
        let mut bounds = Self::default();
        bounds.resize(spheres.len());
        for (k, &(center, radius)) in spheres.iter().enumerate() {
            bounds.set(k, center, radius);
            bounds.largest_radius = bounds.largest_radius.max(radius);
        }
        bounds
    }

    /// Makes space for the bounds of `clusters` clusters.
    pub fn resize(&mut self, clusters: usize) {
        let blocks = clusters.div_ceil(LANES);
        self.blocks.resize(blocks, BoundsBlock::UNUSED);
    }

    #[inline]
    pub fn get(&self, cluster: usize) -> (Vec3, f32) {
        let (block, lane) = (&self.blocks[cluster / LANES], cluster % LANES);
        (block.center(lane), block.radius[lane])
    }

    #[inline]
    pub fn set(&mut self, cluster: usize, center: Vec3, radius: f32) {
        let (block, lane) = (&mut self.blocks[cluster / LANES], cluster % LANES);
        (block.x[lane], block.y[lane], block.z[lane]) = center.into();
        block.radius[lane] = radius;
    }

    /// Puts a place out of reach.
    #[inline]
    pub fn set_unused(&mut self, cluster: usize) {
        self.set(cluster, Vec3::splat(FAR_NM), 0.0);
    }
}

impl RigidSpheres {
    /// Spheres with these centers and radii, nm.
    ///
    /// # Errors
    /// [`SphereError`] names the first sphere that is not finite or has a negative radius.
    pub fn new(spheres: impl IntoIterator<Item = (Vec3, f32)>) -> Result<Self, SphereError> {
        let (centers, radii): (Vec<Vec3>, Vec<f32>) = spheres.into_iter().unzip();
        for (index, (&center, &radius)) in centers.iter().zip(&radii).enumerate() {
            crate::spheres::check_sphere(index, center, radius)?;
        }
        if centers.len() >= u32::MAX as usize {
            return Err(SphereError::TooMany {
                count: centers.len(),
            });
        }
        Ok(Self::from_valid(centers, radii))
    }

    fn from_valid(centers: Vec<Vec3>, radii: Vec<f32>) -> Self {
        let reaches = centers.iter().zip(&radii);
        let bounding_radius = reaches.fold(0.0, |reach: f32, (center, radius)| {
            reach.max(center.length() + radius)
        });
        let smallest_radius = radii.iter().copied().reduce(f32::min).unwrap_or(0.0);
        let mut order: Vec<u32> = (0..centers.len() as u32).collect();
        let mut clusters = Vec::with_capacity(centers.len().div_ceil(CLUSTER));
        let mut bounds = Vec::with_capacity(clusters.capacity());
        split(&mut order, &centers, &mut |members| {
            let (cluster, center, radius) = Cluster::new(members, &centers, &radii);
            clusters.push(cluster);
            bounds.push((center, radius));
        });
        let regions = bounds.chunks(CLUSTERS_PER_REGION);
        Self {
            centers,
            radii,
            bounding_radius,
            smallest_radius,
            clusters,
            regions: regions.map(enclosing_sphere).collect(),
            bounds: ClusterBounds::new(&bounds),
        }
    }

    /// One sphere per atom.
    #[must_use]
    pub fn atoms(template: &MoleculeTemplate) -> Self {
        Self::from_valid(template.positions().to_vec(), template.radii().to_vec())
    }

    /// One sphere per residue that encloses its atoms.
    #[must_use]
    pub fn residues(template: &MoleculeTemplate) -> Self {
        let (mut centers, mut radii) = (Vec::new(), Vec::new());
        let (mut positions, mut atom_radii) = (template.positions(), template.radii());
        for residue in template.residue_indices().chunk_by(|a, b| a == b) {
            let positions = positions.split_off(..residue.len()).unwrap_or_default();
            let atom_radii = atom_radii.split_off(..residue.len()).unwrap_or_default();
            let center = positions.iter().sum::<Vec3>() / positions.len() as f32;
            let reaches = positions.iter().zip(atom_radii);
            centers.push(center);
            radii.push(reaches.fold(0.0, |reach: f32, (position, radius)| {
                reach.max(position.distance(center) + radius)
            }));
        }
        Self::from_valid(centers, radii)
    }

    /// The proxies of a molecule.
    #[must_use]
    pub fn proxies(proxies: &ProxySet) -> Self {
        Self::from_valid(proxies.centers().to_vec(), proxies.radii().to_vec())
    }

    /// One sphere that encloses the molecule.
    #[must_use]
    pub fn whole(template: &MoleculeTemplate) -> Self {
        if template.atom_count() == 0 {
            return Self::default();
        }
        Self::from_valid(vec![Vec3::ZERO], vec![template.bounding_radius()])
    }

    /// Centers in the body frame, nm.
    #[must_use]
    pub fn centers(&self) -> &[Vec3] {
        &self.centers
    }

    /// Radii, nm.
    #[must_use]
    pub fn radii(&self) -> &[f32] {
        &self.radii
    }

    /// Number of spheres.
    #[must_use]
    pub fn len(&self) -> usize {
        self.centers.len()
    }

    /// Whether there are no spheres.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.centers.is_empty()
    }

    /// Largest distance of a surface from the origin of the body frame, nm.
    #[must_use]
    pub fn bounding_radius(&self) -> f32 {
        self.bounding_radius
    }

    /// Smallest radius, nm; zero if there are no spheres.
    #[must_use]
    pub fn smallest_radius(&self) -> f32 {
        self.smallest_radius
    }

    /// The clusters: the sphere that encloses each (center, radius, nm), and the indices of its
    /// spheres.
    #[cfg(feature = "gpu")]
    pub(crate) fn clusters(&self) -> impl ExactSizeIterator<Item = (Vec3, f32, &[u32])> {
        self.clusters.iter().enumerate().map(|(index, cluster)| {
            let (center, radius) = self.bounds.get(index);
            (center, radius, &cluster.index[..cluster.len as usize])
        })
    }

    /// Corners of a box around the rotated molecule, nm.
    pub(super) fn rotated_box(&self, rotation: &Mat3) -> (Vec3, Vec3) {
        let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
        if self.len() <= MAX_BOXED_SPHERES {
            for (&center, &radius) in self.centers.iter().zip(&self.radii) {
                let center = *rotation * center;
                low = low.min(center - radius);
                high = high.max(center + radius);
            }
            return if self.is_empty() {
                (Vec3::ZERO, Vec3::ZERO)
            } else {
                (low, high)
            };
        }
        for cluster in 0..self.clusters.len() {
            let (center, radius) = self.bounds.get(cluster);
            let center = *rotation * center;
            low = low.min(center - radius);
            high = high.max(center + radius);
        }
        // Clusters reach further than the molecule where they are few.
        let reach = Vec3::splat(self.bounding_radius);
        (low.clamp(-reach, reach), high.clamp(-reach, reach))
    }
}

impl fmt::Debug for RigidSpheres {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RigidSpheres")
            .field("spheres", &self.len())
            .field("clusters", &self.clusters.len())
            .field("bounding_radius", &self.bounding_radius)
            .finish()
    }
}

impl<'a> From<&'a RigidSpheres> for BodySpheres<'a> {
    fn from(spheres: &'a RigidSpheres) -> Self {
        Self {
            centers: &spheres.centers,
            radii: &spheres.radii,
        }
    }
}

impl Cluster {
    /// The cluster of the spheres `members`, and the sphere that encloses it.
    fn new(members: &[u32], centers: &[Vec3], radii: &[f32]) -> (Self, Vec3, f32) {
        let mut cluster = Self {
            x: [FAR_NM; CLUSTER],
            y: [FAR_NM; CLUSTER],
            z: [FAR_NM; CLUSTER],
            radius: [0.0; CLUSTER],
            index: [0; CLUSTER],
            len: members.len() as u32,
        };
        let mut spheres = [(Vec3::ZERO, 0.0); CLUSTER];
        for (k, &member) in members.iter().enumerate() {
            let (center, radius) = (centers[member as usize], radii[member as usize]);
            (cluster.x[k], cluster.y[k], cluster.z[k]) = center.into();
            (cluster.radius[k], cluster.index[k]) = (radius, member);
            spheres[k] = (center, radius);
        }
        let (center, radius) = enclosing_sphere(&spheres[..members.len()]);
        (cluster, center, radius)
    }

    pub fn center(&self, sphere: usize) -> Vec3 {
        Vec3::new(self.x[sphere], self.y[sphere], self.z[sphere])
    }
}

/// A sphere that encloses others, around the middle of their box.
fn enclosing_sphere(spheres: &[(Vec3, f32)]) -> (Vec3, f32) {
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &(center, radius) in spheres {
        low = low.min(center - radius);
        high = high.max(center + radius);
    }
    let middle = 0.5 * (low + high);
    let reach = spheres.iter().fold(0.0, |reach: f32, (center, radius)| {
        reach.max(middle.distance(*center) + radius)
    });
    // Rounding must not exclude a sphere.
    (middle, reach * (1.0 + 4.0 * f32::EPSILON))
}

/// Splits the spheres at medians along their longest axis, and calls `cluster` for each part of at
/// most [`CLUSTER`]. Parts are full where possible.
fn split(members: &mut [u32], centers: &[Vec3], cluster: &mut impl FnMut(&[u32])) {
    if members.len() <= CLUSTER {
        if !members.is_empty() {
            cluster(members);
        }
        return;
    }
    let (mut low, mut high) = (Vec3::INFINITY, Vec3::NEG_INFINITY);
    for &member in &*members {
        low = low.min(centers[member as usize]);
        high = high.max(centers[member as usize]);
    }
    let axis = (high - low).max_position();
    let full = members.len().div_ceil(CLUSTER);
    let middle = full / 2 * CLUSTER;
    members.select_nth_unstable_by(middle, |&one, &other| {
        let [one_at, other_at] = [one, other].map(|k| centers[k as usize][axis]);
        one_at.total_cmp(&other_at).then(one.cmp(&other))
    });
    let (left, right) = members.split_at_mut(middle);
    split(left, centers, cluster);
    split(right, centers, cluster);
}
