//! Sphere trees of cellPACK.

use std::fmt::Write;

use bevy_rapier_molecules::recipe::{SphereTree, SphereTreeError, SphereTreeProblem};
use glam::Vec3;
use proptest::prelude::*;

use crate::readers_never_panic::{apply, change};

type Levels = Vec<Vec<(Vec3, f32)>>;

fn read(text: &str) -> Result<SphereTree, SphereTreeError> {
    SphereTree::read(text.as_bytes(), "a.sph")
}

fn message(text: &str) -> String {
    read(text).unwrap_err().to_string()
}

/// Three levels of 1, 2 and 4 spheres.
fn levels() -> Levels {
    let sphere = |k: u8| {
        (
            Vec3::new(f32::from(k), -0.25, 1.0e-3),
            4.0 / f32::from(k + 1),
        )
    };
    [0..1, 1..3, 3..7]
        .map(|range| range.map(sphere).collect())
        .to_vec()
}

/// The file that cellPACK has for these levels, with indices of children or without.
fn write(levels: &Levels, children: bool) -> String {
    let count = levels.len();
    let mut text = format!("# rmin rmax\n 0.5   4.0\n\n# number of levels\n{count}\n\n");
    for (level, spheres) in levels.iter().enumerate() {
        let number = level + 1;
        let count = spheres.len();
        write!(
            text,
            "# number of spheres in level {number}\n{count}\n\n# x y z r\n"
        )
        .unwrap();
        for (k, (Vec3 { x, y, z }, radius)) in spheres.iter().enumerate() {
            write!(text, " {x} {y} {z}  {radius}").unwrap();
            if children && number < levels.len() {
                write!(text, " {} {}", 2 * k, 2 * k + 1).unwrap();
            }
            text.push('\n');
        }
        text.push('\n');
    }
    text
}

#[test]
fn levels_are_those_that_were_written() {
    for children in [false, true] {
        for depth in 1..=3 {
            let expected = levels()[..depth].to_vec();
            let tree = read(&write(&expected, children)).unwrap();
            assert_eq!(tree.levels(), expected);
            assert_eq!(tree.spheres(), expected[depth - 1]);
        }
    }
}

#[test]
fn line_ends_blank_lines_and_comments_do_not_matter() {
    let text = write(&levels(), true);
    let lines = text.lines().filter(|line| !line.is_empty());
    let without_comments: Vec<&str> = lines.filter(|line| !line.starts_with('#')).collect();
    for changed in [
        text.replace('\n', "\r\n"),
        text.replace('\n', "\r"),
        text.replace('\n', "  # comment\n \t\n"),
        without_comments.join("\n"),
    ] {
        assert_eq!(read(&changed).unwrap().levels(), levels(), "{changed:?}");
    }
    let mut bytes = b"# \xe9\xff\n".to_vec();
    bytes.extend(text.as_bytes());
    assert!(SphereTree::read(&bytes, "a.sph").is_ok());
}

#[test]
fn messages_name_file_line_and_cause() {
    for (text, expected) in [
        (
            "",
            "line 1: the file ends, expected the smallest and the largest radius; \
             it may be truncated",
        ),
        (
            "# only\n# comments\n",
            "line 2: the file ends, expected the smallest and the largest radius; \
             it may be truncated",
        ),
        (
            "1\n",
            "line 1: found '1', expected the smallest and the largest radius",
        ),
        (
            "1 x\n",
            "line 1: the largest radius is 'x', expected a finite number",
        ),
        (
            "nan 2\n",
            "line 1: the smallest radius is 'nan', expected a finite number",
        ),
        (
            "1 2\n0\n",
            "line 2: found '0', expected the number of levels, at least 1",
        ),
        (
            "1 2\n1.0\n",
            "line 2: found '1.0', expected the number of levels, at least 1",
        ),
        (
            "1 2\n1\n0\n",
            "line 3: found '0', expected the number of spheres of a level, at least 1",
        ),
        (
            "1 2\n1\n-2\n",
            "line 3: found '-2', expected the number of spheres of a level, at least 1",
        ),
        (
            "1 2\n1\n1\n\n0 0 0\n",
            "line 5: found '0 0 0', expected the center and the radius of a sphere",
        ),
        (
            "1 2\n1\n1\n0 0 0 -1.5\n",
            "line 4: the radius is -1.5, expected zero or more",
        ),
        (
            "1 2\n1\n1\n0 inf 0 1\n",
            "line 4: y is 'inf', expected a finite number",
        ),
        (
            "1 2\n1\n1\n0 0 0 1e39\n",
            "line 4: the radius is '1e39', expected a finite number",
        ),
        (
            "1 2\n1\n2\n0 0 0 1\n",
            "line 4: the file ends, expected the center and the radius of a sphere; \
             it may be truncated",
        ),
        (
            "1 2\n2\n1\n0 0 0 1\n",
            "line 4: the file ends, expected the number of spheres of a level, at least 1; \
             it may be truncated",
        ),
        (
            "1 2\n1\n1\n0 0 0 1\n5 0 0 1\n",
            "line 5: found '5 0 0 1', expected the end of the file after the spheres of the \
             deepest level",
        ),
        (
            "1 2\n2\n2\n0 0 0 1\n1\n0 0 0 1\n",
            "line 5: found '1', expected the center and the radius of a sphere",
        ),
    ] {
        assert_eq!(message(text), format!("a.sph, {expected}"), "{text:?}");
    }
}

#[test]
fn huge_counts_need_no_memory() {
    for text in [
        "1 2\n18446744073709551615\n1\n0 0 0 1\n",
        "1 2\n1\n18446744073709551615\n0 0 0 1\n",
    ] {
        let problem = read(text).unwrap_err().problem;
        assert!(matches!(problem, SphereTreeProblem::FileEnds { .. }));
    }
}

#[test]
fn truncated_files_are_rejected_wherever_they_end() {
    let text = write(&levels(), true);
    // All before the last radius, which is 4 / 7.
    let needed = text.trim_end().len() - "0.5714286".len();
    for length in 0..needed {
        assert!(read(&text[..length]).is_err(), "{length} bytes");
    }
}

/// The seed corpus of the fuzzer contains valid files after the byte of the format.
#[test]
fn the_fuzz_corpus_is_read() {
    let file = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/fuzz/corpus/read_mesh/hand-tree.sph"
    );
    // The published crate does not contain the corpus.
    let Ok(bytes) = std::fs::read(file) else {
        return;
    };
    let tree = SphereTree::read(&bytes[1..], "hand-tree.sph").unwrap();
    assert_eq!((tree.levels().len(), tree.spheres().len()), (2, 2));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn random_text_never_panics(text in "([0-9]{1,20}|-?[0-9]\\.[0-9]|[ -~]|\n|\r| |#){0,80}") {
        let _ = read(&text);
    }

    #[test]
    fn damaged_files_never_panic(changes in prop::collection::vec(change(), 1..6)) {
        let mut bytes = write(&levels(), true).into_bytes();
        for change in &changes {
            apply(&mut bytes, change);
        }
        if let Ok(tree) = SphereTree::read(&bytes, "case") {
            assert!(!tree.spheres().is_empty());
            let mut spheres = tree.levels().iter().flatten();
            assert!(spheres.all(|(center, radius)| center.is_finite() && *radius >= 0.0));
        }
    }

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let _ = SphereTree::read(&bytes, "case");
    }
}
