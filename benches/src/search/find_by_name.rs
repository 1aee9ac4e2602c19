//! Finding notes by name, compared with the search by name of a plugged-in server.

use std::error::Error;

use super::SearchMeasurement;
use super::figure_line::FigureLine;
use super::fixture::SearchFixture;
use crate::mcp_server::McpServer;
use crate::paired_timing::measure;
use crate::ranking::notes;

/// How many pairs are taken, over a small vault and over a large one.
const PAIRS: [usize; 2] = [10, 4];

/// How many names a person is shown.
const SHOWN_NAMES: usize = 50;

/// Looks for beginnings of names that are there, a different one each time.
pub(super) async fn measure_figures(
    fixture: &SearchFixture,
) -> Result<SearchMeasurement, Box<dyn Error>> {
    let standing = fixture.open_index()?;
    let asked = name_prefixes(fixture)?;
    let mut server = McpServer::start(&fixture.folder)?;
    let (mut ours_asked, mut server_asked) = (asked.iter().cycle(), asked.iter().cycle());
    let ours = async || {
        let part = ours_asked.next().ok_or("no note has a name")?;
        let found = standing.index.find_files(&standing.vault, part, &[], SHOWN_NAMES, |_| true)?;
        match found.is_empty() {
            true => Err(format!("no note is found by `{part}`").into()),
            false => Ok(()),
        }
    };
    let theirs = async || {
        let part = server_asked.next().ok_or("no note has a name")?;
        server.search(&fixture.folder, part)
    };
    let [small, large] = PAIRS;
    let ratio = measure::<Box<dyn Error>>(fixture.by_size(small, large), ours, theirs).await?;
    let millis = ratio.ours.as_secs_f64() * 1e3;
    let rival = ratio.rival.as_secs_f64() * 1e3;
    let details = format!("ours_ms={millis:.2} server_ms={rival:.0}");
    let line = FigureLine::new("find_by_name", ratio.value(), 1.0 / 200.0, details);
    Ok(SearchMeasurement { lines: vec![line], costs: vec![("find_by_name", millis)] })
}

/// Words of names, spread over the vault.
fn name_prefixes(fixture: &SearchFixture) -> Result<Vec<String>, Box<dyn Error>> {
    let paths = notes::note_paths(&fixture.folder)?;
    let names = paths.iter().step_by(paths.len() / 40 + 1);
    let stems = names.filter_map(|path| path.file_stem()?.to_str());
    let words = stems.filter_map(|stem| {
        stem.split(|c: char| !c.is_ascii_alphabetic()).find(|word| word.len() > 3)
    });
    Ok(words.map(str::to_owned).collect())
}
