//! Cameras, lights and drawing of the molecules.

use std::collections::HashMap;
use std::sync::Arc;

use bevy::camera::Viewport;
use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;
use bevy_rapier_molecules::docking::Role;
use bevy_rapier_molecules::molecule::{Atom, Element, Residue};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::{DepthCue, DrawDetail, MoleculeInstance};

use super::anaglyph::ANAGLYPH_LAYER;
use super::arguments::Stereo;
use super::common::orbit::Orbit;
use super::common::stage::BACKGROUND;
use super::view_settings::ViewSettings;
use super::window::Docked;

/// Opacity of the transparent molecule.
const TRANSPARENT_OPACITY: f32 = 0.3;

/// Factor on the radius of marked atoms.
const MARK_SCALE: f32 = 1.03;

/// Flash frequency of marked atoms, 1/s.
const FLASH_FREQUENCY: f32 = 3.0;

/// Illuminance of the light, lx.
const LUX: f32 = 9_000.0;

/// Distance of the camera relative to the radius of the receptor.
const CAMERA_DISTANCE: f32 = 2.6;

/// Minimum distance of the camera relative to the radius of the whole scene, so that all molecules
/// are in view.
const SCENE_DISTANCE: f32 = 1.5;

/// Color groups: blue receptor, yellow first ligand, red marks.
const RECEPTOR_GROUP: u32 = 4;
const LIGAND_GROUPS: [u32; 4] = [11, 2, 9, 7];
const MARK_GROUP: u32 = 0;

/// Color group of the atoms of the selected bond: green.
const BOND_GROUP: u32 = 6;

/// Factor on the radius of these atoms, which hydrogens may cover.
const BOND_SCALE: f32 = 1.3;

/// Draws the molecules.
pub struct ViewPlugin;

impl Plugin for ViewPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(GlobalAmbientLight {
            brightness: 500.0,
            ..default()
        })
        .add_systems(Startup, set_up)
        .add_systems(Update, (set_look, update_molecules, mark_atoms))
        .add_systems(
            PostUpdate,
            place_eyes.before(bevy::camera::CameraUpdateSystems),
        );
    }
}

/// The camera of the left (−1) or the right eye (1).
#[derive(Component)]
pub struct Eye(f32);

impl Eye {
    pub fn is_left(&self) -> bool {
        self.0 < 0.0
    }
}

/// The camera of the anaglyph.
#[derive(Component)]
pub struct OverlayCamera;

#[derive(Component)]
struct Light;

/// The drawing of a molecule.
#[derive(Component)]
struct DrawnRole(Role);

/// Marked atoms: the template of each radius.
#[derive(Component, Default)]
struct Marks(HashMap<u32, u32>);

fn set_up(mut commands: Commands, docked: Res<Docked>) {
    let session = &docked.0.session;
    let focus = session.pose(Role::Receptor).position;
    let radius = |role: Role| session.molecule(role).template().bounding_radius();
    let reach = |role: Role| session.pose(role).position.distance(focus) + radius(role);
    let scene_radius = session.roles().map(reach).fold(0.0, f32::max);
    commands
        .spawn((
            Visibility::default(),
            Orbit {
                focus,
                distance: (CAMERA_DISTANCE * radius(Role::Receptor))
                    .max(SCENE_DISTANCE * scene_radius),
                yaw: 0.0,
                pitch: 0.15,
            },
            Transform::default(),
        ))
        .with_children(|rig| {
            rig.spawn((Camera3d::default(), Msaa::Off, Eye(-1.0)));
            rig.spawn((
                Camera3d::default(),
                Msaa::Off,
                Camera {
                    order: 1,
                    is_active: false,
                    clear_color: ClearColorConfig::None,
                    ..default()
                },
                Eye(1.0),
            ));
            rig.spawn((DirectionalLight::default(), Light));
        });
    commands.spawn((
        Camera3d::default(),
        Msaa::Off,
        Tonemapping::None,
        Camera {
            order: 2,
            clear_color: ClearColorConfig::None,
            ..default()
        },
        RenderLayers::layer(ANAGLYPH_LAYER),
        OverlayCamera,
    ));
    for role in session.roles() {
        commands.spawn((
            InstancedMolecules::default(),
            MoleculeTint::default(),
            DrawnRole(role),
        ));
    }
    commands.spawn((InstancedMolecules::default(), Marks::default()));
}

fn set_look(
    settings: Res<ViewSettings>,
    mut look: ResMut<MoleculeStyle>,
    mut lights: Query<(&mut DirectionalLight, &mut Transform), With<Light>>,
) {
    let wanted = MoleculeStyle {
        color: settings.color,
        headlight: if settings.headlight { 0.9 } else { 0.0 },
        detail: DrawDetail::Atoms,
        depth_cue: DepthCue {
            color: BACKGROUND,
            ..default()
        },
        ..default()
    };
    if *look != wanted {
        *look = wanted;
    }
    if !settings.is_changed() {
        return;
    }
    let Vec2 { x: right, y: up } = settings.light;
    for (mut light, mut transform) in &mut lights {
        light.illuminance = if settings.headlight { 0.0 } else { LUX };
        // Light shines along −z of its frame.
        transform.rotation = Quat::from_euler(EulerRot::YXZ, right, -up, 0.0);
    }
}

/// Updates the drawn molecules after changes.
fn update_molecules(
    docked: Res<Docked>,
    settings: Res<ViewSettings>,
    mut crowds: Query<(&mut InstancedMolecules, &mut MoleculeTint, &DrawnRole)>,
) {
    if !docked.is_changed() && !settings.is_changed() {
        return;
    }
    for (mut crowd, mut tint, &DrawnRole(role)) in &mut crowds {
        let session = &docked.0.session;
        let template = session.molecule(role).template();
        let is_current = matches!(&crowd.templates[..], [one] if Arc::ptr_eq(one, template));
        if !is_current {
            crowd.templates = vec![Arc::clone(template)];
        }
        let is_transparent = settings.transparent == Some(role);
        tint.opacity = if is_transparent {
            TRANSPARENT_OPACITY
        } else {
            1.0
        };
        crowd.molecules = vec![MoleculeInstance {
            group: match role {
                Role::Receptor => RECEPTOR_GROUP,
                Role::Ligand(ligand) => LIGAND_GROUPS[ligand as usize % LIGAND_GROUPS.len()],
            },
            ..MoleculeInstance::new(0, session.pose(role))
        }];
    }
}

/// Marks the atoms that overlap or touch, and those of the selected bond.
fn mark_atoms(
    docked: Res<Docked>,
    settings: Res<ViewSettings>,
    time: Res<Time>,
    mut crowds: Query<(&mut InstancedMolecules, &mut Marks)>,
) {
    let is_lit = !settings.flash || (FLASH_FREQUENCY * time.elapsed_secs()).fract() < 0.7;
    let dock = &docked.0;
    let pairs = if dock.clashes.is_empty() {
        &dock.touching
    } else {
        &dock.clashes
    };
    let atoms = pairs.iter().filter(|_| is_lit).flat_map(|contact| {
        let [one, other] = contact.molecules;
        let atoms = [(one, contact.atoms.a), (other, contact.atoms.b)];
        atoms.map(|(role, atom)| (role, atom, MARK_GROUP, MARK_SCALE))
    });
    let moved = dock.session.config().moved;
    let bond = dock.selected_bond().into_iter().flat_map(|bond| {
        let atoms = dock.session.bonds(moved)[bond].atoms;
        atoms.map(|atom| (moved, atom, BOND_GROUP, BOND_SCALE))
    });
    let marks = atoms.chain(bond).map(|(role, atom, group, scale)| {
        let radii = dock.session.molecule(role).template().radii();
        let radius = radii[atom as usize] * scale;
        (dock.atom_position(role, atom), radius, group)
    });
    let marked: Vec<(Vec3, f32, u32)> = marks.collect();
    for (mut crowd, mut marks) in &mut crowds {
        if crowd.molecules.is_empty() && marked.is_empty() {
            continue;
        }
        crowd.molecules.clear();
        for &(position, radius, group) in &marked {
            let template = match marks.0.get(&radius.to_bits()) {
                Some(&template) => template,
                None => {
                    let Some(ball) = ball(radius) else {
                        continue;
                    };
                    crowd.templates.push(Arc::new(ball));
                    let template = crowd.templates.len() as u32 - 1;
                    marks.0.insert(radius.to_bits(), template);
                    template
                }
            };
            crowd.molecules.push(MoleculeInstance {
                group,
                colliding: group == MARK_GROUP,
                ..MoleculeInstance::new(template, Pose::from_translation(position))
            });
        }
    }
}

/// A template of one atom.
fn ball(radius: f32) -> Option<MoleculeTemplate> {
    let atom = Atom {
        position: Vec3::ZERO,
        radius,
        element: Element::P,
        name: "mark".into(),
        residue: 0,
    };
    MoleculeTemplate::new("mark", vec![atom], vec![Residue::default()]).ok()
}

/// Places one centered camera, or one per eye with half of the window or its own image.
pub fn place_eyes(
    settings: Res<ViewSettings>,
    orbits: Query<&Orbit>,
    mut eyes: Query<(&Eye, &mut Camera, &mut Transform)>,
) {
    let Some(orbit) = orbits.iter().next() else {
        return;
    };
    for (&Eye(side), mut camera, mut transform) in &mut eyes {
        let stereo = settings.stereo != Stereo::Off;
        let is_active = stereo || side < 0.0;
        if camera.is_active != is_active {
            camera.is_active = is_active;
        }
        // The second camera of a window must not clear it.
        let keeps_image = side > 0.0 && settings.stereo != Stereo::Anaglyph;
        if matches!(camera.clear_color, ClearColorConfig::None) != keeps_image {
            camera.clear_color = if keeps_image {
                ClearColorConfig::None
            } else {
                ClearColorConfig::Default
            };
        }
        let half = 0.5 * settings.eye_distance * orbit.distance;
        let (shift, is_left_image) = match settings.stereo {
            Stereo::Off => (0.0, true),
            Stereo::Anaglyph => (side * half, true),
            Stereo::Parallel => (side * half, side < 0.0),
            Stereo::Crossed => (side * half, side > 0.0),
        };
        // Both cameras look at the focus.
        let pose =
            Transform::from_xyz(shift, 0.0, 0.0).looking_at(Vec3::NEG_Z * orbit.distance, Vec3::Y);
        if *transform != pose {
            *transform = pose;
        }
        let window = camera.physical_target_size();
        let is_side_by_side = matches!(settings.stereo, Stereo::Parallel | Stereo::Crossed);
        let viewport = window.filter(|_| is_side_by_side).and_then(|size| {
            let width = size.x / 2;
            let left = if is_left_image { 0 } else { width };
            (width > 0 && size.y > 0).then(|| Viewport {
                physical_position: UVec2::new(left, 0),
                physical_size: UVec2::new(width, size.y),
                ..default()
            })
        });
        let is_unchanged = match (&camera.viewport, &viewport) {
            (Some(a), Some(b)) => {
                (a.physical_position, a.physical_size) == (b.physical_position, b.physical_size)
            }
            (None, None) => true,
            _ => false,
        };
        if !is_unchanged {
            camera.viewport = viewport;
        }
    }
}
