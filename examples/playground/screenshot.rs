//! A picture after so many steps, then the end.

use std::path::PathBuf;

use bevy::app::AppExit;
use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured, save_to_disk};
use bevy::winit::WinitSettings;

use super::scene::Standing;

/// Frames that are drawn before the picture, so that textures and shadows are there.
const FRAMES: u32 = 4;

/// Takes the picture.
pub struct ScreenshotPlugin {
    pub path: PathBuf,
    pub steps: u32,
}

impl Plugin for ScreenshotPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Shot {
            path: self.path.clone(),
            steps: self.steps,
            taken: false,
        })
        // Nobody looks at the window, and it may have no focus.
        .insert_resource(WinitSettings::continuous())
        .add_systems(First, count_down.run_if(resource_exists::<Standing>));
    }
}

#[derive(Resource)]
struct Shot {
    path: PathBuf,
    /// Steps to go.
    steps: u32,
    taken: bool,
}

/// Draws nothing until the last few steps, and takes the picture at their end.
fn count_down(mut commands: Commands, mut shot: ResMut<Shot>, mut cameras: Query<&mut Camera>) {
    let done = shot.steps <= FRAMES;
    for mut camera in &mut cameras {
        if camera.is_active != done {
            camera.is_active = done;
        }
    }
    // The first frame of a scene has this at its full number, before its first step.
    if shot.steps == 0 && !shot.taken {
        shot.taken = true;
        commands
            .spawn(Screenshot::primary_window())
            .observe(save_to_disk(shot.path.clone()))
            .observe(
                |_: On<ScreenshotCaptured>, mut exit: MessageWriter<AppExit>| {
                    exit.write(AppExit::Success);
                },
            );
    }
    shot.steps = shot.steps.saturating_sub(1);
}
