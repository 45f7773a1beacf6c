//! Text format of inputs, one per line.

use std::fmt::Write;

use glam::{Quat, Vec3};

use crate::docking::{ResponseMode, RigidMotion, Role, SessionInput};
use crate::pose::Pose;

const MODES: [(&str, ResponseMode); 4] = [
    ("stop", ResponseMode::Stop),
    ("cue", ResponseMode::Cue),
    ("slide", ResponseMode::Slide),
    ("push", ResponseMode::Push),
];

const SWITCHES: [(&str, bool); 2] = [("on", true), ("off", false)];

fn word<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    let mut known = table.iter().filter(|(_, known)| *known == value);
    known.next().map_or("", |(word, _)| word)
}

/// Formats an input as a line without its newline.
pub(super) fn format(input: &SessionInput) -> String {
    let mut line = String::new();
    let mut numbers = |head: &str, numbers: &[f32]| {
        line.push_str(head);
        for number in numbers {
            // The shortest digits that parse to the same bits. Writing to a string cannot fail.
            let _ = write!(line, " {number:?}");
        }
    };
    match input {
        SessionInput::Move(motion) => {
            let [x, y, z] = motion.translation.to_array();
            let [u, v, w] = motion.rotation.to_array();
            numbers("move", &[x, y, z, u, v, w]);
        }
        SessionInput::Place(role, pose) => {
            numbers(&format!("place {role}"), &pose_numbers(pose));
        }
        SessionInput::Turn { bond, angle } => numbers(&format!("turn {bond}"), &[*angle]),
        SessionInput::Torsions(role, angles) => numbers(&format!("torsions {role}"), angles),
        SessionInput::BodyPoses(poses) => {
            let poses: Vec<[f32; 7]> = poses.iter().map(pose_numbers).collect();
            numbers("carried", poses.as_flattened());
        }
        SessionInput::Radii(factor) => numbers("radii", &[*factor]),
        SessionInput::SwitchMoved => line.push_str("switch"),
        SessionInput::MoveToFreePose => line.push_str("free"),
        SessionInput::Collisions(on) => line = format!("collisions {}", word(&SWITCHES, *on)),
        SessionInput::Guidance(on) => line = format!("guidance {}", word(&SWITCHES, *on)),
        SessionInput::Response(mode) => line = format!("response {}", word(&MODES, *mode)),
    }
    line
}

/// Parses a line. The error describes the problem.
pub(super) fn parse(line: &str) -> Result<SessionInput, &'static str> {
    let mut words = line.split_ascii_whitespace();
    let head = words.next().unwrap_or_default();
    let input = match head {
        "move" => {
            let [x, y, z, u, v, w] = numbers(&mut words)?;
            SessionInput::Move(RigidMotion {
                translation: Vec3::new(x, y, z),
                rotation: Vec3::new(u, v, w),
            })
        }
        "place" => {
            let role = role(words.next())?;
            SessionInput::Place(role, pose(&mut words)?)
        }
        "turn" => {
            let bond = words.next().and_then(|word| word.parse().ok());
            let bond = bond.ok_or("expected the index of a bond")?;
            let [angle] = numbers(&mut words)?;
            SessionInput::Turn { bond, angle }
        }
        "torsions" => {
            let role = role(words.next())?;
            let angles = words.by_ref().map(number);
            SessionInput::Torsions(role, angles.collect::<Result<_, _>>()?)
        }
        "carried" => {
            let mut words = words.by_ref().peekable();
            let mut poses = Vec::new();
            while words.peek().is_some() {
                poses.push(pose(&mut words)?);
            }
            SessionInput::BodyPoses(poses)
        }
        "radii" => SessionInput::Radii(numbers::<1>(&mut words)?[0]),
        "switch" => SessionInput::SwitchMoved,
        "free" => SessionInput::MoveToFreePose,
        "collisions" => {
            SessionInput::Collisions(lookup(&SWITCHES, words.next(), "expected on or off")?)
        }
        "guidance" => {
            SessionInput::Guidance(lookup(&SWITCHES, words.next(), "expected on or off")?)
        }
        "response" => SessionInput::Response(lookup(&MODES, words.next(), "unknown response")?),
        _ => return Err("unknown input"),
    };
    match words.next() {
        None => Ok(input),
        Some(_) => Err("too many words"),
    }
}

fn role(word: Option<&str>) -> Result<Role, &'static str> {
    let role = word.and_then(Role::parse);
    role.ok_or("expected receptor or ligand")
}

fn lookup<T: Copy>(
    table: &[(&str, T)],
    word: Option<&str>,
    why: &'static str,
) -> Result<T, &'static str> {
    let mut known = table.iter().filter(|(known, _)| Some(*known) == word);
    known.next().map(|(_, value)| *value).ok_or(why)
}

pub(super) fn pose_numbers(pose: &Pose) -> [f32; 7] {
    let [x, y, z] = pose.position.to_array();
    let [i, j, k, r] = pose.rotation.to_array();
    [x, y, z, i, j, k, r]
}

fn pose<'a>(words: &mut impl Iterator<Item = &'a str>) -> Result<Pose, &'static str> {
    let [x, y, z, i, j, k, r] = numbers(words)?;
    Ok(Pose::new(Vec3::new(x, y, z), Quat::from_xyzw(i, j, k, r)))
}

fn numbers<'a, const N: usize>(
    words: &mut impl Iterator<Item = &'a str>,
) -> Result<[f32; N], &'static str> {
    let mut numbers = [0.0_f32; N];
    for place in &mut numbers {
        *place = number(words.next().ok_or("fewer numbers than expected")?)?;
    }
    Ok(numbers)
}

fn number(word: &str) -> Result<f32, &'static str> {
    let number: f32 = word.parse().map_err(|_| "not a number")?;
    if number.is_finite() {
        Ok(number)
    } else {
        Err("a number is not finite")
    }
}
