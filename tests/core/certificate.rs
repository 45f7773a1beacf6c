//! Certificates of clean files, and of files with one defect each.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_rapier_molecules::certificate::rings::BondsAndRings;
use bevy_rapier_molecules::certificate::{
    Certificate, CertificateError, CertificateOptions, certify,
};
use bevy_rapier_molecules::compartment::{FlatPatch, bilayer_depth, up_and_head};
use bevy_rapier_molecules::export::{ExportOptions, export};
use bevy_rapier_molecules::molecule::{Atom, Element, MoleculeTemplate, Residue};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::prelude::*;
use glam::{DVec3, Quat, Vec2, Vec3};

/// Edges of the box of the bilayer, nm.
const BOX_NM: Vec3 = Vec3::new(8.0, 9.0, 12.0);

/// Lipids along x and y in each leaflet.
const ROWS: u32 = 3;

/// Least distance of atoms in files that contain overlaps on purpose, nm.
const TINY_NM: f32 = 0.001;

fn asset(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(name)
}

fn template(name: &str) -> Arc<MoleculeTemplate> {
    Arc::new(load(asset(name), &LoadOptions::default()).unwrap())
}

/// An empty folder for a test.
fn scratch(test: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("certificate")
        .join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A sparse bilayer of lipids in a periodic box.
fn bilayer() -> Crowd {
    let mut crowd = Crowd::new();
    let lipid = template("molecules/popc.pdb");
    let middle = 0.5 * BOX_NM.z;
    let plane = FlatPatch::new(Vec2::new(BOX_NM.x, BOX_NM.y), middle).unwrap();
    let compartment = crowd.add_compartment(Arc::new(plane));
    for leaflet in [Leaflet::Outer, Leaflet::Inner] {
        let placement = Placement {
            leaflet,
            depth: bilayer_depth(&lipid) + 0.5,
            up: up_and_head(&lipid).0,
            leeway: 0.1,
            tilt_leeway: 0.2,
        };
        let index = crowd.add_placement(compartment, placement).unwrap();
        let template = crowd.add_template(Arc::clone(&lipid));
        for k in 0..ROWS * ROWS {
            let share = Vec2::new((k % ROWS) as f32, (k / ROWS) as f32) / ROWS as f32;
            let position =
                (share * Vec2::new(BOX_NM.x, BOX_NM.y)).extend(middle + placement.offset());
            let pose = placement.upright_pose(&plane, position, k as f32);
            let member = CrowdMember {
                template,
                placement: Some(index),
                pose,
                fixed: false,
            };
            crowd.add_member(member).unwrap();
        }
    }
    crowd.set_periodic_box(Some(PeriodicBox::new(BOX_NM).unwrap()));
    crowd
}

/// Writes the molecules of a crowd, in its box, at changed poses.
fn write(path: &Path, crowd: &Crowd, change: impl Fn(usize, Pose) -> Pose) {
    let options = ExportOptions {
        periodic_box: crowd.periodic_box(),
        ..ExportOptions::default()
    };
    let molecules = crowd.instances().enumerate();
    let molecules = molecules.map(|(k, (template, pose))| (template, change(k, pose)));
    export(path, molecules, &options).unwrap();
}

fn certificate(path: &Path, tolerance: f32, crowd: Option<&Crowd>) -> Certificate {
    let options = CertificateOptions {
        tolerance,
        crowd,
        ..CertificateOptions::default()
    };
    certify(path, &options).unwrap()
}

/// The least distance (nm) of atoms of different molecules or images, one by one in 64 bits.
fn least_distance(crowd: &Crowd) -> f64 {
    let periodic = crowd.periodic_box().unwrap();
    let mut atoms: Vec<(usize, DVec3)> = Vec::new();
    for (molecule, (template, pose)) in crowd.instances().enumerate() {
        let places = template.positions().iter();
        atoms.extend(places.map(|&p| (molecule, pose.transform_point(p).as_dvec3())));
    }
    let mut least = f64::INFINITY;
    for (k, a) in atoms.iter().enumerate() {
        for b in atoms[k + 1..].iter().filter(|b| a.0 != b.0) {
            least = least.min(periodic.shortest(a.1 - b.1).length());
        }
    }
    least
}

#[test]
fn a_clean_file_is_clean_in_every_format() {
    let folder = scratch("clean");
    let crowd = bilayer();
    let expected = least_distance(&crowd);
    assert!(expected > 0.2, "{expected}");
    for ending in ["pdb", "cif", "pdb.gz"] {
        let path = folder.join(format!("bilayer.{ending}"));
        write(&path, &crowd, |_, pose| pose);
        let clean = certificate(&path, 0.2, Some(&crowd));
        assert!(clean.is_clean(), "{clean}");
        assert_eq!((clean.molecules, clean.atoms), (18, 18 * 134));
        assert_eq!((clean.rings, clean.rings_pierced), (0, 0));
        let least = clean.least_distance_nm.unwrap();
        assert!((least - expected).abs() < 2.0e-4, "{least} {expected}");
        let members = clean.members.unwrap();
        assert_eq!((members.not_whole, members.out_of_place), (0, 0));
        assert!(members.largest_excess_nm < 1.0e-3);
        let text = clean.to_string();
        assert!(
            text.starts_with("clean: 18 molecules, 2,412 atoms, closest 0."),
            "{text}"
        );
        let end = " nm, 0 pairs below 0.2 nm, all whole, all in place, 0 rings pierced";
        assert!(text.ends_with(end), "{text}");
        // Without the crowd, nothing is said of members.
        let alone = certificate(&path, 0.2, None);
        assert!(alone.is_clean() && alone.members.is_none());
        assert_eq!(alone.least_distance_nm, clean.least_distance_nm);
    }
}

#[test]
fn the_json_has_units_in_its_names_and_round_trips() {
    let folder = scratch("json");
    let crowd = bilayer();
    let path = folder.join("bilayer.cif");
    write(&path, &crowd, |_, pose| pose);
    let clean = certificate(&path, 0.2, Some(&crowd));
    let json = serde_json::to_value(&clean).unwrap();
    for key in [
        "file",
        "molecules",
        "atoms",
        "tolerance_nm",
        "box_nm",
        "least_distance_nm",
        "pairs_below_tolerance",
        "rings",
        "rings_pierced",
        "first_pierced",
    ] {
        assert!(json.get(key).is_some(), "{key}");
    }
    assert_eq!(json["box_nm"][0], 8.0);
    assert_eq!(json["members"]["expected_molecules"], 18);
    let read: Certificate = serde_json::from_value(json).unwrap();
    assert_eq!(read, clean);
}

#[test]
fn a_lipid_inside_another_is_found() {
    let folder = scratch("overlap");
    let crowd = bilayer();
    let path = folder.join("bilayer.pdb");
    let target = crowd.members()[4].pose.position;
    write(&path, &crowd, |k, pose| match k {
        3 => Pose::new(target + 0.1 * Vec3::X, pose.rotation),
        _ => pose,
    });
    let found = certificate(&path, 0.2, Some(&crowd));
    assert!(!found.is_clean() && found.pairs_below_tolerance > 0);
    assert!(found.least_distance_nm.unwrap() < 0.2);
    let members = found.members.unwrap();
    // It is whole, and no higher or more tilted than it may be.
    assert_eq!((members.not_whole, members.out_of_place), (0, 0));
    assert!(
        found.to_string().starts_with("not clean: 18 molecules"),
        "{found}"
    );
}

#[test]
fn a_clash_through_a_face_of_the_box_is_found() {
    let folder = scratch("face");
    let lipid = template("molecules/popc.pdb");
    let mut crowd = Crowd::new();
    let index = crowd.add_template(lipid);
    for x in [0.2, 19.9] {
        let pose = Pose::from_translation(Vec3::new(x, 5.0, 5.0));
        let member = CrowdMember {
            template: index,
            pose,
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    for ending in ["pdb", "cif"] {
        let path = folder.join(format!("two.{ending}"));
        crowd.set_periodic_box(None);
        write(&path, &crowd, |_, pose| pose);
        assert!(certificate(&path, 0.2, Some(&crowd)).is_clean());
        crowd.set_periodic_box(Some(PeriodicBox::new(Vec3::splat(20.0)).unwrap()));
        write(&path, &crowd, |_, pose| pose);
        let found = certificate(&path, 0.2, Some(&crowd));
        assert!(found.pairs_below_tolerance > 0, "{found}");
        assert_eq!(found.members.unwrap().not_whole, 0);
    }
}

/// Center and unit normal of a ring, in the frame of its molecule.
fn axis_of(molecule: &MoleculeTemplate, ring: &[u32]) -> (Vec3, Vec3) {
    let atoms = ring.iter().map(|&atom| molecule.positions()[atom as usize]);
    let atoms: Vec<Vec3> = atoms.collect();
    let center = atoms.iter().sum::<Vec3>() / atoms.len() as f32;
    let normal = (atoms[0] - center).cross(atoms[2] - center).normalize();
    (center, normal)
}

/// The last carbon–carbon bond of a tail: that of the methyl group that is furthest from the head.
fn tail_bond(lipid: &MoleculeTemplate) -> [Vec3; 2] {
    let (up, _) = up_and_head(lipid);
    let is_carbon = |atom: u32| lipid.elements()[atom as usize] == Element::C;
    let bonds = BondsAndRings::of(lipid).bonds;
    let carbons = bonds
        .iter()
        .filter(|bond| bond.iter().all(|&atom| is_carbon(atom)));
    let places = carbons.map(|bond| bond.map(|atom| lipid.positions()[atom as usize]));
    let lowest = |bond: &[Vec3; 2]| (bond[0] + bond[1]).dot(up);
    places
        .min_by(|a, b| lowest(a).total_cmp(&lowest(b)))
        .unwrap()
}

/// A pose with the middle of the bond at `center` and the bond along `normal`.
fn through(bond: [Vec3; 2], center: Vec3, normal: Vec3) -> Pose {
    let rotation = Quat::from_rotation_arc((bond[1] - bond[0]).normalize(), normal);
    let middle = rotation * (0.5 * (bond[0] + bond[1]));
    Pose::new(center - middle, rotation)
}

#[test]
fn a_tail_through_a_ring_of_cholesterol_is_found() {
    let folder = scratch("pierced");
    let cholesterol = template("lipids/cholesterol_conformers.pdb");
    let lipid = template("molecules/popc.pdb");
    let bond = tail_bond(&lipid);
    let size = Vec3::splat(12.0);
    for ring in BondsAndRings::of(&cholesterol).rings {
        let (center, normal) = axis_of(&cholesterol, &ring);
        // As it is, or as the image of a lipid on the other side of the box.
        for shift in [Vec3::ZERO, size * Vec3::new(1.0, 0.0, -1.0)] {
            let pose = through(bond, center, normal);
            let pose = Pose::new(pose.position + shift, pose.rotation);
            let path = folder.join("two.cif");
            let options = ExportOptions {
                periodic_box: Some(PeriodicBox::new(size).unwrap()),
                decimals: 6,
                ..ExportOptions::default()
            };
            let scene = [(&*cholesterol, Pose::IDENTITY), (&*lipid, pose)];
            export(&path, scene, &options).unwrap();
            let found = certificate(&path, TINY_NM, None);
            assert_eq!(found.rings, 4);
            assert!(found.rings_pierced > 0, "{found}");
            assert_eq!(found.first_pierced, Some([0, 1]));
            assert!(!found.is_clean());
        }
    }
}

#[test]
fn a_bond_beside_a_ring_does_not_pierce_it() {
    let folder = scratch("beside");
    let cholesterol = template("lipids/cholesterol_conformers.pdb");
    let carbon = |x: f32| Atom {
        position: Vec3::X * x,
        radius: 0.1,
        element: Element::C,
        name: "C".into(),
        residue: 0,
    };
    let atoms = vec![carbon(0.0), carbon(0.154)];
    let bond = MoleculeTemplate::new("bond", atoms, vec![Residue::default()]).unwrap();
    let ends = [bond.positions()[0], bond.positions()[1]];
    let pierced = |center: Vec3, normal: Vec3| {
        let path = folder.join("two.pdb");
        let scene = [
            (&*cholesterol, Pose::IDENTITY),
            (&bond, through(ends, center, normal)),
        ];
        export(&path, scene, &ExportOptions::default()).unwrap();
        certificate(&path, TINY_NM, None).rings_pierced
    };
    let rings = BondsAndRings::of(&cholesterol).rings;
    for ring in &rings {
        let (center, normal) = axis_of(&cholesterol, ring);
        assert_eq!(pierced(center, normal), 1);
        // Above the ring.
        assert_eq!(pierced(center + 0.15 * normal, normal), 0);
        // On both sides of the sides that no other ring shares.
        let next = ring.iter().cycle().skip(1);
        for (a, b) in ring.iter().zip(next) {
            let has_both = |other: &&Vec<u32>| other.contains(a) && other.contains(b);
            if rings.iter().filter(has_both).count() > 1 {
                continue;
            }
            let [a, b] = [a, b].map(|&atom| cholesterol.positions()[atom as usize]);
            let middle = 0.5 * (a + b);
            let outward = (middle - center).normalize();
            assert_eq!(pierced(middle - 0.03 * outward, normal), 1);
            assert_eq!(pierced(middle + 0.03 * outward, normal), 0);
        }
    }
}

#[test]
fn rings_are_those_of_the_chemical_formula() {
    let sizes = |name: &str| {
        let rings = BondsAndRings::of(&template(name)).rings;
        let mut sizes: Vec<usize> = rings.iter().map(Vec::len).collect();
        sizes.sort_unstable();
        sizes
    };
    assert_eq!(sizes("lipids/cholesterol_conformers.pdb"), [5, 6, 6, 6]);
    assert!(sizes("molecules/popc.pdb").is_empty());
    assert_eq!(sizes("molecules/p_xylene.pdb"), [6]);
    // Three prolines, one histidine; two phenylalanines, one tyrosine.
    assert_eq!(sizes("molecules/1ubq.cif"), [5, 5, 5, 5, 6, 6, 6]);
}

#[test]
fn a_missing_or_displaced_atom_is_found() {
    let folder = scratch("whole");
    let crowd = bilayer();
    let path = folder.join("bilayer.pdb");
    write(&path, &crowd, |_, pose| pose);
    let text = fs::read_to_string(&path).unwrap();
    let mut rows: Vec<String> = text.lines().map(str::to_owned).collect();
    // A row of the second lipid: a cell, 134 atoms, TER, some atoms.
    let row = 1 + 134 + 1 + 40;
    assert!(rows[row].starts_with("HETATM"));
    let atom = rows.remove(row);
    fs::write(&path, rows.join("\n")).unwrap();
    let found = certificate(&path, 0.2, Some(&crowd));
    let members = found.members.unwrap();
    assert_eq!((members.not_whole, members.first_not_whole), (1, Some(1)));
    assert!(
        !found.is_clean() && found.to_string().contains(", 1 not whole,"),
        "{found}"
    );
    let x: f64 = atom[30..38].trim().parse().unwrap();
    rows.insert(
        row,
        format!("{}{:8.3}{}", &atom[..30], x + 0.02, &atom[38..]),
    );
    fs::write(&path, rows.join("\n")).unwrap();
    let found = certificate(&path, 0.2, Some(&crowd));
    assert_eq!(found.members.unwrap().not_whole, 1, "{found}");
    rows[row] = atom;
    fs::write(&path, rows.join("\n")).unwrap();
    assert!(certificate(&path, 0.2, Some(&crowd)).is_clean());
}

#[test]
fn a_lipid_upside_down_or_too_high_is_out_of_place() {
    let folder = scratch("place");
    let crowd = bilayer();
    for ending in ["pdb", "cif"] {
        let path = folder.join(format!("bilayer.{ending}"));
        write(&path, &crowd, |k, pose| match k {
            7 => Pose::new(pose.position, Quat::from_rotation_x(3.0) * pose.rotation),
            11 => Pose::new(pose.position - 0.3 * Vec3::Z, pose.rotation),
            _ => pose,
        });
        let found = certificate(&path, TINY_NM, Some(&crowd));
        let members = found.members.unwrap();
        assert_eq!((members.not_whole, members.out_of_place), (0, 2), "{found}");
        assert_eq!(members.first_out_of_place, Some(7));
        assert!((members.largest_excess_nm - 0.2).abs() < 1.0e-3);
        assert!((members.largest_excess_tilt_rad - 2.8).abs() < 1.0e-2);
        assert!(!found.is_clean());
    }
}

#[test]
fn a_lipid_at_its_limit_is_in_place_after_the_rounding_of_the_file() {
    let crowd = bilayer();
    // A relaxer stops at an excess of 0.001 nm; files are rounded by up to 0.0001 nm.
    for number in 0..10 {
        let lift = 0.1 + 0.000_99 + 0.000_01 * number as f32 / 10.0;
        let path = scratch("limit").join("limit.pdb");
        write(&path, &crowd, |index, pose| match index {
            0 => Pose::new(pose.position + Vec3::Z * lift, pose.rotation),
            _ => pose,
        });
        let certificate = certificate(&path, TINY_NM, Some(&crowd));
        let members = certificate.members.unwrap();
        assert_eq!(members.out_of_place, 0, "{lift} nm: {certificate}");
        assert!(members.largest_excess_nm > 0.0008, "{certificate}");
    }
}

#[test]
fn fixed_members_are_in_place_anywhere() {
    let folder = scratch("fixed");
    let mut crowd = bilayer();
    let mut member = crowd.members()[0];
    member.fixed = true;
    member.pose.position.z = 11.0;
    crowd.add_member(member).unwrap();
    let path = folder.join("bilayer.cif");
    write(&path, &crowd, |_, pose| pose);
    let found = certificate(&path, TINY_NM, Some(&crowd));
    let members = found.members.unwrap();
    assert_eq!((members.not_whole, members.out_of_place), (0, 0), "{found}");
}

#[test]
fn mixtures_of_lipids_and_proteins_are_recovered() {
    let folder = scratch("mixture");
    let mut crowd = bilayer();
    // Four chains with hemes.
    let protein = crowd.add_template(template("molecules/1gzx.pdb"));
    let ubiquitin = crowd.add_template(template("molecules/1ubq.cif"));
    crowd.set_periodic_box(Some(PeriodicBox::new(BOX_NM + 40.0 * Vec3::Z).unwrap()));
    for (k, template) in [protein, ubiquitin, protein, ubiquitin]
        .into_iter()
        .enumerate()
    {
        let pose = Pose::new(
            Vec3::new(7.9, 0.1, 18.0 + 7.5 * k as f32),
            Quat::from_rotation_y(0.3 * k as f32),
        );
        let member = CrowdMember {
            template,
            pose,
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    for ending in ["pdb", "cif.gz"] {
        let path = folder.join(format!("mixture.{ending}"));
        write(&path, &crowd, |_, pose| pose);
        let found = certificate(&path, TINY_NM, Some(&crowd));
        assert!(found.is_clean(), "{found}");
        assert_eq!(found.molecules, 22);
    }
}

#[test]
fn another_number_of_molecules_is_not_clean() {
    let folder = scratch("count");
    let crowd = bilayer();
    let path = folder.join("bilayer.pdb");
    write(&path, &crowd, |_, pose| pose);
    let mut more = crowd.clone();
    more.add_member(crowd.members()[17]).unwrap();
    let found = certificate(&path, 0.2, Some(&more));
    assert!(!found.is_clean());
    assert!(
        found.to_string().contains("18 molecules instead of 19"),
        "{found}"
    );
}

#[test]
fn files_without_certificate_are_rejected_in_one_sentence() {
    let folder = scratch("errors");
    let crowd = bilayer();
    let path = folder.join("bilayer.pdb");
    write(&path, &crowd, |_, pose| pose);
    fn options(crowd: Option<&Crowd>) -> CertificateOptions<'_> {
        CertificateOptions {
            crowd,
            ..CertificateOptions::default()
        }
    }
    let mut other = crowd.clone();
    for size in [None, Some(PeriodicBox::new(BOX_NM * 1.001).unwrap())] {
        other.set_periodic_box(size);
        let error = certify(&path, &options(Some(&other))).unwrap_err();
        assert!(matches!(error, CertificateError::OtherBox { .. }));
        assert!(error.to_string().contains("8 × 9 × 12 nm"), "{error}");
    }
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replacen("90.00  90.00  90.00", "90.00  90.00 120.00", 1),
    )
    .unwrap();
    let error = certify(&path, &options(None)).unwrap_err();
    assert!(
        matches!(error, CertificateError::OtherAngles { .. }),
        "{error}"
    );
    fs::write(&path, text).unwrap();
    let tolerance = CertificateOptions {
        tolerance: f32::NAN,
        ..CertificateOptions::default()
    };
    let error = certify(&path, &tolerance).unwrap_err();
    assert!(matches!(error, CertificateError::Clash(_)));
    let error = certify(folder.join("nowhere.pdb"), &options(None)).unwrap_err();
    assert!(matches!(error, CertificateError::Molecule(_)));
}
