//! Listing by glob.

#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

use std::fs;
use std::time::Duration;

use index::{GrepQuery, Index, SearchError, glob};
use protocol::{ChangeSet, PrivateRules};
use tempfile::TempDir;
use vault::{Vault, VaultError};

fn vault(notes: &[(&str, &str)]) -> (TempDir, Vault) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in notes {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let vault = Vault::open(folder.path()).unwrap();
    (folder, vault)
}

fn listed(pattern: &str, base: Option<&str>) -> Vec<String> {
    let (folder, vault) = vault(&[
        ("a.md", "1"),
        ("Projects/B.md", "2"),
        ("Projects/Deep/c.MD", "3"),
        ("Projects/pic.png", "4"),
        ("CAFE\u{301}.md", "5"),
    ]);
    for (age, name) in
        ["CAFE\u{301}.md", "Projects/pic.png", "Projects/Deep/c.MD", "Projects/B.md", "a.md"]
            .iter()
            .enumerate()
    {
        let time = std::time::SystemTime::now() - Duration::from_secs(60 * age as u64);
        fs::File::options()
            .write(true)
            .open(folder.path().join(name))
            .unwrap()
            .set_modified(time)
            .unwrap();
    }
    let found = glob(&vault, &ChangeSet::default(), pattern, base, 10).unwrap();
    found.entries.iter().map(|entry| entry.path.to_string()).collect()
}

#[test]
fn a_glob_stays_in_its_folder_unless_told_otherwise_and_brings_the_newest_first() {
    assert_eq!(listed("*.md", None), ["CAFE\u{301}.md", "a.md"]);
    assert_eq!(
        listed("**/*.md", None),
        ["CAFE\u{301}.md", "Projects/Deep/c.MD", "Projects/B.md", "a.md"]
    );
    assert_eq!(listed("*.md", Some("projects")), ["Projects/B.md"]);
    assert_eq!(listed("**/*.MD", Some("Projects/")), ["Projects/Deep/c.MD", "Projects/B.md"]);
    assert_eq!(listed("caf\u{e9}*", None), ["CAFE\u{301}.md"]);
    assert_eq!(listed("projects/*.png", None), ["Projects/pic.png"]);
}

#[test]
fn a_glob_finds_a_name_in_greek_capitals_by_its_beginning() {
    let (_folder, vault) = vault(&[("ΟΔΟΣ.md", ""), ("ΟΔΟΤ.md", "")]);
    let found = glob(&vault, &ChangeSet::default(), "ΟΔΟΣ*", None, 10).unwrap();
    let found: Vec<_> = found.entries.iter().map(|entry| entry.path.as_str()).collect();
    assert_eq!(found, ["ΟΔΟΣ.md"]);
}

#[test]
fn a_glob_counts_what_it_does_not_return_and_refuses_folders_that_are_not_there() {
    let (_folder, vault) = vault(&[("a.md", ""), ("b.md", ""), ("c.md", "")]);
    let none = ChangeSet::default();
    let found = glob(&vault, &none, "*.md", None, 2).unwrap();
    assert_eq!((found.entries.len(), found.total), (2, 3));
    let missing = glob(&vault, &none, "*", Some("gone"), 2);
    assert!(matches!(missing, Err(SearchError::Vault(VaultError::NotFound { .. }))), "{missing:?}");
    let outside = glob(&vault, &none, "*", Some("../out"), 2);
    assert!(matches!(outside, Err(SearchError::Vault(VaultError::Path(_)))), "{outside:?}");
    assert!(matches!(glob(&vault, &none, "[", None, 2), Err(SearchError::BadGlob { .. })));
}

#[test]
fn a_glob_that_the_libraries_could_not_compile_is_refused() {
    let (folder, vault) = vault(&[("a.md", "x"), ("b.md", "x")]);
    let index = Index::new(&vault, PrivateRules::default(), &folder.path().join("cache"));
    let none = ChangeSet::default();
    let nested = |depth: usize| format!("{}a{}", "{".repeat(depth), "}".repeat(depth));
    let escaped = format!("{}{}", r"{\}".repeat(250), "}".repeat(250));
    for pattern in [nested(300), nested(100_000), "?".repeat(1_000_000), escaped] {
        let listed = glob(&vault, &none, &pattern, None, 2);
        assert!(matches!(listed, Err(SearchError::BadGlob { .. })), "{listed:?}");
        let query = GrepQuery {
            pattern: "x".to_owned(),
            file_pattern: Some(pattern),
            context_lines: 0,
            max_results: 10,
            max_per_note: 5,
            case_sensitive: true,
        };
        let searched = index.search(&vault, &none, &query, Duration::from_secs(60));
        assert!(matches!(searched, Err(SearchError::BadGlob { .. })), "{searched:?}");
    }
    let found = glob(&vault, &none, "{a,{b,c}}.md", None, 2).unwrap();
    assert_eq!((found.entries.len(), found.total), (2, 2));
}
