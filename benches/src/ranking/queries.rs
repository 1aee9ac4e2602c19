//! The mix of queries, drawn with a fixed seed from the words that the vault has.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::notes;

/// One query: its words, which find longer words too, or words that stand together.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct BenchQuery {
    pub(crate) kind: String,
    pub(crate) words: Vec<String>,
    pub(crate) is_phrase: bool,
}

impl BenchQuery {
    /// As a person types it.
    pub(crate) fn as_typed(&self) -> String {
        let words = self.words.join(" ");
        if self.is_phrase { format!("\"{words}\"") } else { words }
    }
}

const QUERIES_PER_KIND: usize = 57;

/// About 400 queries for the notes of `vault`.
pub(crate) fn draw_queries(vault: &Path) -> Result<Vec<BenchQuery>, Box<dyn Error>> {
    let mut dice = SeededRandom(0x5eed);
    let (mut having, mut together): (HashMap<String, usize>, Vec<Vec<String>>) = Default::default();
    let paths = notes::note_paths(vault)?;
    let every = paths.len() / QUERIES_PER_KIND + 1;
    for (at, path) in paths.iter().enumerate() {
        let text = notes::read_note(path)?.text.to_lowercase();
        let words: Vec<&str> = words(&text).collect();
        if at % every == 0 && words.len() > 9 {
            let from = words.len() / 2 + dice.below(3);
            let run = words.get(from..from + 2 + at % 2).unwrap_or_default();
            together.push(run.iter().map(|word| (*word).to_owned()).collect());
        }
        for word in words.into_iter().collect::<HashSet<_>>() {
            *having.entry(word.to_owned()).or_default() += 1;
        }
    }
    let mut ranked: Vec<(usize, String)> =
        having.into_iter().map(|(word, notes)| (notes, word)).collect();
    ranked.sort_unstable_by(|a, b| b.cmp(a));
    let rare = ranked.partition_point(|(notes, _)| *notes > 10);
    let common = 200.min(rare);
    let mut mix = QueryMix { dice, ranked: &ranked, asked: Vec::new() };
    mix.add_one_word("common", 0..common);
    mix.add_one_word("middle", common..rare);
    mix.add_one_word("rare", rare..ranked.len());
    mix.add_two_words(0..rare);
    mix.add_prefixes(0..rare);
    mix.asked.extend(together.into_iter().map(|words| query("phrase", words, true)));
    mix.asked
        .extend((0..QUERIES_PER_KIND).map(|at| query("absent", vec![format!("qxz{at}jv")], false)));
    Ok(mix.asked)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 2)
}

fn query(kind: &str, words: Vec<String>, is_phrase: bool) -> BenchQuery {
    BenchQuery { kind: kind.to_owned(), words, is_phrase }
}

struct QueryMix<'a> {
    dice: SeededRandom,
    ranked: &'a [(usize, String)],
    asked: Vec<BenchQuery>,
}

impl QueryMix<'_> {
    fn word(&mut self, of: std::ops::Range<usize>) -> String {
        let at = of.start + self.dice.below(of.len().max(1));
        self.ranked.get(at).map(|(_, word)| word.clone()).unwrap_or_default()
    }

    fn add_one_word(&mut self, kind: &str, of: std::ops::Range<usize>) {
        for _ in 0..QUERIES_PER_KIND {
            let word = self.word(of.clone());
            self.asked.push(query(kind, vec![word], false));
        }
    }

    fn add_two_words(&mut self, of: std::ops::Range<usize>) {
        for _ in 0..QUERIES_PER_KIND {
            let words = vec![self.word(0..200), self.word(of.clone())];
            self.asked.push(query("two", words, false));
        }
    }

    fn add_prefixes(&mut self, of: std::ops::Range<usize>) {
        for at in 0..QUERIES_PER_KIND {
            let word = self.word(of.clone());
            let beginning = word.chars().take(2 + at % 3).collect();
            self.asked.push(query("prefix", vec![beginning], false));
        }
    }
}

/// Numbers that are the same at each run.
struct SeededRandom(u64);

impl SeededRandom {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % end
    }
}
