//! What tells a user something without being asked: rocking, a beep, a flash.

use bevy::prelude::*;

use super::common::orbit::Orbit;
use super::common::stage::BACKGROUND;
use super::view_settings::Switches;
use super::window::Docked;

/// How fast the view rocks, radian/s.
const ROCKING: f32 = 1.5;

/// How long the background flashes, s.
const FLASH_SECONDS: f32 = 0.12;

/// Color of the background while it flashes.
const FLASH: Color = Color::srgb(0.30, 0.10, 0.10);

/// Gives the cues.
pub struct CuesPlugin;

impl Plugin for CuesPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(ClearColor(BACKGROUND))
            .init_resource::<Collision>()
            .add_systems(Update, (rock, (watch, beep, flash).chain()));
    }
}

/// Whether molecules collide, and since when.
#[derive(Resource, Default)]
struct Collision {
    now: bool,
    /// Whether it began in this frame.
    begins: bool,
    /// When the last one began, s.
    since: Option<f32>,
}

fn watch(docked: Res<Docked>, time: Res<Time>, mut collision: ResMut<Collision>) {
    let now = !docked.0.clashes.is_empty() || docked.0.blocked;
    collision.begins = now && !collision.now;
    collision.now = now;
    if collision.begins {
        collision.since = Some(time.elapsed_secs());
    }
}

/// The terminal's bell when molecules begin to collide.
#[expect(clippy::print_stdout, reason = "the bell is a character")]
fn beep(switches: Res<Switches>, collision: Res<Collision>) {
    if switches.beep && collision.begins {
        use std::io::Write;
        print!("\x07");
        // Without a terminal nobody hears it anyway.
        let _ = std::io::stdout().flush();
    }
}

/// The background is red for a moment when molecules begin to collide.
fn flash(
    switches: Res<Switches>,
    collision: Res<Collision>,
    time: Res<Time>,
    mut background: ResMut<ClearColor>,
) {
    let passed = collision.since.map(|since| time.elapsed_secs() - since);
    let lit = switches.flash && passed.is_some_and(|passed| passed < FLASH_SECONDS);
    let wanted = if lit { FLASH } else { BACKGROUND };
    if background.0 != wanted {
        background.0 = wanted;
    }
}

/// Turns the view to and fro, which shows depth.
fn rock(time: Res<Time>, switches: Res<Switches>, mut views: Query<&mut Orbit>) {
    if switches.rocking == 0.0 {
        return;
    }
    let now = time.elapsed_secs();
    let swing = |at: f32| switches.rocking * (ROCKING * at).sin();
    for mut orbit in &mut views {
        orbit.yaw += swing(now) - swing(now - time.delta_secs());
    }
}
