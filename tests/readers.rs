//! Every reader on real structures, and every kind of bad input.
//!
//! The contract: what a file says is what comes out, atom for atom, and what
//! cannot be read is refused with file, place and cause.

use std::collections::BTreeMap;
use std::io::Write;

use approx::assert_relative_eq;
use bevy_rapier_molecules::molecule::{
    AssemblyChoice, Element, Format, LoadOptions, ModelChoice, MoleculeError, MoleculeTemplate,
    Place, ReadCause, SplitBy, Structure, load, load_instances, load_structure, read_bytes,
};
use glam::{DMat3, DVec3, Vec3};

fn path(name: &str) -> String {
    format!("{}/assets/molecules/{name}", env!("CARGO_MANIFEST_DIR"))
}

fn structure(name: &str) -> Structure {
    load_structure(path(name), &LoadOptions::default()).unwrap()
}

fn everything() -> LoadOptions {
    LoadOptions {
        waters: true,
        ..LoadOptions::default()
    }
}

fn elements(template: &MoleculeTemplate) -> BTreeMap<&'static str, usize> {
    let mut counts = BTreeMap::new();
    for element in template.elements() {
        *counts.entry(element.symbol()).or_default() += 1;
    }
    counts
}

fn bad(bytes: &[u8], source: &str) -> (Place, ReadCause) {
    match read_bytes(bytes, source, &LoadOptions::default()) {
        Err(MoleculeError::Read(error)) => {
            assert_eq!(error.file, source);
            assert!(error.to_string().starts_with(source), "{error}");
            (error.place, error.cause)
        }
        other => panic!("expected a read error, found {other:?}"),
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

const ATOM: &str = "ATOM      1  CA  ALA A   1      10.000  20.000  30.000  1.00  0.00           C";

#[test]
fn every_file_has_the_atoms_it_should_have() {
    let counts = [
        ("popc.pdb", 134),
        ("popc_bilayer.pdb", 17_152),
        ("1gzx.pdb", 4_769),
        ("1ubq.cif", 660),
        ("4hhb.bcif.gz", 4_779),
        ("2por.pdb", 2_589),
        ("dhfr.pdb", 2_489),
        ("t4_lysozyme_l99a.pdb", 2_603),
        ("p_xylene.pdb", 18),
        ("4c64_dna.pdb", 617),
        ("4udv.pdb", 1_273),
        ("multi.pdb", 6_085),
    ];
    for (name, atoms) in counts {
        assert_eq!(structure(name).atoms().len(), atoms, "{name}");
    }
}

#[test]
fn templates_have_their_centre_of_mass_at_the_origin_and_diagonal_inertia() {
    for name in [
        "popc.pdb",
        "1gzx.pdb",
        "dhfr.pdb",
        "1ubq.cif",
        "4hhb.bcif.gz",
        "4c64_dna.pdb",
    ] {
        let template = load(path(name), &LoadOptions::default()).unwrap();
        let mut moment = DVec3::ZERO;
        for (position, element) in template.positions().iter().zip(template.elements()) {
            moment += position.as_dvec3() * f64::from(element.mass());
        }
        let centre = moment / f64::from(template.mass());
        assert!(centre.length() < 1.0e-6, "{name}: {centre}");

        let axes = DMat3::from_quat(template.principal_axes().as_dquat().normalize());
        let diagonal = axes.transpose() * template.inertia() * axes;
        let expected = DMat3::from_diagonal(template.principal_inertia().as_dvec3());
        let scale = template.principal_inertia().max_element();
        let error = (diagonal - expected).to_cols_array().map(f64::abs);
        let worst = error.into_iter().fold(0.0, f64::max);
        assert!(worst < 1.0e-5 * f64::from(scale), "{name}: {worst}");
    }
}

#[test]
fn the_file_pose_puts_atoms_back() {
    let structure = structure("popc.pdb");
    let template = structure.template(&LoadOptions::default()).unwrap();
    for (atom, body) in structure.atoms().iter().zip(template.positions()) {
        let back = template.file_pose().transform_point(*body);
        assert!(back.distance(atom.position) < 1.0e-5);
    }
    assert_eq!(
        structure.atoms()[0].position,
        Vec3::new(4.607, 0.613, 5.131)
    );
}

#[test]
fn haemoglobin_has_four_chains_haems_and_waters() {
    let structure = structure("1gzx.pdb");
    assert_eq!(structure.chains(), ["A", "B", "C", "D"]);
    let dry = structure.template(&LoadOptions::default()).unwrap();
    assert_eq!(dry.atom_count(), 4_769 - 205);
    assert_eq!(elements(&dry)["Fe"], 4);
    let wet = structure.template(&everything()).unwrap();
    assert_eq!(wet.atom_count(), 4_769);
    let counts = BTreeMap::from([("C", 2954), ("Fe", 4), ("N", 780), ("O", 1019), ("S", 12)]);
    assert_eq!(elements(&wet), counts);

    let parts = structure.split_by(SplitBy::Chain, &everything()).unwrap();
    let sizes: Vec<usize> = parts
        .iter()
        .map(|part| part.template.atom_count())
        .collect();
    assert_eq!(sizes, [1176, 1223, 1159, 1211]);
    let one = LoadOptions {
        chains: Some(vec!["B".to_owned()]),
        ..everything()
    };
    assert_eq!(structure.template(&one).unwrap().atom_count(), 1223);
}

#[test]
fn a_bilayer_splits_into_its_lipids() {
    let structure = structure("popc_bilayer.pdb");
    let parts = structure
        .split_by(SplitBy::Residue, &LoadOptions::default())
        .unwrap();
    assert_eq!(parts.len(), 128);
    let mut atoms = structure.atoms().iter();
    for part in &parts {
        assert_eq!(part.template.atom_count(), 134);
        assert_eq!(part.template.residues().len(), 1);
        for body in part.template.positions() {
            let expected = atoms.next().unwrap().position;
            assert!(part.pose.transform_point(*body).distance(expected) < 1.0e-5);
        }
    }
    assert_eq!(parts[5].template.name(), "popc_bilayer POP A6");
}

#[test]
fn a_lipid_has_the_mass_of_popc() {
    // C42 H82 N O8 P.
    let template = load(path("popc.pdb"), &LoadOptions::default()).unwrap();
    let counts = BTreeMap::from([("C", 42), ("H", 82), ("N", 1), ("O", 8), ("P", 1)]);
    assert_eq!(elements(&template), counts);
    assert_relative_eq!(template.mass(), 760.091, epsilon = 0.01);
    assert_eq!(template.radii()[0], Element::N.vdw_radius() * 0.7);
}

#[test]
fn an_assembly_is_forty_nine_copies_of_one_template() {
    let options = LoadOptions {
        assembly: AssemblyChoice::Instances("1".to_owned()),
        ..LoadOptions::default()
    };
    let groups = load_instances(path("4udv.pdb"), &options).unwrap();
    assert_eq!(groups.len(), 1);
    assert_eq!(groups[0].template.atom_count(), 1_273);
    assert_eq!(groups[0].poses.len(), 49);

    let one_body = LoadOptions {
        assembly: AssemblyChoice::OneBody("1".to_owned()),
        ..LoadOptions::default()
    };
    let whole = load(path("4udv.pdb"), &one_body).unwrap();
    assert_eq!(whole.atom_count(), 1_273 * 49);
    let origin = whole.file_pose();
    let mut atoms = whole.positions().iter();
    for pose in &groups[0].poses {
        for body in groups[0].template.positions() {
            let expected = origin.transform_point(*atoms.next().unwrap());
            assert!(pose.transform_point(*body).distance(expected) < 1.0e-4);
        }
    }
    let parts = structure("4udv.pdb")
        .split_by(SplitBy::Chain, &options)
        .unwrap();
    assert_eq!(parts.len(), 2 * 49);
    assert!(matches!(
        load(path("4udv.pdb"), &options),
        Err(MoleculeError::SeveralBodies { .. })
    ));
}

#[test]
fn elements_are_inferred_where_the_file_has_none() {
    let dhfr = load(path("dhfr.pdb"), &LoadOptions::default()).unwrap();
    let counts = elements(&dhfr);
    assert_eq!(counts.keys().copied().collect::<String>(), "CHNOS");
    assert_eq!(counts.values().sum::<usize>(), 2_489);
    let lysozyme = load(path("t4_lysozyme_l99a.pdb"), &LoadOptions::default()).unwrap();
    assert_eq!(
        elements(&lysozyme).keys().copied().collect::<String>(),
        "CHNOS"
    );
    let xylene = load(path("p_xylene.pdb"), &LoadOptions::default()).unwrap();
    assert_eq!(elements(&xylene), BTreeMap::from([("C", 8), ("H", 10)]));

    let heavy = LoadOptions {
        hydrogens: false,
        ..LoadOptions::default()
    };
    let bare = load(path("dhfr.pdb"), &heavy).unwrap();
    assert_eq!(bare.atom_count(), 2_489 - counts["H"]);
}

#[test]
fn calcium_ions_stay_calcium_without_their_element_column() {
    let text = std::fs::read_to_string(path("2por.pdb")).unwrap();
    let short: String = text
        .lines()
        .map(|line| format!("{}\n", line.get(..66).unwrap_or(line)))
        .collect();
    let options = everything();
    let full = read_bytes(text.as_bytes(), "a.pdb", &options).unwrap();
    let bare = read_bytes(short.as_bytes(), "a.pdb", &options).unwrap();
    assert_eq!(full.atoms(), bare.atoms());
}

#[test]
fn models_are_chosen_by_number() {
    let structure = structure("multi.pdb");
    assert_eq!(structure.models(), [1, 2]);
    let count = |model: ModelChoice| {
        let options = LoadOptions {
            model,
            ..everything()
        };
        structure
            .template(&options)
            .map(|template| template.atom_count())
    };
    let first = count(ModelChoice::First).unwrap();
    let second = count(ModelChoice::Number(2)).unwrap();
    // Second and third locations of an atom: five in the first model, nine in the second.
    assert_eq!(first, 3_496 - 5);
    assert_eq!(second, 2_589 - 9);
    assert_eq!(count(ModelChoice::All).unwrap(), first + second);
    assert!(matches!(
        count(ModelChoice::Number(3)),
        Err(MoleculeError::UnknownModel { asked: 3, known, .. }) if known == [1, 2]
    ));
    let parts = structure.split_by(SplitBy::Model, &everything()).unwrap();
    let sizes: Vec<usize> = parts
        .iter()
        .map(|part| part.template.atom_count())
        .collect();
    assert_eq!(sizes, [first, second]);
}

#[test]
fn ubiquitin_is_read_from_mmcif() {
    let structure = structure("1ubq.cif");
    assert_eq!(structure.chains(), ["A"]);
    let dry = structure.template(&LoadOptions::default()).unwrap();
    assert_eq!(dry.atom_count(), 602);
    assert_eq!(dry.residues().len(), 76);
    assert_eq!(dry.residues()[75].name, "GLY");
    assert_eq!(
        structure.template(&everything()).unwrap().residues().len(),
        76 + 58
    );
    assert_eq!(
        structure.atoms()[0].position,
        Vec3::new(2.734, 2.443, 0.2614)
    );
    let assembly = LoadOptions {
        assembly: AssemblyChoice::Instances("1".to_owned()),
        ..everything()
    };
    let copies = structure.instances(&assembly).unwrap();
    assert_eq!((copies.len(), copies[0].poses.len()), (1, 1));
    assert_eq!(copies[0].template.atom_count(), 660);
}

#[test]
fn haemoglobin_is_read_from_binary_cif() {
    let structure = structure("4hhb.bcif.gz");
    assert_eq!(structure.chains(), ["A", "B", "C", "D"]);
    assert_eq!(structure.name(), "4hhb");
    let dry = structure.template(&LoadOptions::default()).unwrap();
    let counts = elements(&dry);
    assert_eq!(
        (dry.atom_count(), counts["Fe"], counts["P"]),
        (4_779 - 221, 4, 2)
    );
    let first = &structure.atoms()[0];
    assert_eq!((first.name.as_str(), first.element), ("N", Element::N));
    assert!(first.position.distance(Vec3::new(1.9323, 2.9727, 4.2781)) < 1.0e-6);
    let residue = &structure.residues()[0];
    assert_eq!((residue.name.as_str(), residue.number), ("VAL", 1));
    assert_eq!(structure.assemblies().len(), 1);
}

#[test]
fn alternate_locations_keep_the_most_occupied_and_the_first_of_equals() {
    let line = |altloc: char, name: &str, x: &str, occupancy: &str| {
        format!(
            "ATOM      1  {name:<3}{altloc}SER A   1    {x:>8}   0.000   0.000  {occupancy}  0.00\n"
        )
    };
    let text = [
        line(' ', "N", "1.000", "1.00"),
        line('A', "CA", "2.000", "0.40"),
        line('B', "CA", "3.000", "0.60"),
        line('A', "CB", "4.000", "0.50"),
        line('B', "CB", "5.000", "0.50"),
        // The same name without a location stays twice.
        line(' ', "N", "6.000", "1.00"),
    ]
    .concat();
    let options = LoadOptions::default();
    let structure = read_bytes(text.as_bytes(), "a.pdb", &options).unwrap();
    let template = structure.template(&options).unwrap();
    let found: Vec<i32> = template
        .positions()
        .iter()
        .map(|body| (template.file_pose().transform_point(*body).x * 10.0).round() as i32)
        .collect();
    assert_eq!(found, [1, 3, 4, 6]);
}

#[test]
fn of_two_residues_at_one_place_the_more_occupied_stays() {
    let line = |altloc: char, residue: &str, name: &str, occupancy: &str| {
        format!(
            "ATOM      1  {name:<3}{altloc}{residue} A   1       1.000   0.000   0.000  {occupancy}  0.00\n"
        )
    };
    let text = [
        line('A', "SER", "CA", "0.30"),
        line('B', "THR", "CA", "0.70"),
        line('A', "SER", "OG", "0.30"),
        line('B', "THR", "OG1", "0.70"),
    ]
    .concat();
    let options = LoadOptions::default();
    let structure = read_bytes(text.as_bytes(), "a.pdb", &options).unwrap();
    let template = structure.template(&options).unwrap();
    assert_eq!(template.atom_names(), ["CA", "OG1"]);
    assert_eq!(template.residues()[0].name, "THR");
}

#[test]
fn numbers_past_the_columns_are_read() {
    let text = [
        "ATOM  99999  C1  LIG A9999      10.000  20.000  30.000",
        "ATOM  A0000  C1  LIG AA000      10.000  20.000  30.000",
        "ATOM  *****  C1  LIG AA001      10.000  20.000  30.000",
        "ATOM  186a0  C1  LIG A   1      10.000  20.000  30.000",
    ]
    .join("\n");
    let structure = read_bytes(text.as_bytes(), "a.pdb", &LoadOptions::default()).unwrap();
    let numbers: Vec<i32> = structure
        .residues()
        .iter()
        .map(|residue| residue.number)
        .collect();
    assert_eq!(numbers, [9_999, 10_000, 10_001, 1]);
}

#[test]
fn wrapped_residue_numbers_give_new_residues() {
    let mut text = String::new();
    for lipid in 0..25_000 {
        let number = lipid % 10_000;
        for name in ["C1", "C2"] {
            text += &format!("ATOM      1  {name}  LIG  {number:>4}      10.000  20.000  30.000\n");
        }
    }
    let options = LoadOptions::default();
    let structure = read_bytes(text.as_bytes(), "a.pdb", &options).unwrap();
    assert_eq!(structure.residues().len(), 25_000);
    assert_eq!(
        structure
            .split_by(SplitBy::Residue, &options)
            .unwrap()
            .len(),
        25_000
    );
}

#[test]
fn gzip_and_content_are_recognised() {
    let options = LoadOptions::default();
    for (name, count) in [("popc.pdb", 134), ("1ubq.cif", 660)] {
        let bytes = std::fs::read(path(name)).unwrap();
        for (bytes, source) in [
            (gzip(&bytes), format!("{name}.gz")),
            (gzip(&bytes), name.to_owned()),
            (gzip(&bytes), "unnamed".to_owned()),
            (bytes.clone(), "unnamed".to_owned()),
        ] {
            let structure = read_bytes(&bytes, &source, &options).unwrap();
            assert_eq!(structure.atoms().len(), count);
        }
    }
    let packed = std::fs::read(path("4hhb.bcif.gz")).unwrap();
    assert_eq!(
        read_bytes(&packed, "x", &options).unwrap().atoms().len(),
        4_779
    );
    let forced = LoadOptions {
        format: Some(Format::Pdb),
        ..LoadOptions::default()
    };
    assert_eq!(
        read_bytes(ATOM.as_bytes(), "x.cif", &forced)
            .unwrap()
            .atoms()
            .len(),
        1
    );
}

#[test]
fn bad_files_are_refused_with_place_and_cause() {
    let line = |text: &str| format!("REMARK\n{text}\n");
    let pdb = |text: &str| bad(line(text).as_bytes(), "bad.pdb");
    assert_eq!(bad(b"", "bad.pdb"), (Place::File, ReadCause::Empty));
    assert_eq!(bad(&gzip(b""), "bad.pdb"), (Place::File, ReadCause::Empty));
    assert_eq!(
        bad(b"REMARK nothing\n", "bad.pdb"),
        (Place::File, ReadCause::NoAtoms)
    );
    assert_eq!(
        bad(b"what is this", "bad.txt"),
        (Place::File, ReadCause::UnknownFormat)
    );
    let second = Place::Line(2);
    let causes = [
        pdb(&ATOM[..44]),
        pdb(&ATOM.replace("  20.000", "     NaN")),
        pdb(&ATOM.replace("  20.000", "  20.0x0")),
        pdb(&ATOM.replace("  20.000", "99999999")),
        pdb(&ATOM.replace("           C", "          Qq")),
        pdb("\u{0}\u{1}\u{2}"),
    ];
    assert!(causes.iter().all(|(place, _)| *place == second));
    assert!(matches!(
        causes[0].1,
        ReadCause::Truncated {
            length: 44,
            needed: 54
        }
    ));
    assert!(matches!(
        &causes[1].1,
        ReadCause::NotFinite { field: "y", .. }
    ));
    assert!(matches!(
        &causes[2].1,
        ReadCause::BadNumber { field: "y", .. }
    ));
    assert!(matches!(&causes[3].1, ReadCause::TooFar { field: "y", .. }));
    assert!(matches!(&causes[4].1, ReadCause::UnknownElement { symbol, .. } if symbol == "Qq"));
    assert_eq!(causes[5].1, ReadCause::NotText);
}

#[test]
fn bad_containers_are_refused() {
    let gzipped = gzip(ATOM.repeat(100).as_bytes());
    let cut = &gzipped[..gzipped.len() / 2];
    assert!(matches!(bad(cut, "bad.pdb.gz").1, ReadCause::BadGzip(_)));
    assert!(matches!(
        bad(ATOM.as_bytes(), "bad.pdb.gz").1,
        ReadCause::BadGzip(_)
    ));
    let (place, cause) = bad(b"\x81\xa4data", "bad.bcif");
    assert_eq!(place, Place::Byte(6));
    assert!(matches!(cause, ReadCause::BadMessagePack(_)));
    assert_eq!(bad(b"\x80", "bad.bcif").1, ReadCause::NoAtoms);
    let (place, cause) = bad(b"data_x\n\n\xff\xfe", "bad.cif");
    assert_eq!((place, cause), (Place::Line(3), ReadCause::NotText));
}

#[test]
fn bad_requests_say_what_there_is() {
    let hydrogenless = LoadOptions {
        hydrogens: false,
        ..LoadOptions::default()
    };
    let proton = ATOM
        .replace(" CA ", " H  ")
        .replace("           C", "           H");
    let options = LoadOptions::default();
    let one = |text: &str| read_bytes(text.as_bytes(), "a.pdb", &options).unwrap();
    assert!(matches!(
        one(&proton).template(&hydrogenless),
        Err(MoleculeError::NothingLeft { atoms: 1, .. })
    ));
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let options = LoadOptions {
            radius_scale: scale,
            ..LoadOptions::default()
        };
        assert!(matches!(
            one(ATOM).template(&options),
            Err(MoleculeError::BadRadiusScale { .. })
        ));
    }
    let chain = LoadOptions {
        chains: Some(vec!["Q".to_owned()]),
        ..LoadOptions::default()
    };
    assert!(matches!(
        one(ATOM).template(&chain),
        Err(MoleculeError::UnknownChain { known, .. }) if known == ["A"]
    ));
    let assembly = LoadOptions {
        assembly: AssemblyChoice::OneBody("7".to_owned()),
        ..LoadOptions::default()
    };
    let error = structure("4udv.pdb").template(&assembly).unwrap_err();
    assert!(
        error
            .to_string()
            .ends_with("4udv.pdb: no assembly '7'; there are [\"1\"]"),
        "{error}"
    );
    assert!(matches!(
        load(path("absent.pdb"), &options),
        Err(MoleculeError::Io { .. })
    ));
    assert!(matches!(
        load(path(""), &options),
        Err(MoleculeError::Io { .. })
    ));
}

#[test]
fn mirrors_and_stretches_are_not_assemblies() {
    for diagonal in [["1.0", "1.0", "-1.0"], ["2.0", "1.0", "1.0"]] {
        let [x, y, z] = diagonal;
        let text = format!(
            "REMARK 350   BIOMT1   1  {x} 0.0 0.0 0.0\nREMARK 350   BIOMT2   1  0.0 {y} 0.0 0.0\n\
             REMARK 350   BIOMT3   1  0.0 0.0 {z} 0.0\n{ATOM}\n"
        );
        let structure = read_bytes(text.as_bytes(), "a.pdb", &LoadOptions::default()).unwrap();
        for assembly in [
            AssemblyChoice::OneBody("1".to_owned()),
            AssemblyChoice::Instances("1".to_owned()),
        ] {
            let options = LoadOptions {
                assembly,
                ..LoadOptions::default()
            };
            let error = structure.instances(&options).unwrap_err();
            assert!(
                matches!(error, MoleculeError::NotARotation { .. }),
                "{error}"
            );
        }
    }
}

#[test]
fn options_survive_serialisation_and_may_be_partial() {
    let options = LoadOptions {
        assembly: AssemblyChoice::Instances("1".to_owned()),
        format: Some(Format::BinaryCif),
        ..everything()
    };
    let text = serde_json::to_string(&options).unwrap();
    assert_eq!(serde_json::from_str::<LoadOptions>(&text).unwrap(), options);
    let partial: LoadOptions = serde_json::from_str("{\"waters\": true}").unwrap();
    assert_eq!(partial, everything());
}
