//! [`CrossSection`]: the area that a protein takes in the plane of a membrane.

use glam::{Vec2, Vec3};
use thiserror::Error;

use super::MembraneProtein;
use crate::pose::Pose;

/// Edge of a pixel, nm: a quarter of an atom's radius.
const PIXEL: f32 = 0.05;

/// Default probe radius, nm: half the width of the chain of a lipid.
const DEFAULT_PROBE: f32 = 0.2;

/// Largest probe radius, nm. Larger ones than a protein close everything.
const MAX_PROBE: f32 = 5.0;

/// Most pixels of a raster, 64 MB. A protein of 100 nm has four million.
const MAX_PIXELS: f32 = 67_108_864.0;

/// Why a cross-section is invalid.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum CrossSectionError {
    /// The slab has no heights.
    #[error("the slab from {low} to {high} nm is empty or not a number")]
    EmptySlab {
        /// Lowest height, nm.
        low: f32,
        /// Highest height, nm.
        high: f32,
    },
    /// The probe radius is out of range.
    #[error("the probe radius must be between 0 and {MAX_PROBE} nm, not {probe} nm")]
    InvalidProbe {
        /// The given radius, nm.
        probe: f32,
    },
    /// The protein has no direction or depth.
    #[error("'{name}' needs a unit vector up and a finite depth, not {up} and {depth} nm")]
    InvalidProtein {
        /// Name of the protein.
        name: String,
        /// Its up direction.
        up: Vec3,
        /// Its depth, nm.
        depth: f32,
    },
    /// The atoms are spread too widely.
    #[error("the slab of '{name}' is too wide for a raster: {} × {} nm", size.x, size.y)]
    TooLarge {
        /// Name of the protein.
        name: String,
        /// Size in the plane, nm.
        size: Vec2,
    },
}

/// Which atoms a [`CrossSection`] contains, and how gaps between them close.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CrossSectionConfig {
    /// Lowest height of an atom's center above the mid-plane, nm. Default: all.
    pub low: f32,
    /// Highest height, nm. Default: all.
    pub high: f32,
    /// Gaps that a disc of this radius does not fit through are closed, nm. Default: 0.2, so that
    /// the wall of a barrel is watertight.
    pub probe: f32,
}

impl Default for CrossSectionConfig {
    fn default() -> Self {
        Self {
            low: f32::NEG_INFINITY,
            high: f32::INFINITY,
            probe: DEFAULT_PROBE,
        }
    }
}

/// A pixel of the raster.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pixel {
    /// Not yet reached from the outside.
    Free,
    Outside,
    Protein,
    Pore,
}

/// The area that a slab of a protein takes in the plane of a membrane, as a raster of 0.05 nm.
///
/// Each atom with its center in the slab is a disc with its collision radius; the section is the
/// union of all discs. Gaps that the probe does not fit through are closed: discs grow by the
/// probe radius, holes are found, and all edges shrink back. A hole is what no path by pixel edges
/// connects to the outside.
///
/// A *pore* is a hole of the union, so it is open through the whole slab; where a plug closes the
/// pore at one height, a thin slab has the pore and a thick one does not. The *outline* has its
/// holes filled: lipids that belong to the slab must stay outside of it.
#[derive(Clone, Debug, PartialEq)]
pub struct CrossSection {
    /// In-plane axes in the body frame.
    axes: [Vec3; 2],
    /// Corner of the first pixel, nm.
    corner: Vec2,
    /// Pixels per row.
    width: usize,
    /// Rows from low to high y.
    pixels: Vec<Pixel>,
}

impl CrossSection {
    /// The section of a protein. Empty if no atom is in the slab.
    ///
    /// # Errors
    /// [`CrossSectionError`] if the slab, the probe or the protein is invalid or too large.
    pub fn new(
        protein: &MembraneProtein,
        config: &CrossSectionConfig,
    ) -> Result<Self, CrossSectionError> {
        let CrossSectionConfig { low, high, probe } = *config;
        // False for NaN.
        let is_slab = low <= high;
        if !is_slab {
            return Err(CrossSectionError::EmptySlab { low, high });
        }
        if !(0.0..=MAX_PROBE).contains(&probe) {
            return Err(CrossSectionError::InvalidProbe { probe });
        }
        if !(protein.up.is_normalized() && protein.depth.is_finite()) {
            return Err(CrossSectionError::InvalidProtein {
                name: protein.name.clone(),
                up: protein.up,
                depth: protein.depth,
            });
        }
        let axes = protein.plane_axes();
        let template = &protein.template;
        let atoms = template.positions().iter().zip(template.radii());
        let discs: Vec<(Vec2, f32)> = atoms
            .filter(|(position, _)| (low..=high).contains(&protein.height(**position)))
            .map(|(position, radius)| (in_plane(axes, *position), radius + probe))
            .collect();
        let mut section = Self::blank(protein, axes, &discs)?;
        for (center, radius) in discs {
            section.paint(center, radius, |pixel| *pixel = Pixel::Protein);
        }
        section.find_outside();
        for pixel in &mut section.pixels {
            if *pixel == Pixel::Free {
                *pixel = Pixel::Pore;
            }
        }
        section.shrink(probe);
        Ok(section)
    }

    /// A free raster with a margin of a pixel around the discs.
    fn blank(
        protein: &MembraneProtein,
        axes: [Vec3; 2],
        discs: &[(Vec2, f32)],
    ) -> Result<Self, CrossSectionError> {
        let mut low = Vec2::INFINITY;
        let mut high = Vec2::NEG_INFINITY;
        for (center, radius) in discs {
            low = low.min(center - radius);
            high = high.max(center + radius);
        }
        if discs.is_empty() {
            [low, high] = [Vec2::ZERO; 2];
        }
        // One pixel on either side, and one for the rounding of the last.
        let pixels = ((high - low) / PIXEL).ceil() + 3.0;
        // False for NaN.
        let fits = pixels.x * pixels.y <= MAX_PIXELS;
        if !fits {
            return Err(CrossSectionError::TooLarge {
                name: protein.name.clone(),
                size: high - low,
            });
        }
        let [width, rows] = [pixels.x as usize, pixels.y as usize];
        Ok(Self {
            axes,
            corner: low - PIXEL,
            width,
            pixels: vec![Pixel::Free; width * rows],
        })
    }

    fn rows(&self) -> usize {
        self.pixels.len() / self.width
    }

    /// Center of a pixel, nm.
    fn center_of(&self, column: usize, row: usize) -> Vec2 {
        self.corner + (Vec2::new(column as f32, row as f32) + 0.5) * PIXEL
    }

    /// Changes the pixels with their centers in a disc (nm).
    fn paint(&mut self, center: Vec2, radius: f32, change: impl Fn(&mut Pixel)) {
        // Casts of negative numbers give zero.
        let from = (center - radius - self.corner) / PIXEL - 1.0;
        let to = (center + radius - self.corner) / PIXEL + 2.0;
        for row in from.y as usize..(to.y as usize).min(self.rows()) {
            for column in from.x as usize..(to.x as usize).min(self.width) {
                if self.center_of(column, row).distance_squared(center) <= radius * radius {
                    change(&mut self.pixels[row * self.width + column]);
                }
            }
        }
    }

    /// The pixels that share an edge with one.
    fn neighbors(&self, index: usize) -> impl Iterator<Item = usize> + use<> {
        let [column, width, count] = [index % self.width, self.width, self.pixels.len()];
        let all = [
            (column > 0).then(|| index - 1),
            (column + 1 < width).then(|| index + 1),
            index.checked_sub(width),
            Some(index + width).filter(|&above| above < count),
        ];
        all.into_iter().flatten()
    }

    /// Marks the free pixels that are connected to the first one, in the margin.
    fn find_outside(&mut self) {
        let mut reached = vec![0];
        self.pixels[0] = Pixel::Outside;
        while let Some(index) = reached.pop() {
            for neighbor in self.neighbors(index) {
                if self.pixels[neighbor] == Pixel::Free {
                    self.pixels[neighbor] = Pixel::Outside;
                    reached.push(neighbor);
                }
            }
        }
    }

    /// Moves all edges of the protein inward by `probe` nm.
    fn shrink(&mut self, probe: f32) {
        let is_edge = |index: &usize| {
            let mut neighbors = self.neighbors(*index);
            self.pixels[*index] != Pixel::Protein
                && neighbors.any(|neighbor| self.pixels[neighbor] == Pixel::Protein)
        };
        let edges: Vec<(usize, Pixel)> = (0..self.pixels.len())
            .filter(is_edge)
            .map(|index| (index, self.pixels[index]))
            .collect();
        // The last pixel of the other kind is half a pixel beyond the edge, on average.
        let radius = probe + 0.5 * PIXEL;
        if probe <= 0.0 {
            return;
        }
        // The outside comes last: pores do not reach through the wall.
        for kind in [Pixel::Pore, Pixel::Outside] {
            for (index, _) in edges.iter().filter(|(_, edge)| *edge == kind) {
                let center = self.center_of(index % self.width, index / self.width);
                self.paint(center, radius, |pixel| {
                    if *pixel == Pixel::Protein {
                        *pixel = kind;
                    }
                });
            }
        }
    }

    /// The pixel at a point of the plane.
    fn pixel_at(&self, point: Vec2) -> Pixel {
        let place = ((point - self.corner) / PIXEL).floor();
        let size = Vec2::new(self.width as f32, self.rows() as f32);
        if !(place.cmpge(Vec2::ZERO).all() && place.cmplt(size).all()) {
            return Pixel::Outside;
        }
        self.pixels[place.y as usize * self.width + place.x as usize]
    }

    /// Centers of the pixels along the edge of the outline, or of the union of all discs if pores
    /// are outside of it, nm.
    pub(super) fn edge(&self, pores_are_inside: bool) -> Vec<Vec2> {
        let is_inside =
            |pixel: Pixel| pixel == Pixel::Protein || (pores_are_inside && pixel == Pixel::Pore);
        let is_edge = |index: &usize| {
            let mut neighbors = self.neighbors(*index);
            is_inside(self.pixels[*index])
                && neighbors.any(|neighbor| !is_inside(self.pixels[neighbor]))
        };
        let edge = (0..self.pixels.len()).filter(is_edge);
        edge.map(|index| self.center_of(index % self.width, index / self.width))
            .collect()
    }

    fn area_of(&self, is_counted: impl Fn(Pixel) -> bool) -> f32 {
        let pixels = self.pixels.iter().filter(|pixel| is_counted(**pixel));
        pixels.count() as f32 * PIXEL * PIXEL
    }

    /// Area inside the outline, pores included, nm².
    #[must_use]
    pub fn area(&self) -> f32 {
        self.area_of(|pixel| matches!(pixel, Pixel::Protein | Pixel::Pore))
    }

    /// Area of all pores, nm².
    #[must_use]
    pub fn pore_area(&self) -> f32 {
        self.area_of(|pixel| pixel == Pixel::Pore)
    }

    /// Whether a point of the plane (nm) is inside the outline: in the protein or in a pore.
    #[must_use]
    pub fn contains(&self, point: Vec2) -> bool {
        matches!(self.pixel_at(point), Pixel::Protein | Pixel::Pore)
    }

    /// Whether a point of the plane (nm) is in a pore.
    #[must_use]
    pub fn is_pore(&self, point: Vec2) -> bool {
        self.pixel_at(point) == Pixel::Pore
    }

    /// In-plane coordinates (nm) of a world point (nm), for the protein at a pose. The center of
    /// mass is at zero; the axes are [`MembraneProtein::plane_axes`].
    #[must_use]
    pub fn in_plane(&self, pose: &Pose, point: Vec3) -> Vec2 {
        in_plane(self.axes, pose.inverse_transform_point(point))
    }

    /// World point (nm) with these in-plane coordinates (nm), at the height of the center of mass.
    pub(super) fn world_point(&self, pose: &Pose, point: Vec2) -> Vec3 {
        pose.transform_point(self.axes[0] * point.x + self.axes[1] * point.y)
    }

    /// Radius of the circle about the center of mass that contains the outline, nm; 0 if it is
    /// empty.
    #[must_use]
    pub fn bounding_radius(&self) -> f32 {
        let inside = (0..self.pixels.len())
            .filter(|&index| matches!(self.pixels[index], Pixel::Protein | Pixel::Pore));
        inside
            .map(|index| {
                let center = self.center_of(index % self.width, index / self.width);
                center.length() + PIXEL
            })
            .fold(0.0, f32::max)
    }
}

fn in_plane([x, y]: [Vec3; 2], point: Vec3) -> Vec2 {
    Vec2::new(point.dot(x), point.dot(y))
}
