//! Search compared with its rivals, over a vault of about ten thousand notes and one of a hundred
//! thousand.

mod figure_line;
mod find_by_name;
mod first_build;
mod fixture;
mod growth;
mod literal_search;
mod memory;
mod open_index;
mod ranked_search;
mod reopening;
mod subprocess;

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use figure_line::FigureLine;
use fixture::SearchFixture;
use growth::CostGrowth;

/// The kinds of figures.
#[derive(Debug, Clone, Copy)]
enum SearchFigure {
    LiteralSearch,
    Ranked,
    FirstBuild,
    FirstOpen,
    Reopening,
    FindByName,
    Memory,
}

/// All of them, in the order they are taken.
const FIGURES: [SearchFigure; 7] = [
    SearchFigure::LiteralSearch,
    SearchFigure::Ranked,
    SearchFigure::FirstBuild,
    SearchFigure::FirstOpen,
    SearchFigure::Reopening,
    SearchFigure::FindByName,
    SearchFigure::Memory,
];

/// A figure of one vault.
#[derive(Debug, Default)]
struct SearchMeasurement {
    lines: Vec<FigureLine>,
    /// Our own costs by kind, each in a unit of its own.
    costs: Vec<(&'static str, f64)>,
}

impl SearchFigure {
    /// The prefix of its lines.
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

    async fn measure(self, fixture: &SearchFixture) -> Result<SearchMeasurement, Box<dyn Error>> {
        match self {
            Self::LiteralSearch => literal_search::measure_figures(fixture).await,
            Self::Ranked => ranked_search::measure_figures(fixture),
            Self::FirstBuild => first_build::measure_first_build(fixture),
            Self::FirstOpen => first_build::measure_first_open(fixture),
            Self::Reopening => reopening::measure_figures(fixture),
            Self::FindByName => find_by_name::measure_figures(fixture).await,
            Self::Memory => memory::measure_figures(fixture),
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
    let (mut met, mut growth) = (true, CostGrowth::default());
    for vault in vaults {
        let ground = SearchFixture::new(vault, modules.path())?;
        for figure in FIGURES.iter().filter(|figure| is_wanted(figure.name())) {
            let taken = figure.measure(&ground).await.unwrap_or_else(|why| SearchMeasurement {
                lines: vec![FigureLine::not_measured(figure.name(), &*why)],
                ..SearchMeasurement::default()
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

/// The work of a separate process; it prints the resulting numbers.
pub(crate) fn run_subprocess(kind: &str, vault: &Path, place: &Path) -> Result<(), Box<dyn Error>> {
    let printed = match kind {
        "build" => first_build::build_all(vault, place)?,
        "open" => first_build::open_first(vault, place)?,
        "read" => first_build::read_all(vault)?,
        "reopen" => reopening::reopen(vault, place)?,
        "rank" => ranked_search::run_queries(vault, place)?,
        "use" => memory::use_all(vault, place)?,
        other => return Err(format!("nobody knows the work {other}").into()),
    };
    println!("{printed}");
    Ok(())
}
