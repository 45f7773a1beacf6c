//! The molecules on the screen: cameras, lights, colors.

use std::collections::HashMap;
use std::sync::Arc;

use bevy::camera::Viewport;
use bevy::camera::visibility::RenderLayers;
use bevy::core_pipeline::tonemapping::Tonemapping;
use bevy::prelude::*;
use bevy_rapier_molecules::docking::Role;
use bevy_rapier_molecules::molecule::{Atom, Element, Residue};
use bevy_rapier_molecules::prelude::*;

use super::anaglyph::PANE_LAYER;
use super::arguments::Stereo;
use super::common::orbit::Orbit;
use super::common::stage::BACKGROUND;
use super::view_settings::Switches;
use super::window::Docked;

/// Opacity of a molecule that is seen through.
const FAINT: f32 = 0.3;

/// How much larger atoms are that are pointed out.
const LARGER: f32 = 1.03;

/// Flashes of colliding atoms, 1/s.
const FLASHES: f32 = 3.0;

/// How bright the light is, lx.
const LUX: f32 = 9_000.0;

/// Distance of the camera in units of the receptor's radius.
const DISTANCE: f32 = 2.6;

/// Groups whose colors are blue, yellow and red: the receptor, the ligand, atoms that are
/// pointed out.
const RECEPTOR_GROUP: u32 = 4;
const LIGAND_GROUP: u32 = 11;
const MARK_GROUP: u32 = 0;

/// Shows the molecules.
pub struct ViewPlugin;

impl Plugin for ViewPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(GlobalAmbientLight {
            brightness: 500.0,
            ..default()
        })
        .add_systems(Startup, set_up)
        .add_systems(Update, (set_look, show_molecules, mark))
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

/// The camera of the anaglyph's pane, in front of both eyes.
#[derive(Component)]
pub struct Front;

#[derive(Component)]
struct Light;

/// A molecule on the screen.
#[derive(Component)]
struct Shown(Role);

/// Atoms that are pointed out, and one shape for each radius.
#[derive(Component, Default)]
struct Marks(HashMap<u32, u32>);

fn set_up(mut commands: Commands, docked: Res<Docked>) {
    let session = &docked.0.session;
    let receptor = session.molecule(Role::Receptor).template();
    commands
        .spawn((
            Visibility::default(),
            Orbit {
                focus: session.pose(Role::Receptor).position,
                distance: DISTANCE * receptor.bounding_radius(),
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
        RenderLayers::layer(PANE_LAYER),
        Front,
    ));
    for part in [Role::Receptor, Role::Ligand] {
        commands.spawn((InstancedMolecules::default(), Shown(part)));
    }
    commands.spawn((InstancedMolecules::default(), Marks::default()));
}

fn set_look(
    switches: Res<Switches>,
    mut look: ResMut<MoleculeStyle>,
    mut lights: Query<(&mut DirectionalLight, &mut Transform), With<Light>>,
) {
    let wanted = MoleculeStyle {
        color: switches.color,
        headlight: if switches.headlight { 0.9 } else { 0.0 },
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
    if !switches.is_changed() {
        return;
    }
    let Vec2 { x: right, y: up } = switches.light;
    for (mut light, mut transform) in &mut lights {
        light.illuminance = if switches.headlight { 0.0 } else { LUX };
        // Light shines along −z of its frame.
        transform.rotation = Quat::from_euler(EulerRot::YXZ, right, -up, 0.0);
    }
}

/// Draws both molecules where they are, if something has changed.
fn show_molecules(
    docked: Res<Docked>,
    switches: Res<Switches>,
    mut crowds: Query<(&mut InstancedMolecules, &Shown)>,
) {
    if !docked.is_changed() && !switches.is_changed() {
        return;
    }
    for (mut crowd, &Shown(part)) in &mut crowds {
        let session = &docked.0.session;
        let template = session.molecule(part).template();
        let known = matches!(&crowd.templates[..], [one] if Arc::ptr_eq(one, template));
        if !known {
            crowd.templates = vec![Arc::clone(template)];
        }
        let see_through = switches.transparent == Some(part);
        crowd.opacity = if see_through { FAINT } else { 1.0 };
        crowd.molecules = vec![MoleculeInstance {
            group: match part {
                Role::Receptor => RECEPTOR_GROUP,
                Role::Ligand => LIGAND_GROUP,
            },
            ..MoleculeInstance::new(0, session.pose(part))
        }];
    }
}

/// Points out the atoms that overlap, or touch.
fn mark(
    docked: Res<Docked>,
    switches: Res<Switches>,
    time: Res<Time>,
    mut crowds: Query<(&mut InstancedMolecules, &mut Marks)>,
) {
    let lit = !switches.flash || (FLASHES * time.elapsed_secs()).fract() < 0.7;
    let dock = &docked.0;
    let pairs = if dock.clashes.is_empty() {
        &dock.touching
    } else {
        &dock.clashes
    };
    let atoms = pairs.iter().filter(|_| lit).flat_map(|pair| {
        let parts = [(Role::Receptor, pair.a), (Role::Ligand, pair.b)];
        parts.map(|(part, atom)| {
            let radii = dock.session.molecule(part).template().radii();
            (dock.place_of(part, atom), radii[atom as usize] * LARGER)
        })
    });
    let atoms: Vec<(Vec3, f32)> = atoms.collect();
    for (mut crowd, mut marks) in &mut crowds {
        if crowd.molecules.is_empty() && atoms.is_empty() {
            continue;
        }
        crowd.molecules.clear();
        for &(place, radius) in &atoms {
            let number = match marks.0.get(&radius.to_bits()) {
                Some(&number) => number,
                None => {
                    let Some(ball) = ball(radius) else {
                        continue;
                    };
                    crowd.templates.push(Arc::new(ball));
                    let number = crowd.templates.len() as u32 - 1;
                    marks.0.insert(radius.to_bits(), number);
                    number
                }
            };
            crowd.molecules.push(MoleculeInstance {
                group: MARK_GROUP,
                colliding: true,
                ..MoleculeInstance::new(number, Pose::from_translation(place))
            });
        }
    }
}

/// A shape of one atom.
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

/// One camera in the middle, or one for each eye with half of the window or its own
/// picture.
pub fn place_eyes(
    switches: Res<Switches>,
    orbits: Query<&Orbit>,
    mut eyes: Query<(&Eye, &mut Camera, &mut Transform)>,
) {
    let Some(orbit) = orbits.iter().next() else {
        return;
    };
    for (&Eye(side), mut camera, mut transform) in &mut eyes {
        let stereo = switches.stereo != Stereo::Off;
        let is_active = stereo || side < 0.0;
        if camera.is_active != is_active {
            camera.is_active = is_active;
        }
        // The second one to draw to a window must leave what the first one drew.
        let shares = side > 0.0 && switches.stereo != Stereo::Anaglyph;
        if matches!(camera.clear_color, ClearColorConfig::None) != shares {
            camera.clear_color = if shares {
                ClearColorConfig::None
            } else {
                ClearColorConfig::Default
            };
        }
        let half = 0.5 * switches.eyes * orbit.distance;
        // Who squints sees the left picture with the right eye.
        let (shift, seen_left) = match switches.stereo {
            Stereo::Off => (0.0, true),
            Stereo::Anaglyph => (side * half, true),
            Stereo::Parallel => (side * half, side < 0.0),
            Stereo::Crossed => (side * half, side > 0.0),
        };
        // Both look at the focus.
        let place =
            Transform::from_xyz(shift, 0.0, 0.0).looking_at(Vec3::NEG_Z * orbit.distance, Vec3::Y);
        if *transform != place {
            *transform = place;
        }
        let window = camera.physical_target_size();
        let beside = matches!(switches.stereo, Stereo::Parallel | Stereo::Crossed);
        let viewport = window.filter(|_| beside).and_then(|size| {
            let width = size.x / 2;
            let left = if seen_left { 0 } else { width };
            (width > 0 && size.y > 0).then(|| Viewport {
                physical_position: UVec2::new(left, 0),
                physical_size: UVec2::new(width, size.y),
                ..default()
            })
        });
        let same = match (&camera.viewport, &viewport) {
            (Some(a), Some(b)) => {
                (a.physical_position, a.physical_size) == (b.physical_position, b.physical_size)
            }
            (None, None) => true,
            _ => false,
        };
        if !same {
            camera.viewport = viewport;
        }
    }
}
