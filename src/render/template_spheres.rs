//! What of a template the GPU sees: spheres, in several levels of detail.

use bevy::color::LinearRgba;
use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};

use super::ambient_occlusion::occlusion;
use super::atom_clusters::{AtomCluster, blobs};
use super::colors::element_color;
use super::style::DrawDetail;
use crate::molecule::MoleculeTemplate;
use crate::proxy::{PROXY_SEED, ProxySet};

/// Atoms in a blob of each coarser level, and whether it may span residues.
const LEVELS: [(usize, bool); 3] = [(8, false), (64, false), (512, true)];

/// A sphere of a template, as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct GpuSphere {
    /// Center in the body frame, nm.
    pub center: [f32; 3],
    /// Radius, nm.
    pub radius: f32,
    /// Red and green of its elements, linear, 16 bits each from 0 to 1.
    pub red_green: u32,
    /// Blue of its elements, in the lower 16 bits.
    pub blue: u32,
    /// Number of its chain in the template, from 0.
    pub chain: u32,
    /// What neighbors hide: a vector and a number, 8 bits each from −1 to 1.
    pub occlusion: u32,
}

/// One level of detail.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    /// First sphere among those of the template.
    pub first: u32,
    /// How many there are.
    pub count: u32,
    /// By how much a sphere and the atoms that it stands for differ at most, nm.
    pub error: f32,
}

/// The spheres of a template, finest level first: its atoms.
#[derive(Clone, Debug)]
pub(super) struct TemplateSpheres {
    pub spheres: Vec<GpuSphere>,
    pub levels: Vec<Level>,
    /// Proxies that are drawn over the atoms, by their number as it was asked for.
    pub proxies: Vec<(u32, Level)>,
    /// Radius of the ball about the origin that holds all spheres of all levels, nm.
    pub bounding_radius: f32,
    /// Largest radius of a sphere, nm.
    pub largest_radius: f32,
}

impl TemplateSpheres {
    /// With one set of proxies for each of `proxy_counts`.
    pub fn new(template: &MoleculeTemplate, proxy_counts: &[u32]) -> Self {
        let hidden = occlusion(template);
        let chains = chain_numbers(template);
        let atoms = (0..template.atom_count()).map(|atom| AtomCluster {
            center: template.positions()[atom],
            radius: template.radii()[atom],
            atoms: vec![atom as u32],
        });
        let mut body = Self {
            spheres: Vec::new(),
            levels: Vec::new(),
            proxies: Vec::new(),
            bounding_radius: 0.0,
            largest_radius: 0.0,
        };
        let sphere = |blob: &AtomCluster| pack(template, &hidden, &chains, blob);
        let level = body.add(atoms.map(|atom| sphere(&atom)).collect(), 0.0);
        body.levels.push(level);
        for (most, across) in LEVELS {
            let (found, error) = blobs(template, most, across);
            // A level that saves little is not worth having.
            let last = body.levels.last().map_or(0, |level| level.count as usize);
            if found.len() * 2 <= last {
                let level = body.add(found.iter().map(sphere).collect(), error);
                body.levels.push(level);
            }
        }
        for &count in proxy_counts {
            // What has no proxies shows none.
            if let Ok(set) = ProxySet::from_atoms(template, count as usize, PROXY_SEED) {
                let spheres = (0..set.len()).map(|proxy| {
                    sphere(&AtomCluster {
                        center: set.centers()[proxy],
                        radius: set.radii()[proxy],
                        atoms: set.atoms_of(proxy).to_vec(),
                    })
                });
                let level = body.add(spheres.collect(), 0.0);
                body.proxies.push((count, level));
            }
        }
        body
    }

    /// Adds spheres; they are no level yet.
    fn add(&mut self, spheres: Vec<GpuSphere>, error: f32) -> Level {
        let level = Level {
            first: self.spheres.len() as u32,
            count: spheres.len() as u32,
            error,
        };
        for sphere in &spheres {
            let reach = Vec3::from(sphere.center).length() + sphere.radius;
            self.bounding_radius = self.bounding_radius.max(reach);
            self.largest_radius = self.largest_radius.max(sphere.radius);
        }
        self.spheres.extend(spheres);
        level
    }

    /// The level to draw where a nanometer is `pixels_per_nm` pixels.
    pub fn level(&self, detail: DrawDetail, pixels_per_nm: f32) -> usize {
        match detail {
            DrawDetail::Atoms => 0,
            DrawDetail::Clusters => 1.min(self.levels.len() - 1),
            DrawDetail::Auto { pixels } => {
                let fits = |level: &Level| level.error * pixels_per_nm <= pixels;
                self.levels.iter().rposition(fits).unwrap_or(0)
            }
        }
    }

    /// Radius of the ball about the origin that holds all spheres, nm, if their radii are
    /// multiplied by `scale`.
    pub fn scaled_radius(&self, scale: f32) -> f32 {
        self.bounding_radius + (scale - 1.0).max(0.0) * self.largest_radius
    }
}

/// For each residue the number of its chain, from 0 in the order of the file.
fn chain_numbers(template: &MoleculeTemplate) -> Vec<u32> {
    let mut names = Vec::new();
    let number = |residue: &crate::molecule::Residue| {
        let known = names.iter().position(|name| *name == residue.chain);
        known.unwrap_or_else(|| {
            names.push(residue.chain.clone());
            names.len() - 1
        }) as u32
    };
    template.residues().iter().map(number).collect()
}

fn pack(
    template: &MoleculeTemplate,
    hidden: &[Vec4],
    chains: &[u32],
    blob: &AtomCluster,
) -> GpuSphere {
    let share = 1.0 / blob.atoms.len() as f32;
    let mut color = LinearRgba::BLACK;
    let mut occlusion = Vec4::ZERO;
    for &atom in &blob.atoms {
        color += element_color(template.elements()[atom as usize]) * share;
        occlusion += hidden[atom as usize] * share;
    }
    let first = blob.atoms.first().map_or(0, |&atom| atom as usize);
    GpuSphere {
        center: blob.center.to_array(),
        radius: blob.radius,
        red_green: unorm16(color.red) | unorm16(color.green) << 16,
        blue: unorm16(color.blue),
        chain: chains[template.residue_indices()[first] as usize],
        occlusion: snorm8x4(occlusion),
    }
}

fn unorm16(value: f32) -> u32 {
    (value.clamp(0.0, 1.0) * f32::from(u16::MAX)).round() as u32
}

/// What `unpack4x8snorm` of WGSL reads.
fn snorm8x4(value: Vec4) -> u32 {
    let byte = |part: f32| (part.clamp(-1.0, 1.0) * 127.0).round() as i8 as u8;
    u32::from_le_bytes(value.to_array().map(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::molecule::{LoadOptions, load};

    #[test]
    fn the_first_level_is_the_atoms_and_each_next_has_half_of_them_or_less() {
        for file in ["popc.pdb", "1gzx.pdb", "p_xylene.pdb"] {
            let path = format!("assets/molecules/{file}");
            let template = load(path, &LoadOptions::default()).unwrap();
            let body = TemplateSpheres::new(&template, &[]);
            assert_eq!(body.levels[0].count as usize, template.atom_count());
            for (sphere, (place, radius)) in body
                .spheres
                .iter()
                .zip(template.positions().iter().zip(template.radii()))
            {
                assert_eq!(sphere.center, place.to_array());
                assert_eq!(sphere.radius, *radius);
            }
            for pair in body.levels.windows(2) {
                assert!(pair[1].count * 2 <= pair[0].count);
                assert_eq!(pair[1].first, pair[0].first + pair[0].count);
            }
            assert!(body.bounding_radius >= template.bounding_radius() * 0.999_999);
        }
    }

    #[test]
    fn detail_follows_the_size_on_the_screen() {
        let template = load("assets/molecules/1gzx.pdb", &LoadOptions::default()).unwrap();
        let body = TemplateSpheres::new(&template, &[]);
        let auto = DrawDetail::Auto { pixels: 1.0 };
        assert_eq!(body.level(auto, 100.0), 0);
        assert_eq!(body.level(auto, 0.001), body.levels.len() - 1);
        assert_eq!(body.level(auto, 0.9 / body.levels[1].error), 1);
        assert_eq!(body.level(auto, 1.1 / body.levels[1].error), 0);
        assert_eq!(body.level(DrawDetail::Atoms, 0.001), 0);
        assert_eq!(body.level(DrawDetail::Clusters, 100.0), 1);
        // Impossible numbers draw the atoms.
        assert_eq!(body.level(DrawDetail::Auto { pixels: f32::NAN }, 0.1), 0);
    }

    #[test]
    fn chains_are_numbered_in_the_order_of_the_file() {
        let template = load("assets/molecules/1gzx.pdb", &LoadOptions::default()).unwrap();
        let body = TemplateSpheres::new(&template, &[]);
        let last = body.spheres.iter().map(|sphere| sphere.chain).max();
        assert_eq!(last, Some(3));
        assert_eq!(body.spheres[0].chain, 0);
    }

    #[test]
    fn numbers_are_packed_as_the_shader_unpacks_them() {
        assert_eq!(snorm8x4(Vec4::new(1.0, -1.0, 0.0, 0.5)), 0x4000_817f);
        assert_eq!(unorm16(2.0), 0xffff);
        assert_eq!(unorm16(-1.0), 0);
    }
}
