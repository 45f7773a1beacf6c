//! The scripted docking: from outside into the cavity, sliding.

use std::sync::Arc;

use bevy_rapier_molecules::docking::log::SessionLog;
use bevy_rapier_molecules::docking::{ResponseMode, Role, Session, SessionInput};

use crate::docking::fixtures::{ligand_and_receptor, smallest_gap};

#[test]
fn the_recorded_path_leads_p_xylene_from_outside_into_the_cavity_without_ever_overlapping() {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/assets/docking/p_xylene_into_t4_lysozyme.log"
    );
    let log = SessionLog::parse(&std::fs::read_to_string(path).unwrap()).unwrap();
    let (ligand, receptor) = ligand_and_receptor();
    let [ligand, receptor] = [ligand, receptor].map(|molecule| Arc::clone(molecule.template()));
    let crystal = ligand.file_pose();
    let mut session = Session::new(Arc::clone(&receptor), Arc::clone(&ligand));
    log.check(&session).unwrap();
    let (mut moves, mut furthest) = (0, 0.0_f32);
    for input in log.inputs() {
        session.apply(input).unwrap();
        if let SessionInput::Move(motion) = input {
            moves += 1;
            // No jumps: each motion is short.
            assert!(motion.translation.length() < 0.05 && motion.rotation.length() < 0.25);
            assert_eq!(session.config().response, ResponseMode::Slide);
            assert!(session.config().collisions);
            let (small, large) = (
                session.molecule(Role::Ligand),
                session.molecule(Role::Receptor),
            );
            let [pose, home] = [Role::Ligand, Role::Receptor].map(|part| session.pose(part));
            assert!(smallest_gap(small, &pose, large, &home) > 0.0);
            furthest = furthest.max(pose.position.distance(home.position));
        }
    }
    // It begins outside of the sphere around the receptor.
    assert!(furthest > receptor.bounding_radius() + ligand.bounding_radius());
    assert!(moves > 20);
    // With atoms of their own size again, at the crystal's pose.
    assert_eq!(session.config().radius_scale, 1.0);
    assert!(session.clashes().is_empty());
    let end = session.pose(Role::Ligand);
    assert!(end.position.distance(crystal.position) < 0.2);
    assert!(
        log.ends_like(&session),
        "the poses are not the same to the last bit"
    );
}
