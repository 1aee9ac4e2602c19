//! The step of `./dev check` that holds libraries against advisories, run as it stands in `dev`: with a list
//! that can be reached, with one that cannot, and with one that has an advisory against a locked library.

use std::fs;
use std::path::Path;
use std::process::Command;

use tempfile::TempDir;

use super::root;

/// In place of what reaches other computers and builds: `git` copies `PUBLIC_LIST` if there is one, and
/// `cargo test` is this program, which is built.
const REPLACED_COMMANDS: &str = r#"
timeout() { shift && "$@"; }
git() { [ -n "${PUBLIC_LIST:-}" ] && cp -r "$PUBLIC_LIST" "${@: -1}"; }
cargo() {
  while [ "$1" != -- ]; do shift; done
  shift && "$TEST_PROGRAM" "$@"
}
check_advisories "${1:-}"
"#;

/// The line that says that nothing is checked.
const SKIPPED: &str = "libraries are not held against advisories: the list cannot be reached \
                       (name a copy with --advisories DIR)";

/// The line before the check.
const CHECKED: &str = "libraries against advisories\u{1b}";

/// A folder with the functions of `dev`.
struct DevFolder(TempDir);

impl DevFolder {
    fn new() -> Self {
        let dev = fs::read_to_string(root().join("dev")).expect("dev");
        let (functions, _) = dev.rsplit_once("\ncase ${1:-} in\n").expect("the commands of dev");
        let folder = tempfile::tempdir().expect("a folder");
        fs::write(folder.path().join("dev"), format!("{functions}\n{REPLACED_COMMANDS}"))
            .expect("written");
        Self(folder)
    }

    /// Writes a list with one advisory against all versions of a library.
    fn write_list(&self, place: &str, package: &str) {
        let folder = self.0.path().join(place).join("crates").join(package);
        fs::create_dir_all(&folder).expect("a folder");
        let text = format!(
            "```toml\n[advisory]\nid = \"RUSTSEC-2099-0001\"\npackage = \"{package}\"\n\
             [versions]\npatched = []\n```\n\n# A fault\n"
        );
        fs::write(folder.join("RUSTSEC-2099-0001.md"), text).expect("written");
    }

    /// Checks with a list that is named, or with the public one at `public`: the exit code, and all that was
    /// printed.
    fn check(&self, named: &str, public: Option<&str>) -> (Option<i32>, String) {
        let mut command = Command::new("bash");
        command.arg("dev").arg(named).current_dir(self.0.path());
        command.env_remove("CARGO_TARGET_DIR").env_remove("PUBLIC_LIST");
        command.env("TEST_PROGRAM", std::env::current_exe().expect("this program"));
        if let Some(public) = public {
            command.env("PUBLIC_LIST", public);
        }
        let output = command.output().expect("bash runs");
        let printed = [output.stdout, output.stderr].concat();
        (output.status.code(), String::from_utf8_lossy(&printed).into_owned())
    }

    fn has(&self, place: &str) -> bool {
        Path::new(self.0.path()).join(place).exists()
    }
}

/// A library that is not locked.
const HARMLESS: &str = "no-such-library";

/// A library that is.
const LOCKED: &str = "serde";

#[test]
fn a_list_that_cannot_be_reached_is_said_and_fails_nothing() {
    let dev = DevFolder::new();
    let (code, printed) = dev.check("", None);
    assert!(printed.contains(SKIPPED) && !printed.contains(CHECKED), "{printed}");
    assert_eq!(code, Some(0), "{printed}");
}

#[test]
fn an_old_copy_is_used_while_the_list_cannot_be_reached() {
    let dev = DevFolder::new();
    dev.write_list("target/advisories", HARMLESS);
    let (code, printed) = dev.check("", None);
    let used = "the list of advisories cannot be reached: the copy in target/advisories is used";
    assert!(printed.contains(used) && printed.contains(CHECKED), "{printed}");
    assert_eq!(code, Some(0), "{printed}");
    // The control: the copy is read.
    dev.write_list("target/advisories", LOCKED);
    let (code, printed) = dev.check("", None);
    assert!(printed.contains(used) && printed.contains(": RUSTSEC-2099-0001"), "{printed}");
    assert!(code.is_some_and(|code| code != 0), "{printed}");
}

#[test]
fn a_new_list_takes_the_place_of_the_copy() {
    let dev = DevFolder::new();
    dev.write_list("target/advisories", LOCKED);
    dev.write_list("public", HARMLESS);
    let (code, printed) = dev.check("", Some("public"));
    assert!(printed.contains(CHECKED) && !printed.contains("cannot be reached"), "{printed}");
    assert_eq!(code, Some(0), "{printed}");
    assert!(!dev.has("target/advisories/crates/serde") && !dev.has("target/advisories.new"));
    dev.write_list("public", LOCKED);
    let (code, printed) = dev.check("", Some("public"));
    assert!(code.is_some_and(|code| code != 0), "{printed}");
}

#[test]
fn an_advisory_of_a_named_list_against_a_locked_library_fails_the_check() {
    let dev = DevFolder::new();
    dev.write_list("list", HARMLESS);
    let (code, printed) = dev.check("list", None);
    assert!(printed.contains(CHECKED) && code == Some(0), "{code:?} {printed}");
    dev.write_list("list", LOCKED);
    let (code, printed) = dev.check("list", None);
    assert!(printed.contains("serde ") && printed.contains(": RUSTSEC-2099-0001"), "{printed}");
    assert!(code.is_some_and(|code| code != 0), "{printed}");
    let (code, printed) = dev.check("nowhere", None);
    assert!(printed.contains("There is no folder of advisories at "), "{printed}");
    assert_eq!(code, Some(1), "{printed}");
}
