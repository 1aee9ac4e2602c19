//! Properties of paths, over any text.

#![allow(clippy::unwrap_used, reason = "a test fails where it cannot go on")]

#[path = "../support/mod.rs"]
mod support;

use proptest::prelude::*;
use protocol::{NewNotePath, NotePath};

proptest! {
    #[test]
    fn a_parsed_path_has_only_parts_that_stay_inside(text in "\\PC*|[./a~ \\\\:]{0,40}") {
        if let Ok(path) = NotePath::parse(&text) {
            prop_assert!(!path.as_str().starts_with('/'));
            for part in path.parts() {
                prop_assert!(!part.is_empty() && part != ".." && !part.starts_with('.'));
                prop_assert!(part.len() <= 255 && !part.contains(['/', '\\', '\0']));
            }
            prop_assert_eq!(NotePath::parse(path.as_str()).unwrap(), path);
        }
    }

    #[test]
    fn a_new_name_is_a_path_and_judging_it_again_changes_nothing(text in "\\PC{0,40}") {
        if let Ok(new) = NewNotePath::parse(&text) {
            let again = NewNotePath::parse(new.path().as_str()).unwrap();
            prop_assert_eq!(again.path().as_str(), new.path().as_str());
        }
    }

    #[test]
    fn whatever_is_asked_nothing_outside_is_found_or_made(text in "(\\.\\./|out/|secret|[./~]){1,8}(\\.md)?") {
        let folder = support::Folder::new();
        if let Ok(path) = folder.vault().resolve(&text) {
            prop_assert!(folder.vault().read(&path).is_err());
        }
        let _ = folder.vault().new_path(&text);
        folder.assert_nothing_outside();
    }
}
