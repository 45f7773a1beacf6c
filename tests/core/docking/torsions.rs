//! Rotatable bonds, conformations, and turns until a contact, against brute force in `f64`.

use std::collections::BTreeSet;
use std::f32::consts::PI;
use std::sync::Arc;

use bevy_rapier_molecules::docking::{
    CONTACT_TOLERANCE_NM, DockingError, ResponseMode, RigidMotion, Role, Session, SessionError,
    SessionInput,
};
use bevy_rapier_molecules::molecule::{Element, MoleculeTemplate, RotatableBond, rotatable_bonds};
use bevy_rapier_molecules::pose::Pose;
use glam::{DQuat, DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::docking::fixtures::{atoms, gaps, molecule, random_pose, residue};

/// Names of the atoms of bonds, sorted.
fn names(molecule: &MoleculeTemplate, bonds: &[RotatableBond]) -> BTreeSet<[String; 2]> {
    let name = |atom: u32| molecule.atom_names()[atom as usize].to_string();
    let sorted = |bond: &RotatableBond| {
        let mut names = bond.atoms.map(name);
        names.sort();
        names
    };
    bonds.iter().map(sorted).collect()
}

fn assert_bonds(molecule: &MoleculeTemplate, expected: &[[&str; 2]]) {
    let found = names(molecule, &rotatable_bonds(molecule));
    let expected = expected.iter().map(|names| {
        let mut names = names.map(str::to_owned);
        names.sort();
        names
    });
    assert_eq!(found, expected.collect());
}

/// The bonds of consecutive atoms of a chain.
fn chain<'a>(atoms: &[&'a str]) -> Vec<[&'a str; 2]> {
    atoms.windows(2).map(|pair| [pair[0], pair[1]]).collect()
}

#[test]
fn rotatable_bonds_of_real_molecules_are_those_counted_by_hand() {
    // The ring is rigid, and the methyl groups turn hydrogens only.
    assert_bonds(molecule("p_xylene.pdb").template(), &[]);

    // POPC: from the nitrogen of choline to the glycerol, and along both chains up to the last
    // bond but one. Methyl groups and the double bond C29=C210 are no rotatable bonds.
    let mut popc = chain(&[
        "N", "C12", "C11", "O12", "P", "O11", "C1", "C2", "C3", "O31", "C31", "C32", "C33", "C34",
        "C35", "C36", "C37", "C38", "C39", "C310", "C311", "C312", "C313", "C314", "C315",
    ]);
    popc.extend(chain(&[
        "C2", "O21", "C21", "C22", "C23", "C24", "C25", "C26", "C27", "C28", "C29",
    ]));
    popc.extend(chain(&[
        "C210", "C211", "C212", "C213", "C214", "C215", "C216", "C217",
    ]));
    assert_eq!(popc.len(), 41);
    assert_bonds(molecule("popc.pdb").template(), &popc);

    // Heme: two propionates with three bonds each, and two vinyl groups. The porphyrin is a ring.
    let mut heme = chain(&["C2A", "CAA", "CBA", "CGA"]);
    heme.extend(chain(&["C3D", "CAD", "CBD", "CGD"]));
    heme.extend([["C3B", "CAB"], ["C3C", "CAC"]]);
    assert_bonds(&residue("1gzx.pdb", "A", 1142), &heme);

    // The detergent C8E4, with 21 heavy atoms in one chain.
    let detergent = [
        "C2", "C3", "C4", "C5", "C6", "C7", "C8", "O9", "C10", "C11", "O12", "C13", "C14", "O15",
        "C16", "C17", "O18", "C19", "C20",
    ];
    assert_bonds(&residue("2por.pdb", "A", 545), &chain(&detergent));

    // Polyethylene glycol with an incomplete end.
    let glycol = [
        "C12", "C22", "OH3", "C23", "C13", "OH4", "C24", "C14", "OH5", "C25", "C15", "OH6",
    ];
    assert_bonds(&residue("multi.pdb", "A", 401), &chain(&glycol));
}

#[test]
fn amides_rings_and_side_chains_of_a_protein_are_as_expected() {
    let ubiquitin = molecule("1ubq.cif");
    let ubiquitin = ubiquitin.template();
    let bonds = rotatable_bonds(ubiquitin);
    let is = |bond: &&RotatableBond, one: &str, other: &str| {
        let [a, b] = bond
            .atoms
            .map(|atom| ubiquitin.atom_names()[atom as usize].as_str());
        (a, b) == (one, other) || (a, b) == (other, one)
    };
    let count = |one: &str, other: &str| bonds.iter().filter(|bond| is(bond, one, other)).count();
    // 76 residues, of which three are prolines. Peptide bonds are rigid.
    assert_eq!(count("N", "C"), 0);
    // The first N and the last C are not terminal: C has two oxygens, but N no heavy neighbor.
    assert_eq!(count("N", "CA"), 75 - 3);
    assert_eq!(count("CA", "C"), 76);
    // No bond of the rings of proline, histidine, phenylalanine and tyrosine.
    for [one, other] in [["CG", "CD2"], ["CD", "N"], ["CE1", "CZ"], ["CG", "ND1"]] {
        assert_eq!(count(one, other), 0, "{one} {other}");
    }
    for bond in &bonds {
        assert!(2 * (bond.turned.len() + 1) <= ubiquitin.atom_count());
        assert!(bond.turned.is_sorted() && !bond.turned.contains(&bond.atoms[1]));
        // Nested or disjoint.
        let side = |bond: &RotatableBond| -> BTreeSet<u32> {
            bond.turned.iter().copied().chain([bond.atoms[1]]).collect()
        };
        let own = side(bond);
        for other in bonds.iter().step_by(7) {
            let other = side(other);
            let is_nested = own.is_subset(&other) || other.is_subset(&own);
            assert!(is_nested || own.is_disjoint(&other));
        }
    }
}

/// The conformation by rotation matrices in `f64`, in the body frame of the file.
fn oracle(molecule: &MoleculeTemplate, bonds: &[RotatableBond], angles: &[f32]) -> Vec<DVec3> {
    let positions = molecule.positions().iter();
    let mut positions: Vec<DVec3> = positions.map(|position| position.as_dvec3()).collect();
    // From the last bond to the first: the order does not matter.
    for (bond, angle) in bonds.iter().zip(angles).rev() {
        let [first, second] = bond.atoms.map(|atom| positions[atom as usize]);
        let axis = (second - first).normalize();
        let (sine, cosine) = f64::from(*angle).sin_cos();
        for &atom in &bond.turned {
            let arm = positions[atom as usize] - first;
            // Rodrigues.
            let turned =
                arm * cosine + axis.cross(arm) * sine + axis * axis.dot(arm) * (1.0 - cosine);
            positions[atom as usize] = first + turned;
        }
    }
    positions
}

/// Bond partners by brute force, for molecules of H, C, N, O and P.
fn partners(molecule: &MoleculeTemplate) -> Vec<Vec<usize>> {
    let (positions, elements) = (molecule.positions(), molecule.elements());
    let is_bonded = |a: usize, b: usize| {
        let hydrogens = [a, b]
            .iter()
            .filter(|&&atom| elements[atom] == Element::H)
            .count();
        let reach = [0.19, 0.125, 0.0][hydrogens];
        a != b && positions[a].distance(positions[b]) < reach
    };
    let all = 0..positions.len();
    all.clone()
        .map(|a| all.clone().filter(|&b| is_bonded(a, b)).collect())
        .collect()
}

/// Pairs of atoms of a molecule that collide, by brute force: more than three bonds apart, and not
/// touching in the file.
fn colliding_pairs(molecule: &MoleculeTemplate) -> Vec<(usize, usize)> {
    let partners = partners(molecule);
    let mut pairs = Vec::new();
    for a in 0..partners.len() {
        let mut near = BTreeSet::from([a]);
        for _ in 0..3 {
            let next: Vec<usize> = near.iter().flat_map(|&k| partners[k].clone()).collect();
            near.extend(next);
        }
        for b in (a + 1..partners.len()).filter(|b| !near.contains(b)) {
            let distance = molecule.positions()[a].distance(molecule.positions()[b]);
            let gap = distance - molecule.radii()[a] - molecule.radii()[b];
            if gap > 2.0 * CONTACT_TOLERANCE_NM {
                pairs.push((a, b));
            }
        }
    }
    pairs
}

/// A lipid beside p-xylene, which is the receptor.
fn session() -> Session {
    let [receptor, ligand] =
        ["p_xylene.pdb", "popc.pdb"].map(|file| Arc::clone(molecule(file).template()));
    let mut session = Session::new(receptor, ligand);
    for (role, place) in [(Role::Receptor, Vec3::ZERO), (Role::LIGAND, Vec3::X * 30.0)] {
        let pose = Pose::from_translation(place);
        session.apply(&SessionInput::Place(role, pose)).unwrap();
    }
    session
}

#[test]
fn conformations_keep_bond_lengths_and_angles_after_thousands_of_turns() {
    let lipid = molecule("popc.pdb");
    let lipid = lipid.template();
    let bonds = rotatable_bonds(lipid);
    let mut angles = vec![0.0_f32; bonds.len()];
    let mut random = Pcg64::seed_from_u64(31);
    let partners = partners(lipid);
    let geometry = |positions: &dyn Fn(usize) -> DVec3| -> Vec<f64> {
        let mut numbers = Vec::new();
        for (a, list) in partners.iter().enumerate() {
            for &b in list {
                numbers.push(positions(a).distance(positions(b)));
                // The angle at `a` as a distance.
                for &c in list {
                    numbers.push(positions(b).distance(positions(c)));
                }
            }
        }
        numbers
    };
    let in_file = geometry(&|atom| lipid.positions()[atom].as_dvec3());
    let dihedrals: Vec<f64> = bonds.iter().map(|bond| bond.dihedral(lipid)).collect();
    for turn in 0..4000 {
        let bond = random.random_range(0..bonds.len());
        angles[bond] = random.random_range(-PI..PI);
        let (turned, center) = lipid.with_turned_bonds(&bonds, &angles).unwrap();
        if turn % 40 > 0 {
            continue;
        }
        let now = geometry(&|atom| turned.positions()[atom].as_dvec3());
        for (now, before) in now.iter().zip(&in_file) {
            assert!((now - before).abs() < 1.5e-6, "{now} {before}");
        }
        for ((bond, before), angle) in bonds.iter().zip(&dihedrals).zip(&angles) {
            let error = bond.dihedral(&turned) - before - f64::from(*angle);
            assert!(error.sin().abs() < 3.0e-5 && error.cos() > 0.0, "{error}");
        }
        let exact = oracle(lipid, &bonds, &angles);
        let (mut mass, mut sum) = (0.0, DVec3::ZERO);
        for (atom, exact) in exact.iter().enumerate() {
            let found = turned.positions()[atom].as_dvec3() + center.as_dvec3();
            assert!(found.distance(*exact) < 1.0e-6, "{found} {exact}");
            let own = f64::from(lipid.elements()[atom].mass());
            mass += own;
            sum += *exact * own;
        }
        assert!((sum / mass).distance(center.as_dvec3()) < 1.0e-6);
        assert_eq!(turned.mass(), lipid.mass());
    }
    // All angles back: the same bits.
    let (back, center) = lipid
        .with_turned_bonds(&bonds, &vec![0.0; bonds.len()])
        .unwrap();
    assert_eq!((&back, center), (&**lipid, Vec3::ZERO));
}

#[test]
fn turning_moves_only_one_side_and_updates_the_center_of_mass() {
    let mut session = session();
    session.apply(&SessionInput::Collisions(false)).unwrap();
    let mut random = Pcg64::seed_from_u64(32);
    let bonds = session.bonds(Role::LIGAND).to_vec();
    let world =
        |session: &Session| atoms(session.molecule(Role::LIGAND), &session.pose(Role::LIGAND));
    let turned_ever: BTreeSet<u32> = bonds.iter().flat_map(|bond| bond.turned.clone()).collect();
    let start = world(&session);
    let mut expected = vec![0.0_f64; bonds.len()];
    for _ in 0..300 {
        let bond = random.random_range(0..bonds.len());
        let angle: f32 = random.random_range(-2.0..2.0);
        let before = world(&session);
        let input = SessionInput::Turn {
            bond: bond as u32,
            angle,
        };
        session.apply(&input).unwrap();
        expected[bond] += f64::from(angle);
        let [first, second] = bonds[bond].atoms.map(|atom| before[atom as usize].0);
        let rotation = DQuat::from_axis_angle((second - first).normalize(), f64::from(angle));
        for (atom, (now, then)) in world(&session).iter().zip(&before).enumerate() {
            let turns = bonds[bond].turned.binary_search(&(atom as u32)).is_ok();
            let arm = then.0 - second;
            let wanted = second + if turns { rotation * arm } else { arm };
            // Poses are rounded at 30 nm.
            assert!(now.0.distance(wanted) < 2.0e-5, "{} {wanted}", now.0);
        }
        // The pose is that of the center of mass.
        let template = session.molecule(Role::LIGAND).template();
        let masses = template
            .elements()
            .iter()
            .map(|element| f64::from(element.mass()));
        let moments = world(&session).into_iter().zip(masses.clone());
        let sum: DVec3 = moments.map(|((place, _), mass)| place * mass).sum();
        let center = sum / masses.sum::<f64>();
        assert!(center.distance(session.pose(Role::LIGAND).position.as_dvec3()) < 1.0e-5);
    }
    for (angle, expected) in session.torsions(Role::LIGAND).iter().zip(expected) {
        assert!((f64::from(*angle) - expected).sin().abs() < 1.0e-5);
    }
    // What no bond turns is where it was.
    let kept = (0..start.len()).filter(|atom| !turned_ever.contains(&(*atom as u32)));
    let end = world(&session);
    for atom in kept {
        assert!(end[atom].0.distance(start[atom].0) < 2.0e-4);
    }
}

/// Smallest gap at which turning stops: of turned atoms with the receptor and with the rest of the
/// ligand, by brute force.
fn smallest_turn_gap(
    session: &Session,
    pairs: &[(usize, usize)],
    bond: &RotatableBond,
    angle: f64,
) -> f64 {
    let role = Role::LIGAND;
    let mut own = atoms(session.molecule(role), &session.pose(role));
    let [first, second] = bond.atoms.map(|atom| own[atom as usize].0);
    let rotation = DQuat::from_axis_angle((second - first).normalize(), angle);
    for &atom in &bond.turned {
        let place = &mut own[atom as usize].0;
        *place = second + rotation * (*place - second);
    }
    let turns = |atom: usize| bond.turned.binary_search(&(atom as u32)).is_ok();
    let gap = |(a, b): &(usize, usize)| own[*a].0.distance(own[*b].0) - own[*a].1 - own[*b].1;
    let within = pairs
        .iter()
        .filter(|(a, b)| turns(*a) != turns(*b))
        .map(gap);
    let within = within.fold(f64::INFINITY, f64::min);
    let turned: Vec<(DVec3, f64)> = (0..own.len())
        .filter(|k| turns(*k))
        .map(|k| own[k])
        .collect();
    let receptor = atoms(
        session.molecule(Role::Receptor),
        &session.pose(Role::Receptor),
    );
    gaps(&turned, &receptor).fold(within, |min, (_, _, gap)| min.min(gap))
}

#[test]
fn turn_stops_at_the_first_contact_found_by_dense_sampling() {
    let mut session = session();
    session
        .apply(&SessionInput::Response(ResponseMode::Stop))
        .unwrap();
    let pairs = colliding_pairs(session.template(Role::LIGAND));
    let mut random = Pcg64::seed_from_u64(33);
    let tolerance = f64::from(CONTACT_TOLERANCE_NM);
    let (mut by_itself, mut by_receptor, mut free) = (0, 0, 0);
    for round in 0..120 {
        // The receptor at a free pose near the lipid.
        if round % 4 < 3 {
            session.apply(&SessionInput::SwitchMoved).unwrap();
            let near = random_pose(&mut random, 1.2);
            let near = Pose::new(
                near.position + session.pose(Role::LIGAND).position,
                near.rotation,
            );
            session
                .apply(&SessionInput::Place(Role::Receptor, near))
                .unwrap();
            session.apply(&SessionInput::MoveToFreePose).unwrap();
            session.apply(&SessionInput::SwitchMoved).unwrap();
        }
        let index = random.random_range(0..session.bonds(Role::LIGAND).len());
        let angle: f32 = random.random_range(-PI..PI);
        let bond = session.bonds(Role::LIGAND)[index].clone();
        let before = session.clone();
        let old = f64::from(session.torsions(Role::LIGAND)[index]);
        let input = SessionInput::Turn {
            bond: index as u32,
            angle,
        };
        let report = session.apply(&input).unwrap();
        let turned = f64::from(session.torsions(Role::LIGAND)[index]) - old;
        // On the way, not around.
        let turned = turned.rem_euclid(std::f64::consts::TAU.copysign(f64::from(angle)));
        let turned = if angle < 0.0 && turned > 0.0 {
            turned - std::f64::consts::TAU
        } else {
            turned
        };
        let gap = |angle: f64| smallest_turn_gap(&before, &pairs, &bond, angle);
        let steps = 300;
        let sampled = (0..=steps).map(|step| f64::from(step) / f64::from(steps));
        let first = sampled
            .map(|fraction| fraction * f64::from(angle))
            .find(|angle| gap(*angle) <= 0.0);
        assert!(session.clashes().is_empty(), "{:?}", session.clashes());
        if report.blocked {
            // Nothing overlaps before the contact, and the closest atoms touch there.
            let end = gap(turned);
            assert!(end > 0.0 && end < 1.2 * tolerance, "{end}");
            assert!(first.is_none_or(|first| first.abs() >= turned.abs() - 1.0e-6));
            for step in 0..50 {
                let way = turned * f64::from(step) / 50.0;
                assert!(gap(way) > 0.0, "{way} of {turned}");
            }
            let [one, other] = report.contacts[0].molecules;
            by_itself += usize::from(one == other);
            by_receptor += usize::from(one != other);
        } else {
            assert_eq!(first, None);
            assert!((turned - f64::from(angle)).abs() < 1.0e-5 || turned.abs() < 1.0e-5);
            assert!(report.contacts.is_empty());
            free += 1;
        }
    }
    assert!(
        by_itself > 10 && by_receptor > 5 && free > 10,
        "{by_itself} {by_receptor} {free}"
    );
}

#[test]
fn slide_and_push_stop_at_the_contact_and_cue_passes_through() {
    let mut start = session();
    start
        .apply(&SessionInput::Response(ResponseMode::Stop))
        .unwrap();
    let pairs = colliding_pairs(start.template(Role::LIGAND));
    let (mut blocked, mut clashing) = (0, 0);
    for bond in 0..start.bonds(Role::LIGAND).len() as u32 {
        let input = SessionInput::Turn { bond, angle: 2.5 };
        let end = |mode: ResponseMode| {
            let mut session = start.clone();
            session.apply(&SessionInput::Response(mode)).unwrap();
            let report = session.apply(&input).unwrap();
            (session.torsions(Role::LIGAND).to_vec(), report, session)
        };
        let (stopped, report, _) = end(ResponseMode::Stop);
        blocked += usize::from(report.blocked);
        for mode in [ResponseMode::Slide, ResponseMode::Push] {
            let (angles, same, _) = end(mode);
            assert_eq!((&angles, &same), (&stopped, &report));
        }
        let (angles, report, session) = end(ResponseMode::Cue);
        assert_eq!(angles[bond as usize], 2.5);
        assert!(!report.blocked);
        // Its own overlaps, by brute force.
        let own = atoms(session.molecule(Role::LIGAND), &session.pose(Role::LIGAND));
        let overlaps =
            |(a, b): &&(usize, usize)| own[*a].0.distance(own[*b].0) < own[*a].1 + own[*b].1;
        let expected: Vec<(usize, usize)> = pairs.iter().filter(overlaps).copied().collect();
        let found = session.clashes().into_iter().map(|clash| {
            assert_eq!(clash.molecules, [Role::LIGAND; 2]);
            (clash.atoms.a as usize, clash.atoms.b as usize)
        });
        assert_eq!(found.collect::<Vec<_>>(), expected);
        assert_eq!(report.contacts, session.clashes());
        if expected.is_empty() {
            continue;
        }
        clashing += 1;
        // Then other modes cannot turn back the same bond, and resetting does.
        let mut session = session;
        session
            .apply(&SessionInput::Response(ResponseMode::Stop))
            .unwrap();
        let result = session.apply(&SessionInput::Turn { bond, angle: 0.1 });
        assert!(matches!(
            result,
            Err(SessionError::Docking(DockingError::OverlapsItself { .. }))
        ));
        let zeros = vec![0.0; angles.len()];
        session
            .apply(&SessionInput::Torsions(Role::LIGAND, zeros))
            .unwrap();
        assert!(session.clashes().is_empty());
        session
            .apply(&SessionInput::Turn { bond, angle: 0.001 })
            .unwrap();
    }
    assert!(blocked > 3 && clashing > 3, "{blocked} {clashing}");
}

#[test]
fn invalid_torsions_are_errors_and_change_nothing() {
    let mut session = session();
    let bonds = session.bonds(Role::LIGAND).len();
    assert!(session.bonds(Role::Receptor).is_empty());
    let turn = |bond: u32, angle: f32| SessionInput::Turn { bond, angle };
    let invalid = [
        turn(bonds as u32, 0.1),
        turn(u32::MAX, 0.1),
        turn(0, f32::NAN),
        turn(0, f32::INFINITY),
        SessionInput::Torsions(Role::LIGAND, vec![0.0; bonds - 1]),
        SessionInput::Torsions(Role::LIGAND, vec![f32::NAN; bonds]),
        SessionInput::Torsions(Role::Receptor, vec![0.0]),
        SessionInput::Torsions(Role::Ligand(1), Vec::new()),
        SessionInput::Place(Role::Ligand(1), Pose::IDENTITY),
        SessionInput::BodyPoses(vec![Pose::IDENTITY; 3]),
    ];
    for input in &invalid {
        let before = session.clone();
        let error = session.apply(input).unwrap_err();
        assert!(!error.to_string().is_empty());
        assert_eq!(
            session.torsions(Role::LIGAND),
            before.torsions(Role::LIGAND)
        );
        assert_eq!(session.pose(Role::LIGAND), before.pose(Role::LIGAND));
    }
    session.apply(&SessionInput::SwitchMoved).unwrap();
    let error = session.apply(&turn(0, 0.1)).unwrap_err();
    assert!(
        error.to_string().contains("only ligands have torsions"),
        "{error}"
    );
}

#[test]
fn huge_angles_are_full_turns() {
    let mut session = session();
    session.apply(&SessionInput::SwitchMoved).unwrap();
    session.apply(&SessionInput::SwitchMoved).unwrap();
    // The last bond but one of a chain is free all around, or stops.
    for (bond, angle) in [(28, 1.0e6), (28, -1.0e20), (12, 40.0)] {
        session.apply(&SessionInput::Turn { bond, angle }).unwrap();
        assert!(
            session
                .torsions(Role::LIGAND)
                .iter()
                .all(|angle| angle.abs() <= PI)
        );
        assert!(session.clashes().is_empty());
    }
    // Other molecules still move.
    let motion = RigidMotion::translation(Vec3::X * 0.1);
    session.apply(&SessionInput::Move(motion)).unwrap();
}
