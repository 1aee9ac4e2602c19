//! The locked libraries against a list of advisories: a folder as the RustSec database has it,
//! `crates/NAME/ID.md`, each file with a block of TOML at its top. `./dev check` names the folder.

use std::fs;
use std::path::{Path, PathBuf};

use semver::{Version, VersionReq};

use super::versions::locked_crates;
use super::{assert_none, root};

/// The variable that names the folder.
const FOLDER_VARIABLE: &str = "VAULTMATE_ADVISORIES";

/// The files of the list, at least one.
fn advisory_files(list: &Path) -> Vec<PathBuf> {
    let folders = fs::read_dir(list.join("crates")).into_iter().flatten().flatten();
    let inside = folders.flat_map(|folder| fs::read_dir(folder.path()).into_iter().flatten());
    let files = inside.flatten().map(|file| file.path());
    let files: Vec<PathBuf> =
        files.filter(|file| file.extension().is_some_and(|e| e == "md")).collect();
    assert!(
        !files.is_empty(),
        "{} is no list of advisories: it has no crates/NAME/ID.md",
        list.display()
    );
    files
}

/// Advisories against the locked libraries, and those that cannot be read.
fn complaints(list: &Path, locked: &[(String, String)]) -> Vec<String> {
    let about = |file: &PathBuf| {
        let text = fs::read_to_string(file).expect("an advisory");
        complaints_of_advisory(&text, locked)
            .unwrap_or_else(|| vec![format!("{} cannot be read", file.display())])
    };
    advisory_files(list).iter().flat_map(about).collect()
}

/// The complaint of one advisory about the locked libraries; `None` also for one that is not
/// understood.
fn complaints_of_advisory(text: &str, locked: &[(String, String)]) -> Option<Vec<String>> {
    let block = text.split("```toml").nth(1)?.split("```").next()?;
    let table: toml::Table = toml::from_str(block).ok()?;
    let advisory = table.get("advisory")?;
    let field = |name: &str| advisory.get(name).and_then(toml::Value::as_str);
    let (id, package) = (field("id")?, field("package")?);
    // Notices (unmaintained, unsound) are no fault of the versions that are locked.
    if advisory.get("withdrawn").is_some() || advisory.get("informational").is_some() {
        return Some(Vec::new());
    }
    let ranges = |name: &str| -> Option<Vec<VersionReq>> {
        let list = table.get("versions").and_then(|versions| versions.get(name));
        let list = list.and_then(toml::Value::as_array).map_or(&[][..], Vec::as_slice);
        list.iter().map(|range| VersionReq::parse(range.as_str()?).ok()).collect()
    };
    let safe = [ranges("patched")?, ranges("unaffected")?].concat();
    let mut found = Vec::new();
    for (name, version) in locked.iter().filter(|(name, _)| name == package) {
        let parsed = Version::parse(version).ok()?;
        if !safe.iter().any(|range| range.matches(&parsed)) {
            found.push(format!("{name} {version}: {id}"));
        }
    }
    Some(found)
}

fn locked_libraries() -> Vec<(String, String)> {
    locked_crates(&fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock"))
}

#[test]
#[ignore = "wants a list of advisories in VAULTMATE_ADVISORIES: ./dev check names one"]
fn no_locked_library_has_an_advisory() {
    let list =
        std::env::var_os(FOLDER_VARIABLE).expect("VAULTMATE_ADVISORIES names a list of advisories");
    assert_none(&complaints(Path::new(&list), &locked_libraries()));
}

#[test]
fn an_advisory_against_a_locked_library_is_complained_about() {
    let list = tempfile::tempdir().expect("a folder");
    let folder = list.path().join("crates/serde");
    fs::create_dir_all(&folder).expect("a folder");
    let said = |more: &str, versions: &str| {
        let text = format!(
            "```toml\n[advisory]\nid = \"RUSTSEC-2099-0001\"\npackage = \"serde\"\n{more}\n\
             [versions]\n{versions}\n```\n\n# A fault\n"
        );
        fs::write(folder.join("RUSTSEC-2099-0001.md"), text).expect("written");
        complaints(list.path(), &locked_libraries())
    };
    let version =
        locked_libraries().into_iter().find(|(name, _)| name == "serde").expect("it is used").1;
    let fault = [format!("serde {version}: RUSTSEC-2099-0001")];
    assert_eq!(said("", "patched = []"), fault);
    assert_eq!(said("", "patched = [\">= 999.0.0\"]\nunaffected = [\"< 0.1.0\"]"), fault);
    for versions in [format!("patched = [\">= {version}\"]"), "unaffected = [\"< 999.0.0\"]".into()]
    {
        assert_eq!(said("", &versions), [""; 0], "{versions}");
    }
    for more in ["withdrawn = \"2099-01-01\"", "informational = \"unmaintained\""] {
        assert_eq!(said(more, "patched = []"), [""; 0], "{more}");
    }
    let unread = said("", "patched = [\"no range\"]");
    assert!(unread.len() == 1 && unread[0].contains("cannot be read"), "{unread:?}");
}

#[test]
#[should_panic(expected = "is no list of advisories")]
fn an_empty_folder_is_no_list() {
    let empty = tempfile::tempdir().expect("a folder");
    advisory_files(empty.path());
}
