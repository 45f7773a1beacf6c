//! Status and keys in the corners of the window.

use bevy::prelude::*;
use bevy_rapier_molecules::docking::ResponseMode;
use bevy_rapier_molecules::plugin::MoleculeWorld;
use bevy_rapier_molecules::prelude::Backend;

use super::common::panels::{TextPanels, TextPanelsPlugin};
use super::view_settings::{ControlTarget, ViewSettings};
use super::window::Docked;

/// Shows the overlay.
pub struct OverlayPlugin;

impl Plugin for OverlayPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(TextPanelsPlugin)
            .insert_resource(TextPanels {
                keys: format!("{KEYS}\n{GAMEPAD_KEYS}").trim_end().to_owned(),
                key_size: KEY_SIZE,
                ..default()
            })
            .add_systems(Update, update_status);
    }
}

/// Frames between two timings of the overlap check.
const FRAMES_PER_TIMING: u32 = 20;

/// Font size of the keys, points.
const KEY_SIZE: f32 = 12.0;

const KEYS: &str = "\
arrows, Page keys: move   W S A D Q E: rotate   right mouse, wheel: camera\n\
left mouse: move, Ctrl: depth, Shift: rotate (roll at the rim)   middle mouse: twist and roll\n\
Space camera or molecule   L light or molecule   M next molecule   O screen or molecule axes   G guidance\n\
C collisions   1 stop 2 cue 3 slide 4 push, P next   H nearest free pose   + - radii   X [ ] stereo\n\
N, Shift N next and previous bond   Y U turn it   0 torsions of the file\n\
T transparent   F flash   B beep   R , . rocking   I headlight   K colors   Esc quit";

/// The same for a gamepad.
#[cfg(feature = "gamepad")]
const GAMEPAD_KEYS: &str = super::gamepad::HELP;
#[cfg(not(feature = "gamepad"))]
const GAMEPAD_KEYS: &str = "";

fn update_status(
    docked: Res<Docked>,
    settings: Res<ViewSettings>,
    worlds: Query<&MoleculeWorld>,
    mut panels: ResMut<TextPanels>,
    mut frame: Local<u32>,
    mut timing: Local<String>,
) {
    let dock = &docked.0;
    let config = dock.session.config();
    *frame += 1;
    if settings.brute_force && *frame % FRAMES_PER_TIMING == 1 {
        let (grid, brute, _) = dock.time_checks();
        let [grid, brute] = [grid, brute].map(|time| time.as_secs_f64() * 1e6);
        *timing = format!("\noverlap check {grid:.1} us, brute force {brute:.0} us");
    }
    let response = match config.response {
        _ if !config.collisions => "collisions off",
        ResponseMode::Stop => "stop",
        ResponseMode::Cue => "cue",
        ResponseMode::Slide => "slide",
        ResponseMode::Push if !dock.pushes_bodies() => "push",
        ResponseMode::Push => match worlds.iter().next().map(MoleculeWorld::backend) {
            Some(Backend::Gpu) => "push (bodies, contacts on the GPU)",
            _ => "push (bodies, contacts on the CPU)",
        },
    };
    let energy = dock.session.interaction().map_or_else(
        || "no energy".to_owned(),
        |interaction| {
            format!(
                "energy {:.1} kJ/mol (LJ {:.1}, Coulomb {:.1}, solvation {:.1})",
                interaction.energy(),
                interaction.lennard_jones,
                interaction.coulomb,
                interaction.solvation
            )
        },
    );
    let bond = dock.selected_bond().map(|bond| {
        format!(
            "\nbond {bond} of {} ({}): {:.0} degrees",
            dock.session.bonds(config.moved).len(),
            dock.bond_name(config.moved, bond),
            dock.dihedral(config.moved, bond)
        )
    });
    let roles = dock.session.roles();
    let names: Vec<&str> = roles
        .map(|role| dock.session.template(role).name())
        .collect();
    let mut status = format!(
        "{}\nmoving {}{}, {response}{}\n{energy}\n{} overlaps{}, radii x {:.2}{}",
        names.join(" and "),
        match settings.target {
            ControlTarget::Molecule => config.moved.to_string(),
            ControlTarget::Camera => "the camera".to_owned(),
            ControlTarget::Light => "the light".to_owned(),
        },
        if settings.object_space {
            " along its own axes"
        } else {
            ""
        },
        if config.guidance { ", guided" } else { "" },
        dock.clashes.len(),
        if dock.touching.is_empty() {
            String::new()
        } else {
            format!(", {} contacts", dock.touching.len())
        },
        config.radius_scale,
        bond.unwrap_or_default(),
    );
    status.push_str(&timing);
    if !dock.to_play.is_empty() {
        status.push_str(&format!("\nreplay: {} inputs left", dock.to_play.len()));
    }
    if let Some(message) = &dock.message {
        status.push('\n');
        status.push_str(message);
    }
    panels.status = status;
}
