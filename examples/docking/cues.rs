//! Depth and collision cues: rocking, beep and flash.

use bevy::prelude::*;

use super::common::orbit::Orbit;
use super::common::stage::BACKGROUND;
use super::controls::UserMotion;
use super::rocking::Rocking;
use super::view_settings::ViewSettings;
use super::window::Docked;

/// Duration of the flash, s.
const FLASH_SECONDS: f32 = 0.12;

/// Background color of the flash.
const FLASH: Color = Color::srgb(0.30, 0.10, 0.10);

/// Rocking, beep and flash.
pub struct CuesPlugin;

impl Plugin for CuesPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(ClearColor(BACKGROUND))
            .init_resource::<CollisionState>()
            .add_systems(
                Update,
                (rock, (update_collision_state, beep, flash).chain()),
            );
    }
}

/// The collision state of the molecules.
#[derive(Resource, Default)]
struct CollisionState {
    is_colliding: bool,
    /// Whether a collision began in this frame.
    begins: bool,
    /// Start of the last collision, s.
    since: Option<f32>,
}

fn update_collision_state(
    docked: Res<Docked>,
    time: Res<Time>,
    mut collision: ResMut<CollisionState>,
) {
    let is_colliding = !docked.0.clashes.is_empty() || docked.0.blocked;
    collision.begins = is_colliding && !collision.is_colliding;
    collision.is_colliding = is_colliding;
    if collision.begins {
        collision.since = Some(time.elapsed_secs());
    }
}

/// Rings the terminal bell when a collision begins.
#[expect(clippy::print_stdout, reason = "the bell is a character")]
fn beep(settings: Res<ViewSettings>, collision: Res<CollisionState>) {
    if settings.beep && collision.begins {
        use std::io::Write;
        print!("\x07");
        // Without a terminal there is no bell.
        let _ = std::io::stdout().flush();
    }
}

/// Flashes the background when a collision begins.
fn flash(
    settings: Res<ViewSettings>,
    collision: Res<CollisionState>,
    time: Res<Time>,
    mut background: ResMut<ClearColor>,
) {
    let elapsed = collision.since.map(|since| time.elapsed_secs() - since);
    let is_lit = settings.flash && elapsed.is_some_and(|elapsed| elapsed < FLASH_SECONDS);
    let color = if is_lit { FLASH } else { BACKGROUND };
    if background.0 != color {
        background.0 = color;
    }
}

/// Rocks the camera about the vertical axis.
fn rock(
    time: Res<Time>,
    settings: Res<ViewSettings>,
    motion: UserMotion,
    mut rocking: Local<Rocking>,
    mut views: Query<&mut Orbit>,
) {
    let change = rocking.advance(settings.rocking, motion.is_active(), time.delta_secs());
    if change == 0.0 {
        return;
    }
    for mut orbit in &mut views {
        orbit.yaw += change;
    }
}
