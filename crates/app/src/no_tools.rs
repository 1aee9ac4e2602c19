//! Which models take no tools, kept over restarts for as long as that is likely to be so.
#![allow(clippy::disallowed_methods, reason = "a file of the data folder, not a note")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use llm::NoTools;

use crate::clock::now;
use crate::data_dir::{DataDir, write_private};

/// After so long a model is asked with tools again: servers are brought up to date. 30 days in
/// milliseconds.
const KEPT: i64 = 30 * 24 * 60 * 60 * 1_000;

/// When it was found out, by address and model.
type Found = BTreeMap<(String, String), i64>;

/// As kept in the data folder; nothing where nothing readable is kept.
pub(crate) fn no_tools(data: &DataDir) -> NoTools {
    let file = data.no_tools_file();
    let found = read(&std::fs::read_to_string(&file).unwrap_or_default());
    let known: BTreeSet<_> = found.keys().cloned().collect();
    let found = Mutex::new(found);
    NoTools::kept(known, move |address, model| keep(&file, &found, address, model))
}

fn keep(file: &Path, found: &Mutex<Found>, address: &str, model: &str) {
    let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
    found.insert((address.to_owned(), model.to_owned()), now().0);
    if let Err(error) = write_private(file, written(&found).as_bytes()) {
        tracing::warn!(%error, "which model takes no tools is not kept");
    }
}

/// A line each: when, address, model, with tabs between them.
fn written(found: &Found) -> String {
    let line =
        |((address, model), at): (&(String, String), &i64)| format!("{at}\t{address}\t{model}\n");
    found.iter().map(line).collect()
}

fn read(text: &str) -> Found {
    let line = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let at: i64 = parts.next()?.parse().ok()?;
        let (address, model) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        (now().0.saturating_sub(at) < KEPT).then_some(((address, model), at))
    };
    text.lines().filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(model: &str) -> (String, String) {
        ("http://localhost:1234".to_owned(), model.to_owned())
    }

    #[test]
    fn what_was_found_out_is_read_again_until_it_is_old() {
        let new = Found::from([(of("small one"), now().0)]);
        let old = Found::from([(of("old"), now().0 - KEPT)]);
        let text = format!("{}{}no line of ours\n", written(&new), written(&old));
        assert_eq!(read(&text), new);
    }

    #[test]
    fn what_is_found_out_is_in_the_file_at_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let file = dir.path().join("no_tools");
        let found = Mutex::default();
        for model in ["a", "b", "a"] {
            keep(&file, &found, "http://localhost:1234", model);
        }
        let kept = read(&std::fs::read_to_string(&file).expect("the file"));
        assert_eq!(kept.into_keys().collect::<Vec<_>>(), [of("a"), of("b")]);
    }
}
