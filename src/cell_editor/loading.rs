//! Reads recipes in tasks, and takes what they have read.

use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy::tasks::futures::check_ready;
use bevy::tasks::{AsyncComputeTaskPool, Task};

use super::CellEditorSettings;
use super::editor::{CellEditor, CellEditorMode};
use super::entry_look::{first_looks, kept_looks};
use super::notice::NoticeLevel;
use super::watched_file::WatchedFile;
use crate::recipe::{LivePacking, Recipe, RecipeChange, RecipeError};
use crate::render::MoleculePalette;

/// A recipe that is being read.
pub(super) struct Loading {
    path: PathBuf,
    task: Task<Result<Loaded, RecipeError>>,
}

/// What a task has read.
enum Loaded {
    /// A recipe, and its molecules.
    Opened(Box<LivePacking>),
    /// The recipe of the scene, whose file has changed.
    Changed(Box<Recipe>),
}

impl Loading {
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Reads a recipe and fills it.
    pub fn open(path: PathBuf, settings: &CellEditorSettings) -> Self {
        let (read, pack) = (settings.read.clone(), settings.pack.clone());
        Self::spawn(path, move |path| {
            let recipe = Recipe::load(path, &read)?;
            Ok(Loaded::Opened(Box::new(LivePacking::new(recipe, &pack)?)))
        })
    }

    /// Reads a recipe.
    fn read(path: PathBuf, settings: &CellEditorSettings) -> Self {
        let read = settings.read.clone();
        Self::spawn(path, move |path| {
            Ok(Loaded::Changed(Box::new(Recipe::load(path, &read)?)))
        })
    }

    fn spawn(
        path: PathBuf,
        work: impl FnOnce(&Path) -> Result<Loaded, RecipeError> + Send + 'static,
    ) -> Self {
        let in_task = path.clone();
        let task = AsyncComputeTaskPool::get().spawn(async move { work(&in_task) });
        Self { path, task }
    }
}

impl CellEditor {
    /// Begins to open a recipe. Replaces a file that is being read.
    pub(super) fn open(&mut self, path: PathBuf, settings: &CellEditorSettings) {
        // Broken files are watched, too: the user may correct them.
        self.watched = Some(WatchedFile::new(path.clone()));
        self.loading = Some(Loading::open(path, settings));
    }
}

/// Begins to read the watched file again if it has changed.
pub(super) fn watch_file(
    time: Res<Time<Real>>,
    settings: Res<CellEditorSettings>,
    mut editor: ResMut<CellEditor>,
) {
    // A change waits until molecules may be changed.
    if editor.loading.is_some() || editor.mode() != CellEditorMode::Packing {
        return;
    }
    editor.since_check += time.delta();
    if editor.since_check < settings.watch_interval {
        return;
    }
    editor.since_check = default();
    let Some(watched) = &mut editor.watched else {
        return;
    };
    if !watched.has_changed() {
        return;
    }
    let path = watched.path().to_owned();
    let is_scene = editor.path.as_ref() == Some(&path);
    editor.loading = Some(if is_scene {
        Loading::read(path, &settings)
    } else {
        Loading::open(path, &settings)
    });
}

/// Takes what a task has read. The scene stays if it is broken.
pub(super) fn take_loaded(world: &mut World) {
    world.resource_scope(|world, mut editor: Mut<CellEditor>| {
        let Some(loading) = &mut editor.loading else {
            return;
        };
        let Some(result) = check_ready(&mut loading.task) else {
            return;
        };
        let path = loading.path.clone();
        editor.loading = None;
        let result = result.and_then(|loaded| match loaded {
            Loaded::Opened(packing) => {
                editor.close_physics(world);
                editor.show(*packing, path, world.get_resource());
                Ok(())
            }
            Loaded::Changed(recipe) => editor.follow(*recipe, world.get_resource()),
        });
        editor.failure = result.as_ref().err().map(ToString::to_string);
        if let Err(error) = result {
            editor.fail(&error.into());
        }
    });
}

impl CellEditor {
    /// Replaces the scene.
    fn show(&mut self, packing: LivePacking, path: PathBuf, palette: Option<&MoleculePalette>) {
        let palette = palette.cloned().unwrap_or_default();
        self.looks = first_looks(&packing, &palette);
        self.selection.clear();
        self.brush_point = None;
        self.tool = default();
        self.moves += 1;
        let count = packing.molecule_ids().len();
        let warnings: Vec<String> = packing.warnings().iter().map(ToString::to_string).collect();
        let text = format!("opened {}: {count} molecules", path.display());
        self.packing = Some(packing);
        self.path = Some(path);
        self.notify(NoticeLevel::Done, text);
        for warning in warnings {
            self.notify(NoticeLevel::Warning, warning);
        }
        self.update_progress();
    }

    /// Changes the scene as its file has changed.
    fn follow(
        &mut self,
        recipe: Recipe,
        palette: Option<&MoleculePalette>,
    ) -> Result<(), RecipeError> {
        let Some(packing) = &mut self.packing else {
            return Ok(());
        };
        let old: Vec<_> = packing
            .entries()
            .cloned()
            .zip(self.looks.iter().copied())
            .collect();
        let change = packing.replace_recipe(recipe)?;
        let palette = palette.cloned().unwrap_or_default();
        self.looks = kept_looks(&old, packing, &palette);
        self.moves += 1;
        self.prune_selection();
        self.notify(NoticeLevel::Done, sentence(&change));
        for warning in change.warnings {
            self.notify(NoticeLevel::Warning, warning.to_string());
        }
        Ok(())
    }
}

fn sentence(change: &RecipeChange) -> String {
    if change.repopulated {
        "the file has changed: all molecules are placed anew".to_owned()
    } else {
        let (added, removed) = (change.added.len(), change.removed.len());
        format!("the file has changed: {added} molecules added, {removed} removed")
    }
}
