//! Pictures are saved as files, without a window; failures are told.

use bevy::app::TerminalCtrlCHandlerPlugin;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::winit::WinitPlugin;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::offscreen::{
    Offscreen, OffscreenPlugin, adapter, offscreen_plugins,
};

use super::stage::{alone, real};
use crate::common::gpu_device::device;

/// Runs an app that takes a picture of a lipid; returns how it ended.
fn take_picture(plugin: OffscreenPlugin, hold: u32) -> AppExit {
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
        commands.spawn(alone(real("popc.pdb")));
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
fn a_picture_has_its_size_and_shows_something() {
    if device().is_none() {
        return;
    }
    assert!(!adapter().unwrap().name.is_empty());
    let file = std::env::temp_dir().join(format!("molecules_{}.png", std::process::id()));
    let plugin = OffscreenPlugin::new(&file).with_size(97, 61).with_frames(2);
    assert_eq!(take_picture(plugin, 3), AppExit::Success);
    let picture = image::open(&file).unwrap().to_rgb8();
    std::fs::remove_file(&file).unwrap();
    assert_eq!(picture.dimensions(), (97, 61));
    let background = *picture.get_pixel(0, 0);
    let shown = picture.pixels().filter(|pixel| **pixel != background);
    assert!(shown.count() > 100);
}

#[test]
fn a_folder_that_is_not_there_is_an_error() {
    if device().is_none() {
        return;
    }
    let plugin = OffscreenPlugin::new("/there/is/no/such/folder/a.png").with_size(0, 9);
    assert!(take_picture(plugin, 0).is_error());
}
