//! Draws what is otherwise not seen: cells, contacts, spheres, compartments, springs.

use bevy::gizmos::GizmoPlugin;
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    PhysicsSet, RapierContextColliders, RapierContextEntityLink, RapierContextSimulation,
};

use super::compartment::InCompartment;
use super::compartment_springs::CheckedPlace;
use super::compartment_surface::CompartmentSurface;
use super::components::{Colliding, MoleculeDetail};
use super::molecule_world::{ContactModel, MoleculeWorld};
use super::prepared_molecule::PreparedMolecule;
use super::queries::MoleculeQueries;
use super::shape_outline::outline;
use crate::dynamics::MemberSpheres;
use crate::pose::Pose;

/// Sides of the circles that stand for a sphere.
const SPHERE_SIDES: u32 = 12;

/// What is drawn of the molecules, and how. Everything is off at first:
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// fn show_contacts(mut store: ResMut<GizmoConfigStore>) {
///     if let Some((_, molecules)) = store.get_config_mut::<MoleculeGizmos>() {
///         molecules.contacts = true;
///     }
/// }
/// ```
///
/// The group is there if Bevy's `GizmoPlugin` is, which is one of `DefaultPlugins`.
/// Line width, depth and layers are those of the group's [`GizmoConfig`]. Where there
/// is more to draw than a limit, the rest is left out.
#[derive(Clone, Debug, PartialEq, Reflect, GizmoConfigGroup)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct MoleculeGizmos {
    /// Draws the cells of the search that have spheres in them, in
    /// [`ContactModel::Crowd`]. Default: false.
    pub cells: bool,
    /// Draws a line along the normal of each contact of a molecule, colored by its
    /// depth; where the last substep found it. Default: false.
    pub contacts: bool,
    /// Draws the spheres that stand for the molecules in the search. Default: false.
    pub spheres: bool,
    /// Draws this many proxies of each molecule, whatever stands for it in the search; none
    /// if 0. Default: 0.
    pub proxies: u32,
    /// Draws the surfaces of compartments. Default: false.
    pub compartments: bool,
    /// Draws a line from each molecule that is out of its place to where it belongs,
    /// and from its head to where that should be. Default: false.
    pub springs: bool,
    /// Color of cells. Default: gray.
    pub cell_color: Color,
    /// Color of contacts that just touch. Default: green.
    pub touch_color: Color,
    /// Color of contacts as deep as `deep`. Default: red.
    pub deep_color: Color,
    /// Color of spheres. Default: blue.
    pub sphere_color: Color,
    /// Color of proxies of molecules that touch nobody. Default: green.
    pub proxy_color: Color,
    /// Color of proxies of molecules that overlap others. Default: red.
    pub colliding_proxy_color: Color,
    /// Color of compartments. Default: turquoise.
    pub compartment_color: Color,
    /// Color of springs. Default: orange.
    pub spring_color: Color,
    /// Overlap from which on contacts have `deep_color`, nm. Default: 0.05 nm.
    pub deep: f32,
    /// Length of the line at a contact, nm. Default: 0.3 nm.
    pub contact_length: f32,
    /// Most cells drawn; 12 lines each. Default: 4000.
    pub max_cells: usize,
    /// Most contacts drawn. Default: 20,000.
    pub max_contacts: usize,
    /// Most spheres drawn, and most proxies; 36 lines each. Default: 2000.
    pub max_spheres: usize,
    /// Most lines drawn for one compartment. Default: 50,000.
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

/// Draws what [`MoleculeGizmos`] asks for. Part of
/// [`MoleculePlugins`](super::MoleculePlugins) with the feature `gizmos`.
///
/// Without Bevy's `GizmoPlugin` it does nothing; it needs no render app.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoleculeGizmoPlugin;

/// Whether the systems are in the app.
#[derive(Resource)]
struct Drawing;

impl Plugin for MoleculeGizmoPlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<MoleculeGizmos>();
        draw_if_possible(app);
    }

    /// Bevy's plugin may have been added after ours.
    fn finish(&self, app: &mut App) {
        draw_if_possible(app);
    }
}

fn draw_if_possible(app: &mut App) {
    if !app.is_plugin_added::<GizmoPlugin>() || app.world().contains_resource::<Drawing>() {
        return;
    }
    app.insert_resource(Drawing)
        .init_gizmo_group::<MoleculeGizmos>()
        .add_systems(
            PostUpdate,
            (
                draw_cells.run_if(shown(|group| group.cells)),
                draw_contacts.run_if(shown(|group| group.contacts)),
                draw_spheres.run_if(shown(|group| group.spheres)),
                draw_proxies.run_if(shown(|group| group.proxies > 0)),
                draw_compartments.run_if(shown(|group| group.compartments)),
                draw_springs.run_if(shown(|group| group.springs)),
            )
                .after(PhysicsSet::Writeback)
                .after(TransformSystems::Propagate),
        );
}

/// Whether the group is enabled and one of its switches is on.
fn shown(switch: fn(&MoleculeGizmos) -> bool) -> impl Fn(Option<Res<GizmoConfigStore>>) -> bool {
    move |store| {
        let group = store.as_ref().and_then(|store| store.get_config());
        group.is_some_and(|(config, group)| config.enabled && switch(group))
    }
}

/// What stands for each molecule in the search.
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
        for &center in &prepared.0.spheres(*detail).centers {
            if drawn.len() >= group.max_cells {
                return;
            }
            let cell = world.contacts().cell_around(pose.transform_point(center));
            if let Some(cell) = cell
                && drawn.insert((link.0, cell.number))
            {
                let middle = Vec3::splat(0.5 * cell.width);
                let place = Transform::from_translation(cell.low + middle).with_scale(2.0 * middle);
                gizmos.cube(place, group.cell_color);
            }
        }
    }
}

fn draw_spheres(mut gizmos: Gizmos<MoleculeGizmos>, spheres: Spheres, molecules: MoleculeQueries) {
    let group = gizmos.config_ext;
    let mut left = group.max_spheres;
    for (molecule, prepared, detail, _) in &spheres {
        let Some(pose) = molecules.pose(molecule) else {
            continue;
        };
        let spheres = prepared.0.spheres(*detail);
        draw_balls(&mut gizmos, &spheres, &pose, group.sphere_color, &mut left);
    }
}

/// Draws spheres of a molecule, as many as are left.
fn draw_balls(
    gizmos: &mut Gizmos<MoleculeGizmos>,
    spheres: &MemberSpheres,
    pose: &Pose,
    color: Color,
    left: &mut usize,
) {
    for (&center, &radius) in spheres.centers.iter().zip(&spheres.radii).take(*left) {
        let place = Isometry3d::from_translation(pose.transform_point(center));
        gizmos.sphere(place, radius, color).resolution(SPHERE_SIDES);
    }
    *left = left.saturating_sub(spheres.len());
}

/// Proxies in the colors of the thesis: red where their molecule collides, else green.
fn draw_proxies(
    mut gizmos: Gizmos<MoleculeGizmos>,
    proxies: Query<(Entity, &PreparedMolecule, Option<&Colliding>)>,
    molecules: MoleculeQueries,
) {
    let group = gizmos.config_ext;
    let mut left = group.max_spheres;
    for (molecule, prepared, colliding) in &proxies {
        let Some(pose) = molecules.pose(molecule) else {
            continue;
        };
        let detail = MoleculeDetail::Proxies(group.proxies);
        let spheres = prepared.0.spheres(detail);
        let color = match colliding {
            Some(colliding) if colliding.any() => group.colliding_proxy_color,
            _ => group.proxy_color,
        };
        draw_balls(&mut gizmos, &spheres, &pose, color, &mut left);
    }
}

/// Contacts of the crowd, and those of Rapier with a molecule on either side.
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
    let mut left = group.max_contacts;
    let mut draw = |point: Vec3, normal: Vec3, gap: f32| {
        let half = normal * (0.5 * group.contact_length);
        let color = group
            .touch_color
            .mix(&group.deep_color, depth(gap, group.deep));
        if left > 0 && (point + half).is_finite() {
            left -= 1;
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
                    let place = first.position().transform_point(point.local_p1);
                    draw(place, normal, point.dist);
                }
            }
        }
    }
}

/// How deep a contact is, from 0 (touches) to 1 (as deep as `deep`, nm, or deeper).
fn depth(gap: f32, deep: f32) -> f32 {
    if gap < 0.0 && deep > 0.0 {
        (-gap / deep).min(1.0)
    } else if gap < 0.0 {
        1.0
    } else {
        0.0
    }
}

fn draw_compartments(
    mut gizmos: Gizmos<MoleculeGizmos>,
    surfaces: Query<(&CompartmentSurface, &GlobalTransform)>,
) {
    let group = gizmos.config_ext;
    for (surface, transform) in &surfaces {
        let (_, rotation, position) = transform.to_scale_rotation_translation();
        let place = Isometry3d::new(position, rotation);
        if !transform.affine().is_finite() {
            continue;
        }
        let (points, lines) = outline(&*surface.shape().0);
        for line in lines.iter().take(group.max_compartment_lines) {
            let [Some(a), Some(b)] = line.map(|index| points.get(index as usize)) else {
                continue;
            };
            gizmos.line(place * *a, place * *b, group.compartment_color);
        }
    }
}

fn draw_springs(
    mut gizmos: Gizmos<MoleculeGizmos>,
    held: Query<(Entity, &InCompartment, &CheckedPlace, &PreparedMolecule)>,
    surfaces: Query<&CompartmentSurface>,
    molecules: MoleculeQueries,
) {
    let group = gizmos.config_ext;
    for (molecule, place, checked, prepared) in &held {
        let (Ok(surface), Some(pose)) = (surfaces.get(place.compartment), molecules.pose(molecule))
        else {
            continue;
        };
        let excess = checked.excess(surface, &pose);
        if !pose.is_finite() || excess.is_in_place() {
            continue;
        }
        let belongs = pose.position - excess.normal * excess.height;
        gizmos.line(pose.position, belongs, group.spring_color);
        if excess.tilt > 0.0 {
            let head = excess.up * prepared.shared().template().bounding_radius();
            let upright = Quat::from_scaled_axis(excess.axis * excess.tilt) * head;
            gizmos.line(pose.position, pose.position + head, group.spring_color);
            gizmos.line(pose.position + head, belongs + upright, group.spring_color);
        }
    }
}
