//! Whether there is a screen.

/// Why no window can be opened. A name in `DISPLAY` is not enough: it may be that of a
/// server that has ended, or of someone else's.
#[cfg(target_os = "linux")]
pub fn check() -> Result<(), String> {
    // Bevy is built with X11 here, which also serves Wayland as long as it sets `DISPLAY`.
    match std::env::var("DISPLAY") {
        Ok(name) if !name.is_empty() => match x11rb::connect(None) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("the display '{name}' cannot be used: {error}")),
        },
        _ => Err("there is no display".into()),
    }
}

/// Why no window can be opened: other systems always have a screen.
#[cfg(not(target_os = "linux"))]
pub fn check() -> Result<(), String> {
    Ok(())
}
