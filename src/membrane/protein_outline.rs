//! [`ProteinOutline`]: what a protein takes of one leaflet; [`PlacedOutlines`]: all of them in a
//! leaflet, found by point.

use std::collections::HashMap;

use glam::{IVec3, Vec2, Vec3};

use super::{CrossSection, CrossSectionConfig, MembraneError, MembraneProtein};
use crate::pose::Pose;

/// Distance of a point from the foot of a protein, in units of the in-plane distance, up to which
/// it counts: on a sphere, the chord to a point 90° away.
const NEAR: f32 = std::f32::consts::SQRT_2;

/// The part of a leaflet that a protein takes: its cross-section, with or without pores.
#[derive(Clone, Debug)]
pub(super) struct ProteinOutline {
    section: CrossSection,
    keep_pore_empty: bool,
    edge: Vec<Vec2>,
    /// Radius about the axis through the center of mass, nm.
    pub radius: f32,
    /// Area that is not left to lipids, nm².
    pub area: f32,
}

impl ProteinOutline {
    /// The outline of the atoms between two heights above the mid-surface, nm.
    pub fn new(
        protein: &MembraneProtein,
        [low, high]: [f32; 2],
        keep_pore_empty: bool,
    ) -> Result<Self, MembraneError> {
        let config = CrossSectionConfig {
            low,
            high,
            ..CrossSectionConfig::default()
        };
        let section = CrossSection::new(protein, &config)?;
        let pores = if keep_pore_empty {
            0.0
        } else {
            section.pore_area()
        };
        Ok(Self {
            keep_pore_empty,
            edge: section.edge(keep_pore_empty),
            radius: section.bounding_radius(),
            area: section.area() - pores,
            section,
        })
    }

    /// Whether a point of the plane belongs to the protein.
    fn contains(&self, point: Vec2) -> bool {
        self.section.contains(point) && (self.keep_pore_empty || !self.section.is_pore(point))
    }

    /// In-plane coordinates (nm) of a world point.
    fn in_plane(&self, pose: &Pose, point: Vec3) -> Vec2 {
        self.section.in_plane(pose, point)
    }

    /// Distance of a point of the plane from the edge, nm; infinite without an edge.
    fn distance_from_edge(&self, point: Vec2) -> f32 {
        let edge = self.edge.iter();
        let squared = edge.map(|pixel| pixel.distance_squared(point));
        squared.fold(f32::INFINITY, f32::min).sqrt()
    }

    /// Whether the outlines of two proteins at these poses overlap, seen along the axis of the
    /// second one.
    pub fn overlaps(&self, pose: &Pose, other: &Self, other_pose: &Pose) -> bool {
        let origin = other.in_plane(other_pose, pose.position);
        if origin.length() > self.radius + other.radius {
            return false;
        }
        // One edge crosses the other, or one outline is inside the other.
        let meets = |a: &Self, pose_a: &Pose, b: &Self, pose_b: &Pose| {
            let axes = [Vec2::ZERO, Vec2::X, Vec2::Y].map(|p| a.section.world_point(pose_a, p));
            let [zero, x, y] = axes.map(|point| b.in_plane(pose_b, point));
            let mut edge = a.edge.iter();
            edge.any(|pixel| b.contains(zero + (x - zero) * pixel.x + (y - zero) * pixel.y))
        };
        meets(self, pose, other, other_pose) || meets(other, other_pose, self, pose)
    }
}

/// An outline at a place of the leaflet.
#[derive(Clone, Copy, Debug)]
pub(super) struct PlacedOutline {
    /// Index into the outlines.
    pub outline: usize,
    pub pose: Pose,
    /// Unit normal of the mid-surface there.
    pub normal: Vec3,
    /// Foot of the axis of the protein in the plane of the leaflet, nm.
    pub foot: Vec3,
}

/// A lipid's line: the points at which its center of mass may be.
#[derive(Clone, Copy, Debug)]
pub(super) struct LipidLine<'a> {
    /// Its point in the plane of the leaflet, nm.
    pub point: Vec3,
    /// Unit normal of the surface there.
    pub normal: Vec3,
    /// Heights of possible centers of mass above the point, along the normal, nm.
    pub heights: &'a [f32],
}

/// All outlines of a leaflet, sorted into cells.
#[derive(Debug)]
pub(super) struct PlacedOutlines<'a> {
    outlines: &'a [ProteinOutline],
    placed: Vec<PlacedOutline>,
    cell: f32,
    /// Indices of the placed outlines that reach into each cell.
    cells: HashMap<IVec3, Vec<u32>>,
}

impl<'a> PlacedOutlines<'a> {
    pub fn new(outlines: &'a [ProteinOutline], placed: Vec<PlacedOutline>) -> Self {
        let radii = placed.iter().map(|p| outlines[p.outline].radius);
        let largest = radii.fold(0.0, f32::max);
        let mut all = Self {
            outlines,
            placed,
            // A reach covers at most eight cells.
            cell: 2.0 * NEAR * largest.max(1.0e-3),
            cells: HashMap::new(),
        };
        for (index, placed) in all.placed.iter().enumerate() {
            let reach = Vec3::splat(NEAR * outlines[placed.outline].radius);
            let low = all.cell_of(placed.foot - reach);
            let high = all.cell_of(placed.foot + reach);
            for z in low.z..=high.z {
                for y in low.y..=high.y {
                    for x in low.x..=high.x {
                        let cell = all.cells.entry(IVec3::new(x, y, z)).or_default();
                        cell.push(index as u32);
                    }
                }
            }
        }
        all
    }

    fn cell_of(&self, point: Vec3) -> IVec3 {
        (point / self.cell).floor().as_ivec3()
    }

    /// Distance of a lipid from the closest outline: none if its center of mass may be inside of
    /// one, infinite if there is none near, nm.
    ///
    /// Points are projected along the axis of the protein, which is a rigid body with straight
    /// walls.
    pub fn clearance(&self, lipid: &LipidLine) -> Option<f32> {
        let mut clearance = f32::INFINITY;
        let near = self.cells.get(&self.cell_of(lipid.point));
        for &index in near.into_iter().flatten() {
            let placed = &self.placed[index as usize];
            let outline = &self.outlines[placed.outline];
            let is_near = placed.foot.distance(lipid.point) <= NEAR * outline.radius;
            // Not the other side of a thin part.
            if !is_near || placed.normal.dot(lipid.normal) <= 0.0 {
                continue;
            }
            let in_plane = |height| {
                let point = lipid.point + lipid.normal * height;
                outline.in_plane(&placed.pose, point)
            };
            let mut heights = lipid.heights.iter();
            if heights.any(|&height| outline.contains(in_plane(height))) {
                return None;
            }
            clearance = clearance.min(outline.distance_from_edge(in_plane(0.0)));
        }
        Some(clearance)
    }
}
