//! Which file took the place of which, as far as a change is followed from it.

use protocol::{Change, FileId, FileReplacement, IntentState, SettledIntent, Timestamp};

use crate::changes::ledger::intent;
use crate::test_conversation::{TestConversation, path};

/// A file that was made so many milliseconds after 1970.
fn file(born: i64) -> FileId {
    FileId { inode: born.unsigned_abs(), born: Some(born * 1_000_000) }
}

async fn is_replaced(story: &TestConversation, from: FileId, to: FileId) {
    story.store.add_successions(&[FileReplacement { from, to }]).await.expect("stored");
}

async fn successions(story: &TestConversation) -> Vec<(FileId, FileId)> {
    let all = story.store.successions().await.expect("read");
    let mut all: Vec<_> = all.into_iter().map(|one| (one.from, one.to)).collect();
    all.sort();
    all
}

/// A move at this time left a note in that file.
async fn moved(story: &TestConversation, left: FileId, at: Timestamp) {
    let change = Change::rename(path("a.md"), path("b.md"));
    story.store.record_intents(&[intent("e1", "c1", change)], at).await.expect("stored");
    let done = SettledIntent { effect: "e1".into(), state: IntentState::Done, file: Some(left) };
    story.store.record_outcomes(&[done]).await.expect("settled");
}

#[tokio::test]
async fn note_is_followed_from_the_file_in_which_a_move_left_it() {
    let story = TestConversation::begin().await;
    let (first, second, third) = (file(1_000_000), file(2_000_000), file(3_000_000));
    is_replaced(&story, first, second).await;
    moved(&story, second, Timestamp(2_000_001)).await;
    is_replaced(&story, second, third).await;
    assert_eq!(successions(&story).await, [(first, third), (second, third)]);
    let fourth = file(4_000_000);
    is_replaced(&story, third, fourth).await;
    assert_eq!(successions(&story).await, [(first, fourth), (second, fourth)]);
}

#[tokio::test]
async fn file_that_no_change_left_takes_no_row_between_two_others() {
    let story = TestConversation::begin().await;
    let (first, second, third) = (file(1_000_000), file(2_000_000), file(3_000_000));
    moved(&story, first, Timestamp(1_000_001)).await;
    is_replaced(&story, first, second).await;
    is_replaced(&story, second, third).await;
    assert_eq!(successions(&story).await, [(first, third)]);
}
