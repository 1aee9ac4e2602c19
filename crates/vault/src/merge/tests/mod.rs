//! Merges and conflicts, case by case, and against an oracle that follows each line.

mod oracle;

use super::{DiffHunk, LineOrder, hunks, merge, merge_in_order, revert_hunks};

/// Merges three texts whose lines are written with blanks between them.
fn check(base: &str, ours: &str, theirs: &str, expected: &str) {
    let text = |words: &str| words.split_terminator(' ').fold(String::new(), |t, w| t + w + "\n");
    let (base, ours, theirs) = (text(base), text(ours), text(theirs));
    for (mine, other) in [(&ours, &theirs), (&theirs, &ours)] {
        let merged = merge(base.as_bytes(), mine.as_bytes(), other.as_bytes());
        let found = match merged.conflicts.as_slice() {
            [] => String::from_utf8(merged.bytes).expect("text"),
            _ => "conflict\n".to_owned(),
        };
        assert_eq!(found, text(expected), "{base:?} as {mine:?} and {other:?}");
    }
}

#[test]
fn changes_of_different_lines_come_together() {
    check("a b c d", "A b c d", "a b c D", "A b c D");
    check("a b c d", "b c d", "a b c", "b c");
    check("a b c", "a x b c", "a b y c", "a x b y c");
}

#[test]
fn changes_that_touch_come_together() {
    check("a b c d", "a B c d", "a b C d", "a B C d");
    check("a b c d", "a c d", "a b x c d", "a x c d");
    check("a b c d", "a b x c d", "a b C d", "a b x C d");
    check("a", "a x", "b", "b x");
}

#[test]
fn the_same_change_on_both_sides_is_one() {
    check("a b c", "a B c", "a B c", "a B c");
    check("a b", "a x b", "a x b", "a x b");
    check("a b c", "c", "c", "c");
    check("", "a", "a", "a");
}

#[test]
fn the_same_line_changed_in_two_ways_is_a_conflict() {
    check("a b c", "a B c", "a X c", "conflict");
    check("a b c", "a c", "a X c", "conflict");
    check("a b c d", "a X d", "a b d", "conflict");
}

#[test]
fn lines_that_both_took_out_are_gone() {
    check("a b c d", "a d", "a b d", "a d");
    check("a b c d e", "a d e", "a b e", "a e");
}

#[test]
fn lines_put_inside_what_the_other_side_took_out_stay() {
    check("a b c d", "a b x c d", "a d", "a x d");
    check("a b c d", "a b x c d", "a B C d", "conflict");
    let merged = merge(b"b\nc\n", b"b\nx\nc\n", b"");
    assert_eq!(
        (merged.combined_deletions, merged.without_shared_changes()),
        (1, None),
        "what was taken out was not as known"
    );
    assert_eq!(
        merge(b"b\nc\n", b"x\nb\nc\n", b"").without_shared_changes().as_deref(),
        Some(&b"x\n"[..])
    );
}

#[test]
fn lines_put_at_one_place_stand_as_an_earlier_version_had_them() {
    let order = LineOrder::from_versions([&b"k\nl\nm\nz\n"[..], b"k\nm\nn\nz\n"]);
    let merged = |ours: &str, theirs: &str| {
        let merged = merge_in_order(b"k\nz\n", ours.as_bytes(), theirs.as_bytes(), &order);
        merged.without_conflicts().map(|bytes| String::from_utf8(bytes).expect("text"))
    };
    assert_eq!(merged("k\nl\nz\n", "k\nm\nz\n").as_deref(), Some("k\nl\nm\nz\n"));
    assert_eq!(merged("k\nm\nz\n", "k\nl\nz\n").as_deref(), Some("k\nl\nm\nz\n"));
    assert_eq!(merged("k\nl\nn\nz\n", "k\nm\nz\n").as_deref(), Some("k\nl\nm\nn\nz\n"));
    assert_eq!(merged("k\nn\nz\n", "k\nl\nz\n").as_deref(), Some("k\nl\nn\nz\n"), "by way of m");
    assert_eq!(merged("k\nx\nz\n", "k\nl\nz\n"), None, "nobody saw x next to l");
    assert_eq!(merged("k\nl\nx\nz\n", "k\nm\nz\n"), None, "l is above m, but x?");
    assert_eq!(merged("k\nx\nl\nz\n", "k\nm\nz\n").as_deref(), Some("k\nx\nl\nm\nz\n"));
}

#[test]
fn a_long_note_with_lines_put_at_a_thousand_places_stands_as_it_had_been() {
    let version = |keeps: fn(&str) -> bool| -> String {
        let names = ["kept", "ours", "theirs"].into_iter().filter(|name| keeps(name));
        let names: Vec<&str> = names.collect();
        (0..1_000).flat_map(|n| names.iter().map(move |name| format!("{name} {n}\n"))).collect()
    };
    let before = version(|_| true);
    let (base, ours) = (version(|name| name == "kept"), version(|name| name != "theirs"));
    let theirs = version(|name| name != "ours");
    let order = LineOrder::from_versions([before.as_bytes()]);
    let merged = merge_in_order(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), &order);
    assert!(merged.without_conflicts().is_some_and(|text| text == before.as_bytes()));
}

#[test]
fn ten_thousand_lines_put_at_one_place_by_both_sides_stand_as_they_had_been() {
    let before: String = (0..20_000).map(|n| format!("line {n}\n")).collect();
    let side = |parity: usize| -> String {
        let lines = before.lines().enumerate().filter(|(n, _)| n % 2 == parity);
        lines.map(|(_, line)| format!("{line}\n")).collect()
    };
    let order = LineOrder::from_versions([before.as_bytes()]);
    let merged = merge_in_order(b"", side(0).as_bytes(), side(1).as_bytes(), &order);
    assert!(merged.without_conflicts().is_some_and(|text| text == before.as_bytes()));
}

#[test]
fn versions_that_contradict_each_other_tell_the_order_of_the_lines_below() {
    let order = LineOrder::from_versions([&b"k\nl\nm\nt\np\nq\nz\n"[..], b"k\nm\nl\nt\nz\n"]);
    let merged = |base: &str, ours: &str, theirs: &str| {
        merge_in_order(base.as_bytes(), ours.as_bytes(), theirs.as_bytes(), &order)
            .without_conflicts()
    };
    assert_eq!(
        merged("k\nt\nz\n", "k\nt\nq\nz\n", "k\nt\np\nz\n"),
        Some(b"k\nt\np\nq\nz\n".into())
    );
    assert_eq!(merged("k\nt\nz\n", "k\nl\nt\nz\n", "k\nm\nt\nz\n"), None);
}

#[test]
fn lines_put_at_one_place_by_both_sides_are_a_conflict() {
    check("a b", "a x b", "a y b", "conflict");
    check("", "x", "y", "conflict");
}

#[test]
fn one_conflict_does_not_keep_other_changes_out() {
    let merged = merge(b"a\nb\nc\nd\n", b"a\nB\nc\nd\n", b"A\nX\nc\nD\n");
    assert_eq!(merged.bytes, b"a\nB\nc\nD\n", "one region of theirs touches b");
    let [conflict] = merged.conflicts.as_slice() else { panic!("one: {:?}", merged.conflicts) };
    assert_eq!((conflict.line, conflict.base.as_slice()), (0, b"a\nb\n".as_slice()));
    assert_eq!((&*conflict.ours, &*conflict.theirs), (&b"a\nB\n"[..], &b"A\nX\n"[..]));
}

#[test]
fn bytes_that_are_no_text_and_every_line_ending_go_through() {
    let base = b"\xEF\xBB\xBFone\r\ntwo\nthree\r\n\xFF\xFE\r\nlast";
    let ours = b"\xEF\xBB\xBFone\r\nTWO\nthree\r\n\xFF\xFE\r\nlast";
    let theirs = b"\xEF\xBB\xBFone\r\ntwo\nthree\r\n\xFF\x00\r\nlast";
    let merged = merge(base, ours, theirs).without_conflicts().expect("clean");
    assert_eq!(merged, b"\xEF\xBB\xBFone\r\nTWO\nthree\r\n\xFF\x00\r\nlast");
}

#[test]
fn two_lines_are_never_glued_into_one() {
    // Ours took the last newline away, theirs put a line behind it.
    assert!(merge(b"a\nb\n", b"a\nb", b"a\nb\nc\n").without_conflicts().is_none());
    assert!(merge(b"a\nb\n", b"a\nb\nc\n", b"a\nb").without_conflicts().is_none());
    assert_eq!(merge(b"a\nb\n", b"b\n", b"a\nb").without_conflicts().expect("clean"), b"b");
    assert_eq!(merge(b"a\nb", b"A\nb", b"a\nb\nc").without_conflicts().expect("clean"), b"A\nb\nc");
}

#[test]
fn a_change_next_to_equal_lines_has_one_form() {
    // A list with blank lines between: if a side inserts an item, the blank counts to the item
    // above.
    check("a _ b", "a _ x _ b", "a _ b y", "a _ x _ b y");
    check("a _ x _ b", "a _ x _ y _ b", "a _ b", "a _ y _ b");
    check("a _ x _ b", "a _ y _ x _ b", "a _ b", "a _ y _ b");
    let spans = hunks(b"a\n\nb\n", b"a\n\nx\n\nb\n");
    assert_eq!(spans.iter().map(|h| h.after.clone()).collect::<Vec<_>>(), vec![2..4]);
}

#[test]
fn a_chosen_change_is_reverted_alone() {
    let (old, new) = (b"a\nb\nc\nd\ne\n", b"A\nb\nC\nx\nd\n");
    assert_eq!(hunks(old, new).len(), 3);
    let reverted = |chosen: &[usize]| revert_hunks(old, new, &chosen.iter().copied().collect());
    assert_eq!(reverted(&[1]), b"A\nb\nc\nd\n");
    assert_eq!(reverted(&[0, 2]), b"a\nb\nC\nx\nd\ne\n");
    assert_eq!(reverted(&[0, 1, 2]), old);
    assert_eq!(reverted(&[]), new);
    assert_eq!(reverted(&[7]), new, "there is no such change");
}

#[test]
fn in_a_long_note_changes_are_found_one_by_one() {
    let line = |n: usize| match n % 3 {
        0 => format!("line {n}\n"),
        1 => format!("- same {}\n", n % 977),
        _ => "\n".to_owned(),
    };
    let old: Vec<String> = (0..40_000).map(line).collect();
    let changed = |n: usize| n % 1_000 == 600;
    let edited = old.iter().enumerate().map(|(n, line)| match changed(n) {
        true => format!("edited {n}\n"),
        false => line.clone(),
    });
    let edited: Vec<String> = edited.collect();
    let found = hunks(old.concat().as_bytes(), edited.concat().as_bytes());
    assert_eq!(found.len(), 40, "one for each");
    assert!(found.iter().all(|hunk| hunk.before.len() == 1 && changed(hunk.before.start)));

    // A part that is longer than what is compared at a time comes in between.
    let inserted: Vec<String> = (0..20_000).map(|n| format!("new {}\n", n % 500)).collect();
    let grown = [&old[..15_000], &inserted, &old[15_000..]].concat();
    let found = hunks(old.concat().as_bytes(), grown.concat().as_bytes());
    assert_eq!(found, [DiffHunk { before: 15_000..15_000, after: 15_000..35_000 }]);
    let found = hunks(grown.concat().as_bytes(), old.concat().as_bytes());
    assert_eq!(found, [DiffHunk { before: 15_000..35_000, after: 15_000..15_000 }]);
}

#[test]
fn a_long_note_of_equal_lines_is_merged() {
    let lines = |every: usize, word: &str| -> Vec<u8> {
        let line =
            |n: usize| if n.is_multiple_of(every) { format!("{word}\na\n") } else { "a\n".into() };
        (1..40_000).flat_map(|n| line(n).into_bytes()).collect()
    };
    let (base, ours, theirs) = (lines(50_000, ""), lines(4_001, "ours"), lines(6_007, "theirs"));
    let merged = merge(&base, &ours, &theirs);
    assert_eq!(merged.conflicts.len(), 0);
    let count = |word: &str| String::from_utf8_lossy(&merged.bytes).matches(word).count();
    assert_eq!((count("ours"), count("theirs"), count("a\n")), (9, 6, 39_999));
}

#[test]
fn two_long_notes_that_share_little_are_merged_in_bounded_time() {
    let lines = |word: &str| -> Vec<u8> {
        let line = |n: u32| format!("{word} {n}\n- same {}\n", (n * 7919) % 977);
        (0..20_000).flat_map(|n| line(n).into_bytes()).collect()
    };
    let begun = std::time::Instant::now();
    let merged = merge(&lines("base"), &lines("ours"), &lines("theirs"));
    assert!(!merged.conflicts.is_empty());
    assert!(begun.elapsed().as_secs() < 20, "it took {:?}", begun.elapsed());
}

/// Merges the two sides of a note, each as the other one's too; `None` where they conflict.
fn merged_note(base: &str, ours: &str, theirs: &str) -> Option<String> {
    let one = merge(base.as_bytes(), ours.as_bytes(), theirs.as_bytes());
    let other = merge(base.as_bytes(), theirs.as_bytes(), ours.as_bytes());
    assert_eq!(one.conflicts.is_empty(), other.conflicts.is_empty());
    let text = |bytes| String::from_utf8(bytes).expect("text");
    if let [conflict, ..] = one.conflicts.as_slice() {
        assert_eq!((conflict.line, text(one.bytes)), (0, ours.to_owned()), "nothing is half done");
        return None;
    }
    assert_eq!(one.bytes, other.bytes);
    Some(text(one.bytes))
}

#[test]
fn frontmatter_is_not_taken_apart_by_two_changes_of_it() {
    for (base, ours, theirs) in [
        // The fences go with the only property that they were made for.
        (
            "---\nstatus: draft\n---\ntext\n",
            "---\nstatus: draft\nprivate: true\n---\ntext\n",
            "text\n",
        ),
        // The name of a list goes, and an item was added to it.
        (
            "---\nauthor: Bob\ntags:\n  - work\n---\n",
            "---\nauthor: Bob\ntags:\n  - work\n  - private\n---\n",
            "---\nauthor: Bob\n---\n",
        ),
        // A property comes back that was added again elsewhere.
        (
            "---\na: 1\nb: 2\n---\n",
            "---\na: 1\nb: 2\nstatus: done\n---\n",
            "---\nstatus: draft\na: 1\nb: 2\n---\n",
        ),
    ] {
        assert_eq!(merged_note(base, ours, theirs), None, "{ours:?}");
    }
    // The controls: other properties, items of one list, and lines below.
    for (base, ours, theirs, expected) in [
        (
            "---\na: 1\nb: 2\n---\n",
            "---\na: 3\nb: 2\n---\n",
            "---\na: 1\n---\n",
            "---\na: 3\n---\n",
        ),
        (
            "---\ntags:\n  - a\n  - b\n  - c\n---\n",
            "---\ntags:\n  - new\n  - a\n  - b\n  - c\n---\n",
            "---\ntags:\n  - a\n  - b\n---\n",
            "---\ntags:\n  - new\n  - a\n  - b\n---\n",
        ),
        (
            "---\na: 1\n---\nx\ny\n",
            "---\na: 2\n---\nx\ny\n",
            "---\na: 1\n---\nx\nz\n",
            "---\na: 2\n---\nx\nz\n",
        ),
        ("---\na: 1\n---\nx\n", "x\n", "---\na: 1\n---\nx\ny\n", "x\ny\n"),
    ] {
        assert_eq!(merged_note(base, ours, theirs).as_deref(), Some(expected), "{ours:?}");
    }
}

#[test]
fn frontmatter_with_a_name_twice_or_no_yaml_is_not_taken_apart() {
    for (base, ours, theirs) in [
        // The name of a list goes below a property that stands twice.
        (
            "---\ncreated: x\ncreated: y\ntags:\n  - work\n---\n",
            "---\ncreated: x\ncreated: y\ntags:\n  - work\n  - private\n---\n",
            "---\ncreated: x\ncreated: y\n---\n",
        ),
        // The same where a title with a colon is no YAML.
        (
            "---\ntitle: Foo: bar\ntags:\n  - work\n---\n",
            "---\ntitle: Foo: bar\ntags:\n  - work\n  - private\n---\n",
            "---\ntitle: Foo: bar\n---\n",
        ),
    ] {
        assert_eq!(merged_note(base, ours, theirs), None, "{ours:?}");
    }
    // The controls: other properties, and lines below.
    for (base, ours, theirs, expected) in [
        (
            "---\ncreated: x\ncreated: y\na: 1\nb: 2\n---\n",
            "---\ncreated: z\ncreated: y\na: 1\nb: 2\n---\n",
            "---\ncreated: x\ncreated: y\na: 1\nb: 3\n---\n",
            "---\ncreated: z\ncreated: y\na: 1\nb: 3\n---\n",
        ),
        (
            "---\ntitle: Foo: bar\na: 1\nb: 2\n---\n",
            "---\ntitle: Foo: baz\na: 1\nb: 2\n---\n",
            "---\ntitle: Foo: bar\na: 1\nb: 3\n---\n",
            "---\ntitle: Foo: baz\na: 1\nb: 3\n---\n",
        ),
        (
            "---\ntitle: Foo: bar\na: 1\n---\nx\n",
            "---\ntitle: Foo: bar\na: 2\n---\nx\n",
            "---\ntitle: Foo: bar\na: 1\n---\nx\ny\n",
            "---\ntitle: Foo: bar\na: 2\n---\nx\ny\n",
        ),
    ] {
        assert_eq!(merged_note(base, ours, theirs).as_deref(), Some(expected), "{ours:?}");
    }
}

#[test]
fn lines_in_conflict_below_do_not_let_frontmatter_be_taken_apart() {
    let base = "---\nstatus: draft\n---\nkeep\none\n";
    let ours = "---\nstatus: draft\nprivate: true\n---\nkeep\nONE\n";
    let merged = merge(base.as_bytes(), ours.as_bytes(), b"keep\nuno\n");
    assert_eq!((merged.conflicts.len(), merged.bytes.as_slice()), (2, ours.as_bytes()));
    // Not even where the user types in it.
    let ours = "---\nstatus: draft\nprivate: [\n---\nkeep\none\n";
    let merged = merge(base.as_bytes(), ours.as_bytes(), b"keep\none\n");
    assert_eq!((merged.conflicts.len(), merged.bytes.as_slice()), (1, ours.as_bytes()));
    // The control: the properties stay although lines are in conflict.
    let ours = "---\nstatus: draft\nprivate: true\n---\nkeep\nONE\n";
    let theirs = b"---\nstatus: done\n---\nkeep\nuno\n";
    let merged = merge(base.as_bytes(), ours.as_bytes(), theirs);
    let expected = "---\nstatus: done\nprivate: true\n---\nkeep\nONE\n";
    assert_eq!(String::from_utf8_lossy(&merged.bytes), expected);
    assert_eq!(merged.conflicts.len(), 1);
}

#[test]
fn two_changes_of_one_map_come_together() {
    let map =
        |up: &str, down: &str| format!("---\nlinks:\n  up: {up}\n  x: 1\n  down: {down}\n---\n");
    let (base, ours, theirs) = (map("A", "C"), map("A", "D"), map("B", "C"));
    assert_eq!(merged_note(&base, &ours, &theirs), Some(map("B", "D")));
}

#[test]
fn lines_below_a_frontmatter_in_conflict_are_merged() {
    let base = "---\nstatus: draft\n---\none\ntwo\n";
    let ours = "---\nstatus: draft\nprivate: true\n---\none\ntwo\nthree\n";
    let merged = merge(base.as_bytes(), ours.as_bytes(), b"one\nTWO\n");
    let [conflict] = merged.conflicts.as_slice() else { panic!("{merged:?}") };
    assert_eq!(conflict.theirs, b"");
    assert!(conflict.contains(&(0..3)) && !conflict.contains(&(3..4)));
    let expected = "---\nstatus: draft\nprivate: true\n---\none\nTWO\nthree\n";
    assert_eq!(String::from_utf8_lossy(&merged.bytes), expected);
}

#[test]
fn frontmatter_of_which_nothing_can_be_told_is_not_put_together_from_two_changes_of_it() {
    let note = |title: &[u8], rest: &[u8], body: &[u8]| {
        [&b"---\ntitle: "[..], title, b"\na: 1\n", rest, b"---\n", body].concat()
    };
    let (title, work) = (&b"Caf\xe9"[..], &b"tags:\n  - work\n"[..]);
    let private = &b"tags:\n  - work\n  - private\n"[..];
    let (base, theirs) = (note(title, work, b"x\n"), note(title, b"", b"x\n"));
    let ours = note(title, private, b"x\ny\n");
    for (mine, other) in [(&ours, &theirs), (&theirs, &ours)] {
        let merged = merge(&base, mine, other);
        let [conflict] = merged.conflicts.as_slice() else { panic!("{merged:?}") };
        assert_eq!((conflict.line, &conflict.base), (0, &note(title, work, b"")));
        assert!(merged.bytes.ends_with(b"---\nx\ny\n"), "below it both changes are made");
    }
    // The controls: one side changed it, and one side has both changes of it.
    let below = note(title, work, b"x\ny\n");
    let merged = merge(&base, &below, &theirs).without_conflicts();
    assert_eq!(merged, Some(note(title, b"", b"x\ny\n")));
    let both = note(b"Bar", b"", b"x\n");
    assert_eq!(merge(&base, &both, &theirs).without_conflicts(), Some(both));
}

#[test]
fn bytes_that_are_no_text_below_frontmatter_do_not_let_it_be_taken_apart() {
    let note = |tags: &[u8]| [&b"---\na: 1\n"[..], tags, b"---\nCaf\xe9\n"].concat();
    let (base, theirs) = (note(b"tags:\n  - work\n"), note(b""));
    let ours = note(b"tags:\n  - work\n  - private\n");
    assert_eq!(merge(&base, &ours, &theirs).without_conflicts(), None);
    // The control: other properties come together.
    let ours = note(b"tags:\n  - work\nb: 2\n");
    let merged = merge(&base, &ours, &theirs).without_conflicts();
    assert_eq!(merged, Some(note(b"b: 2\n")));
}
