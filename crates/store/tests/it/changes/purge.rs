//! Earlier versions go when they are old and many, or when the user wants it; nothing else does.

use protocol::changes::history::{AppliedBy, UndoScope};
use protocol::{
    Change, ChangeSet, ContentHash, EffectId, IntentState, LineCounts, SettledIntent, Timestamp,
};
use sqlx::{ConnectOptions, SqliteConnection};
use store::{ChangeSetDecision, PurgeBatch, PurgeStats, RetentionPolicy, Store, UserChangeSet};

use crate::changes::ledger::intent;
use crate::test_conversation::{TestConversation, conversation_id, edit, path, poll_once};

/// Everything that was needed before a time, however little it is.
fn before(since: i64) -> RetentionPolicy {
    RetentionPolicy { since: Timestamp(since), bytes: 0 }
}

/// A change of `a.md` at a time, in a set of its own.
async fn changed(
    conversation: &TestConversation,
    effect: &str,
    from: &str,
    to: &str,
    at: i64,
    how: IntentState,
) {
    let mut made = intent(effect, effect, edit("a.md", from, to));
    (made.change_set, made.turn) =
        (format!("set-{effect}").into(), format!("turn-{effect}").into());
    conversation.store.record_intents(&[made], Timestamp(at)).await.expect("stored");
    let ended = SettledIntent { effect: effect.into(), state: how, file: None };
    conversation.store.record_outcomes(&[ended]).await.expect("settled");
}

async fn done(conversation: &TestConversation, effect: &str, from: &str, to: &str, at: i64) {
    changed(conversation, effect, from, to, at, IntentState::Done).await;
}

/// As the application does it, with a line added and two removed everywhere.
async fn purge(store: &Store, policy: RetentionPolicy) -> PurgeStats {
    let mut all = PurgeStats::default();
    for part in store.purgeable(policy).await.expect("looked") {
        let gone = store.purge_contents(&part, &counts(&part)).await.expect("purged");
        all.changes += gone.changes;
        all.bytes += gone.bytes;
    }
    all
}

fn counts(part: &PurgeBatch) -> Vec<(EffectId, LineCounts)> {
    let uncounted = part.effects().iter().filter(|one| one.uncounted);
    uncounted.map(|one| (one.effect.clone(), LineCounts { added: 1, removed: 2 })).collect()
}

async fn is_kept(store: &Store, text: &str) -> bool {
    let hash = ContentHash::of(text.as_bytes());
    store.contents(std::slice::from_ref(&hash)).await.expect("read").contains_key(&hash)
}

async fn kept_of(store: &Store, texts: &[&str]) -> Vec<bool> {
    let mut kept = Vec::new();
    for text in texts {
        kept.push(is_kept(store, text).await);
    }
    kept
}

/// Whether every row names only what is there, and the database is sound.
async fn is_sound(conversation: &TestConversation) -> bool {
    let mut db = raw(conversation).await;
    let broken = sqlx::query("PRAGMA foreign_key_check").fetch_all(&mut db).await.expect("checked");
    let sound: String =
        sqlx::query_scalar("PRAGMA integrity_check").fetch_one(&mut db).await.expect("checked");
    broken.is_empty() && sound == "ok"
}

async fn raw(conversation: &TestConversation) -> SqliteConnection {
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(conversation.file());
    options.foreign_keys(false).connect().await.expect("a connection")
}

#[tokio::test]
async fn what_is_old_goes_beyond_the_limit_and_its_change_keeps_its_row() {
    let story = TestConversation::begin().await;
    done(&story, "e1", "one", "two", 10).await;
    done(&story, "e2", "two", "three", 20).await;
    let roomy = RetentionPolicy { since: Timestamp(100), bytes: 1 << 30 };
    assert_eq!(purge(&story.store, roomy).await, PurgeStats::default(), "there is room for all");
    let gone = purge(&story.store, before(20)).await;
    assert_eq!((gone.changes, gone.bytes > 0), (1, true));
    assert_eq!(kept_of(&story.store, &["one", "two", "three"]).await, [false, true, true]);
    assert_eq!(purge(&story.store, before(20)).await, PurgeStats::default(), "once is enough");

    let past = story.store.effects_since(&"e1".into()).await.expect("read");
    let [first, second] = past.as_slice() else { panic!("{past:?}") };
    assert_eq!((&first.path, first.at), (&path("a.md"), Some(Timestamp(10))));
    assert_eq!(first.purged, Some(LineCounts { added: 1, removed: 2 }));
    assert_eq!((first.before.is_none(), first.after.is_some()), (true, true));
    assert_eq!((second.purged, second.before.is_some()), (None, true));
    let gone = purge(&story.store, before(21)).await;
    assert_eq!(gone.changes, 1, "the first was counted before");
    assert_eq!(kept_of(&story.store, &["two", "three"]).await, [false, false]);
    assert!(is_sound(&story).await);
}

#[tokio::test]
async fn what_is_under_way_parked_waiting_or_asked_about_stays_at_any_age() {
    let story = TestConversation::begin().await;
    story.says("t1", "Do it", 1).await;
    story.begins().await;
    changed(&story, "e1", "parked", "parked too", 1, IntentState::Parked).await;
    changed(&story, "e2", "open", "open too", 1, IntentState::Open).await;
    let planned: ChangeSet = [edit("b.md", "plan", "planned")].into_iter().collect();
    let (set, turn, call) = ("s".into(), "t1".into(), "c1".into());
    let store = &story.store;
    store
        .add_planned_changes(&conversation_id(), &set, &planned, &turn, &call, Timestamp(1))
        .await
        .expect("ok");
    let mut asked = intent("e3", "c2", edit("c.md", "before the question", "after it"));
    asked.change_set = "set-e3".into();
    store.record_intents(&[asked], Timestamp(1)).await.expect("stored");
    let ended = SettledIntent { effect: "e3".into(), state: IntentState::Done, file: None };
    store.record_outcomes(&[ended]).await.expect("settled");
    story.asks("t1", "Which one?", 2).await;
    done(&story, "e4", "old", "older", 1).await;

    assert_eq!(purge(store, before(i64::MAX)).await.changes, 1);
    let held = ["parked", "parked too", "open", "open too", "plan", "planned"];
    assert_eq!(kept_of(store, &held).await, [true; 6]);
    assert_eq!(kept_of(store, &["before the question", "after it"]).await, [true; 2]);
    assert_eq!(kept_of(store, &["old", "older"]).await, [false; 2]);
    assert_eq!(store.open_intents().await.expect("read").len(), 1);
    let waits = store.open_change_set(&conversation_id()).await.expect("read").expect("one waits");
    assert_eq!(waits.planned[0].change, edit("b.md", "plan", "planned"));

    // Once it is answered and decided, nothing holds it any more.
    let decision =
        ChangeSetDecision { rejected: vec![path("b.md")], ..ChangeSetDecision::default() };
    store.decide(&set, &decision, Timestamp(3)).await.expect("decided");
    let answer = crate::test_conversation::answer("t2", "t1", "The first", 4);
    store.submit_turn(&answer).await.expect("answered");
    purge(store, before(i64::MAX)).await;
    assert_eq!(kept_of(store, &["plan", "planned", "before the question"]).await, [false; 3]);
    assert_eq!(kept_of(store, &["parked", "open"]).await, [true; 2]);
    assert!(is_sound(&story).await);
}

#[tokio::test]
async fn recently_undone_or_overwritten_changes_count_as_recent() {
    let story = TestConversation::begin().await;
    let store = &story.store;
    done(&story, "e1", "one", "two", 1).await;
    done(&story, "e2", "three", "four", 1).await;
    done(&story, "e3", "five", "six", 1).await;
    let undoings = [(path("a.md"), "e1".into(), None)];
    let (id, call, turn) = (&"set-u".into(), &"u".into(), &"turn-e1".into());
    let (by, at) = (AppliedBy::Undo, Timestamp(50));
    let own = UserChangeSet { id, call, by, reverts: &undoings, moved: &[], turn, at };
    store.begin_user_change_set(&own).await.expect("stored");
    done(&story, "u", "two and more", "one and more", 50).await;
    store.mark_overwritten(&["e2".into()], Timestamp(50)).await.expect("noted");
    purge(store, before(50)).await;
    let texts = ["one", "two", "three", "four", "five", "six"];
    assert_eq!(kept_of(store, &texts).await, [true, true, true, true, false, false]);
    purge(store, before(51)).await;
    assert_eq!(kept_of(store, &texts).await, [false; 6]);
}

#[tokio::test]
async fn what_is_needed_again_meanwhile_stays() {
    let story = TestConversation::begin().await;
    done(&story, "e1", "one", "two", 1).await;
    let parts = story.store.purgeable(before(10)).await.expect("looked");
    done(&story, "e2", "three", "one", 5).await;
    for part in &parts {
        story.store.purge_contents(part, &counts(part)).await.expect("purged");
    }
    assert_eq!(kept_of(&story.store, &["one", "two", "three"]).await, [true, false, true]);
    assert!(is_sound(&story).await);
}

#[tokio::test]
async fn what_is_cut_between_two_commits_has_lost_nothing_but_the_first_ones() {
    let story = TestConversation::begin().await;
    for n in 0..400_i64 {
        done(&story, &format!("e{n}"), &format!("text {n}"), &format!("text {}", n + 1), n).await;
    }
    let parts = story.store.purgeable(before(i64::MAX)).await.expect("looked");
    let [first, second] = parts.as_slice() else { panic!("{} parts", parts.len()) };
    story.store.purge_contents(first, &counts(first)).await.expect("purged");
    // The second is dropped in the middle.
    let store = story.store.clone();
    let cut = counts(second);
    let mut dropped = Box::pin(store.purge_contents(second, &cut));
    for _ in 0..3 {
        let polled = poll_once(dropped.as_mut()).await;
        assert!(polled.is_none(), "it is not done so soon");
    }
    drop(dropped);

    let story = story.restart().await;
    assert!(is_sound(&story).await);
    let all = story.store.effects_since(&"e0".into()).await.expect("read");
    assert_eq!(all.len(), 400, "every change is listed");
    let (lost, whole): (Vec<_>, Vec<_>) = all.iter().partition(|one| one.purged.is_some());
    assert_eq!((lost.len(), whole.len()), (256, 144), "a commit is all or nothing");
    for effect in whole {
        let hashes = [effect.before.clone(), effect.after.clone()].map(|hash| hash.expect("named"));
        assert_eq!(story.store.contents(&hashes).await.expect("read").len(), 2);
    }
    assert_eq!(purge(&story.store, before(i64::MAX)).await.changes, 144, "it goes on after that");
}

#[tokio::test]
async fn it_is_known_how_much_is_kept_and_what_would_be_lost() {
    let story = TestConversation::begin().await;
    let times = [Timestamp(11), Timestamp(21), Timestamp(i64::MAX)];
    let kept = story.store.retention_stats(&times).await.expect("read");
    assert_eq!((kept.bytes, kept.since, kept.affected), (0, None, vec![0, 0, 0]));
    done(&story, "e1", "one", "two", 10).await;
    done(&story, "e2", "two", "three", 20).await;
    // It restores the text that the first had changed, so both contents of that are needed again.
    done(&story, "e3", "two", "one", 30).await;
    changed(&story, "e4", "parked", "parked too", 1, IntentState::Parked).await;
    let kept = story.store.retention_stats(&times).await.expect("read");
    assert_eq!((kept.since, kept.affected), (Some(Timestamp(10)), vec![0, 1, 3]));
    assert!(kept.bytes > 0);
    let gone = purge(&story.store, before(21)).await;
    assert_eq!(gone.changes, 1);
    let left = story.store.retention_stats(&times).await.expect("read");
    assert_eq!((left.since, left.affected), (Some(Timestamp(10)), vec![0, 0, 2]));
    assert_eq!(left.bytes, kept.bytes - gone.bytes);
}

/// Bytes that no packing makes smaller, different for each seed.
fn noise(seed: u64, length: usize) -> Vec<u8> {
    let mut state = seed;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        // Letters only: it stands for a text.
        b'a' + u8::try_from((state >> 33) % 26).expect("small")
    };
    (0..length).map(|_| byte()).collect()
}

/// Where the needle stands in the files of the database.
fn found(conversation: &TestConversation, needle: &[u8]) -> Vec<String> {
    let holds = |bytes: &[u8]| bytes.windows(needle.len()).any(|window| window == needle);
    let files = conversation.files();
    files.into_iter().filter(|(_, bytes)| holds(bytes)).map(|(name, _)| name).collect()
}

/// Three old texts, small, medium and large, among recent ones. Of each, a few places as they are
/// packed: one of them may be cut by the end of a page.
async fn with_secrets(conversation: &TestConversation) -> Vec<Vec<Vec<u8>>> {
    let mut needles = Vec::new();
    for (n, length) in [(1, 60), (2, 3_000), (3, 200_000)] {
        let secret = noise(n, length);
        let effect = format!("old-{n}");
        let change = Change::create(path(&format!("{n}.md")), secret.clone());
        let mut made = intent(&effect, &effect, change);
        made.change_set = effect.as_str().into();
        conversation.store.record_intents(&[made], Timestamp(1)).await.expect("stored");
        let ended = SettledIntent { effect: effect.into(), state: IntentState::Done, file: None };
        conversation.store.record_outcomes(&[ended]).await.expect("settled");
        done(
            conversation,
            &format!("young-{n}"),
            &format!("young {n}"),
            &format!("younger {n}"),
            90,
        )
        .await;
        let hash = ContentHash::of(&secret);
        let packed: Vec<u8> = sqlx::query_scalar("SELECT packed FROM image WHERE hash = ?")
            .bind(hash.as_str())
            .fetch_one(&mut raw(conversation).await)
            .await
            .expect("it is there");
        let places = packed.chunks_exact(packed.len() / 3);
        let start = |place: &[u8]| place.iter().copied().take(16).collect();
        needles.push(places.map(start).collect());
    }
    needles
}

#[tokio::test]
async fn purged_contents_are_in_no_file() {
    let story = TestConversation::begin().await;
    let needles = with_secrets(&story).await;
    for places in &needles {
        let any = places.iter().any(|needle| !found(&story, needle).is_empty());
        assert!(any, "the control: it is found before");
    }
    let gone = purge(&story.store, before(50)).await;
    assert_eq!(gone.changes, 3);
    story.store.vacuum().await.expect("rewritten");
    for needle in needles.iter().flatten() {
        assert_eq!(found(&story, needle), Vec::<String>::new());
    }
    assert_eq!(kept_of(&story.store, &["young 1", "younger 3"]).await, [true, true]);
    done(&story, "e9", "goes", "on", 91).await;
    let story = story.restart().await;
    assert!(is_sound(&story).await);
    let scope = UndoScope::ChangeSet { change_set: "old-1".into() };
    let left = story.store.effects_in_scope(&scope).await.expect("read");
    assert!(left[0].purged.is_some(), "the change is listed still");
}

#[tokio::test]
async fn what_is_only_deleted_is_found_in_the_file() {
    let story = TestConversation::begin().await;
    let needles = with_secrets(&story).await;
    let mut db = raw(&story).await;
    sqlx::query("PRAGMA secure_delete = OFF").execute(&mut db).await.expect("off");
    sqlx::query("DELETE FROM image").execute(&mut db).await.expect("deleted");
    sqlx::query("PRAGMA wal_checkpoint(TRUNCATE)").execute(&mut db).await.expect("folded");
    let mut needles = needles.iter().flatten();
    assert!(needles.any(|needle| found(&story, needle) == ["vault.db"]), "the control");
}
