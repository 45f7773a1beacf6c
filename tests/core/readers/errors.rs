//! Invalid files and requests are rejected with file, location and cause.

use super::*;

#[test]
fn invalid_files_are_rejected_with_location_and_cause() {
    let line = |text: &str| format!("REMARK\n{text}\n");
    let pdb = |text: &str| read_error(line(text).as_bytes(), "bad.pdb");
    assert_eq!(
        read_error(b"", "bad.pdb"),
        (FileLocation::File, ReadErrorKind::Empty)
    );
    assert_eq!(
        read_error(&gzip(b""), "bad.pdb"),
        (FileLocation::File, ReadErrorKind::Empty)
    );
    assert_eq!(
        read_error(b"REMARK nothing\n", "bad.pdb"),
        (FileLocation::File, ReadErrorKind::NoAtoms)
    );
    assert_eq!(
        read_error(b"what is this", "bad.txt"),
        (FileLocation::File, ReadErrorKind::UnknownFormat)
    );
    let errors = [
        pdb(&ATOM[..44]),
        pdb(&ATOM.replace("  20.000", "     NaN")),
        pdb(&ATOM.replace("  20.000", "  20.0x0")),
        pdb(&ATOM.replace("  20.000", "99999999")),
        pdb("\u{0}\u{1}\u{2}"),
    ];
    assert!(
        errors
            .iter()
            .all(|(location, _)| *location == FileLocation::Line(2))
    );
    let kinds = errors.map(|(_, kind)| kind);
    let [truncated, infinite, invalid, far, binary] = &kinds;
    assert!(matches!(
        truncated,
        ReadErrorKind::Truncated {
            length: 44,
            needed: 54
        }
    ));
    assert!(matches!(infinite, ReadErrorKind::InvalidNumber { text, .. } if text == "NaN"));
    assert!(matches!(invalid, ReadErrorKind::InvalidNumber { text, .. } if text == "20.0x0"));
    assert!(matches!(far, ReadErrorKind::TooFar { .. }));
    assert_eq!(*binary, ReadErrorKind::NotText);
}

#[test]
fn messages_contain_file_line_columns_and_expectation() {
    let text = format!("REMARK\n{}\n", ATOM.replace("  20.000", "  20.0x0"));
    let error = read_bytes(text.as_bytes(), "a.pdb", &LoadOptions::default()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "a.pdb, line 2: the y coordinate in columns 39-46 is '20.0x0', expected a finite number"
    );
    let broken = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/broken.pdb");
    let error = load(broken, &LoadOptions::default()).unwrap_err();
    assert!(
        error.to_string().ends_with(
            "broken.pdb, line 2: the atom record has 11 columns, but the coordinates extend to \
             column 54; restore the missing columns or remove the line"
        ),
        "{error}"
    );
}

#[test]
fn damaged_gzip_and_binary_files_are_rejected() {
    let gzipped = gzip(ATOM.repeat(100).as_bytes());
    let cut = &gzipped[..gzipped.len() / 2];
    assert!(matches!(
        read_error(cut, "bad.pdb.gz").1,
        ReadErrorKind::InvalidGzip(_)
    ));
    assert!(matches!(
        read_error(ATOM.as_bytes(), "bad.pdb.gz").1,
        ReadErrorKind::InvalidGzip(_)
    ));
    let (location, kind) = read_error(b"\x81\xa4data", "bad.bcif");
    assert_eq!(location, FileLocation::Byte(6));
    assert!(matches!(kind, ReadErrorKind::InvalidMessagePack(_)));
    assert_eq!(read_error(b"\x80", "bad.bcif").1, ReadErrorKind::NoAtoms);
    let (location, kind) = read_error(b"data_x\n\n\xff\xfe", "bad.cif");
    assert_eq!(
        (location, kind),
        (FileLocation::Line(3), ReadErrorKind::NotText)
    );
}

#[test]
fn errors_of_requests_list_what_is_available() {
    let without_hydrogens = LoadOptions {
        hydrogens: false,
        ..LoadOptions::default()
    };
    let proton = ATOM
        .replace(" CA ", " H  ")
        .replace("           C", "           H");
    let options = LoadOptions::default();
    let one = |text: &str| read(text, "a.pdb");
    assert!(matches!(
        one(&proton).template(&without_hydrogens),
        Err(MoleculeError::NoAtomsSelected { atoms: 1, .. })
    ));
    for scale in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let options = LoadOptions {
            radius_scale: scale,
            ..LoadOptions::default()
        };
        assert!(matches!(
            one(ATOM).template(&options),
            Err(MoleculeError::InvalidRadiusScale { .. })
        ));
    }
    let chain = LoadOptions {
        chains: Some(vec!["Q".to_owned()]),
        ..LoadOptions::default()
    };
    assert!(matches!(
        one(ATOM).template(&chain),
        Err(MoleculeError::NotInFile { what: "chain", available, .. }) if available == ["A"]
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
fn reflections_and_scalings_are_rejected_as_operators() {
    for diagonal in [["1.0", "1.0", "-1.0"], ["2.0", "1.0", "1.0"]] {
        let [x, y, z] = diagonal;
        let text = format!(
            "REMARK 350   BIOMT1   1  {x} 0.0 0.0 0.0\nREMARK 350   BIOMT2   1  0.0 {y} 0.0 0.0\n\
             REMARK 350   BIOMT3   1  0.0 0.0 {z} 0.0\n{ATOM}\n"
        );
        let structure = read(&text, "a.pdb");
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
fn options_serialize_and_missing_fields_have_defaults() {
    let options = LoadOptions {
        assembly: AssemblyChoice::Instances("1".to_owned()),
        format: Some(Format::BinaryCif),
        ..with_waters()
    };
    let text = serde_json::to_string(&options).unwrap();
    assert_eq!(serde_json::from_str::<LoadOptions>(&text).unwrap(), options);
    let partial: LoadOptions = serde_json::from_str("{\"waters\": true}").unwrap();
    assert_eq!(partial, with_waters());
}
