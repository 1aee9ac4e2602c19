//! Searching lines for literal text, compared with ripgrep over the same folder.

use std::collections::BTreeSet;
use std::error::Error;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use index::{GrepQuery, escape_literal};
use vault::{EntryKind, NOTE_LIMIT};

use super::SearchMeasurement;
use super::figure_line::FigureLine;
use super::fixture::SearchFixture;
use super::open_index::OpenIndex;
use super::subprocess::median;
use crate::paired_timing::{Ratio, measure};

/// How many pairs are taken of each pattern, over a small vault and over a large one.
const PAIRS: [usize; 2] = [15, 7];

/// In what manner lines are asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LiteralManner {
    /// As many hits as the index gives, as they stand: what ripgrep gives. This is the figure.
    All,
    /// As the tool asks when nothing else is said: ten hits with the lines around them, whatever
    /// the case. All matching lines are counted.
    AsTheTool,
}

/// One pattern: what it stands for, and its words.
type LiteralPattern = (&'static str, String);

/// The middle and the worst of all patterns, in both manners. Times are wall time, with warm caches,
/// of whole answers; that both find the same lines is made sure of before.
pub(super) async fn measure_figures(
    fixture: &SearchFixture,
) -> Result<SearchMeasurement, Box<dyn Error>> {
    let standing = fixture.open_index()?;
    let covered = searched_notes(&standing)?;
    let patterns = patterns(fixture);
    let bar = fixture.by_size(0.1, 0.25);
    let mut taken = SearchMeasurement::default();
    for (name, manner) in [
        ("literal_search", LiteralManner::All),
        ("literal_search_as_the_tool", LiteralManner::AsTheTool),
    ] {
        let (mut ratios, mut ours, mut details) = (Vec::new(), Vec::new(), String::new());
        for (kind, pattern) in &patterns {
            let lines = count_same_lines(fixture, &standing, &covered, pattern, manner)?;
            let ratio = measure_against_ripgrep(fixture, &standing, pattern, manner).await?;
            let (our_ms, rival_ms) =
                (ratio.ours.as_secs_f64() * 1e3, ratio.rival.as_secs_f64() * 1e3);
            details.push_str(&format!("{kind}={our_ms:.2}/{rival_ms:.1}ms:{lines} "));
            ratios.push((ratio.value(), *kind));
            ours.push(our_ms);
        }
        let middle = median(ratios.iter().map(|(ratio, _)| *ratio).collect());
        let worst = ratios.into_iter().max_by(|(a, _), (b, _)| a.total_cmp(b));
        let (worst, kind) = worst.ok_or("there are no patterns")?;
        taken.lines.push(FigureLine::new(name, middle, bar, details.trim_end().to_owned()));
        taken.lines.push(FigureLine::new(
            format!("{name}_worst"),
            worst,
            bar,
            format!("of={kind}"),
        ));
        taken.costs.push((name, ours.iter().sum()));
    }
    Ok(taken)
}

/// The pattern as a query of the product.
pub(super) fn query(pattern: &str, manner: LiteralManner) -> GrepQuery {
    let all = manner == LiteralManner::All;
    GrepQuery {
        pattern: escape_literal(pattern),
        file_pattern: None,
        context_lines: if all { 0 } else { 2 },
        max_results: if all { u16::MAX } else { 10 },
        max_per_note: 5,
        case_sensitive: all,
    }
}

/// Rare, middling, common, several words, absent, several bytes a sign.
fn patterns(fixture: &SearchFixture) -> Vec<LiteralPattern> {
    let of = |kind: &'static str, at: usize| {
        let asked = fixture.queries.iter().filter(|asked| asked.kind == kind).nth(at);
        asked.map(|asked| (kind, asked.words.join(" ")))
    };
    let drawn = [of("rare", 0), of("middle", 0), of("common", 0), of("common", 1), of("phrase", 0)];
    let wide = [("absent", "qxz no such words jv".into()), ("wide", "日記".into())];
    drawn.into_iter().flatten().chain(wide).collect()
}

async fn measure_against_ripgrep(
    fixture: &SearchFixture,
    index: &OpenIndex,
    pattern: &str,
    manner: LiteralManner,
) -> Result<Ratio, Box<dyn Error>> {
    let query = query(pattern, manner);
    let ours = async || index.search(&query).map(drop);
    let theirs =
        async || read_output(&mut ripgrep_command(&fixture.folder, pattern, manner)).map(drop);
    let [small, large] = PAIRS;
    measure(fixture.by_size(small, large), ours, theirs).await
}

/// How many lines match, if both agree.
fn count_same_lines(
    fixture: &SearchFixture,
    index: &OpenIndex,
    covered: &BTreeSet<String>,
    pattern: &str,
    manner: LiteralManner,
) -> Result<u32, Box<dyn Error>> {
    let ours = index.search(&query(pattern, manner))?.total;
    let theirs = read_output(ripgrep_command(&fixture.folder, pattern, manner).arg("--null"))?;
    let paths = theirs.split(|byte| *byte == b'\n').filter_map(|line| {
        let path = line.split(|byte| *byte == 0).next().filter(|path| path.len() < line.len());
        std::str::from_utf8(path?).ok()?.strip_prefix("./")
    });
    let theirs = u32::try_from(paths.filter(|path| covered.contains(*path)).count())?;
    if ours == theirs {
        Ok(ours)
    } else {
        Err(format!("`{pattern}` is in {ours} lines, but ripgrep finds {theirs}").into())
    }
}

/// The notes that a search looks into.
fn searched_notes(index: &OpenIndex) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let listed = index.vault.list()?.entries.into_iter();
    let notes = listed.filter(|entry| entry.kind == EntryKind::Note && entry.size <= NOTE_LIMIT);
    Ok(notes.map(|entry| entry.path.into()).collect())
}

fn ripgrep_command(folder: &Path, pattern: &str, manner: LiteralManner) -> Command {
    let mut rg = Command::new("rg");
    rg.args(["--no-config", "-n", "--no-heading", "-u", "-g", "*.md"]);
    if manner == LiteralManner::AsTheTool {
        rg.arg("-i");
    }
    rg.args(["-F", "-e", pattern, "."]).current_dir(folder);
    rg
}

/// All that ripgrep prints.
fn read_output(rg: &mut Command) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut child = rg.stdin(Stdio::null()).stdout(Stdio::piped()).spawn()?;
    let mut printed = Vec::new();
    if let Some(mut from) = child.stdout.take() {
        from.read_to_end(&mut printed)?;
    }
    match child.wait()?.code() {
        Some(0 | 1) => Ok(printed),
        code => Err(format!("rg ended with {code:?}").into()),
    }
}
