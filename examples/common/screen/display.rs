//! Whether there is a screen.

/// Whether a window can be opened. Bevy is built with X11 here, which also serves
/// Wayland as long as it sets `DISPLAY`.
pub fn is_there() -> bool {
    !cfg!(target_os = "linux") || std::env::var_os("DISPLAY").is_some_and(|name| !name.is_empty())
}
