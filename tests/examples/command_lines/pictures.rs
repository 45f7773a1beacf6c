//! Pictures that the examples make of themselves, without a display.

use std::path::Path;
use std::process::{Command, Output};

use super::program::{assert_refused, program, scratch, text};
use crate::test_common::gpu_device::device;

/// Runs an example where there is no display.
fn run_blind(example: &str, arguments: &[&str]) -> Output {
    Command::new(program(example))
        .args(arguments)
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .env_remove("DISPLAY")
        .env_remove("WAYLAND_DISPLAY")
        .output()
        .unwrap()
}

/// A picture of this size; none if there is no adapter.
fn picture_of(
    name: &str,
    example: &str,
    arguments: &[&str],
    (width, height): (u32, u32),
) -> Option<image::RgbImage> {
    device()?;
    let path = scratch(name);
    let size = format!("{width}x{height}");
    let picture = ["--screenshot", &path, "--size-of-picture", &size];
    let output = run_blind(example, &[arguments, &picture].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let picture = image::open(Path::new(&path)).unwrap().to_rgb8();
    assert_eq!(picture.dimensions(), (width, height));
    Some(picture)
}

/// A picture of 160 × 90 pixels that shows something; none if there is no adapter.
fn picture(name: &str, example: &str, arguments: &[&str]) -> Option<image::RgbImage> {
    let picture = picture_of(name, example, arguments, (160, 90))?;
    let corner = *picture.get_pixel(159, 0);
    let other = picture.pixels().filter(|&&pixel| pixel != corner).count();
    assert!(other > 500, "{name} shows nothing: {other} pixels");
    Some(picture)
}

/// How many pixels are clearly of one color: 0 red, 1 green.
fn count(picture: &image::RgbImage, channel: usize) -> usize {
    let other = 1 - channel;
    let pixels = picture.pixels();
    pixels
        .filter(|pixel| i32::from(pixel[channel]) - i32::from(pixel[other]) > 30)
        .count()
}

#[test]
fn overlapping_lipids_are_red_and_relaxed_ones_green() {
    let small = "--outer 70 --inner 6 --radius 3.2 --tolerance 0.2 --steps";
    let arguments = |steps| -> Vec<&str> { small.split(' ').chain([steps]).collect() };
    let Some(before) = picture("before.png", "lipid_bilayer", &arguments("0")) else {
        return;
    };
    let (red, green) = (count(&before, 0), count(&before, 1));
    assert!(red > 10 * (green + 1), "{red} red, {green} green");
    let after = picture("after.png", "lipid_bilayer", &arguments("2000")).unwrap();
    let (red, green) = (count(&after, 0), count(&after, 1));
    assert!(green > 10 * (red + 1), "{red} red, {green} green");
}

#[test]
fn panels_are_shown_as_far_as_there_is_room() {
    let small = "--outer 20 --inner 0 --radius 3.2 --steps 1 --panel";
    let arguments: Vec<&str> = small.split(' ').collect();
    let mut first = Vec::new();
    for size in [(1, 1), (200, 2), (480, 130), (900, 300)] {
        let Some(picture) = picture_of("panel.png", "lipid_bilayer", &arguments, size) else {
            return;
        };
        first.push(*picture.get_pixel(0, 0));
    }
    // The corner is a panel's in the larger two only.
    assert_eq!(first[2], first[3]);
    assert!(first[0] != first[2] && first[1] != first[2], "{first:?}");
}

#[test]
fn proteins_and_clashes_make_pictures_too() {
    let arguments = ["--proteins", "2", "--steps", "3", "--quiet"];
    picture("playground.png", "playground", &arguments);
    picture("clashes.png", "clashes", &["assets/molecules/1gzx.pdb"]);
}

#[test]
fn pictures_that_cannot_be_saved_are_refused() {
    for example in ["lipid_bilayer", "playground"] {
        let nowhere = ["--screenshot", "nowhere/picture.png"];
        assert_refused(example, &nowhere, "nowhere");
        let jpeg = ["--screenshot", "picture.jpg"];
        assert_refused(example, &jpeg, "must end in .png");
    }
    let size = ["--screenshot", "a.png", "--size-of-picture", "0x90"];
    let output = run_blind("lipid_bilayer", &size);
    assert_eq!(output.status.code(), Some(2));
}

/// What an adapter that is lost before the start looks like, and a display that has ended.
#[test]
#[cfg(target_os = "linux")]
fn without_adapter_or_display_that_is_said_and_nothing_panics() {
    let blind = |arguments: &[&str]| {
        Command::new(program("lipid_bilayer"))
            .args(["--outer", "20", "--inner", "0", "--radius", "3.2"])
            .args(arguments)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            // No driver, and a display that nobody has.
            .env("VK_ICD_FILENAMES", "/nowhere.json")
            .env("VK_DRIVER_FILES", "/nowhere.json")
            .env("DISPLAY", ":4711")
            .output()
            .unwrap()
    };
    let output = blind(&["--screenshot", &scratch("none.png")]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("error: nothing can be drawn"), "{said}");
    let output = blind(&[]);
    let said = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{said}");
    assert!(
        said.contains("the display ':4711' cannot be used"),
        "{said}"
    );
    assert!(said.contains("it runs without a window"), "{said}");
    assert!(text(&output.stdout).contains("at rest"));
}

#[test]
fn a_preset_can_be_given_by_name_or_file() {
    let missing = ["--headless", "--preset", "missing.ron"];
    assert_refused("lipid_bilayer", &missing, "missing.ron");
    let broken = scratch("broken.ron");
    std::fs::write(&broken, "Preset(\n    outer: lots,\n)").unwrap();
    let arguments = ["--headless", "--preset", &broken];
    assert_refused("lipid_bilayer", &arguments, "line 2, column 1");
    let named = "--preset|dense bilayer|--max-iterations|1|--report|-|--law|thesis";
    let output = run_blind("lipid_bilayer", &named.split('|').collect::<Vec<_>>());
    let report = super::program::json(&output, 1);
    assert_eq!(
        (&report["outer"], &report["law"]),
        (&520.into(), &"thesis".into())
    );
}

#[test]
fn molecules_are_pictured_with_their_proxies() {
    let molecules = ["assets/molecules/popc.pdb", "assets/molecules/1ubq.cif"];
    let Some(few) = picture("proxies.png", "proxies", &molecules) else {
        return;
    };
    let many = [&molecules[..], &["--proxies", "60"]].concat();
    let many = picture("many_proxies.png", "proxies", &many).unwrap();
    // Few proxies are larger.
    let covered = |picture: &image::RgbImage| {
        let corner = *picture.get_pixel(159, 0);
        picture.pixels().filter(|&&pixel| pixel != corner).count()
    };
    assert!(covered(&few) > covered(&many));
}

#[test]
fn docking_is_pictured_with_one_eye_and_with_two() {
    // The log has no energy, whose lattice takes longer than all of this.
    let log = ["--play", "assets/docking/p_xylene_into_t4_lysozyme.log"];
    let seen = |name: &str, more: &[&str]| {
        let arguments = [&log[..], more].concat();
        picture_of(name, "docking", &arguments, (480, 270))
    };
    let Some(one) = seen("docking.png", &["--transparent"]) else {
        return;
    };
    let two = seen("stereo.png", &["--transparent", "--stereo", "parallel"]).unwrap();
    let glasses = seen("anaglyph.png", &["--stereo", "anaglyph"]).unwrap();
    assert!(one != two);
    // What only one eye sees through glasses is red, or has no red at all.
    let redder = |pixel: &image::Rgb<u8>| i32::from(pixel[0]) - i32::from(pixel[1]);
    let left = glasses.pixels().filter(|pixel| redder(pixel) > 40).count();
    let right = glasses.pixels().filter(|pixel| redder(pixel) < -40).count();
    assert!(left > 20 && right > 20, "{left} red, {right} cyan");
}

#[test]
fn the_race_of_broad_phases_is_pictured() {
    let race = ["--spheres", "300", "--steps", "4"];
    picture("race.png", "broad_phase_race", &race);
}

#[test]
fn moving_things_are_pictured() {
    let seconds = ["--particles", "200", "--seconds", "2", "--subspaces"];
    let Some(bare) = picture("particles.png", "circulating_particles", &seconds) else {
        return;
    };
    let bounds = [&seconds[..], &["--bounds"]].concat();
    let veiled = picture("bounds.png", "circulating_particles", &bounds).unwrap();
    assert_ne!(bare, veiled);
    let crowd = ["--molecules", "30", "--stick", "--steps", "10"];
    picture("crowd.png", "brownian_crowd", &crowd);
}
