//! Malformed recipes: each is rejected in one sentence with the file, the path of keys in it, what
//! is wrong there and, if there is one, a suggestion.

use bevy_rapier_molecules::recipe::populate;
use serde_json::{Value, json};

use super::packed_spheres::{change, folder, read, try_read, try_read_text};

/// A valid recipe, which the tests damage.
fn recipe_with(changes: &Value) -> Value {
    let mut recipe = json!({
        "name": "cell",
        "format_version": "2.1",
        "bounding_box": [[-100, -100, -100], [100, 100, 100]],
        "gradients": { "side": { "mode": "x" } },
        "objects": {
            "ball": { "type": "single_sphere", "radius": 5 },
            "shell": { "type": "single_sphere", "radius": 60 },
            "ubiquitin": { "representations": { "atomic": { "id": "1ubq" } } },
            "popc": { "representations": { "atomic": { "id": "popc" } } },
        },
        "composition": {
            "space": { "regions": { "interior": ["cell", "balls"] } },
            "cell": { "object": "shell", "regions": { "interior": [{ "object": "ball", "count": 2 }] } },
            "balls": { "object": "ball", "count": 5 },
        },
        "bevy_rapier_molecules": { "objects": { "popc": { "conformers": 1 } } },
    });
    change(&mut recipe, changes);
    recipe
}

/// The sentence after the name of the file; files of the recipe are in FOLDER.
fn sentence(error: &str) -> String {
    let folder = folder("tests/data/recipes");
    let error = error.replace(&*folder.to_string_lossy(), "FOLDER");
    let sentence = error.strip_prefix("cell.json: ").unwrap_or(&error);
    assert!(!sentence.contains('\n'), "{sentence}");
    sentence.to_owned()
}

/// Checks the sentences with which changed recipes are rejected.
fn rejected<const N: usize>(cases: [(Value, &str); N]) {
    for (changes, expected) in cases {
        let error = try_read(&recipe_with(&changes)).map(|_| "no error".to_owned());
        assert_eq!(
            sentence(&error.unwrap_or_else(|error| error)),
            expected,
            "{changes}"
        );
    }
}

/// Checks the sentences of errors of recipes that can be read but not filled.
fn not_filled<const N: usize>(cases: [(Value, &str); N]) {
    for (changes, expected) in cases {
        let error = populate(&read(&recipe_with(&changes)), None).unwrap_err();
        assert_eq!(sentence(&error.to_string()), expected, "{changes}");
    }
}

#[test]
fn the_recipe_that_is_damaged_is_valid() {
    let recipe = read(&recipe_with(&json!({})));
    assert_eq!(populate(&recipe, None).unwrap().crowd.members().len(), 7);
}

#[test]
fn text_that_is_no_recipe_is_rejected() {
    for (text, expected) in [
        (
            "",
            "invalid JSON: EOF while parsing a value at line 1 column 0",
        ),
        (
            "{\n \"name\": \"a\",\n",
            "invalid JSON: EOF while parsing a value at line 3 column 0",
        ),
        (
            "{ \"name\": NaN }",
            "invalid JSON: expected value at line 1 column 11",
        ),
        (
            "{ \"composition\": { \"a\": { \"molarity\": 1e999 } } }",
            "invalid JSON: number out of range at line 1 column 43",
        ),
        (
            "[]",
            "expected an object with objects and composition, found a list",
        ),
        (
            "5",
            "expected an object with objects and composition, found a number",
        ),
        (
            "{}",
            "format_version: format version 1.0 is not supported, expected 2.0 or 2.1; cellPACK's `convert` writes 2.1 from older recipes; without the key format_version it is 1.0",
        ),
        (
            "{ \"format_version\": \"2.1\" }",
            "name: expected the name of the recipe, found none",
        ),
    ] {
        assert_eq!(
            sentence(&try_read_text(text).unwrap_err()),
            expected,
            "{text}"
        );
    }
    let deep = "[".repeat(200);
    let error = try_read_text(&format!("{{\"objects\":{deep}")).unwrap_err();
    assert!(
        error.starts_with("cell.json: invalid JSON: recursion limit exceeded"),
        "{error}"
    );
    // A mark at the beginning, which some editors write, is no error.
    let marked = format!("\u{feff}{}", recipe_with(&json!({})));
    assert!(try_read_text(&marked).is_ok());
}

#[test]
fn keys_of_the_file_are_checked() {
    rejected([
        (
            json!({ "name": null }),
            "name: expected the name of the recipe, found none",
        ),
        (
            json!({ "name": "  " }),
            "name: expected the name of the recipe, found none",
        ),
        (json!({ "name": 3 }), "name: expected text, found 3"),
        (
            json!({ "format_version": null }),
            "format_version: format version 1.0 is not supported, expected 2.0 or 2.1; cellPACK's `convert` writes 2.1 from older recipes; without the key format_version it is 1.0",
        ),
        (
            json!({ "format_version": "1.0" }),
            "format_version: format version 1.0 is not supported, expected 2.0 or 2.1; cellPACK's `convert` writes 2.1 from older recipes; without the key format_version it is 1.0",
        ),
        (
            json!({ "format_version": 3 }),
            "format_version: format version 3 is not supported, expected 2.0 or 2.1; cellPACK's `convert` writes 2.1",
        ),
        (
            json!({ "format_version": "2.2" }),
            "format_version: format version 2.2 is not supported, expected 2.0 or 2.1; cellPACK's `convert` writes 2.1",
        ),
        (
            json!({ "format_version": "latest" }),
            "format_version: format version latest is not supported, expected 2.0 or 2.1; cellPACK's `convert` writes 2.1",
        ),
        (
            json!({ "format_version": [2, 1] }),
            "format_version: expected a version such as \"2.1\", found a list",
        ),
        (
            json!({ "bounding_box": [[0, 0, 0], [100, 0, 100]] }),
            "bounding_box: the first corner must be below the second one, not 0 to 0 along y",
        ),
        (
            json!({ "bounding_box": [[100, 100, 100], [0, 0, 0]] }),
            "bounding_box: the first corner must be below the second one, not 100 to 0 along x",
        ),
        (
            json!({ "bounding_box": [[0, 0, 0], [100, 100]] }),
            "bounding_box[1]: expected a list of 3, found a list of 2",
        ),
        (
            json!({ "bounding_box": [[0, 0, 0], [100, 100, "a"]] }),
            "bounding_box[1][2]: expected a number, found \"a\"",
        ),
        (
            json!({ "bounding_box": [[0, 0, 0], [1e9, 1, 1]] }),
            "bounding_box: a corner must be finite and at most 0.1 mm, not 1000000000",
        ),
        (
            json!({ "randomness_seed": -1 }),
            "randomness_seed: expected a whole number, at least 0, found -1",
        ),
        (
            json!({ "objects": [] }),
            "objects: expected an object, found a list",
        ),
        (
            json!({ "composition": [] }),
            "composition: expected an object, found a list",
        ),
        (
            json!({ "bevy_rapier_molecules": { "unit": "inch" } }),
            "bevy_rapier_molecules.unit: expected one of 'a', 'angstrom', 'angstroms', 'Å', 'nanometer', 'nanometers', 'nm', found 'inch'",
        ),
        (
            json!({ "bevy_rapier_molecules": { "tolerance": -2 } }),
            "bevy_rapier_molecules.tolerance: the tolerance must be positive and at most 0.1 mm, not -2",
        ),
        (
            json!({ "bevy_rapier_molecules": { "periodic": "yes" } }),
            "bevy_rapier_molecules.periodic: expected true or false, found \"yes\"",
        ),
    ]);
}

#[test]
fn fields_of_objects_are_checked() {
    rejected([
        (
            json!({ "objects": { "ball": 5 } }),
            "objects.ball: expected an object, found 5",
        ),
        (
            json!({ "objects": { "ball": { "type": "sphere" } } }),
            "objects.ball.type: expected one of 'single_sphere', 'multi_sphere', 'single_cube', 'single_cylinder', 'multi_cylinder', 'grow', 'mesh', found 'sphere'",
        ),
        (
            json!({ "objects": { "ball": { "type": "single_sphre" } } }),
            "objects.ball.type: expected one of 'single_sphere', 'multi_sphere', 'single_cube', 'single_cylinder', 'multi_cylinder', 'grow', 'mesh', found 'single_sphre'; did you mean 'single_sphere'?",
        ),
        (
            json!({ "objects": { "ball": { "type": null } } }),
            "objects.ball.type: expected a type: single_sphere, multi_sphere or mesh",
        ),
        (
            json!({ "objects": { "ball": { "radius": null } } }),
            "objects.ball.radius: expected the radius of a single sphere",
        ),
        (
            json!({ "objects": { "ball": { "radius": 0 } } }),
            "objects.ball.radius: the radius must be positive and at most 0.1 mm, not 0",
        ),
        (
            json!({ "objects": { "ball": { "radius": -10 } } }),
            "objects.ball.radius: the radius must be positive and at most 0.1 mm, not -10",
        ),
        (
            json!({ "objects": { "ball": { "radius": "10" } } }),
            "objects.ball.radius: expected a number, found \"10\"",
        ),
        (
            json!({ "objects": { "ball": { "radius": 1e12 } } }),
            "objects.ball.radius: the radius must be positive and at most 0.1 mm, not 1000000000000",
        ),
        (
            json!({ "objects": { "ball": { "inherit": "bal" } } }),
            "objects.ball.inherit: there is no object 'bal'; did you mean 'ball'?",
        ),
        (
            json!({ "objects": { "ball": { "inherit": "protein" } } }),
            "objects.ball.inherit: there is no object 'protein'",
        ),
        (
            json!({ "objects": { "ball": { "inherit": "ball" } } }),
            "objects.ball.inherit: objects inherit from each other in a circle: ball → ball",
        ),
        (
            json!({ "objects": { "a": { "inherit": "b" }, "b": { "inherit": "ball" }, "ball": { "inherit": "a" } } }),
            "objects.ball.inherit: objects inherit from each other in a circle: a → b → ball → a",
        ),
        (
            json!({ "objects": { "ball": { "inherit": ["a"] } } }),
            "objects.ball.inherit: expected text, found a list",
        ),
        (
            json!({ "objects": { "ball": { "color": [0.5, 1.5, 0] } } }),
            "objects.ball.color: a color must be from 0 to 1, not 1.5",
        ),
        (
            json!({ "objects": { "ball": { "color": [255, 0, 0] } } }),
            "objects.ball.color: a color must be from 0 to 1, not 255",
        ),
        (
            json!({ "objects": { "ball": { "color": [1, 0] } } }),
            "objects.ball.color: expected a list of 3, found a list of 2",
        ),
        (
            json!({ "objects": { "ball": { "principal_vector": [0, 0, 0] } } }),
            "objects.ball.principal_vector: the axis must be finite and not zero, not [0.0, 0.0, 0.0]",
        ),
        (
            json!({ "objects": { "ball": { "packing_mode": "densely" } } }),
            "objects.ball.packing_mode: expected one of 'random', 'close', 'closePartner', 'randomPartner', 'gradient', 'hexatile', 'squaretile', 'triangletile', found 'densely'",
        ),
        (
            json!({ "objects": { "ball": { "perturb_axis_amplitude": -0.1 } } }),
            "objects.ball.perturb_axis_amplitude: the amplitude must be at least 0, not -0.1",
        ),
        (
            json!({ "objects": { "ball": { "rotation_axis": [0, 0, 1], "rotation_range": -1, "use_rotation_axis": true } } }),
            "objects.ball.rotation_range: the range must be at least 0, not -1",
        ),
        (
            json!({ "objects": { "ball": { "cutoff_boundary": 1e12 } } }),
            "composition.balls.cutoff_boundary: the distance must be finite and at most 0.1 mm, not 1000000000000",
        ),
        (
            json!({ "objects": { "ball": { "type": "grow" } } }),
            "objects.ball.type: an ingredient of type grow is not supported; make it a fiber in the block bevy_rapier_molecules: objects.NAME.fiber and composition.NAME.fiber",
        ),
        (
            json!({ "objects": { "ball": { "type": "multi_cylinder" } } }),
            "objects.ball.type: an ingredient of type multi_cylinder is not supported; make it a fiber in the block bevy_rapier_molecules: objects.NAME.fiber and composition.NAME.fiber",
        ),
        (
            json!({ "objects": { "ball": { "type": "single_cube" } } }),
            "objects.ball.type: an ingredient of type single_cube is not supported; use multi_sphere with spheres that fill it",
        ),
        (
            json!({ "objects": { "ball": { "type": "mesh" } } }),
            "objects.ball.type: an ingredient of type mesh is not supported; give representations.packing (.sph) or representations.atomic, or use it as a compartment",
        ),
        (
            json!({ "objects": { "ball": { "type": "multi_sphere" } } }),
            "objects.ball.representations.packing: expected a .sph file, or positions and radii",
        ),
    ]);
}

#[test]
fn files_of_objects_are_checked() {
    rejected([
        (
            json!({ "objects": { "ball": { "representations": { "packing": { "name": "none.sph", "path": "shapes" } }, "type": "multi_sphere" } } }),
            "objects.ball.representations.packing: there is no file 'FOLDER/shapes/none.sph'",
        ),
        (
            json!({ "objects": { "ball": { "representations": { "packing": { "name": "sphere_2.obj", "path": "shapes" } }, "type": "multi_sphere" } } }),
            "objects.ball.representations.packing: FOLDER/shapes/sphere_2.obj, line 2: found 'v -1.051462 1.701302 0.000000', expected the smallest and the largest radius",
        ),
        (
            json!({ "objects": { "ball": { "representations": { "packing": { "path": "shapes" } }, "type": "multi_sphere" } } }),
            "objects.ball.representations.packing.name: expected the name of a file",
        ),
        (
            json!({ "objects": { "ball": { "representations": { "packing": { "positions": [[[0, 0, 0]]], "radii": [[1, 2]] } }, "type": "multi_sphere" } } }),
            "objects.ball.representations.packing: the numbers of positions and radii must be the same, not 1 and 2",
        ),
        (
            json!({ "objects": { "ball": { "representations": { "packing": { "positions": [], "radii": [] } }, "type": "multi_sphere" } } }),
            "objects.ball.representations.packing: expected at least one level of spheres",
        ),
        (
            json!({ "objects": { "ball": { "representations": { "packing": { "positions": [[]], "radii": [[]] } }, "type": "multi_sphere" } } }),
            "objects.ball.representations.packing: expected at least one sphere",
        ),
        (
            json!({ "objects": { "ball": { "representations": { "packing": { "positions": [[[0, 0, 0]]], "radii": [[-1]] } }, "type": "multi_sphere" } } }),
            "objects.ball.representations.packing: a radius must be positive and at most 0.1 mm, not -1",
        ),
        (
            json!({ "objects": { "ball": { "representations": { "packing": { "name": "broken.sph", "path": "shapes" } }, "type": "multi_sphere" } } }),
            "objects.ball.representations.packing: FOLDER/shapes/broken.sph, line 5: the file ends, expected the center and the radius of a sphere; it may be truncated",
        ),
        (
            json!({ "objects": { "shell": { "type": "mesh" } } }),
            "objects.shell.representations.mesh: expected the file of the mesh",
        ),
        (
            json!({ "objects": { "shell": { "representations": { "mesh": { "path": "shapes" } }, "type": "mesh" } } }),
            "objects.shell.representations.mesh.name: expected the name of a file",
        ),
        (
            json!({ "objects": { "shell": { "representations": { "mesh": { "name": "none.obj", "path": "shapes" } }, "type": "mesh" } } }),
            "objects.shell.representations.mesh: there is no file 'FOLDER/shapes/none.obj'",
        ),
        (
            json!({ "objects": { "shell": { "representations": { "mesh": { "name": "secret.obj", "path": ".." } }, "type": "mesh" } } }),
            "objects.shell.representations.mesh: '../secret.obj' is outside of the folder of the recipe; move the file, or allow it (--allow-outside)",
        ),
        (
            json!({ "objects": { "shell": { "representations": { "mesh": { "name": "secret.obj", "path": "/etc" } }, "type": "mesh" } } }),
            "objects.shell.representations.mesh: '/etc/secret.obj' is outside of the folder of the recipe; move the file, or allow it (--allow-outside)",
        ),
        (
            json!({ "objects": { "shell": { "representations": { "mesh": { "name": "a.obj", "path": "github:cells" } }, "type": "mesh" } } }),
            "objects.shell.representations.mesh: 'github:cells/a.obj' is on a network, and nothing is fetched; give a path next to the recipe",
        ),
        (
            json!({ "objects": { "shell": { "representations": { "mesh": { "name": "a.obj", "path": "default" } }, "type": "mesh" } } }),
            "objects.shell.representations.mesh: 'default/a.obj' is on a network, and nothing is fetched; give a path next to the recipe",
        ),
        (
            json!({ "objects": { "shell": { "representations": { "mesh": { "name": "HTTPS://a.b/c.obj" } }, "type": "mesh" } } }),
            "objects.shell.representations.mesh: 'HTTPS://a.b/c.obj' is on a network, and nothing is fetched; give a path next to the recipe",
        ),
        (
            json!({ "objects": { "shell": { "representations": { "mesh": { "name": "cluster.sph", "path": "shapes" } }, "type": "mesh" } } }),
            "objects.shell.representations.mesh: FOLDER/shapes/cluster.sph: unknown mesh format; use the extension .obj, .stl or .ply, or give the format",
        ),
        (
            json!({ "objects": { "shell": { "representations": { "mesh": { "name": "open.obj", "path": "shapes" } }, "type": "mesh" } } }),
            "objects.shell.representations.mesh: the mesh is open: no other triangle shares the edge from vertex 2 to 1 of triangle 0",
        ),
        (
            json!({ "objects": { "ball": { "radius": null, "representations": { "atomic": { "id": "1ubg" } }, "type": null } } }),
            "objects.ball.representations.atomic: there is no structure file next to the recipe, nor a bundled one, named '1ubg'; did you mean '1ubq'?",
        ),
        (
            json!({ "objects": { "ball": { "radius": null, "representations": { "atomic": { "id": "8abc" } }, "type": null } } }),
            "objects.ball.representations.atomic: there is no structure file next to the recipe, nor a bundled one, named '8abc'",
        ),
        (
            json!({ "objects": { "ball": { "radius": null, "representations": { "atomic": { "name": "none.pdb" } }, "type": null } } }),
            "objects.ball.representations.atomic: there is no file 'FOLDER/none.pdb'",
        ),
        (
            json!({ "objects": { "ball": { "radius": null, "representations": { "atomic": { "name": "1ubq", "path": ".." } }, "type": null } } }),
            "objects.ball.representations.atomic: '../1ubq' is outside of the folder of the recipe; move the file, or allow it (--allow-outside)",
        ),
        (
            json!({ "objects": { "ball": { "radius": null, "representations": { "atomic": {} }, "type": null } } }),
            "objects.ball.representations.atomic: expected the name or id of a structure file",
        ),
        (
            json!({ "objects": { "ball": { "radius": null, "representations": { "atomic": { "id": 5 } }, "type": null } } }),
            "objects.ball.representations.atomic.id: expected text, found 5",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ball": { "chains": ["Z"] } } }, "objects": { "ball": { "radius": null, "representations": { "atomic": { "id": "1ubq" } }, "type": null } } }),
            "bevy_rapier_molecules.objects.ball: 1ubq.cif: no chain 'Z'; the file has 'A'",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ball": { "assembly": "9" } } }, "objects": { "ball": { "radius": null, "representations": { "atomic": { "id": "1ubq" } }, "type": null } } }),
            "bevy_rapier_molecules.objects.ball: 1ubq.cif: no assembly '9'; the file has '1'",
        ),
    ]);
}

#[test]
fn the_tree_of_compartments_is_checked() {
    rejected([
        (
            json!({ "composition": null }),
            "composition: expected an entry with regions, found none",
        ),
        (
            json!({ "composition": { "balls": { "count": 5, "object": "ball" }, "cell": null, "space": null } }),
            "composition.balls: expected the regions of the bounding box",
        ),
        (
            json!({ "composition": { "other": { "count": 1, "object": "ball" } } }),
            "composition: expected one entry that no region refers to, found 'other' and 'space'; list all others in a region",
        ),
        (
            json!({ "composition": { "cell": { "regions": { "interior": ["space"] } } } }),
            "composition: expected one entry that no region refers to, but each is in a region of another",
        ),
        (
            json!({ "composition": { "space": { "regions": { "interior": ["cell", "balls", "cel"] } } } }),
            "composition.space.regions.interior[2]: there is no entry of the composition 'cel'; did you mean 'cell'?",
        ),
        (
            json!({ "composition": { "space": { "regions": { "interior": ["cell", "balls", 7] } } } }),
            "composition.space.regions.interior[2]: expected the name of an entry or an object, found a number",
        ),
        (
            json!({ "composition": { "space": { "regions": { "interior": "cell" } } } }),
            "composition.space.regions.interior: expected a list, found \"cell\"",
        ),
        (
            json!({ "composition": { "space": { "regions": { "interior": ["cell", "cell", "balls"] } } } }),
            "composition.space.regions.interior[1]: the compartment 'cell' is in two regions",
        ),
        (
            json!({ "composition": { "space": { "regions": { "interior": ["balls"], "surface": ["cell"] } } } }),
            "composition.space.regions.surface: a surface of the bounding box is not supported; put the items into interior, or into a compartment",
        ),
        (
            json!({ "composition": { "space": { "regions": { "outer_leaflet": ["balls"] } } } }),
            "composition.space.regions.outer_leaflet: a surface of the bounding box is not supported; put the items into interior, or into a compartment",
        ),
        (
            json!({ "composition": { "cell": { "regions": { "surface": ["nucleus"] } }, "nucleus": { "object": "shell", "regions": {} } } }),
            "composition.cell.regions.surface[0]: the compartment 'nucleus' in a region surface is not supported; put it into interior",
        ),
        (
            json!({ "composition": { "balls": { "object": "bal" } } }),
            "composition.balls.object: there is no object 'bal'; did you mean 'ball'?",
        ),
        (
            json!({ "composition": { "balls": { "object": "virus" } } }),
            "composition.balls.object: there is no object 'virus'",
        ),
        (
            json!({ "composition": { "balls": { "object": null } } }),
            "composition.balls: expected an object, regions, or both",
        ),
        (
            json!({ "composition": { "balls": 5 } }),
            "composition.balls: expected an object, found 5",
        ),
        (
            json!({ "composition": { "cell": { "object": null } } }),
            "composition.cell.object: expected the object with the shape of the compartment",
        ),
        (
            json!({ "composition": { "cell": { "object": "shel" } } }),
            "composition.cell.object: there is no object 'shel'; did you mean 'shell'?",
        ),
        (
            json!({ "composition": { "cell": { "regions": { "interior": [{ "count": 3 }] } } } }),
            "composition.cell.regions.interior[0].object: expected the name of an object",
        ),
        (
            json!({ "composition": { "cell": { "regions": { "interior": [{ "count": "3", "object": "ball" }] } } } }),
            "composition.cell.regions.interior[0].count: expected a number, found \"3\"",
        ),
        (
            json!({ "composition": { "cell": { "regions": { "interior": [{ "count": 3, "object": "ball", "radius": [1] }] } } } }),
            "composition.cell.regions.interior[0].radius: expected a number, found a list",
        ),
        (
            json!({ "composition": { "cell": { "regions": { "interior": [{ "count": 3, "object": "baal" }] } } } }),
            "composition.cell.regions.interior[0].object: there is no object 'baal'; did you mean 'ball'?",
        ),
        (
            json!({ "composition": { "cell": { "regions": { "inner-leaflet": [], "inner_leaflet": [] } } } }),
            "composition.cell.regions: the key 'inner_leaflet' is given twice",
        ),
        (
            json!({ "objects": { "shell": { "type": "multi_sphere" } } }),
            "objects.shell.type: a compartment of type multi_sphere is not supported; use single_sphere, single_cube, single_cylinder or mesh, or give a shape in the block bevy_rapier_molecules",
        ),
        (
            json!({ "objects": { "shell": { "type": null } } }),
            "objects.shell.type: expected a type: single_sphere, single_cube, single_cylinder or mesh",
        ),
        (
            json!({ "objects": { "shell": { "type": "single_cube" } } }),
            "objects.shell.bounds: expected two points",
        ),
        (
            json!({ "objects": { "shell": { "bounds": [[0, 0, 0], [10, 0, 10]], "type": "single_cube" } } }),
            "objects.shell: the half extent of a compartment must be positive and finite, but is 0 nm",
        ),
        (
            json!({ "objects": { "shell": { "radius": -5 } } }),
            "objects.shell.radius: the radius must be positive and at most 0.1 mm, not -5",
        ),
        (
            json!({ "objects": { "shell": { "radius": null, "type": "single_cylinder" } } }),
            "objects.shell.bounds: expected two points",
        ),
        (
            json!({ "objects": { "shell": { "bounds": [[0, 0, 0], [10, 0, 10]], "radius": null, "type": "single_cylinder" } } }),
            "objects.shell.radius: expected the radius of the cylinder",
        ),
        (
            json!({ "objects": { "shell": { "bounds": [[0, 0, 0], [0, 0, 0]], "radius": 5, "type": "single_cylinder" } } }),
            "objects.shell.bounds: the ends must be apart from each other, not the same point",
        ),
        (
            json!({ "objects": { "shell": { "type": "grow" } } }),
            "objects.shell.type: a compartment of type grow is not supported; use single_sphere, single_cube, single_cylinder or mesh, or give a shape in the block bevy_rapier_molecules",
        ),
    ]);
}

#[test]
fn numbers_and_distributions_are_checked() {
    rejected([
        (
            json!({ "composition": { "balls": { "count": null } } }),
            "composition.balls: expected a count or a molarity",
        ),
        (
            json!({ "composition": { "balls": { "count": -1 } } }),
            "composition.balls.count: a count must be from 0 to 100,000,000, not -1",
        ),
        (
            json!({ "composition": { "balls": { "count": 1e9 } } }),
            "composition.balls.count: a count must be from 0 to 100,000,000, not 1000000000",
        ),
        (
            json!({ "composition": { "balls": { "molarity": -0.1 } } }),
            "composition.balls.molarity: molarity must be at least 0 mol/l, not -0.1",
        ),
        (
            json!({ "composition": { "balls": { "molarity": "NaN" } } }),
            "composition.balls.molarity: expected a number, found \"NaN\"",
        ),
        (
            json!({ "composition": { "balls": { "count_options": {} } } }),
            "composition.balls.count_options: expected the key 'distribution'",
        ),
        (
            json!({ "composition": { "balls": { "count_options": { "distribution": "poisson" } } } }),
            "composition.balls.count_options.distribution: expected one of 'uniform', 'normal', 'list', found 'poisson'",
        ),
        (
            json!({ "composition": { "balls": { "count_options": { "distribution": "uniform", "min": 3 } } } }),
            "composition.balls.count_options: expected max",
        ),
        (
            json!({ "composition": { "balls": { "count_options": { "distribution": "uniform", "max": 3 } } } }),
            "composition.balls.count_options: expected min",
        ),
        (
            json!({ "composition": { "balls": { "count_options": { "distribution": "uniform", "max": 3, "min": 5 } } } }),
            "composition.balls.count_options.min: min must be at most max, not 5",
        ),
        (
            json!({ "composition": { "balls": { "count_options": { "distribution": "uniform", "max": 3, "min": -5 } } } }),
            "composition.balls.count_options: a count must be from 0 to 100,000,000, not -5",
        ),
        (
            json!({ "composition": { "balls": { "count_options": { "distribution": "normal", "mean": 5 } } } }),
            "composition.balls.count_options: expected std",
        ),
        (
            json!({ "composition": { "balls": { "count_options": { "distribution": "normal", "std": 5 } } } }),
            "composition.balls.count_options: expected mean",
        ),
        (
            json!({ "composition": { "balls": { "count_options": { "distribution": "normal", "mean": 5, "std": -1 } } } }),
            "composition.balls.count_options.std: std must be at least 0, not -1",
        ),
        (
            json!({ "composition": { "balls": { "count_options": { "distribution": "list" } } } }),
            "composition.balls.count_options: expected list_values with at least one value",
        ),
        (
            json!({ "composition": { "balls": { "count_options": { "distribution": "list", "list_values": [] } } } }),
            "composition.balls.count_options: expected list_values with at least one value",
        ),
        (
            json!({ "composition": { "balls": { "count_options": { "distribution": "list", "list_values": [1, -2] } } } }),
            "composition.balls.count_options: a count must be from 0 to 100,000,000, not -2",
        ),
        (
            json!({ "composition": { "balls": { "size_options": { "distribution": "uniform", "max": 10, "min": 0 } } } }),
            "composition.balls.size_options: a radius must be positive and at most 0.1 mm, not 0",
        ),
        (
            json!({ "composition": { "balls": { "size_options": { "distribution": "normal", "mean": -10, "std": 1 } } } }),
            "composition.balls.size_options: a radius must be positive and at most 0.1 mm, not -10",
        ),
        (
            json!({ "composition": { "balls": { "object": "ubiquitin", "size_options": { "distribution": "list", "list_values": [10] } } } }),
            "composition.balls.size_options: a distribution of sizes of another shape than a single sphere is not supported; use the type single_sphere",
        ),
    ]);
}

#[test]
fn gradients_are_checked() {
    rejected([
        (
            json!({ "gradients": "side" }),
            "gradients: expected gradients by name or a list, found text",
        ),
        (
            json!({ "gradients": [{ "mode": "x" }] }),
            "gradients[0].name: expected the name of the gradient",
        ),
        (
            json!({ "gradients": { "side": { "mode": "w" } } }),
            "gradients.side.mode: expected one of 'X', 'x', 'Y', 'y', 'Z', 'z', 'vector', 'radial', 'surface', 'uniform', found 'w'",
        ),
        (
            json!({ "gradients": { "side": { "weight_mode": "quartic" } } }),
            "gradients.side.weight_mode: expected one of 'linear', 'square', 'cube', 'power', 'exponential', found 'quartic'",
        ),
        (
            json!({ "gradients": { "side": { "pick_mode": "best" } } }),
            "gradients.side.pick_mode: expected one of 'max', 'min', 'rnd', 'linear', 'binary', 'sub', 'reg', found 'best'",
        ),
        (
            json!({ "gradients": { "side": { "invert": "both" } } }),
            "gradients.side.invert: expected 'weight', 'distance', true, false or null, found \"both\"",
        ),
        (
            json!({ "objects": { "ball": { "gradient": "sides" } } }),
            "composition.balls.gradient: there is no gradient 'sides'; did you mean 'side'?",
        ),
        (
            json!({ "objects": { "ball": { "gradient": ["side", "up"] } } }),
            "composition.balls.gradient: there is no gradient 'up'",
        ),
        (
            json!({ "objects": { "ball": { "gradient": 5 } } }),
            "objects.ball.gradient: expected the name of a gradient, a gradient, or a list of them, found 5",
        ),
        (
            json!({ "objects": { "ball": { "gradient": ["side"], "gradient_weights": [0] } } }),
            "composition.balls.gradient_weights: one weight must be above 0, not 0 for all",
        ),
        (
            json!({ "objects": { "ball": { "gradient": ["side"], "gradient_weights": [-1] } } }),
            "composition.balls.gradient_weights: a weight must be at least 0, not -1",
        ),
        (
            json!({ "objects": { "ball": { "gradient": ["side"], "gradient_weights": 5 } } }),
            "objects.ball.gradient_weights: expected a list of weights, or weights by name, found 5",
        ),
        (
            json!({ "objects": { "ball": { "gradient": { "mode": "vector" } } } }),
            "composition.balls.gradient.mode_settings.direction: expected the normal of the plane",
        ),
        (
            json!({ "gradients": { "side": { "mode": "vector", "mode_settings": { "direction": [0, 0, 0] } } }, "objects": { "ball": { "gradient": "side" } } }),
            "gradients.side.mode_settings.direction: the direction must be finite and not zero, not [0.0, 0.0, 0.0]",
        ),
        (
            json!({ "gradients": { "side": { "mode": "radial", "mode_settings": { "radius": -5 } } }, "objects": { "ball": { "gradient": "side" } } }),
            "gradients.side.mode_settings.radius: the radius must be positive and at most 0.1 mm, not -5",
        ),
        (
            json!({ "gradients": { "side": { "mode": "surface" } }, "objects": { "ball": { "gradient": "side" } } }),
            "gradients.side.mode_settings.object: expected the name of a compartment",
        ),
        (
            json!({ "gradients": { "side": { "mode": "surface", "mode_settings": { "object": "cells" } } }, "objects": { "ball": { "gradient": "side" } } }),
            "gradients.side.mode_settings.object: there is no compartment 'cells'; did you mean 'cell'?",
        ),
        (
            json!({ "gradients": { "side": { "mode": "surface", "mode_settings": { "object": "space" } } }, "objects": { "ball": { "gradient": "side" } } }),
            "gradients.side.mode_settings.object: there is no compartment 'space'",
        ),
        (
            json!({ "gradients": { "side": { "weight_mode": "power" } }, "objects": { "ball": { "gradient": "side" } } }),
            "gradients.side.weight_mode_settings.power: expected the exponent",
        ),
        (
            json!({ "gradients": { "side": { "weight_mode": "power", "weight_mode_settings": { "power": 0 } } }, "objects": { "ball": { "gradient": "side" } } }),
            "gradients.side.weight_mode_settings.power: the exponent must be positive, not 0",
        ),
        (
            json!({ "gradients": { "side": { "weight_mode": "exponential", "weight_mode_settings": { "decay_length": -1 } } }, "objects": { "ball": { "gradient": "side" } } }),
            "gradients.side.weight_mode_settings.decay_length: the decay length must be at least 0, not -1",
        ),
    ]);
}

#[test]
fn partners_are_checked() {
    rejected([
        (
            json!({ "objects": { "ball": { "partners": [{ "name": "shel" }] } } }),
            "composition.balls.partners[0].name: there is no object or entry 'shel'",
        ),
        (
            json!({ "objects": { "ball": { "partners": [{ "name": "bals" }] } } }),
            "composition.balls.partners[0].name: there is no object or entry 'bals'; did you mean 'ball'?",
        ),
        (
            json!({ "objects": { "ball": { "partners": [{ "name": "virus" }] } } }),
            "composition.balls.partners[0].name: there is no object or entry 'virus'",
        ),
        (
            json!({ "objects": { "ball": { "partners": [{ "binding_probability": 1 }] } } }),
            "objects.ball.partners[0]: expected the key 'name'",
        ),
        (
            json!({ "objects": { "ball": { "partners": [{ "binding_probability": 2, "name": "ball" }] } } }),
            "composition.balls.partners[0].binding_probability: a probability must be from -1 to 1, not 2",
        ),
        (
            json!({ "objects": { "ball": { "partners": [{ "binding_probability": -1.5, "name": "ball" }] } } }),
            "composition.balls.partners[0].binding_probability: a probability must be from -1 to 1, not -1.5",
        ),
        (
            json!({ "objects": { "ball": { "partners": [{ "name": "ball", "weight": -1 }] } } }),
            "composition.balls.partners[0].weight: a weight must be at least 0, not -1",
        ),
        (
            json!({ "objects": { "ball": { "partners": [{ "name": "ball", "position": [1, 2] }] } } }),
            "objects.ball.partners[0].position: expected a list of 3, found a list of 2",
        ),
        (
            json!({ "objects": { "ball": { "partners": [{ "name": "ball", "position": [1, 2, 1e12] }] } } }),
            "composition.balls.partners[0].position: a position must be finite and at most 0.1 mm, not 1000000000000",
        ),
        (
            json!({ "objects": { "ball": { "partners": { "names": ["baal"] } } } }),
            "composition.balls.partners.names[0]: there is no object or entry 'baal'; did you mean 'ball'?",
        ),
        (
            json!({ "objects": { "ball": { "partners": { "names": ["ball"], "probability_binding": 3 } } } }),
            "composition.balls.partners.probability_binding: a probability must be from -1 to 1, not 3",
        ),
        (
            json!({ "objects": { "ball": { "partners": { "excluded_names": ["virus"], "names": ["ball"] } } } }),
            "composition.balls.partners.excluded_names[0]: there is no object or entry 'virus'",
        ),
        (
            json!({ "objects": { "ball": { "partners": { "names": ["ball"], "probability_repelled": 3 } } } }),
            "composition.balls.partners.probability_repelled: a probability must be from 0 to 1, not 3",
        ),
        (
            json!({ "objects": { "ball": { "partners": { "excluded_names": ["virus"] } } } }),
            "composition.balls.partners.excluded_names[0]: there is no object or entry 'virus'",
        ),
        (
            json!({ "objects": { "ball": { "partners": "ball" } } }),
            "objects.ball.partners: expected a list of partners, found \"ball\"",
        ),
        (
            json!({ "objects": { "ball": { "partners": { "all_partners": [{ "name": "virus" }] } } } }),
            "composition.balls.partners.all_partners[0].name: there is no object or entry 'virus'",
        ),
    ]);
}

#[test]
fn additions_are_checked() {
    rejected([
        (
            json!({ "bevy_rapier_molecules": { "objects": { "bal": {} } } }),
            "bevy_rapier_molecules.objects.bal: there is no object 'bal'; did you mean 'ball'?",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "virus": {} } } }),
            "bevy_rapier_molecules.objects.virus: there is no object 'virus'",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cel": {} } } }),
            "bevy_rapier_molecules.composition.cel: there is no entry of the composition 'cel'; did you mean 'cell'?",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ball": { "detail": "all" } } } }),
            "bevy_rapier_molecules.objects.ball.detail: expected one of 'atoms', 'spheres', 'proxies', found 'all'",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ball": { "detail": "atoms" } } } }),
            "objects.ball.representations.atomic: expected a structure file, since detail is atoms",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ubiquitin": { "detail": "spheres" } } }, "composition": { "balls": { "object": "ubiquitin" } } }),
            "objects.ubiquitin.type: expected a type: single_sphere, multi_sphere or mesh",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ubiquitin": { "detail": "proxies", "proxies": 0 } } }, "composition": { "balls": { "object": "ubiquitin" } } }),
            "bevy_rapier_molecules.objects.ubiquitin.proxies: the number of proxies must be from 1 to 10,000, not 0",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ball": { "up": [0, 0, 0] } } } }),
            "bevy_rapier_molecules.objects.ball.up: the axis must be finite and not zero, not [0.0, 0.0, 0.0]",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ball": { "depth": 1e12 } } } }),
            "bevy_rapier_molecules.objects.ball.depth: the depth must be finite and at most 0.1 mm, not 1000000000000",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ball": { "area": 0 } } } }),
            "bevy_rapier_molecules.objects.ball.area: the area of a lipid must be positive, not 0",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ball": { "conformers": 0 } } } }),
            "bevy_rapier_molecules.objects.ball.conformers: the number of conformers must be from 1 to 10,000, not 0",
        ),
        (
            json!({ "bevy_rapier_molecules": { "objects": { "ball": { "tint": [2, 0, 0] } } } }),
            "bevy_rapier_molecules.objects.ball.tint: a color must be from 0 to 1, not 2",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "shape": { "cube": { "size": 5 } } } } } }),
            "bevy_rapier_molecules.composition.cell.shape: expected one of 'sphere', 'capsule', 'cuboid', 'torus', found 'cube'",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "shape": { "sphere": { "radius": 0 } } } } } }),
            "bevy_rapier_molecules.composition.cell.shape: the radius must be positive and at most 0.1 mm, not 0",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "shape": { "sphere": {} } } } } }),
            "bevy_rapier_molecules.composition.cell.shape.sphere: expected the key 'radius'",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "shape": { "capsule": { "length": 15, "radius": 10 } } } } } }),
            "bevy_rapier_molecules.composition.cell.shape: the length must be at least twice the radius, not 15",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "shape": { "cuboid": { "size": [1, 2, -3] } } } } } }),
            "bevy_rapier_molecules.composition.cell.shape: an edge must be positive and at most 0.1 mm, not -3",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "shape": { "torus": { "major_radius": 10, "minor_radius": 20 } } } } } }),
            "bevy_rapier_molecules.composition.cell.shape: the minor radius of a compartment must be smaller than the major radius, but is 2 nm",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "position": [0, 0, 1e12] } } } }),
            "bevy_rapier_molecules.composition.cell.position: a position must be finite and at most 0.1 mm, not 1000000000000",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "rotation": [0, 0, 0, 0] } } } }),
            "bevy_rapier_molecules.composition.cell.rotation: a rotation must be a quaternion x, y, z, w that is finite and not zero, not [0.0, 0.0, 0.0, 0.0]",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "area_scale": 0 } } } }),
            "bevy_rapier_molecules.composition.cell.area_scale: the area scale must be positive, not 0",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "outer_leaflet": { "lipid": 1 } } } } }),
            "bevy_rapier_molecules.composition.cell.outer_leaflet.lipid: there is no object 'lipid'",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "outer_leaflet": { "popcc": 1 } } } } }),
            "bevy_rapier_molecules.composition.cell.outer_leaflet.popcc: there is no object 'popcc'; did you mean 'popc'?",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "inner_leaflet": { "popc": -1 } } } } }),
            "bevy_rapier_molecules.composition.cell.inner_leaflet.popc: a ratio must be at least 0, not -1",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "space": { "inner_leaflet": { "popc": 1 } } } } }),
            "bevy_rapier_molecules.composition.space.inner_leaflet: a leaflet of the bounding box is not supported; give it to a compartment with a surface",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "balls": { "places": [{ "position": [0, 0, 0] }, { "position": [0, 0] }] } } } }),
            "bevy_rapier_molecules.composition.balls.places[1].position: expected a list of 3, found a list of 2",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "balls": { "places": [{ "position": [0, 0, 0], "rotation": [0, 0, 0, 0] }] } } } }),
            "bevy_rapier_molecules.composition.balls.places[0].rotation: a rotation must be a quaternion x, y, z, w that is finite and not zero, not [0.0, 0.0, 0.0, 0.0]",
        ),
    ]);
}

#[test]
fn what_cannot_be_filled_is_an_error() {
    not_filled([
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "outer_leaflet": { "ball": 1 } } } } }),
            "objects.ball: the ratio of 'ball', which has no structure file, is not supported; give representations.atomic, or a count in the region of the leaflet",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "outer_leaflet": { "ubiquitin": 1 } } } } }),
            "objects.ubiquitin: expected the area of the lipid 'ubiquitin' in the block bevy_rapier_molecules, objects.ubiquitin.area",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "outer_leaflet": { "popc": 0 } } } } }),
            "composition.cell: the outer leaflet has no lipids: all of its shares are zero",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "outer_leaflet": { "popc": 1 } } } }, "composition": { "cell": { "regions": { "outer_leaflet": [{ "count": 5, "object": "popc" }] } } } }),
            "composition.cell: the outer leaflet has ratios and numbers; use one kind for all of its species",
        ),
        (
            json!({ "composition": { "balls": { "count": 6e7 }, "cell": { "regions": { "interior": [{ "count": 6e7, "object": "ball" }] } } } }),
            "composition.cell.regions.interior[0]: 120000000 molecules are too many: at most 100000000 are possible",
        ),
        (
            json!({ "composition": { "balls": { "molarity": 1e30 } } }),
            "composition.balls: 4272842147310794579063694602272768 molecules are too many: at most 100000000 are possible",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "outer_leaflet": { "popc": 1 } } } }, "composition": { "cell": { "regions": { "surface": [{ "count": 500, "object": "ubiquitin" }] } } } }),
            "composition.cell: 500 proteins do not fit on the surface; about 90 would fit",
        ),
        (
            json!({ "composition": { "cell": { "regions": { "inner_leaflet": [{ "count": 500, "object": "ubiquitin" }] } } } }),
            "objects.ubiquitin: expected the area of the lipid 'ubiquitin' in the block bevy_rapier_molecules, objects.ubiquitin.area",
        ),
        (
            json!({ "composition": { "balls": { "size_options": { "distribution": "normal", "mean": 10, "std": 1e30 } } } }),
            "composition.balls: atom 0 ('S') of molecule 'ball' has radius 160260820000000000000000000000 nm, expected between 0 and 100000 nm",
        ),
        (
            json!({ "bevy_rapier_molecules": { "composition": { "cell": { "area_scale": 1e-9, "outer_leaflet": { "popc": 1 } } } } }),
            "composition.cell: a leaflet has at most 100000000 lipids, but the outer one would have 947357239276",
        ),
    ]);
}

#[test]
fn extreme_sizes_do_not_overflow() {
    let sizes = json!({
        "objects": {
            "tiny": { "type": "single_sphere", "radius": 1.0e-9, "priority": -1 },
            "large": { "type": "single_sphere", "radius": 50 },
        },
        "composition": {
            "space": { "regions": { "interior": [
                { "object": "tiny", "count": 20 }, { "object": "large", "count": 2 },
            ] } },
            "cell": null, "balls": null,
        },
    });
    let population = populate(&read(&recipe_with(&sizes)), None).unwrap();
    assert_eq!(population.crowd.members().len(), 22);
}
