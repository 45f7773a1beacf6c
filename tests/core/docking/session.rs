//! Sessions and their logs.

use std::sync::Arc;

use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, ForceFieldMolecule};
use bevy_rapier_molecules::docking::log::{LogError, Recorder, SessionLog};
use bevy_rapier_molecules::docking::{
    ResponseMode, RigidMotion, Role, Session, SessionError, SessionInput,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec3};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::docking::fixtures::{molecule, random_motion, random_pose, smallest_gap};

fn session() -> Session {
    let [receptor, ligand] = ["popc.pdb", "p_xylene.pdb"].map(molecule);
    Session::new(
        Arc::clone(receptor.template()),
        Arc::clone(ligand.template()),
    )
}

fn with_energy(session: Session) -> Session {
    let [large, small] = [Role::Receptor, Role::LIGAND]
        .map(|part| ForceFieldMolecule::new(Arc::clone(session.template(part))));
    let energy = EnergyGrid::new(&large, &small, &EnergyConfig::default()).unwrap();
    session.with_energy(Arc::new(energy))
}

/// A random input.
fn random_input(random: &mut impl Rng) -> SessionInput {
    match random.random_range(0..32) {
        0 => SessionInput::SwitchMoved,
        1 => SessionInput::Collisions(random.random()),
        2 => SessionInput::Radii(random.random_range(0.5..1.5)),
        3 => SessionInput::Guidance(random.random()),
        4 => SessionInput::MoveToFreePose,
        5 => SessionInput::Place(Role::LIGAND, random_pose(random, 2.0)),
        6 => SessionInput::Radii(-1.0),
        12 | 13 => {
            SessionInput::BodyPoses(vec![random_pose(random, 0.5), random_pose(random, 3.0)])
        }
        7..12 => {
            let modes = [
                ResponseMode::Stop,
                ResponseMode::Cue,
                ResponseMode::Slide,
                ResponseMode::Push,
            ];
            SessionInput::Response(modes[random.random_range(0..4)])
        }
        _ => SessionInput::Move(random_motion(random)),
    }
}

/// Runs random inputs and records them.
fn recorded(mut session: Session, seed: u64, inputs: usize) -> (Session, String) {
    let mut random = Pcg64::seed_from_u64(seed);
    let mut recorder = Recorder::new(Vec::new(), &session).unwrap();
    for _ in 0..inputs {
        let input = random_input(&mut random);
        recorder.record(&input).unwrap();
        let before = (session.pose(Role::Receptor), session.pose(Role::LIGAND));
        if session.apply(&input).is_err() {
            let after = (session.pose(Role::Receptor), session.pose(Role::LIGAND));
            assert_eq!(before, after, "rejected {input:?} changed a pose");
        }
    }
    let text = recorder.finish(&session).unwrap();
    (session, String::from_utf8(text).unwrap())
}

fn poses(session: &Session) -> [Pose; 2] {
    [Role::Receptor, Role::LIGAND].map(|part| session.pose(part))
}

#[test]
fn replay_gives_bitwise_identical_poses() {
    for seed in 0..6 {
        let begin = if seed % 2 == 0 {
            with_energy(session())
        } else {
            session()
        };
        let (end, text) = recorded(begin.clone(), seed, 150);
        let log = SessionLog::parse(&text).unwrap();
        let mut again = begin;
        // The poses before the replay do not matter.
        again
            .apply(&SessionInput::Place(
                Role::Receptor,
                Pose::from_translation(Vec3::ONE),
            ))
            .unwrap();
        log.replay(&mut again).unwrap();
        assert_eq!(poses(&again), poses(&end));
        assert_eq!(again.config(), end.config());
    }
}

#[test]
fn recording_can_start_in_the_middle_of_a_session() {
    let mut middle = session();
    for input in [
        SessionInput::SwitchMoved,
        SessionInput::Response(ResponseMode::Push),
        SessionInput::Radii(0.8),
        SessionInput::Place(
            Role::LIGAND,
            Pose::new(Vec3::X * 4.0, Quat::from_rotation_z(1.0)),
        ),
    ] {
        middle.apply(&input).unwrap();
    }
    let (end, text) = recorded(middle, 3, 40);
    let mut again = session();
    SessionLog::parse(&text)
        .unwrap()
        .replay(&mut again)
        .unwrap();
    assert_eq!((poses(&again), again.config()), (poses(&end), end.config()));
}

#[test]
fn log_of_another_molecule_is_an_error() {
    let (_, text) = recorded(session(), 1, 5);
    let log = SessionLog::parse(&text).unwrap();
    let [receptor, ligand] = ["popc.pdb", "1ubq.cif"].map(molecule);
    let mut other = Session::new(
        Arc::clone(receptor.template()),
        Arc::clone(ligand.template()),
    );
    let result = log.replay(&mut other).unwrap_err();
    assert!(matches!(
        result,
        LogError::OtherMolecule {
            role: Role::LIGAND,
            logged_atoms: 18,
            ..
        }
    ));
    let message = result.to_string();
    assert!(
        message.contains("p_xylene") && message.contains("1ubq"),
        "{message}"
    );
    // The same molecule with other radii.
    let fat = molecule("popc.pdb")
        .template()
        .as_ref()
        .clone()
        .with_scaled_radii(1.01)
        .unwrap();
    let mut other = Session::new(Arc::new(fat), Arc::clone(session().template(Role::LIGAND)));
    let result = log.replay(&mut other).unwrap_err();
    assert!(matches!(
        result,
        LogError::OtherMolecule {
            role: Role::Receptor,
            ..
        }
    ));
    let result = log.replay(&mut with_energy(session())).unwrap_err();
    assert!(matches!(result, LogError::OtherEnergy { .. }));
}

#[test]
fn truncated_log_reports_its_last_line() {
    let (_, text) = recorded(session(), 2, 20);
    assert!(SessionLog::parse(&text).is_ok());
    let mut truncated = 0;
    // The final newline is optional.
    for cut in 0..text.len() - 1 {
        match SessionLog::parse(&text[..cut]).unwrap_err() {
            LogError::Truncated { line, .. } => {
                assert_eq!(line, text[..cut].lines().count());
                truncated += 1;
            }
            // Cut in the first line.
            LogError::NotALog | LogError::Version { .. } => assert!(cut < 14),
            other => panic!("cut at {cut}: {other}"),
        }
    }
    assert!(truncated > 1000);
}

#[test]
fn invalid_logs_are_errors_with_the_line() {
    let (_, text) = recorded(session(), 2, 5);
    let parse = |text: &str| SessionLog::parse(text).unwrap_err();
    assert_eq!(parse(""), LogError::NotALog);
    assert_eq!(parse("HEADER    HYDROLASE"), LogError::NotALog);
    let version = text.replacen("docking-log 2", "docking-log 3", 1);
    assert!(matches!(parse(&version), LogError::Version { version } if version == "3"));
    let lines: Vec<&str> = text.lines().collect();
    let with = |number: usize, line: &str| {
        let mut lines = lines.clone();
        lines[number - 1] = line;
        parse(&lines.join("\n"))
    };
    assert!(matches!(
        with(2, "receptor zz 3 x"),
        LogError::Line { line: 2, .. }
    ));
    assert!(matches!(
        with(4, "move 0 0 0 0 0 0"),
        LogError::Line { line: 4, .. }
    ));
    assert!(matches!(with(6, "jump"), LogError::Line { line: 6, .. }));
    let fewer = text.replacen("response slide\n", "", 1);
    assert!(matches!(parse(&fewer), LogError::Count { .. }));
    // A different digest of the final poses.
    let mut end = text.trim_end().to_owned();
    let last = end.pop().unwrap();
    end.push(if last == '0' { '1' } else { '0' });
    let replayed = SessionLog::parse(&end).unwrap().replay(&mut session());
    assert_eq!(replayed, Err(LogError::DifferentEnd));
}

#[test]
fn inputs_round_trip_bit_for_bit() {
    let odd = Vec3::new(-0.0, 1.0e-30, 0.1 + 0.2);
    let pose = Pose::new(odd * 1.0e30, Quat::from_rotation_x(0.3));
    let motion = RigidMotion {
        translation: odd,
        rotation: Vec3::new(f32::MIN_POSITIVE, f32::MAX, -1.0 / 3.0),
    };
    let modes = [
        ResponseMode::Stop,
        ResponseMode::Cue,
        ResponseMode::Slide,
        ResponseMode::Push,
    ];
    let mut inputs = vec![
        SessionInput::Move(motion),
        SessionInput::SwitchMoved,
        SessionInput::MoveToFreePose,
        SessionInput::Radii(0.7),
        SessionInput::Turn {
            bond: 7,
            angle: -0.0,
        },
        SessionInput::Torsions(Role::Ligand(2), vec![0.1 + 0.2, -0.0, f32::MIN_POSITIVE]),
        SessionInput::Torsions(Role::LIGAND, Vec::new()),
        SessionInput::BodyPoses(vec![pose, Pose::from_translation(-odd)]),
    ];
    let roles = [Role::Receptor, Role::LIGAND, Role::Ligand(11)];
    inputs.extend(roles.map(|role| SessionInput::Place(role, pose)));
    inputs.extend(modes.map(SessionInput::Response));
    inputs.extend([true, false].map(SessionInput::Collisions));
    inputs.extend([true, false].map(SessionInput::Guidance));
    let session = session();
    let log = |inputs: &[SessionInput]| {
        let mut recorder = Recorder::new(Vec::new(), &session).unwrap();
        for input in inputs {
            recorder.record(input).unwrap();
        }
        String::from_utf8(recorder.finish(&session).unwrap()).unwrap()
    };
    let text = log(&inputs);
    let parsed = SessionLog::parse(&text).unwrap();
    // Before them are the poses and settings of the session.
    let parsed = &parsed.inputs()[parsed.inputs().len() - inputs.len()..];
    assert_eq!(parsed, inputs);
    // Distinguishes zero from negative zero.
    assert_eq!(log(parsed), text);
}

#[test]
fn invalid_inputs_are_errors_with_the_reason() {
    let (_, text) = recorded(session(), 2, 5);
    let mut lines: Vec<&str> = text.lines().collect();
    for (input, reason) in [
        ("", "unknown input"),
        ("fly 1 2 3", "unknown input"),
        ("move 1 2 3", "fewer numbers"),
        ("move 1 2 3 4 5 six", "not a number"),
        ("move 1 2 3 4 5 inf", "not finite"),
        ("move 1 2 3 4 5 6 7", "too many words"),
        ("place water 1 2 3 0 0 0 1", "expected receptor"),
        ("carried 1 2 3 0 0 0 1 1 2 3 0 0 0", "fewer numbers"),
        ("carried 1 2 3 0 0 0 1 1 2 3 0 0 0 1 5", "fewer numbers"),
        ("place ligand1 1 2 3 0 0 0 1", "expected receptor"),
        ("place ligand02 1 2 3 0 0 0 1", "expected receptor"),
        ("turn -1 0.5", "index of a bond"),
        ("turn 1", "fewer numbers"),
        ("turn 1 0.5 0.5", "too many words"),
        ("torsions 0.5", "expected receptor"),
        ("torsions ligand 0.5 nan", "not finite"),
        ("collisions maybe", "expected on"),
        ("response", "unknown response"),
    ] {
        lines[5] = input;
        let error = SessionLog::parse(&lines.join("\n")).unwrap_err();
        assert!(
            matches!(error, LogError::Line { line: 6, why, .. } if why.contains(reason)),
            "{input}"
        );
    }
}

#[test]
fn body_poses_are_replayed_without_physics() {
    let mut pushed = session();
    let mut recorder = Recorder::new(Vec::new(), &pushed).unwrap();
    let mut random = Pcg64::seed_from_u64(11);
    let mut inputs = vec![SessionInput::Response(ResponseMode::Push)];
    inputs.extend((0..30).map(|_| {
        // Some overlap, like bodies that are pressed together.
        SessionInput::BodyPoses(vec![
            random_pose(&mut random, 0.1),
            random_pose(&mut random, 1.5),
        ])
    }));
    inputs.extend([
        SessionInput::Response(ResponseMode::Slide),
        SessionInput::MoveToFreePose,
    ]);
    let (mut free, mut overlapping) = (0, 0);
    for input in &inputs {
        recorder.record(input).unwrap();
        let report = pushed.apply(input).unwrap();
        if let SessionInput::BodyPoses(poses) = input {
            assert_eq!(self::poses(&pushed)[..], poses[..]);
            assert_eq!(report.contacts.len(), pushed.clashes().len());
            overlapping += usize::from(!report.contacts.is_empty());
            free += usize::from(report.contacts.is_empty());
        }
    }
    assert!(free > 0 && overlapping > 0);
    let text = String::from_utf8(recorder.finish(&pushed).unwrap()).unwrap();
    assert_eq!(text.matches("\ncarried ").count(), 30);
    let mut again = session();
    let log = SessionLog::parse(&text).unwrap();
    assert!(log.inputs().ends_with(&inputs));
    log.replay(&mut again).unwrap();
    assert_eq!(poses(&again), poses(&pushed));
    // Another mode continues from there.
    again
        .apply(&SessionInput::Move(RigidMotion::translation(Vec3::X * 0.1)))
        .unwrap();
    let not_finite = Pose::from_translation(Vec3::NAN);
    let result = again.apply(&SessionInput::BodyPoses(vec![Pose::IDENTITY, not_finite]));
    assert!(matches!(result, Err(SessionError::Docking(_))));
}

#[test]
fn overlapping_molecules_get_the_nearest_free_pose() {
    let mut session = session();
    session
        .apply(&SessionInput::Place(Role::Receptor, Pose::IDENTITY))
        .unwrap();
    session
        .apply(&SessionInput::Place(Role::LIGAND, Pose::IDENTITY))
        .unwrap();
    assert!(!session.clashes().is_empty());
    let motion = SessionInput::Move(RigidMotion::translation(Vec3::X * 0.1));
    let Err(SessionError::Overlapping { free, distance, .. }) = session.apply(&motion) else {
        panic!("the molecules overlap");
    };
    assert!(distance > 0.0 && distance < 1.5, "{distance}");
    session.apply(&SessionInput::MoveToFreePose).unwrap();
    assert_eq!(session.pose(Role::LIGAND), free);
    assert!(session.clashes().is_empty());
    session.apply(&motion).unwrap();
    // Without collisions, overlaps are allowed.
    session.apply(&SessionInput::Collisions(false)).unwrap();
    session
        .apply(&SessionInput::Place(Role::LIGAND, Pose::IDENTITY))
        .unwrap();
    session.apply(&motion).unwrap();
    assert_eq!(session.pose(Role::LIGAND).position, Vec3::X * 0.1);
}

#[test]
fn guidance_lowers_the_energy_for_either_molecule() {
    assert_eq!(
        session().apply(&SessionInput::Guidance(true)),
        Err(SessionError::NoEnergy)
    );
    for moved in [Role::LIGAND, Role::Receptor] {
        let mut session = with_energy(session());
        session
            .apply(&SessionInput::Place(Role::Receptor, Pose::IDENTITY))
            .unwrap();
        session
            .apply(&SessionInput::Place(
                Role::LIGAND,
                Pose::from_translation(Vec3::X * 0.6),
            ))
            .unwrap();
        session.apply(&SessionInput::MoveToFreePose).unwrap();
        if moved == Role::Receptor {
            session.apply(&SessionInput::SwitchMoved).unwrap();
        }
        session.apply(&SessionInput::Guidance(true)).unwrap();
        let energy = |session: &Session| session.interaction().unwrap().energy();
        let still = SessionInput::Move(RigidMotion::default());
        let (mut before, first) = (energy(&session), energy(&session));
        for _ in 0..200 {
            session.apply(&still).unwrap();
            assert!(energy(&session) <= before);
            before = energy(&session);
        }
        assert!(before < first - 2.0, "{first} {before}");
        let (one, other) = (
            session.molecule(Role::Receptor),
            session.molecule(Role::LIGAND),
        );
        let [receptor_pose, pose] = poses(&session);
        assert!(smallest_gap(one, &receptor_pose, other, &pose) > 0.0);
    }
}
