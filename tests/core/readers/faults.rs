//! What cannot be read is refused with file, place and cause.

use super::*;

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
            .ends_with("4udv.pdb: no assembly '7'; the file has '1'"),
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
fn options_survive_serialization_and_may_be_partial() {
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
