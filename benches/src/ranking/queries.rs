//! The mix of queries, drawn with a fixed seed from the words that the vault has.

use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::notes;

/// One query: its words, which find longer words too, or words that stand together.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Asked {
    pub(crate) kind: String,
    pub(crate) words: Vec<String>,
    pub(crate) is_phrase: bool,
}

impl Asked {
    /// As a person types it.
    pub(crate) fn typed(&self) -> String {
        let words = self.words.join(" ");
        if self.is_phrase { format!("\"{words}\"") } else { words }
    }
}

/// How many of each kind.
const EACH: usize = 57;

/// About 400 queries for the notes of `vault`.
pub(crate) fn of(vault: &Path) -> Result<Vec<Asked>, Box<dyn Error>> {
    let mut dice = Dice(0x5eed);
    let (mut having, mut together): (HashMap<String, usize>, Vec<Vec<String>>) = Default::default();
    let paths = notes::paths(vault)?;
    let every = paths.len() / EACH + 1;
    for (at, path) in paths.iter().enumerate() {
        let text = notes::read(path)?.text.to_lowercase();
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
    let mut mix = Mix { dice, ranked: &ranked, asked: Vec::new() };
    mix.one("common", 0..common);
    mix.one("middle", common..rare);
    mix.one("rare", rare..ranked.len());
    mix.two(0..rare);
    mix.beginnings(0..rare);
    mix.asked.extend(together.into_iter().map(|words| asked("phrase", words, true)));
    mix.asked.extend((0..EACH).map(|at| asked("absent", vec![format!("qxz{at}jv")], false)));
    Ok(mix.asked)
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| word.len() > 2)
}

fn asked(kind: &str, words: Vec<String>, is_phrase: bool) -> Asked {
    Asked { kind: kind.to_owned(), words, is_phrase }
}

struct Mix<'a> {
    dice: Dice,
    ranked: &'a [(usize, String)],
    asked: Vec<Asked>,
}

impl Mix<'_> {
    fn word(&mut self, of: std::ops::Range<usize>) -> String {
        let at = of.start + self.dice.below(of.len().max(1));
        self.ranked.get(at).map(|(_, word)| word.clone()).unwrap_or_default()
    }

    fn one(&mut self, kind: &str, of: std::ops::Range<usize>) {
        for _ in 0..EACH {
            let word = self.word(of.clone());
            self.asked.push(asked(kind, vec![word], false));
        }
    }

    fn two(&mut self, of: std::ops::Range<usize>) {
        for _ in 0..EACH {
            let words = vec![self.word(0..200), self.word(of.clone())];
            self.asked.push(asked("two", words, false));
        }
    }

    fn beginnings(&mut self, of: std::ops::Range<usize>) {
        for at in 0..EACH {
            let word = self.word(of.clone());
            let beginning = word.chars().take(2 + at % 3).collect();
            self.asked.push(asked("prefix", vec![beginning], false));
        }
    }
}

/// Numbers that are the same at each run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: usize) -> usize {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(self.0 >> 33).unwrap_or_default() % end
    }
}
