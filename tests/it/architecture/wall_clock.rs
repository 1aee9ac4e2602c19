//! A crate reads the wall clock in one file, so that everybody finds the source of a time. Tests may read it anywhere.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::import_cycles::files_by_crate;
use super::sources::source_files;
use super::{assert_none, root};

/// The functions that read the wall clock, by the end of their paths.
const READS: [[&str; 2]; 3] = [["SystemTime", "now"], ["Timestamp", "now"], ["Zoned", "now"]];

/// For each crate, the files that read the wall clock outside tests.
fn clock_readers(files: &[(PathBuf, String)]) -> BTreeMap<&str, Vec<&Path>> {
    let mut readers: BTreeMap<&str, Vec<&Path>> = BTreeMap::new();
    for (name, of_crate) in files_by_crate(files) {
        for (path, file) in of_crate {
            let is_read = |end: &[&str; 2]| file.inline.iter().any(|path| path.ends_with(end));
            if READS.iter().any(is_read) {
                readers.entry(name).or_default().push(path);
            }
        }
    }
    readers
}

fn complaints(readers: &BTreeMap<&str, Vec<&Path>>) -> Vec<String> {
    let several = readers.iter().filter(|(_, files)| files.len() > 1);
    let complaint = |(name, files): (&&str, &Vec<&Path>)| {
        let files: String = files.iter().map(|path| format!("\n    {}", path.display())).collect();
        format!("`{name}` reads the wall clock in several files:{files}")
    };
    several.map(complaint).collect()
}

#[test]
fn a_crate_reads_the_wall_clock_in_one_file() {
    let files = source_files(&root());
    let readers = clock_readers(&files);
    assert!(readers.len() > 3, "only {} crates read the wall clock", readers.len());
    assert_none(&complaints(&readers));
}

#[test]
fn a_second_file_that_reads_the_wall_clock_is_complained_about() {
    let complaints_about = |path: &str, text: &str| {
        let clock = ("crates/hub/src/clock.rs".into(), "fn now() { SystemTime::now() }".into());
        complaints(&clock_readers(&[clock, (path.into(), text.into())])).len()
    };
    for text in [
        "let at = std::time::SystemTime::now();",
        "fn at() -> i64 { jiff::Timestamp::now().as_millisecond() }",
        "Provider::new(Zoned::now)",
    ] {
        assert_eq!(complaints_about("crates/hub/src/driver.rs", text), 1, "{text}");
        assert_eq!(complaints_about("crates/llm/src/driver.rs", text), 0, "{text}");
        let test = format!("#[cfg(test)] mod tests {{ fn at() {{ {text} }} }}");
        assert_eq!(complaints_about("crates/hub/src/driver.rs", &test), 0, "{test}");
    }
    let monotonic = "let at = Instant::now(); // SystemTime::now()";
    assert_eq!(complaints_about("crates/hub/src/driver.rs", monotonic), 0);
}
