//! Clashes of a real membrane, and of degenerate structures, are those of brute force.

use std::path::Path;

use bevy_rapier_molecules::contact::clashes::{
    ClashError, ClashOptions, ClashReport, find_clashes,
};
use bevy_rapier_molecules::contact::closest_distance;
use bevy_rapier_molecules::molecule::{
    LoadOptions, MoleculePart, MoleculeTemplate, SplitBy, load_structure, read_bytes,
};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::{DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn parts_of(name: &str, by: SplitBy) -> Vec<MoleculePart> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets/molecules")
        .join(name);
    let options = LoadOptions::default();
    load_structure(path, &options)
        .unwrap()
        .split_by(by, &options)
        .unwrap()
}

fn placed(parts: &[MoleculePart]) -> Vec<(&MoleculeTemplate, Pose)> {
    parts
        .iter()
        .map(|part| (&*part.template, part.pose))
        .collect()
}

fn clashes(parts: &[MoleculePart], tolerance: Option<f32>, worst: usize) -> ClashReport {
    let options = ClashOptions {
        tolerance,
        worst,
        ..ClashOptions::default()
    };
    find_clashes(&placed(parts), &options).unwrap()
}

struct BruteAtom {
    part: usize,
    position: DVec3,
    radius: f64,
    element: &'static str,
}

fn brute_atoms(parts: &[MoleculePart]) -> Vec<BruteAtom> {
    let mut atoms = Vec::new();
    for (part, body) in parts.iter().enumerate() {
        for k in 0..body.template.atom_count() {
            atoms.push(BruteAtom {
                part,
                position: body
                    .pose
                    .transform_point(body.template.positions()[k])
                    .as_dvec3(),
                radius: f64::from(body.template.radii()[k]),
                element: body.template.elements()[k].symbol(),
            });
        }
    }
    atoms
}

/// Calls `visit` with every pair of atoms of different parts closer than 0.5 nm.
fn for_each_pair(atoms: &[BruteAtom], mut visit: impl FnMut(&BruteAtom, &BruteAtom, f64)) {
    for (k, a) in atoms.iter().enumerate() {
        for b in &atoms[k + 1..] {
            let squared = a.position.distance_squared(b.position);
            if a.part != b.part && squared < 0.25 {
                visit(a, b, squared.sqrt());
            }
        }
    }
}

#[test]
fn clashes_between_lipids_are_those_of_brute_force() {
    let parts = parts_of("popc_bilayer.pdb", SplitBy::Residue);
    let atoms = brute_atoms(&parts);
    // Rounding in 32 bits may decide a pair within this of the limit, nm.
    const SLACK: f64 = 1.0e-6;
    for tolerance in [None, Some(0.17), Some(0.25), Some(0.4)] {
        let (mut min_pairs, mut max_pairs) = (0, 0);
        let mut overlaps = Vec::new();
        for_each_pair(&atoms, |a, b, distance| {
            let limit = tolerance.map_or(a.radius + b.radius, f64::from);
            min_pairs += usize::from(distance < limit - SLACK);
            max_pairs += usize::from(distance < limit + SLACK);
            if distance < limit {
                overlaps.push(limit - distance);
            }
        });
        overlaps.sort_by(|x, y| y.total_cmp(x));
        let report = clashes(&parts, tolerance, 25);
        assert!(
            (min_pairs..=max_pairs).contains(&report.pairs),
            "{}",
            report.pairs
        );
        assert_eq!((report.parts, report.atoms), (parts.len(), atoms.len()));
        assert_eq!(report.worst.len(), report.pairs.min(25));
        for (clash, overlap) in report.worst.iter().zip(overlaps) {
            assert!((clash.penetration_nm - overlap).abs() < SLACK);
            assert_ne!(clash.a.part, clash.b.part);
        }
    }
}

#[test]
fn the_membrane_has_known_closest_pairs() {
    let parts = parts_of("popc_bilayer.pdb", SplitBy::Residue);
    assert!((clashes(&parts, None, 0).closest_nm.unwrap() - 0.169).abs() < 0.0005);
    let report = clashes(&parts, Some(0.32), 1_000_000);
    for (pair, closest) in [
        (["H", "H"], 0.169),
        (["H", "O"], 0.188),
        (["C", "H"], 0.237),
        (["C", "C"], 0.311),
    ] {
        let found = report.worst.iter().find(|clash| {
            let mut elements = [clash.a.element, clash.b.element];
            elements.sort_unstable();
            elements == pair
        });
        assert!(
            (found.unwrap().distance_nm - closest).abs() < 0.0006,
            "{pair:?}"
        );
    }
    // The same by brute force.
    let mut closest = f64::INFINITY;
    for_each_pair(&brute_atoms(&parts), |a, b, distance| {
        if [a.element, b.element] == ["C", "C"] {
            closest = closest.min(distance);
        }
    });
    assert!((closest - 0.311).abs() < 0.0006);
}

#[test]
fn a_clash_names_its_atoms() {
    let parts = parts_of("popc_bilayer.pdb", SplitBy::Residue);
    let report = clashes(&parts, Some(0.2), 50);
    for clash in &report.worst {
        let find = |atom: &bevy_rapier_molecules::contact::clashes::ClashAtom| {
            let template = &parts[atom.part].template;
            let index = template
                .atom_names()
                .iter()
                .position(|n| *n == *atom.atom)
                .unwrap();
            let residue = template.residue_of(index);
            assert_eq!(residue.name, *atom.residue);
            assert_eq!(
                (residue.number, &*residue.chain),
                (atom.number, &*atom.chain)
            );
            parts[atom.part]
                .pose
                .transform_point(template.positions()[index])
        };
        let distance = find(&clash.a).distance(find(&clash.b));
        assert!((f64::from(distance) - clash.distance_nm).abs() < 1e-6);
    }
}

#[test]
fn a_single_part_has_no_closest_pair() {
    let parts = parts_of("popc.pdb", SplitBy::Residue);
    let report = clashes(&parts, Some(0.5), 10);
    assert_eq!(
        (report.parts, report.pairs, report.closest_nm),
        (1, 0, None)
    );
    assert!(report.worst.is_empty());
    let nothing = clashes(&[], None, 10);
    assert_eq!(
        (nothing.parts, nothing.atoms, nothing.closest_nm),
        (0, 0, None)
    );
}

#[test]
fn parts_far_apart_have_a_closest_pair_but_no_clash() {
    let parts = parts_of("popc.pdb", SplitBy::Residue);
    let template = &*parts[0].template;
    let far = Pose::from_translation(Vec3::new(3_000.0, 0.0, 0.0));
    let report = find_clashes(
        &[(template, Pose::IDENTITY), (template, far)],
        &ClashOptions::default(),
    )
    .unwrap();
    assert_eq!(report.pairs, 0);
    let width = |pick: fn(f32, f32) -> f32, start: f32| {
        template.positions().iter().map(|p| p.x).fold(start, pick)
    };
    let gap = 3_000.0 - width(f32::max, f32::MIN) + width(f32::min, f32::MAX);
    let closest = report.closest_nm.unwrap();
    // The gap along x is a lower bound; the molecules are a few nm thick.
    assert!(closest >= f64::from(gap) - 0.001 && closest < 3_000.0);
}

#[test]
fn the_report_has_stable_json() {
    let parts = parts_of("popc_bilayer.pdb", SplitBy::Residue);
    let text = serde_json::to_string(&clashes(&parts, Some(0.2), 3)).unwrap();
    let again = serde_json::to_string(&clashes(&parts, Some(0.2), 3)).unwrap();
    assert_eq!(text, again);
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    for key in [
        "tolerance_nm",
        "parts",
        "atoms",
        "pairs",
        "closest_nm",
        "worst",
    ] {
        assert!(json.get(key).is_some(), "{key}");
    }
    let worst = &json["worst"][0];
    for key in ["part", "chain", "residue", "number", "atom", "element"] {
        assert!(
            worst["a"].get(key).is_some() && worst["b"].get(key).is_some(),
            "{key}"
        );
    }
    assert!(worst["distance_nm"].is_f64());
}

#[test]
fn invalid_options_and_poses_are_rejected() {
    let parts = parts_of("popc.pdb", SplitBy::Residue);
    for tolerance in [0.0, -0.1, f32::NAN, f32::INFINITY] {
        let options = ClashOptions {
            tolerance: Some(tolerance),
            ..ClashOptions::default()
        };
        let result = find_clashes(&placed(&parts), &options);
        assert!(matches!(result, Err(ClashError::BadTolerance { .. })));
    }
    let options = ClashOptions {
        worst: usize::MAX,
        ..ClashOptions::default()
    };
    let result = find_clashes(&placed(&parts), &options);
    assert!(matches!(result, Err(ClashError::TooManyListed { .. })));
    let invalid = [(&*parts[0].template, Pose::from_translation(Vec3::NAN))];
    let result = find_clashes(&invalid, &ClashOptions::default());
    assert!(matches!(result, Err(ClashError::Search(_))));
}

#[test]
fn models_on_top_of_each_other_clash() {
    let parts = parts_of("multi.pdb", SplitBy::Model);
    assert!(parts.len() > 1);
    let report = clashes(&parts, Some(0.1), 5);
    assert!(report.pairs > 0);
    let mut spheres = SphereSet::new();
    for atom in brute_atoms(&parts) {
        spheres
            .push(atom.position.as_vec3(), 0.0, atom.part as u32)
            .unwrap();
    }
    assert_eq!(closest_distance(&spheres), report.closest_nm);
}

/// A molecule of two carbons 0.1 nm apart.
fn two_carbons() -> MoleculeTemplate {
    let pdb = "\
HETATM    1  C1  UNL A   1      -0.500   0.000   0.000  1.00  0.00           C
HETATM    2  C2  UNL A   1       0.500   0.000   0.000  1.00  0.00           C
END
";
    let options = LoadOptions::default();
    let structure = read_bytes(pdb.as_bytes(), "two_carbons.pdb", &options).unwrap();
    structure.template(&options).unwrap()
}

/// Clashes of coincident atoms are counted without visiting each of them.
#[test]
fn sixty_thousand_coincident_atoms_are_counted_in_seconds() {
    let template = two_carbons();
    let count = 30_000;
    let parts = vec![(&template, Pose::IDENTITY); count];
    let start = std::time::Instant::now();
    let report = find_clashes(&parts, &ClashOptions::default()).unwrap();
    assert!(start.elapsed().as_secs() < 20, "{:?}", start.elapsed());
    // Every atom clashes with both atoms of all other parts.
    assert_eq!(report.pairs, 4 * (count * (count - 1) / 2));
    assert_eq!(report.closest_nm, Some(0.0));
    assert_eq!(report.worst.len(), 10);
    for (k, clash) in report.worst.iter().enumerate() {
        assert_eq!((clash.a.part, clash.b.part), (0, k + 1));
        assert_eq!((&*clash.a.atom, &*clash.b.atom), ("C1", "C1"));
        assert_eq!(clash.distance_nm, 0.0);
    }
}

#[test]
fn clashes_of_coincident_parts_are_those_of_brute_force() {
    // Few places, so that atoms of several parts coincide, also of different kinds.
    let places = (0..40).map(|k| [0.0, 0.1, 0.2, 0.4][k * k % 11 % 4]);
    let poses = places.map(|x| Pose::from_translation(Vec3::X * x));
    compare_with_brute_force(
        &poses.collect::<Vec<_>>(),
        &[(0.05, 10), (0.15, 50), (0.25, 10_000), (0.9, 3)],
    );
}

/// Most clashes are dropped before they are ranked.
#[test]
fn clashes_of_a_heap_are_those_of_brute_force() {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let poses = (0..500).map(|_| {
        let center = Vec3::from_array(std::array::from_fn(|_| 0.2 * random.random::<f32>()));
        Pose::from_translation(center)
    });
    compare_with_brute_force(
        &poses.collect::<Vec<_>>(),
        &[(0.3, 0), (0.3, 10), (1.0, 300)],
    );
}

/// Compares the clashes of molecules of two carbons for several tolerances (nm) and numbers of
/// listed clashes.
#[track_caller]
fn compare_with_brute_force(poses: &[Pose], options: &[(f32, usize)]) {
    let template = two_carbons();
    let parts: Vec<(&MoleculeTemplate, Pose)> =
        poses.iter().map(|pose| (&template, *pose)).collect();
    let mut atoms = Vec::new();
    for (part, (template, pose)) in parts.iter().enumerate() {
        for (&local, name) in template.positions().iter().zip(template.atom_names()) {
            atoms.push((
                part,
                name.to_string(),
                pose.transform_point(local).as_dvec3(),
            ));
        }
    }
    for &(tolerance, worst) in options {
        let mut expected = Vec::new();
        for (k, a) in atoms.iter().enumerate() {
            for b in &atoms[k + 1..] {
                let distance = a.2.distance(b.2);
                if a.0 != b.0 && distance < f64::from(tolerance) {
                    expected.push((distance, (a.0, &*a.1), (b.0, &*b.1)));
                }
            }
        }
        let pairs = expected.len();
        // Stable: ties stay in the order of their atoms.
        expected.sort_by(|a, b| a.0.total_cmp(&b.0));
        expected.truncate(worst);
        let options = ClashOptions {
            tolerance: Some(tolerance),
            worst,
            ..ClashOptions::default()
        };
        let report = find_clashes(&parts, &options).unwrap();
        assert_eq!(report.pairs, pairs, "{tolerance} nm");
        let found = report.worst.iter().map(|clash| {
            let [a, b] = [&clash.a, &clash.b].map(|atom| (atom.part, &*atom.atom));
            (clash.distance_nm, a, b)
        });
        assert!(found.eq(expected), "{tolerance} nm");
    }
}

/// In a box smaller than the membrane, whole lipids stick out and meet images on all sides.
#[test]
fn clashes_with_images_are_those_of_brute_force() {
    let parts = parts_of("popc_bilayer.pdb", SplitBy::Residue);
    let atoms = brute_atoms(&parts);
    let low = atoms
        .iter()
        .fold(DVec3::INFINITY, |low, atom| low.min(atom.position));
    let high = atoms
        .iter()
        .fold(-DVec3::INFINITY, |high, atom| high.max(atom.position));
    let periodic = PeriodicBox::new((0.85 * (high - low)).as_vec3()).unwrap();
    let size = periodic.size().as_dvec3();
    for tolerance in [0.1, 0.2] {
        let mut expected = Vec::new();
        for (k, a) in atoms.iter().enumerate() {
            for b in &atoms[k..] {
                let vector = a.position - b.position;
                let image = (vector / size).round();
                let distance = (vector - image * size).length();
                let same_body = a.part == b.part && image == DVec3::ZERO;
                if distance < f64::from(tolerance) && !same_body {
                    expected.push((distance, image.to_array().map(|number| number as i32)));
                }
            }
        }
        expected.sort_by(|a, b| a.0.total_cmp(&b.0));
        let options = ClashOptions {
            tolerance: Some(tolerance),
            worst: 50,
            periodic_box: Some(periodic),
        };
        let report = find_clashes(&placed(&parts), &options).unwrap();
        assert!(expected.len() > 20, "{}", expected.len());
        assert_eq!(report.pairs, expected.len());
        assert_eq!(report.closest_nm, Some(expected[0].0));
        for (clash, (distance, image)) in report.worst.iter().zip(&expected) {
            assert_eq!((clash.distance_nm, clash.image), (*distance, Some(*image)));
        }
        let images = report
            .worst
            .iter()
            .filter(|clash| clash.image != Some([0; 3]));
        assert!(images.count() > 10);
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["box_nm"][0], periodic.size().x);
        assert_eq!(json["worst"][0]["image"], serde_json::json!(expected[0].1));
    }
    let json = serde_json::to_string(&clashes(&parts, Some(0.2), 1)).unwrap();
    assert!(
        !json.contains("image") && !json.contains("box_nm"),
        "{json}"
    );
}

/// The unit cell of the file is the box of the simulation that equilibrated the membrane.
#[test]
fn the_membrane_has_no_closer_atoms_across_the_faces_of_its_cell() {
    let options = LoadOptions::default();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules/popc_bilayer.pdb");
    let structure = load_structure(path, &options).unwrap();
    let parts = structure.split_by(SplitBy::Residue, &options).unwrap();
    let inside = clashes(&parts, Some(0.2), 0);
    let options = ClashOptions {
        tolerance: Some(0.2),
        worst: 1000,
        periodic_box: structure.unit_cell().unwrap().orthorhombic(),
    };
    let all = find_clashes(&placed(&parts), &options).unwrap();
    assert!(all.pairs > inside.pairs);
    let across = all.worst.iter().filter(|clash| clash.image != Some([0; 3]));
    assert_eq!(across.count(), all.pairs - inside.pairs);
    assert_eq!(all.closest_nm, inside.closest_nm);
}

#[test]
fn a_molecule_longer_than_the_box_clashes_with_its_own_image() {
    let parts = parts_of("popc.pdb", SplitBy::Residue);
    let clashes_in = |edge: f32| {
        let options = ClashOptions {
            periodic_box: Some(PeriodicBox::new(Vec3::splat(edge)).unwrap()),
            ..ClashOptions::default()
        };
        find_clashes(&placed(&parts), &options).unwrap()
    };
    let roomy = clashes_in(10.0);
    assert_eq!((roomy.parts, roomy.pairs), (1, 0));
    assert!(
        roomy.closest_nm.unwrap() > 5.0,
        "the distance from its own image"
    );
    let crowded = clashes_in(1.0);
    assert!(crowded.pairs > 0);
    for clash in &crowded.worst {
        assert_eq!((clash.a.part, clash.b.part), (0, 0));
        assert_ne!(clash.image, Some([0; 3]));
    }
}
