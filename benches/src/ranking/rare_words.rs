//! Rare words of the vault: every note that holds one has to be found.

use std::collections::BTreeMap;
use std::error::Error;

use index::fulltext::{FulltextIndex, ParsedQuery, SearchableNote};

/// How many words are looked for.
const PROBE_COUNT: usize = 1000;

/// A word in more notes than this is not rare.
const MAX_NOTES_OF_RARE_WORD: usize = 10;

/// How many of how many rare words are found in all their notes.
pub(crate) fn count_found(
    ranking: &FulltextIndex,
    notes: &[SearchableNote<'_>],
) -> Result<(usize, usize), Box<dyn Error>> {
    let mut holders: BTreeMap<&str, Vec<u64>> = BTreeMap::new();
    for note in notes {
        let parts = |c: char| !c.is_ascii_alphanumeric();
        // A word that touches a letter of another script is part of a longer one.
        let words = note.text.split(parts).filter(|word| word.len() > 2 && note.text.is_ascii());
        for word in words {
            let keys = holders.entry(word).or_default();
            if keys.last() != Some(&note.key) && keys.len() <= MAX_NOTES_OF_RARE_WORD {
                keys.push(note.key);
            }
        }
    }
    let rare: Vec<_> =
        holders.into_iter().filter(|(_, keys)| keys.len() <= MAX_NOTES_OF_RARE_WORD).collect();
    let every = (rare.len() / PROBE_COUNT).max(1);
    let (mut found, mut asked) = (0, 0);
    for (word, keys) in rare.into_iter().step_by(every).take(PROBE_COUNT) {
        let query = ParsedQuery::parse(word).ok_or("a word that is none")?;
        let all = ranking.candidates(&query, notes.len(), &Some)?.places;
        asked += 1;
        found += usize::from(keys.iter().all(|key| all.contains(key)));
    }
    Ok((found, asked))
}
