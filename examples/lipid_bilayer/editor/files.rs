//! Presets and exports: where they are, and how it went.

use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::prelude::*;

use super::super::preset::{BUNDLED, Preset, PresetError, Watched};
use super::{Editor, Notice};

/// Time between two looks at whether the preset's file was changed.
pub const LOOK_INTERVAL: Duration = Duration::from_millis(500);

/// Folder of the presets that come with the program, if it runs where it was built.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/presets");

/// What the panel knows about files.
pub struct Files {
    /// The preset's file, as typed.
    pub preset_path: String,
    /// How loading or saving went.
    pub preset_notice: Option<Notice>,
    /// Name of the exported file without its ending, as typed.
    pub export_path: String,
    /// How the export went.
    pub export_notice: Option<Notice>,
    /// The file that parameters came from: it is read again when it changes.
    watched: Option<Watched>,
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
    /// Takes over one of the presets that come with the program.
    pub fn load_bundled(&mut self, number: usize) {
        let Some((name, file, text)) = BUNDLED.get(number) else {
            return;
        };
        let path = Path::new(FOLDER).join(file);
        if path.is_file() {
            self.load(path);
        } else {
            let preset = Preset::parse(text, Path::new(file));
            self.take_over(preset, &format!("loaded {name}"));
        }
    }

    /// Reads the preset's file.
    pub fn load_typed(&mut self) {
        self.load(PathBuf::from(self.files.preset_path.trim()));
    }

    fn load(&mut self, path: PathBuf) {
        let preset = Preset::load(&path);
        self.take_over(preset, &format!("loaded {}", path.display()));
        // A broken file, too: it will be mended.
        self.files.watched = Some(Watched::new(path));
    }

    /// Writes the preset's file.
    pub fn save_typed(&mut self) {
        let path = PathBuf::from(self.files.preset_path.trim());
        self.files.preset_notice = Some(match self.preset.save(&path) {
            Ok(()) => {
                let text = format!("saved {}", path.display());
                self.files.watched = Some(Watched::new(path));
                Notice::Good(text)
            }
            Err(error) => Notice::Bad(error.to_string()),
        });
    }

    /// Takes a preset over, or says why not and keeps the old values.
    fn take_over(&mut self, preset: Result<Preset, PresetError>, done: &str) {
        self.files.preset_notice = Some(match preset {
            Ok(preset) => {
                self.preset = preset;
                Notice::Good(done.into())
            }
            Err(error) => Notice::Bad(error.to_string()),
        });
    }

    /// Writes a structure file with this ending.
    pub fn export(&mut self, ending: &str) {
        let path = format!("{}.{ending}", self.files.export_path.trim());
        self.files.export_notice = Some(Notice::Good(format!("writing {path}")));
        self.worker.export(path.into());
    }
}

/// Reads the preset's file again when somebody changed it.
pub fn reload(mut editor: ResMut<Editor>) {
    let Some(watched) = &mut editor.files.watched else {
        return;
    };
    if watched.has_changed() {
        let path = watched.path.clone();
        let preset = Preset::load(&path);
        editor.take_over(
            preset,
            &format!("{} has changed: read again", path.display()),
        );
        editor.send_changes();
    }
}
