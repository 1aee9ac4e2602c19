//! The candidates for ranked search, each in a process of its own over the same notes and queries.

mod fts5;
pub(crate) mod minisearch;
pub(crate) mod notes;
mod ours;
pub(crate) mod process_usage;
pub(crate) mod queries;
mod rare_words;
mod tantivy;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use queries::BenchQuery;

/// How many best notes a candidate has to name.
const MAX_RESULTS: usize = 100;

/// How many notes are changed, one after the other, each until it is found again.
const UPDATE_COUNT: usize = 20;

/// How often each query is asked; the best time counts.
const QUERY_ROUNDS: usize = 3;

const CANDIDATES: [&str; 4] = ["ours", "tantivy", "fts5", "minisearch"];

/// Measures every candidate whose name begins with `wanted` over the vaults.
pub(crate) fn print(vaults: &[PathBuf], wanted: &str) -> Result<ExitCode, Box<dyn Error>> {
    let made = tempfile::tempdir()?;
    let modules = made.path().join("modules");
    for vault in vaults {
        let queries = queries::draw_queries(vault)?;
        let asked = made.path().join("queries.json");
        std::fs::write(&asked, serde_json::to_vec(&queries)?)?;
        for candidate in CANDIDATES.iter().filter(|name| name.starts_with(wanted)) {
            let place = tempfile::tempdir()?;
            let files = [vault, &asked, place.path()];
            let row = match *candidate {
                "minisearch" => minisearch::measure(&modules, files)?,
                other => measure_in_subprocess(other, files)?,
            };
            println!("{candidate} vault={} {}", vault.display(), row.trim());
        }
    }
    println!("load {}", process_usage::load_average());
    Ok(ExitCode::SUCCESS)
}

fn measure_in_subprocess(candidate: &str, files: [&Path; 3]) -> Result<String, Box<dyn Error>> {
    let done = Command::new(std::env::current_exe()?)
        .args(["rank", candidate])
        .args(files)
        .stderr(Stdio::inherit())
        .output()?;
    if !done.status.success() {
        return Err(format!("{candidate} ended with {}", done.status).into());
    }
    Ok(String::from_utf8(done.stdout)?)
}

/// The work of the process of one candidate.
pub(crate) async fn run_candidate(
    candidate: &str,
    files: [&Path; 3],
) -> Result<(), Box<dyn Error>> {
    let [vault, asked, place] = files;
    let asked: Vec<BenchQuery> = serde_json::from_slice(&std::fs::read(asked)?)?;
    let row = match candidate {
        "ours" => ours::measure(vault, &asked, place)?,
        "fts5" => fts5::measure(vault, &asked, place).await?,
        "tantivy" => tantivy::measure(vault, &asked, place)?,
        other => return Err(format!("nobody knows the candidate {other}").into()),
    };
    println!("{row}");
    Ok(())
}
