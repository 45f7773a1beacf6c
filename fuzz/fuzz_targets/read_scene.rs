//! Readers of placed molecules must return a scene or an error for any bytes, without panics, in
//! bounded memory; what they return must be valid.
//!
//! The first byte is the format (see the README), the rest is the file.
#![no_main]

use bevy_rapier_molecules::scene_files::{ReadSceneOptions, SceneFormat, read_scene_bytes};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&choice, bytes)) = data.split_first() else {
        return;
    };
    let formats = SceneFormat::ALL;
    let options = ReadSceneOptions {
        format: Some(formats[choice as usize % formats.len()]),
        ..ReadSceneOptions::default()
    };
    let source = "/nonexistent/input";
    if let Ok(scene) = read_scene_bytes(bytes, source, &options) {
        assert!(scene.to_crowd().is_ok());
        assert!(scene.extent().iter().all(|corner| corner.is_finite()));
    }
});
