//! Keys and figures, in the corners of the window.

use bevy::prelude::*;
use bevy_rapier_molecules::docking::{ResponseMode, Role};
use bevy_rapier_molecules::plugin::MoleculeWorld;
use bevy_rapier_molecules::prelude::Backend;

use super::controls::name_of;
use super::panels::{self, Figures};
use super::view_settings::{Moves, Switches};
use super::window::Docked;

/// Shows the overlay.
pub struct OverlayPlugin;

impl Plugin for OverlayPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn).add_systems(Update, update);
    }
}

/// Frames between two timings of checks.
const TIMED_EVERY: u32 = 20;

const KEYS: &str = "\
arrows, Page keys: move   W S A D Q E: turn   right mouse, wheel: view\n\
left mouse: move, Ctrl depth, Shift turns (rolls at the rim)   middle mouse: twist and roll\n\
Space view or object   L light or object   M other molecule   O screen or object axes   G guidance\n\
C collisions   1 stop 2 cue 3 slide 4 push, P next   H nearest free pose   + - radii   X [ ] stereo\n\
T transparent   F flash   B beep   R , . rocking   I headlight   K colors   Esc quit";

/// The same for a gamepad, if there can be one.
#[cfg(feature = "gamepad")]
const PAD: &str = super::gamepad::HELP;
#[cfg(not(feature = "gamepad"))]
const PAD: &str = "";

fn spawn(mut commands: Commands) {
    let help = format!("{KEYS}\n{PAD}");
    panels::spawn(&mut commands, "", help.trim_end(), 12.0);
}

fn update(
    docked: Res<Docked>,
    switches: Res<Switches>,
    worlds: Query<&MoleculeWorld>,
    mut texts: Query<&mut Text, With<Figures>>,
    mut frame: Local<u32>,
    mut timed: Local<String>,
) {
    let dock = &docked.0;
    let settings = dock.session.config();
    *frame += 1;
    if switches.brute_force && *frame % TIMED_EVERY == 1 {
        let (grid, brute, _) = dock.time_checks();
        let [grid, brute] = [grid, brute].map(|time| time.as_secs_f64() * 1e6);
        *timed = format!("\ncheck {grid:.1} us, brute force {brute:.0} us");
    }
    let response = match settings.response {
        _ if !settings.collisions => "collisions off",
        ResponseMode::Stop => "stop",
        ResponseMode::Cue => "cue",
        ResponseMode::Slide => "slide",
        ResponseMode::Push if !dock.pushes_bodies() => "push",
        ResponseMode::Push => match worlds.iter().next().map(MoleculeWorld::backend) {
            Some(Backend::Gpu) => "push (bodies, contacts by GPU)",
            _ => "push (bodies, contacts by the processor)",
        },
    };
    let energy = dock.session.interaction().map_or_else(
        || "no energy".to_owned(),
        |now| {
            format!(
                "energy {:.1} kJ/mol (LJ {:.1}, charges {:.1}, water {:.1})",
                now.energy(),
                now.lennard_jones,
                now.coulomb,
                now.solvation
            )
        },
    );
    let mut figures = format!(
        "{} and {}\n{} moves{}, {response}{}\n{energy}\n{} overlaps{}, radii times {:.2}",
        dock.session.template(Role::Receptor).name(),
        dock.session.template(Role::Ligand).name(),
        match switches.moves {
            Moves::Molecule => name_of(settings.moved),
            Moves::View => "the view",
            Moves::Light => "the light",
        },
        if switches.object_space {
            " along its own axes"
        } else {
            ""
        },
        if settings.guidance { ", guided" } else { "" },
        dock.clashes.len(),
        if dock.touching.is_empty() {
            String::new()
        } else {
            format!(", {} contacts", dock.touching.len())
        },
        settings.radius_scale,
    );
    figures.push_str(&timed);
    if !dock.to_play.is_empty() {
        figures.push_str(&format!("\nplaying: {} inputs left", dock.to_play.len()));
    }
    if let Some(message) = &dock.message {
        figures.push('\n');
        figures.push_str(message);
    }
    panels::show(&figures, &mut texts);
}
