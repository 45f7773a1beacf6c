//! Files that a program writes at its end.

use std::path::Path;

use super::AnyError;

/// Checks before the work that a file can be written after it.
pub fn check_target(path: &Path) -> Result<(), AnyError> {
    let shown = path.display();
    if path.is_dir() || path.file_name().is_none() {
        return Err(format!("cannot write '{shown}': it is not a file").into());
    }
    match path.parent() {
        Some(folder) if folder != Path::new("") && !folder.is_dir() => {
            let folder = folder.display();
            Err(format!("cannot write '{shown}': there is no folder '{folder}'").into())
        }
        _ => Ok(()),
    }
}
