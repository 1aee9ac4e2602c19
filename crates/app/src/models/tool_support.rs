//! Which models take no tools, remembered over restarts for a limited time.
#![allow(clippy::disallowed_methods, reason = "a file of the data folder, not a note")]

use std::collections::{BTreeMap, BTreeSet};

use llm::ToollessModels;
use protocol::UserError;
use serde_json::{Value, json};

use crate::support::clock::now;
use crate::workspace::data_dir::DataDir;

/// The time after which a model is asked with tools once more, because servers are updated. 30 days
/// in milliseconds.
const RECORD_LIFETIME_MS: i64 = 30 * 24 * 60 * 60 * 1_000;

/// When it was found out, by base URL and model.
type ToolSupportRecords = BTreeMap<(String, String), i64>;

/// A record as it is kept: when, base URL, model.
type ToolSupportRow = (i64, String, String);

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
    lock.replace(&data.tool_support_file(), to_json(&found).as_bytes())
}

/// A list of [`ToolSupportRow`].
fn to_json(found: &ToolSupportRecords) -> String {
    let row = |((base_url, model), at): (&(String, String), &i64)| json!([at, base_url, model]);
    found.iter().map(row).collect::<Value>().to_string()
}

fn parse(text: &str) -> ToolSupportRecords {
    let rows: Vec<ToolSupportRow> =
        serde_json::from_str(text).unwrap_or_else(|_| parse_former(text));
    let is_new = |at: i64| now().0.saturating_sub(at) < RECORD_LIFETIME_MS;
    let new = rows.into_iter().filter(|(at, ..)| is_new(*at));
    new.map(|(at, base_url, model)| ((base_url, model), at)).collect()
}

/// Earlier versions wrote a line each, with tabs in it.
fn parse_former(text: &str) -> Vec<ToolSupportRow> {
    let row = |line: &str| {
        let mut parts = line.splitn(3, '\t');
        let at = parts.next()?.parse::<i64>().ok()?;
        Some((at, parts.next()?.to_owned(), parts.next()?.to_owned()))
    };
    text.lines().filter_map(row).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(model: &str) -> (String, String) {
        ("http://localhost:1234".to_owned(), model.to_owned())
    }

    #[test]
    fn what_was_found_out_is_read_again_until_it_is_old() {
        let new = (of("small\tone"), now().0);
        let old = (of("old"), now().0 - RECORD_LIFETIME_MS);
        let kept = ToolSupportRecords::from([new.clone(), old]);
        assert_eq!(parse(&to_json(&kept)), ToolSupportRecords::from([new]));
        assert_eq!(parse("no record of ours"), ToolSupportRecords::new());
    }

    #[test]
    fn the_file_of_an_earlier_version_is_read_and_kept() {
        let dir = tempfile::tempdir().expect("a folder");
        let data = DataDir::at(dir.path().to_owned()).expect("a data directory");
        let (at, old) = (now().0, now().0 - RECORD_LIFETIME_MS);
        let url = "http://localhost:1234";
        let former = format!("{at}\t{url}\tsmall one\n{old}\t{url}\told\nno line of ours\n");
        std::fs::write(data.tool_support_file(), former).expect("written");
        assert_eq!(read_records(&data), ToolSupportRecords::from([(of("small one"), at)]));
        add_record(&data, url, "another").expect("kept");
        let kept: Vec<_> = read_records(&data).into_keys().collect();
        assert_eq!(kept, [of("another"), of("small one")]);
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
