//! The view as a PNG file: what the window shows, without its panels.

use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};

use super::{Editor, Notice};

/// Saves the next frame to a file.
pub fn save_view(commands: &mut Commands, path: PathBuf, area: Option<URect>) {
    let save = move |captured: On<ScreenshotCaptured>, mut editor: ResMut<Editor>| {
        editor.files.export_notice = Some(match write(&captured.image, area, &path) {
            Ok((width, height)) => Notice::Good(format!(
                "wrote {}: {width} × {height} pixels",
                path.display()
            )),
            Err(why) => Notice::Bad(format!("cannot write '{}': {why}", path.display())),
        });
    };
    commands.spawn(Screenshot::primary_window()).observe(save);
}

/// Writes part of a picture, without transparency.
fn write(image: &Image, area: Option<URect>, path: &Path) -> Result<(u32, u32), String> {
    let picture = image.clone().try_into_dynamic();
    let picture = picture.map_err(|error| error.to_string())?;
    let picture = match area {
        Some(area) => picture.crop_imm(area.min.x, area.min.y, area.width(), area.height()),
        None => picture,
    };
    let picture = picture.to_rgb8();
    if picture.is_empty() {
        return Err("the view is empty".into());
    }
    picture.save(path).map_err(|error| error.to_string())?;
    Ok(picture.dimensions())
}
