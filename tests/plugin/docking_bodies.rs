//! The response `push` of the docking example: molecules as rigid bodies.

use std::sync::Arc;
use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::docking::log::{Recorder, SessionLog};
use bevy_rapier_molecules::docking::{ResponseMode, RigidMotion, Role, Session, SessionInput};
use bevy_rapier_molecules::prelude::*;

use super::test_app::{FRAME, real, start};
use physics_push::{PushPlugin, PushState};

#[path = "../../examples/docking/physics_push.rs"]
mod physics_push;

const ROLES: [Role; 2] = [Role::Receptor, Role::LIGAND];

/// Target speed, nm/s.
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

/// A lipid and ubiquitin, which is eleven times as heavy, 0.3 nm apart.
fn session() -> Session {
    let [receptor, ligand] = ["1ubq.cif", "popc.pdb"].map(|file| Arc::new(real(file)));
    let apart = receptor.bounding_radius() + ligand.bounding_radius() + 0.3;
    let mut session = Session::new(receptor, ligand);
    for (role, place) in ROLES.into_iter().zip([Vec3::ZERO, Vec3::X * apart]) {
        let pose = Pose::from_translation(place);
        session.apply(&SessionInput::Place(role, pose)).unwrap();
    }
    session
        .apply(&SessionInput::Response(ResponseMode::Push))
        .unwrap();
    session
}

/// Runs some frames like the example, and records the session.
fn run_frames(
    app: &mut App,
    session: &mut Session,
    recorder: &mut Recorder<Vec<u8>>,
    (frames, velocity): (usize, Vec3),
) {
    for _ in 0..frames {
        let mut push = app.world_mut().resource_mut::<PushState>();
        let molecule = |role: Role| {
            let template = Arc::clone(session.molecule(role).template());
            (template, session.pose(role))
        };
        push.requested = session.roles().map(molecule).collect();
        let target = RigidMotion::translation(velocity);
        push.driven = (velocity != Vec3::ZERO).then_some((session.config().moved, target));
        app.update();
        let reached = app.world().resource::<PushState>().reached.clone();
        if !session
            .roles()
            .map(|role| session.pose(role))
            .eq(reached.iter().copied())
        {
            let input = SessionInput::BodyPoses(reached);
            recorder.record(&input).unwrap();
            session.apply(&input).unwrap();
        }
    }
}

#[test]
fn bodies_push_each_other_and_replay_needs_no_physics() {
    let (mut app, mut session) = (app(), session());
    let begin = ROLES.map(|role| session.pose(role).position);
    let mut recorder = Recorder::new(Vec::new(), &session).unwrap();
    let towards = begin[0] - begin[1];
    let inwards = towards.normalize() * SPEED;
    // Without input nothing moves.
    run_frames(&mut app, &mut session, &mut recorder, (5, Vec3::ZERO));
    let still = ROLES.map(|role| session.pose(role).position);
    assert!(
        still
            .iter()
            .zip(begin)
            .all(|(now, then)| now.distance(then) < 1.0e-5)
    );
    // The light molecule pushes the heavy one.
    let frames = ((towards.length() / SPEED + 1.0) / FRAME) as usize;
    run_frames(&mut app, &mut session, &mut recorder, (frames, inwards));
    let pushed = ROLES.map(|role| session.pose(role).position);
    assert!(
        (pushed[0] - begin[0]).dot(inwards.normalize()) > 0.1,
        "{pushed:?}"
    );
    // Pressed together they overlap by less than half the smallest atom.
    let apart = pushed[0].distance(pushed[1]);
    assert!(apart > 0.5 && apart < towards.length(), "{apart}");
    let clashes = session.clashes();
    let smallest = ROLES.map(|role| session.template(role).radii().to_vec());
    let smallest = smallest.iter().flatten().copied().fold(f32::MAX, f32::min);
    let deepest = clashes
        .iter()
        .map(|clash| depth(&session, clash.atoms.a, clash.atoms.b));
    let deepest = deepest.fold(0.0, f32::max);
    assert!(deepest < 0.5 * smallest, "{deepest} of {smallest}");
    // They come to rest; then the other molecule is moved.
    run_frames(&mut app, &mut session, &mut recorder, (120, Vec3::ZERO));
    let mut change = |session: &mut Session, input: SessionInput| {
        recorder.record(&input).unwrap();
        session.apply(&input).unwrap();
    };
    change(&mut session, SessionInput::SwitchMoved);
    let rest = session.pose(Role::LIGAND).position;
    run_frames(&mut app, &mut session, &mut recorder, (120, -inwards));
    assert!(
        session.pose(Role::LIGAND).position.distance(rest) > 0.2,
        "the ligand is pushed along"
    );
    // Another mode continues from a free pose.
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
    let bits = |session: &Session| ROLES.map(|role| session.pose(role));
    assert_eq!(bits(&again), bits(&session));
}

/// Overlap of an atom of the receptor and one of the ligand, nm.
fn depth(session: &Session, receptor: u32, ligand: u32) -> f32 {
    let atom = |role: Role, atom: u32| {
        let template = session.molecule(role).template();
        let place = template.positions()[atom as usize];
        (
            session.pose(role).transform_point(place),
            template.radii()[atom as usize],
        )
    };
    let ((one, reach), (other, radius)) =
        (atom(Role::Receptor, receptor), atom(Role::LIGAND, ligand));
    reach + radius - one.distance(other)
}

#[test]
fn bodies_respawn_at_new_poses_and_despawn_on_request() {
    let (mut app, mut session) = (app(), session());
    let mut recorder = Recorder::new(Vec::new(), &session).unwrap();
    run_frames(&mut app, &mut session, &mut recorder, (30, Vec3::NEG_Y));
    assert!(session.pose(Role::LIGAND).position.y < -0.2);
    let far = Pose::from_translation(Vec3::Y * 20.0);
    session
        .apply(&SessionInput::Place(Role::LIGAND, far))
        .unwrap();
    // Other radii respawn the bodies, too.
    session.apply(&SessionInput::Radii(0.5)).unwrap();
    run_frames(&mut app, &mut session, &mut recorder, (10, Vec3::ZERO));
    // Respawned bodies are at rest.
    assert!(session.pose(Role::LIGAND).position.distance(far.position) < 1.0e-4);
    app.world_mut().resource_mut::<PushState>().requested = Vec::new();
    app.update();
    app.update();
    assert!(app.world().resource::<PushState>().reached.is_empty());
    let mut molecules = app.world_mut().query::<&Molecule>();
    assert_eq!(molecules.iter(app.world()).count(), 0);
}
