//! The content of real structures.

use super::*;

#[test]
fn every_file_has_the_expected_number_of_atoms() {
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
fn templates_have_the_center_of_mass_at_the_origin_and_principal_axes() {
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
        let mut inertia = DMat3::ZERO;
        for (atom, position) in template.positions().iter().enumerate() {
            let mass = f64::from(template.elements()[atom].mass());
            let (p, radius) = (position.as_dvec3(), f64::from(template.radii()[atom]));
            moment += p * mass;
            // A solid ball and the parallel axis theorem.
            let outer = DMat3::from_cols(p * p.x, p * p.y, p * p.z);
            let ball = 0.4 * radius * radius + p.length_squared();
            inertia += (DMat3::from_diagonal(DVec3::splat(ball)) - outer) * mass;
        }
        let center = moment / f64::from(template.mass());
        assert!(center.length() < 1.0e-6, "{name}: {center}");

        let axes = DMat3::from_quat(template.principal_axes().as_dquat().normalize());
        let diagonal = axes.transpose() * inertia * axes;
        let expected = DMat3::from_diagonal(template.principal_inertia().as_dvec3());
        let scale = template.principal_inertia().max_element();
        let error = (diagonal - expected).to_cols_array().map(f64::abs);
        let max_error = error.into_iter().fold(0.0, f64::max);
        assert!(max_error < 1.0e-5 * f64::from(scale), "{name}: {max_error}");
    }
}

#[test]
fn the_file_pose_restores_positions() {
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
fn hemoglobin_has_four_chains_hemes_and_waters() {
    let structure = structure("1gzx.pdb");
    assert_eq!(structure.chains(), ["A", "B", "C", "D"]);
    let dry = structure.template(&LoadOptions::default()).unwrap();
    assert_eq!(dry.atom_count(), 4_769 - 205);
    assert_eq!(elements(&dry)["Fe"], 4);
    let wet = structure.template(&with_waters()).unwrap();
    assert_eq!(wet.atom_count(), 4_769);
    let counts = BTreeMap::from([("C", 2954), ("Fe", 4), ("N", 780), ("O", 1019), ("S", 12)]);
    assert_eq!(elements(&wet), counts);

    let parts = structure.split_by(SplitBy::Chain, &with_waters()).unwrap();
    let sizes: Vec<usize> = parts
        .iter()
        .map(|part| part.template.atom_count())
        .collect();
    assert_eq!(sizes, [1176, 1223, 1159, 1211]);
    let one = LoadOptions {
        chains: Some(vec!["B".to_owned()]),
        ..with_waters()
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
fn an_assembly_has_49_copies_of_one_template() {
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
    let assembly = load(path("4udv.pdb"), &one_body).unwrap();
    assert_eq!(assembly.atom_count(), 1_273 * 49);
    let origin = assembly.file_pose();
    let mut atoms = assembly.positions().iter();
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
fn elements_are_inferred_from_names() {
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
fn calcium_is_inferred_without_element_column() {
    let text = std::fs::read_to_string(path("2por.pdb")).unwrap();
    let short: String = text
        .lines()
        .map(|line| format!("{}\n", line.get(..66).unwrap_or(line)))
        .collect();
    let full = read(&text, "a.pdb");
    let bare = read(&short, "a.pdb");
    assert_eq!(full.atoms(), bare.atoms());
}

#[test]
fn models_are_selected_by_number() {
    let structure = structure("multi.pdb");
    assert_eq!(structure.models(), [1, 2]);
    let count = |model: ModelChoice| {
        let options = LoadOptions {
            model,
            ..with_waters()
        };
        structure
            .template(&options)
            .map(|template| template.atom_count())
    };
    let first = count(ModelChoice::First).unwrap();
    let second = count(ModelChoice::Number(2)).unwrap();
    // Five alternate locations in the first model, nine in the second.
    assert_eq!(first, 3_496 - 5);
    assert_eq!(second, 2_589 - 9);
    assert_eq!(count(ModelChoice::All).unwrap(), first + second);
    assert!(matches!(
        count(ModelChoice::Number(3)),
        Err(MoleculeError::NotInFile { what: "model", available, .. }) if available == ["1", "2"]
    ));
    let parts = structure.split_by(SplitBy::Model, &with_waters()).unwrap();
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
        structure.template(&with_waters()).unwrap().residues().len(),
        76 + 58
    );
    assert_eq!(
        structure.atoms()[0].position,
        Vec3::new(2.734, 2.443, 0.2614)
    );
    let assembly = LoadOptions {
        assembly: AssemblyChoice::Instances("1".to_owned()),
        ..with_waters()
    };
    let copies = structure.instances(&assembly).unwrap();
    assert_eq!((copies.len(), copies[0].poses.len()), (1, 1));
    assert_eq!(copies[0].template.atom_count(), 660);
}

#[test]
fn hemoglobin_is_read_from_binary_cif() {
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
