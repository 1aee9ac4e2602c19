//! Which models take no tools, remembered over restarts for a limited time.
#![allow(clippy::disallowed_methods, reason = "a file of the data folder, not a note")]

use std::collections::{BTreeMap, BTreeSet};

use llm::ToollessModels;
use protocol::UserError;

use crate::support::clock::now;
use crate::workspace::data_dir::DataDir;

/// The time after which a model is asked with tools once more, because servers are updated. 30 days
/// in milliseconds.
const RECORD_LIFETIME_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// When it was found out, by base URL and model.
type ToolSupportRecords = BTreeMap<(String, String), i64>;

/// As kept in the data folder; nothing where nothing readable is kept.
pub(crate) fn load(data: &DataDir) -> ToollessModels {
    let known: BTreeSet<_> = read_records(data).into_keys().collect();
    let data = data.clone();
    ToollessModels::with_known(known, move |base_url, model| {
        if let Err(error) = add_record(&data, base_url, model) {
            tracing::warn!(%error, "which model takes no tools is not kept");
        }
    })
}

fn read_records(data: &DataDir) -> ToolSupportRecords {
    parse(&std::fs::read_to_string(data.tool_support_file()).unwrap_or_default())
}

/// Adds to what is kept by then: other windows find out as well.
fn add_record(data: &DataDir, base_url: &str, model: &str) -> Result<(), UserError> {
    let lock = data.lock()?;
    let mut found = read_records(data);
    found.insert((base_url.to_owned(), model.to_owned()), now().0);
    lock.replace(&data.tool_support_file(), to_text(&found).as_bytes())
}

/// A line each: when, base URL, model, with tabs between them.
fn to_text(found: &ToolSupportRecords) -> String {
    let line =
        |((base_url, model), at): (&(String, String), &i64)| format!("{at}\t{base_url}\t{model}\n");
    found.iter().map(line).collect()
}

fn parse(text: &str) -> ToolSupportRecords {
    let line = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let at: i64 = parts.next()?.parse().ok()?;
        let (base_url, model) = (parts.next()?.to_owned(), parts.next()?.to_owned());
        (now().0.saturating_sub(at) < RECORD_LIFETIME_MS).then_some(((base_url, model), at))
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
        let new = ToolSupportRecords::from([(of("small one"), now().0)]);
        let old = ToolSupportRecords::from([(of("old"), now().0 - RECORD_LIFETIME_MS)]);
        let text = format!("{}{}no line of ours\n", to_text(&new), to_text(&old));
        assert_eq!(parse(&text), new);
    }

    #[test]
    fn what_two_windows_find_out_is_all_kept_at_once() {
        let dir = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(dir.path().to_owned()).expect("a data directory");
        for model in ["a", "b", "a"] {
            // Each time from what is kept by then: nothing is held from before.
            add_record(&data, "http://localhost:1234", model).expect("kept");
        }
        let kept: Vec<_> = read_records(&data).into_keys().collect();
        assert_eq!(kept, [of("a"), of("b")]);
    }
}
