//! Keeps the web engine from pretending to have a graphics card where there is none.
//!
//! It composes its pages on the card, and where none is found it has one emulated: that costs a start
//! a fifth of its time, each frame several times what drawing it plainly takes, and some 60 MB.

use std::path::Path;

/// The variable of the engine; `0` has it compose in any case.
const DISABLE_COMPOSITING: &str = "WEBKIT_DISABLE_COMPOSITING_MODE";

/// Has pages drawn plainly where there is no card, unless the user has set how they are drawn. Must
/// be called while this is the only thread.
pub(crate) fn disable_gpu_emulation() {
    if std::env::var_os(DISABLE_COMPOSITING).is_none() && !has_gpu(Path::new("/dev")) {
        // Refused only for a name that is none.
        let _ = glib::setenv(DISABLE_COMPOSITING, "1", false);
    }
}

/// Whether programs can draw on a card: through the kernel's interface, or its maker's.
fn has_gpu(devices: &Path) -> bool {
    let nodes = std::fs::read_dir(devices.join("dri")).into_iter().flatten().flatten();
    let renders = |name: std::ffi::OsString| name.to_string_lossy().starts_with("renderD");
    devices.join("nvidiactl").exists() || nodes.map(|node| node.file_name()).any(renders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "a test's own folder")]
    fn a_card_is_one_that_can_be_drawn_on() {
        let devices = tempfile::tempdir().expect("a folder");
        let has = || has_gpu(devices.path());
        assert!(!has(), "nothing at all");
        let cards = devices.path().join("dri");
        std::fs::create_dir(&cards).expect("a folder");
        std::fs::write(cards.join("card0"), "").expect("a file");
        assert!(!has(), "a screen without a card");
        std::fs::write(cards.join("renderD128"), "").expect("a file");
        assert!(has());
        std::fs::remove_dir_all(&cards).expect("it goes");
        std::fs::write(devices.path().join("nvidiactl"), "").expect("a file");
        assert!(has(), "the maker's own interface");
    }
}
