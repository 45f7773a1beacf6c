//! `.bent` files: every construct, every error with its message, and no panics.

use bevy_rapier_molecules::recipe::bent::{
    Anchor, Axis, BentErrorKind, BentFile, Comparison, Compartment, CompartmentShape, Constraint,
    Expression, General, Limit, Location, MAX_NESTING, Quantity, Rearrange, Segment, Space,
};
use proptest::prelude::*;

/// Every section and construct.
const COMPLETE: &str = r#"; A bacterium in a box.
[ general ]
title "A cell; not to scale #1"
seed 42
bead-radius 0.25
max-tries-mult 500
max-tries-rot-div 50
rearrange bounding-sphere

[ space ]
dimensions 80, 60.5, 40   # nm
resolution 0.5
periodic false

[ includes ]
"topologies/force field.itp"
"topologies/porin.itp"

[ compartments ]
everything is all
walls    from "masks/walls.npz"
cell     as sphere at center with radius 20
vacuole  as sphere at 30, 30.5, 20 with diameter 9
corner   as cuboid from start to (10, 10, 10)
half     as cuboid from center to end
slab     where 20 < x and not z > 5
near     within 2.5 of walls
shell    around 3 of cell
cytosol  combines cell and not (vacuole or corner)

[ constraints ]
upright rotates z
tumbling rotates x,y , z
fixed rotates

[ segments ]
3lyz:LYZ 1.5mM from "structures/3lyz.pdb" in cytosol
porin
    20
    from "structures/2por.pdb"
    in shell, near
    satisfies upright, fixed
"#;

fn read(text: &str) -> BentFile {
    BentFile::read(text, "test.bent").unwrap_or_else(|error| panic!("{error}"))
}

fn message(text: impl AsRef<[u8]>) -> String {
    let error = BentFile::read(text, "test.bent").unwrap_err();
    error.to_string()
}

/// A file with lines in some section, from line 1.
fn file_with(section: &str, lines: &str) -> String {
    let rest = "[ space ] dimensions 9, 9, 9 [ compartments ] a is all [ segments ]";
    format!("[ {section} ] {lines}\n{rest}")
}

fn shape(definition: &str) -> CompartmentShape {
    let file = read(&file_with(
        "compartments",
        &format!("new {definition} [ compartments ] b is all c is all d is all"),
    ));
    file.compartment("new").unwrap().shape.clone()
}

fn combination(text: &str) -> Expression<String> {
    match shape(&format!("combines {text}")) {
        CompartmentShape::Combines(expression) => expression,
        other => panic!("{other:?}"),
    }
}

fn term(id: &str) -> Expression<String> {
    Expression::Term(id.to_owned())
}

fn not<T>(operand: Expression<T>) -> Expression<T> {
    Expression::Not(Box::new(operand))
}

fn limit(axis: Axis, comparison: Comparison, value: f64) -> Expression<Limit> {
    Expression::Term(Limit {
        axis,
        comparison,
        value,
    })
}

fn at(line: usize, column: usize) -> Location {
    Location { line, column }
}

fn segment(line: &str) -> Segment {
    read(&format!(
        "{} {line}",
        file_with("constraints", "r rotates x s rotates y")
    ))
    .segments
    .remove(0)
}

#[test]
fn a_complete_file_is_read() {
    let file = read(COMPLETE);
    let general = General {
        title: Some("A cell; not to scale #1".to_owned()),
        seed: Some(42),
        bead_radius: Some(0.25),
        max_tries_mult: Some(500),
        max_tries_rot_div: Some(50),
        rearrange: Some(Rearrange::BoundingSphere),
    };
    assert_eq!(file.general, general);
    let space = Space {
        dimensions: [80.0, 60.5, 40.0],
        resolution: Some(0.5),
        periodic: Some(false),
    };
    assert_eq!(file.space, space);
    let includes = ["topologies/force field.itp", "topologies/porin.itp"];
    assert_eq!(file.includes, includes);

    let of = str::to_owned;
    let shapes = [
        ("everything", CompartmentShape::All),
        ("walls", CompartmentShape::Mask(of("masks/walls.npz"))),
        (
            "cell",
            CompartmentShape::Sphere {
                center: Anchor::Center,
                radius: 20.0,
            },
        ),
        (
            "vacuole",
            CompartmentShape::Sphere {
                center: Anchor::Point([30.0, 30.5, 20.0]),
                radius: 4.5,
            },
        ),
        (
            "corner",
            CompartmentShape::Cuboid {
                from: Anchor::Start,
                to: Anchor::Point([10.0; 3]),
            },
        ),
        (
            "half",
            CompartmentShape::Cuboid {
                from: Anchor::Center,
                to: Anchor::End,
            },
        ),
        (
            "slab",
            CompartmentShape::Where(Expression::And(vec![
                limit(Axis::X, Comparison::Greater, 20.0),
                not(limit(Axis::Z, Comparison::Greater, 5.0)),
            ])),
        ),
        (
            "near",
            CompartmentShape::Within {
                distance: 2.5,
                of: of("walls"),
            },
        ),
        (
            "shell",
            CompartmentShape::Around {
                distance: 3.0,
                of: of("cell"),
            },
        ),
        (
            "cytosol",
            CompartmentShape::Combines(Expression::And(vec![
                term("cell"),
                not(Expression::Or(vec![term("vacuole"), term("corner")])),
            ])),
        ),
    ];
    let expected: Vec<Compartment> = shapes
        .into_iter()
        .zip(20..)
        .map(|((id, shape), line)| Compartment {
            id: of(id),
            shape,
            location: at(line, 1),
        })
        .collect();
    assert_eq!(file.compartments, expected);
    let rules = [
        ("upright", [false, false, true]),
        ("tumbling", [true; 3]),
        ("fixed", [false; 3]),
    ];
    let expected: Vec<Constraint> = rules
        .into_iter()
        .zip(32..)
        .map(|((id, rotates), line)| Constraint {
            id: of(id),
            rotates,
            location: at(line, 1),
        })
        .collect();
    assert_eq!(file.constraints, expected);
    let segments = [
        Segment {
            name: of("3lyz"),
            tag: Some(of("LYZ")),
            quantity: Quantity::Molarity(0.0015),
            path: of("structures/3lyz.pdb"),
            compartments: vec![of("cytosol")],
            rules: vec![],
            location: at(37, 1),
        },
        Segment {
            name: of("porin"),
            tag: None,
            quantity: Quantity::Number(20),
            path: of("structures/2por.pdb"),
            compartments: vec![of("shell"), of("near")],
            rules: vec![of("upright"), of("fixed")],
            location: at(38, 1),
        },
    ];
    assert_eq!(file.segments, segments);
    assert_eq!(file.constraint("fixed").unwrap().rotates, [false; 3]);
    assert!(file.constraint("cell").is_none() && file.compartment("upright").is_none());
}

#[test]
fn the_smallest_file_has_a_space_and_segments() {
    let file = read("[space]dimensions 1,2,3[segments]");
    let expected = BentFile {
        general: General::default(),
        space: Space {
            dimensions: [1.0, 2.0, 3.0],
            resolution: None,
            periodic: None,
        },
        includes: vec![],
        compartments: vec![],
        constraints: vec![],
        segments: vec![],
    };
    assert_eq!(file, expected);
}

#[test]
fn sections_come_in_any_order_and_repeat() {
    let file = read(
        r#"[ segments ] one 1 from "1.pdb" in late
        [ general ] seed 1 title "first"
        [ compartments ] early is all
        [ segments ] two 2 from "2.pdb" in early
        [ space ] periodic true dimensions 1, 1, 1
        [ general ] seed 2
        [ compartments ] late within 1 of latest latest is all
        [ space ] dimensions 2, 2, 2"#,
    );
    assert_eq!(file.general.seed, Some(2));
    assert_eq!(file.general.title.as_deref(), Some("first"));
    assert_eq!(file.space.dimensions, [2.0; 3]);
    assert_eq!(file.space.periodic, Some(true));
    assert_eq!(file.segments.len(), 2);
    assert_eq!(file.compartments.len(), 3);
}

#[test]
fn every_unit_of_concentration_is_read() {
    let units = [
        ("2M", 2.0),
        ("1.5mM", 1.5e-3),
        ("0.5uM", 0.5e-6),
        ("3\u{b5}M", 3e-6),
        ("3\u{3bc}M", 3e-6),
        (".25nM", 0.25e-9),
        ("7pM", 7e-12),
        ("0mM", 0.0),
    ];
    for (text, molarity) in units {
        let line = format!("p {text} from \"p.pdb\" in a");
        assert_eq!(
            segment(&line).quantity,
            Quantity::Molarity(molarity),
            "{text}"
        );
    }
}

#[test]
fn numbers_are_plain_decimals() {
    for (text, value) in [
        ("2", 2.0),
        ("+2.50", 2.5),
        (".5", 0.5),
        ("5.", 5.0),
        ("007", 7.0),
    ] {
        let file = read(&file_with("general", &format!("bead-radius {text}")));
        assert_eq!(file.general.bead_radius, Some(value), "{text}");
    }
    let negative = CompartmentShape::Where(limit(Axis::Y, Comparison::Less, -1.5));
    assert_eq!(shape("where y < -1.5"), negative);
    assert_eq!(shape("where -1.5>y"), negative);
    let seed = u64::MAX;
    let file = read(&file_with("general", &format!("seed {seed}")));
    assert_eq!(file.general.seed, Some(seed));
}

#[test]
fn names_can_start_with_digits_and_operators() {
    let line = r#"1e5:5Mg 0 from "a b.pdb" in a satisfies r , s"#;
    let segment = segment(line);
    assert_eq!(segment.name, "1e5");
    assert_eq!(segment.tag.as_deref(), Some("5Mg"));
    assert_eq!(segment.quantity, Quantity::Number(0));
    assert_eq!(segment.rules, ["r", "s"]);
    let file = read(&file_with(
        "compartments",
        "organelle is all notch combines organelle and android android is all",
    ));
    assert_eq!(file.compartments[1].id, "notch");
}

#[test]
fn not_binds_stronger_than_and_which_binds_stronger_than_or() {
    let expected = Expression::Or(vec![
        Expression::And(vec![not(term("a")), term("b")]),
        Expression::And(vec![term("c"), not(not(term("d")))]),
    ]);
    assert_eq!(combination("not a and b or c and not not d"), expected);
    assert_eq!(
        combination("((not a)and(b))or(c and(not(not d)))"),
        expected
    );
    let grouped = Expression::And(vec![
        term("a"),
        Expression::Or(vec![term("b"), term("c")]),
        term("d"),
    ]);
    assert_eq!(combination("a and (b or c) and d"), grouped);
}

#[test]
fn expressions_are_evaluated_as_truth_tables() {
    let expression = combination("a and not (b or c) or d");
    assert_eq!(expression.terms(), ["a", "b", "c", "d"]);
    for bits in 0..16_u32 {
        let value = |id: &String| bits >> (id.as_bytes()[0] - b'a') & 1 == 1;
        let [a, b, c, d] = [0, 1, 2, 3].map(|bit| bits >> bit & 1 == 1);
        assert_eq!(expression.holds(&value), a && !(b || c) || d);
    }
}

#[test]
fn comments_follow_tokens_and_numbers_but_not_letters() {
    let file = read(&file_with(
        "general",
        "# one\n ; two [ space ]\nseed 5;three\nbead-radius 0.5#four\ntitle \"a\"# \"five\"\r# six",
    ));
    assert_eq!(file.general.seed, Some(5));
    assert_eq!(file.general.bead_radius, Some(0.5));
    let file = read(&file_with("compartments", "lipid#2 is all"));
    assert_eq!(file.compartments[0].id, "lipid#2");
}

#[test]
fn line_ends_and_a_byte_order_mark_change_nothing() {
    let expected = read(COMPLETE);
    assert_eq!(read(&COMPLETE.replace('\n', "\r\n")), expected);
    assert_eq!(read(&COMPLETE.replace('\n', "\r")), expected);
    assert_eq!(read(&format!("\u{feff}{COMPLETE}")), expected);
    assert_eq!(read(COMPLETE.trim_end()), expected);
}

#[test]
fn white_space_between_tokens_means_nothing() {
    let spread = COMPLETE
        .replace("20 < x", "20<x")
        .replace("3lyz:LYZ", "3lyz\n:\t LYZ")
        .replace("(10, 10, 10)", "(\n10 ,10, 10 )")
        .replace("[ space ]", "[\u{a0}space]");
    let without_locations = |text: &str| {
        let mut file = read(text);
        for compartment in &mut file.compartments {
            compartment.location = Location::START;
        }
        for constraint in &mut file.constraints {
            constraint.location = Location::START;
        }
        for segment in &mut file.segments {
            segment.location = Location::START;
        }
        file
    };
    assert_eq!(without_locations(&spread), without_locations(COMPLETE));
}

/// Files and the messages of their errors, after the name of the file.
#[test]
fn errors_say_what_is_found_and_expected() {
    let general = |line: &str| file_with("general", line);
    let space = |line: &str| file_with("space", line);
    let compartment = |line: &str| file_with("compartments", line);
    let constraint = |line: &str| file_with("constraints", line);
    let segment = |line: &str| file_with("segments", line);
    let huge = "9".repeat(400);
    let shortened = format!("{}…", "9".repeat(40));
    let cases: Vec<(String, String)> = [
        // Sections
        (
            String::new(),
            "1:1: the file is empty; expected at least the sections [ space ] and [ segments ]",
        ),
        (
            " # nothing\n\t; else".to_owned(),
            "1:1: the file is empty; expected at least the sections [ space ] and [ segments ]",
        ),
        (
            "{ \"space\": {} }".to_owned(),
            "1:1: found '{', this is a JSON file; convert it with bentopy-init convert -i input.json -o output.bent",
        ),
        (
            "seed 1".to_owned(),
            "1:1: expected a section such as [ space ], found 'seed'",
        ),
        (
            "[ segment ]".to_owned(),
            "1:3: expected 'general', 'space', 'includes', 'compartments', 'constraints' or 'segments', found 'segment'; did you mean 'segments'?",
        ),
        (
            "[ Space ]".to_owned(),
            "1:3: expected 'general', 'space', 'includes', 'compartments', 'constraints' or 'segments', found 'Space'; did you mean 'space'?",
        ),
        (
            "[ ]".to_owned(),
            "1:3: expected 'general', 'space', 'includes', 'compartments', 'constraints' or 'segments', found ']'",
        ),
        (
            "[ space\ndimensions 1, 2, 3".to_owned(),
            "2:1: expected ']', found 'dimensions'",
        ),
        (
            "[ segments ]\n".to_owned(),
            "2:1: the section [ space ] is missing; expected it before the end of the file",
        ),
        (
            "[ space ] dimensions 1, 2, 3".to_owned(),
            "1:29: the section [ segments ] is missing; expected it before the end of the file",
        ),
        (
            "[ segments ]\n [ space ] resolution 1".to_owned(),
            "2:2: the section [ space ] has no dimensions; expected a line such as 'dimensions 40, 40, 40'",
        ),
        // Settings
        (
            general("sed 5"),
            "1:13: expected 'title', 'seed', 'bead-radius', 'max-tries-mult', 'max-tries-rot-div' or 'rearrange', found 'sed'; did you mean 'seed'?",
        ),
        (
            general("title Cell"),
            "1:19: expected a title in double quotes, found 'Cell'",
        ),
        (
            general("title \"\""),
            "1:19: expected a title in double quotes, found an empty string",
        ),
        (
            general("title \"Cell"),
            "1:19: expected a title in double quotes, found a string that is not closed; add a '\"' on the same line",
        ),
        (
            general("seed -1"),
            "1:18: expected a whole number, found '-1'",
        ),
        (
            general("seed 18446744073709551616"),
            "1:18: expected a whole number, found '18446744073709551616'",
        ),
        (
            general("seed <seed>"),
            "1:18: expected a whole number, found the placeholder <seed>; replace it",
        ),
        (
            general("max-tries-rot-div 0"),
            "1:31: expected a positive whole number, found '0'",
        ),
        (
            general("bead-radius 0.0"),
            "1:25: expected a positive bead radius, found '0.0'",
        ),
        (
            general("bead-radius inf"),
            "1:25: expected a bead radius, found 'inf'",
        ),
        (
            general("rearrange volumes"),
            "1:23: expected 'moment', 'volume', 'bounding-sphere' or 'none', found 'volumes'; did you mean 'volume'?",
        ),
        (
            space("dimensions 5, 5\nresolution 1"),
            "2:1: expected ',' and another coordinate, found 'resolution'",
        ),
        (
            space("dimensions 5, -5, 5"),
            "1:25: expected a positive length, found '-5'",
        ),
        (
            space("dimensions (5, 5, 5"),
            "2:1: expected ')', found '['",
        ),
        (
            space("periodic True"),
            "1:20: expected 'true' or 'false', found 'True'; did you mean 'true'?",
        ),
        (
            file_with("includes", "porin.itp"),
            "1:14: expected a path in double quotes, found 'porin.itp'",
        ),
        // Compartments
        (
            compartment("b"),
            "2:1: expected 'is', 'from', 'as', 'where', 'within', 'around' or 'combines', found '['",
        ),
        (
            compartment("b witin 2 of a"),
            "1:20: expected 'is', 'from', 'as', 'where', 'within', 'around' or 'combines', found 'witin'; did you mean 'within'?",
        ),
        (
            compartment("7 is all"),
            "1:18: expected the id of a compartment, found '7'",
        ),
        (
            compartment("not is all"),
            "1:18: expected the id of a compartment, found 'not'",
        ),
        (
            compartment("\"b\" is all"),
            "1:18: expected the id of a compartment, found the string 'b'",
        ),
        (
            compartment("b as shpere at center"),
            "1:23: expected 'sphere' or 'cuboid', found 'shpere'; did you mean 'sphere'?",
        ),
        (
            compartment("b as sphere at centre with radius 5"),
            "1:33: expected 'start', 'center', 'end' or a point such as 10, 20, 30, found 'centre'; did you mean 'center'?",
        ),
        (
            compartment("b as sphere at 1, 2, z with radius 5"),
            "1:39: expected a coordinate, found 'z'",
        ),
        (
            compartment("b as sphere at end with radius 1e3"),
            "1:49: expected a radius, found '1e3'",
        ),
        (
            compartment("b within radius of a"),
            "1:27: expected a distance, found 'radius'",
        ),
        (
            compartment("b within 0 of a"),
            "1:27: expected a positive distance, found '0'",
        ),
        (
            compartment("b around 5 of 6"),
            "1:32: expected the id of a compartment, found '6'",
        ),
        (
            compartment("b where w > 5"),
            "1:26: expected a limit such as x > 20, found 'w'",
        ),
        (
            compartment("b where x = 5"),
            "1:28: expected '<' or '>', found '='",
        ),
        (
            compartment("b where 5 < x < 6"),
            "1:32: expected the id of a compartment, found '<'",
        ),
        (
            compartment("b where 5 < (x)"),
            "1:30: expected an axis (x, y or z), found '('",
        ),
        (
            compartment("b combines (a and a"),
            "2:1: expected 'and', 'or' or ')', found '['",
        ),
        (
            compartment("b combines a and"),
            "2:1: expected the id of a compartment, found '['",
        ),
        (
            compartment("b combines cell"),
            "1:29: expected the id of a compartment, found 'cell'",
        ),
        (
            compartment("b is all\nb is all"),
            "2:1: expected a new id, found 'b', the id of the compartment at 1:18",
        ),
        (
            compartment("b within 1 of b"),
            "1:18: the compartment 'b' depends on itself: b → b",
        ),
        (
            compartment("e combines a or d\nb combines d and a c combines not b d around 1 of c"),
            "2:1: the compartment 'b' depends on itself: b → d → c → b",
        ),
        // Constraints
        (
            constraint("r rotate x"),
            "1:19: expected 'rotates', found 'rotate'; did you mean 'rotates'?",
        ),
        (
            constraint("r rotates w"),
            "1:27: expected an axis (x, y or z), found 'w'",
        ),
        (
            constraint("r rotates x,"),
            "2:1: expected an axis (x, y or z), found '['",
        ),
        (
            constraint("r rotates x\nr rotates y"),
            "2:1: expected a new id, found 'r', the id of the constraint at 1:17",
        ),
        // Segments
        (
            segment("300 from \"p.pdb\" in a"),
            "1:14: expected the name of a segment, found '300'",
        ),
        (
            segment("p:LONGTAG 300 from \"p.pdb\" in a"),
            "1:16: expected a tag of at most 5 letters, found 'LONGTAG' with 7",
        ),
        (
            segment("p: 300 from \"p.pdb\" in a"),
            "1:17: expected a tag, found '300'",
        ),
        (
            segment("p 1.5 mM from \"p.pdb\" in a"),
            "1:16: expected a number of molecules such as 300 or a concentration such as 1.5mM, found '1.5'",
        ),
        (
            segment("p -1mM from \"p.pdb\" in a"),
            "1:16: expected a number of molecules such as 300 or a concentration such as 1.5mM, found '-1mM'",
        ),
        (
            segment("p 1fM from \"p.pdb\" in a"),
            "1:16: expected a number of molecules such as 300 or a concentration such as 1.5mM, found '1fM'",
        ),
        (
            segment("p 300 form \"p.pdb\" in a"),
            "1:20: expected 'from', found 'form'; did you mean 'from'?",
        ),
        (
            segment("p 300 from p.pdb in a"),
            "1:25: expected a path in double quotes, found 'p.pdb'",
        ),
        (
            segment("p 300 from \"p.pdb\""),
            "2:1: expected 'in', found '['",
        ),
        (
            segment("p 300 from \"p.pdb\" in"),
            "2:1: expected the id of a compartment, found '['",
        ),
        (
            segment("p 300 from \"p.pdb\" in a,"),
            "2:1: expected the id of a compartment, found '['",
        ),
        (
            segment("p 300 from \"µ.pdb\" in b"),
            "1:36: expected the id of a compartment, found 'b'",
        ),
        (
            segment("p 300 from \"p.pdb\" in a satisfies flat"),
            "1:48: expected the id of a constraint, found 'flat'",
        ),
        (
            "[ space ] dimensions 1, 1, 1 [ constraints ] upright rotates z [ compartments ] cytosol is all\n[ segments ] p 3 from \"p.pdb\" in cytosl"
                .to_owned(),
            "2:34: expected the id of a compartment, found 'cytosl'; did you mean 'cytosol'?",
        ),
        (
            "[ space ] dimensions 1, 1, 1 [ constraints ] upright rotates z [ compartments ] cytosol is all\n[ segments ] p 3 from \"p.pdb\" in cytosol satisfies Upright"
                .to_owned(),
            "2:52: expected the id of a constraint, found 'Upright'; did you mean 'upright'?",
        ),
        (
            "[ segments ] p".to_owned(),
            "1:15: expected a number of molecules such as 300 or a concentration such as 1.5mM, found the end of the file",
        ),
    ]
    .map(|(text, message)| (text, message.to_owned()))
    .into_iter()
    .chain([
        (
            space(&format!("resolution {huge}")),
            format!("1:22: expected a resolution that is not so large, found '{shortened}'"),
        ),
        (
            segment(&format!("p {huge}M from \"p.pdb\" in a")),
            format!("1:16: expected a number of molecules such as 300 or a concentration such as 1.5mM, found '{shortened}'"),
        ),
    ])
    .collect();
    for (text, expected) in cases {
        assert_eq!(message(&text), format!("test.bent:{expected}"), "{text}");
    }
}

#[test]
fn bytes_that_are_not_text_are_located() {
    let not_text = "found bytes that are not UTF-8 text; save the file as UTF-8";
    let mut latin = b"[ space ]\n# 5 \xb5m".to_vec();
    assert_eq!(message(&latin), format!("test.bent:2:5: {not_text}"));
    latin.splice(0..0, *b"\xef\xbb\xbf");
    assert_eq!(message(&latin), format!("test.bent:2:5: {not_text}"));
    assert_eq!(message([0xff, 0xfe]), format!("test.bent:1:1: {not_text}"));
}

#[test]
fn lines_and_columns_count_characters_with_any_line_end() {
    for line_end in ["\n", "\r\n", "\r"] {
        let text = ["# µ", "[ space ]", "  dimensions µ"].join(line_end);
        let expected = "test.bent:3:14: expected a length, found 'µ'";
        assert_eq!(message(&text), expected);
        assert_eq!(message(format!("\u{feff}{text}")), expected);
    }
}

#[test]
fn nesting_is_limited_and_chains_are_not() {
    let nested = |depth: usize| {
        let open = "(".repeat(depth);
        file_with(
            "compartments",
            &format!("b combines {open}a{}", ")".repeat(depth)),
        )
    };
    read(&nested(MAX_NESTING));
    let error = BentFile::read(nested(MAX_NESTING + 1), "test.bent").unwrap_err();
    assert_eq!(error.kind, BentErrorKind::TooDeep);
    assert_eq!(error.location, at(1, 29 + MAX_NESTING));
    let deep = "test.bent:1:93: expected at most 64 nested '(' and 'not'";
    assert_eq!(message(nested(1_000_000)), deep);
    let negated = format!("b combines {} a", "not ".repeat(1_000_000));
    assert!(message(file_with("compartments", &negated)).ends_with("nested '(' and 'not'"));
    let negated = format!("b where {} x > 1", "not (".repeat(1_000_000));
    assert!(message(file_with("compartments", &negated)).ends_with("nested '(' and 'not'"));

    let chain = vec!["a"; 100_000].join(" and ");
    let expression = combination(&chain);
    assert_eq!(expression.terms().len(), 100_000);
    assert!(expression.holds(&|_| true));
    assert_eq!(expression.clone(), expression);
}

#[test]
fn long_chains_of_compartments_need_no_deep_stack() {
    let count = 100_000;
    let chain: String = (0..count)
        .map(|index| format!("c{index} within 1 of c{}\n", index + 1))
        .collect();
    let open = format!("{chain} c{count} is all");
    let file = read(&file_with("compartments", &open));
    assert_eq!(file.compartments.len(), count + 2);
    let closed = format!("{chain} c{count} within 1 of c0");
    let error = BentFile::read(file_with("compartments", &closed), "x").unwrap_err();
    let BentErrorKind::Cycle { id, cycle } = error.kind else {
        panic!("{error}");
    };
    assert_eq!((id.as_str(), cycle.len()), ("c0", count + 2));
}

#[test]
fn every_prefix_of_a_file_is_read_or_rejected() {
    for end in (0..COMPLETE.len()).filter(|end| COMPLETE.is_char_boundary(*end)) {
        check(&COMPLETE.as_bytes()[..end]);
    }
}

/// The seed corpus of the fuzzer contains valid files.
#[test]
fn the_fuzz_corpus_is_read() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/fuzz/corpus/read_bent");
    // The published crate does not contain the corpus.
    let Ok(files) = std::fs::read_dir(folder) else {
        return;
    };
    for path in files.map(|file| file.unwrap().path()) {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.starts_with("hand-") {
            let bytes = std::fs::read(&path).unwrap();
            BentFile::read(&bytes, &name).unwrap();
        }
    }
}

/// Reads the bytes and checks what the reader promises.
fn check(bytes: &[u8]) {
    match BentFile::read(bytes, "case") {
        Ok(file) => {
            for segment in &file.segments {
                for id in &segment.compartments {
                    assert!(file.compartment(id).is_some());
                }
                for id in &segment.rules {
                    assert!(file.constraint(id).is_some());
                }
            }
            for compartment in &file.compartments {
                for id in compartment.shape.references() {
                    assert!(file.compartment(id).is_some());
                }
            }
            assert!(file.space.dimensions.iter().all(|length| *length > 0.0));
        }
        Err(error) => {
            let lines = bytes.split(|byte| matches!(byte, b'\n' | b'\r')).count();
            assert!((1..=lines.max(1)).contains(&error.location.line), "{error}");
            assert!(error.to_string().starts_with("case:"));
        }
    }
}

/// A modification of a file; positions are fractions of its length.
#[derive(Clone, Debug)]
enum Change {
    Set(f64, u8),
    Insert(f64, &'static str),
    Cut(f64),
    Remove(f64, usize),
    Repeat(f64, usize),
}

/// Text that changes the structure of a file.
const PIECES: [&str; 22] = [
    "(",
    ")",
    "[",
    "]",
    ",",
    ":",
    "<",
    ">",
    "\"",
    "#",
    " not ",
    " and ",
    " or ",
    "\r",
    "µM",
    "\u{feff}",
    "-",
    "1e9",
    "<x>",
    "[ space ]",
    " in ",
    "\n",
];

fn change() -> impl Strategy<Value = Change> {
    let position = || 0.0..1.0;
    prop_oneof![
        3 => (position(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        4 => (position(), prop::sample::select(&PIECES[..]))
            .prop_map(|(at, piece)| Change::Insert(at, piece)),
        1 => position().prop_map(Change::Cut),
        2 => (position(), 1..60_usize).prop_map(|(at, count)| Change::Remove(at, count)),
        2 => (position(), 1..60_usize).prop_map(|(at, count)| Change::Repeat(at, count)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    if bytes.is_empty() {
        return;
    }
    let length = bytes.len();
    let index = |at: f64| ((at * length as f64) as usize).min(length - 1);
    match *change {
        Change::Set(at, byte) => bytes[index(at)] = byte,
        Change::Insert(at, piece) => {
            bytes.splice(index(at)..index(at), piece.bytes());
        }
        Change::Cut(at) => bytes.truncate(index(at)),
        Change::Remove(at, count) => {
            bytes.drain(index(at)..(index(at) + count).min(length));
        }
        Change::Repeat(at, count) => {
            let piece = bytes[index(at)..(index(at) + count).min(length)].to_vec();
            bytes.splice(index(at)..index(at), piece);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]

    #[test]
    fn random_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        check(&bytes);
    }

    #[test]
    fn random_words_never_panic(
        text in "([ \\[\\](),:<>\"#\n]|space|segments|compartments|dimensions|[0-9.]{1,4}|mM|where|combines|not |and |or |is all|within|of |in |x|a){0,100}"
    ) {
        check(text.as_bytes());
    }

    #[test]
    fn damaged_files_never_panic(changes in prop::collection::vec(change(), 1..6)) {
        let mut bytes = COMPLETE.as_bytes().to_vec();
        for change in &changes {
            apply(&mut bytes, change);
        }
        check(&bytes);
    }

    /// A number that is written and read is the same.
    #[test]
    fn numbers_round_trip(value in -1e6..1e6_f64) {
        let expected = CompartmentShape::Where(limit(Axis::X, Comparison::Less, value));
        prop_assert_eq!(shape(&format!("where x < {value}")), expected);
    }
}
