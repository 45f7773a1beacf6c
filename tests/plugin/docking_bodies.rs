//! Two molecules of a docking session as bodies that push each other, as in the example.

use std::sync::Arc;
use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::docking::log::{Recorder, SessionLog};
use bevy_rapier_molecules::docking::{ResponseMode, RigidMotion, Role, Session, SessionInput};
use bevy_rapier_molecules::prelude::*;

use super::test_app::{FRAME, real, start};
use physics_push::{PushPlugin, Pushed};

#[path = "../../examples/docking/physics_push.rs"]
mod physics_push;

const PARTS: [Role; 2] = [Role::Receptor, Role::Ligand];

/// Speed of the hand, nm/s.
const SPEED: f32 = 0.8;

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        AssetPlugin::default(),
        PushPlugin {
            backend: Backend::Cpu,
        },
    ))
    .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(
        FRAME,
    )));
    start(&mut app);
    app
}

/// Lipid and ubiquitin, 0.3 nm apart: one is eleven times as heavy as the other.
fn session() -> Session {
    let [receptor, ligand] = ["1ubq.cif", "popc.pdb"].map(|file| Arc::new(real(file)));
    let apart = receptor.bounding_radius() + ligand.bounding_radius() + 0.3;
    let mut session = Session::new(receptor, ligand);
    for (part, place) in PARTS.into_iter().zip([Vec3::ZERO, Vec3::X * apart]) {
        let pose = Pose::from_translation(place);
        session.apply(&SessionInput::Place(part, pose)).unwrap();
    }
    session
        .apply(&SessionInput::Response(ResponseMode::Push))
        .unwrap();
    session
}

/// Goes on for some frames, as the example does; records what the session is told.
fn go_on(
    app: &mut App,
    session: &mut Session,
    recorder: &mut Recorder<Vec<u8>>,
    (frames, velocity): (usize, Vec3),
) {
    for _ in 0..frames {
        let mut pushed = app.world_mut().resource_mut::<Pushed>();
        pushed.wanted = Some(PARTS.map(|part| {
            let template = Arc::clone(session.molecule(part).template());
            (template, session.pose(part))
        }));
        let wanted = RigidMotion::translation(velocity);
        pushed.driven = (velocity != Vec3::ZERO).then_some((session.config().moved, wanted));
        app.update();
        let reached = app.world().resource::<Pushed>().reached.unwrap();
        if reached != PARTS.map(|part| session.pose(part)) {
            let input = SessionInput::BodyPoses(reached);
            recorder.record(&input).unwrap();
            session.apply(&input).unwrap();
        }
    }
}

#[test]
fn bodies_push_each_other_and_the_log_of_it_needs_no_physics() {
    let (mut app, mut session) = (app(), session());
    let begin = PARTS.map(|part| session.pose(part).position);
    let mut recorder = Recorder::new(Vec::new(), &session).unwrap();
    let towards = begin[0] - begin[1];
    let inwards = towards.normalize() * SPEED;
    // Nobody drives, nothing moves, nothing falls.
    go_on(&mut app, &mut session, &mut recorder, (5, Vec3::ZERO));
    let still = PARTS.map(|part| session.pose(part).position);
    assert!(
        still
            .iter()
            .zip(begin)
            .all(|(now, then)| now.distance(then) < 1.0e-5)
    );
    // The light one pushes the heavy one.
    let frames = ((towards.length() / SPEED + 1.0) / FRAME) as usize;
    go_on(&mut app, &mut session, &mut recorder, (frames, inwards));
    let pushed = PARTS.map(|part| session.pose(part).position);
    assert!(
        (pushed[0] - begin[0]).dot(inwards.normalize()) > 0.1,
        "{pushed:?}"
    );
    // Pressed together they overlap a little, less than half of the smallest atom.
    let apart = pushed[0].distance(pushed[1]);
    assert!(apart > 0.5 && apart < towards.length(), "{apart}");
    let clashes = session.clashes();
    let smallest = PARTS.map(|part| session.template(part).radii().to_vec());
    let smallest = smallest.iter().flatten().copied().fold(f32::MAX, f32::min);
    let deepest = clashes.iter().map(|pair| depth(&session, pair.a, pair.b));
    let deepest = deepest.fold(0.0, f32::max);
    assert!(deepest < 0.5 * smallest, "{deepest} of {smallest}");
    // Let go, they come to rest; then the other one is moved, away and back again.
    go_on(&mut app, &mut session, &mut recorder, (120, Vec3::ZERO));
    let mut change = |session: &mut Session, input: SessionInput| {
        recorder.record(&input).unwrap();
        session.apply(&input).unwrap();
    };
    change(&mut session, SessionInput::SwitchMoved);
    let rest = session.pose(Role::Ligand).position;
    go_on(&mut app, &mut session, &mut recorder, (120, -inwards));
    assert!(
        session.pose(Role::Ligand).position.distance(rest) > 0.2,
        "it is pushed along"
    );
    // Another mode goes on from there: what is pressed together is freed first.
    let mut change = |session: &mut Session, input: SessionInput| {
        recorder.record(&input).unwrap();
        session.apply(&input).unwrap();
    };
    for input in [
        SessionInput::Response(ResponseMode::Slide),
        SessionInput::MoveToFreePose,
        SessionInput::Move(RigidMotion::translation(inwards * 0.1)),
    ] {
        change(&mut session, input);
    }
    assert!(session.clashes().is_empty());
    let text = String::from_utf8(recorder.finish(&session).unwrap()).unwrap();
    let mut again = self::session();
    SessionLog::parse(&text)
        .unwrap()
        .replay(&mut again)
        .unwrap();
    let bits = |session: &Session| PARTS.map(|part| session.pose(part));
    assert_eq!(bits(&again), bits(&session));
}

/// How deep an atom of the receptor and one of the ligand overlap, nm.
fn depth(session: &Session, receptor: u32, ligand: u32) -> f32 {
    let atom = |part: Role, atom: u32| {
        let template = session.molecule(part).template();
        let place = template.positions()[atom as usize];
        (
            session.pose(part).transform_point(place),
            template.radii()[atom as usize],
        )
    };
    let ((one, reach), (other, radius)) =
        (atom(Role::Receptor, receptor), atom(Role::Ligand, ligand));
    reach + radius - one.distance(other)
}

#[test]
fn bodies_begin_anew_where_they_are_put_and_go_when_nobody_wants_them() {
    let (mut app, mut session) = (app(), session());
    let mut recorder = Recorder::new(Vec::new(), &session).unwrap();
    go_on(&mut app, &mut session, &mut recorder, (30, Vec3::NEG_Y));
    assert!(session.pose(Role::Ligand).position.y < -0.2);
    let far = Pose::from_translation(Vec3::Y * 20.0);
    session
        .apply(&SessionInput::Place(Role::Ligand, far))
        .unwrap();
    // Other radii are other bodies, too.
    session.apply(&SessionInput::Radii(0.5)).unwrap();
    go_on(&mut app, &mut session, &mut recorder, (10, Vec3::ZERO));
    // At rest: what it had of speed is gone.
    assert!(session.pose(Role::Ligand).position.distance(far.position) < 1.0e-4);
    app.world_mut().resource_mut::<Pushed>().wanted = None;
    app.update();
    app.update();
    assert_eq!(app.world().resource::<Pushed>().reached, None);
    let mut molecules = app.world_mut().query::<&Molecule>();
    assert_eq!(molecules.iter(app.world()).count(), 0);
}
