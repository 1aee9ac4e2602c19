//! A change of a note as a person reads it: regions, lines, and the words that differ.

use std::time::{Duration, Instant};

use markdown::Frontmatter;
use markdown::parser::{Heading, headings};
use protocol::changes::review::{DiffLine, DiffLineKind, DiffSpan, NoteHunk};
use protocol::{Change, ChangeKind, FolderContents};
use similar::{ChangeTag, DiffOp, InlineChange, TextDiff};
use vault::merge::DiffHunk;

/// Lines of context around a changed region.
const CONTEXT_LINES: usize = 3;

/// Lines of context above a changed line of a property at most, so that the name of the property is shown with it.
const PROPERTY_CONTEXT_LINES: usize = 20;

/// How long the search for the smallest diff of one note, or of one region of it, may take: two long
/// texts that share nothing would take minutes.
const HUNK_DIFF_TIMEOUT: Duration = Duration::from_millis(200);

/// The same for all regions of one note together: there may be tens of thousands.
const TOTAL_DIFF_TIMEOUT: Duration = Duration::from_secs(1);

/// The changes in a note.
pub(crate) struct Diff {
    /// Each hunk alone, as [`vault::merge::hunks`] counts them.
    pub(crate) hunks: Vec<NoteHunk>,
    /// Lines added.
    pub(crate) added: u32,
    /// Lines removed.
    pub(crate) removed: u32,
}

/// The diff of one change. Bytes that are not UTF-8 are shown with replacement marks; what is
/// renamed or trashed whole has no lines to compare.
pub(crate) fn note_diff(change: &Change) -> Diff {
    let side = |bytes: Option<&[u8]>| bytes.unwrap_or_default().to_vec();
    let (before, after) = match change.kind() {
        ChangeKind::Trash => (Vec::new(), Vec::new()),
        kind => displayed_sides(kind, side(change.before()), side(change.after())),
    };
    let hunks = separate_hunks(&before, &after);
    let (added, removed) = count_lines(&hunks);
    Diff { hunks, added, removed }
}

/// The two texts that a change is shown by, from the bytes it is stored with: of a folder the files that
/// go away or come back, a line for each.
pub(crate) fn displayed_sides(
    kind: ChangeKind,
    before: Vec<u8>,
    after: Vec<u8>,
) -> (Vec<u8>, Vec<u8>) {
    let files = |bytes| FolderContents::from_bytes(bytes).files().into_bytes();
    match kind {
        ChangeKind::TrashFolder => (files(before), after),
        ChangeKind::RestoreFolder => (after, files(before)),
        _ => (before, after),
    }
}

/// Each hunk from `before` to `after` alone, as [`vault::merge::hunks`] counts them, with the lines
/// around it. A line between two hunks stands with one of them.
pub(crate) fn separate_hunks(before: &[u8], after: &[u8]) -> Vec<NoteHunk> {
    let (old, new) = (String::from_utf8_lossy(before), String::from_utf8_lossy(after));
    let lines = |text| str::split_inclusive(text, '\n').collect::<Vec<_>>();
    let (old_lines, new_lines) = (lines(&old), lines(&new));
    let diff = TextDiff::configure().timeout(HUNK_DIFF_TIMEOUT).diff_slices(&old_lines, &new_lines);
    let (headings, properties) = (headings(&new), frontmatter_lines(&new));
    let changes = vault::merge::hunks(before, after);
    let until = Instant::now() + TOTAL_DIFF_TIMEOUT;
    let mut shown_to = 0;
    let mut hunks = Vec::with_capacity(changes.len());
    for (number, changed) in changes.iter().enumerate() {
        let (from, to) = (&changed.before, &changed.after);
        let next = changes.get(number + 1).map_or(old_lines.len(), |next| next.before.start);
        let in_properties = to.start < properties;
        let context = match in_properties {
            true => property_context(&old_lines, &new_lines, changed),
            false => CONTEXT_LINES,
        };
        let above = context.min(from.start - shown_to);
        let below = CONTEXT_LINES.min(next - from.end);
        shown_to = from.end + below;
        let equal = |old_index, new_index, len| DiffOp::Equal { old_index, new_index, len };
        let ops = [
            equal(from.start - above, to.start - above, above),
            DiffOp::Replace {
                old_index: from.start,
                old_len: from.len(),
                new_index: to.start,
                new_len: to.len(),
            },
            equal(from.end, to.end, below),
        ];
        let hunk = hunk(&diff, &ops, &headings, until);
        hunks.push(NoteHunk { properties: in_properties, ..hunk });
    }
    hunks
}

/// The lines of context above a change among the properties: where it begins below the name of a property, up to
/// that name, unless it is too far away.
fn property_context(old_lines: &[&str], new_lines: &[&str], changed: &DiffHunk) -> usize {
    let sides = [old_lines.get(changed.before.clone()), new_lines.get(changed.after.clone())];
    let mut first = sides.into_iter().flatten().filter_map(|lines| lines.first());
    if first.all(|line| begins_property(line)) {
        return CONTEXT_LINES;
    }
    let above = old_lines.iter().take(changed.before.start).rev();
    let name = above.take(PROPERTY_CONTEXT_LINES).position(|line| begins_property(line));
    CONTEXT_LINES.max(name.map_or(0, |lines_below| lines_below + 1))
}

/// Whether a line among the properties is neither indented nor an item of a list nor a comment.
fn begins_property(line: &str) -> bool {
    !line.starts_with([' ', '\t', '-', '#', '\r', '\n'])
}

/// Lines added and removed by a change.
pub(crate) fn line_counts(change: &Change) -> (u32, u32) {
    count_lines(&note_diff(change).hunks)
}

/// The change as a unified diff, for a terminal.
pub(crate) fn unified_diff(change: &Change) -> String {
    if let Some(to) = change.target() {
        return format!("rename from {}\nrename to {to}\n", change.path);
    }
    let side = |bytes: Option<&[u8]>| bytes.unwrap_or_default().to_vec();
    let (old, new) = displayed_sides(change.kind(), side(change.before()), side(change.after()));
    let (old, new) = (String::from_utf8_lossy(&old), String::from_utf8_lossy(&new));
    let (from, to) = (format!("a/{}", change.path), format!("b/{}", change.path));
    let nothing = || "/dev/null".to_owned();
    let from = if change.before().is_some() { from } else { nothing() };
    let to = if change.after().is_some() { to } else { nothing() };
    let diff = diff_texts(&old, &new);
    diff.unified_diff().context_radius(CONTEXT_LINES).header(&from, &to).to_string()
}

/// The lines that differ. Past the time limit the diff is still right, only not the smallest.
fn diff_texts<'a>(old: &'a str, new: &'a str) -> TextDiff<'a, 'a, str> {
    TextDiff::configure().timeout(HUNK_DIFF_TIMEOUT).diff_lines(old, new)
}

fn count_lines(hunks: &[NoteHunk]) -> (u32, u32) {
    let count = |sign| {
        let lines = hunks.iter().flat_map(|hunk| &hunk.lines).filter(|line| line.sign == sign);
        u32::try_from(lines.count()).unwrap_or(u32::MAX)
    };
    (count(DiffLineKind::Added), count(DiffLineKind::Removed))
}

fn hunk(
    diff: &TextDiff<'_, '_, str>,
    ops: &[DiffOp],
    headings: &[Heading],
    until: Instant,
) -> NoteHunk {
    let first = ops.first();
    let old_start = first.map_or(0, |op| op.old_range().start);
    let new_start = first.map_or(0, |op| op.new_range().start);
    let changed = ops
        .iter()
        .find(|op| !matches!(op, DiffOp::Equal { .. }))
        .map_or(new_start, |op| op.new_range().start);
    let deadline = Some(until.min(Instant::now() + HUNK_DIFF_TIMEOUT));
    let lines = ops.iter().flat_map(|op| diff.iter_inline_changes_deadline(op, deadline));
    let lines = lines.map(|line| diff_line(&line));
    NoteHunk {
        heading: heading_above(headings, changed),
        properties: false,
        old_start: one_based(old_start),
        new_start: one_based(new_start),
        lines: lines.collect(),
    }
}

fn diff_line(line: &InlineChange<'_, str>) -> DiffLine {
    let sign = match line.tag() {
        ChangeTag::Equal => DiffLineKind::Same,
        ChangeTag::Insert => DiffLineKind::Added,
        ChangeTag::Delete => DiffLineKind::Removed,
    };
    let words = line
        .iter_strings_lossy()
        .map(|(marked, text)| DiffSpan {
            text: text.trim_end_matches(['\n', '\r']).to_owned(),
            marked: marked && sign != DiffLineKind::Same,
        })
        .filter(|words| !words.text.is_empty());
    DiffLine { sign, words: join_across_blanks(words) }
}

/// Blanks between two marked words are marked too: a changed phrase reads as one.
fn join_across_blanks(words: impl Iterator<Item = DiffSpan>) -> Vec<DiffSpan> {
    let mut words = words.peekable();
    let mut joined: Vec<DiffSpan> = Vec::new();
    while let Some(mut next) = words.next() {
        let marked_before = joined.last().is_some_and(|before| before.marked);
        let marked_after = words.peek().is_some_and(|after| after.marked);
        next.marked |= next.text.trim().is_empty() && marked_before && marked_after;
        joined.push(next);
    }
    joined
}

/// How many lines the properties at the top take, with the marks around them.
fn frontmatter_lines(text: &str) -> usize {
    Frontmatter::parse(text).map_or(0, |matter| matter.line_count(text))
}

fn one_based(line: usize) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX).saturating_add(1)
}

/// The title of the last heading at or above a line, counted from 0.
fn heading_above(headings: &[Heading], line: usize) -> Option<String> {
    let above = headings.partition_point(|heading| heading.line <= line + 1);
    above.checked_sub(1).and_then(|last| headings.get(last)).map(|heading| heading.title.clone())
}

#[cfg(test)]
mod tests {
    use super::*;
    use protocol::NotePath;

    fn change(before: Option<&str>, after: &str) -> Change {
        let path = NotePath::parse("a.md").expect("a path");
        match before {
            Some(before) => Change::replace(path, before, after),
            None => Change::create(path, after),
        }
    }

    #[test]
    fn a_changed_word_is_marked_in_both_lines_under_its_heading() {
        let (before, after) = ("# Plan\n\nOpens on 1 March.\n", "# Plan\n\nOpens on 9 January.\n");
        let diff = note_diff(&change(Some(before), after));
        let hunk = diff.hunks.first().expect("one region");
        assert_eq!((diff.added, diff.removed, hunk.heading.as_deref()), (1, 1, Some("Plan")));
        let marked = |sign: DiffLineKind| -> String {
            let lines = hunk.lines.iter().filter(|line| line.sign == sign);
            lines.flat_map(|l| &l.words).filter(|w| w.marked).map(|w| w.text.as_str()).collect()
        };
        assert_eq!(
            (marked(DiffLineKind::Removed), marked(DiffLineKind::Added)),
            ("1 March".into(), "9 January".into())
        );
    }

    #[test]
    fn the_properties_take_the_lines_that_their_reader_says() {
        for (text, lines) in [
            ("---\na: 1\n---\nText\n", 3),
            ("---\na: 1\n...\nText\n", 3),
            ("\u{feff}---\na: 1\n---\nText\n", 3),
            ("---\r\na: 1\r\n...\r\nText\r\n", 3),
            ("--- \na: 1\n---\t\nText\n", 3),
            ("---\n---\nText\n", 2),
            ("---\na: 1\nText\n", 0),
            ("Text\n---\na: 1\n---\n", 0),
        ] {
            assert_eq!(frontmatter_lines(text), lines, "{text:?}");
        }
    }

    #[test]
    fn a_new_note_is_all_added() {
        assert_eq!(line_counts(&change(None, "one\ntwo\n")), (2, 0));
    }

    #[test]
    fn two_long_notes_that_share_nothing_are_compared_in_bounded_time() {
        let lines = |word: &str| (0..30_000).map(|n| format!("{word} {n}\n")).collect::<String>();
        let (old, new) = (lines("old"), lines("new"));
        let begun = std::time::Instant::now();
        assert_eq!(line_counts(&change(Some(&old), &new)), (30_000, 30_000));
        assert!(begun.elapsed() < Duration::from_secs(20), "it took {:?}", begun.elapsed());
    }

    #[test]
    fn thousands_of_changes_under_thousands_of_headings_are_told_in_bounded_time() {
        let lines =
            |word: &str| (0..20_000).map(|n| format!("# {n}\n{word}\n")).collect::<String>();
        let begun = std::time::Instant::now();
        let diff = note_diff(&change(Some(&lines("old words")), &lines("new words")));
        assert_eq!(diff.hunks.len(), 20_000);
        assert_eq!(diff.hunks.last().and_then(|hunk| hunk.heading.as_deref()), Some("19999"));
        assert!(begun.elapsed() < Duration::from_secs(20), "it took {:?}", begun.elapsed());
    }

    #[test]
    fn far_apart_changes_are_separate_regions() {
        let lines: Vec<String> = (0..40).map(|n| format!("line {n}\n")).collect();
        let after = lines.concat().replace("line 2\n", "two\n").replace("line 35\n", "later\n");
        assert_eq!(note_diff(&change(Some(&lines.concat()), &after)).hunks.len(), 2);
    }

    #[test]
    fn what_changes_among_the_properties_is_told_as_such() {
        let (before, after) =
            ("---\na: 1\n---\nb\nc\n\n---\nd\n", "---\na: 2\n---\nb\nc\n\n---\nD\n");
        let diff = note_diff(&change(Some(before), after));
        let told: Vec<_> = diff.hunks.iter().map(|hunk| hunk.properties).collect();
        assert_eq!(told, [true, false]);
    }

    #[test]
    fn the_name_of_a_property_is_shown_above_a_change_of_its_list() {
        let note = |items: usize, end: &str| {
            let items: String = (1..=items).map(|n| format!("  - tag {n}\n")).collect();
            format!("---\ntags:\n{items}{end}---\ntext\n")
        };
        let first_line = |before: String, after: String| -> String {
            let diff = note_diff(&change(Some(&before), &after));
            let hunk = diff.hunks.first().expect("one region");
            let line = hunk.lines.first().expect("a line");
            line.words.iter().map(|words| words.text.as_str()).collect()
        };
        let added = |items| first_line(note(items, ""), note(items, "  - done\n"));
        assert_eq!((added(2), added(9)), ("tags:".into(), "tags:".into()));
        let removed = first_line(note(9, ""), note(8, ""));
        assert_eq!(removed, "tags:");
        // The controls: a name that is too far away, and a change that has a name itself.
        assert_eq!(added(30), "  - tag 28");
        let set = first_line(note(9, "status: open\n"), note(9, "status: done\n"));
        assert_eq!(set, "  - tag 7");
    }

    #[test]
    fn what_stands_between_two_changes_is_shown_once() {
        let diff = note_diff(&change(Some("a\nb\nc\nd\n"), "A\nb\nc\nD\n"));
        let shown = |hunk: &NoteHunk| -> String {
            let lines = hunk.lines.iter().map(|line| match line.sign {
                DiffLineKind::Same => ' ',
                DiffLineKind::Added => '+',
                DiffLineKind::Removed => '-',
            });
            lines.collect()
        };
        assert_eq!(diff.hunks.iter().map(shown).collect::<Vec<_>>(), ["-+  ", "-+"]);
    }
}
