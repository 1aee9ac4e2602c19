//! Anonymous memory of a process that has built the index, searched lines and found notes.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use super::SearchMeasurement;
use super::figure_line::FigureLine;
use super::fixture::{SearchFixture, queries_file};
use super::literal_search::{LiteralManner, query};
use super::open_index::OpenIndex;
use super::subprocess::{self, NamedNumbers};
use crate::ranking::process_usage::anonymous_memory;
use crate::ranking::queries::BenchQuery;

/// The limit for a vault without notes, in bytes.
const BASE_BYTES: f64 = 30e6;

/// The limit for each byte of text.
const BYTES_PER_TEXT_BYTE: f64 = 0.35;

/// So often the process is looked at for its peak.
const SAMPLE_INTERVAL: Duration = Duration::from_millis(2);

/// Of every fifth query the lines are searched too.
const LINE_SEARCH_INTERVAL: usize = 5;

/// The memory at the end compared with its limit; the highest use meanwhile is reported with it.
pub(super) fn measure_figures(
    fixture: &SearchFixture,
) -> Result<SearchMeasurement, Box<dyn Error>> {
    let place = tempfile::tempdir()?;
    fs::copy(queries_file(fixture.built_index_folder()?), queries_file(place.path()))?;
    let mut command = subprocess::command("use", &fixture.folder, place.path())?;
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let (status, mut peak) = (format!("/proc/{}/status", child.id()), 0.0_f64);
    while child.try_wait()?.is_none() {
        let held = fs::read_to_string(&status).ok().and_then(|status| anonymous_bytes(&status));
        peak = peak.max(held.unwrap_or_default());
        std::thread::sleep(SAMPLE_INTERVAL);
    }
    let done = child.wait_with_output()?;
    if !done.status.success() {
        return Err(format!("the measured process ended with {}", done.status).into());
    }
    let numbers = NamedNumbers::parse(&String::from_utf8(done.stdout)?);
    let (anonymous, peak) = (numbers.get("anon_mb")?, peak / 1e6);
    let text = megabytes(fixture.bytes);
    let limit = BASE_BYTES / 1e6 + BYTES_PER_TEXT_BYTE * text;
    let details = format!(
        "anon_mb={anonymous:.1} limit_mb={limit:.1} peak_mb={peak:.1} opened_mb={:.1} \
         built_mb={:.1} text_mb={text:.1}",
        numbers.get("opened_mb")?,
        numbers.get("built_mb")?
    );
    let costs = vec![("memory", anonymous), ("memory_peak", peak)];
    Ok(SearchMeasurement {
        lines: vec![FigureLine::new("memory", anonymous / limit, 1.0, details)],
        costs,
    })
}

/// Does all that a person does with an index, one after the other.
pub(super) fn use_all(vault: &Path, place: &Path) -> Result<String, Box<dyn Error>> {
    let asked: Vec<BenchQuery> = serde_json::from_slice(&fs::read(queries_file(place))?)?;
    let standing = OpenIndex::new(vault, place)?;
    standing.open_metadata()?;
    let opened = megabytes(anonymous_memory()?);
    standing.build_all()?;
    let built = megabytes(anonymous_memory()?);
    for asked in asked.iter().step_by(LINE_SEARCH_INTERVAL) {
        standing.search(&query(&asked.words.join(" "), LiteralManner::AsTheTool))?;
    }
    for asked in &asked {
        standing.find(&asked.as_typed())?;
        let words = asked.words.join(" ");
        standing.index.find_files(&standing.vault, &words, &[], 50, |_| true)?;
    }
    let anonymous = megabytes(anonymous_memory()?);
    Ok(format!("anon_mb={anonymous:.2} opened_mb={opened:.2} built_mb={built:.2}"))
}

/// The anonymous memory of which a process tells in its status, in bytes.
fn anonymous_bytes(status: &str) -> Option<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    let kilobytes: f64 = line.trim().strip_suffix(" kB")?.parse().ok()?;
    Some(kilobytes * 1024.0)
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}
