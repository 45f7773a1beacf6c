//! Screenshots of the examples, without a display.

use std::path::Path;

use super::run_example::{assert_rejected, assert_usage_error, run, scratch, text};
#[cfg(target_os = "linux")]
use super::run_example::{command, without_gpu};
use crate::test_common::gpu_device::device;

/// A screenshot of this size; `None` without an adapter.
fn screenshot_of_size(
    name: &str,
    example: &str,
    arguments: &[&str],
    (width, height): (u32, u32),
) -> Option<image::RgbImage> {
    device()?;
    let path = scratch(name);
    let size = format!("{width}x{height}");
    let screenshot = ["--screenshot", &path, "--size-of-picture", &size];
    let output = run(example, &[arguments, &screenshot].concat());
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let image = image::open(Path::new(&path)).unwrap().to_rgb8();
    assert_eq!(image.dimensions(), (width, height));
    Some(image)
}

/// A screenshot of 160 × 90 pixels that is not blank; `None` without an adapter.
fn screenshot(name: &str, example: &str, arguments: &[&str]) -> Option<image::RgbImage> {
    let image = screenshot_of_size(name, example, arguments, (160, 90))?;
    let drawn = drawn_pixels(&image);
    assert!(drawn > 500, "{name} is blank: {drawn} pixels");
    Some(image)
}

/// Number of pixels that differ from the upper right corner.
fn drawn_pixels(image: &image::RgbImage) -> usize {
    let corner = *image.get_pixel(image.width() - 1, 0);
    image.pixels().filter(|&&pixel| pixel != corner).count()
}

/// Number of clearly red (0) or green (1) pixels.
fn count(image: &image::RgbImage, channel: usize) -> usize {
    let other = 1 - channel;
    image
        .pixels()
        .filter(|pixel| i32::from(pixel[channel]) - i32::from(pixel[other]) > 30)
        .count()
}

#[test]
fn overlapping_lipids_are_red_and_relaxed_ones_green() {
    let small = "--outer 70 --inner 6 --radius 3.2 --tolerance 0.2 --positions uniform --steps";
    let arguments = |steps| -> Vec<&str> { small.split(' ').chain([steps]).collect() };
    let Some(before) = screenshot("before.png", "lipid_bilayer", &arguments("0")) else {
        return;
    };
    let (red, green) = (count(&before, 0), count(&before, 1));
    assert!(red > 10 * (green + 1), "{red} red, {green} green");
    let after = screenshot("after.png", "lipid_bilayer", &arguments("2000")).unwrap();
    let (red, green) = (count(&after, 0), count(&after, 1));
    assert!(green > 10 * (red + 1), "{red} red, {green} green");
}

#[test]
fn panels_are_hidden_if_the_window_is_too_small() {
    let small = "--outer 20 --inner 0 --radius 3.2 --steps 1 --panel";
    let arguments: Vec<&str> = small.split(' ').collect();
    let mut first = Vec::new();
    for size in [(1, 1), (200, 2), (480, 130), (900, 300)] {
        let Some(image) = screenshot_of_size("panel.png", "lipid_bilayer", &arguments, size) else {
            return;
        };
        first.push(*image.get_pixel(0, 0));
    }
    // Only the two larger ones have a panel in the corner.
    assert_eq!(first[2], first[3]);
    assert!(first[0] != first[2] && first[1] != first[2], "{first:?}");
}

#[test]
fn proteins_and_clashes_are_drawn() {
    let arguments = ["--proteins", "2", "--steps", "3", "--quiet"];
    screenshot("playground.png", "playground", &arguments);
    screenshot("clashes.png", "clashes", &["assets/molecules/1gzx.pdb"]);
}

#[test]
fn a_cell_that_is_cut_open_shows_less() {
    let arguments = ["assets/recipes/proteins_in_a_box.json", "--steps", "3"];
    let Some(whole) = screenshot("cell.png", "cell", &arguments) else {
        return;
    };
    let cut = [&arguments[..], &["--cut-open"]].concat();
    let cut = screenshot("cut_cell.png", "cell", &cut).unwrap();
    let panel = [&arguments[..], &["--panel"]].concat();
    let panel = screenshot_of_size("cell_panel.png", "cell", &panel, (900, 400)).unwrap();
    assert!(4 * drawn_pixels(&cut) < 3 * drawn_pixels(&whole));
    assert_ne!(panel.get_pixel(0, 0), whole.get_pixel(0, 0));
}

#[test]
fn invalid_screenshot_options_are_rejected() {
    for example in ["lipid_bilayer", "playground"] {
        let nowhere = ["--screenshot", "nowhere/picture.png"];
        assert_rejected(example, &nowhere, "nowhere");
        let jpeg = ["--screenshot", "picture.jpg"];
        assert_rejected(example, &jpeg, "must end in .png");
    }
    let size = ["--screenshot", "a.png", "--size-of-picture", "0x90"];
    assert_usage_error("lipid_bilayer", &size);
}

/// Without a driver, and with the name of a display that does not exist.
#[test]
#[cfg(target_os = "linux")]
fn a_missing_adapter_or_display_is_reported_without_a_panic() {
    let run = |arguments: &[&str]| {
        let mut command = command("lipid_bilayer");
        command
            .args(["--outer", "20", "--inner", "0", "--radius", "3.2"])
            .args(arguments)
            .env("DISPLAY", ":4711");
        without_gpu(&mut command).output().unwrap()
    };
    let output = run(&["--screenshot", &scratch("none.png")]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("error: cannot draw"), "{stderr}");
    let output = run(&[]);
    let stderr = text(&output.stderr);
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    assert!(
        stderr.contains("cannot open the display ':4711'"),
        "{stderr}"
    );
    assert!(stderr.contains("running without a window"), "{stderr}");
    assert!(text(&output.stdout).contains("at rest"));
}

#[test]
fn proxies_are_drawn_over_their_molecules() {
    let molecules = ["assets/molecules/popc.pdb", "assets/molecules/1ubq.cif"];
    let Some(few) = screenshot("proxies.png", "proxies", &molecules) else {
        return;
    };
    let many = [&molecules[..], &["--proxies", "60"]].concat();
    let many = screenshot("many_proxies.png", "proxies", &many).unwrap();
    // Fewer proxies are larger.
    assert!(drawn_pixels(&few) > drawn_pixels(&many));
}

#[test]
fn docking_is_drawn_with_one_view_and_in_stereo() {
    // The log needs no energy grid, which would take longer than the rest of the test.
    let log = ["--play", "assets/docking/p_xylene_into_t4_lysozyme.log"];
    let draw = |name: &str, options: &[&str]| {
        let arguments = [&log[..], options].concat();
        screenshot_of_size(name, "docking", &arguments, (480, 270))
    };
    let Some(one) = draw("docking.png", &["--transparent"]) else {
        return;
    };
    let two = draw("stereo.png", &["--transparent", "--stereo", "parallel"]).unwrap();
    let anaglyph = draw("anaglyph.png", &["--stereo", "anaglyph"]).unwrap();
    assert!(one != two);
    // Pixels that only one eye sees are red or cyan.
    let redness = |pixel: &image::Rgb<u8>| i32::from(pixel[0]) - i32::from(pixel[1]);
    let red = anaglyph
        .pixels()
        .filter(|pixel| redness(pixel) > 40)
        .count();
    let cyan = anaglyph
        .pixels()
        .filter(|pixel| redness(pixel) < -40)
        .count();
    assert!(red > 20 && cyan > 20, "{red} red, {cyan} cyan");
}

#[test]
fn several_ligands_and_turned_bonds_are_drawn() {
    let [ring, lipid] = ["p_xylene", "popc"].map(|name| format!("assets/molecules/{name}.pdb"));
    let files = [&ring, &lipid, &ring].map(String::as_str);
    let draw = |name: &str, options: &[&str]| {
        let arguments = [&files[..], options].concat();
        screenshot_of_size(name, "docking", &arguments, (480, 270))
    };
    let Some(straight) = draw("docking_three.png", &[]) else {
        return;
    };
    let turned = draw("docking_turned.png", &["--torsion", "13=120"]).unwrap();
    assert!(straight != turned);
}

#[test]
fn the_race_is_drawn_with_its_labels() {
    let race = ["--spheres", "300", "--steps", "4"];
    screenshot("race.png", "broad_phase_race", &race);
}

#[test]
fn particles_and_crowds_are_drawn() {
    let seconds = ["--particles", "200", "--seconds", "2", "--subspaces"];
    let Some(bare) = screenshot("particles.png", "circulating_particles", &seconds) else {
        return;
    };
    let bounds = [&seconds[..], &["--bounds"]].concat();
    let with_bounds = screenshot("bounds.png", "circulating_particles", &bounds).unwrap();
    assert_ne!(bare, with_bounds);
    let crowd = ["--molecules", "30", "--stick", "--steps", "10"];
    screenshot("crowd.png", "brownian_crowd", &crowd);
}
