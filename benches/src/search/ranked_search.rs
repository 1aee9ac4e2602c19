//! Ranked search: the time of a query, compared with MiniSearch.

use std::error::Error;
use std::path::Path;
use std::time::{Duration, Instant};

use super::SearchMeasurement;
use super::figure_line::FigureLine;
use super::fixture::{SearchFixture, queries_file};
use super::open_index::OpenIndex;
use super::subprocess;
use crate::ranking::process_usage::{cpu_time, quantile};
use crate::ranking::queries::BenchQuery;

/// How often each query is asked; the best time counts, as for the rival.
const ROUNDS: usize = 3;

/// The slowest of a hundred compared with its limit, and the median compared with MiniSearch's.
/// Times are processor time of all threads, with the wall time as a detail.
pub(super) fn measure_figures(
    fixture: &SearchFixture,
) -> Result<SearchMeasurement, Box<dyn Error>> {
    let asked = subprocess::run_kind("rank", &fixture.folder, fixture.built_index_folder()?)?;
    let (p50, p99) = (asked.get("cpu_p50_us")?, asked.get("cpu_p99_us")?);
    let (wall_p50, wall_p99) = (asked.get("wall_p50_us")?, asked.get("wall_p99_us")?);
    let (rival_p50, rival_p99) = (
        fixture.minisearch_cost()?.get("cpu_p50_us")?,
        fixture.minisearch_cost()?.get("cpu_p99_us")?,
    );
    let limit = fixture.by_size(5_000.0, 30_000.0);
    let slow = format!(
        "cpu_us={p99:.0} wall_us={wall_p99:.0} limit_us={limit} minisearch_cpu_us={rival_p99:.0}"
    );
    let middle =
        format!("ours_cpu_us={p50:.0} wall_us={wall_p50:.0} minisearch_cpu_us={rival_p50:.0}");
    let lines = vec![
        FigureLine::new("ranked_p99", p99 / limit, 1.0, slow),
        FigureLine::new("ranked_p50", p50 / rival_p50, 1.0, middle),
    ];
    Ok(SearchMeasurement { lines, costs: vec![("ranked_p50", p50), ("ranked_p99", p99)] })
}

/// Asks all queries of an index that stands.
pub(super) fn run_queries(vault: &Path, place: &Path) -> Result<String, Box<dyn Error>> {
    let asked: Vec<BenchQuery> = serde_json::from_slice(&std::fs::read(queries_file(place))?)?;
    let standing = OpenIndex::new(vault, place)?;
    standing.build_all()?;
    let (mut cpu, mut walls) = (Vec::new(), Vec::new());
    for asked in &asked {
        let (query, mut best) = (asked.as_typed(), [Duration::MAX; 2]);
        for _ in 0..ROUNDS {
            let (began, began_using) = (Instant::now(), cpu_time());
            standing.find(&query)?;
            let times = [cpu_time().saturating_sub(began_using), began.elapsed()];
            best = [best[0].min(times[0]), best[1].min(times[1])];
        }
        cpu.push(best[0]);
        walls.push(best[1]);
    }
    let micros = |times: &[Duration], percent| quantile(times, percent).as_secs_f64() * 1e6;
    Ok(format!(
        "cpu_p50_us={:.0} cpu_p99_us={:.0} wall_p50_us={:.0} wall_p99_us={:.0}",
        micros(&cpu, 50),
        micros(&cpu, 99),
        micros(&walls, 50),
        micros(&walls, 99)
    ))
}
