//! The product compared with its rivals: each figure is a ratio, taken in the same run.
#![allow(clippy::disallowed_methods, reason = "the rivals open their files as they like")]

mod conversations;
mod durability;
mod hub;
mod mcp_server;
mod model_tasks;
mod note_reading;
mod paired_timing;
mod ranking;
mod sample_notes;
mod search;
mod turn;
mod vault_figures;
mod window;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use vault_figures::FIGURES;

const USAGE: &str = "usage: bench vault [FIGURE] | bench conversations [FIGURE] | \
                     bench search FIGURE VAULT… | bench ranking CANDIDATE VAULT… | \
                     bench turn [FIGURE] [TURNS] | bench hub [FIGURE] | \
                     bench window [FIGURE] | \
                     bench tasks --base-url URL --model NAME [--provider NAME] [--only TEXT]";

/// With a hundred messages each a million.
const CONVERSATIONS: u64 = 10_000;

fn main() -> ExitCode {
    match run() {
        Ok(code) => code,
        Err(error) => {
            eprintln!("bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["vault"] => runtime.block_on(run_vault_figures("")),
        ["vault", figure] => runtime.block_on(run_vault_figures(figure)),
        ["conversations"] => runtime.block_on(conversations::print("", CONVERSATIONS)),
        ["conversations", figure] => runtime.block_on(conversations::print(figure, CONVERSATIONS)),
        ["ranking", candidate, ref vaults @ ..] => {
            let vaults: Vec<PathBuf> = vaults.iter().map(PathBuf::from).collect();
            ranking::print(&vaults, candidate)
        }
        ["rank", candidate, vault, asked, place] => {
            let files = [Path::new(vault), Path::new(asked), Path::new(place)];
            runtime.block_on(ranking::run_candidate(candidate, files))?;
            Ok(ExitCode::SUCCESS)
        }
        ["search", figure, ref vaults @ ..] => {
            let vaults: Vec<PathBuf> = vaults.iter().map(PathBuf::from).collect();
            runtime.block_on(search::print(&vaults, figure))
        }
        ["look", kind, vault, place] => {
            search::run_subprocess(kind, Path::new(vault), Path::new(place))?;
            Ok(ExitCode::SUCCESS)
        }
        ["turn"] => Ok(runtime.block_on(turn::print("", None))),
        ["turn", figure] => Ok(runtime.block_on(turn::print(figure, None))),
        ["turn", figure, turns] => {
            let turns = turns.parse().map_err(|_| USAGE)?;
            Ok(runtime.block_on(turn::print(figure, Some(turns))))
        }
        ["hub"] => Ok(runtime.block_on(hub::print(""))),
        ["hub", figure] => Ok(runtime.block_on(hub::print(figure))),
        ["tasks", ref options @ ..] => runtime.block_on(model_tasks::print(options)),
        ["window"] => Ok(runtime.block_on(window::print(""))),
        ["window", figure] => Ok(runtime.block_on(window::print(figure))),
        ["turns", turns, place] => {
            runtime.block_on(turn::run_turns(turns.parse()?, Path::new(place)))?;
            Ok(ExitCode::SUCCESS)
        }
        ["work", phase, place] => runtime.block_on(run_subprocess(phase, Path::new(place))),
        _ => Err(USAGE.into()),
    }
}

/// The work that `fsync_count` counts, in a separate process.
async fn run_subprocess(phase: &str, place: &Path) -> Result<ExitCode, Box<dyn Error>> {
    durability::fsync_count::run_phase(phase, place).await?;
    Ok(ExitCode::SUCCESS)
}

/// Measures the figures whose name begins so.
async fn run_vault_figures(wanted: &str) -> Result<ExitCode, Box<dyn Error>> {
    let mut met = true;
    for figure in FIGURES.iter().filter(|figure| figure.name().starts_with(wanted)) {
        met &= figure.print().await;
    }
    if "fsyncs".starts_with(wanted) || wanted.starts_with("fsyncs") {
        met &= durability::fsync_count::print();
    }
    Ok(if met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}
