//! Loading and saving of presets, and exports.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::prelude::*;

use super::super::preset::{BUNDLED, Preset, PresetError, WatchedFile};
use super::{Editor, Notice};

/// Time between two checks whether the preset's file has changed.
pub const POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Folder of the bundled presets in the source tree.
const PRESET_FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/presets");

/// File names in the panels, and messages about them.
pub struct Files {
    /// File name of the preset, as typed.
    pub preset_path: String,
    /// Result of loading or saving.
    pub preset_notice: Option<Notice>,
    /// File name of the export without its extension, as typed.
    pub export_path: String,
    /// Result of the export.
    pub export_notice: Option<Notice>,
    /// The loaded or saved file, which is loaded again when it changes.
    watched: Option<WatchedFile>,
}

impl Default for Files {
    fn default() -> Self {
        Self {
            preset_path: "my_preset.ron".into(),
            preset_notice: None,
            export_path: "vesicle".into(),
            export_notice: None,
            watched: None,
        }
    }
}

impl Editor {
    /// Loads a bundled preset.
    pub fn load_bundled(&mut self, index: usize) {
        let Some((name, file, text)) = BUNDLED.get(index) else {
            return;
        };
        let path = Path::new(PRESET_FOLDER).join(file);
        if path.is_file() {
            self.load(path);
        } else {
            let preset = Preset::parse(text, Path::new(file));
            self.apply(preset, &format!("loaded {name}"));
        }
    }

    /// Loads the file with the typed name.
    pub fn load_typed(&mut self) {
        self.load(PathBuf::from(self.files.preset_path.trim()));
    }

    fn load(&mut self, path: PathBuf) {
        let preset = Preset::load(&path);
        self.apply(preset, &format!("loaded {}", path.display()));
        // Invalid files as well, which the user may correct.
        self.files.watched = Some(WatchedFile::new(path));
    }

    /// Saves to the file with the typed name.
    pub fn save_typed(&mut self) {
        let path = PathBuf::from(self.files.preset_path.trim());
        self.files.preset_notice = Some(match self.preset.save(&path) {
            Ok(()) => {
                let text = format!("saved {}", path.display());
                self.files.watched = Some(WatchedFile::new(path));
                Notice::Success(text)
            }
            Err(error) => Notice::Error(error.to_string()),
        });
    }

    /// Applies a loaded preset. On an error, the parameters stay.
    fn apply(&mut self, preset: Result<Preset, PresetError>, message: &str) {
        self.files.preset_notice = Some(match preset {
            Ok(preset) => {
                self.preset = preset;
                Notice::Success(message.into())
            }
            Err(error) => Notice::Error(error.to_string()),
        });
    }

    /// Writes a structure file with this extension.
    pub fn export(&mut self, extension: &str) {
        let path = format!("{}.{extension}", self.files.export_path.trim());
        self.files.export_notice = Some(Notice::Success(format!("writing {path}")));
        self.worker.export(path.into());
    }
}

/// Loads the preset's file again when it has changed.
pub fn reload(mut editor: ResMut<Editor>) {
    let Some(watched) = &mut editor.files.watched else {
        return;
    };
    if watched.has_changed() {
        let path = watched.path.clone();
        let preset = Preset::load(&path);
        editor.apply(
            preset,
            &format!("loaded {} again: it has changed", path.display()),
        );
        editor.send_changes();
    }
}
