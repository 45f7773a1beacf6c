//! Recipes are loaded with all their files, from any asset source.

use std::any::TypeId;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use bevy::asset::io::memory::{Dir, MemoryAssetReader};
use bevy::asset::io::{AssetSourceBuilder, AssetSourceEvent, AssetWatcher, Reader};
use bevy::asset::{AssetLoader, LoadContext, LoadedUntypedAsset};
use bevy::prelude::*;
use bevy::reflect::TypePath;
use bevy_rapier_molecules::plugin::{RecipeFailed, RecipeState};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::recipe::{ReadOptions, Recipe};
use bevy_rapier3d::prelude::*;

use super::log;
use super::test_app::*;

/// A cube with edges of 8 nm.
const CUBE: &str = "\
v -40 -40 -40\nv 40 -40 -40\nv 40 40 -40\nv -40 40 -40
v -40 -40 40\nv 40 -40 40\nv 40 40 40\nv -40 40 40
f 1 4 3\nf 1 3 2\nf 5 6 7\nf 5 7 8\nf 1 2 6\nf 1 6 5
f 4 8 7\nf 4 7 3\nf 1 5 8\nf 1 8 4\nf 2 3 7\nf 2 7 6
";

/// Two balls of 0.5 nm that touch.
pub const PAIR: &str = "5 5\n1\n2\n-5 0 0 5\n5 0 0 5\n";

/// A recipe with a structure file, a mesh and a sphere tree: `drugs` of p-xylene in the box and
/// `pairs` of balls in a cube.
pub fn recipe(drugs: u32, pairs: u32) -> String {
    let text = r#"{
        "name": "cell",
        "format_version": "2.1",
        "bounding_box": [[-80, -80, -80], [80, 80, 80]],
        "objects": {
            "drug": {
                "color": [1.0, 0.5, 0.0],
                "representations": { "atomic": { "path": "structures", "name": "drug.pdb" } }
            },
            "pair": {
                "type": "multi_sphere",
                "representations": { "packing": { "path": "shapes", "name": "pair.sph" } }
            },
            "cube": {
                "type": "mesh",
                "representations": { "mesh": { "path": "shapes", "name": "cube.obj" } }
            }
        },
        "composition": {
            "space": { "regions": {
                "interior": ["organelle", { "object": "drug", "count": DRUGS }]
            } },
            "organelle": { "object": "cube", "regions": {
                "interior": [{ "object": "pair", "count": PAIRS }]
            } }
        }
    }"#;
    let text = text.replace("DRUGS", &drugs.to_string());
    text.replace("PAIRS", &pairs.to_string())
}

/// Path and content of all files of [`recipe`].
fn files() -> [(&'static str, Vec<u8>); 4] {
    let drug = format!(
        "{}/assets/molecules/p_xylene.pdb",
        env!("CARGO_MANIFEST_DIR")
    );
    [
        ("cell.json", recipe(12, 4).into_bytes()),
        ("structures/drug.pdb", fs::read(drug).unwrap()),
        ("shapes/pair.sph", PAIR.into()),
        ("shapes/cube.obj", CUBE.into()),
    ]
}

/// An empty folder for a test.
pub fn empty_folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"))
        .join("recipes")
        .join(name);
    if folder.exists() {
        fs::remove_dir_all(&folder).unwrap();
    }
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A folder with all files of [`recipe`].
pub fn folder_with_files(name: &str) -> PathBuf {
    let folder = empty_folder(name);
    for (path, content) in files() {
        let path = folder.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    folder
}

/// A weightless app whose assets are in a folder.
pub fn app_in(folder: &Path) -> App {
    let mut app = App::new();
    add_all_plugins(&mut app, folder);
    start(&mut app);
    weightless(&mut app);
    app
}

fn add_all_plugins(app: &mut App, folder: &Path) {
    let assets = AssetPlugin {
        file_path: folder.to_string_lossy().into_owned(),
        watch_for_changes_override: Some(true),
        ..default()
    };
    add_bare_plugins(app, assets);
    app.add_plugins(MoleculePlugins::default().with_backend(Backend::Cpu));
    app.insert_resource(TimestepMode::Fixed {
        dt: FRAME,
        substeps: 1,
    });
}

/// Spawns a recipe.
pub fn spawn_recipe(app: &mut App, path: &str) -> Entity {
    let server = app.world().resource::<AssetServer>().clone();
    let recipe = PackedRecipe(server.load(path.to_owned()));
    app.world_mut().spawn(recipe).id()
}

pub fn state(world: &World, recipe: Entity) -> &RecipeState {
    world.get::<RecipeState>(recipe).unwrap()
}

/// Forgets the state of a recipe, so that the next one can be waited for. A task may end within a
/// frame.
pub fn forget_state(app: &mut App, recipe: Entity) {
    let state = RecipeState::Loading;
    app.world_mut().entity_mut(recipe).insert(state);
}

/// Runs frames until a recipe is packed or has failed.
pub fn wait_until_done(app: &mut App, recipe: Entity) {
    wait_for(app, |world| {
        matches!(
            state(world, recipe),
            RecipeState::Ready { .. } | RecipeState::Failed { .. }
        )
    });
}

fn loaded(app: &mut App, path: &str) -> Recipe {
    let server = app.world().resource::<AssetServer>().clone();
    let handle: Handle<Recipe> = server.load(path.to_owned());
    wait_for(app, |_| server.is_loaded(&handle));
    let recipes = app.world().resource::<Assets<Recipe>>();
    recipes.get(&handle).unwrap().clone()
}

#[test]
fn structures_meshes_and_sphere_trees_are_loaded() {
    let folder = folder_with_files("all_files");
    let mut app = app_in(&folder);
    let recipe = loaded(&mut app, "cell.json");
    let on_disk = Recipe::load(folder.join("cell.json"), &ReadOptions::default()).unwrap();
    assert_eq!(recipe.source, "cell.json");
    assert_eq!(recipe.ingredients.len(), 2);
    for (one, other) in recipe.ingredients.iter().zip(&on_disk.ingredients) {
        let [one, other] = [(&recipe, one), (&on_disk, other)]
            .map(|(recipe, ingredient)| recipe.body(ingredient).unwrap());
        assert!(one.template == other.template);
    }
    let cube = recipe.compartments[1].surface.as_ref().unwrap();
    assert_eq!(cube.signed_distance(Vec3::X * 5.0), 1.0);
}

#[test]
fn settings_name_folders_with_structures() {
    let folder = folder_with_files("settings");
    let text = recipe(1, 1).replace(r#""path": "structures", "#, "");
    fs::write(folder.join("bare.json"), text.replace("drug.pdb", "drug")).unwrap();
    let mut app = app_in(&folder);
    let server = app.world().resource::<AssetServer>().clone();
    let options = |options: &mut ReadOptions| options.structure_folders.push("structures".into());
    let handle: Handle<Recipe> = server
        .load_builder()
        .with_settings(options)
        .load("bare.json");
    wait_for(&mut app, |_| server.is_loaded(&handle));

    let meta = r#"(
        meta_format_version: "1.0",
        asset: Load(
            loader: "bevy_rapier_molecules::plugin::RecipeLoader",
            settings: (structure_folders: ["structures"]),
        ),
    )"#;
    fs::copy(folder.join("bare.json"), folder.join("meta.json")).unwrap();
    fs::write(folder.join("meta.json.meta"), meta).unwrap();
    assert_eq!(loaded(&mut app, "meta.json").ingredients.len(), 2);
}

/// Any text.
#[derive(Asset, TypePath)]
struct Settings(String);

/// A loader of an app for its own JSON files.
#[derive(Default, TypePath)]
struct SettingsLoader;

impl AssetLoader for SettingsLoader {
    type Asset = Settings;
    type Settings = ();
    type Error = std::io::Error;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        (): &(),
        _: &mut LoadContext<'_>,
    ) -> Result<Settings, std::io::Error> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        Ok(Settings(String::from_utf8_lossy(&bytes).into_owned()))
    }

    fn extensions(&self) -> &[&str] {
        &["json"]
    }
}

#[test]
fn the_app_may_have_a_loader_of_other_json_files() {
    let folder = folder_with_files("other_loader");
    fs::copy(folder.join("cell.json"), folder.join("cell.recipe.json")).unwrap();
    fs::write(folder.join("settings.json"), "{}").unwrap();
    let mut app = app_in(&folder);
    app.init_asset::<Settings>()
        .init_asset_loader::<SettingsLoader>();
    let server = app.world().resource::<AssetServer>().clone();
    let settings: Handle<Settings> = server.load("settings.json");
    // By the extension alone.
    let any = server.load_builder().load_untyped("cell.recipe.json");
    assert_eq!(loaded(&mut app, "cell.json").name, "cell");
    wait_for(&mut app, |_| {
        server.is_loaded(&settings) && server.is_loaded(&any)
    });
    let texts = app.world().resource::<Assets<Settings>>();
    assert_eq!(texts.get(&settings).unwrap().0, "{}");
    let untyped = app.world().resource::<Assets<LoadedUntypedAsset>>();
    let handle = &untyped.get(&any).unwrap().handle;
    assert_eq!(handle.type_id(), TypeId::of::<Recipe>());
}

#[test]
fn an_invalid_recipe_is_logged_and_fails_with_one_sentence() {
    log::capture();
    let folder = folder_with_files("invalid");
    let text = recipe(3, 1);
    let misspelled = text.replace(r#""object": "pair""#, r#""object": "pear""#);
    fs::write(folder.join("misspelled.json"), misspelled).unwrap();
    fs::write(
        folder.join("no_mesh.json"),
        text.replace("cube.obj", "no.obj"),
    )
    .unwrap();
    fs::write(folder.join("not_json.json"), "{ \"name\": ").unwrap();
    let mut app = app_in(&folder);
    let failures: Arc<Mutex<Vec<RecipeFailed>>> = Arc::default();
    let seen = failures.clone();
    app.add_observer(move |failed: On<RecipeFailed>| seen.lock().unwrap().push(failed.clone()));
    for (path, sentence) in [
        (
            "misspelled.json",
            "misspelled.json: composition.organelle.regions.interior[0].object: there is no object 'pear'; did you mean 'pair'?",
        ),
        (
            "no_mesh.json",
            "no_mesh.json: objects.cube.representations.mesh: there is no file 'shapes/no.obj'",
        ),
        (
            "not_json.json",
            "not_json.json: invalid JSON: EOF while parsing a value at line 1 column 10",
        ),
    ] {
        let recipe = spawn_recipe(&mut app, path);
        wait_until_done(&mut app, recipe);
        let error = sentence.to_owned();
        let expected = RecipeState::Failed {
            error: error.clone(),
        };
        assert_eq!(*state(app.world(), recipe), expected);
        let failed = RecipeFailed { recipe, error };
        assert_eq!(failures.lock().unwrap().pop(), Some(failed.clone()));
        let messages = app.world().resource::<Messages<RecipeFailed>>();
        assert!(
            messages
                .iter_current_update_messages()
                .any(|it| *it == failed)
        );
        wait_for(&mut app, |_| log::count(&[sentence]) == 1);
        // One that gets its handle after the failure.
        let late = spawn_recipe(&mut app, path);
        wait_until_done(&mut app, late);
        assert_eq!(*state(app.world(), late), expected);
        failures.lock().unwrap().clear();
    }
}

/// Reports a change of a file to the asset server.
type Notify = Box<dyn Fn(&str) + Send + Sync>;

struct NoWatcher;

impl AssetWatcher for NoWatcher {}

/// An app with the asset source `memory`, its files, and a function that reports a change of one.
fn app_with_memory() -> (App, Dir, Arc<Mutex<Option<Notify>>>) {
    let root = Dir::default();
    let notify: Arc<Mutex<Option<Notify>>> = Arc::default();
    let (files, watched) = (root.clone(), notify.clone());
    let source = AssetSourceBuilder::new(move || {
        Box::new(MemoryAssetReader {
            root: files.clone(),
        })
    });
    let source = source.with_watcher(move |sender| {
        let send = move |path: &str| {
            let event = AssetSourceEvent::ModifiedAsset(path.into());
            sender.try_send(event).unwrap();
        };
        *watched.lock().unwrap() = Some(Box::new(send));
        Some(Box::new(NoWatcher))
    });
    let mut app = App::new();
    app.register_asset_source("memory", source);
    add_all_plugins(&mut app, &empty_folder("memory"));
    start(&mut app);
    weightless(&mut app);
    (app, root, notify)
}

#[test]
fn recipes_of_any_source_change_with_their_files() {
    let (mut app, root, notify) = app_with_memory();
    for (path, content) in files() {
        root.insert_asset(&Path::new("scenes").join(path), content);
    }
    let recipe = spawn_recipe(&mut app, "memory://scenes/cell.json");
    wait_until_done(&mut app, recipe);
    let ready = RecipeState::Ready { complete: true };
    assert_eq!(*state(app.world(), recipe), ready);
    let atoms = |app: &mut App| {
        let world = app.world_mut();
        let molecules: Vec<Molecule> = world.query::<&Molecule>().iter(world).cloned().collect();
        let templates = world.resource::<Assets<MoleculeTemplate>>();
        let mut atoms = molecules
            .iter()
            .map(|it| templates.get(&it.0).unwrap().atom_count())
            .collect::<Vec<_>>();
        atoms.sort_unstable();
        atoms.dedup();
        (molecules.len(), atoms)
    };
    assert_eq!(atoms(&mut app), (16, vec![2, 18]));

    // A file that the recipe refers to changes: a third ball.
    let three = "5 5\n1\n3\n-10 0 0 5\n0 0 0 5\n10 0 0 5\n";
    root.insert_asset_text(Path::new("scenes/shapes/pair.sph"), three);
    forget_state(&mut app, recipe);
    notify.lock().unwrap().as_ref().unwrap()("scenes/shapes/pair.sph");
    wait_until_done(&mut app, recipe);
    assert_eq!(*state(app.world(), recipe), ready);
    assert_eq!(atoms(&mut app), (16, vec![3, 18]));
}
