//! Frames of `.simularium` files: JSON of the Simularium viewer, version 3.
//!
//! A frame is a list of numbers, eleven for each molecule: 1000, its id, its type, position,
//! [Euler angles](super::euler), radius, and 0 for the points of a fiber that it does not have. What
//! is known only at the end, such as the number of frames and the types, follows the frames and is
//! replaced with each of them; the order of keys in JSON is free.

use std::io::Write;

use glam::{DVec3, Vec3};

use super::euler::euler_xyz;
use super::options::{TimeUnit, TrajectoryOptions};
use super::writer::{TrajectoryKind, TrajectoryMolecule};
use crate::export::text_rows::{push_fixed, scale};
use crate::export::{ANGSTROM_PER_NM, AngstromPose, ExportError, MAX_COORDINATE};
use crate::molecule::{MoleculeTemplate, occupied_volume};

/// Decimals of lengths, nm, and angles, radian.
const DECIMALS: u8 = 3;

/// Kind of agent: one with a position, not a fiber.
const DEFAULT_AGENT: u32 = 1000;

/// Nanoseconds in a second.
const NS_PER_S: f64 = 1.0e9;

/// Vertical field of view of the camera, degrees: that of the viewer.
const FIELD_OF_VIEW: f64 = 75.0;

/// Distance of the camera from the center, in largest edges of the box: all of it is seen.
const CAMERA_DISTANCE: f64 = 1.5;

/// What precedes the first frame.
const START: &[u8] = br#"{"spatialData":{"version":1,"msgType":1,"bundleStart":0,"bundleData":["#;

/// How a kind of molecules is drawn.
struct Look {
    /// Index of its type. Kinds with the same name and color share a type.
    kind: u32,
    /// Radius of the ball, nm, and its text.
    radius: f64,
    radius_text: Vec<u8>,
}

/// Writes the frames, each with the end of the file.
#[derive(Default)]
pub(super) struct SimulariumFrames {
    looks: Vec<Look>,
    /// Names and colors of types.
    types: Vec<(String, Option<[f32; 3]>)>,
    /// The JSON of the types.
    mapping: Vec<u8>,
    /// Largest distance along each axis from the center of the box to the surface of a molecule, nm.
    reach: DVec3,
    /// Time of the first frame.
    first_time: f64,
    /// The current frame and the end.
    buffer: Vec<u8>,
    /// Length of the end.
    end: usize,
}

impl SimulariumFrames {
    pub fn add_kind(&mut self, kind: &TrajectoryKind) {
        let name = match kind.name.as_str() {
            "" => "molecule",
            name => name,
        };
        let look = (name.to_owned(), kind.color);
        let known = self.types.iter().position(|known| *known == look);
        let index = known.unwrap_or_else(|| {
            self.types.push(look);
            self.types.len() - 1
        });
        let radius = radius_of(&kind.template);
        let mut radius_text = Vec::new();
        push_number(&mut radius_text, radius);
        self.looks.push(Look {
            kind: index as u32,
            radius,
            radius_text,
        });
        self.mapping.clear();
        for (index, (name, color)) in self.types.iter().enumerate() {
            push_type(&mut self.mapping, index, name, *color);
        }
    }

    /// Replaces the buffer by frame number `frame` and the end.
    pub fn fill(
        &mut self,
        frame: u64,
        time: f64,
        kinds: &[TrajectoryKind],
        molecules: impl Iterator<Item = TrajectoryMolecule>,
        options: &TrajectoryOptions,
    ) -> Result<(), ExportError> {
        let periodic = options
            .periodic_box
            .map(|periodic| [Vec3::ZERO, periodic.size()]);
        let bounds = options
            .bounds
            .or(periodic)
            .map(|corners| corners.map(Vec3::as_dvec3));
        let center = bounds.map_or(DVec3::ZERO, |[low, high]| 0.5 * (low + high));
        let mut reach = self.reach;
        self.buffer.clear();
        self.buffer
            .extend_from_slice(if frame == 0 { START } else { b"," });
        let time = match options.time_unit {
            TimeUnit::Seconds => time * NS_PER_S,
            TimeUnit::Iterations => time,
        };
        let _ = write!(self.buffer, r#"{{"frameNumber":{frame},"time":"#);
        push_time(&mut self.buffer, time);
        self.buffer.extend_from_slice(br#","data":["#);
        for (index, molecule) in molecules.enumerate() {
            let template = &*kinds[molecule.kind as usize].template;
            let look = &self.looks[molecule.kind as usize];
            let pose = AngstromPose::new(index, template, molecule.pose, options.wrapping_box())?;
            let position = pose.angstrom(Vec3::ZERO);
            if position.abs().max_element() > MAX_COORDINATE {
                return Err(out_of_range(index, template, position));
            }
            let position = position / ANGSTROM_PER_NM - center;
            reach = reach.max(position.abs() + look.radius);
            let angles = euler_xyz(molecule.pose.rotation.as_dquat().normalize());
            if index > 0 {
                self.buffer.push(b',');
            }
            push_integer(&mut self.buffer, u64::from(DEFAULT_AGENT));
            push_integer(&mut self.buffer, molecule.id);
            push_integer(&mut self.buffer, u64::from(look.kind));
            for value in position.to_array().into_iter().chain(angles.to_array()) {
                push_number(&mut self.buffer, value);
                self.buffer.push(b',');
            }
            self.buffer.extend_from_slice(&look.radius_text);
            self.buffer.extend_from_slice(b",0");
        }
        self.buffer.extend_from_slice(b"]}");
        self.reach = reach;
        if frame == 0 {
            self.first_time = time;
        }
        let size = bounds.map_or(2.0 * reach, |[low, high]| high - low);
        let start = self.buffer.len();
        self.push_end(frame + 1, time, size, options);
        self.end = self.buffer.len() - start;
        Ok(())
    }

    /// The frame and the end, and the length of the end.
    pub fn bytes(&self) -> (&[u8], usize) {
        (&self.buffer, self.end)
    }

    fn push_end(&mut self, frames: u64, time: f64, size: DVec3, options: &TrajectoryOptions) {
        let first_time = self.first_time;
        let Self {
            buffer, mapping, ..
        } = self;
        // The viewer takes all steps for equal, and a step for positive.
        let step = (time - first_time) / frames.saturating_sub(1).max(1) as f64;
        let step = if step > 0.0 { step } else { 1.0 };
        let unit = match options.time_unit {
            TimeUnit::Seconds => "ns",
            TimeUnit::Iterations => "iterations",
        };
        let _ = write!(buffer, r#"],"bundleSize":{frames}}},"#);
        buffer.extend_from_slice(br#""trajectoryInfo":{"version":3,"#);
        if !options.title.is_empty() {
            buffer.extend_from_slice(br#""trajectoryTitle":"#);
            push_text(buffer, &options.title);
            buffer.push(b',');
        }
        let _ = write!(
            buffer,
            r#""timeUnits":{{"magnitude":1,"name":"{unit}"}},"timeStepSize":"#
        );
        push_time(buffer, step);
        let _ = write!(buffer, r#","totalSteps":{frames},"#);
        buffer.extend_from_slice(br#""spatialUnits":{"magnitude":1,"name":"nm"},"size":"#);
        push_point(buffer, size);
        buffer.extend_from_slice(br#","cameraDefault":{"position":"#);
        push_point(buffer, DVec3::Z * CAMERA_DISTANCE * size.max_element());
        buffer.extend_from_slice(br#","lookAtPosition":"#);
        push_point(buffer, DVec3::ZERO);
        buffer.extend_from_slice(br#","upVector":"#);
        push_point(buffer, DVec3::Y);
        let _ = write!(buffer, r#","fovDegrees":{FIELD_OF_VIEW}}},"#);
        buffer.extend_from_slice(br#""typeMapping":{"#);
        buffer.extend_from_slice(mapping);
        buffer.extend_from_slice(b"}},\"plotData\":{\"version\":1,\"data\":[]}}\n");
    }
}

/// Radius of a ball with the volume of all atoms, nm.
fn radius_of(template: &MoleculeTemplate) -> f64 {
    let volume = f64::from(occupied_volume(template.into()));
    (0.75 / std::f64::consts::PI * volume).cbrt()
}

fn out_of_range(molecule: usize, template: &MoleculeTemplate, angstrom: DVec3) -> ExportError {
    ExportError::OutOfRange {
        molecule,
        name: template.name().to_owned(),
        position: angstrom.as_vec3(),
        range: "coordinates (0.1 mm from the origin)",
    }
}

fn push_type(buffer: &mut Vec<u8>, index: usize, name: &str, color: Option<[f32; 3]>) {
    if index > 0 {
        buffer.push(b',');
    }
    // The viewer chooses other colors itself.
    let color = color.map_or_else(String::new, |color| {
        let [red, green, blue] = color.map(|part| (part.clamp(0.0, 1.0) * 255.0).round() as u8);
        format!("#{red:02x}{green:02x}{blue:02x}")
    });
    let _ = write!(buffer, r#""{index}":{{"name":"#);
    push_text(buffer, name);
    let _ = write!(
        buffer,
        r#","geometry":{{"displayType":"SPHERE","color":"{color}"}}}}"#
    );
}

fn push_point(buffer: &mut Vec<u8>, point: DVec3) {
    for (key, value) in [r#"{"x":"#, r#","y":"#, r#","z":"#]
        .iter()
        .zip(point.to_array())
    {
        buffer.extend_from_slice(key.as_bytes());
        push_number(buffer, value);
    }
    buffer.push(b'}');
}

/// Appends a length or an angle, without zeros at the end.
fn push_number(buffer: &mut Vec<u8>, value: f64) {
    push_fixed(buffer, scale(value, DECIMALS), DECIMALS);
    while buffer.last() == Some(&b'0') {
        buffer.pop();
    }
    if buffer.last() == Some(&b'.') {
        buffer.pop();
    }
}

/// Appends an integer and a comma.
fn push_integer(buffer: &mut Vec<u8>, value: u64) {
    // Writing to a vector does not fail.
    let _ = write!(buffer, "{value},");
}

/// Appends a time. Single precision has no digits that come from rounding.
fn push_time(buffer: &mut Vec<u8>, time: f64) {
    let _ = match (time as f32).is_finite() {
        true => write!(buffer, "{}", time as f32),
        false => write!(buffer, "{time}"),
    };
}

/// Appends a string of JSON.
fn push_text(buffer: &mut Vec<u8>, text: &str) {
    buffer.push(b'"');
    for character in text.chars() {
        let _ = match character {
            '"' | '\\' => write!(buffer, "\\{character}"),
            ..='\u{1f}' => write!(buffer, "\\u{:04x}", character as u32),
            _ => write!(buffer, "{character}"),
        };
    }
    buffer.push(b'"');
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(push: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut buffer = Vec::new();
        push(&mut buffer);
        String::from_utf8(buffer).unwrap()
    }

    #[test]
    fn numbers_have_no_zeros_at_the_end() {
        for (value, expected) in [
            (0.0, "0"),
            (-0.0004, "0"),
            (10.0, "10"),
            (100.5, "100.5"),
            (-1.2345, "-1.235"),
            (1200.0, "1200"),
        ] {
            assert_eq!(text(|buffer| push_number(buffer, value)), expected);
        }
    }

    #[test]
    fn strings_are_escaped() {
        let name = "a \"b\" \\ c\n\u{1}µ/é";
        assert_eq!(
            text(|buffer| push_text(buffer, name)),
            "\"a \\\"b\\\" \\\\ c\\u000a\\u0001µ/é\""
        );
    }

    #[test]
    fn times_are_as_short_as_they_are() {
        for (time, expected) in [
            (0.1 + 0.2, "0.3"),
            (0.0, "0"),
            (16.0, "16"),
            (1.0e-9, "0.000000001"),
        ] {
            assert_eq!(text(|buffer| push_time(buffer, time)), expected);
        }
    }
}
