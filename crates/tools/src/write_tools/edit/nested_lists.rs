//! Edits of a block with an id in nested lists: every other line stays below the item that it stood
//! below.

use markdown::line_start;
use markdown::parser::{BlockKind, Document};
use proptest::prelude::*;

use super::tests::{check, edit, section};

#[test]
fn lines_are_added_behind_an_item_with_all_that_stands_in_it() {
    let note = "- [ ] Plan trip ^trip\n  - [ ] Book train\n    - Seats\n- [ ] Rest\n";
    let appended = |note: &str, id: &str, new: &str, expected: &str| {
        check(note, section(id, "append", new), expected);
    };
    let with = |from: &str, to: &str| note.replace(from, to);
    appended(note, "^trip", "- [ ] Pack", &with("Seats\n", "Seats\n- [ ] Pack\n"));
    // An item below it, as the model writes it.
    appended(note, "^trip", "  - [ ] Pack\n", &with("Seats\n", "Seats\n  - [ ] Pack\n"));
    appended(
        "- a ^a\n\n  more\n\n  - b\n\n- c",
        "^a",
        "- x",
        "- a ^a\n\n  more\n\n  - b\n- x\n\n- c",
    );
    appended("- a ^a\n  lazy\ntoo\n\nText", "^a", "- x", "- a ^a\n  lazy\ntoo\n- x\n\nText");
    appended("- a ^a\r\n\t- b", "^a", "- x", "- a ^a\r\n\t- b\r\n- x");
    appended("> - a ^a\n>   - b\n>\n> - c\n", "^a", "- x", "> - a ^a\n>   - b\n> - x\n>\n> - c\n");
    // Controls: an item without others in it, and a second paragraph of one.
    appended("- a\n- b ^b\n- c\n", "^b", "- x", "- a\n- b ^b\n- x\n- c\n");
    appended("- a\n\n  p ^p\n\n  - b\n", "^p", "q", "- a\n\n  p ^p\n  q\n\n  - b\n");
}

#[test]
fn an_item_keeps_its_indentation() {
    let note = "- Trip\n  - Hotel ^h\n    - Room\n  - Train\n";
    let with = |from: &str, to: &str| note.replace(from, to);
    // A model that repeats the indentation means the same.
    for (new, two) in [("- Adlon", "- A\n- B"), ("  - Adlon", "  - A\n  - B")] {
        check(note, section("^h", "replace", new), &with("- Hotel", "- Adlon"));
        check(note, section("^h", "prepend", two), &with("- Hotel", "- A\n  - B\n  - Hotel"));
        check(note, section("^h", "append", two), &with("Room\n", "Room\n  - A\n  - B\n"));
    }
    check(note, section("^h", "append", "    - Bath"), &with("Room\n", "Room\n    - Bath\n"));
    check(note, section("^h", "replace", "- A\n\n  B"), &with("- Hotel", "- A\n\n    B"));
    // The parser does not see an id before the end of a paragraph.
    let early = "- Trip\n  - Hotel ^h\n    by the lake\n  - Train\n";
    check(early, section("^h", "replace", "- Adlon"), &early.replace("Hotel", "Adlon"));
    check(early, section("^h", "append", "- x"), &early.replace("lake\n", "lake\n  - x\n"));
    // A second paragraph, and an item in an item on the same line.
    let second = "- a\n\n  old ^p\n\n  - b\n";
    check(second, section("^p", "replace", "one\ntwo"), &second.replace("old", "one\n  two"));
    check("- - a ^a\n  - b\n", section("^a", "replace", "- x"), "- - x ^a\n  - b\n");
    check("- - a ^a\n  - b\n", section("^a", "prepend", "- x"), "- - x\n  - a ^a\n  - b\n");
}

#[test]
fn an_item_keeps_the_tab_or_the_quote_marks_before_it() {
    let tabs = "- Trip\n\t- Hotel ^h\n\t\t- Room\n\t- Train\n";
    let with = |from: &str, to: &str| tabs.replace(from, to);
    for new in ["- Adlon", "\t- Adlon", "    - Adlon"] {
        check(tabs, section("^h", "replace", new), &with("- Hotel", "- Adlon"));
        check(tabs, section("^h", "prepend", new), &with("- Hotel", "- Adlon\n\t- Hotel"));
        check(tabs, section("^h", "append", new), &with("Room\n", "Room\n\t- Adlon\n"));
    }
    let quote = "Said:\n> - Trip\n>   - Hotel ^h\n>     - Room\n>   - Train\n";
    let with = |from: &str, to: &str| quote.replace(from, to);
    for new in ["- Adlon", "  - Adlon", "> - Adlon", ">   - Adlon"] {
        check(quote, section("^h", "replace", new), &with("- Hotel", "- Adlon"));
        check(quote, section("^h", "prepend", new), &with("- Hotel", "- Adlon\n>   - Hotel"));
        check(quote, section("^h", "append", new), &with("Room\n", "Room\n>   - Adlon\n"));
    }
}

/// A line of a list; how deep it stands is limited to what the lines above it allow.
#[derive(Debug, Clone, Copy)]
enum ListLine {
    Item(usize),
    Text(usize),
    Blank,
}

/// A note of one list, and the block of it that has an id.
#[derive(Debug)]
struct ListNote {
    text: String,
    /// The word of each line with one, in order.
    words: Vec<String>,
    /// The first word of the block with the id.
    own: String,
    /// Whether that block is an item.
    is_item: bool,
}

impl ListNote {
    /// `lines` with this indentation for each level, and behind one of them the id.
    fn write(lines: &[ListLine], unit: &str, quote: &str, ends: &str, place: usize) -> Self {
        let count = lines.iter().filter(|line| !matches!(line, ListLine::Blank)).count();
        let mut note =
            Self { text: String::new(), words: Vec::new(), own: String::new(), is_item: false };
        // The levels that are open, and the block of the words before.
        let (mut open, mut after_blank, mut block) = (0, true, (String::new(), false));
        for line in lines {
            let (depth, sign) = match *line {
                ListLine::Blank => {
                    note.text.push_str(quote.trim_end());
                    note.text.push_str(ends);
                    after_blank = true;
                    continue;
                }
                ListLine::Item(depth) => (depth.min(open), "- "),
                ListLine::Text(depth) => (depth.min(open), ""),
            };
            let word = format!("w{}", char::from(b'a' + u8::try_from(note.words.len()).unwrap()));
            let is_item = !sign.is_empty();
            // Other text goes on in the paragraph above it.
            if is_item || after_blank {
                open = depth + usize::from(is_item);
                block = (word.clone(), is_item);
            }
            after_blank = false;
            let has_id = note.words.len() == place % count;
            let id = if has_id { " ^id" } else { "" };
            note.text.push_str(&format!("{quote}{}{sign}{word}{id}{ends}", unit.repeat(depth)));
            note.words.push(word);
            if has_id {
                (note.own, note.is_item) = block.clone();
            }
        }
        note
    }
}

fn list_note() -> impl Strategy<Value = ListNote> {
    let line = prop_oneof![
        4 => (0..4_usize).prop_map(ListLine::Item),
        2 => (0..4_usize).prop_map(ListLine::Text),
        1 => Just(ListLine::Blank),
    ];
    let first = (0..4_usize).prop_map(ListLine::Item);
    let unit = prop_oneof![Just("  "), Just("    "), Just("\t")];
    let quote = prop_oneof![Just(""), Just("> ")];
    let ends = prop_oneof![Just("\n"), Just("\r\n")];
    let lines = (first, proptest::collection::vec(line, 0..9));
    (lines, unit, quote, ends, 0..10_usize).prop_map(|((first, rest), unit, quote, ends, place)| {
        let lines: Vec<ListLine> = std::iter::once(first).chain(rest).collect();
        ListNote::write(&lines, unit, quote, ends, place)
    })
}

/// The first word of the item that the line of `word` stands below.
fn parent(text: &str, word: &str) -> Option<String> {
    let at = text.find(word).unwrap();
    let document = Document::parse(text);
    // A tab may let an item begin with the end of the line above.
    let sign = |start: usize| start + text[start..].find('-').unwrap();
    let above = |start: usize| line_start(text, sign(start)) < line_start(text, at);
    let item = document.blocks.iter().rfind(|block| {
        block.kind == BlockKind::Item && block.span.contains(&at) && above(block.span.start)
    })?;
    let words = text[item.span.start..].trim_start_matches(|sign: char| !sign.is_alphanumeric());
    Some(words.chars().take_while(char::is_ascii_alphanumeric).collect())
}

proptest! {
    #[test]
    fn an_edit_of_a_block_leaves_every_other_line_below_its_item(
        note in list_note(),
        action in "(replace|append|prepend)",
    ) {
        let new = if note.is_item { "- NEW" } else { "NEW" };
        let after = edit(&note.text, section("^id", &action, new)).unwrap();
        let is_gone = |word: &str| !after.contains(word);
        for word in &note.words {
            prop_assert!(action == "replace" || !is_gone(word), "{} {:?} {:?}", word, note, after);
            if is_gone(word) {
                continue;
            }
            // The new words have the place of those that are gone.
            let item = parent(&note.text, word);
            let item = item.map(|item| if is_gone(&item) { "NEW".to_owned() } else { item });
            prop_assert_eq!(parent(&after, word), item, "{} {:?} {:?}", word, note, after);
        }
        let item = parent(&note.text, &note.own);
        prop_assert_eq!(parent(&after, "NEW"), item, "{:?} {:?}", note, after);
    }
}
