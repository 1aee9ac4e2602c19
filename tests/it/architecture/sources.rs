//! The rules for every source file: short, introduced, and free of the machine it was built on.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use super::{assert_none, root};

const MAX_LINES: usize = 500;

/// Files that a person writes and reads, by extension; `dev` and its like have none.
const CODE: [&str; 8] = ["rs", "ts", "svelte", "css", "sh", "mjs", "js", "sql"];
const TEXT: [&str; 6] = ["md", "toml", "json", "html", "yml", "svg"];

/// Folders of things made by programs, or of other people's text, by how their path ends.
const SKIPPED: [&str; 10] = [
    ".git",
    "target",
    "node_modules",
    "dist",
    "src-tauri/gen",
    "fuzz/artifacts",
    "fuzz/corpus",
    "ui/src/messages",
    ".svelte-kit",
    "vault-fixtures",
];

/// Written by programs.
const GENERATED: [&str; 3] = ["bindings.ts", "package-lock.json", "Cargo.lock"];

/// All files of the project, path below the root and text.
pub(super) fn source_files(root: &Path) -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).expect("a readable folder") {
            let path = entry.expect("a readable entry").path();
            let name = path.file_name().and_then(OsStr::to_str).unwrap_or_default();
            if path.is_dir() {
                let skipped = SKIPPED.iter().any(|end| path.ends_with(end));
                folders.extend((!skipped).then_some(path));
            } else if path.is_file() && !GENERATED.contains(&name) && is_text(&path) {
                let text = fs::read_to_string(&path).expect("a source file is UTF-8");
                found.push((path.strip_prefix(root).expect("below the root").to_owned(), text));
            }
        }
    }
    found
}

fn is_text(path: &Path) -> bool {
    is_code(path) || has_extension(path, &TEXT)
}

fn is_code(path: &Path) -> bool {
    path.extension().is_none() || has_extension(path, &CODE)
}

fn has_extension(path: &Path, extensions: &[&str]) -> bool {
    path.extension().and_then(OsStr::to_str).is_some_and(|name| extensions.contains(&name))
}

fn too_long(path: &Path, text: &str) -> Option<String> {
    let lines = text.lines().count();
    (is_code(path) && lines > MAX_LINES)
        .then(|| format!("{} has {lines} lines: split it before {MAX_LINES}", path.display()))
}

/// A file that is included into others cannot have `//!`: its first item's comment is its head.
fn lacks_head_comment(path: &Path, text: &str) -> Option<String> {
    let introduced = text.starts_with("//! ") || text.starts_with("/// ");
    (has_extension(path, &["rs"]) && !introduced)
        .then(|| format!("{} does not open with what it is for (`//!`)", path.display()))
}

/// A path of this machine in the text works on no other one.
fn names_this_machine(path: &Path, text: &str, places: &[PathBuf]) -> Option<String> {
    let named = places.iter().find(|place| {
        let name = place.to_string_lossy();
        // `/` alone, or a folder of one letter, would be found everywhere.
        name.len() > 3 && text.match_indices(&*name).any(|(at, _)| is_whole_path(text, at, &name))
    })?;
    Some(format!("{} names this machine's {}", path.display(), named.display()))
}

/// Whether what is found at `at` is a whole path, and no part of a longer name.
fn is_whole_path(text: &str, at: usize, name: &str) -> bool {
    let of_a_name = |letter: char| letter.is_alphanumeric() || "._-".contains(letter);
    let before = text[..at].chars().next_back();
    let after = text[at + name.len()..].chars().next();
    !before.is_some_and(of_a_name) && !after.is_some_and(of_a_name)
}

fn machine_paths() -> Vec<PathBuf> {
    let home = std::env::home_dir();
    std::iter::once(root()).chain(home).collect()
}

#[test]
fn every_source_file_is_short_introduced_and_free_of_this_machine() {
    let files = source_files(&root());
    assert!(files.len() > 50, "only {} files were found", files.len());
    let places = machine_paths();
    let complaints = files.iter().flat_map(|(path, text)| {
        let machine = names_this_machine(path, text, &places);
        [too_long(path, text), lacks_head_comment(path, text), machine]
    });
    assert_none(&complaints.flatten().collect::<Vec<_>>());
}

#[test]
fn a_long_a_bare_and_a_bound_file_are_complained_about() {
    let rust = Path::new("a.rs");
    assert!(too_long(rust, &"\n".repeat(MAX_LINES)).is_none());
    assert!(too_long(rust, &"\n".repeat(MAX_LINES + 1)).is_some());
    assert!(too_long(Path::new("ui/b.svelte"), &"\n".repeat(MAX_LINES + 1)).is_some());
    assert!(too_long(Path::new("prose.md"), &"\n".repeat(MAX_LINES + 1)).is_none());
    assert!(lacks_head_comment(rust, "//! What it is for.\n").is_none());
    assert!(lacks_head_comment(rust, "use std::fs;\n").is_some());
    let places = [PathBuf::from("/home/ines/notes")];
    assert!(names_this_machine(rust, "see /home/ines/notes/dev", &places).is_some());
    assert!(names_this_machine(rust, "see /home/ines/notesbook", &places).is_none());
    assert!(names_this_machine(rust, "see /mnt/home/ines/notes", &places).is_none());
}

#[test]
fn generated_and_foreign_files_are_not_judged() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for name in
        ["target/x.rs", "ui/node_modules/y.ts", "ui/src/z.ts", "ui/src/ipc/bindings.ts", "dev"]
    {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs::write(path, "text").expect("the file");
    }
    let mut found: Vec<_> = source_files(folder.path()).into_iter().map(|(path, _)| path).collect();
    found.sort();
    assert_eq!(found, [PathBuf::from("dev"), PathBuf::from("ui/src/z.ts")]);
}

/// proptest replays the cases of `proptest-regressions/A.txt` only for a source file `src/A.rs`.
fn saved_cases_without_source(package: &Path) -> Vec<String> {
    let saved = package.join("proptest-regressions");
    let mut found = Vec::new();
    let mut folders = vec![saved.clone()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("a readable entry").path();
            let below = path.strip_prefix(&saved).expect("below the saved cases");
            let source = package.join("src").join(below).with_extension("rs");
            if path.is_dir() {
                folders.push(path);
            } else if !source.is_file() {
                found.push(format!("{}: no test replays it, move or delete it", path.display()));
            }
        }
    }
    found
}

#[test]
fn saved_cases_of_proptest_stand_beside_their_source_file() {
    let packages = fs::read_dir(root().join("crates")).expect("the crates");
    let folders = packages.map(|entry| entry.expect("a readable entry").path());
    assert_none(&folders.flat_map(|path| saved_cases_without_source(&path)).collect::<Vec<_>>());
}

#[test]
fn saved_cases_of_a_renamed_source_file_are_complained_about() {
    let package = tempfile::tempdir().expect("a temporary folder");
    for name in ["src/a/new.rs", "proptest-regressions/a/new.txt", "proptest-regressions/a/old.txt"]
    {
        let path = package.path().join(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("the folder");
        fs::write(path, "").expect("the file");
    }
    let found = saved_cases_without_source(package.path());
    assert!(found.len() == 1 && found[0].contains("a/old.txt"), "{found:?}");
}
