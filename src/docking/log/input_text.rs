//! One input as a line of text, and back.

use std::fmt::Write;

use glam::{Quat, Vec3};

use crate::docking::{ResponseMode, RigidMotion, Role, SessionInput};
use crate::pose::Pose;

/// Words of the response modes.
const MODES: [(&str, ResponseMode); 4] = [
    ("stop", ResponseMode::Stop),
    ("cue", ResponseMode::Cue),
    ("slide", ResponseMode::Slide),
    ("push", ResponseMode::Push),
];

/// Words of the parts.
pub(super) const PARTS: [(&str, Role); 2] =
    [("receptor", Role::Receptor), ("ligand", Role::Ligand)];

/// Words of switches.
const SWITCHES: [(&str, bool); 2] = [("on", true), ("off", false)];

fn word<T: Copy + PartialEq>(table: &[(&'static str, T)], value: T) -> &'static str {
    let mut known = table.iter().filter(|(_, known)| *known == value);
    known.next().map_or("", |(word, _)| word)
}

/// An input as a line, without its end.
pub(super) fn write(input: &SessionInput) -> String {
    let mut line = String::new();
    let mut numbers = |head: &str, numbers: &[f32]| {
        line.push_str(head);
        for number in numbers {
            // The shortest digits that give the same bits when read; cannot fail.
            let _ = write!(line, " {number:?}");
        }
    };
    match input {
        SessionInput::Move(motion) => {
            let [x, y, z] = motion.translation.to_array();
            let [u, v, w] = motion.rotation.to_array();
            numbers("move", &[x, y, z, u, v, w]);
        }
        SessionInput::Place(part, pose) => {
            let head = format!("place {}", word(&PARTS, *part));
            numbers(&head, &of_pose(pose));
        }
        SessionInput::BodyPoses(poses) => {
            numbers("carried", poses.map(|pose| of_pose(&pose)).as_flattened());
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

/// Reads a line; the error says what is wrong.
pub(super) fn read(line: &str) -> Result<SessionInput, &'static str> {
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
            let part = choice(&PARTS, words.next(), "neither receptor nor ligand")?;
            SessionInput::Place(part, pose(&mut words)?)
        }
        "carried" => SessionInput::BodyPoses([pose(&mut words)?, pose(&mut words)?]),
        "radii" => SessionInput::Radii(numbers::<1>(&mut words)?[0]),
        "switch" => SessionInput::SwitchMoved,
        "free" => SessionInput::MoveToFreePose,
        "collisions" => {
            SessionInput::Collisions(choice(&SWITCHES, words.next(), "neither on nor off")?)
        }
        "guidance" => {
            SessionInput::Guidance(choice(&SWITCHES, words.next(), "neither on nor off")?)
        }
        "response" => SessionInput::Response(choice(&MODES, words.next(), "an unknown response")?),
        _ => return Err("an unknown input"),
    };
    match words.next() {
        None => Ok(input),
        Some(_) => Err("more words than the input has"),
    }
}

fn choice<T: Copy>(
    table: &[(&str, T)],
    word: Option<&str>,
    why: &'static str,
) -> Result<T, &'static str> {
    let mut known = table.iter().filter(|(known, _)| Some(*known) == word);
    known.next().map(|(_, value)| *value).ok_or(why)
}

fn of_pose(pose: &Pose) -> [f32; 7] {
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
    for number in &mut numbers {
        let word = words.next().ok_or("fewer numbers than the input has")?;
        *number = word.parse().map_err(|_| "a word that is no number")?;
        if !number.is_finite() {
            return Err("a number that is not finite");
        }
    }
    Ok(numbers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_again_bit_for_bit() {
        let odd = Vec3::new(-0.0, 1.0e-30, 0.1 + 0.2);
        let pose = Pose::new(odd * 1.0e30, Quat::from_rotation_x(0.3));
        let motion = RigidMotion {
            translation: odd,
            rotation: Vec3::new(f32::MIN_POSITIVE, f32::MAX, -1.0 / 3.0),
        };
        let mut inputs = vec![
            SessionInput::Move(motion),
            SessionInput::SwitchMoved,
            SessionInput::MoveToFreePose,
        ];
        inputs.extend(PARTS.map(|(_, part)| SessionInput::Place(part, pose)));
        inputs.extend(MODES.map(|(_, mode)| SessionInput::Response(mode)));
        inputs.extend([true, false].map(SessionInput::Collisions));
        inputs.extend([true, false].map(SessionInput::Guidance));
        inputs.push(SessionInput::Radii(0.7));
        inputs.push(SessionInput::BodyPoses([
            pose,
            Pose::from_translation(-odd),
        ]));
        for input in inputs {
            let line = write(&input);
            let again = read(&line).unwrap();
            assert_eq!(again, input, "{line}");
            // Zero and its negative are equal; their text is not.
            assert_eq!(write(&again), line);
        }
    }

    #[test]
    fn lines_that_make_no_sense_say_why() {
        for (line, why) in [
            ("", "unknown input"),
            ("fly 1 2 3", "unknown input"),
            ("move 1 2 3", "fewer numbers"),
            ("move 1 2 3 4 5 six", "no number"),
            ("move 1 2 3 4 5 inf", "not finite"),
            ("move 1 2 3 4 5 6 7", "more words"),
            ("place water 1 2 3 0 0 0 1", "neither receptor"),
            ("carried 1 2 3 0 0 0 1 1 2 3 0 0 0", "fewer numbers"),
            ("carried 1 2 3 0 0 0 1 1 2 3 0 0 0 1 5", "more words"),
            ("collisions maybe", "neither on"),
            ("response", "unknown response"),
        ] {
            assert!(read(line).unwrap_err().contains(why), "{line}");
        }
    }
}
