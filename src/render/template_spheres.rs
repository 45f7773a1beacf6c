//! [`TemplateSpheres`]: the spheres of a template on the GPU, in several levels of detail.

use bevy::color::LinearRgba;
use bytemuck::{Pod, Zeroable};
use glam::{Vec3, Vec4};

use super::ambient_occlusion::ambient_occlusion;
use super::atom_clusters::{AtomCluster, cluster_atoms};
use super::palette::MoleculePalette;
use super::style::DrawDetail;
use crate::molecule::{MoleculeTemplate, Residue};
use crate::proxy::{PROXY_SEED, ProxySet};

/// Maximum number of atoms per cluster of each coarser level, and whether clusters may span
/// residues.
const CLUSTER_LEVELS: [(usize, bool); 3] = [(8, false), (64, false), (512, true)];

/// A sphere of a template, as the shader reads it.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
pub struct GpuSphere {
    /// Center in the body frame, nm.
    pub center: [f32; 3],
    /// Radius, nm.
    pub radius: f32,
    /// Red and green of the element color, linear, 16-bit unorm each.
    pub red_green: u32,
    /// Blue of the element color, in the lower 16 bits.
    pub blue: u32,
    /// Index of the chain in the template.
    pub chain: u32,
    /// Ambient occlusion by neighbors: a vector and a scalar, 8-bit snorm each.
    pub occlusion: u32,
}

/// One level of detail: a range of spheres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct DetailLevel {
    /// Index of the first sphere in the template.
    pub first: u32,
    /// Number of spheres.
    pub count: u32,
    /// Maximum geometric error of a sphere with respect to its atoms, nm.
    pub error: f32,
}

/// The spheres of a template. The first and finest level is its atoms.
#[derive(Clone, Debug, Default)]
pub(super) struct TemplateSpheres {
    pub spheres: Vec<GpuSphere>,
    pub levels: Vec<DetailLevel>,
    /// Proxies for overlays, by their requested number.
    pub proxies: Vec<(u32, DetailLevel)>,
    /// Radius about the origin that contains all spheres of all levels, nm.
    pub bounding_radius: f32,
    /// Largest radius of a sphere, nm.
    pub largest_radius: f32,
}

impl TemplateSpheres {
    /// The spheres of `template`, with a set of proxies for each of `proxy_counts`, and the colors
    /// of elements of `palette`.
    pub fn new(
        template: &MoleculeTemplate,
        proxy_counts: &[u32],
        palette: &MoleculePalette,
    ) -> Self {
        let mut all = Self::default();
        let elements = template.elements().iter();
        let colors: Vec<_> = elements
            .map(|&element| palette.linear_element(element))
            .collect();
        let atoms = AtomLooks {
            template,
            colors,
            occlusion: ambient_occlusion(template),
            chains: chain_indices(template),
        };
        let pack = |cluster: &AtomCluster| atoms.pack(cluster);
        let spheres = (0..template.atom_count()).map(|atom| {
            pack(&AtomCluster {
                center: template.positions()[atom],
                radius: template.radii()[atom],
                atoms: vec![atom as u32],
            })
        });
        let level = all.add(spheres.collect(), 0.0);
        all.levels.push(level);
        for (max_atoms, across_residues) in CLUSTER_LEVELS {
            let (clusters, error) = cluster_atoms(template, max_atoms, across_residues);
            // Skip levels that have more than half of the spheres of the previous one.
            let previous = all.levels.last().map_or(0, |level| level.count as usize);
            if clusters.len() * 2 <= previous {
                let level = all.add(clusters.iter().map(pack).collect(), error);
                all.levels.push(level);
            }
        }
        for &count in proxy_counts {
            // A template for which no proxies can be computed shows none.
            if let Ok(set) = ProxySet::from_atoms(template, count as usize, PROXY_SEED) {
                let spheres = (0..set.len()).map(|proxy| {
                    pack(&AtomCluster {
                        center: set.centers()[proxy],
                        radius: set.radii()[proxy],
                        atoms: set.atoms_of(proxy).to_vec(),
                    })
                });
                let level = all.add(spheres.collect(), 0.0);
                all.proxies.push((count, level));
            }
        }
        all
    }

    /// Appends spheres and returns their range.
    fn add(&mut self, spheres: Vec<GpuSphere>, error: f32) -> DetailLevel {
        let level = DetailLevel {
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

    /// Index of the level to draw where a nanometer covers `pixels_per_nm` pixels.
    pub fn level(&self, detail: DrawDetail, pixels_per_nm: f32) -> usize {
        match detail {
            DrawDetail::Atoms => 0,
            DrawDetail::Clusters => 1.min(self.levels.len() - 1),
            DrawDetail::Auto { pixels } => {
                let fits = |level: &DetailLevel| level.error * pixels_per_nm <= pixels;
                self.levels.iter().rposition(fits).unwrap_or(0)
            }
        }
    }

    /// Radius about the origin that contains all spheres, nm, if their radii are multiplied by
    /// `scale`.
    pub fn scaled_radius(&self, scale: f32) -> f32 {
        self.bounding_radius + (scale - 1.0).max(0.0) * self.largest_radius
    }
}

/// The chain index of each residue, in the order of the file.
fn chain_indices(template: &MoleculeTemplate) -> Vec<u32> {
    let mut names = Vec::new();
    let index = |residue: &Residue| {
        let known = names.iter().position(|name| *name == residue.chain);
        known.unwrap_or_else(|| {
            names.push(residue.chain.clone());
            names.len() - 1
        }) as u32
    };
    template.residues().iter().map(index).collect()
}

/// What the looks of a sphere depend on.
struct AtomLooks<'a> {
    template: &'a MoleculeTemplate,
    /// Color of each atom.
    colors: Vec<LinearRgba>,
    /// Ambient occlusion of each atom.
    occlusion: Vec<Vec4>,
    /// Chain of each residue.
    chains: Vec<u32>,
}

impl AtomLooks<'_> {
    fn pack(&self, cluster: &AtomCluster) -> GpuSphere {
        let share = 1.0 / cluster.atoms.len() as f32;
        let mut color = LinearRgba::BLACK;
        let mut occlusion = Vec4::ZERO;
        for &atom in &cluster.atoms {
            color += self.colors[atom as usize] * share;
            occlusion += self.occlusion[atom as usize] * share;
        }
        let first = cluster.atoms.first().map_or(0, |&atom| atom as usize);
        GpuSphere {
            center: cluster.center.to_array(),
            radius: cluster.radius,
            red_green: unorm16(color.red) | unorm16(color.green) << 16,
            blue: unorm16(color.blue),
            chain: self.chains[self.template.residue_indices()[first] as usize],
            occlusion: pack_snorm8x4(occlusion),
        }
    }
}

fn unorm16(value: f32) -> u32 {
    (value.clamp(0.0, 1.0) * f32::from(u16::MAX)).round() as u32
}

/// The inverse of `unpack4x8snorm` in WGSL.
fn pack_snorm8x4(value: Vec4) -> u32 {
    let byte = |part: f32| (part.clamp(-1.0, 1.0) * 127.0).round() as i8 as u8;
    u32::from_le_bytes(value.to_array().map(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::molecule::{LoadOptions, load};

    fn spheres(template: &MoleculeTemplate) -> TemplateSpheres {
        TemplateSpheres::new(template, &[], &MoleculePalette::default())
    }

    fn template(file: &str) -> MoleculeTemplate {
        load(format!("assets/molecules/{file}"), &LoadOptions::default()).unwrap()
    }

    #[test]
    fn the_first_level_is_the_atoms_and_each_next_has_at_most_half_of_the_spheres() {
        for file in ["popc.pdb", "1gzx.pdb", "p_xylene.pdb"] {
            let template = template(file);
            let all = spheres(&template);
            assert_eq!(all.levels[0].count as usize, template.atom_count());
            for (sphere, (position, radius)) in all
                .spheres
                .iter()
                .zip(template.positions().iter().zip(template.radii()))
            {
                assert_eq!(sphere.center, position.to_array());
                assert_eq!(sphere.radius, *radius);
            }
            for pair in all.levels.windows(2) {
                assert!(pair[1].count * 2 <= pair[0].count);
                assert_eq!(pair[1].first, pair[0].first + pair[0].count);
            }
            assert!(all.bounding_radius >= template.bounding_radius() * 0.999_999);
        }
    }

    #[test]
    fn detail_follows_the_size_on_the_screen() {
        let all = spheres(&template("1gzx.pdb"));
        let auto = DrawDetail::Auto { pixels: 1.0 };
        assert_eq!(all.level(auto, 100.0), 0);
        assert_eq!(all.level(auto, 0.001), all.levels.len() - 1);
        assert_eq!(all.level(auto, 0.9 / all.levels[1].error), 1);
        assert_eq!(all.level(auto, 1.1 / all.levels[1].error), 0);
        assert_eq!(all.level(DrawDetail::Atoms, 0.001), 0);
        assert_eq!(all.level(DrawDetail::Clusters, 100.0), 1);
        // Invalid values draw the atoms.
        assert_eq!(all.level(DrawDetail::Auto { pixels: f32::NAN }, 0.1), 0);
    }

    #[test]
    fn chains_are_numbered_in_the_order_of_the_file() {
        let all = spheres(&template("1gzx.pdb"));
        let last = all.spheres.iter().map(|sphere| sphere.chain).max();
        assert_eq!(last, Some(3));
        assert_eq!(all.spheres[0].chain, 0);
    }

    #[test]
    fn values_are_packed_as_the_shader_unpacks_them() {
        assert_eq!(pack_snorm8x4(Vec4::new(1.0, -1.0, 0.0, 0.5)), 0x4000_817f);
        assert_eq!(unorm16(2.0), 0xffff);
        assert_eq!(unorm16(-1.0), 0);
    }
}
