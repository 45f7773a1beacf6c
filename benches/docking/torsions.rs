//! A turn about a bond until contact, against a motion until contact.

use std::cell::RefCell;
use std::sync::Arc;

use bevy_rapier_molecules::docking::{ResponseMode, RigidMotion, Role, Session, SessionInput};
use bevy_rapier_molecules::pose::Pose;

use crate::common::interleave::ratio;
use crate::common::{Column, Done, NoOptions, Run, cells};
use crate::{POSES, ROUNDS, Scene, TURN, micros};

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let rounds = run.pick(ROUNDS, 1);
    let scene = Scene::new("t4_lysozyme_l99a.pdb", "popc.pdb");
    let session = RefCell::new(session(&scene));
    let bonds = session.borrow().bonds(Role::LIGAND).len();
    let apply = |input: SessionInput| {
        let report = session.borrow_mut().apply(&input);
        usize::from(report.expect("the poses are free").blocked)
    };
    let place = |pose: &Pose| apply(SessionInput::Place(Role::LIGAND, *pose));
    let bond = |pose: &Pose| (pose.position.x.to_bits() as usize % bonds) as u32;
    let turn = |bond: u32, angle: f32| apply(SessionInput::Turn { bond, angle });
    // There and back, so that each pose starts with the conformation of the file.
    let turn_twice = |bond: u32| {
        let blocked = turn(bond, TURN);
        let turned = session.borrow().torsions(Role::LIGAND)[bond as usize];
        blocked + turn(bond, -turned)
    };
    let competitors: [&dyn Fn(&Pose, &RigidMotion) -> usize; 2] = [
        &|pose, motion| place(pose) + apply(SessionInput::Move(*motion)),
        &|pose, _| place(pose) + turn_twice(bond(pose)),
    ];
    let [motion, turns] = scene.best_of(rounds, competitors);
    let turn = turns / 2;
    let title = format!(
        "POPC (134 atoms, {bonds} rotatable bonds) at T4 lysozyme, by the inputs of a session. \
         Microseconds, mean of {POSES} poses at the surface, best of {rounds} interleaved rounds, \
         one thread. A turn of {TURN} radian builds the grid of the new conformation."
    );
    let columns = vec![
        Column::measured("motion until contact", "µs").decimals(1),
        Column::measured("turn until contact", "µs").decimals(1),
        Column::number("turn ÷ motion").decimals(1),
    ];
    let mut table = run.table(&title, columns);
    table.row(cells![micros(motion), micros(turn), ratio(turn, motion)]);
    Ok(())
}

fn session(scene: &Scene) -> Session {
    let [receptor, ligand] =
        [&scene.receptor, &scene.ligand].map(|molecule| Arc::clone(molecule.template()));
    let mut session = Session::new(receptor, ligand);
    for input in [
        SessionInput::Place(Role::Receptor, Pose::IDENTITY),
        SessionInput::Response(ResponseMode::Stop),
    ] {
        session.apply(&input).expect("the input is valid");
    }
    session
}
