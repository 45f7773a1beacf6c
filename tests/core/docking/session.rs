//! Sessions and their logs.

use std::sync::Arc;

use bevy_rapier_molecules::docking::energy::{
    EnergyConfig, EnergyGrid, ForceFieldMolecule, Interaction,
};
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

/// Two rings and a lipid with torsions around another lipid.
fn several() -> Session {
    let [lipid, ring] =
        ["popc.pdb", "p_xylene.pdb"].map(|file| Arc::clone(molecule(file).template()));
    let mut session = Session::new(Arc::clone(&lipid), Arc::clone(&ring))
        .with_ligand(ring)
        .with_ligand(lipid);
    for (role, x) in session.roles().zip([0.0, 2.5, -2.5, 5.0]) {
        let pose = Pose::from_translation(Vec3::X * x);
        session.apply(&SessionInput::Place(role, pose)).unwrap();
    }
    session
}

/// A random input for [`several`] molecules.
fn random_input_for_several(random: &mut impl Rng) -> SessionInput {
    let bonds = 41;
    match random.random_range(0..40) {
        0 => SessionInput::Place(Role::Ligand(1), random_pose(random, 3.0)),
        1 => {
            let angles = (0..bonds).map(|_| random.random_range(-0.2..0.2));
            SessionInput::Torsions(Role::Ligand(2), angles.collect())
        }
        2 => {
            let poses = (0..4).map(|_| random_pose(random, 4.0));
            SessionInput::BodyPoses(poses.collect())
        }
        3..8 => SessionInput::SwitchMoved,
        8..20 => SessionInput::Turn {
            bond: random.random_range(0..bonds + 1),
            angle: random.random_range(-2.0..2.0),
        },
        20..30 => SessionInput::Move(random_motion(random)),
        _ => random_input(random),
    }
}

/// The poses, torsions and settings as bits.
fn state(session: &Session) -> (Vec<u32>, String) {
    let mut bits = Vec::new();
    for role in session.roles() {
        let pose = session.pose(role);
        let numbers = pose
            .position
            .to_array()
            .into_iter()
            .chain(pose.rotation.to_array());
        let numbers = numbers.chain(session.torsions(role).iter().copied());
        let positions = session.molecule(role).template().positions();
        let positions = positions.iter().flat_map(Vec3::to_array);
        bits.extend(numbers.chain(positions).map(f32::to_bits));
    }
    (bits, format!("{:?}", session.config()))
}

#[test]
fn several_molecules_and_torsions_are_replayed_bit_for_bit() {
    let (mut turned, mut moved) = (0, [0; 4]);
    for seed in 0..4 {
        let mut session = several();
        let mut random = Pcg64::seed_from_u64(seed);
        // Recording starts in the middle.
        for _ in 0..20 {
            let _ = session.apply(&random_input_for_several(&mut random));
        }
        let mut recorder = Recorder::new(Vec::new(), &session).unwrap();
        for _ in 0..100 {
            let input = random_input_for_several(&mut random);
            recorder.record(&input).unwrap();
            let before = state(&session);
            match session.apply(&input) {
                Err(_) => assert_eq!(state(&session), before, "rejected {input:?}"),
                Ok(_) => match input {
                    SessionInput::Turn { .. } => turned += 1,
                    SessionInput::Move(_) => moved[session.config().moved.index()] += 1,
                    _ => {}
                },
            }
        }
        let text = String::from_utf8(recorder.finish(&session).unwrap()).unwrap();
        assert!(text.starts_with("docking-log 2\n"));
        let log = SessionLog::parse(&text).unwrap();
        let mut again = several();
        again
            .apply(&SessionInput::Torsions(Role::Ligand(2), vec![0.3; 41]))
            .unwrap();
        log.replay(&mut again).unwrap();
        assert_eq!(state(&again), state(&session));
        // A different torsion is another end, even at the same poses.
        let mut other = session.clone();
        let mut angles = session.torsions(Role::Ligand(2)).to_vec();
        angles[0] += 0.5;
        let pose = session.pose(Role::Ligand(2));
        other
            .apply(&SessionInput::Torsions(Role::Ligand(2), angles))
            .unwrap();
        other
            .apply(&SessionInput::Place(Role::Ligand(2), pose))
            .unwrap();
        assert!(log.ends_like(&session) && !log.ends_like(&other));
        let fewer = log.check(&self::session()).unwrap_err();
        let (logged, given) = (4, 2);
        assert_eq!(fewer, LogError::MoleculeCount { logged, given });
    }
    assert!(
        turned > 10 && moved.iter().all(|moved| *moved > 3),
        "{turned} {moved:?}"
    );
}

#[test]
fn selection_goes_through_all_molecules_and_motions_overlap_none() {
    let mut session = several();
    let mut random = Pcg64::seed_from_u64(5);
    let order = [
        Role::Ligand(1),
        Role::Ligand(2),
        Role::Receptor,
        Role::LIGAND,
    ];
    let modes = [ResponseMode::Stop, ResponseMode::Slide, ResponseMode::Push];
    let mut contacts = 0;
    for step in 0..120 {
        session.apply(&SessionInput::SwitchMoved).unwrap();
        let moved = session.config().moved;
        assert_eq!(moved, order[step % 4]);
        let mode = modes[step % 3];
        session.apply(&SessionInput::Response(mode)).unwrap();
        let before: Vec<Pose> = session.roles().map(|role| session.pose(role)).collect();
        let others = session.roles().filter(|role| *role != moved);
        let nearest = others.map(|role| session.pose(role).position - session.pose(moved).position);
        let towards = nearest
            .min_by(|a, b| a.length().total_cmp(&b.length()))
            .unwrap();
        let mut motion = random_motion(&mut random);
        motion.translation = towards * 0.7 + motion.translation.clamp_length_max(0.3);
        let report = session.apply(&SessionInput::Move(motion)).unwrap();
        assert!(session.clashes().is_empty());
        for (role, before) in session.roles().zip(before) {
            let may_move = role == moved || mode == ResponseMode::Push;
            assert!(may_move || session.pose(role) == before);
            for other in session.roles().filter(|other| *other > role) {
                let [one, two] = [role, other].map(|role| session.molecule(role));
                let gap = smallest_gap(one, &session.pose(role), two, &session.pose(other));
                assert!(gap > 0.0, "{role} and {other}: {gap}");
            }
        }
        for contact in &report.contacts {
            let [one, other] = contact.molecules;
            assert!(one < other && contact.atoms.gap < 1.2e-4);
            contacts += 1;
        }
    }
    assert!(contacts > 30, "{contacts}");
}

#[test]
fn logs_of_version_1_are_played_bit_for_bit() {
    for seed in 0..3 {
        let (end, text) = recorded(session(), seed, 80);
        // Two molecules without torsions are written as in version 1.
        let old = text.replacen("docking-log 2", "docking-log 1", 1);
        assert!(!old.contains("torsions") && !old.contains("turn"));
        let mut again = session();
        SessionLog::parse(&old).unwrap().replay(&mut again).unwrap();
        assert_eq!(state(&again), state(&end));
    }
}

/// Logs that version 1 has written, with all responses, both molecules moved, other radii, and
/// poses of bodies. The second one has guidance, too.
#[test]
fn logs_written_by_version_1_end_at_the_same_poses() {
    let path = |name: &str| format!("{}/tests/data/docking/{name}", env!("CARGO_MANIFEST_DIR"));
    let log = |name: &str| std::fs::read_to_string(path(name)).unwrap();
    let of = |files: [&str; 2]| {
        let [receptor, ligand] = files.map(|file| Arc::clone(molecule(file).template()));
        Session::new(receptor, ligand)
    };
    for (text, mut session) in [
        (log("version_1.log"), of(["p_xylene.pdb", "popc.pdb"])),
        (log("version_1_with_energy.log"), with_energy(session())),
    ] {
        assert!(text.starts_with("docking-log 1\n") && text.contains("response push"));
        let log = SessionLog::parse(&text).unwrap();
        log.replay(&mut session).unwrap();
        assert!(log.inputs().len() > 80);
    }
}

#[test]
fn energies_of_several_ligands_are_summed_and_act_on_the_active_molecule() {
    let mut session = several();
    // Close to the receptor, with turned bonds.
    for (role, x) in [
        (Role::LIGAND, 0.9),
        (Role::Ligand(1), -0.8),
        (Role::Ligand(2), 1.6),
    ] {
        let pose = Pose::from_translation(Vec3::X * x);
        session.apply(&SessionInput::Place(role, pose)).unwrap();
    }
    // The end of a chain, so that no atoms come so close that they count as bonded.
    let mut angles = vec![0.0; 41];
    angles[40] = 0.4;
    session
        .apply(&SessionInput::Torsions(Role::Ligand(2), angles))
        .unwrap();
    let typed = |role: Role| ForceFieldMolecule::new(Arc::clone(session.template(role)));
    let ligands: Vec<_> = session.roles().skip(1).map(typed).collect();
    let config = EnergyConfig::default();
    let grid = EnergyGrid::for_ligands(&typed(Role::Receptor), &ligands, &config).unwrap();
    let receptor = typed(Role::Receptor);
    let home = session.pose(Role::Receptor);
    let mut expected = Vec::new();
    for (role, ligand) in session.roles().skip(1).zip(&ligands) {
        // A grid of its own, for the molecule in its conformation.
        let shape = ForceFieldMolecule::new(Arc::clone(session.molecule(role).template()));
        let shape = shape.with_charges(ligand.charges().to_vec()).unwrap();
        let own = EnergyGrid::new(&receptor, &shape, &config).unwrap();
        expected.push(own.interaction(&session.pose(role), &home));
    }
    let mut session = session.with_energy(Arc::new(grid));
    let sum: f64 = expected.iter().map(Interaction::energy).sum();
    let near = |a: Vec3, b: Vec3| a.distance(b) <= 1.0e-3 * (1.0 + b.length());
    for _ in 0..4 {
        let total = session.interaction().unwrap();
        assert!(
            (total.energy() - sum).abs() < 1.0e-3 * (1.0 + sum.abs()),
            "{total:?} {sum}"
        );
        match session.config().moved {
            Role::Receptor => {
                let force: Vec3 = expected.iter().map(|one| one.force).sum();
                assert!(near(total.force, -force), "{total:?} {force}");
            }
            Role::Ligand(ligand) => {
                let one = &expected[ligand as usize];
                assert!(near(total.force, one.force) && near(total.torque, one.torque));
            }
        }
        session.apply(&SessionInput::SwitchMoved).unwrap();
    }
    assert!(sum != 0.0);
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
