//! The ranking of the product: candidates from the index, ordered by their texts.

use std::borrow::Cow;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use index::fulltext::{FulltextIndex, ParsedQuery, SearchableNote, rerank};
use protocol::NotePath;

use super::process_usage::{
    CandidateFigures, ProcessTimer, anonymous_memory, best_cpu_time, folder_size,
};
use super::{QUERY_ROUNDS, UPDATE_COUNT, notes, queries, rare_words};

const SHOWN_PASSAGES: usize = 10;

/// Builds, changes and asks. A changed note is fresh: it is read, and the ranking is told later.
pub(crate) fn measure(
    vault: &Path,
    asked: &[queries::BenchQuery],
    place: &Path,
) -> Result<CandidateFigures, Box<dyn Error>> {
    let files = notes::note_paths(vault)?;
    let watch = ProcessTimer::start();
    let mut paths = Vec::new();
    for file in &files {
        paths.push(NotePath::parse(&file.strip_prefix(vault)?.to_string_lossy())?);
    }
    let before = anonymous_memory()?;
    let read = |((file, path), key)| {
        let text = fs::read(file).unwrap_or_default();
        SearchableNote { key, path, aliases: (&[]).into(), text: lossy(text) }
    };
    let all = files.iter().zip(&paths).zip(0..).map(read);
    let ranking = FulltextIndex::build(place, 1, all, &AtomicBool::new(false))?;
    let build = watch.elapsed();
    drop(ranking);
    let ranking = FulltextIndex::open(place, 1).ok_or("the ranking does not open")?;
    let built = anonymous_memory()?.saturating_sub(before);
    let read: Vec<SearchableNote<'_>> = files.iter().zip(&paths).zip(0..).map(read).collect();
    let texts: Vec<SearchableNote<'_>> = read.iter().map(borrowed).collect();
    let held = anonymous_memory()?;
    let mut queries = Vec::new();
    for asked in asked {
        let query = asked.as_typed();
        let ask = || find(&ranking, &texts, &[], &query);
        queries.push(best_cpu_time(QUERY_ROUNDS, || ask().map(drop))?);
    }
    let memory = built + anonymous_memory()?.saturating_sub(held);
    let (found, probes) = rare_words::count_found(&ranking, &texts)?;
    if found < probes {
        return Err(format!("of {probes} rare words only {found} were found everywhere").into());
    }
    let mut updates = Vec::new();
    for (note, at) in texts.iter().skip(texts.len() / 2).zip(0..UPDATE_COUNT) {
        let word = format!("newword{at}");
        let text = format!("{} {word}", note.text);
        let began = Instant::now();
        let fresh = SearchableNote { text: Cow::Owned(text), ..note.clone() };
        if find(&ranking, &texts, &[fresh], &word)? != 1 {
            return Err("a changed note is not found".into());
        }
        updates.push(began.elapsed());
    }
    Ok(CandidateFigures { build, updates, queries, disk: folder_size(place)?, memory })
}

/// The same note, whose text nobody copies.
fn borrowed<'a>(note: &'a SearchableNote<'_>) -> SearchableNote<'a> {
    SearchableNote {
        key: note.key,
        path: note.path,
        aliases: Cow::Borrowed(&note.aliases),
        text: Cow::Borrowed(&note.text),
    }
}

fn lossy(bytes: Vec<u8>) -> Cow<'static, str> {
    let text = String::from_utf8(bytes);
    Cow::Owned(text.unwrap_or_else(|why| String::from_utf8_lossy(why.as_bytes()).into_owned()))
}

fn find(
    ranking: &FulltextIndex,
    texts: &[SearchableNote<'_>],
    fresh: &[SearchableNote<'_>],
    query: &str,
) -> Result<usize, Box<dyn Error>> {
    let asked = ParsedQuery::parse(query).ok_or("a query without words")?;
    let place = |key| fresh.iter().all(|note| note.key != key).then_some(key);
    let candidates = ranking.candidates(&asked, asked.candidates_for(SHOWN_PASSAGES), &place)?;
    let text = |key: &u64| texts.get(usize::try_from(*key).ok()?).cloned();
    let best: Vec<SearchableNote<'_>> =
        candidates.worth_reading(SHOWN_PASSAGES).iter().filter_map(text).collect();
    Ok(rerank(&asked, &candidates, &best, fresh, SHOWN_PASSAGES).0.len())
}
