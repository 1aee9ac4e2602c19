//! The source files of a crate do not import each other in large cycles. The rule reads `use` declarations and
//! inline paths, follows re-exports to the file that declares the name, and leaves tests out.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use super::sources::source_files;
use super::{assert_none, root};

/// The number of files that one cycle may have.
const MAX_CYCLE_FILES: usize = 3;

/// The number of re-exports that are followed one after another; one may name itself.
const MAX_REEXPORTS: usize = 8;

/// The names from the root of the crate to a module or to an item in it, or as the source has them.
type ModulePath<'a> = Vec<&'a str>;

#[derive(Default)]
pub(super) struct FileImports<'a> {
    module: ModulePath<'a>,
    /// The paths in code outside `use` declarations.
    pub(super) inline: BTreeSet<ModulePath<'a>>,
    /// The paths of `use` declarations by the name that each gets in this file.
    used: BTreeMap<&'a str, BTreeSet<ModulePath<'a>>>,
    /// Modules that the file declares for tests alone.
    test_modules: Vec<ModulePath<'a>>,
}

/// The files of a crate that are no tests.
type CrateFiles<'a> = BTreeMap<&'a Path, FileImports<'a>>;

fn is_of_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The names and signs of a Rust source, without comments, strings, characters and lifetimes.
fn tokens(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let (name, after) = rest.split_at(rest.find(|c| !is_of_name(c)).unwrap_or(rest.len()));
        let until = |end: &str, from: usize| {
            rest[from..].find(end).map_or(rest.len(), |at| from + at + end.len())
        };
        // A lifetime has no second quote behind its first character.
        let is_character = rest.chars().nth(2) == Some('\'') || rest.starts_with("'\\");
        let unmarked = after.trim_start_matches('#');
        let length = if rest.starts_with("//") {
            until("\n", 0)
        } else if rest.starts_with("/*") {
            until("*/", 2)
        } else if ["r", "br", "cr"].contains(&name) && unmarked.starts_with('"') {
            let marks = &after[..after.len() - unmarked.len()];
            until(&format!("\"{marks}"), rest.len() - unmarked.len() + 1)
        } else if first == '"' || (first == '\'' && is_character) {
            quoted_length(rest)
        } else if first == '\'' {
            rest[1..].find(|c| !is_of_name(c)).map_or(rest.len(), |at| at + 1)
        } else {
            let sign = if rest.starts_with("::") { 2 } else { first.len_utf8() };
            found.push(&rest[..name.len().max(sign)]);
            name.len().max(sign)
        };
        rest = rest[length..].trim_start();
    }
    found
}

/// The length of the string or the character that the text begins with.
fn quoted_length(text: &str) -> usize {
    let mut escaped = false;
    let is_end = |c: char| {
        let is_end = !escaped && text.starts_with(c);
        escaped = c == '\\' && !escaped;
        is_end
    };
    text[1..].find(is_end).map_or(text.len(), |at| at + 2)
}

/// Whether the tokens, from the `[` of an attribute on, keep what follows to tests.
fn is_for_tests(attribute: &[&str]) -> bool {
    let condition = attribute.strip_prefix(&["[", "cfg", "("]).unwrap_or_default();
    condition.starts_with(&["test"]) || condition.starts_with(&["all", "(", "test"])
}

/// The number of tokens of the item, field or statement that they begin with, its attributes included.
fn item_length(tokens: &[&str]) -> usize {
    let (mut depth, mut is_item) = (0_usize, false);
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            ")" | "]" | "}" if depth == 0 => return at,
            "}" if depth == 1 => return at + 1,
            ";" if depth == 0 => return at + 1,
            "," if depth == 0 && !is_item => return at + 1,
            "(" | "[" | "{" => depth += 1,
            ")" | "]" | "}" => depth -= 1,
            word => {
                is_item |= ["enum", "fn", "impl", "mod", "struct", "type", "use"].contains(&word)
            }
        }
    }
    tokens.len()
}

/// The names with `::` between them that the tokens begin with, and the tokens behind them.
fn leading_path<'a, 't>(tokens: &'t [&'a str]) -> (ModulePath<'a>, &'t [&'a str]) {
    let mut path = Vec::new();
    while let Some(name) = tokens.get(2 * path.len()).filter(|it| it.starts_with(is_of_name)) {
        path.push(*name);
        if tokens.get(2 * path.len() - 1) != Some(&"::") {
            break;
        }
    }
    let length = (2 * path.len()).saturating_sub(1);
    (path, &tokens[length..])
}

/// The paths of a `use` declaration, each with the name that it gets. A glob is a path that ends in `*`.
fn used_paths<'a>(tokens: &[&'a str]) -> Vec<(&'a str, ModulePath<'a>)> {
    let mut found = Vec::new();
    let mut groups = vec![Vec::new()];
    let (mut path, mut alias) = (Vec::new(), None);
    let mut tokens = tokens.iter().copied().chain([","]);
    while let Some(token) = tokens.next() {
        match token {
            // No module has an empty name: a path that begins with `::` leads outside the crate.
            "::" => path.extend(path.is_empty().then_some("")),
            "{" => groups.push(path.clone()),
            "as" => alias = tokens.next(),
            "," | "}" => {
                let is_new = groups.last().is_some_and(|group| path.len() > group.len());
                let name = alias.take().or(path.iter().rfind(|it| **it != "self").copied());
                found.extend(name.filter(|_| is_new).map(|name| (name, path)));
                groups.pop_if(|_| token == "}");
                path = groups.last().cloned().unwrap_or_default();
            }
            name => path.push(name),
        }
    }
    found
}

/// The imports of a file outside its tests.
fn file_imports<'a>(module: ModulePath<'a>, text: &'a str) -> FileImports<'a> {
    let tokens = tokens(text);
    let mut found = FileImports { module, ..FileImports::default() };
    let mut rest = tokens.as_slice();
    while let [token, after @ ..] = rest {
        let (path, behind) = leading_path(rest);
        rest = after;
        match (*token, after) {
            ("#", ["!", attribute @ ..]) if is_for_tests(attribute) => break,
            ("#", attribute) if is_for_tests(attribute) => {
                let (skipped, behind) = after.split_at(item_length(after));
                if let [.., "mod", name, ";"] = skipped {
                    found.test_modules.push([&found.module[..], &[name]].concat());
                }
                rest = behind;
            }
            ("use", [first, ..]) if *first != "<" => {
                let end = after.iter().position(|it| *it == ";").unwrap_or(after.len());
                for (name, path) in used_paths(&after[..end]) {
                    found.used.entry(name).or_default().insert(path);
                }
                rest = &after[end..];
            }
            // A visibility is no import.
            ("(", ["in", path @ ..]) => rest = leading_path(path).1,
            // What follows a `::` that no name precedes belongs to a type or to another crate.
            ("::", path) => rest = leading_path(path).1,
            _ if path.len() > 1 => {
                found.inline.insert(path);
                rest = behind;
            }
            _ => {}
        }
    }
    found
}

/// The crate and the module of a source file.
fn crate_and_module(path: &Path) -> Option<(&str, ModulePath<'_>)> {
    let parts: Vec<&str> = path.to_str()?.strip_suffix(".rs")?.split('/').collect();
    let (name, module) = match parts.as_slice() {
        ["crates", name, "src", module @ ..] => (name, module),
        [name @ "src-tauri", "src", module @ ..] => (name, module),
        _ => return None,
    };
    let module = match module {
        ["lib" | "main"] => &[],
        [folder @ .., "mod"] => folder,
        _ => module,
    };
    Some((name, module.to_vec()))
}

/// The files of each crate that are no tests.
pub(super) fn files_by_crate(files: &[(PathBuf, String)]) -> BTreeMap<&str, CrateFiles<'_>> {
    let mut crates: BTreeMap<&str, CrateFiles<'_>> = BTreeMap::new();
    for (path, text) in files {
        if let Some((name, module)) = crate_and_module(path) {
            crates.entry(name).or_default().insert(path, file_imports(module, text));
        }
    }
    for files in crates.values_mut() {
        let tests: Vec<_> = files.values().flat_map(|file| file.test_modules.clone()).collect();
        files.retain(|_, file| !tests.iter().any(|test| file.module.starts_with(test)));
    }
    crates
}

/// The modules of a crate, each with its file.
type CrateModules<'a, 'f> = BTreeMap<&'f [&'a str], (usize, &'f FileImports<'a>)>;

/// Where a path in a module leads to, past re-exports: a module, or a module with the name of an item in it.
/// `None` stands for a path outside the crate. At most `steps` re-exports are followed.
fn resolve<'a>(
    modules: &CrateModules<'a, '_>,
    from: &[&'a str],
    path: &[&'a str],
    steps: usize,
) -> Option<ModulePath<'a>> {
    let mut at = from.to_vec();
    for (index, name) in path.iter().enumerate() {
        let used = modules.get(&at[..]).and_then(|(_, file)| file.used.get(name));
        let child = [&at[..], &[name]].concat();
        match *name {
            "crate" => at.clear(),
            "self" => {}
            "super" => drop(at.pop()),
            "*" => return Some(child),
            _ if modules.contains_key(&child[..]) => at = child,
            _ if index == 0 && used.is_none() => return None,
            _ => {
                // A name with several declarations depends on the platform: its module stands for all.
                let used = used.filter(|paths| paths.len() == 1 && steps > 0);
                let Some(target) = used.and_then(BTreeSet::first) else { return Some(child) };
                at = resolve(modules, &at, target, steps - 1)?;
                if !modules.contains_key(&at[..]) {
                    return Some(at);
                }
            }
        }
    }
    Some(at)
}

/// For each file of a crate, in order, the indices of the files that it imports from.
fn imported_files(files: &CrateFiles<'_>) -> Vec<BTreeSet<usize>> {
    let mut modules = CrateModules::new();
    for (index, file) in files.values().enumerate() {
        modules.entry(&file.module).or_insert((index, file));
    }
    let imported = |(index, file): (usize, &FileImports<'_>)| {
        let paths = file.inline.iter().chain(file.used.values().flatten());
        let resolved = paths.filter_map(|it| resolve(&modules, &file.module, it, MAX_REEXPORTS));
        let deepest = |path: ModulePath<'_>| {
            (0..=path.len()).rev().find_map(|end| modules.get(&path[..end])).map(|(file, _)| *file)
        };
        resolved.filter_map(deepest).filter(|target| *target != index).collect()
    };
    files.values().enumerate().map(imported).collect()
}

/// The cycles of more than `MAX_CYCLE_FILES` files, the largest first: of two files in one, each imports the
/// other, directly or through others.
fn large_cycles<'a>(files: &CrateFiles<'a>) -> Vec<Vec<&'a Path>> {
    let imported = imported_files(files);
    let reached_from = |file: usize| {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![file];
        while let Some(file) = waiting.pop() {
            waiting.extend(imported[file].iter().filter(|next| reached.insert(**next)));
        }
        reached
    };
    let reached: Vec<BTreeSet<usize>> = (0..imported.len()).map(reached_from).collect();
    let paths: Vec<&Path> = files.keys().copied().collect();
    let cycle_of = |file: usize| -> Vec<&Path> {
        let cycle = reached[file].iter().filter(|other| reached[**other].contains(&file));
        cycle.map(|other| paths[*other]).collect()
    };
    let mut large = Vec::from_iter((0..imported.len()).map(cycle_of).collect::<BTreeSet<_>>());
    large.retain(|cycle| cycle.len() > MAX_CYCLE_FILES);
    large.sort_by_key(|cycle| Reverse(cycle.len()));
    large
}

/// Names the files of each cycle.
fn complaints(name: &str, cycles: &[Vec<&Path>]) -> Vec<String> {
    let complaint = |files: &Vec<&Path>| {
        let paths: String = files.iter().map(|path| format!("\n    {}", path.display())).collect();
        format!("`{name}` has a cycle of imports between {} files:{paths}", files.len())
    };
    cycles.iter().map(complaint).collect()
}

#[test]
fn no_cycle_of_imports_has_more_than_three_files() {
    let files = source_files(&root());
    let crates = files_by_crate(&files);
    let imports: usize = crates.values().flat_map(imported_files).map(|it| it.len()).sum();
    assert!(imports > 1_000, "only {imports} imports between files were found");
    let found = crates.iter().flat_map(|(name, files)| complaints(name, &large_cycles(files)));
    assert_none(&found.collect::<Vec<_>>());
}

/// The complaints about a crate of these files in `src`.
fn complaints_about(files: &[(&str, &str)]) -> Vec<String> {
    let path = |name: &str| PathBuf::from(format!("crates/sample/src/{name}"));
    let files: Vec<_> = files.iter().map(|(name, text)| (path(name), (*text).into())).collect();
    complaints("sample", &large_cycles(&files_by_crate(&files)["sample"]))
}

/// Four files, each importing the next in its own way; the last one has this text.
fn chain(last: &str) -> [(&'static str, &str); 5] {
    [
        ("lib.rs", "pub use ::a::Kind;"),
        ("a.rs", "use std::fs; use crate::{b::{self as next, Kind}, missing::Name as _};"),
        ("b/mod.rs", "fn first(self) { super::c::Kind::first('\\'', r#\"\"\"#) }"),
        ("c.rs", "pub(in crate::a) use super::d; /* \" */ const QUOTE: char = '\"';"),
        ("d.rs", last),
    ]
}

#[test]
fn a_cycle_of_four_files_is_complained_about_and_one_of_three_is_not() {
    let four = chain("use crate::a::First::*;");
    let complaints = complaints_about(&four);
    assert_eq!(complaints.len(), 1, "{complaints:?}");
    assert!(complaints[0].contains("4 files:\n    crates/sample/src/a.rs\n"), "{complaints:?}");
    let three = chain("use crate::b::{self};");
    assert!(complaints_about(&three).is_empty());
}

#[test]
fn a_name_is_imported_from_where_it_is_declared() {
    let files = |last| {
        [
            ("lib.rs", "pub use hub::One;"),
            ("hub.rs", "pub use one::{One, *}; pub use self::two::{Two as Second};"),
            ("hub/one.rs", "use super::Second;"),
            ("hub/two.rs", "use crate::kind::Kind;"),
            ("kind.rs", last),
        ]
    };
    assert!(complaints_about(&files("use crate::One;")).is_empty());
    for of_hub in ["use crate::hub::Third;", "use crate::hub::*;"] {
        assert_eq!(complaints_about(&files(of_hub)).len(), 1, "{of_hub}");
    }
}

#[test]
fn tests_comments_and_strings_import_nothing() {
    for text in [
        "#[cfg(test)] mod tests { use crate::a::First; }",
        "#[cfg(all(test, unix))] use crate::{a::First};",
        "#[cfg(test)] #[allow(dead_code)] fn first<A, B>() { crate::a::first() }",
        "//! [crate::a::First]\n// use crate::a::First;\n/* crate::a::First */",
        "const TEXT: &str = \"\\\"crate::a::First\";",
        "pub(in crate::a) struct Kind; use crate::Own;",
    ] {
        assert!(complaints_about(&chain(text)).is_empty(), "{text}");
    }
    let tests = ["d/tests.rs", "d/tests/one.rs", "d/tests/two.rs", "d/tests/three.rs"];
    let tests = tests.map(|name| (name, "use crate::d::tests::{one, two, three, Kind};"));
    let files = |last| [&chain(last)[..], &tests].concat();
    assert!(complaints_about(&files("#[cfg(test)] mod tests;")).is_empty());
    assert_eq!(complaints_about(&files("#[cfg(unix)] mod tests;")).len(), 1);
}
