//! Which file replaced which, by reports alone.

use std::time::{Duration, Instant, UNIX_EPOCH};

use protocol::NotePath;

use super::*;

/// Longer ago than a save takes.
const LONGER_THAN_A_SAVE: Duration = Duration::from_secs(120);

/// A moment `wait` after the test began. All files of these tests were made just before that.
fn after(wait: Duration) -> EventTime {
    let clock = UNIX_EPOCH + Duration::from_millis(1) + wait;
    EventTime { monotonic: Instant::now() + wait, wall_clock: clock }
}

fn now() -> EventTime {
    after(Duration::ZERO)
}

fn file(number: u64) -> FileId {
    FileId { inode: number, born: Some(number.cast_signed()) }
}

fn succession(from: u64, to: u64) -> FileReplacement {
    FileReplacement { from: file(from), to: file(to) }
}

/// A tracker, and the tracked files with `a.md`, which is file 1.
struct TrackerFixture {
    tracked: TrackedFiles,
    tracker: ReplacementTracker,
}

/// Reports, with the file that was seen at the path.
impl TrackerFixture {
    fn new() -> Self {
        let fixture =
            Self { tracked: TrackedFiles::default(), tracker: ReplacementTracker::default() };
        fixture.tracked.track(&NotePath::parse("a.md").unwrap(), file(1));
        fixture
    }

    fn created(&mut self, path: &str, number: impl Into<Option<u64>>) {
        self.tracker.created(&self.tracked, path, number.into().map(file), now());
    }

    fn made(&mut self, path: &str, number: impl Into<Option<u64>>) {
        self.created(path, number);
        self.tracker.written(path);
    }

    fn removed(&mut self, path: &str) {
        self.tracker.removed(&self.tracked, path, now());
    }

    /// The three reports of a rename after which `number` stands at `to`.
    fn renamed(&mut self, from: &str, to: &str, number: impl Into<Option<u64>>) {
        self.tracker.left(&self.tracked, from, None, now());
        self.came(to, number);
        self.tracker.renamed(&self.tracked, from, to, now());
    }

    /// A rename from where nobody watches.
    fn came(&mut self, to: &str, number: impl Into<Option<u64>>) {
        self.tracker.arrived(&self.tracked, to, number.into().map(file), now());
    }

    fn saved(&mut self, temp: &str, note: &str, number: u64) {
        self.made(temp, number);
        self.renamed(temp, note, number);
    }

    fn saved_with_backup(&mut self, note: &str, before: u64, number: u64) {
        let backup = format!("{note}~");
        self.renamed(note, &backup, before);
        self.created(note, number);
        self.removed(&backup);
    }

    fn certain(&mut self) -> Vec<FileReplacement> {
        self.tracker.set_mark();
        self.tracker.take_certain(&self.tracked)
    }
}

#[test]
fn a_file_made_under_a_temporary_name_and_renamed_over_the_note_goes_on_as_the_note() {
    for temp in ["a.md.tmp.1234", ".a.md.swp", ".goutputstream-X1", ".syncthing.a.md.tmp", "4913"] {
        let mut fixture = TrackerFixture::new();
        fixture.saved(temp, "a.md", 2);
        assert_eq!(fixture.certain(), [succession(1, 2)], "{temp}");
        fixture.saved(temp, "a.md", 3);
        assert_eq!(fixture.certain(), [succession(2, 3)], "{temp}");
        assert!(fixture.tracked.was_replaced_by(file(1), file(3)));
    }
}

#[test]
fn several_saves_before_the_first_is_certain_are_one_succession() {
    let mut fixture = TrackerFixture::new();
    fixture.saved("a.tmp", "a.md", 2);
    fixture.saved("a.tmp", "a.md", 3);
    fixture.saved_with_backup("a.md", 3, 4);
    fixture.saved("a.tmp", "a.md", 5);
    assert_eq!(fixture.certain(), [succession(1, 5)]);
}

#[test]
fn looks_that_come_too_late_for_quick_saves_lose_none() {
    for seen in [(Some(2), 4), (Some(4), 4), (None, 4)] {
        let mut fixture = TrackerFixture::new();
        for _ in [2, 3] {
            fixture.made("a.tmp", seen.0);
            fixture.renamed("a.tmp", "a.md", seen.1);
        }
        fixture.saved("a.tmp", "a.md", 4);
        assert_eq!(fixture.certain(), [succession(1, 4)], "{seen:?}");
    }
    let mut fixture = TrackerFixture::new();
    fixture.made("a.tmp", 3);
    fixture.renamed("a.tmp", "a.md", 2);
    assert_eq!(fixture.certain(), [], "the file of the next save was seen, which has yet to come");
    fixture.saved("a.tmp", "a.md", 3);
    assert_eq!(fixture.certain(), [succession(1, 3)]);
}

#[test]
fn a_note_made_again_after_the_old_one_went_is_another() {
    let mut fixture = TrackerFixture::new();
    fixture.removed("a.md");
    fixture.created("a.md", 2);
    assert!(!fixture.tracker.has_pending());
    fixture.saved("a.tmp", "a.md", 3);
    assert!(!fixture.tracker.has_pending(), "nor is a file that is saved over that one");
}

#[test]
fn a_look_that_came_too_late_does_not_count() {
    let mut fixture = TrackerFixture::new();
    // The save was reported when the note had been removed and another one made: the look saw that.
    fixture.made("a.tmp", 9);
    fixture.renamed("a.tmp", "a.md", 9);
    fixture.tracker.set_mark();
    fixture.removed("a.md");
    fixture.created("a.md", 9);
    assert_eq!(fixture.tracker.take_certain(&fixture.tracked), []);
}

#[test]
fn a_mark_speaks_only_for_what_was_looked_at_before_it() {
    let mut fixture = TrackerFixture::new();
    fixture.tracker.set_mark();
    fixture.saved("a.tmp", "a.md", 2);
    assert_eq!(fixture.tracker.take_certain(&fixture.tracked), []);
    assert!(fixture.tracker.has_pending());
    assert_eq!(fixture.certain(), [succession(1, 2)]);
}

#[test]
fn an_editor_that_keeps_a_backup_while_it_writes_saves_the_same_note() {
    let mut fixture = TrackerFixture::new();
    // The look at the backup came too late already.
    fixture.renamed("a.md", "a.md~", None);
    fixture.created("a.md", 2);
    assert!(!fixture.tracker.has_pending(), "the old file is still there");
    fixture.removed("a.md~");
    assert_eq!(fixture.certain(), [succession(1, 2)]);
}

#[test]
fn a_note_that_was_moved_is_followed_at_its_new_name() {
    let mut fixture = TrackerFixture::new();
    fixture.renamed("a.md", "b.md", 1);
    fixture.saved("b.tmp", "b.md", 2);
    assert_eq!(fixture.certain(), [succession(1, 2)]);
}

#[test]
fn another_note_that_is_renamed_over_one_is_not_its_new_file() {
    let mut fixture = TrackerFixture::new();
    fixture.tracked.track(&NotePath::parse("b.md").unwrap(), file(2));
    fixture.renamed("b.md", "a.md", 2);
    assert!(!fixture.tracker.has_pending(), "both are followed");
    assert_eq!(fixture.tracked.file_at("a.md"), Some(file(2)));

    let mut fixture = TrackerFixture::new();
    fixture.renamed("b.md", "a.md", 2);
    assert_eq!(fixture.certain(), [], "the other one is not followed");
    assert_eq!(fixture.tracked.file_at("a.md"), None);

    let mut fixture = TrackerFixture::new();
    fixture.made("a.tmp", 2);
    fixture.tracker.left(&fixture.tracked, "a.tmp", None, now());
    fixture.tracker.arrived(&fixture.tracked, "a.md", Some(file(2)), after(LONGER_THAN_A_SAVE));
    fixture.tracker.renamed(&fixture.tracked, "a.tmp", "a.md", after(LONGER_THAN_A_SAVE));
    assert_eq!(fixture.certain(), [], "it was made long ago");
}

/// Ways to bring another note over `a.md`: each ends with file 2 there.
type IndirectReplacement = (&'static str, fn(&mut TrackerFixture));

const INDIRECT_REPLACEMENTS: [IndirectReplacement; 9] = [
    ("by way of a temporary name", |fixture| {
        fixture.made("b.md", 2);
        fixture.renamed("b.md", "b.tmp", 2);
        fixture.renamed("b.tmp", "a.md", 2);
    }),
    ("by way of a temporary name that another file had", |fixture| {
        fixture.made("b.tmp", 7);
        fixture.made("b.md", 2);
        fixture.renamed("b.md", "b.tmp", 2);
        fixture.renamed("b.tmp", "a.md", 2);
    }),
    ("from outside or the trash", |fixture| {
        fixture.made("b.md", 2);
        fixture.tracker.left(&fixture.tracked, "b.md", None, now());
        fixture.came("a.md", 2);
    }),
    ("from outside, where a temporary name was left before", |fixture| {
        fixture.made("b.tmp", 2);
        fixture.tracker.left(&fixture.tracked, "b.tmp", None, now());
        fixture.came("a.md", 2);
    }),
    ("by a link under a temporary name", |fixture| {
        fixture.made("b.md", 2);
        fixture.created("b.tmp", 2);
        fixture.removed("b.md");
        fixture.renamed("b.tmp", "a.md", 2);
    }),
    ("by a link that was written", |fixture| {
        fixture.made("b.md", 2);
        fixture.made("b.tmp", 2);
        fixture.removed("b.md");
        fixture.renamed("b.tmp", "a.md", 2);
    }),
    ("by a link, looked at too late", |fixture| {
        fixture.made("b.md", None);
        fixture.made("b.tmp", None);
        fixture.renamed("b.tmp", "a.md", 2);
    }),
    ("from a folder that came with it", |fixture| {
        fixture.made("d/b.tmp", None);
        fixture.tracker.remove_below("d");
        fixture.renamed("d/b.tmp", "a.md", 2);
    }),
    ("by a link to a file that is older than the link", |fixture| {
        let late = after(Duration::from_secs(5));
        fixture.tracker.created(&fixture.tracked, "b.tmp", Some(file(2)), late);
        fixture.tracker.written("b.tmp");
        fixture.renamed("b.tmp", "a.md", 2);
    }),
];

#[test]
fn a_note_that_comes_over_another_in_a_roundabout_way_is_not_its_new_file() {
    for (way, go) in INDIRECT_REPLACEMENTS {
        let mut fixture = TrackerFixture::new();
        go(&mut fixture);
        assert_eq!(fixture.certain(), [], "{way}");
        assert_eq!(fixture.tracked.file_at("a.md"), None, "{way}");
    }
}

#[test]
fn what_is_saved_over_such_a_note_does_not_go_on_as_the_first() {
    for (way, go) in INDIRECT_REPLACEMENTS {
        for with_backup in [false, true] {
            let mut fixture = TrackerFixture::new();
            go(&mut fixture);
            if with_backup {
                fixture.saved_with_backup("a.md", 2, 3);
            } else {
                fixture.saved("a.tmp", "a.md", 3);
            }
            assert_eq!(fixture.certain(), [], "{way}");
        }
        let mut fixture = TrackerFixture::new();
        fixture.saved("a.tmp", "a.md", 4);
        go(&mut fixture);
        assert_eq!(fixture.certain(), [], "{way}, after a save");
    }
}

#[test]
fn a_note_that_is_archived_and_removed_there_does_not_go_on_as_the_new_one() {
    for (archived, pause) in
        [("Archive/a.md", Duration::ZERO), ("a.md~", BACKUP_SAVE), ("a.md~", BACKUP_SAVE * 9)]
    {
        let mut fixture = TrackerFixture::new();
        fixture.renamed("a.md", archived, 1);
        fixture.created("a.md", 2);
        fixture.tracker.removed(&fixture.tracked, archived, after(pause));
        assert_eq!(fixture.certain(), [], "{archived} {pause:?}");
    }
}

#[test]
fn a_new_note_saved_with_a_backup_does_not_take_the_place_of_one_that_lives_elsewhere() {
    for away in [&["Archive/Old.md"][..], &["a.old"], &["a.md~", "Archive/Old.md"]] {
        let mut fixture = TrackerFixture::new();
        let mut at = "a.md";
        for next in away {
            fixture.renamed(at, next, 1);
            at = next;
        }
        fixture.created("a.md", 2);
        fixture.saved_with_backup("a.md", 2, 3);
        assert_eq!(fixture.certain(), [], "{away:?}");
        assert_eq!(fixture.tracked.file_at(at), Some(file(1)), "{away:?}");
    }
}

#[test]
fn a_backup_that_was_moved_on_or_replaced_was_not_removed() {
    for go in [
        |fixture: &mut TrackerFixture| fixture.renamed("a.md~", "Old", 1),
        |fixture: &mut TrackerFixture| fixture.renamed("x", "a.md~", 5),
    ] {
        let mut fixture = TrackerFixture::new();
        fixture.renamed("a.md", "a.md~", 1);
        fixture.created("a.md", 2);
        go(&mut fixture);
        fixture.created("a.md~", 6);
        fixture.removed("a.md~");
        assert_eq!(fixture.certain(), []);
    }
}

#[test]
fn a_link_to_another_note_in_the_place_of_one_with_a_backup_is_not_its_new_file() {
    let mut fixture = TrackerFixture::new();
    fixture.made("b.md", 2);
    fixture.renamed("a.md", "a.md~", 1);
    fixture.created("a.md", 2);
    fixture.removed("a.md~");
    assert_eq!(fixture.certain(), []);
}

#[test]
fn a_save_of_a_note_whose_name_is_spelled_otherwise_is_not_one_of_this_note() {
    let (nfc, nfd) = ("Caf\u{e9}.md", "Cafe\u{301}.md");
    for (mine, other) in [(nfc, nfd), (nfd, nfc)] {
        let mut fixture = TrackerFixture::new();
        fixture.tracked.track(&NotePath::parse(mine).unwrap(), file(1));
        fixture.saved("t", other, 3);
        fixture.saved_with_backup(other, 3, 4);
        assert_eq!(fixture.certain(), []);
        assert_eq!(fixture.tracked.file_at(mine), Some(file(1)));
    }
}

#[test]
fn when_more_notes_came_than_are_remembered_nothing_is_proven_until_they_are_old() {
    let mut fixture = TrackerFixture::new();
    for number in 0..10_001 {
        fixture.created(&format!("notes/{number}.md"), 100_000 + number);
    }
    fixture.saved("a.tmp", "a.md", 2);
    assert_eq!(fixture.certain(), []);

    fixture.tracked.track(&NotePath::parse("a.md").unwrap(), file(1));
    let (late, old) = (after(LONGER_THAN_A_SAVE), FileId { inode: 3, born: Some(120_000_000_000) });
    fixture.tracker.created(&fixture.tracked, "a.tmp", Some(old), late);
    fixture.tracker.written("a.tmp");
    fixture.tracker.left(&fixture.tracked, "a.tmp", None, late);
    fixture.tracker.arrived(&fixture.tracked, "a.md", Some(old), late);
    fixture.tracker.renamed(&fixture.tracked, "a.tmp", "a.md", late);
    assert_eq!(fixture.certain(), [FileReplacement { from: file(1), to: old }]);
}

#[test]
fn a_file_whose_replacement_was_not_seen_is_followed_no_longer() {
    let mut fixture = TrackerFixture::new();
    fixture.tracked.retain(|_, stands| stands == file(7));
    fixture.saved("a.tmp", "a.md", 3);
    assert_eq!(fixture.certain(), []);
}
