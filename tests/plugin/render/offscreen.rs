//! Images are saved without a window, and failures are reported.

use bevy::app::TerminalCtrlCHandlerPlugin;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::winit::WinitPlugin;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::MoleculeRenderPlugin;
use bevy_rapier_molecules::render::offscreen::{
    Offscreen, OffscreenPlugin, adapter, offscreen_plugins,
};

use super::render_app::{single_molecule, template};
use crate::common::gpu_device::device;

/// Runs an app that saves an image of a lipid.
fn save_image(plugin: OffscreenPlugin, hold: u32) -> AppExit {
    let mut app = App::new();
    app.add_plugins(
        offscreen_plugins()
            .disable::<WinitPlugin>()
            .disable::<LogPlugin>()
            .disable::<TerminalCtrlCHandlerPlugin>(),
    );
    app.add_plugins((MoleculeRenderPlugin, plugin));
    app.add_systems(Startup, |mut commands: Commands| {
        commands.spawn((Camera3d::default(), Transform::from_xyz(0.0, 0.0, 6.0)));
        commands.spawn(single_molecule(template("popc.pdb")));
        commands.insert_resource(MoleculeStyle {
            headlight: 1.0,
            ..default()
        });
    });
    app.add_systems(
        Update,
        move |mut offscreen: ResMut<Offscreen>, mut frames: Local<u32>| {
            *frames += 1;
            offscreen.hold = *frames <= hold;
        },
    );
    app.run()
}

#[test]
fn an_image_has_the_given_size_and_is_not_empty() {
    if device().is_none() {
        return;
    }
    assert!(!adapter().unwrap().name.is_empty());
    let file = std::env::temp_dir().join(format!("molecules_{}.png", std::process::id()));
    let plugin = OffscreenPlugin::new(&file).with_size(97, 61).with_frames(2);
    assert_eq!(save_image(plugin, 3), AppExit::Success);
    let image = image::open(&file).unwrap().to_rgb8();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(image.dimensions(), (97, 61));
    let background = *image.get_pixel(0, 0);
    let shown = image.pixels().filter(|pixel| **pixel != background);
    assert!(shown.count() > 100);
}

#[test]
fn a_missing_folder_is_an_error() {
    if device().is_none() {
        return;
    }
    let plugin = OffscreenPlugin::new("/missing/folder/a.png").with_size(0, 9);
    assert!(save_image(plugin, 0).is_error());
}
