//! Meshes: a small sphere for each atom, coloured by kind, chain and element.

use bevy::asset::RenderAssetUsages;
use bevy::mesh::{Indices, PrimitiveTopology, VertexAttributeValues};
use bevy::prelude::*;
use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::prelude::*;

/// Colours of the chains of each kind, which take turns: haemoglobin, ubiquitin, porin,
/// lysozyme, DNA.
const PALETTE: [[Srgba; 2]; 5] = [
    [Srgba::rgb(0.86, 0.36, 0.31), Srgba::rgb(0.93, 0.58, 0.42)],
    [Srgba::rgb(0.20, 0.62, 0.62), Srgba::rgb(0.35, 0.72, 0.66)],
    [Srgba::rgb(0.93, 0.73, 0.28), Srgba::rgb(0.85, 0.60, 0.22)],
    [Srgba::rgb(0.55, 0.44, 0.75), Srgba::rgb(0.66, 0.56, 0.82)],
    [Srgba::rgb(0.27, 0.51, 0.80), Srgba::rgb(0.52, 0.74, 0.90)],
];

/// How much of an element's own colour shows, from 0 to 1.
const ELEMENT_SHARE: f32 = 0.3;

/// Flat triangles.
pub fn triangle_mesh((corners, triangles): (Vec<Vec3>, Vec<[u32; 3]>)) -> Mesh {
    let indices = triangles.into_iter().flatten().collect();
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::default(),
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, corners)
    .with_inserted_indices(Indices::U32(indices))
    .with_duplicated_vertices()
    .with_computed_flat_normals()
}

/// One mesh for all atoms: an icosahedron of 20 triangles each, divided so often.
pub fn molecule_mesh(template: &MoleculeTemplate, kind: usize, subdivisions: u32) -> Mesh {
    let Some((ball, triangles)) = unit_sphere(subdivisions) else {
        return Sphere::new(template.bounding_radius()).mesh().build();
    };
    let count = template.atom_count() * ball.len();
    let (mut positions, mut normals, mut colours) = (
        Vec::with_capacity(count),
        Vec::with_capacity(count),
        Vec::with_capacity(count),
    );
    let mut indices = Vec::with_capacity(template.atom_count() * triangles.len());
    for atom in 0..template.atom_count() {
        let (centre, radius) = (template.positions()[atom], template.radii()[atom]);
        let chain = template.residue_of(atom).chain.bytes().last().unwrap_or(0);
        let colour = atom_colour(kind, chain, template.elements()[atom]);
        let first = positions.len() as u32;
        positions.extend(ball.iter().map(|&point| centre + radius * point));
        normals.extend_from_slice(&ball);
        colours.extend(ball.iter().map(|_| colour));
        indices.extend(triangles.iter().map(|index| first + index));
    }
    Mesh::new(
        PrimitiveTopology::TriangleList,
        RenderAssetUsages::RENDER_WORLD,
    )
    .with_inserted_attribute(Mesh::ATTRIBUTE_POSITION, positions)
    .with_inserted_attribute(Mesh::ATTRIBUTE_NORMAL, normals)
    .with_inserted_attribute(Mesh::ATTRIBUTE_COLOR, colours)
    .with_inserted_indices(Indices::U32(indices))
}

/// Points and indices of an icosphere of radius 1; the points are also its normals.
fn unit_sphere(subdivisions: u32) -> Option<(Vec<Vec3>, Vec<u32>)> {
    let mesh = Sphere::new(1.0).mesh().ico(subdivisions).ok()?;
    let Some(VertexAttributeValues::Float32x3(points)) = mesh.attribute(Mesh::ATTRIBUTE_POSITION)
    else {
        return None;
    };
    let indices = mesh.indices()?.iter().map(|index| index as u32);
    Some((
        points.iter().copied().map(Vec3::from_array).collect(),
        indices.collect(),
    ))
}

/// Linear colour of an atom.
fn atom_colour(kind: usize, chain: u8, element: Element) -> [f32; 4] {
    let chains = PALETTE[kind % PALETTE.len()];
    let base = chains[usize::from(chain) % chains.len()];
    let own = match element {
        Element::N => Srgba::rgb(0.25, 0.35, 0.95),
        Element::O => Srgba::rgb(0.95, 0.20, 0.15),
        Element::S => Srgba::rgb(0.95, 0.85, 0.20),
        Element::P => Srgba::rgb(1.00, 0.55, 0.10),
        Element::H => Srgba::rgb(1.00, 1.00, 1.00),
        Element::FE => Srgba::rgb(0.60, 0.10, 0.05),
        _ => base,
    };
    LinearRgba::from(base.mix(&own, ELEMENT_SHARE)).to_f32_array()
}
