//! Search beside its rivals, over a vault of about ten thousand notes and one of a hundred thousand.

mod apart;
mod building;
mod ground;
mod growth;
mod line;
mod literal;
mod memory;
mod naming;
mod ranked;
mod reopening;
mod standing;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use ground::Ground;
use growth::Growth;
use line::Line;

/// What is measured.
#[derive(Debug, Clone, Copy)]
enum Figure {
    LiteralSearch,
    Ranked,
    FirstBuild,
    FirstOpen,
    Reopening,
    FindByName,
    Memory,
}

/// All of them, in the order they are taken.
const FIGURES: [Figure; 7] = [
    Figure::LiteralSearch,
    Figure::Ranked,
    Figure::FirstBuild,
    Figure::FirstOpen,
    Figure::Reopening,
    Figure::FindByName,
    Figure::Memory,
];

/// What a figure came to over one vault.
#[derive(Debug, Default)]
struct Taken {
    lines: Vec<Line>,
    /// Our own costs by kind, each in a unit of its own.
    costs: Vec<(&'static str, f64)>,
}

impl Figure {
    /// What its lines begin with.
    const fn name(self) -> &'static str {
        match self {
            Self::LiteralSearch => "literal_search",
            Self::Ranked => "ranked",
            Self::FirstBuild => "first_build",
            Self::FirstOpen => "first_open",
            Self::Reopening => "reopening",
            Self::FindByName => "find_by_name",
            Self::Memory => "memory",
        }
    }

    async fn take(self, ground: &Ground) -> Result<Taken, Box<dyn Error>> {
        match self {
            Self::LiteralSearch => literal::take(ground).await,
            Self::Ranked => ranked::take(ground),
            Self::FirstBuild => building::first_build(ground),
            Self::FirstOpen => building::first_open(ground),
            Self::Reopening => reopening::take(ground),
            Self::FindByName => naming::take(ground).await,
            Self::Memory => memory::take(ground),
        }
    }
}

/// Measures the figures whose name begins so over the vaults, the smallest first, and how each
/// grows from the first vault to the last.
pub(crate) async fn print(vaults: &[PathBuf], wanted: &str) -> Result<ExitCode, Box<dyn Error>> {
    let modules = tempfile::tempdir()?;
    let only_growth = !wanted.is_empty() && "growth".starts_with(wanted);
    let is_wanted =
        |name: &str| only_growth || name.starts_with(wanted) || wanted.starts_with(name);
    let (mut met, mut growth) = (true, Growth::default());
    for vault in vaults {
        let ground = Ground::over(vault, modules.path())?;
        for figure in FIGURES.iter().filter(|figure| is_wanted(figure.name())) {
            let taken = figure.take(&ground).await.unwrap_or_else(|why| Taken {
                lines: vec![Line::not_measured(figure.name(), &*why)],
                ..Taken::default()
            });
            if !only_growth {
                taken.lines.iter().for_each(|line| met &= line.print(ground.notes));
            }
            growth.add(ground.notes, taken.costs);
        }
    }
    met &= growth.print();
    Ok(if met { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// What a process of its own does; it prints the numbers that come of it.
pub(crate) fn work(kind: &str, vault: &Path, place: &Path) -> Result<(), Box<dyn Error>> {
    let printed = match kind {
        "build" => building::build(vault, place)?,
        "open" => building::open(vault, place)?,
        "read" => building::read(vault)?,
        "reopen" => reopening::reopen(vault, place)?,
        "rank" => ranked::ask(vault, place)?,
        "use" => memory::use_all(vault, place)?,
        other => return Err(format!("nobody knows the work {other}").into()),
    };
    println!("{printed}");
    Ok(())
}
