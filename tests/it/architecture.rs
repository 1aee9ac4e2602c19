//! The rules of the tree that the compiler does not know. Each rule is a function from what is
//! there to complaints, and has a negative control that it must complain about.

mod advisories;
mod advisory_check;
mod dependencies;
mod doc_comments;
mod fixtures;
mod fuzzing;
mod import_cycles;
mod licenses;
mod naming;
mod retired_terms;
mod sources;
mod versions;
mod wall_clock;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The root of the repository.
fn root() -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    tests.parent().expect("the tests lie in the repository").to_owned()
}

/// The output of `cargo metadata`, without asking the network.
fn metadata(arguments: &[&str]) -> Value {
    let output = Command::new(env!("CARGO"))
        .current_dir(root())
        .args(["metadata", "--offline", "--format-version", "1"])
        .args(arguments)
        .output()
        .expect("cargo runs");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {errors}");
    serde_json::from_slice(&output.stdout).expect("cargo metadata answers with JSON")
}

/// The list under `key`.
fn array_at<'a>(value: &'a Value, key: &str) -> &'a [Value] {
    value[key].as_array().map_or(&[], Vec::as_slice)
}

/// The text under `key`, or an empty one.
fn text_at<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

/// Fails with all complaints at once, each on a line of its own.
#[track_caller]
fn assert_none(complaints: &[String]) {
    assert!(complaints.is_empty(), "\n{}\n", complaints.join("\n"));
}
