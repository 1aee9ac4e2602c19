//! The file that a link means, and its rewritten form, case by case.

use std::borrow::Cow;
use std::collections::BTreeMap;

use protocol::NotePath;

use super::*;

fn path(text: &str) -> NotePath {
    NotePath::parse(text).unwrap()
}

/// The targets of `link` in `source` among `files`: the best first.
#[track_caller]
fn means(files: &[&str], source: &str, link: &str, expected: &[&str]) {
    let resolver: LinkResolver = files.iter().map(|file| path(file)).collect();
    let found: Vec<&str> =
        resolver.candidates(link, &path(source)).into_iter().map(NotePath::as_str).collect();
    assert_eq!(found, expected, "[[{link}]] in {source}");
}

#[test]
fn a_name_that_one_file_has_is_that_file() {
    let files = ["A/Note.md", "B/Pic.png", "v1.2.md", "B/Café.md"];
    means(&files, "x.md", "note", &["A/Note.md"]);
    means(&files, "x.md", "Note.md", &["A/Note.md"]);
    means(&files, "x.md", "a/note", &["A/Note.md"]);
    means(&files, "x.md", "pic.png", &["B/Pic.png"]);
    means(&files, "x.md", "pic", &[]);
    means(&files, "x.md", "v1.2", &["v1.2.md"]);
    means(&files, "x.md", "cafe\u{301}", &["B/Café.md"]);
    means(&files, "x.md", "ote", &[]);
    means(&files, "x.md", "C/Note", &[]);
}

#[test]
fn a_name_in_capitals_is_found_whatever_small_letters_it_has() {
    // A sigma at the end of a word, and a letter that only its small form has as one character.
    let files = ["ΟΔΟΣ.md", "Νόμος/ΟΡΟΣ.md", "H\u{331}.md"];
    for link in ["ΟΔΟΣ", "οδος", "οδοσ", "ΟΔΟΣ.md", "/οδος", "./Οδος"] {
        means(&files, "x.md", link, &["ΟΔΟΣ.md"]);
    }
    means(&files, "x.md", "ΝΌΜΟΣ/ΟΡΟΣ", &["Νόμος/ΟΡΟΣ.md"]);
    means(&files, "x.md", "H\u{331}", &["H\u{331}.md"]);
    // The control: another letter.
    means(&files, "x.md", "ΟΔΟΤ", &[]);
}

#[test]
fn a_link_to_a_name_in_greek_capitals_follows_its_move() {
    let files =
        [("ΟΔΟΣ.md", ""), ("l.md", "[[ΟΔΟΣ]] [x](ΟΔΟΣ.md) [[H\u{331}]]"), ("H\u{331}.md", "")];
    moving(&files, "ΟΔΟΣ.md", "ΤΕΛΟΣ.md", &[("l.md", "[[ΤΕΛΟΣ]] [x](ΤΕΛΟΣ.md) [[H\u{331}]]")]);
    moving(&files, "H\u{331}.md", "h.md", &[("l.md", "[[ΟΔΟΣ]] [x](ΟΔΟΣ.md) [[h]]")]);
}

#[test]
fn a_link_to_a_name_that_has_two_spellings_in_unicode_follows_its_move() {
    let files =
        [("সম\u{9df}.md", ""), ("\u{6a02}.md", ""), ("l.md", "[[সম\u{9df}]] [[\u{f914}|x]]")];
    moving(&files, "সম\u{9df}.md", "Time.md", &[("l.md", "[[Time]] [[\u{f914}|x]]")]);
    moving(&files, "\u{6a02}.md", "Music.md", &[("l.md", "[[সম\u{9df}]] [[Music|x]]")]);
}

#[test]
fn of_several_files_the_one_below_the_source_comes_first_then_the_shortest() {
    let files = ["n.md", "A/n.md", "A/deep/n.md", "BB/n.md", "C/n.md"];
    means(&files, "x.md", "n", &["n.md", "A/n.md", "C/n.md", "BB/n.md", "A/deep/n.md"]);
    means(&files, "A/x.md", "n", &["A/n.md", "A/deep/n.md", "n.md", "C/n.md", "BB/n.md"]);
    means(&files, "A/deep/x.md", "n", &["A/deep/n.md", "n.md", "A/n.md", "C/n.md", "BB/n.md"]);
    means(&files, "A/x.md", "/n", &["n.md"]);
    means(&files, "A/x.md", "../n", &["n.md"]);
    means(&files, "A/x.md", "./n", &["A/n.md"]);
    means(&files, "A/x.md", "../C/./n.md", &["C/n.md"]);
    means(&files, "x.md", "../n", &[]);
    means(&files, "A/x.md", "/x/n", &[]);
    // Of two as long as each other, the nearer one.
    means(&["P/a/n.md", "Q/a/n.md"], "Q/b/x.md", "n", &["Q/a/n.md", "P/a/n.md"]);
}

/// Moves `from` to `to` among `files`, and checks the files that differ.
#[track_caller]
fn moving(files: &[(&str, &str)], from: &str, to: &str, expected: &[(&str, &str)]) {
    moving_as(None, files, &[(from, to)], expected);
}

#[track_caller]
fn moving_as(
    format: Option<LinkFormat>,
    files: &[(&str, &str)],
    moves: &[(&str, &str)],
    expected: &[(&str, &str)],
) {
    let texts: BTreeMap<NotePath, &str> =
        files.iter().map(|(at, text)| (path(at), *text)).collect();
    let read = |at: &NotePath| texts.get(at).map(|text| Cow::Borrowed(text.as_bytes()));
    let graph = LinkGraph::new(texts.keys().cloned().collect(), read, format);
    let moves: Vec<_> = moves.iter().map(|(from, to)| (path(from), path(to))).collect();
    let rewriting = graph.after_moving(&moves);
    assert_eq!(rewriting.problems, []);
    let found: Vec<(String, String)> = rewriting
        .files
        .into_iter()
        .map(|file| (file.path.as_str().to_owned(), String::from_utf8(file.after).unwrap()))
        .collect();
    let found: Vec<(&str, &str)> =
        found.iter().map(|(at, text)| (at.as_str(), text.as_str())).collect();
    assert_eq!(found, expected);
}

#[test]
fn links_of_every_kind_follow_a_note() {
    moving(
        &[
            ("Old.md", "[[Old]] [[#self]]"),
            (
                "a.md",
                "\u{feff}---\r\nup: \"[[old|x]]\"\r\n---\r\n[[Old]] [[old#H|y]] ![[Old#^b]] [m](Old.md#h) `[[Old]]`\r\n\r\n[r]: <Old.md> \"t\"\r\n| [[Old\\|z]] |\r\n|---|\r\nend",
            ),
            (
                "b.canvas",
                "{\"nodes\":[{\"id\":\"1\",\"type\":\"file\",\"file\":\"Old.md\",\"subpath\":\"#H\"},\n {\"type\":\"text\",\"text\":\"a \\\"q\\\"\\n[[Old|\\u00e9]] Old\"}],\"edges\":[{\"file\":\"Old.md\"}]}",
            ),
            ("c.md", "[[Older]] Old [[Old|"),
        ],
        "Old.md",
        "Sub dir/It's new.md",
        &[
            ("Old.md", "[[It's new]] [[#self]]"),
            (
                "a.md",
                "\u{feff}---\r\nup: \"[[It's new|x]]\"\r\n---\r\n[[It's new]] [[It's new#H|y]] ![[It's new#^b]] [m](Sub%20dir/It's%20new.md#h) `[[Old]]`\r\n\r\n[r]: <Sub%20dir/It's%20new.md> \"t\"\r\n| [[It's new\\|z]] |\r\n|---|\r\nend",
            ),
            (
                "b.canvas",
                "{\"nodes\":[{\"id\":\"1\",\"type\":\"file\",\"file\":\"Sub dir/It's new.md\",\"subpath\":\"#H\"},\n {\"type\":\"text\",\"text\":\"a \\\"q\\\"\\n[[It's new|\\u00e9]] Old\"}],\"edges\":[{\"file\":\"Old.md\"}]}",
            ),
        ],
    );
}

#[test]
fn a_short_link_stays_as_it_is_while_it_still_leads_there() {
    moving(&[("n.md", ""), ("a.md", "[[n]]"), ("x/b.md", "[[N.md]]")], "n.md", "x/y/n.md", &[]);
    moving(&[("n.md", ""), ("a.md", "[[x]] n")], "n.md", "x/n.md", &[]);
}

#[test]
fn a_short_link_whose_name_is_taken_gets_the_shortest_path_that_is_not() {
    let files = [("p/n.md", ""), ("q/n.md", ""), ("a.md", "[[p/n]] [[n]]"), ("q/b.md", "[[n]]")];
    moving(&files, "p/n.md", "r/s/n.md", &[("a.md", "[[r/s/n]] [[s/n]]")]);
    // The note that another link meant by its name alone is now meant by its path.
    let files = [("p/n.md", ""), ("q/m.md", ""), ("a.md", "[[n]]"), ("q/b.md", "[[n]]")];
    moving(&files, "q/m.md", "n.md", &[("a.md", "[[p/n]]"), ("q/b.md", "[[p/n]]")]);
    let files = [("n.md", ""), ("q/m.md", ""), ("q/b.md", "[[n]]")];
    moving(&files, "q/m.md", "q/n.md", &[("q/b.md", "[[/n]]")]);
}

#[test]
fn a_moved_note_keeps_its_own_links() {
    let files = [
        ("p/a.md", "[x](b.md) [y](../c.md) ![](<img 1.png>) [[b]] [[./b]] [z](#here)"),
        ("p/b.md", ""),
        ("c.md", ""),
        ("p/img 1.png", ""),
    ];
    moving(
        &files,
        "p/a.md",
        "a.md",
        &[("p/a.md", "[x](p/b.md) [y](c.md) ![](<p/img 1.png>) [[b]] [[./p/b]] [z](#here)")],
    );
    moving_as(
        Some(LinkFormat::Shortest),
        &files,
        &[("p/a.md", "q/a.md")],
        &[("p/a.md", "[x](b.md) [y](../c.md) ![](<img 1.png>) [[b]] [[../p/b]] [z](#here)")],
    );
}

#[test]
fn a_folder_moves_with_all_that_is_in_it() {
    let files = [
        ("p/a.md", "[[b]] [x](b.md) [[p/b]]"),
        ("p/b.md", ""),
        ("p/deep/c.md", "[x](../a.md)"),
        ("q.md", "[[p/a]] [x](p/deep/c.md) [[p/deep/c#h|s]]"),
    ];
    let moves = [("p/a.md", "o/r/a.md"), ("p/b.md", "o/r/b.md"), ("p/deep/c.md", "o/r/deep/c.md")];
    moving_as(
        None,
        &files,
        &moves,
        &[
            ("p/a.md", "[[b]] [x](b.md) [[o/r/b]]"),
            ("q.md", "[[o/r/a]] [x](o/r/deep/c.md) [[o/r/deep/c#h|s]]"),
        ],
    );
}

#[test]
fn the_vaults_own_format_is_used_where_a_name_is_not_enough() {
    let files = [("p/n.md", ""), ("q/n.md", ""), ("s/a.md", "[[n]]")];
    let moves = [("p/n.md", "r/t/n.md")];
    moving_as(Some(LinkFormat::Absolute), &files, &moves, &[("s/a.md", "[[r/t/n]]")]);
    moving_as(Some(LinkFormat::Relative), &files, &moves, &[("s/a.md", "[[../r/t/n]]")]);
    moving_as(Some(LinkFormat::Shortest), &files, &moves, &[("s/a.md", "[[t/n]]")]);
    assert_eq!(
        LinkFormat::from_app_json(br#"{"newLinkFormat":"relative"}"#),
        Some(LinkFormat::Relative)
    );
    assert_eq!(LinkFormat::from_app_json(b"{}"), None);
    assert_eq!(LinkFormat::from_app_json(b"{"), None);
}

#[test]
fn a_new_note_takes_no_link_over() {
    let texts = BTreeMap::from([
        (path("p/n.md"), "[[n]]"),
        (path("a.md"), "[[n]] [[n|x]] [[N#h]] [[p/n]] [[m]]"),
    ]);
    let read = |at: &NotePath| texts.get(at).map(|text| Cow::Borrowed(text.as_bytes()));
    let graph = LinkGraph::new(texts.keys().cloned().collect(), read, None);
    let rewriting = graph.after_creating(&[path("n.md"), path("q/m.md")]);
    assert_eq!(rewriting.problems, []);
    let [file] = rewriting.files.as_slice() else { panic!("{rewriting:?}") };
    assert_eq!(file.path, path("a.md"));
    assert_eq!(file.links, 3);
    assert_eq!(file.after, b"[[p/n]] [[p/n|x]] [[p/n#h]] [[p/n]] [[m]]");
}

#[test]
fn a_broken_link_is_replaced_and_a_link_to_another_note_of_that_name_stays() {
    let texts = BTreeMap::from([
        (path("A long folder/Plan.md"), ""),
        (path("Box/Plan.md"), ""),
        // As if it were there: of the three, its path is the shortest.
        (path("C/Plan.md"), ""),
        (path("Day.md"), "[[Plan]]"),
        (path("Index.md"), "[[C/Plan|x]] and [[Plan]]"),
    ]);
    let read = |at: &NotePath| texts.get(at).map(|text| Cow::Borrowed(text.as_bytes()));
    let graph = LinkGraph::new(texts.keys().cloned().collect(), read, None);
    let rewriting = graph.after_replacing(&path("C/Plan.md"), &path("A long folder/Plan.md"));
    assert_eq!(rewriting.problems, []);
    let [file] = rewriting.files.as_slice() else { panic!("{rewriting:?}") };
    assert_eq!((&file.path, file.links), (&path("Index.md"), 1));
    assert_eq!(file.after, b"[[A long folder/Plan|x]] and [[Plan]]");
    // The control: a note that moves takes the links by its name alone with it.
    let moved = graph.after_moving(&[(path("C/Plan.md"), path("Some longer folder/Plan.md"))]);
    let moved: Vec<_> = moved.files.iter().map(|file| (file.path.as_str(), file.links)).collect();
    assert_eq!(moved, [("Day.md", 1), ("Index.md", 2)]);
}

#[test]
fn only_links_in_the_sources_follow_a_note_and_may_lead_to_any_file() {
    let texts = BTreeMap::from([
        (path("n.md"), "[a](a.md)"),
        (path("p/m.md"), ""),
        (path("a.md"), "[[n]]"),
        (path("b.md"), "[[n]]"),
    ]);
    let rewritten = |sources: Option<&[&str]>| -> Vec<(String, Vec<u8>)> {
        let read = |at: &NotePath| texts.get(at).map(|text| Cow::Borrowed(text.as_bytes()));
        let mut graph = LinkGraph::new(texts.keys().cloned().collect(), read, None);
        if let Some(sources) = sources {
            graph = graph.with_sources(sources.iter().map(|source| path(source)));
        }
        let files = graph.after_moving(&[(path("n.md"), path("q/m.md"))]).files.into_iter();
        files.map(|file| (file.path.to_string(), file.after)).collect()
    };
    let [a, b, n] = [("a.md", "[[q/m]]"), ("b.md", "[[q/m]]"), ("n.md", "[a](../a.md)")]
        .map(|(path, text)| (path.to_owned(), text.as_bytes().to_vec()));
    assert_eq!(rewritten(None), [a, b.clone(), n.clone()], "the control");
    assert_eq!(rewritten(Some(&["n.md", "b.md", "gone.md"])), [b, n]);
    assert!(rewritten(Some(&[])).is_empty());
}

#[test]
fn a_link_that_cannot_name_the_new_place_is_told_and_nothing_is_written() {
    let texts = BTreeMap::from([(path("n.md"), ""), (path("a.md"), "x\n[[n]]")]);
    let read = |at: &NotePath| texts.get(at).map(|text| Cow::Borrowed(text.as_bytes()));
    let graph = LinkGraph::new(texts.keys().cloned().collect(), read, None);
    let rewriting = graph.after_moving(&[(path("n.md"), path("C# notes.md"))]);
    assert_eq!(rewriting.files, []);
    let [problem] = rewriting.problems.as_slice() else { panic!("{rewriting:?}") };
    assert_eq!((problem.path.as_str(), problem.line), ("a.md", 2));
}

#[test]
fn links_out_and_in_are_told_with_their_lines() {
    let texts = BTreeMap::from([
        (path("n.md"), "[[a]]\n\n[[gone]] [[#h]] [w](https://x.y)"),
        (path("a.md"), "one\n![[n#h]]"),
        (path("c.canvas"), "{\"nodes\":[{\"file\":\"n.md\"}]}"),
    ]);
    let read = |at: &NotePath| texts.get(at).map(|text| Cow::Borrowed(text.as_bytes()));
    let graph = LinkGraph::new(texts.keys().cloned().collect(), read, None);
    let out: Vec<_> = graph
        .outgoing_links(&path("n.md"))
        .into_iter()
        .map(|out| (out.link.path, out.link.line, out.targets.len()))
        .collect();
    assert_eq!(out, [("a".to_owned(), 1, 1), ("gone".to_owned(), 3, 0)]);
    let into: Vec<_> = graph
        .backlinks(&path("n.md"))
        .into_iter()
        .map(|back| (back.source.as_str().to_owned(), back.link.line, back.link.is_embed))
        .collect();
    assert_eq!(into, [("a.md".to_owned(), 2, true), ("c.canvas".to_owned(), 1, true)]);
}
