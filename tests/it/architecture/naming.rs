//! Which words names and texts may use: names that a stranger can guess, and one word for one thing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::sources::source_files;
use super::{assert_none, root};

/// A folder with more modules wants sub-folders.
const MAX_MODULES: usize = 14;

/// The size of `docs/architecture.md` in bytes: a page that is read to its end.
const MAX_ARCHITECTURE_BYTES: usize = 9 * 1024;

/// The length of a commit subject in characters.
const MAX_SUBJECT_CHARS: usize = 72;

/// The subject of the first commit to which the rule for subjects applies.
const FIRST_RULED_SUBJECT: &str =
    "cli, packaging: describe commands and packages in standard terms";

/// Names of modules that say nothing to a stranger. The field has a term for each.
const OBSCURE_MODULES: [&str; 64] = [
    "act",
    "anew",
    "announce",
    "aside",
    "asked",
    "asking",
    "at_hand",
    "beginnings",
    "beside",
    "briefing",
    "by_kind",
    "carrying",
    "clearing",
    "closest",
    "dead",
    "describing",
    "desk",
    "door",
    "felt",
    "fits",
    "forgotten",
    "found",
    "gather",
    "gauge",
    "gist",
    "ground",
    "growing",
    "having",
    "heard",
    "held",
    "home",
    "in_the_way",
    "keeping",
    "known",
    "law",
    "letter",
    "looking",
    "lookout",
    "marks",
    "masked",
    "mentioning",
    "moving_on",
    "narrow",
    "nothing",
    "onlook",
    "own_words",
    "pace",
    "past",
    "played",
    "purse",
    "relink",
    "rounds",
    "said",
    "saving",
    "seams",
    "shelf",
    "shown",
    "sighting",
    "so_far",
    "soon",
    "spot",
    "stretch",
    "undoing",
    "works",
];

/// Types of one name in two places, each with the reason why no reader takes one for the other.
const SHARED_TYPE_NAMES: [(&str, &str); 2] = [
    ("Keyring", "one for each kind of keyring, behind one module"),
    ("SentNote", "the port that `tools` declares, and what `app` knows about the same note"),
];

/// The same for types of the window.
const SHARED_UI_TYPE_NAMES: [(&str, &str); 1] =
    [("Props", "each component names its properties so, as Svelte's documentation does")];

/// The types of the window that Rust declares. No other rule reads this file, as a program writes it.
const BINDINGS: &str = "ui/src/ipc/bindings.ts";

/// Modules by folder, a module and its sub-folder counted once. Roots of crates and binaries have no
/// name of their own.
fn modules_by_folder<'a>(
    paths: impl Iterator<Item = &'a Path>,
) -> BTreeMap<PathBuf, BTreeSet<String>> {
    let mut folders: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    for path in paths {
        let extension = path.extension().and_then(|it| it.to_str()).unwrap_or_default();
        let (Some(folder), Some(stem)) = (path.parent(), path.file_stem()) else { continue };
        let stem = stem.to_string_lossy();
        if !["rs", "ts", "svelte"].contains(&extension) || !is_code_folder(folder) {
            continue;
        }
        let stem = stem.trim_end_matches(".svelte").trim_end_matches(".test");
        let module = match (extension, stem) {
            ("rs", "lib" | "main" | "build") => continue,
            ("rs", "mod") => None,
            _ => Some((folder, stem.to_owned())),
        };
        let mut add = |folder: &Path, name: String| {
            folders.entry(folder.to_owned()).or_default().insert(name);
        };
        if let Some((folder, name)) = module {
            add(folder, name);
        }
        if extension != "rs" {
            continue;
        }
        // In Rust the folder is a module of the one above it.
        let mut folder = folder;
        while let (Some(parent), Some(name)) = (folder.parent(), folder.file_name()) {
            if !is_code_folder(parent) {
                break;
            }
            add(parent, name.to_string_lossy().into_owned());
            folder = parent;
        }
    }
    folders
}

/// Below the folder where a crate, the tests or the window have their modules.
fn is_code_folder(folder: &Path) -> bool {
    let parts: Vec<_> = folder.iter().map(|part| part.to_string_lossy()).collect();
    let parts: Vec<&str> = parts.iter().map(AsRef::as_ref).collect();
    match parts.as_slice() {
        ["crates", _, "src" | "tests" | "benches", ..]
        | ["src-tauri" | "benches" | "ui", "src", ..]
        | ["ui", "tests", ..]
        | ["tests", "it" | "desktop" | "support", ..] => !parts.contains(&"bin"),
        _ => false,
    }
}

fn crowded(folders: &BTreeMap<PathBuf, BTreeSet<String>>) -> Vec<String> {
    let crowded = folders.iter().filter(|(_, modules)| modules.len() > MAX_MODULES);
    let complaint = |(folder, modules): (&PathBuf, &BTreeSet<String>)| {
        format!("{} has {} modules: at most {MAX_MODULES}", folder.display(), modules.len())
    };
    crowded.map(complaint).collect()
}

fn obscure(folders: &BTreeMap<PathBuf, BTreeSet<String>>) -> Vec<String> {
    let all = folders.iter().flat_map(|(folder, modules)| modules.iter().map(move |m| (folder, m)));
    let obscure = all.filter(|(_, name)| {
        let name = name.replace('-', "_").to_lowercase();
        OBSCURE_MODULES.contains(&name.as_str())
    });
    obscure
        .map(|(folder, name)| format!("{}: `{name}` is no name for a module", folder.display()))
        .collect()
}

/// Where each type is declared; types of a trait or an `impl` belong to it.
fn declared_types(files: &[(PathBuf, String)]) -> BTreeMap<&str, BTreeSet<&Path>> {
    let mut types: BTreeMap<&str, BTreeSet<&Path>> = BTreeMap::new();
    for (path, text) in files {
        if path.extension().is_none_or(|it| it != "rs") {
            continue;
        }
        for line in text.lines() {
            let item = line.trim_start();
            let indented = item.len() < line.len();
            let item = item.strip_prefix("pub").map_or(item, |rest| {
                rest.split_once(") ").map_or(rest, |(_, item)| item).trim_start()
            });
            let Some((kind, rest)) = item.split_once(' ') else { continue };
            let is_type = match kind {
                "struct" | "enum" | "trait" | "union" => true,
                "type" => !indented,
                _ => false,
            };
            let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            let name = rest.get(..end).unwrap_or_default();
            if is_type && name.starts_with(char::is_uppercase) {
                types.entry(name).or_default().insert(path);
            }
        }
    }
    types
}

/// Where each type of the window is declared.
fn declared_ui_types(files: &[(PathBuf, String)]) -> BTreeMap<&str, BTreeSet<&Path>> {
    let mut types: BTreeMap<&str, BTreeSet<&Path>> = BTreeMap::new();
    for (path, text) in files {
        if path.extension().is_none_or(|it| it != "ts" && it != "svelte") {
            continue;
        }
        for name in text.lines().filter_map(declared_ui_type) {
            types.entry(name).or_default().insert(path);
        }
    }
    types
}

fn declared_ui_type(line: &str) -> Option<&str> {
    let mut item = line.trim_start();
    for modifier in ["export ", "default ", "declare ", "abstract "] {
        item = item.strip_prefix(modifier).unwrap_or(item);
    }
    let (kind, rest) = item.split_once(' ')?;
    let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
    let (name, rest) = rest.split_at(end);
    let is_type = match kind {
        "interface" | "class" | "enum" => true,
        // In a list of imports a name follows `type` too.
        "type" => rest.trim_start().starts_with(['=', '<']),
        _ => false,
    };
    (is_type && name.starts_with(char::is_uppercase)).then_some(name)
}

fn ambiguous(
    types: &BTreeMap<&str, BTreeSet<&Path>>,
    shared_names: &[(&str, &str)],
) -> Vec<String> {
    let excused = |name: &str| shared_names.iter().any(|(shared, _)| *shared == name);
    let shared = types.iter().filter(|(name, places)| places.len() > 1 && !excused(name));
    shared.map(|(name, places)| format!("`{name}` means several things: {places:?}")).collect()
}

/// Paths of source files that a page of the docs names and that are not there.
fn missing_paths(page: &Path, text: &str, exists: impl Fn(&Path) -> bool) -> Vec<String> {
    const TOPS: [&str; 7] = ["crates", "src-tauri", "ui", "tests", "benches", "docs", "fuzz"];
    let named = text.split(|c: char| !c.is_alphanumeric() && !"/._-".contains(c));
    let missing = named.map(|word| word.trim_end_matches('.')).filter(|word| {
        let path = Path::new(word);
        let is_rooted = word.split_once('/').is_some_and(|(top, _)| TOPS.contains(&top));
        // `NAME` and `NNNN` stand for any name.
        let is_pattern = word.contains("NAME") || word.contains("NNNN");
        is_rooted && !is_pattern && path.extension().is_some() && !exists(path)
    });
    missing.map(|word| format!("{} names {word}, which is not there", page.display())).collect()
}

fn subject_complaint(subject: &str) -> Option<String> {
    let words = subject.split_once(": ").filter(|(area, rest)| {
        let of_area =
            |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || " -_/.,".contains(c);
        !area.is_empty() && area.chars().all(of_area) && rest.starts_with(char::is_lowercase)
    });
    if words.is_none() {
        return Some(format!("not `area: verb object`: {subject}"));
    }
    (subject.chars().count() > MAX_SUBJECT_CHARS)
        .then(|| format!("longer than {MAX_SUBJECT_CHARS} characters: {subject}"))
}

/// The subjects since the rule holds; none where the history is not there or cut before it.
fn ruled_subjects() -> Vec<String> {
    let log = Command::new("git")
        .current_dir(root())
        .args(["log", "--no-merges", "--format=%s"])
        .output()
        .expect("git runs");
    let all = String::from_utf8_lossy(&log.stdout);
    let mut subjects: Vec<String> = all.lines().map(str::to_owned).collect();
    match subjects.iter().position(|subject| subject == FIRST_RULED_SUBJECT) {
        Some(first) => subjects.truncate(first + 1),
        None => subjects.clear(),
    }
    subjects
}

#[test]
fn folders_are_small_and_modules_have_names_of_the_field() {
    let files = source_files(&root());
    let folders = modules_by_folder(files.iter().map(|(path, _)| path.as_path()));
    assert!(folders.len() > 50, "only {} folders were found", folders.len());
    assert_none(&[crowded(&folders), obscure(&folders)].concat());
}

#[test]
fn a_crowded_folder_and_an_obscure_name_are_complained_about() {
    let names = (0..=MAX_MODULES).map(|n| PathBuf::from(format!("crates/app/src/chat/m{n}.rs")));
    let mut paths: Vec<PathBuf> = names.collect();
    assert_eq!(crowded(&modules_by_folder(paths.iter().map(PathBuf::as_path))).len(), 1);
    // A module and its sub-folder are one, and the roots of crates are none.
    paths.pop();
    paths.extend(["crates/app/src/chat/m0/deep.rs", "crates/app/src/lib.rs"].map(PathBuf::from));
    assert!(crowded(&modules_by_folder(paths.iter().map(PathBuf::as_path))).is_empty());

    for path in ["crates/app/src/looking.rs", "ui/src/state/own-words.ts", "ui/src/Shelf.svelte"] {
        assert_eq!(obscure(&modules_by_folder([Path::new(path)].into_iter())).len(), 1, "{path}");
    }
    let fine = Path::new("crates/app/src/queries.rs");
    assert!(obscure(&modules_by_folder([fine].into_iter())).is_empty());
}

#[test]
fn a_type_name_means_one_thing() {
    let files = source_files(&root());
    let types = declared_types(&files);
    assert!(types.len() > 500, "only {} types were found", types.len());
    assert_none(&ambiguous(&types, &SHARED_TYPE_NAMES));
    assert_none(&unneeded_excuses(&types, &SHARED_TYPE_NAMES));
}

#[test]
fn a_type_name_of_the_window_means_one_thing() {
    let mut files = source_files(&root());
    let bindings = fs::read_to_string(root().join(BINDINGS)).expect("the bindings");
    files.push((BINDINGS.into(), bindings));
    let types = declared_ui_types(&files);
    assert!(types.len() > 300, "only {} types were found", types.len());
    assert_none(&ambiguous(&types, &SHARED_UI_TYPE_NAMES));
    assert_none(&unneeded_excuses(&types, &SHARED_UI_TYPE_NAMES));
}

fn unneeded_excuses(
    types: &BTreeMap<&str, BTreeSet<&Path>>,
    shared_names: &[(&str, &str)],
) -> Vec<String> {
    let is_alone = |name: &str| types.get(name).is_none_or(|places| places.len() < 2);
    let unneeded = shared_names.iter().filter(|(name, _)| is_alone(name));
    unneeded.map(|(name, _)| format!("`{name}` needs no excuse")).collect()
}

#[test]
fn a_type_that_is_declared_twice_is_complained_about() {
    let file = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
    let twice = [
        file("a.rs", "pub(crate) struct Place;\n"),
        file("b.rs", "    enum Place {\nimpl Iterator for X {\n    type Item = u8;\n"),
        file("c.rs", "    type Item = u8;\nstruct Keyring;\n"),
        file("d.rs", "struct Keyring;\n"),
    ];
    let complaints = ambiguous(&declared_types(&twice), &SHARED_TYPE_NAMES);
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains("Place"));
}

#[test]
fn a_type_of_the_window_that_is_declared_twice_is_complained_about() {
    let file = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
    let twice = [
        file("a.ts", "export type Group<T> = readonly T[];\n"),
        file("b.svelte", "<script lang=\"ts\">\n  interface Group {\n  interface Props {\n"),
        file(
            "c.svelte",
            "  import {\n    type Mark,\n    type Part as Row,\n  interface Props {\n",
        ),
        file("d.svelte.ts", "export interface Mark {\ntype Part =\n  | { type: 'row' }\n"),
    ];
    let complaints = ambiguous(&declared_ui_types(&twice), &SHARED_UI_TYPE_NAMES);
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains("Group"));
}

fn oversized_architecture(path: &Path, text: &str) -> Option<String> {
    let is_oversized =
        path == Path::new("docs/architecture.md") && text.len() > MAX_ARCHITECTURE_BYTES;
    let complaint = || {
        let size = text.len();
        format!("{} has {size} bytes: at most {MAX_ARCHITECTURE_BYTES}", path.display())
    };
    is_oversized.then(complaint)
}

#[test]
fn an_architecture_page_that_is_too_long_is_complained_about() {
    let path = Path::new("docs/architecture.md");
    let text = "x".repeat(MAX_ARCHITECTURE_BYTES);
    assert_eq!(oversized_architecture(path, &text), None);
    assert!(oversized_architecture(path, &(text + "x")).is_some());
}

#[test]
fn the_docs_name_what_is_there_and_the_architecture_is_one_page() {
    let files = source_files(&root());
    let pages = files.iter().filter(|(path, _)| {
        path.extension().is_some_and(|it| it == "md") && !path.starts_with("tests")
    });
    let mut complaints = Vec::new();
    for (path, text) in pages {
        complaints.extend(missing_paths(path, text, |named| root().join(named).exists()));
        complaints.extend(oversized_architecture(path, text));
    }
    assert_none(&complaints);
}

#[test]
fn a_path_that_is_gone_is_complained_about() {
    let page = Path::new("docs/page.md");
    let text =
        "See `crates/app/src/gone.rs`, tests/it/main.rs, docs/NAME.md and target/debug/x.rs.";
    let complaints = missing_paths(page, text, |path| path == Path::new("tests/it/main.rs"));
    assert_eq!(complaints.len(), 1, "{complaints:?}");
}

#[test]
fn commit_subjects_name_an_area_and_say_what_they_do() {
    let complaints =
        ruled_subjects().iter().filter_map(|it| subject_complaint(it)).collect::<Vec<_>>();
    assert_none(&complaints);
}

#[test]
fn a_subject_without_an_area_and_a_long_one_are_complained_about() {
    assert!(subject_complaint("vault: keep the bytes of open writers").is_none());
    assert!(subject_complaint("Fix things").is_some());
    assert!(subject_complaint("vault: Keep the bytes").is_some());
    assert!(subject_complaint(&format!("vault: {}", "x".repeat(MAX_SUBJECT_CHARS))).is_some());
}
