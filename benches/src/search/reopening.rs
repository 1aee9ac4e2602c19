//! Opening a vault again where nothing has changed: no note is opened, counted from outside.

use std::error::Error;
use std::path::Path;
use std::process::Command;

use super::SearchMeasurement;
use super::figure_line::FigureLine;
use super::first_build::format_times;
use super::fixture::SearchFixture;
use super::open_index::OpenIndex;
use super::subprocess;
use crate::ranking::process_usage::ProcessTimer;

/// How often the cost is taken; the least counts.
const ROUNDS: usize = 3;

/// Counts the notes that are opened when the index is brought up once more. The control is the
/// first start, which opens every one.
pub(super) fn measure_figures(
    fixture: &SearchFixture,
) -> Result<SearchMeasurement, Box<dyn Error>> {
    let place = fixture.built_index_folder()?;
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        let reopened = subprocess::run_kind("reopen", &fixture.folder, place)?;
        least = least.min(reopened.get("reopen_cpu_ms")?);
    }
    let fresh = tempfile::tempdir()?;
    let first = count_opened_notes("open", &fixture.folder, fresh.path())?;
    let again = count_opened_notes("reopen", &fixture.folder, place)?;
    if first < fixture.notes {
        return Err(format!("the first start was seen to open {first} notes only").into());
    }
    let share = f64::from(u32::try_from(again)?) / f64::from(u32::try_from(first)?);
    let details = format!("opened={again} opened_at_first={first} ours_cpu_ms={least:.0}");
    let line = FigureLine::new("reopening", share, 0.0, details);
    Ok(SearchMeasurement { lines: vec![line], costs: vec![("reopening", least)] })
}

/// Brings up an index that stands.
pub(super) fn reopen(vault: &Path, place: &Path) -> Result<String, Box<dyn Error>> {
    let watch = ProcessTimer::start();
    let standing = OpenIndex::new(vault, place)?;
    standing.build_all()?;
    Ok(format_times("reopen", &watch))
}

/// How many notes this work opens.
fn count_opened_notes(kind: &str, vault: &Path, place: &Path) -> Result<usize, Box<dyn Error>> {
    let own = subprocess::command(kind, vault, place)?;
    let trace = tempfile::NamedTempFile::new()?;
    let mut traced = Command::new("strace");
    traced.args(["-f", "--seccomp-bpf", "-qq", "-e", "trace=open,openat,openat2,creat", "-o"]);
    traced.arg(trace.path()).arg(own.get_program()).args(own.get_args());
    subprocess::run(&mut traced).map_err(|why| format!("strace cannot count: {why}"))?;
    let trace = std::fs::read_to_string(trace.path())?;
    Ok(trace.lines().filter(|call| call.contains(".md\"")).count())
}
