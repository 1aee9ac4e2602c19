//! The ranking of the product: candidates from the index, ordered by their texts.

use std::borrow::Cow;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Instant;

use index::ranked::{Asked, NoteText, Ranking, rank};
use protocol::NotePath;

use super::notes;
use super::own_process::{Row, Watch, anonymous, best, size};
use super::probes;
use super::queries;
use super::{ROUNDS, UPDATES};

/// How many passages are shown.
const SHOWN: usize = 10;

/// Builds, changes and asks. A changed note is fresh: it is read, and the ranking is told later.
pub(crate) fn measure(
    vault: &Path,
    asked: &[queries::Asked],
    place: &Path,
) -> Result<Row, Box<dyn Error>> {
    let files = notes::paths(vault)?;
    let watch = Watch::start();
    let mut paths = Vec::new();
    for file in &files {
        paths.push(NotePath::parse(&file.strip_prefix(vault)?.to_string_lossy())?);
    }
    let before = anonymous()?;
    let read = |((file, path), key)| {
        let text = fs::read(file).unwrap_or_default();
        NoteText { key, path, aliases: (&[]).into(), text: lossy(text) }
    };
    let all = files.iter().zip(&paths).zip(0..).map(read);
    let ranking = Ranking::build(place, 1, all, &AtomicBool::new(false))?;
    let build = watch.read();
    drop(ranking);
    let ranking = Ranking::open(place, 1).ok_or("the ranking does not open")?;
    let built = anonymous()?.saturating_sub(before);
    let read: Vec<NoteText<'_>> = files.iter().zip(&paths).zip(0..).map(read).collect();
    let texts: Vec<NoteText<'_>> = read.iter().map(lent).collect();
    let held = anonymous()?;
    let mut queries = Vec::new();
    for asked in asked {
        let query = asked.typed();
        let ask = || find(&ranking, &texts, &[], &query);
        queries.push(best(ROUNDS, || ask().map(drop))?);
    }
    let memory = built + anonymous()?.saturating_sub(held);
    let (found, probes) = probes::count(&ranking, &texts)?;
    if found < probes {
        return Err(format!("of {probes} rare words only {found} were found everywhere").into());
    }
    let mut updates = Vec::new();
    for (note, at) in texts.iter().skip(texts.len() / 2).zip(0..UPDATES) {
        let word = format!("newword{at}");
        let text = format!("{} {word}", note.text);
        let began = Instant::now();
        let fresh = NoteText { text: Cow::Owned(text), ..note.clone() };
        if find(&ranking, &texts, &[fresh], &word)? != 1 {
            return Err("a changed note is not found".into());
        }
        updates.push(began.elapsed());
    }
    Ok(Row { build, updates, queries, disk: size(place)?, memory })
}

/// The same note, whose text nobody copies.
fn lent<'a>(note: &'a NoteText<'_>) -> NoteText<'a> {
    NoteText {
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
    ranking: &Ranking,
    texts: &[NoteText<'_>],
    fresh: &[NoteText<'_>],
    query: &str,
) -> Result<usize, Box<dyn Error>> {
    let asked = Asked::parse(query).ok_or("a query without words")?;
    let place = |key| fresh.iter().all(|note| note.key != key).then_some(key);
    let candidates = ranking.candidates(&asked, asked.candidates_for(SHOWN), &place)?;
    let text = |key: &u64| texts.get(usize::try_from(*key).ok()?).cloned();
    let best: Vec<NoteText<'_>> = candidates.worth_reading(SHOWN).iter().filter_map(text).collect();
    Ok(rank(&asked, &candidates, &best, fresh, SHOWN).0.len())
}
