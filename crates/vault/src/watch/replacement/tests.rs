//! Which file replaced which, by reports alone.

use std::time::{Duration, Instant, UNIX_EPOCH};

use protocol::NotePath;

use super::*;

/// Longer ago than a save takes.
const LONGER_THAN_A_SAVE: Duration = Duration::from_secs(120);

/// A moment so long after the test began. All files of these tests were made just before that.
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

/// A follower, and the seats of `a.md`, which is in file 1.
struct TrackerFixture {
    seats: TrackedFiles,
    follower: ReplacementTracker,
}

/// Reports, with the file that was seen at the path.
impl TrackerFixture {
    fn new() -> Self {
        let post = Self { seats: TrackedFiles::default(), follower: ReplacementTracker::default() };
        post.seats.track(&NotePath::parse("a.md").unwrap(), file(1));
        post
    }

    fn created(&mut self, path: &str, number: impl Into<Option<u64>>) {
        self.follower.created(&self.seats, path, number.into().map(file), now());
    }

    fn made(&mut self, path: &str, number: impl Into<Option<u64>>) {
        self.created(path, number);
        self.follower.written(path);
    }

    fn removed(&mut self, path: &str) {
        self.follower.removed(&self.seats, path, now());
    }

    /// The three reports of a rename after which `number` stands at `to`.
    fn renamed(&mut self, from: &str, to: &str, number: impl Into<Option<u64>>) {
        self.follower.left(&self.seats, from, None, now());
        self.came(to, number);
        self.follower.renamed(&self.seats, from, to, now());
    }

    /// A rename from where nobody watches.
    fn came(&mut self, to: &str, number: impl Into<Option<u64>>) {
        self.follower.arrived(&self.seats, to, number.into().map(file), now());
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
        self.follower.set_mark();
        self.follower.take_certain(&self.seats)
    }
}

#[test]
fn a_file_made_under_a_temporary_name_and_renamed_over_the_note_goes_on_as_the_note() {
    for temp in ["a.md.tmp.1234", ".a.md.swp", ".goutputstream-X1", ".syncthing.a.md.tmp", "4913"] {
        let mut post = TrackerFixture::new();
        post.saved(temp, "a.md", 2);
        assert_eq!(post.certain(), [succession(1, 2)], "{temp}");
        post.saved(temp, "a.md", 3);
        assert_eq!(post.certain(), [succession(2, 3)], "{temp}");
        assert!(post.seats.was_replaced_by(file(1), file(3)));
    }
}

#[test]
fn several_saves_before_the_first_is_certain_are_one_succession() {
    let mut post = TrackerFixture::new();
    post.saved("a.tmp", "a.md", 2);
    post.saved("a.tmp", "a.md", 3);
    post.saved_with_backup("a.md", 3, 4);
    post.saved("a.tmp", "a.md", 5);
    assert_eq!(post.certain(), [succession(1, 5)]);
}

#[test]
fn looks_that_come_too_late_for_quick_saves_lose_none() {
    for seen in [(Some(2), 4), (Some(4), 4), (None, 4)] {
        let mut post = TrackerFixture::new();
        for _ in [2, 3] {
            post.made("a.tmp", seen.0);
            post.renamed("a.tmp", "a.md", seen.1);
        }
        post.saved("a.tmp", "a.md", 4);
        assert_eq!(post.certain(), [succession(1, 4)], "{seen:?}");
    }
    let mut post = TrackerFixture::new();
    post.made("a.tmp", 3);
    post.renamed("a.tmp", "a.md", 2);
    assert_eq!(post.certain(), [], "the file of the next save was seen, which has yet to come");
    post.saved("a.tmp", "a.md", 3);
    assert_eq!(post.certain(), [succession(1, 3)]);
}

#[test]
fn a_note_made_again_after_the_old_one_went_is_another() {
    let mut post = TrackerFixture::new();
    post.removed("a.md");
    post.created("a.md", 2);
    assert!(!post.follower.has_pending());
    post.saved("a.tmp", "a.md", 3);
    assert!(!post.follower.has_pending(), "nor is a file that is saved over that one");
}

#[test]
fn a_look_that_came_too_late_does_not_count() {
    let mut post = TrackerFixture::new();
    // The save was reported when the note had been removed and another one made: the look saw that.
    post.made("a.tmp", 9);
    post.renamed("a.tmp", "a.md", 9);
    post.follower.set_mark();
    post.removed("a.md");
    post.created("a.md", 9);
    assert_eq!(post.follower.take_certain(&post.seats), []);
}

#[test]
fn a_mark_speaks_only_for_what_was_looked_at_before_it() {
    let mut post = TrackerFixture::new();
    post.follower.set_mark();
    post.saved("a.tmp", "a.md", 2);
    assert_eq!(post.follower.take_certain(&post.seats), []);
    assert!(post.follower.has_pending());
    assert_eq!(post.certain(), [succession(1, 2)]);
}

#[test]
fn an_editor_that_keeps_a_backup_while_it_writes_saves_the_same_note() {
    let mut post = TrackerFixture::new();
    // The look at the backup came too late already.
    post.renamed("a.md", "a.md~", None);
    post.created("a.md", 2);
    assert!(!post.follower.has_pending(), "the old file is still there");
    post.removed("a.md~");
    assert_eq!(post.certain(), [succession(1, 2)]);
}

#[test]
fn a_note_that_was_moved_is_followed_at_its_new_name() {
    let mut post = TrackerFixture::new();
    post.renamed("a.md", "b.md", 1);
    post.saved("b.tmp", "b.md", 2);
    assert_eq!(post.certain(), [succession(1, 2)]);
}

#[test]
fn another_note_that_is_renamed_over_one_is_not_its_new_file() {
    let mut post = TrackerFixture::new();
    post.seats.track(&NotePath::parse("b.md").unwrap(), file(2));
    post.renamed("b.md", "a.md", 2);
    assert!(!post.follower.has_pending(), "both are followed");
    assert_eq!(post.seats.file_at("a.md"), Some(file(2)));

    let mut post = TrackerFixture::new();
    post.renamed("b.md", "a.md", 2);
    assert_eq!(post.certain(), [], "the other one is not followed");
    assert_eq!(post.seats.file_at("a.md"), None);

    let mut post = TrackerFixture::new();
    post.made("a.tmp", 2);
    post.follower.left(&post.seats, "a.tmp", None, now());
    post.follower.arrived(&post.seats, "a.md", Some(file(2)), after(LONGER_THAN_A_SAVE));
    post.follower.renamed(&post.seats, "a.tmp", "a.md", after(LONGER_THAN_A_SAVE));
    assert_eq!(post.certain(), [], "it was made long ago");
}

/// Ways to bring another note over `a.md`: each ends with file 2 there.
type IndirectReplacement = (&'static str, fn(&mut TrackerFixture));

const INDIRECT_REPLACEMENTS: [IndirectReplacement; 9] = [
    ("by way of a temporary name", |post| {
        post.made("b.md", 2);
        post.renamed("b.md", "b.tmp", 2);
        post.renamed("b.tmp", "a.md", 2);
    }),
    ("by way of a temporary name that another file had", |post| {
        post.made("b.tmp", 7);
        post.made("b.md", 2);
        post.renamed("b.md", "b.tmp", 2);
        post.renamed("b.tmp", "a.md", 2);
    }),
    ("from outside or the trash", |post| {
        post.made("b.md", 2);
        post.follower.left(&post.seats, "b.md", None, now());
        post.came("a.md", 2);
    }),
    ("from outside, where a temporary name was left before", |post| {
        post.made("b.tmp", 2);
        post.follower.left(&post.seats, "b.tmp", None, now());
        post.came("a.md", 2);
    }),
    ("by a link under a temporary name", |post| {
        post.made("b.md", 2);
        post.created("b.tmp", 2);
        post.removed("b.md");
        post.renamed("b.tmp", "a.md", 2);
    }),
    ("by a link that was written", |post| {
        post.made("b.md", 2);
        post.made("b.tmp", 2);
        post.removed("b.md");
        post.renamed("b.tmp", "a.md", 2);
    }),
    ("by a link, looked at too late", |post| {
        post.made("b.md", None);
        post.made("b.tmp", None);
        post.renamed("b.tmp", "a.md", 2);
    }),
    ("from a folder that came with it", |post| {
        post.made("d/b.tmp", None);
        post.follower.remove_below("d");
        post.renamed("d/b.tmp", "a.md", 2);
    }),
    ("by a link to a file that is older than the link", |post| {
        let late = after(Duration::from_secs(5));
        post.follower.created(&post.seats, "b.tmp", Some(file(2)), late);
        post.follower.written("b.tmp");
        post.renamed("b.tmp", "a.md", 2);
    }),
];

#[test]
fn a_note_that_comes_over_another_in_a_roundabout_way_is_not_its_new_file() {
    for (way, go) in INDIRECT_REPLACEMENTS {
        let mut post = TrackerFixture::new();
        go(&mut post);
        assert_eq!(post.certain(), [], "{way}");
        assert_eq!(post.seats.file_at("a.md"), None, "{way}");
    }
}

#[test]
fn what_is_saved_over_such_a_note_does_not_go_on_as_the_first() {
    for (way, go) in INDIRECT_REPLACEMENTS {
        for with_backup in [false, true] {
            let mut post = TrackerFixture::new();
            go(&mut post);
            if with_backup {
                post.saved_with_backup("a.md", 2, 3);
            } else {
                post.saved("a.tmp", "a.md", 3);
            }
            assert_eq!(post.certain(), [], "{way}");
        }
        let mut post = TrackerFixture::new();
        post.saved("a.tmp", "a.md", 4);
        go(&mut post);
        assert_eq!(post.certain(), [], "{way}, after a save");
    }
}

#[test]
fn a_note_that_is_archived_and_removed_there_does_not_go_on_as_the_new_one() {
    for (archived, pause) in
        [("Archive/a.md", Duration::ZERO), ("a.md~", BACKUP_SAVE), ("a.md~", BACKUP_SAVE * 9)]
    {
        let mut post = TrackerFixture::new();
        post.renamed("a.md", archived, 1);
        post.created("a.md", 2);
        post.follower.removed(&post.seats, archived, after(pause));
        assert_eq!(post.certain(), [], "{archived} {pause:?}");
    }
}

#[test]
fn a_new_note_saved_with_a_backup_does_not_take_the_place_of_one_that_lives_elsewhere() {
    for away in [&["Archive/Old.md"][..], &["a.old"], &["a.md~", "Archive/Old.md"]] {
        let mut post = TrackerFixture::new();
        let mut at = "a.md";
        for next in away {
            post.renamed(at, next, 1);
            at = next;
        }
        post.created("a.md", 2);
        post.saved_with_backup("a.md", 2, 3);
        assert_eq!(post.certain(), [], "{away:?}");
        assert_eq!(post.seats.file_at(at), Some(file(1)), "{away:?}");
    }
}

#[test]
fn a_backup_that_was_moved_on_or_replaced_was_not_removed() {
    for go in [
        |post: &mut TrackerFixture| post.renamed("a.md~", "Old", 1),
        |post: &mut TrackerFixture| post.renamed("x", "a.md~", 5),
    ] {
        let mut post = TrackerFixture::new();
        post.renamed("a.md", "a.md~", 1);
        post.created("a.md", 2);
        go(&mut post);
        post.created("a.md~", 6);
        post.removed("a.md~");
        assert_eq!(post.certain(), []);
    }
}

#[test]
fn a_link_to_another_note_in_the_place_of_one_with_a_backup_is_not_its_new_file() {
    let mut post = TrackerFixture::new();
    post.made("b.md", 2);
    post.renamed("a.md", "a.md~", 1);
    post.created("a.md", 2);
    post.removed("a.md~");
    assert_eq!(post.certain(), []);
}

#[test]
fn a_save_of_a_note_whose_name_is_spelled_otherwise_is_not_one_of_this_note() {
    let (nfc, nfd) = ("Caf\u{e9}.md", "Cafe\u{301}.md");
    for (mine, other) in [(nfc, nfd), (nfd, nfc)] {
        let mut post = TrackerFixture::new();
        post.seats.track(&NotePath::parse(mine).unwrap(), file(1));
        post.saved("t", other, 3);
        post.saved_with_backup(other, 3, 4);
        assert_eq!(post.certain(), []);
        assert_eq!(post.seats.file_at(mine), Some(file(1)));
    }
}

#[test]
fn when_more_notes_came_than_are_remembered_nothing_is_proven_until_they_are_old() {
    let mut post = TrackerFixture::new();
    for number in 0..10_001 {
        post.created(&format!("notes/{number}.md"), 100_000 + number);
    }
    post.saved("a.tmp", "a.md", 2);
    assert_eq!(post.certain(), []);

    post.seats.track(&NotePath::parse("a.md").unwrap(), file(1));
    let (late, old) = (after(LONGER_THAN_A_SAVE), FileId { inode: 3, born: Some(120_000_000_000) });
    post.follower.created(&post.seats, "a.tmp", Some(old), late);
    post.follower.written("a.tmp");
    post.follower.left(&post.seats, "a.tmp", None, late);
    post.follower.arrived(&post.seats, "a.md", Some(old), late);
    post.follower.renamed(&post.seats, "a.tmp", "a.md", late);
    assert_eq!(post.certain(), [FileReplacement { from: file(1), to: old }]);
}

#[test]
fn a_file_whose_replacement_was_not_seen_is_followed_no_longer() {
    let mut post = TrackerFixture::new();
    post.seats.retain(|_, stands| stands == file(7));
    post.saved("a.tmp", "a.md", 3);
    assert_eq!(post.certain(), []);
}
