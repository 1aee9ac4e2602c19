//! Search, ranked finding and listing over small vaults, planned changes included.

#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test makes its own files and fails where it cannot go on"
)]

use std::collections::BTreeMap;
use std::fs;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use index::glob;
use index::{CutReason, GrepQuery, GrepResult, Index, NoteFilter, RankedPassages, SearchError};
use protocol::chat::tool_event::MatchReason;
use protocol::{Change, ChangeAction, ChangeSet, NotePath, PrivateRules};
use tempfile::TempDir;
use vault::Vault;

const AMPLE: Duration = Duration::from_secs(60);

fn vault(notes: &[(&str, &str)]) -> (TempDir, Vault) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in notes {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let vault = Vault::open(folder.path()).unwrap();
    (folder, vault)
}

fn planned(changes: &[(&str, Option<&str>, &str)]) -> ChangeSet {
    let change = |(at, before, after): &(&str, Option<&str>, &str)| {
        let path = NotePath::parse(at).unwrap();
        match before {
            Some(before) => Change::replace(path, *before, *after),
            None => Change::create(path, *after),
        }
    };
    changes.iter().map(change).collect()
}

fn query(pattern: &str) -> GrepQuery {
    GrepQuery {
        pattern: pattern.into(),
        file_pattern: None,
        context_lines: 1,
        max_results: 10,
        max_per_note: 5,
        case_sensitive: false,
    }
}

/// Searches without an index and with one, which must make no difference.
fn search(
    vault: &Vault,
    overlay: &ChangeSet,
    query: &GrepQuery,
    deadline: Duration,
) -> Result<GrepResult, SearchError> {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::new(vault, PrivateRules::default(), dir.path());
    let walked = index.search(vault, overlay, query, deadline);
    index.catch_up(&AtomicBool::new(false)).unwrap();
    assert!(index.coverage().is_ready);
    let swept = index.search(vault, overlay, query, deadline);
    assert_eq!(format!("{swept:?}"), format!("{walked:?}"));
    swept
}

/// Finds without an index, with one, and with its ranking, which must make no difference.
fn find(
    vault: &Vault,
    overlay: &ChangeSet,
    query: &str,
    limit: u16,
    deadline: Duration,
) -> Result<RankedPassages, SearchError> {
    let dir = tempfile::tempdir().unwrap();
    let index = Index::new(vault, PrivateRules::default(), dir.path());
    let find = || index.find(vault, overlay, query, &NoteFilter::default(), limit, deadline);
    let walked = find();
    let go = AtomicBool::new(false);
    index.catch_up(&go).unwrap();
    assert_eq!(format!("{:?}", find()), format!("{walked:?}"));
    if !deadline.is_zero() {
        index.update_fulltext(&go).unwrap();
        assert_eq!(format!("{:?}", find()), format!("{walked:?}"));
    }
    walked
}

fn searched(notes: &[(&str, &str)], query: &GrepQuery) -> GrepResult {
    let (_folder, vault) = vault(notes);
    search(&vault, &ChangeSet::default(), query, AMPLE).unwrap()
}

fn lines(found: &GrepResult) -> Vec<(&str, u32, &str)> {
    found.hits.iter().map(|hit| (hit.path.as_str(), hit.line, hit.text.as_str())).collect()
}

#[test]
fn hits_have_their_line_and_the_lines_around() {
    let found = searched(
        &[("a.md", "one\r\ntwo milk\r\nthree\r\nfour"), ("b.md", "Milk")],
        &query(r"milk\r?$"),
    );
    assert_eq!(lines(&found), [("a.md", 2, "two milk"), ("b.md", 1, "Milk")]);
    assert_eq!(
        (&found.hits[0].before, &found.hits[0].after),
        (&vec!["one".into()], &vec!["three".into()])
    );
    assert_eq!((found.hits[1].before.len(), found.hits[1].after.len()), (0, 0));
    assert_eq!((found.total, found.files, found.cut), (2, 2, None));
}

#[test]
fn a_hit_tells_which_bytes_of_its_line_match() {
    let notes = [("a.md", "Éclair, two éclairs and a tree\r\nno\n")];
    let found = searched(&notes, &query("éclairs?|x*"));
    let marked: Vec<&str> =
        found.hits[0].marks.iter().map(|mark| &found.hits[0].text[mark.clone()]).collect();
    assert_eq!(marked, ["Éclair", "éclairs"], "what is empty is not marked");
    let wanted = "a.b (c)";
    let found = searched(&[("a.md", "aXb (c)\na.b (c)\n")], &query(&index::escape_literal(wanted)));
    assert_eq!(lines(&found), [("a.md", 2, wanted)]);
}

#[test]
fn context_keeps_empty_lines_and_their_order() {
    let found = searched(
        &[("a.md", "1\n\n3\nhit\n5\n\n7\n")],
        &GrepQuery { context_lines: 2, ..query("hit") },
    );
    assert_eq!(found.hits[0].before, ["", "3"]);
    assert_eq!(found.hits[0].after, ["5", ""]);
}

#[test]
fn only_notes_are_searched() {
    let found = searched(
        &[
            ("a.md", "milk"),
            ("b.canvas", "milk"),
            ("c.txt", "milk"),
            (".obsidian/d.md", "milk"),
            (".trash/e.md", "milk"),
            ("F.MD", "milk"),
        ],
        &query("milk"),
    );
    assert_eq!(lines(&found), [("F.MD", 1, "milk"), ("a.md", 1, "milk")]);
}

#[test]
fn a_file_pattern_narrows_and_case_can_matter() {
    let notes = [("A/a.md", "milk"), ("A/b.md", "Milk"), ("B/a.md", "milk")];
    let in_folder = GrepQuery { file_pattern: Some("a/*.md".into()), ..query("milk") };
    assert_eq!(
        lines(&searched(&notes, &in_folder)),
        [("A/a.md", 1, "milk"), ("A/b.md", 1, "Milk")]
    );
    let by_name = GrepQuery { file_pattern: Some("A.md".into()), ..query("milk") };
    assert_eq!(lines(&searched(&notes, &by_name)), [("A/a.md", 1, "milk"), ("B/a.md", 1, "milk")]);
    let by_case = GrepQuery { case_sensitive: true, ..query("Milk") };
    assert_eq!(lines(&searched(&notes, &by_case)), [("A/b.md", 1, "Milk")]);
}

#[test]
fn a_cut_result_says_how_many_there_are() {
    let many = "milk\n".repeat(8);
    let found = searched(&[("a.md", &many), ("b.md", "milk")], &query("milk"));
    assert_eq!(
        (found.hits.len(), found.total, found.files, found.cut),
        (6, 9, 2, Some(CutReason::Results))
    );
    let found = searched(
        &[("a.md", &many), ("b.md", "milk")],
        &GrepQuery { max_results: 2, ..query("milk") },
    );
    assert_eq!((found.hits.len(), found.total, found.cut), (2, 9, Some(CutReason::Results)));
    let of_each = |max_per_note| {
        let query = GrepQuery { max_per_note, ..query("milk") };
        let found = searched(&[("a.md", &many), ("b.md", "milk")], &query);
        (found.hits.len(), found.cut)
    };
    assert_eq!(of_each(1), (2, Some(CutReason::Results)));
    assert_eq!(of_each(7), (8, Some(CutReason::Results)));
    assert_eq!(of_each(8), (9, None), "the control: it is all");
}

#[test]
fn a_search_without_time_says_that_it_was_cut() {
    let (_folder, vault) = vault(&[("a.md", "milk")]);
    let found = search(&vault, &ChangeSet::default(), &query("milk"), Duration::ZERO).unwrap();
    assert_eq!((found.hits.len(), found.cut), (0, Some(CutReason::Time)));
    let ranked = find(&vault, &ChangeSet::default(), "milk", 5, Duration::ZERO).unwrap();
    assert_eq!((ranked.passages.len(), ranked.cut), (0, Some(CutReason::Time)));
}

#[test]
fn a_pattern_that_is_not_a_regex_brings_the_literal_one() {
    let (_folder, vault) = vault(&[("a.md", "f(x")]);
    let none = ChangeSet::default();
    match search(&vault, &none, &query("f(x"), AMPLE) {
        Err(SearchError::BadPattern { why, literal, .. }) => {
            assert_eq!((why.as_str(), literal.as_str()), ("unclosed group", r"f\(x"));
            assert_eq!(search(&vault, &none, &query(&literal), AMPLE).unwrap().total, 1);
        }
        other => panic!("{other:?}"),
    }
    let bad_glob = GrepQuery { file_pattern: Some("[a".into()), ..query("x") };
    assert!(matches!(search(&vault, &none, &bad_glob, AMPLE), Err(SearchError::BadGlob { .. })));
}

#[test]
fn a_pattern_whose_program_would_be_huge_is_refused_with_words() {
    let (_folder, vault) = vault(&[("a.md", "text")]);
    for pattern in [r"(\w{100}){100}", "((a{1000}){1000}){1000}"] {
        match search(&vault, &ChangeSet::default(), &query(pattern), AMPLE) {
            Err(SearchError::BadPattern { why, .. }) => {
                assert!(why.contains("size limit"), "{why}");
            }
            other => panic!("{pattern}: {other:?}"),
        }
    }
    assert_eq!(searched(&[("a.md", "wörter")], &query(r"\w{1,20}")).total, 1);
}

#[test]
fn an_endless_line_is_shown_cut_and_a_slow_pattern_ends() {
    let found = searched(&[("a.md", &"a".repeat(100_000))], &query("(a+)+$"));
    assert_eq!((found.total, found.hits[0].text.chars().count()), (1, 1001));
}

#[test]
fn planned_changes_are_searched_as_if_applied() {
    let (_folder, vault) = vault(&[("a.md", "old milk"), ("b.md", "milk")]);
    let overlay = planned(&[("a.md", Some("old milk"), "tea"), ("c.md", None, "new milk")]);
    let found = search(&vault, &overlay, &query("milk"), AMPLE).unwrap();
    assert_eq!(lines(&found), [("b.md", 1, "milk"), ("c.md", 1, "new milk")]);
    let ranked = find(&vault, &overlay, "tea", 5, AMPLE).unwrap();
    assert_eq!(order(&ranked), ["a.md"]);
    let listed = glob(&vault, &overlay, "*", None, 10).unwrap();
    assert_eq!((listed.total, listed.entries[2].path.as_str()), (3, "b.md"));
}

fn ranked(notes: &[(&str, &str)], query: &str) -> RankedPassages {
    let (_folder, vault) = vault(notes);
    find(&vault, &ChangeSet::default(), query, 10, AMPLE).unwrap()
}

fn order(ranked: &RankedPassages) -> Vec<&str> {
    ranked.passages.iter().map(|passage| passage.path.as_str()).collect()
}

#[test]
fn a_title_counts_more_than_a_heading_and_a_heading_more_than_text() {
    let found = ranked(
        &[
            ("a.md", "About tea."),
            ("b.md", "# Tea\n\nGreen."),
            ("Tea.md", "Hot."),
            ("d.md", "coffee"),
        ],
        "tea",
    );
    assert_eq!(order(&found), ["Tea.md", "b.md", "a.md"]);
    let whys: Vec<MatchReason> = found.passages.iter().map(|passage| passage.why).collect();
    assert_eq!(whys, [MatchReason::Title, MatchReason::Heading, MatchReason::Text]);
    assert_eq!((found.notes, found.cut), (3, None));
}

#[test]
fn a_match_in_an_alias_alone_names_the_alias() {
    let (_folder, vault) = vault(&[
        ("Beta.md", "---\naliases: [Root, Turnip soup]\n---\nwater"),
        ("Turnip soup.md", "---\nalias: Turnip soup\n---\n"),
        ("c.md", "---\nalias: Turnip\n---\n## Turnip soup\n\nhot"),
        ("d.md", "---\nkind: turnip soup\n---\n"),
    ]);
    let dir = tempfile::tempdir().unwrap();
    let index = Index::new(&vault, PrivateRules::default(), dir.path());
    let matches = || {
        let (plan, narrow) = (ChangeSet::default(), NoteFilter::default());
        let found = index.find(&vault, &plan, "turnip soup", &narrow, 9, AMPLE).unwrap();
        let passages = found.passages.into_iter();
        let matches: BTreeMap<String, (MatchReason, bool)> =
            passages.map(|it| (it.path.to_string(), (it.why, it.properties))).collect();
        matches
    };
    let go = AtomicBool::new(false);
    // The passage of all but one shows the properties.
    let expected = [
        ("Beta.md", (MatchReason::Alias, true)),
        ("Turnip soup.md", (MatchReason::Title, true)),
        ("c.md", (MatchReason::Heading, false)),
        ("d.md", (MatchReason::Property, true)),
    ];
    let expected: BTreeMap<String, (MatchReason, bool)> =
        expected.map(|(path, found)| (path.to_owned(), found)).into();
    index.catch_up(&go).unwrap();
    assert_eq!(matches(), expected);
    index.update_fulltext(&go).unwrap();
    assert_eq!(matches(), expected, "the ranking makes no difference");
}

#[test]
fn the_exact_title_comes_before_longer_ones() {
    let found = ranked(
        &[("Tea garden plans.md", ""), ("Tea gardeners.md", ""), ("Tea garden.md", "")],
        "tea garden",
    );
    assert_eq!(order(&found)[0], "Tea garden.md");
}

#[test]
fn a_rare_word_all_words_and_neighbours_count_more() {
    let filler: Vec<(String, &str)> = (0..9).map(|n| (format!("n{n}.md"), "common word")).collect();
    let mut notes: Vec<(&str, &str)> =
        filler.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    notes.extend([
        ("rare.md", "zygote word"),
        ("both.md", "zygote, and a common thing"),
        ("near.md", "a common zygote"),
    ]);
    let found = ranked(&notes, "common zygote");
    assert_eq!(order(&found)[..3], ["near.md", "both.md", "rare.md"]);
}

#[test]
fn case_diacritics_plurals_and_endings_do_not_matter() {
    for query in ["creme brulee", "CRÈME", "cre\u{300}mes"] {
        assert_eq!(
            order(&ranked(&[("a.md", "Crème brûlée"), ("b.md", "x")], query)),
            ["a.md"],
            "{query}"
        );
    }
    assert_eq!(order(&ranked(&[("a.md", "my recipe"), ("b.md", "precipes")], "recipes")), ["a.md"]);
    assert_eq!(order(&ranked(&[("a.md", "今日は日本語を学ぶ")], "日本語")), ["a.md"]);
    assert_eq!(order(&ranked(&[("Straße.md", "")], "straße")), ["Straße.md"]);
}

#[test]
fn a_passage_is_the_best_paragraph_under_its_heading_with_utf16_marks() {
    let text = "---\ntags: tea\n---\n# Drinks\n\nNothing here.\n\n## Hot\n\n🍵 green tea\nand black tea.\n";
    let found = ranked(&[("a.md", text)], "black tea");
    let passage = &found.passages[0];
    assert_eq!((passage.heading.as_deref(), passage.line), (Some("Hot"), 10));
    assert_eq!(passage.text, "🍵 green tea\nand black tea.");
    let units: Vec<u16> = passage.text.encode_utf16().collect();
    let marked: Vec<String> = passage
        .marks
        .iter()
        .map(|(start, end)| String::from_utf16(&units[*start as usize..*end as usize]).unwrap())
        .collect();
    assert_eq!(marked, ["tea", "black", "tea"]);
}

#[test]
fn a_long_paragraph_is_cut_around_the_first_word_found() {
    let text = format!("{}needle {}", "é straw\n".repeat(100), "straw ".repeat(100));
    let found = ranked(&[("a.md", &text)], "needle");
    let passage = &found.passages[0];
    assert_eq!(passage.text.chars().count(), 300);
    let (start, end) = passage.marks[0];
    let units: Vec<u16> = passage.text.encode_utf16().collect();
    assert_eq!(String::from_utf16(&units[start as usize..end as usize]).unwrap(), "needle");
    assert!(passage.line > 80 && passage.line < 101, "{}", passage.line);
}

#[test]
fn a_hash_in_code_is_not_a_heading() {
    let found = ranked(&[("a.md", "# Real\n```sh\n# install\nnpm tea\n```\n")], "tea");
    assert_eq!(found.passages[0].heading.as_deref(), Some("Real"));
}

#[test]
fn a_query_without_words_is_refused_and_user_text_is_never_a_pattern() {
    let (_folder, vault) = vault(&[("a.md", "a(b")]);
    let none = ChangeSet::default();
    assert!(matches!(find(&vault, &none, " -- \"\" ", 5, AMPLE), Err(SearchError::NoWords { .. })));
    assert_eq!(find(&vault, &none, "a(b .* [", 5, AMPLE).unwrap().notes, 1);
    assert_eq!(find(&vault, &none, "zzz", 5, AMPLE).unwrap(), RankedPassages::default());
}

#[test]
fn folders_that_a_plan_needs_or_makes_are_listed() {
    let (_folder, vault) = vault(&[("a.md", "")]);
    let at = |text: &str| NotePath::parse(text).unwrap();
    let overlay: ChangeSet = [
        Change { path: at("made/deep"), act: ChangeAction::MakeFolder },
        Change::create(at("new/n.md"), ""),
        Change::rename(at("a.md"), at("moved/a.md")),
    ]
    .into_iter()
    .collect();
    let found = glob(&vault, &overlay, "**", None, 100).unwrap();
    let mut paths: Vec<_> = found.entries.iter().map(|entry| entry.path.as_str()).collect();
    paths.sort_unstable();
    assert_eq!(paths, ["made", "made/deep", "moved", "moved/a.md", "new", "new/n.md"]);
}

#[test]
fn a_phrase_has_to_be_there_as_it_stands() {
    let notes = [
        ("near.md", "A green  tea, please."),
        ("apart.md", "green and black tea"),
        ("longer.md", "green teapots"),
        ("over.md", "green\n\ntea"),
        ("Green Tea.md", ""),
    ];
    assert_eq!(order(&ranked(&notes, "\"green tea\"")), ["Green Tea.md", "near.md"]);
    assert_eq!(order(&ranked(&notes, "“Green tea” please")), ["near.md", "Green Tea.md"]);
    // A quote that is still being typed is not one.
    assert_eq!(ranked(&notes, "\"green tea").notes, 5);
}

#[test]
fn what_is_excluded_is_in_no_note_that_is_found() {
    let notes = [
        ("green.md", "tea, green"),
        ("black.md", "tea, black and strong"),
        ("greens.md", "tea and greens"),
        ("Green.md", "tea"),
    ];
    assert_eq!(order(&ranked(&notes, "tea -green")), ["greens.md", "black.md"]);
    assert_eq!(order(&ranked(&notes, "tea -\"black and strong\" -GREEN")), ["greens.md"]);
    assert_eq!(ranked(&notes, "tea - green").notes, 4);
    assert_eq!(ranked(&notes, "tea-strong").notes, 4);
    let (_folder, vault) = vault(&notes);
    let only = find(&vault, &ChangeSet::default(), "-green", 5, AMPLE);
    assert!(matches!(only, Err(SearchError::NoWords { .. })), "{only:?}");
}

#[test]
fn notes_with_all_words_come_before_notes_with_some() {
    let filler: Vec<(String, &str)> = (0..30).map(|n| (format!("n{n}.md"), "plain")).collect();
    let mut notes: Vec<(&str, &str)> =
        filler.iter().map(|(path, text)| (path.as_str(), *text)).collect();
    let long = format!("zygote {} plain", "straw ".repeat(2_000));
    notes.extend([("Zygote.md", "# Zygote\n\nzygote zygote"), ("both.md", &*long)]);
    assert_eq!(order(&ranked(&notes, "plain zygote"))[..2], ["both.md", "Zygote.md"]);
}

#[test]
fn a_whole_word_counts_more_than_the_beginning_of_a_longer_one() {
    let notes = [("a.md", "a conference"), ("b.md", "a con"), ("c.md", "a second")];
    assert_eq!(order(&ranked(&notes, "con")), ["b.md", "a.md"]);
}

#[test]
fn every_script_is_found_without_its_diacritics_and_signs_wherever_they_stand() {
    for (text, query) in [
        ("мой день", "мой"),
        ("мой день", "мои"),
        ("ΟΔΟΣ", "οδος"),
        ("Größe", "grosse größe"),
        ("きょうはがくせいです", "がくせい"),
        ("計画書を読む", "画"),
        ("計画書を読む", "画書を"),
        ("ภาษาไทย", "ไทย"),
        ("한국어 공부", "한국"),
        ("e\u{301}te\u{301}", "été"),
    ] {
        assert_eq!(order(&ranked(&[("a.md", text), ("b.md", "x")], query)), ["a.md"], "{query}");
    }
    assert_eq!(order(&ranked(&[("a.md", "計書")], "計画")), [""; 0]);
}

#[test]
fn only_the_beginning_of_a_long_query_is_read() {
    let query = format!("milk {}", "„a ".repeat(300_000));
    let started = std::time::Instant::now();
    assert_eq!(order(&ranked(&[("a.md", "milk"), ("b.md", "x")], &query)), ["a.md"]);
    assert!(started.elapsed().as_secs() < 5, "{:?}", started.elapsed());
}
