//! Replay of the bundled docking log.

use std::sync::Arc;

use bevy_rapier_molecules::docking::log::SessionLog;
use bevy_rapier_molecules::docking::{ResponseMode, Role, Session, SessionInput};

use crate::docking::fixtures::{ligand_and_receptor, smallest_gap};

#[test]
fn recorded_path_leads_into_the_cavity_without_overlaps() {
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
    let (mut moves, mut max_distance) = (0, 0.0_f32);
    for input in log.inputs() {
        session.apply(input).unwrap();
        if let SessionInput::Move(motion) = input {
            moves += 1;
            // Each motion is short.
            assert!(motion.translation.length() < 0.05 && motion.rotation.length() < 0.25);
            assert_eq!(session.config().response, ResponseMode::Slide);
            assert!(session.config().collisions);
            let (small, large) = (
                session.molecule(Role::LIGAND),
                session.molecule(Role::Receptor),
            );
            let [pose, receptor_pose] =
                [Role::LIGAND, Role::Receptor].map(|part| session.pose(part));
            assert!(smallest_gap(small, &pose, large, &receptor_pose) > 0.0);
            max_distance = max_distance.max(pose.position.distance(receptor_pose.position));
        }
    }
    // It starts outside the bounding sphere of the receptor.
    assert!(max_distance > receptor.bounding_radius() + ligand.bounding_radius());
    assert!(moves > 20);
    // At the crystal pose with full radii.
    assert_eq!(session.config().radius_scale, 1.0);
    assert!(session.clashes().is_empty());
    let end = session.pose(Role::LIGAND);
    assert!(end.position.distance(crystal.position) < 0.2);
    assert!(log.ends_like(&session), "the final poses differ");
}
