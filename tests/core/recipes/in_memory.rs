//! Recipes whose files are in memory are the same as those on disk.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bevy_rapier_molecules::recipe::{FilesInMemory, ReadOptions, Recipe, RecipeError};
use glam::Vec3;

/// The recipes of a folder of the crate.
fn recipes_in(folder: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let files = fs::read_dir(root).unwrap().map(|file| file.unwrap().path());
    let is_recipe = |path: &PathBuf| {
        let extension = path.extension().unwrap_or_default();
        let is_schema = path.to_string_lossy().ends_with("schema.json");
        (extension == "json" || extension == "bent") && !is_schema
    };
    files.filter(is_recipe).collect()
}

/// Reads a recipe from memory, with files from below `root`, and counts the attempts.
fn read_in_memory(
    text: &[u8],
    path: &Path,
    root: &Path,
    options: &ReadOptions,
) -> (Result<Recipe, RecipeError>, u32) {
    let mut files = FilesInMemory::default();
    let folder = path.parent().unwrap();
    for attempt in 1.. {
        let source = path.to_string_lossy();
        let read = Recipe::read_in_memory(text, &source, folder, options, &files);
        if files.missing().is_empty() {
            return (read, attempt);
        }
        for path in files.missing() {
            let content = fs::read(root.join(&path));
            files.insert(path, content);
        }
    }
    unreachable!()
}

#[test]
fn recipes_in_memory_are_those_on_disk() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut with_files = 0;
    for path in ["assets/recipes", "tests/data/recipes"]
        .into_iter()
        .flat_map(recipes_in)
    {
        let options = ReadOptions::default();
        let text = fs::read(&path).unwrap();
        let relative = path.strip_prefix(root).unwrap();
        let (read, attempts) = read_in_memory(&text, relative, root, &options);
        let name = path.display();
        assert!(attempts <= 2, "{name}: {attempts} attempts");
        let (read, expected) = (read.unwrap(), Recipe::load(&path, &options).unwrap());
        let entries = [&read, &expected].map(|recipe| format!("{:?}", recipe.entries));
        assert_eq!(entries[0], entries[1], "{name}");
        assert_eq!(read.warnings, expected.warnings, "{name}");
        assert_eq!(read.ingredients.len(), expected.ingredients.len());
        for (one, other) in read.ingredients.iter().zip(&expected.ingredients) {
            let [one, other] = [(&read, one), (&expected, other)]
                .map(|(recipe, ingredient)| recipe.body(ingredient).unwrap());
            assert!(one.template == other.template, "{name}");
        }
        for (one, other) in read.compartments.iter().zip(&expected.compartments) {
            assert_eq!(one.bounds, other.bounds, "{name}");
            let [one, other] = [one, other].map(|it| it.surface.as_ref());
            let distance = one.map(|surface| surface.signed_distance(Vec3::ONE));
            assert_eq!(distance, other.map(|it| it.signed_distance(Vec3::ONE)));
            with_files += u32::from(distance.is_some());
        }
    }
    assert!(with_files > 5);
}

/// A recipe with one object, whose structure file is in `folder`.
fn with_structure(folder: &str, name: &str) -> String {
    format!(
        r#"{{
            "name": "one", "format_version": "2.1",
            "objects": {{ "drug": {{
                "representations": {{ "atomic": {{ "path": "{folder}", "name": "{name}" }} }}
            }} }},
            "composition": {{ "box": {{ "regions": {{ "interior": [{{ "object": "drug", "count": 1 }}] }} }} }}
        }}"#
    )
}

#[test]
fn files_may_be_in_structure_folders_and_outside_if_that_is_allowed() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets");
    let path = Path::new("recipes/one.json");
    let outside = with_structure("../molecules", "p_xylene.pdb");
    let allowed = ReadOptions {
        allow_outside: true,
        ..ReadOptions::default()
    };
    let (read, attempts) = read_in_memory(outside.as_bytes(), path, &root, &allowed);
    assert_eq!((read.unwrap().ingredients.len(), attempts), (1, 2));

    let by_name = with_structure("", "4hhb");
    let folders = ReadOptions {
        structure_folders: vec!["molecules".into()],
        ..ReadOptions::default()
    };
    let (read, _) = read_in_memory(by_name.as_bytes(), path, &root, &folders);
    assert_eq!(read.unwrap().ingredients.len(), 1);
}

#[test]
fn files_that_are_missing_unreadable_or_outside_are_errors() {
    let path = Path::new("recipes/one.json");
    let options = ReadOptions::default();
    let nowhere = Path::new("/nowhere");
    let sentence = |text: &str, options: &ReadOptions| {
        let (read, _) = read_in_memory(text.as_bytes(), path, nowhere, options);
        read.unwrap_err().to_string()
    };
    let place = "recipes/one.json: objects.drug.representations.atomic";
    let missing = with_structure("shapes", "none.pdb");
    assert_eq!(
        sentence(&missing, &options),
        format!("{place}: there is no file 'recipes/shapes/none.pdb'")
    );
    let outside = with_structure("..", "none.pdb");
    assert_eq!(
        sentence(&outside, &options),
        format!(
            "{place}: '../none.pdb' is outside of the folder of the recipe; move the file, or allow it (--allow-outside)"
        )
    );
    // No option leads out of the root of all paths.
    let allowed = ReadOptions {
        allow_outside: true,
        ..ReadOptions::default()
    };
    let far_outside = with_structure("../../..", "none.pdb");
    assert_eq!(
        sentence(&far_outside, &allowed),
        format!("{place}: there is no file 'recipes/../../../none.pdb'")
    );

    let mut files = FilesInMemory::default();
    let denied = io::Error::new(io::ErrorKind::PermissionDenied, "the door is closed");
    files.insert("recipes/shapes/none.pdb", Err(denied));
    let read = Recipe::read_in_memory(
        missing.as_bytes(),
        "recipes/one.json",
        Path::new("recipes"),
        &options,
        &files,
    );
    let error = read.unwrap_err().to_string();
    assert_eq!(files.missing(), Vec::<PathBuf>::new());
    assert!(
        error.ends_with("none.pdb: cannot be read: the door is closed"),
        "{error}"
    );
}
