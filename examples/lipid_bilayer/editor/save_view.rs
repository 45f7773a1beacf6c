//! Saves the view of the window, without its panels, as a PNG file.

use std::path::{Path, PathBuf};

use bevy::prelude::*;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};

use super::{Editor, Notice};

/// Saves `area` of the next frame to a file.
pub fn save_view(commands: &mut Commands, path: PathBuf, area: Option<URect>) {
    let save = move |captured: On<ScreenshotCaptured>, mut editor: ResMut<Editor>| {
        editor.files.export_notice = Some(match write(&captured.image, area, &path) {
            Ok((width, height)) => Notice::Success(format!(
                "wrote {}: {width} × {height} pixels",
                path.display()
            )),
            Err(why) => Notice::Error(format!("cannot write '{}': {why}", path.display())),
        });
    };
    commands.spawn(Screenshot::primary_window()).observe(save);
}

/// Writes a part of an image, without transparency.
fn write(image: &Image, area: Option<URect>, path: &Path) -> Result<(u32, u32), String> {
    let image = image.clone().try_into_dynamic();
    let image = image.map_err(|error| error.to_string())?;
    let image = match area {
        Some(area) => image.crop_imm(area.min.x, area.min.y, area.width(), area.height()),
        None => image,
    };
    let image = image.to_rgb8();
    if image.is_empty() {
        return Err("the view is empty".into());
    }
    image.save(path).map_err(|error| error.to_string())?;
    Ok(image.dimensions())
}
