//! Gizmos: cells, contacts, spheres, compartments, springs.

use bevy::gizmos::GizmoPlugin;
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy_rapier3d::parry::shape::{Shape, TypedShape};
use bevy_rapier3d::prelude::{
    PhysicsSet, RapierContextColliders, RapierContextEntityLink, RapierContextSimulation,
};

use super::compartment::{CompartmentSurface, InCompartment};
use super::compartment_springs::ValidConfinement;
use super::components::{Colliding, MoleculeDetail};
use super::molecule_world::{ContactModel, MoleculeWorld};
use super::prepared_molecule::PreparedMolecule;
use super::queries::MoleculeQueries;
use crate::pose::Pose;
use crate::search::RigidSpheres;

/// Number of sides of the circles of a sphere.
const SPHERE_SIDES: u32 = 12;

/// Number of sides of the circles of a compartment.
const SIDES: u32 = 32;

/// Number of sides of the quarter circle of a rounded edge.
const BORDER_SIDES: u32 = 5;

/// The gizmo config group of molecules. Everything is off by default:
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn show_contacts(mut store: ResMut<GizmoConfigStore>) {
///     if let Some((_, molecules)) = store.get_config_mut::<MoleculeGizmos>() {
///         molecules.contacts = true;
///     }
/// }
/// ```
///
/// The group exists if Bevy's `GizmoPlugin`, one of `DefaultPlugins`, is added. Its
/// [`GizmoConfig`] sets line width, depth and layers. Gizmos beyond a limit are not drawn.
#[derive(Clone, Debug, PartialEq, Reflect, GizmoConfigGroup)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct MoleculeGizmos {
    /// Draws the occupied cells of the search in [`ContactModel::Crowd`]. Default: false.
    pub cells: bool,
    /// Draws a line along the normal of each contact of a molecule, colored by depth, as of
    /// the last substep. Default: false.
    pub contacts: bool,
    /// Draws the spheres of the molecules in the search. Default: false.
    pub spheres: bool,
    /// Draws this many proxies of each molecule, whatever its [`MoleculeDetail`]. Default: 0.
    pub proxies: u32,
    /// Draws the surfaces of compartments. Default: false.
    pub compartments: bool,
    /// Draws a line from each molecule outside its region to its target, and from its head to
    /// the target of the head. Default: false.
    pub springs: bool,
    /// Color of cells. Default: gray.
    pub cell_color: Color,
    /// Color of contacts of zero depth. Default: green.
    pub touch_color: Color,
    /// Color of contacts of at least the depth `deep`. Default: red.
    pub deep_color: Color,
    /// Color of spheres. Default: blue.
    pub sphere_color: Color,
    /// Color of proxies of molecules that touch no other. Default: green.
    pub proxy_color: Color,
    /// Color of proxies of molecules that overlap others. Default: red.
    pub colliding_proxy_color: Color,
    /// Color of compartments. Default: turquoise.
    pub compartment_color: Color,
    /// Color of springs. Default: orange.
    pub spring_color: Color,
    /// Overlap from which contacts have `deep_color`, nm. Default: 0.05 nm.
    pub deep: f32,
    /// Length of the line at a contact, nm. Default: 0.3 nm.
    pub contact_length: f32,
    /// Maximum number of cells, with 12 lines each. Default: 4000.
    pub max_cells: usize,
    /// Maximum number of contacts. Default: 20,000.
    pub max_contacts: usize,
    /// Maximum number of spheres, and of proxies, with 36 lines each. Default: 2000.
    pub max_spheres: usize,
    /// Maximum number of lines per compartment. Default: 50,000.
    pub max_compartment_lines: usize,
}

impl Default for MoleculeGizmos {
    fn default() -> Self {
        Self {
            cells: false,
            contacts: false,
            spheres: false,
            proxies: 0,
            compartments: false,
            springs: false,
            cell_color: Color::srgba(0.6, 0.6, 0.6, 0.4),
            touch_color: Color::srgb(0.2, 0.9, 0.3),
            deep_color: Color::srgb(1.0, 0.1, 0.1),
            sphere_color: Color::srgba(0.3, 0.5, 1.0, 0.6),
            proxy_color: Color::srgba(0.2, 0.9, 0.3, 0.6),
            colliding_proxy_color: Color::srgba(1.0, 0.1, 0.1, 0.6),
            compartment_color: Color::srgb(0.2, 0.8, 0.8),
            spring_color: Color::srgb(1.0, 0.6, 0.1),
            deep: 0.05,
            contact_length: 0.3,
            max_cells: 4000,
            max_contacts: 20_000,
            max_spheres: 2000,
            max_compartment_lines: 50_000,
        }
    }
}

/// Draws [`MoleculeGizmos`]. Part of [`MoleculePlugins`](super::MoleculePlugins) with the
/// feature `gizmos`.
///
/// Does nothing without Bevy's `GizmoPlugin`. Needs no render app.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoleculeGizmoPlugin;

/// Marks that the systems are added.
#[derive(Resource)]
struct SystemsAdded;

impl Plugin for MoleculeGizmoPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<MoleculeGizmos>();
        add_systems(app);
    }

    /// Bevy's plugin may have been added after this one.
    fn finish(&self, app: &mut App) {
        add_systems(app);
    }
}

fn add_systems(app: &mut App) {
    if !app.is_plugin_added::<GizmoPlugin>() || app.world().contains_resource::<SystemsAdded>() {
        return;
    }
    app.insert_resource(SystemsAdded)
        .init_gizmo_group::<MoleculeGizmos>()
        .add_systems(
            PostUpdate,
            (
                draw_cells.run_if(enabled(|group| group.cells)),
                draw_contacts.run_if(enabled(|group| group.contacts)),
                draw_spheres.run_if(enabled(|group| group.spheres)),
                draw_proxies.run_if(enabled(|group| group.proxies > 0)),
                draw_compartments.run_if(enabled(|group| group.compartments)),
                draw_springs.run_if(enabled(|group| group.springs)),
            )
                .after(PhysicsSet::Writeback)
                .after(TransformSystems::Propagate),
        );
}

/// Whether the group is enabled and `condition` holds.
fn enabled(
    condition: fn(&MoleculeGizmos) -> bool,
) -> impl Fn(Option<Res<GizmoConfigStore>>) -> bool {
    move |store| {
        let group = store.as_ref().and_then(|store| store.get_config());
        group.is_some_and(|(config, group)| config.enabled && condition(group))
    }
}

/// The data of a molecule's spheres in the search.
type Spheres<'w, 's> = Query<
    'w,
    's,
    (
        Entity,
        &'static PreparedMolecule,
        &'static MoleculeDetail,
        &'static RapierContextEntityLink,
    ),
>;

fn draw_cells(
    mut gizmos: Gizmos<MoleculeGizmos>,
    model: Option<Res<ContactModel>>,
    worlds: Query<&MoleculeWorld>,
    spheres: Spheres,
    molecules: MoleculeQueries,
    mut drawn: Local<HashSet<(Entity, IVec3)>>,
) {
    let group = gizmos.config_ext;
    drawn.clear();
    if model.is_none_or(|model| *model != ContactModel::Crowd) {
        return;
    }
    for (molecule, prepared, detail, link) in &spheres {
        let (Ok(world), Some(pose)) = (worlds.get(link.0), molecules.pose(molecule)) else {
            continue;
        };
        for &center in prepared.spheres(*detail).centers() {
            if drawn.len() >= group.max_cells {
                return;
            }
            let cell = world.contacts().cell_around(pose.transform_point(center));
            if let Some(cell) = cell
                && drawn.insert((link.0, cell.number))
            {
                let half = Vec3::splat(0.5 * cell.width);
                let cube = Transform::from_translation(cell.low + half).with_scale(2.0 * half);
                gizmos.cube(cube, group.cell_color);
            }
        }
    }
}

fn draw_spheres(mut gizmos: Gizmos<MoleculeGizmos>, spheres: Spheres, molecules: MoleculeQueries) {
    let group = gizmos.config_ext;
    let mut remaining = group.max_spheres;
    for (molecule, prepared, detail, _) in &spheres {
        if let Some(pose) = molecules.pose(molecule) {
            let spheres = prepared.spheres(*detail);
            let color = group.sphere_color;
            draw_molecule(&mut gizmos, &spheres, &pose, color, &mut remaining);
        }
    }
}

/// Draws the spheres of a molecule, up to the remaining number.
fn draw_molecule(
    gizmos: &mut Gizmos<MoleculeGizmos>,
    spheres: &RigidSpheres,
    pose: &Pose,
    color: Color,
    remaining: &mut usize,
) {
    let all = spheres.centers().iter().zip(spheres.radii());
    for (&center, &radius) in all.take(*remaining) {
        let isometry = Isometry3d::from_translation(pose.transform_point(center));
        gizmos
            .sphere(isometry, radius, color)
            .resolution(SPHERE_SIDES);
    }
    *remaining = remaining.saturating_sub(spheres.len());
}

/// Draws proxies in the colors of the thesis: red if the molecule collides, else green.
fn draw_proxies(
    mut gizmos: Gizmos<MoleculeGizmos>,
    proxies: Query<(Entity, &PreparedMolecule, Option<&Colliding>)>,
    molecules: MoleculeQueries,
) {
    let group = gizmos.config_ext;
    let mut remaining = group.max_spheres;
    for (molecule, prepared, colliding) in &proxies {
        let Some(pose) = molecules.pose(molecule) else {
            continue;
        };
        let spheres = prepared.spheres(MoleculeDetail::Proxies(group.proxies));
        let color = match colliding {
            Some(colliding) if colliding.any() => group.colliding_proxy_color,
            _ => group.proxy_color,
        };
        draw_molecule(&mut gizmos, &spheres, &pose, color, &mut remaining);
    }
}

/// Draws the contacts of the crowd, and Rapier's contacts of molecules.
fn draw_contacts(
    mut gizmos: Gizmos<MoleculeGizmos>,
    model: Option<Res<ContactModel>>,
    worlds: Query<(
        &MoleculeWorld,
        &RapierContextSimulation,
        &RapierContextColliders,
    )>,
    molecules: Query<(), With<PreparedMolecule>>,
) {
    let group = gizmos.config_ext;
    let mut remaining = group.max_contacts;
    let mut draw = |point: Vec3, normal: Vec3, gap: f32| {
        let half = normal * (0.5 * group.contact_length);
        let depth = (-gap).max(0.0) / group.deep.max(f32::MIN_POSITIVE);
        let color = group.touch_color.mix(&group.deep_color, depth.min(1.0));
        if remaining > 0 && (point + half).is_finite() {
            remaining -= 1;
            gizmos.line(point - half, point + half, color);
        }
    };
    let crowd = model.is_some_and(|model| *model == ContactModel::Crowd);
    for (world, simulation, colliders) in &worlds {
        if crowd {
            let contacts = world.contacts();
            let solved = contacts.contacts().iter();
            for contact in solved.filter(|contact| contact.is_active()) {
                if let Some(point) = contacts.contact_point(contact) {
                    draw(point, contact.normal, contact.gap);
                }
            }
        }
        let is_molecule = |handle| {
            let entity = colliders.collider_entity(handle);
            entity.is_some_and(|entity| molecules.contains(entity))
        };
        for pair in simulation.narrow_phase.contact_pairs() {
            if !(is_molecule(pair.collider1) || is_molecule(pair.collider2)) {
                continue;
            }
            let Some(first) = colliders.colliders.get(pair.collider1) else {
                continue;
            };
            for manifold in &pair.manifolds {
                let normal = first.rotation() * manifold.local_n1;
                for point in &manifold.points {
                    let position = first.position().transform_point(point.local_p1);
                    draw(position, normal, point.dist);
                }
            }
        }
    }
}

fn draw_compartments(
    mut gizmos: Gizmos<MoleculeGizmos>,
    surfaces: Query<(&CompartmentSurface, &GlobalTransform)>,
) {
    let group = gizmos.config_ext;
    for (surface, transform) in &surfaces {
        let Some(shape) = surface.shape() else {
            continue;
        };
        if !transform.affine().is_finite() {
            continue;
        }
        let isometry = transform.to_isometry();
        let (points, lines) = outline(&*shape.0);
        for line in lines.iter().take(group.max_compartment_lines) {
            let [Some(a), Some(b)] = line.map(|index| points.get(index as usize)) else {
                continue;
            };
            gizmos.line(isometry * *a, isometry * *b, group.compartment_color);
        }
    }
}

/// Points (nm) in the frame of a shape, and the indices of the two ends of each line.
///
/// These are all edges of a mesh, and edges and circles of other solids. Empty for shapes
/// that are not supported as compartments.
fn outline(shape: &dyn Shape) -> (Vec<Vec3>, Vec<[u32; 2]>) {
    match shape.as_typed_shape() {
        TypedShape::Ball(ball) => ball.to_outline(SIDES),
        TypedShape::Cuboid(cuboid) => cuboid.to_outline(),
        TypedShape::Capsule(capsule) => capsule.to_outline(SIDES),
        TypedShape::Cylinder(cylinder) => cylinder.to_outline(SIDES),
        TypedShape::Cone(cone) => cone.to_outline(SIDES),
        TypedShape::RoundCuboid(round) => round.to_outline(BORDER_SIDES),
        TypedShape::RoundCylinder(round) => round.to_outline(SIDES, BORDER_SIDES),
        TypedShape::RoundCone(round) => round.to_outline(SIDES, BORDER_SIDES),
        TypedShape::RoundConvexPolyhedron(round) => round.to_outline(BORDER_SIDES),
        TypedShape::ConvexPolyhedron(polyhedron) => {
            let around = polyhedron.vertices_adj_to_face();
            let faces = polyhedron.faces().iter().map(|face| {
                let first = face.first_vertex_or_edge as usize;
                let count = face.num_vertices_or_edges as usize;
                around.get(first..first + count).unwrap_or_default()
            });
            let edges = faces.flat_map(edges_once).collect();
            (polyhedron.points().to_vec(), edges)
        }
        TypedShape::TriMesh(mesh) => {
            let triangles = mesh.indices().iter().map(|triangle| &triangle[..]);
            let edges = triangles.flat_map(edges_once).collect();
            (mesh.vertices().to_vec(), edges)
        }
        _ => (Vec::new(), Vec::new()),
    }
}

/// The edges of a face whose first vertex has the smaller index. In a closed surface, the
/// face on the other side of an edge has it in the opposite direction.
fn edges_once(face: &[u32]) -> impl Iterator<Item = [u32; 2]> + '_ {
    let next = face.iter().cycle().skip(1);
    let edges = face.iter().zip(next).map(|(a, b)| [*a, *b]);
    edges.filter(|[a, b]| a < b)
}

fn draw_springs(
    mut gizmos: Gizmos<MoleculeGizmos>,
    confined: Query<(Entity, &InCompartment, &ValidConfinement, &PreparedMolecule)>,
    surfaces: Query<&CompartmentSurface>,
    molecules: MoleculeQueries,
) {
    let color = gizmos.config_ext.spring_color;
    for (molecule, held, confinement, prepared) in &confined {
        let (Ok(surface), Some(pose)) = (surfaces.get(held.compartment), molecules.pose(molecule))
        else {
            continue;
        };
        let excess = confinement.excess(surface, &pose);
        if !pose.is_finite() || excess.is_in_place() {
            continue;
        }
        let target = pose.position - excess.normal * excess.height;
        gizmos.line(pose.position, target, color);
        if excess.tilt > 0.0 {
            let head = excess.up * prepared.template().bounding_radius();
            let upright = Quat::from_scaled_axis(excess.axis * excess.tilt) * head;
            gizmos.line(pose.position, pose.position + head, color);
            gizmos.line(pose.position + head, target + upright, color);
        }
    }
}
