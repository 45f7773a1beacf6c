//! [`AvoidedLinks`]: links that a walk keeps away from.

use std::collections::HashMap;

use glam::{DVec3, I64Vec3, IVec3, Vec3};

use super::FiberPath;

/// A link: its ends.
pub(super) type Segment = [DVec3; 2];

/// The links of fibers that are there already, as capsules; see
/// [`RandomWalk::path_among`](super::RandomWalk::path_among).
#[derive(Clone, Debug, Default)]
pub struct AvoidedLinks {
    chains: Vec<LinkGrid>,
}

impl AvoidedLinks {
    /// Adds the links of a fiber of a radius, nm.
    pub fn push(&mut self, path: &FiberPath, radius: f32) {
        let points = path.points();
        let ends = points.iter().zip(points.iter().cycle().skip(1));
        let links = ends.map(|(start, end)| [start.as_dvec3(), end.as_dvec3()]);
        let links: Vec<Segment> = links.take(path.links()).collect();
        let lengths = links.iter().map(|[start, end]| start.distance(*end));
        let mut grid = LinkGrid::new(f64::from(radius), lengths.fold(0.0, f64::max));
        for link in links {
            grid.push(link);
        }
        self.chains.push(grid);
    }

    /// Whether a ball of a radius (nm) overlaps any of them.
    #[must_use]
    pub fn overlap_ball(&self, center: Vec3, radius: f32) -> bool {
        self.overlap_link([center.as_dvec3(); 2], f64::from(radius))
    }

    /// Whether a link of a radius overlaps any of them.
    pub(super) fn overlap_link(&self, link: Segment, radius: f64) -> bool {
        let mut chains = self.chains.iter();
        chains.any(|chain| chain.overlaps(link, radius, chain.links.len()))
    }
}

/// Links of one radius by the cells in which their centers are.
#[derive(Clone, Debug)]
pub(super) struct LinkGrid {
    radius: f64,
    /// Largest length of a link.
    length: f64,
    links: Vec<Segment>,
    cells: HashMap<IVec3, Vec<u32>>,
}

impl LinkGrid {
    pub(super) fn new(radius: f64, length: f64) -> Self {
        Self {
            radius,
            length,
            links: Vec::new(),
            cells: HashMap::new(),
        }
    }

    pub(super) fn count(&self) -> usize {
        self.links.len()
    }

    pub(super) fn push(&mut self, link: Segment) {
        let index = self.links.len() as u32;
        self.cells
            .entry(self.cell_of(link))
            .or_default()
            .push(index);
        self.links.push(link);
    }

    /// Removes all links except for the first ones.
    pub(super) fn truncate(&mut self, count: usize) {
        while self.links.len() > count {
            let Some(link) = self.links.pop() else {
                return;
            };
            // The last link is also the last one of its cell.
            let cell = self.cell_of(link);
            if let Some(indices) = self.cells.get_mut(&cell) {
                indices.pop();
            }
        }
    }

    /// Whether a link of a radius overlaps any of the first `count` links.
    pub(super) fn overlaps(&self, link: Segment, radius: f64, count: usize) -> bool {
        let least = self.radius + radius;
        let is_near = |other: &Segment| squared_distance(link, *other) < least * least;
        let [start, end] = link;
        let center = 0.5 * (start + end);
        let reach = 0.5 * (start.distance(end) + self.length) + least;
        let [low, high] = [center - reach, center + reach].map(|corner| self.cell_at(corner));
        let size = high.as_i64vec3() - low.as_i64vec3() + I64Vec3::ONE;
        let cells = size.x.saturating_mul(size.y).saturating_mul(size.z);
        if cells > count as i64 {
            return self.links.iter().take(count).any(is_near);
        }
        let is_near_index = |index: &u32| {
            let index = *index as usize;
            index < count && is_near(&self.links[index])
        };
        let columns = (low.x..=high.x).flat_map(|x| (low.y..=high.y).map(move |y| (x, y)));
        let mut all = columns.flat_map(|(x, y)| (low.z..=high.z).map(move |z| IVec3::new(x, y, z)));
        all.any(|cell| {
            let indices = self.cells.get(&cell);
            indices.is_some_and(|indices| indices.iter().any(is_near_index))
        })
    }

    fn cell_of(&self, [start, end]: Segment) -> IVec3 {
        self.cell_at(0.5 * (start + end))
    }

    fn cell_at(&self, point: DVec3) -> IVec3 {
        (point / (self.length + 2.0 * self.radius))
            .floor()
            .as_ivec3()
    }
}

/// The squared least distance between two segments.
///
/// With the ends of the segments p₁, p₁ + u and p₂, p₂ + v, it is the least |p₁ + s u − p₂ − t v|²
/// with s and t from 0 to 1. For a given s, the best t is v·(p₁ + s u − p₂) / v², cut to its range,
/// and the other way round. Since the square is convex, the best s of the lines, cut, followed by
/// its best t and by the best s of that is the least one.
fn squared_distance([p, p_end]: Segment, [q, q_end]: Segment) -> f64 {
    let (u, v, between) = (p_end - p, q_end - q, p - q);
    let part = |dividend: f64, divisor: f64| {
        if divisor > 0.0 {
            (dividend / divisor).clamp(0.0, 1.0)
        } else {
            0.0
        }
    };
    let (uu, vv, uv) = (u.length_squared(), v.length_squared(), u.dot(v));
    let (along_u, along_v) = (u.dot(between), v.dot(between));
    let s = part(uv * along_v - along_u * vv, uu * vv - uv * uv);
    let t = part(along_v + s * uv, vv);
    let s = part(t * uv - along_u, uu);
    (between + u * s - v * t).length_squared()
}
