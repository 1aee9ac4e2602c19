//! The first start: until lists, links and tags answer, and until everything stands.

use std::error::Error;
use std::fs::{self, File};
use std::io::Read;
use std::path::Path;

use super::SearchMeasurement;
use super::figure_line::FigureLine;
use super::fixture::SearchFixture;
use super::open_index::{OpenIndex, index_dir};
use super::subprocess::{self, median};
use crate::ranking::process_usage::{ProcessTimer, folder_size};

/// How many pairs of the first opening are taken, over a small vault and over a large one.
const OPEN_PAIRS: [usize; 2] = [9, 3];

/// How many pairs of the first build: MiniSearch needs minutes for a large vault.
const BUILD_PAIRS: [usize; 2] = [3, 1];

/// From an empty folder until the snapshot and the ranking are ready, compared with MiniSearch that
/// reads and adds the same notes. Both are processor time of all threads of a separate process.
pub(super) fn measure_first_build(
    fixture: &SearchFixture,
) -> Result<SearchMeasurement, Box<dyn Error>> {
    let (mut ours, mut walls, mut rivals) = (Vec::new(), Vec::new(), Vec::new());
    let [small, large] = BUILD_PAIRS;
    for pair in 0..fixture.by_size(small, large) {
        let place = tempfile::tempdir()?;
        let built = subprocess::run_kind("build", &fixture.folder, place.path())?;
        let rival = match pair {
            0 => fixture.minisearch_cost()?.clone(),
            _ => fixture.rerun_minisearch()?,
        };
        ours.push(built.get("build_cpu_ms")?);
        walls.push(built.get("build_wall_ms")?);
        rivals.push(rival.get("build_cpu_s")? * 1e3);
    }
    let (ours, rival) = (median(ours), median(rivals));
    let details = format!(
        "ours_cpu_ms={ours:.0} minisearch_cpu_ms={rival:.0} ours_wall_ms={:.0} disk_mb={:.1}",
        median(walls),
        fixture.build_cost()?.get("disk_mb")?
    );
    let costs = vec![("first_build", ours), ("disk", fixture.build_cost()?.get("disk_mb")?)];
    Ok(SearchMeasurement {
        lines: vec![FigureLine::new("first_build", ours / rival, 0.2, details)],
        costs,
    })
}

/// From an empty folder until lists, links and tags answer, on all cores, compared with one thread
/// that finds every note and reads it once. Both are processor time of all threads, with the wall
/// time as a detail.
pub(super) fn measure_first_open(
    fixture: &SearchFixture,
) -> Result<SearchMeasurement, Box<dyn Error>> {
    let (mut ours, mut walls) = (Vec::new(), Vec::new());
    let (mut rivals, mut rival_walls) = (Vec::new(), Vec::new());
    let [small, large] = OPEN_PAIRS;
    for pair in 0..fixture.by_size(small, large) {
        let place = tempfile::tempdir()?;
        let work = |kind: &str| subprocess::run_kind(kind, &fixture.folder, place.path());
        let (opened, read) = if pair % 2 == 0 {
            let first = work("open")?;
            (first, work("read")?)
        } else {
            let first = work("read")?;
            (work("open")?, first)
        };
        ours.push(opened.get("open_cpu_ms")?);
        walls.push(opened.get("open_wall_ms")?);
        rivals.push(read.get("read_cpu_ms")?);
        rival_walls.push(read.get("read_wall_ms")?);
    }
    let (ours, wall) = (median(ours), median(walls));
    let (rival, rival_wall) = (median(rivals), median(rival_walls));
    let details = format!(
        "ours_cpu_ms={ours:.0} reading_cpu_ms={rival:.0} wall_ratio={:.2} ours_wall_ms={wall:.0} \
         reading_wall_ms={rival_wall:.0}",
        wall / rival_wall
    );
    let costs = vec![("first_open", ours)];
    Ok(SearchMeasurement {
        lines: vec![FigureLine::new("first_open", ours / rival, 3.0, details)],
        costs,
    })
}

/// Builds everything in an empty place.
pub(super) fn build_all(vault: &Path, place: &Path) -> Result<String, Box<dyn Error>> {
    let watch = ProcessTimer::start();
    let standing = OpenIndex::new(vault, place)?;
    standing.build_all()?;
    let built = format_times("build", &watch);
    let disk = folder_size(&index_dir(place))? + folder_size(&index_dir(place).join("ranked"))?;
    Ok(format!("{built} disk_mb={:.1}", f64::from(u32::try_from(disk >> 10)?) / 1e3))
}

/// Opens the vault for the first time.
pub(super) fn open_first(vault: &Path, place: &Path) -> Result<String, Box<dyn Error>> {
    let watch = ProcessTimer::start();
    let standing = OpenIndex::new(vault, place)?;
    standing.open_metadata()?;
    Ok(format_times("open", &watch))
}

/// Finds every note and reads it once: no list of them is given.
pub(super) fn read_all(vault: &Path) -> Result<String, Box<dyn Error>> {
    let watch = ProcessTimer::start();
    let (mut folders, mut text, mut notes) = (vec![vault.to_owned()], Vec::new(), 0);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = entry.file_name();
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else if name.as_encoded_bytes().ends_with(b".md") {
                text.clear();
                File::open(entry.path())?.read_to_end(&mut text)?;
                notes += 1;
            }
        }
    }
    Ok(format!("{} notes={notes}", format_times("read", &watch)))
}

/// Processor and wall time since `watch` was started, under the name of the work.
pub(super) fn format_times(what: &str, watch: &ProcessTimer) -> String {
    let (wall, used) = watch.elapsed();
    let millis = |time: std::time::Duration| time.as_secs_f64() * 1e3;
    format!("{what}_cpu_ms={:.1} {what}_wall_ms={:.1}", millis(used), millis(wall))
}
