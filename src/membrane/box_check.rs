//! Checks that the periodic box of a membrane repeats with its surface and holds its molecules.

use glam::Vec3;

use super::leaflet_plan::LeafletPlan;
use super::{MembraneConfig, MembraneError, ProteinEntry, ProteinPlaces, Species};
use crate::molecule::MoleculeTemplate;

/// Difference of the edges of box and surface that counts as none, as a fraction of the edge.
const SAME_EDGE: f32 = 1.0e-5;

/// A molecule and how it sits in the membrane.
struct Shape<'a> {
    name: &'a str,
    template: &'a MoleculeTemplate,
    /// Direction of the outward normal, in the body frame.
    out: Vec3,
    /// Distance of the center of mass from the mid-surface along the outward normal, nm.
    offset: f32,
}

impl Shape<'_> {
    /// Lowest and highest point above the mid-surface, nm.
    fn extent(&self) -> [f32; 2] {
        let atoms = self.template.positions().iter().zip(self.template.radii());
        let heights = atoms.map(|(atom, radius)| (atom.dot(self.out) + self.offset, radius));
        heights.fold([0.0, 0.0], |[low, high], (height, radius)| {
            [low.min(height - radius), high.max(height + radius)]
        })
    }
}

/// Checks the box of a membrane, if there is one.
pub(super) fn check(
    species: &[Species],
    config: &MembraneConfig,
    plans: &[LeafletPlan],
) -> Result<(), MembraneError> {
    let period = config.surface.period();
    let Some(periodic) = config.periodic_box else {
        return match period {
            Some(size) => Err(MembraneError::NoPeriodicBox { size }),
            None => Ok(()),
        };
    };
    let edges = periodic.size();
    if let Some(size) = period
        && !size.abs_diff_eq(edges.truncate(), SAME_EDGE * size.max_element())
    {
        let periodic = edges;
        return Err(MembraneError::BoxMismatch { size, periodic });
    }
    let shapes = shapes(species, config, plans);
    let [mut low, mut high] = [0.0_f32; 2];
    for shape in &shapes {
        // Radii are half of the tolerance: images touch at the diameter.
        let needed = 2.0 * shape.template.bounding_radius();
        for (axis, edge) in ['x', 'y', 'z'].into_iter().zip(edges.to_array()) {
            check_edge(axis, edge, shape.name, needed)?;
        }
        let extent = shape.extent();
        low = low.min(extent[0]);
        high = high.max(extent[1]);
    }
    match period {
        Some(_) => check_edge('z', edges.z, "the membrane", high - low),
        None => Ok(()),
    }
}

fn check_edge(axis: char, edge: f32, what: &str, needed: f32) -> Result<(), MembraneError> {
    if edge >= needed {
        return Ok(());
    }
    Err(MembraneError::BoxTooSmall {
        axis,
        edge,
        what: what.to_owned(),
        needed,
    })
}

/// The shapes of all molecules.
fn shapes<'a>(
    species: &'a [Species],
    config: &'a MembraneConfig,
    plans: &[LeafletPlan],
) -> Vec<Shape<'a>> {
    let mut shapes = Vec::new();
    for plan in plans {
        let sign = plan.leaflet.sign();
        for &(index, _) in &plan.composition.parts {
            let lipid = &species[index];
            shapes.extend(lipid.conformers().iter().map(|conformer| Shape {
                name: lipid.name(),
                template: &conformer.template,
                out: conformer.up * sign,
                offset: conformer.depth * sign,
            }));
        }
    }
    for entry in &config.proteins {
        shapes.extend(signs(entry).into_iter().map(|sign| Shape {
            name: &entry.protein.name,
            template: &entry.protein.template,
            out: entry.protein.up * sign,
            offset: entry.protein.depth * sign,
        }));
    }
    shapes
}

/// 1 for copies of a protein that are not flipped, −1 for flipped ones, each at most once.
fn signs(entry: &ProteinEntry) -> Vec<f32> {
    let is_used = |flipped: bool| match &entry.places {
        ProteinPlaces::Random(count) => *count > 0 && entry.flipped == flipped,
        ProteinPlaces::At(places) => {
            let mut places = places.iter();
            places.any(|place| (entry.flipped != place.flipped) == flipped)
        }
    };
    let signs = [(false, 1.0), (true, -1.0)].into_iter();
    signs
        .filter(|(flipped, _)| is_used(*flipped))
        .map(|(_, sign)| sign)
        .collect()
}
