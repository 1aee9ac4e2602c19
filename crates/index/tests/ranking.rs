//! The ranking over real files: which notes are found, in what order, and the effect of a torn
//! directory.

#![allow(
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use index::fulltext::{
    FulltextError, FulltextIndex, ParsedQuery, RankedCandidates, SearchableNote, rerank,
};
use proptest::prelude::*;
use protocol::NotePath;

const ALL: usize = 100_000;

static GO: AtomicBool = AtomicBool::new(false);

/// A note with its key as its place.
fn note(path: &NotePath, key: u64, text: &str) -> SearchableNote<'static> {
    let path = Box::leak(Box::new(path.clone()));
    SearchableNote { key, path, aliases: Cow::Borrowed(&[]), text: Cow::Owned(text.to_owned()) }
}

fn notes(texts: &[(&str, &str)]) -> Vec<SearchableNote<'static>> {
    let note = |((path, text), key): (&(&str, &str), u64)| {
        note(&NotePath::parse(path).unwrap(), key, text)
    };
    texts.iter().zip(0..).map(note).collect()
}

fn build(dir: &Path, notes: &[SearchableNote<'static>]) -> FulltextIndex {
    FulltextIndex::build(dir, 1, notes.iter().cloned(), &GO).unwrap()
}

fn found(ranking: &FulltextIndex, query: &str) -> RankedCandidates {
    ranking.candidates(&ParsedQuery::parse(query).unwrap(), ALL, &Some).unwrap()
}

fn keys(ranking: &FulltextIndex, query: &str) -> BTreeSet<u64> {
    found(ranking, query).places.into_iter().collect()
}

#[test]
fn names_headings_and_text_are_found_and_counted() {
    let dir = tempfile::tempdir().unwrap();
    let aliases = ["Camellia".to_owned()];
    let mut all = notes(&[("Tea.md", "Hot."), ("b.md", "# Tea\n\nGreen."), ("c.md", "About tea.")]);
    all[2].aliases = Cow::Owned(aliases.to_vec());
    let ranking = build(dir.path(), &all);
    let tea = found(&ranking, "tea green");
    assert_eq!(
        (&*tea.places, &*tea.document_frequencies, tea.notes, tea.found),
        (&[1, 0, 2][..], &[3, 1][..], 3, 3)
    );
    assert_eq!(
        (tea.with_all, tea.worth_reading(1), tea.worth_reading(2)),
        (1, &[1][..], &*tea.places)
    );
    assert_eq!(found(&ranking, "camel").places, [2]);
    assert_eq!(
        found(&ranking, "coffee"),
        RankedCandidates { document_frequencies: vec![0], notes: 3, ..Default::default() }
    );
}

#[test]
fn only_what_is_accepted_is_found_but_everything_is_counted() {
    let dir = tempfile::tempdir().unwrap();
    let ranking =
        build(dir.path(), &notes(&[("a.md", "tea"), ("b.md", "tea tea"), ("c.md", "tea")]));
    let asked = ParsedQuery::parse("tea").unwrap();
    let odd = ranking.candidates(&asked, 1, &|key| (key != 1).then_some(key)).unwrap();
    assert_eq!((odd.places, odd.document_frequencies, odd.found), (vec![0], vec![3], 2));
}

#[test]
fn an_update_brings_new_notes_and_takes_old_ones_and_the_ranking_before_answers_on() {
    let dir = tempfile::tempdir().unwrap();
    let all = notes(&[("a.md", "tea"), ("b.md", "coffee"), ("c.md", "tea")]);
    let before = build(dir.path(), &all);
    let changed = notes(&[("a.md", "x"), ("b.md", "x tea")]);
    let after = before.update(&[1, 2], changed[1..].iter().cloned(), &GO).unwrap();
    assert_eq!((keys(&after, "tea"), keys(&after, "coffee")), ([0, 1].into(), [].into()));
    assert_eq!((keys(&before, "tea"), keys(&before, "coffee")), ([0, 2].into(), [1].into()));
    assert_eq!(
        (found(&after, "tea").document_frequencies, found(&after, "tea").notes),
        (vec![2], 2)
    );
    let opened = FulltextIndex::open(dir.path(), 1).unwrap();
    assert_eq!(keys(&opened, "tea"), [0, 1].into());
}

#[test]
fn a_note_that_two_updates_of_one_ranking_bring_is_found_once() {
    let dir = tempfile::tempdir().unwrap();
    let all = notes(&[("a.md", "tea"), ("b.md", "tea")]);
    let before = build(dir.path(), &all[..1]);
    let update = || before.update(&[], all[1..].iter().cloned(), &GO).unwrap();
    assert_eq!(found(&update(), "tea").found, 2, "the control: one update");
    let tea = found(&update(), "tea");
    assert_eq!((tea.places.len(), tea.found), (2, 2));
}

#[test]
fn many_updates_leave_few_files() {
    let dir = tempfile::tempdir().unwrap();
    let all = notes(&[("a.md", "tea"), ("b.md", "coffee")]);
    let mut ranking = build(dir.path(), &all);
    for number in 2..40 {
        let text = format!("tea number{number}");
        let changed = [note(all[0].path, 0, &text)];
        ranking = ranking.update(&[0], changed.into_iter(), &GO).unwrap();
    }
    assert_eq!((keys(&ranking, "number39"), keys(&ranking, "number38")), ([0].into(), [].into()));
    let files = fs::read_dir(dir.path()).unwrap().count();
    assert!(files < 120, "{files} files");
}

#[test]
fn a_build_that_is_told_to_stop_stops_and_nothing_opens() {
    let dir = tempfile::tempdir().unwrap();
    let (all, stop) = (notes(&[("a.md", "tea"), ("b.md", "tea")]), AtomicBool::new(false));
    let stopping = all.iter().cloned().inspect(|_| stop.store(true, Ordering::Relaxed));
    let stopped = FulltextIndex::build(dir.path(), 1, stopping, &stop);
    assert!(matches!(stopped, Err(FulltextError::Cancelled)), "{:?}", stopped.err());
    assert!(FulltextIndex::open(dir.path(), 1).is_none());
    assert_eq!(keys(&build(dir.path(), &all), "tea"), [0, 1].into());
}

#[test]
fn an_update_that_is_told_to_stop_leaves_the_directory_whole() {
    let dir = tempfile::tempdir().unwrap();
    let (all, stop) = (notes(&[("a.md", "tea"), ("b.md", "tea")]), AtomicBool::new(false));
    let ranking = build(dir.path(), &all);
    let stopping = notes(&[("c.md", "tea"), ("d.md", "tea")]).into_iter();
    let stopping = stopping.inspect(|_| stop.store(true, Ordering::Relaxed));
    let stopped = ranking.update(&[0], stopping, &stop);
    assert!(matches!(stopped, Err(FulltextError::Cancelled)), "{:?}", stopped.err());
    let opened = FulltextIndex::open(dir.path(), 1).unwrap();
    assert_eq!((keys(&ranking, "tea"), keys(&opened, "tea")), ([0, 1].into(), [0, 1].into()));
    let after = opened.update(&[0], std::iter::empty(), &GO).unwrap();
    assert_eq!(keys(&after, "tea"), [1].into());
}

#[test]
fn a_directory_that_cannot_be_written_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "").unwrap();
    let failed = FulltextIndex::build(&file, 1, std::iter::empty(), &AtomicBool::new(false));
    let why = failed.err().unwrap().to_string();
    assert!(why.contains("file") && why.contains("can’t be kept"), "{why}");
}

/// Tears each file of a whole directory in turn; what opens afterwards must answer as before.
fn torn(tear: impl Fn(&mut Vec<u8>)) -> (usize, usize) {
    let dir = tempfile::tempdir().unwrap();
    let all = notes(&[
        ("a.md", "tea \"and\" coffee"),
        ("b.md", "# Tea\n\nthe green one"),
        ("c.md", "日本語"),
    ]);
    drop(build(dir.path(), &all).update(&[0], all[..1].iter().cloned(), &GO).unwrap());
    let (mut tears, mut refused) = (0, 0);
    for entry in fs::read_dir(dir.path()).unwrap() {
        let file = entry.unwrap().path();
        let whole = fs::read(&file).unwrap();
        let mut bytes = whole.clone();
        tear(&mut bytes);
        fs::write(&file, &bytes).unwrap();
        tears += 1;
        match FulltextIndex::open(dir.path(), 1) {
            None => refused += 1,
            Some(ranking) => assert_eq!(
                (keys(&ranking, "tea"), keys(&ranking, "\"green one\""), keys(&ranking, "本語")),
                ([0, 1].into(), [1].into(), [2].into()),
                "{}",
                file.display()
            ),
        }
        fs::write(&file, whole).unwrap();
        assert!(
            FulltextIndex::open(dir.path(), 1).is_some(),
            "the control: {} is whole again",
            file.display()
        );
    }
    (tears, refused)
}

#[test]
fn a_torn_file_is_never_opened() {
    let (tears, refused) = torn(|bytes| bytes.truncate(bytes.len() / 2));
    // The locks are empty already, and nothing is in them.
    assert!(tears > 8 && refused >= tears - 2, "{refused} of {tears}");
    let (tears, refused) = torn(|bytes| {
        let middle = bytes.len() / 2;
        if let Some(byte) = bytes.get_mut(middle) {
            *byte ^= 0x40;
        }
    });
    assert!(refused >= tears - 2, "{refused} of {tears}");
    let (tears, refused) = torn(|bytes| bytes.extend_from_slice(b"more"));
    assert!(refused >= tears - 2, "{refused} of {tears}");
}

#[test]
fn one_of_other_rules_a_missing_file_and_an_empty_folder_are_not_opened() {
    let dir = tempfile::tempdir().unwrap();
    assert!(FulltextIndex::open(dir.path(), 1).is_none());
    drop(build(dir.path(), &notes(&[("a.md", "tea")])));
    assert!(FulltextIndex::open(dir.path(), 1).is_some());
    assert!(FulltextIndex::open(dir.path(), 2).is_none());
    let file = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path());
    let part = file.into_iter().find(|file| file.extension().is_some_and(|end| end == "term"));
    fs::remove_file(part.unwrap()).unwrap();
    assert!(FulltextIndex::open(dir.path(), 1).is_none());
}

#[test]
fn fresh_notes_and_kept_ones_are_ordered_by_one_rule() {
    let dir = tempfile::tempdir().unwrap();
    let texts =
        [("a.md", "tea"), ("b.md", "green tea"), ("Green tea.md", ""), ("d.md", "tea green")];
    let all = notes(&texts);
    let asked = ParsedQuery::parse("green tea").unwrap();
    let order = |split: usize| {
        let (kept, fresh) = all.split_at(split);
        let ranking = build(dir.path(), kept);
        let candidates = ranking.candidates(&asked, ALL, &Some).unwrap();
        let texts: Vec<_> =
            candidates.places.iter().map(|key| all[*key as usize].clone()).collect();
        let (best, _) = rerank(&asked, &candidates, &texts, fresh, 10);
        best.into_iter().map(|passage| passage.path.to_string()).collect::<Vec<_>>()
    };
    assert_eq!(order(4), ["Green tea.md", "b.md", "d.md", "a.md"]);
    for split in 0..4 {
        assert_eq!(order(split), order(4), "{split} of 4 kept");
    }
}

/// A vault of two thousand notes whose words are as unevenly spread as those of real ones.
fn generated() -> Vec<String> {
    const SYLLABLES: [&str; 12] =
        ["ba", "ke", "li", "mo", "nu", "ra", "se", "ti", "vo", "gä", "pé", "zun"];
    let mut seed = 0x5eed_u64;
    let mut below = |end: u64| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (seed >> 33) % end
    };
    let mut a_word = || {
        // The cube of a number below one: small places are drawn far more often.
        let share = below(1 << 20) as f64 / f64::from(1 << 20);
        let mut rank = (share.powi(3) * 40_000.0) as usize;
        let mut word = String::new();
        loop {
            word.push_str(SYLLABLES[rank % SYLLABLES.len()]);
            rank /= SYLLABLES.len();
            if rank == 0 {
                return word;
            }
        }
    };
    let mut a_note = |number: usize| {
        let mut text = format!("---\ntags: [{}]\n---\n# {}\r\n\r\n", a_word(), a_word());
        for place in 0..40 + number % 160 {
            let part = [" ", ", ", "\n", "\n\n", "/", " [[", "]] ", "**", "_", "#"][place % 10];
            text.push_str(&a_word());
            text.push_str(part);
        }
        text
    };
    (0..2_000).map(&mut a_note).collect()
}

#[test]
fn every_note_that_holds_a_rare_word_is_found() {
    let texts = generated();
    let path = NotePath::parse("note.md").unwrap();
    let all: Vec<_> = texts.iter().zip(0..).map(|(text, key)| note(&path, key, text)).collect();
    let mut holders: BTreeMap<&str, BTreeSet<u64>> = BTreeMap::new();
    for (text, key) in texts.iter().zip(0..) {
        for word in text.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty()) {
            holders.entry(word).or_default().insert(key);
        }
    }
    let rare = holders.into_iter().filter(|(_, holders)| holders.len() <= 10);
    let probes: Vec<_> = rare.step_by(3).take(1_000).collect();
    assert_eq!(probes.len(), 1_000);
    let dir = tempfile::tempdir().unwrap();
    let ranking = build(dir.path(), &all);
    for (word, holders) in probes {
        let found = keys(&ranking, word);
        assert!(found.is_superset(&holders), "{word}: {holders:?}, found {found:?}");
        // A whole word finds less than a beginning, and other spellings of the word as well.
        let whole = keys(&ranking, &format!("\"{word}\""));
        assert!(whole.is_superset(&holders) && whole.is_subset(&found), "{word}");
    }
    assert_eq!(keys(&ranking, "qxz"), BTreeSet::new());
}

/// Words of a note as it is made, so that the oracle does not take text apart.
type NoteWords = Vec<&'static str>;

const VOCABULARY: [&str; 14] = [
    "tea",
    "Tea",
    "teapot",
    "té",
    "garden",
    "GARDEN",
    "gärden",
    "мой",
    "MAC",
    "straße",
    "x",
    "10",
    "e\u{301}t",
    "so",
];
const SIGNS: [&str; 5] = ["日", "本", "語", "が", "ไ"];
const PARTS: [&str; 6] = [" ", ", ", " - ", "\n", "_", "/"];

/// How a word is spelled for the oracle: written down by hand, not computed.
fn plain(word: &str) -> &str {
    match word {
        "Tea" => "tea",
        "té" => "te",
        "GARDEN" | "gärden" => "garden",
        "мой" => "мои",
        "MAC" => "mac",
        "e\u{301}t" => "et",
        "が" => "か",
        other => other,
    }
}

fn is_sign(word: &str) -> bool {
    SIGNS.contains(&word) || word == "か"
}

fn a_word() -> impl Strategy<Value = &'static str> {
    prop_oneof![5 => prop::sample::select(&VOCABULARY[..]), 2 => prop::sample::select(&SIGNS[..])]
}

/// A note's words and its text.
fn a_note() -> impl Strategy<Value = (NoteWords, String)> {
    let parts = prop::sample::select(&PARTS[..]);
    prop::collection::vec((a_word(), parts), 0..12).prop_map(|words| {
        let text = words.iter().fold(String::new(), |mut text, (word, part)| {
            // Signs need nothing between them.
            if !(is_sign(word) && text.trim_end_matches(' ').ends_with(is_sign_letter)) {
                text.push_str(part);
            }
            text.push_str(word);
            text
        });
        (words.into_iter().map(|(word, _)| word).collect(), text)
    })
}

fn is_sign_letter(letter: char) -> bool {
    SIGNS.iter().any(|sign| sign.starts_with(letter))
}

#[derive(Debug, Clone)]
enum QueryPart {
    Word(&'static str),
    Phrase(NoteWords),
    Without(NoteWords),
}

fn a_wanted() -> impl Strategy<Value = QueryPart> {
    let run = || prop::collection::vec(a_word(), 1..4);
    prop_oneof![
        4 => a_word().prop_map(QueryPart::Word),
        2 => run().prop_map(QueryPart::Phrase),
        1 => run().prop_map(QueryPart::Without),
    ]
}

fn typed(wanted: &[QueryPart]) -> String {
    let typed = wanted.iter().map(|wanted| match wanted {
        QueryPart::Word(word) => (*word).to_owned(),
        QueryPart::Phrase(words) => format!("\"{}\"", words.join(" ")),
        QueryPart::Without(words) => format!("-\"{}\"", words.join(" ")),
    });
    typed.collect::<Vec<_>>().join(" ")
}

/// Whether a note of these words is found, from what the words are.
fn oracle(words: &NoteWords, wanted: &[QueryPart]) -> bool {
    let has_word = |asked: &str| {
        let asked = plain(asked);
        words.iter().map(|word| plain(word)).any(|word| {
            if is_sign(asked) { word == asked } else { !is_sign(word) && word.starts_with(asked) }
        })
    };
    let has_run = |run: &NoteWords| {
        let same = |window: &[&str]| window.iter().zip(run).all(|(a, b)| plain(a) == plain(b));
        words.windows(run.len()).any(same)
    };
    let is_so = |wanted: &QueryPart| match wanted {
        QueryPart::Phrase(run) => has_run(run),
        QueryPart::Without(run) => !has_run(run),
        QueryPart::Word(_) => true,
    };
    let plain_words: Vec<&str> = wanted
        .iter()
        .filter_map(|wanted| if let QueryPart::Word(word) = wanted { Some(*word) } else { None })
        .collect();
    let has_phrase = wanted.iter().any(|wanted| matches!(wanted, QueryPart::Phrase(_)));
    wanted.iter().all(is_so) && (has_phrase || plain_words.into_iter().any(has_word))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn the_ranking_and_a_scan_find_what_is_there_and_nothing_else(
        corpus in prop::collection::vec(a_note(), 1..14),
        queries in prop::collection::vec(prop::collection::vec(a_wanted(), 1..4), 1..12),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let paths: Vec<NotePath> =
            (0..corpus.len()).map(|n| NotePath::parse(&format!("n{n}.md")).unwrap()).collect();
        let all: Vec<SearchableNote<'_>> = corpus.iter().zip(&paths).zip(0..).map(|(((_, text), path), key)| {
            SearchableNote { key, path, aliases: Cow::Borrowed(&[]), text: Cow::Borrowed(text) }
        }).collect();
        let ranking = FulltextIndex::build(dir.path(), 1, all.iter().cloned(), &AtomicBool::new(false)).unwrap();
        for wanted in &queries {
            let query = typed(wanted);
            let Some(asked) = ParsedQuery::parse(&query) else {
                prop_assert!(wanted.iter().all(|wanted| matches!(wanted, QueryPart::Without(_))));
                continue;
            };
            let expected: BTreeSet<u64> = corpus.iter().zip(0..)
                .filter(|((words, _), _)| oracle(words, wanted)).map(|(_, key)| key).collect();
            let candidates = ranking.candidates(&asked, ALL, &Some).unwrap();
            prop_assert_eq!(candidates.found, expected.len(), "{}", query);
            prop_assert_eq!(candidates.places.iter().copied().collect::<BTreeSet<_>>(), expected.clone(), "{}", &query);
            let (scanned, _) = rerank(&asked, &RankedCandidates { document_frequencies: vec![0; candidates.document_frequencies.len()], ..RankedCandidates::default() }, &[], &all, ALL);
            let scanned: BTreeSet<NotePath> = scanned.into_iter().map(|passage| passage.path).collect();
            prop_assert_eq!(scanned, expected.iter().map(|key| paths[*key as usize].clone()).collect(), "{}", &query);
        }
    }
}
