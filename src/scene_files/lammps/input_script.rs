//! Input scripts: written, and read for the boundary and the names of molecules.

use std::f32::consts::PI;
use std::fs::File;
use std::io::Read;
use std::ops::RangeInclusive;
use std::path::Path;

use super::super::Scene;
use super::super::scene_box::SceneBox;
use super::RELAXED;
use super::atom_types::AtomTypes;
use crate::export::ANGSTROM_PER_NM;

/// Largest file that is read as a script, bytes.
const MAX_BYTES: u64 = 16 << 20;

/// How far atoms move before neighbors are searched again, Å; the default of LAMMPS in these units.
const SKIN: f32 = 2.0;

/// Ratio of radii from which on lists of neighbors are made for each pair of types.
const POLYDISPERSE: f32 = 2.0;

/// Number of neighbors of an atom for which LAMMPS has room by default.
const DEFAULT_NEIGHBORS: u32 = 2000;

/// Picometers in an ångström.
const PICOMETERS_PER_ANGSTROM: f64 = 100.0;

/// Atoms per volume around a large ball, 1/Å³, twice those of water.
const MAX_ATOM_DENSITY: f32 = 0.2;

/// The script that pushes the molecules of a data file apart.
pub(super) fn script_text(
    path: &Path,
    scene: &Scene,
    types: &AtomTypes,
    scene_box: &SceneBox,
) -> String {
    let data = path.file_name().unwrap_or_default().to_string_lossy();
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let script = path.with_extension("in");
    let script = script.file_name().unwrap_or_default().to_string_lossy();
    let (points, bodies) = points_and_bodies(scene);
    let boundary = match scene_box.periodic {
        Some(_) => "p p p",
        None => "s s s",
    };
    let mut text = format!(
        "# LAMMPS input script: pushes rigid molecules apart. Variables can be set when it is run:
# lmp -in {} -var steps 10000 -var temperature 310
{}
variable steps index 200           # number of steps, fs
variable strength index 20.0       # of the push at the end, kcal/mol
variable temperature index 0.0     # K
variable damping index 20.0        # time in which velocities are damped, fs

units real
boundary {boundary}
atom_style molecular
",
        plain_text(&script),
        comments(scene),
    );
    text += &search_commands(scene, types);
    text += &format!("read_data {}\n", quoted(&data));
    text += "
# Spheres of the collision radii push while they overlap, more and more.
pair_style soft 1.0
pair_modify mix arithmetic
";
    for (index, of_type) in types.types.iter().enumerate() {
        // Without the digits of single-precision rounding.
        let picometers = (2000.0 * f64::from(of_type.radius)).round();
        let (number, diameter) = (index + 1, picometers / PICOMETERS_PER_ANGSTROM);
        let comment = of_type.comment();
        text += &format!("pair_coeff {number} {number} 0.0 {diameter} # {comment}\n");
    }
    text += "variable push equal ramp(0.0,${strength})\n";
    text += "fix push all adapt 1 pair soft a * * v_push\n";
    text += "\n# Molecules of several atoms are rigid bodies, those of one atom are points.\n";
    let langevin = "langevin ${temperature} ${temperature} ${damping} 42011";
    if !points.is_empty() {
        for range in &points {
            let (first, last) = (range.start(), range.end());
            text += &format!("group points molecule {first}:{last}\n");
        }
        text += &format!("fix points points nve\nfix drag points {langevin}\n");
    }
    if bodies {
        let group = match points.is_empty() {
            true => "all",
            false => {
                text += "group bodies subtract all points\n";
                "bodies"
            }
        };
        text += &format!("fix bodies {group} rigid/small molecule {langevin}\n");
    }
    text += &format!(
        "
timestep 1.0
thermo 20
thermo_style custom step temp epair ke etotal
thermo_modify lost error norm no format float %.10g
run ${{steps}}
write_data {} nocoeff
",
        quoted(&format!("{stem}{RELAXED}.data")),
    );
    text
}

/// Commands about neighbors and communication.
fn search_commands(scene: &Scene, types: &AtomTypes) -> String {
    let mut text = String::new();
    let radii = || types.types.iter().map(|of_type| angstrom(of_type.radius));
    let largest = radii().fold(0.0, f32::max);
    let smallest = radii().fold(f32::INFINITY, f32::min);
    let style = match largest > POLYDISPERSE * smallest {
        true => "multi",
        false => "bin",
    };
    text += &format!("neighbor {SKIN} {style}\n");
    text += "neigh_modify delay 0 every 1 check yes exclude molecule/intra all\n";
    // Atoms that may touch a large ball are in a shell around it.
    let shell = (largest + 3.0 * SKIN).powi(3) - largest.powi(3);
    let neighbors = 4.0 / 3.0 * PI * shell * MAX_ATOM_DENSITY;
    // A float saturates.
    let neighbors = neighbors as u32;
    if neighbors > DEFAULT_NEIGHBORS {
        let page = neighbors.saturating_mul(10).min(i32::MAX as u32);
        let one = page / 10;
        text += &format!("neigh_modify one {one} page {page}\n");
    }
    // A rank needs the whole bodies of its atoms.
    let diameters = scene.kinds.iter().map(|kind| {
        let lengths = kind.template.positions().iter();
        2.0 * lengths
            .map(|position| position.length())
            .fold(0.0, f32::max)
    });
    let longest = angstrom(diameters.fold(0.0, f32::max)).max(2.0 * largest);
    text += &format!("comm_modify cutoff {}\n", (longest + SKIN).ceil());
    text
}

/// The numbers of molecules with one atom, and whether there are others.
fn points_and_bodies(scene: &Scene) -> (Vec<RangeInclusive<usize>>, bool) {
    let mut points: Vec<RangeInclusive<usize>> = Vec::new();
    let mut bodies = false;
    for (numbers, kind) in numbers_of_kinds(scene) {
        if kind.template.atom_count() > 1 {
            bodies = true;
            continue;
        }
        match points.last_mut() {
            Some(last) if last.end() + 1 == *numbers.start() => {
                *last = *last.start()..=*numbers.end();
            }
            _ => points.push(numbers),
        }
    }
    (points, bodies)
}

/// The numbers of the molecules of each kind that has any.
fn numbers_of_kinds(
    scene: &Scene,
) -> impl Iterator<Item = (RangeInclusive<usize>, &super::SceneKind)> {
    let mut next = 1;
    scene.kinds.iter().filter_map(move |kind| {
        let first = next;
        next += kind.poses.len();
        (next > first).then_some((first..=next - 1, kind))
    })
}

/// A comment for each kind of molecules.
fn comments(scene: &Scene) -> String {
    let comments = numbers_of_kinds(scene).map(|(numbers, kind)| {
        let (first, last) = (numbers.start(), numbers.end());
        let name = plain_text(&kind.name);
        format!("{MOLECULES} {first} to {last}: {name}\n")
    });
    comments.collect()
}

/// Our comment on the names of molecules.
const MOLECULES: &str = "# molecules";

fn angstrom(nm: f32) -> f32 {
    nm * ANGSTROM_PER_NM as f32
}

/// Text without line breaks and characters that have a meaning even in comments.
pub(super) fn plain_text(text: &str) -> String {
    text.replace(
        |c: char| c.is_control() || matches!(c, '"' | '\'' | '&' | '$' | '#'),
        "_",
    )
}

/// A file name in quotes.
fn quoted(name: &str) -> String {
    let quote = if name.contains('"') { '\'' } else { '"' };
    format!("{quote}{name}{quote}")
}

/// What a script says about the molecules of a data file.
#[derive(Debug)]
pub(super) struct InputScript {
    /// Whether the box is periodic along all axes.
    pub is_periodic: bool,
    /// Numbers of molecules and their name, sorted.
    names: Vec<(RangeInclusive<i64>, String)>,
}

impl Default for InputScript {
    fn default() -> Self {
        Self {
            is_periodic: true,
            names: Vec::new(),
        }
    }
}

impl InputScript {
    /// Reads a script; none if it cannot be read.
    pub fn read(path: &Path) -> Option<Self> {
        let mut bytes = Vec::new();
        let file = File::open(path).ok()?;
        file.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
        Some(Self::parse(&String::from_utf8_lossy(&bytes)))
    }

    fn parse(text: &str) -> Self {
        let mut script = Self::default();
        for line in text.lines() {
            if let Some(molecules) = line.strip_prefix(MOLECULES) {
                script.names.extend(named_molecules(molecules));
            }
            let mut words = line.split_ascii_whitespace();
            if words.next() == Some("boundary") {
                script.is_periodic = words.take(3).all(|word| word == "p");
            }
        }
        script.names.sort_by_key(|(numbers, _)| *numbers.start());
        script
    }

    /// The name of the molecule with this number.
    pub fn name_of(&self, number: i64) -> Option<&str> {
        let after = self
            .names
            .partition_point(|(numbers, _)| *numbers.start() <= number);
        let (numbers, name) = self.names.get(after.checked_sub(1)?)?;
        numbers.contains(&number).then_some(name)
    }
}

/// Numbers and name in ` 1 to 300: popc`.
fn named_molecules(text: &str) -> Option<(RangeInclusive<i64>, String)> {
    let (numbers, name) = text.split_once(": ")?;
    let (first, last) = numbers.split_once(" to ")?;
    let numbers = first.trim().parse().ok()?..=last.trim().parse().ok()?;
    Some((numbers, name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_boundaries_are_read_from_scripts() {
        let text = "# molecules 11 to 12: a b: c\nboundary p p f # walls\n# molecules 1 to 9: popc\n# molecules: x\n";
        let script = InputScript::parse(text);
        assert!(!script.is_periodic);
        for (number, name) in [
            (0, None),
            (1, Some("popc")),
            (9, Some("popc")),
            (10, None),
            (12, Some("a b: c")),
            (13, None),
        ] {
            assert_eq!(script.name_of(number), name, "{number}");
        }
        assert!(InputScript::parse("boundary p p p").is_periodic);
        assert!(InputScript::parse("").is_periodic);
    }
}
