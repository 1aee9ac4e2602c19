//! Notes are found by some letters of their names, before and after the index stands.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

use std::fs;
use std::sync::atomic::AtomicBool;

use index::{FoundFile, Index};
use protocol::{NotePath, PrivateRules};
use tempfile::TempDir;
use vault::Vault;

struct FileFinderFixture {
    folder: TempDir,
    _cache: TempDir,
    vault: Vault,
    index: Index,
}

const NOTES: [(&str, &str); 7] = [
    ("Groceries.md", ""),
    ("Projects/Garden plan.md", "---\naliases: [Beete, Grünes]\n---\n"),
    ("Projects/Garden.md", ""),
    ("Projects/Old/Garden plan 2019.md", ""),
    ("Café résumé.md", ""),
    ("会議/日記.md", ""),
    ("photos/garden.png", ""),
];

fn fixture() -> FileFinderFixture {
    let (folder, cache) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for (path, text) in NOTES {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let vault = Vault::open(folder.path()).unwrap();
    let index = Index::new(&vault, PrivateRules::default(), cache.path());
    FileFinderFixture { folder, _cache: cache, vault, index }
}

impl FileFinderFixture {
    /// With further files, which are empty.
    fn with(self, paths: &[&str]) -> Self {
        for path in paths {
            let file = self.folder.path().join(path);
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        self
    }

    fn indexed(self) -> Self {
        self.index.catch_up(&AtomicBool::new(false)).unwrap();
        self
    }

    fn found(&self, query: &str, recent: &[&str]) -> Vec<FoundFile> {
        let recent: Vec<_> = recent.iter().map(|path| NotePath::parse(path).unwrap()).collect();
        self.index.find_files(&self.vault, query, &recent, 10, |_| true).unwrap()
    }

    fn paths(&self, query: &str) -> Vec<String> {
        self.found(query, &[]).iter().map(|named| named.path.to_string()).collect()
    }

    fn first(&self, query: &str) -> String {
        self.found(query, &[]).first().map(|named| named.path.to_string()).unwrap_or_default()
    }
}

#[test]
fn some_letters_find_the_name_they_fit_best() {
    for fixture in [fixture(), fixture().indexed()] {
        for (query, path) in [
            ("groc", "Groceries.md"),
            ("garden", "Projects/Garden.md"),
            ("gplan", "Projects/Garden plan.md"),
            ("plan garden", "Projects/Garden plan.md"),
            ("PLAN 2019", "Projects/Old/Garden plan 2019.md"),
            ("old/plan", "Projects/Old/Garden plan 2019.md"),
            ("cafe resume", "Café résumé.md"),
            ("日記", "会議/日記.md"),
            ("xyzzy", ""),
        ] {
            assert_eq!(fixture.first(query), path, "{query}");
        }
    }
}

#[test]
fn a_sign_in_a_query_is_a_part_of_the_name_and_no_operator() {
    let pairs = [
        ("!Inbox", "Inbox"),
        ("Price$", "Price"),
        ("^Top", "Top"),
        ("'Quoted", "Quoted"),
        ("Money! box$", "Money box"),
    ];
    let files = pairs.map(|(signed, plain)| [format!("{signed}.md"), format!("{plain}.md")]);
    let files: Vec<&str> = files.iter().flatten().map(String::as_str).collect();
    for fixture in [fixture().with(&files), fixture().with(&files).indexed()] {
        for (signed, plain) in pairs {
            assert_eq!(fixture.paths(signed), [format!("{signed}.md")]);
            // The control: the name without the sign is that of its note, and a part of the other.
            let both = [format!("{plain}.md"), format!("{signed}.md")];
            assert_eq!(fixture.paths(plain), both);
        }
    }
}

#[test]
fn a_name_is_found_in_either_unicode_form() {
    let stored = ["U\u{308}bung.md", "Gru\u{308}n/To\u{308}pfe.md", "1\u{fe0f}\u{20e3} Start.md"];
    for fixture in [fixture().with(&stored), fixture().with(&stored).indexed()] {
        for (query, path) in [
            ("Übung", stored[0]),
            ("U\u{308}bung", stored[0]),
            ("ubung", stored[0]),
            ("grün/töpfe", stored[1]),
            ("1\u{fe0f}\u{20e3} Start", stored[2]),
            ("cafe\u{301} re\u{301}sume\u{301}", "Café résumé.md"),
            ("résumé", "Café résumé.md"),
        ] {
            assert_eq!(fixture.paths(query), [path], "{query}");
        }
        let found = fixture.found("Übung", &[]);
        let named: Vec<_> =
            found.iter().map(|named| (named.name.as_str(), named.marks.as_slice())).collect();
        assert_eq!(named, [("Übung", &[0, 1, 2, 3, 4][..])]);
        assert!(fixture.paths("Übungen").is_empty(), "the control");
    }
}

#[test]
fn a_file_that_is_not_wanted_takes_no_place_of_another() {
    for fixture in [fixture(), fixture().indexed()] {
        let first_two = |query: &str, wanted: fn(&NotePath) -> bool| -> Vec<String> {
            let found = fixture.index.find_files(&fixture.vault, query, &[], 2, wanted).unwrap();
            found.iter().map(|named| named.path.to_string()).collect()
        };
        let notes = ["Projects/Garden.md", "Projects/Garden plan.md"];
        assert_eq!(first_two("garden", NotePath::is_markdown), notes);
        let files = ["Projects/Garden.md", "photos/garden.png"];
        assert_eq!(first_two("garden", |_| true), files, "the control: the image fits better");
        let images = first_two("", |path| path.extension() == Some("png"));
        assert_eq!(images, ["photos/garden.png"]);
    }
}

#[test]
fn a_note_is_found_by_its_aliases_too_and_comes_once() {
    let fixture = fixture().indexed();
    let found = fixture.found("grunes", &[]);
    let names: Vec<_> = found
        .iter()
        .map(|named| (named.name.as_str(), named.is_alias, named.marks.len()))
        .collect();
    assert_eq!(names, [("Grünes", true, 6)]);
    fs::write(fixture.folder.path().join("Groceries.md"), "---\nalias: Grocer\n---\n").unwrap();
    fixture.index.refresh(&[NotePath::parse("Groceries.md").unwrap()]);
    assert_eq!(fixture.found("grocer", &[]).len(), 1);
    fs::remove_file(fixture.folder.path().join("Projects/Garden plan.md")).unwrap();
    fixture.index.refresh(&[NotePath::parse("Projects/Garden plan.md").unwrap()]);
    assert!(fixture.found("grunes", &[]).is_empty());
}

#[test]
fn without_letters_come_the_notes_that_were_open_lately() {
    for fixture in [fixture(), fixture().indexed()] {
        let found = fixture.found(" ", &["会議/日記.md", "Groceries.md", "gone.md"]);
        let paths: Vec<_> = found.iter().map(|named| named.path.as_str()).collect();
        assert_eq!(paths.get(..3).unwrap(), ["会議/日記.md", "Groceries.md", "Café résumé.md"]);
        assert_eq!(paths.len(), NOTES.len());
    }
}

#[test]
fn what_was_open_lately_comes_before_what_fits_as_well() {
    let fixture = fixture().indexed();
    let recent = "Projects/Old/Garden plan 2019.md";
    let found = fixture.found("garden plan", &[recent]);
    assert_eq!(found.first().unwrap().path.as_str(), recent);
}
