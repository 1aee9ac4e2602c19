//! Searching the messages and changes of conversations.

use std::time::{Duration, Instant};

use protocol::chat::conversation_list::{ArchiveState, ConversationHit, HitLocation, HitSource};
use protocol::{MessageId, Timestamp, ToolEvent, TurnStatus};
use serde_json::json;

use crate::test_conversation::{
    TestConversation, answered, conversation_id, ending, new_turn, path, question_of, result, said,
};

async fn found(conversation: &TestConversation, query: &str) -> Vec<ConversationHit> {
    conversation.store.search_conversations(query, 20).await.expect("searched").found
}

async fn places(conversation: &TestConversation, query: &str) -> Vec<(HitSource, HitLocation)> {
    found(conversation, query).await.into_iter().map(|one| (one.by, one.place)).collect()
}

fn item(turn: &str, id: &str) -> HitLocation {
    HitLocation::Item { turn: turn.into(), id: id.into() }
}

#[tokio::test]
async fn words_are_found_where_they_stand_newest_first_with_their_marks() {
    let story = TestConversation::begin().await;
    story.says("t1", "Is there any Crème brûlée?", 1).await;
    story.begins().await;
    story.ends("t1", &answered("t1", "One creme brulee, in the fridge.", 2)).await;
    let all = found(&story, "CREME bru").await;
    let places: Vec<_> = all.iter().map(|one| (one.by, one.place.clone())).collect();
    assert_eq!(
        places,
        [(HitSource::Assistant, item("t1", "t1-end")), (HitSource::User, item("t1", "t1-asks"))]
    );
    let first = all.last().expect("two");
    assert_eq!((first.title.as_str(), first.archive_state), ("Words", ArchiveState::Open));
    assert_eq!(first.text, "Is there any Crème brûlée?");
    assert_eq!(first.marks, [(13, 18), (19, 25)]);
    assert_eq!(found(&story, "creme cake").await, []);
    // The context block was not said.
    assert_eq!(found(&story, "Saturday").await, []);
}

#[tokio::test]
async fn what_a_call_said_asked_or_changed_is_found_once_it_was_done() {
    let story = TestConversation::begin().await;
    story.says("t1", "Hello", 1).await;
    story.begins().await;
    let calls = [
        ("say", "send_message", json!({ "message": "The attic, then." })),
        ("put", "append_file", json!({ "path": "Shop.md", "text": "- turmeric" })),
        ("bad", "append_file", json!({ "path": "Shop.md", "text": "- arsenic" })),
        ("look", "read_file", json!({ "path": "Attic.md" })),
    ];
    story.steps("t1", "m1", &calls).await;
    assert_eq!(found(&story, "attic").await, [], "nothing was delivered yet");
    let path = path("Shop.md");
    let changed = ToolEvent::Changed { path, created: false, added: 1, removed: 0, waiting: false };
    let mut put = result("put", "Added.");
    put.reactions = vec![changed];
    let mut bad = result("bad", "Refused.");
    bad.is_error = true;
    let results = [said("say", "The attic, then."), put, bad, result("look", "Spiders.")];
    story.store.store_results(&"t1".into(), &results).await.expect("stored");
    let said: MessageId = store::chat_view::sent_message_id(&"t1".into(), &"say".into());
    assert_eq!(places(&story, "attic").await, [(HitSource::Assistant, item("t1", said.as_str()))]);
    let call = HitLocation::Call { turn: "t1".into(), call: "put".into() };
    assert_eq!(places(&story, "turmeric").await, [(HitSource::Change, call.clone())]);
    assert_eq!(places(&story, "shop").await, [(HitSource::Change, call)]);
    assert_eq!(found(&story, "arsenic").await, []);
    story.asks("t1", "Which spider?", 3).await;
    let question = question_of("t1");
    assert_eq!(
        places(&story, "which spider").await,
        [(HitSource::Assistant, item("t1", question.as_str()))]
    );
}

#[tokio::test]
async fn words_follow_what_is_reworded_removed_and_renamed() {
    let story = TestConversation::begin().await;
    story.says("t1", "Hello", 1).await;
    story.begins().await;
    story.says("t2", "Buy quinces", 2).await;
    let queued = MessageId::from("t2-asks");
    story.store.edit_queued(&queued, "Buy medlars").await.expect("reworded");
    assert_eq!(
        (found(&story, "quinces").await.len(), found(&story, "medlars").await.len()),
        (0, 1)
    );
    story.store.remove_queued(&queued).await.expect("removed");
    assert_eq!(found(&story, "medlars").await, []);
    assert_eq!(places(&story, "words").await, [(HitSource::Name, HitLocation::Whole)]);
    story.store.rename(&conversation_id(), "Fruit").await.expect("renamed");
    assert_eq!(found(&story, "words").await, []);
    assert_eq!(places(&story, "fruit").await, [(HitSource::Name, HitLocation::Whole)]);
    story.says("t3", "More fruit", 3).await;
    let all = places(&story, "fruit").await;
    assert_eq!(all, [(HitSource::User, item("t3", "t3-asks"))], "a name counts for want of words");
}

#[tokio::test]
async fn a_search_is_cut_and_says_so_and_knows_no_unlisted_conversation() {
    let story = TestConversation::begin().await;
    for at in 0..3 {
        story.says(&format!("t{at}"), "milk", at).await;
    }
    let cut = story.store.search_conversations("milk", 2).await.expect("searched");
    assert_eq!((cut.found.len(), cut.more), (2, true));
    let whole = story.store.search_conversations("milk", 3).await.expect("searched");
    assert_eq!((whole.found.len(), whole.more), (3, false));
    story
        .store
        .create_unlisted_conversation(&"ask".into(), "kefir", Timestamp(1))
        .await
        .expect("made");
    let mut new = new_turn("u1", "kefir", 2);
    new.message.conversation = "ask".into();
    story.store.submit_turn(&new).await.expect("stored");
    assert_eq!(found(&story, "kefir").await, []);
}

#[tokio::test]
async fn what_was_found_in_another_branch_is_shown_with_it() {
    let story = TestConversation::begin().await;
    for (turn, words) in [("t1", "One"), ("t2", "Two")] {
        story.says(turn, words, 1).await;
        story.begins().await;
        story.ends(turn, &answered(turn, "Yes.", 2)).await;
    }
    story.store.submit_fork(&new_turn("t3", "Other", 3), &"t2".into()).await.expect("stored");
    story.begins().await;
    story.ends("t3", &ending(TurnStatus::Cancelled, 4)).await;
    let shown = async || -> Vec<String> {
        let items = story.items().await;
        let words = items.into_iter().filter_map(|item| match item {
            protocol::chat::conversation::ChatItem::User { text, .. } => Some(text),
            _ => None,
        });
        words.collect()
    };
    assert_eq!(shown().await, ["One", "Other"]);
    let show = async |turn: &str| {
        story.store.show_turn(&conversation_id(), &turn.into()).await.expect("shown");
    };
    show("t1").await;
    assert_eq!(shown().await, ["One", "Other"], "it is heard there already");
    show("t2").await;
    assert_eq!(shown().await, ["One", "Two"]);
    show("nowhere").await;
    assert_eq!(shown().await, ["One", "Two"]);
    show("t3").await;
    assert_eq!(shown().await, ["One", "Other"]);
}

#[tokio::test]
async fn a_word_of_a_script_without_spaces_is_found_inside_a_run() {
    let story = TestConversation::begin().await;
    story.says("t1", "明日は牛乳とパンを買う", 1).await;
    story.says("t2", "buy 豆腐 and milk", 2).await;
    story.says("t3", "buy milk", 3).await;
    let places = async |query: &str| places(&story, query).await;
    let one = |turn: &str| vec![(HitSource::User, item(turn, &format!("{turn}-asks")))];
    assert_eq!(places("牛乳").await, one("t1"), "in the middle of a run");
    assert_eq!(places("パン 牛乳").await, one("t1"));
    assert_eq!(places("豆腐 milk").await, one("t2"), "with a word of the index");
    assert_eq!(places("豆腐 bread").await, []);
    assert_eq!(places("砂糖").await, []);
    let all = story.store.search_conversations("牛乳", 9).await.expect("searched").found;
    assert_eq!(
        (all[0].text.as_str(), &all[0].marks[..]),
        ("明日は牛乳とパンを買う", &[(3, 5)][..])
    );
    for (turn, at) in [("t1", 4), ("t2", 6)] {
        story.begins().await;
        story.ends(turn, &ending(TurnStatus::Done, at)).await;
    }
    let ended = protocol::ConversationState::Ended;
    story.store.set_state(&conversation_id(), ended).await.expect("ended");
    for (query, count) in [("牛乳 milk", 1), ("砂糖", 0)] {
        let rows = story.store.ended_conversations(9, Some(query)).await.expect("searched");
        assert_eq!(rows.len(), count, "{query}");
    }
}

#[tokio::test]
async fn of_an_ended_conversation_only_the_shown_branch_is_found_and_quoted() {
    let story = TestConversation::begin().await;
    story.says("t1", "One", 1).await;
    story.begins().await;
    story.ends("t1", &answered("t1", "The turmeric 牛乳 answer.", 2)).await;
    story.store.submit_fork(&new_turn("t1b", "Two", 3), &"t1".into()).await.expect("stored");
    story.begins().await;
    story.ends("t1b", &answered("t1b", "The saffron 豆腐 answer.", 4)).await;
    let ended = protocol::ConversationState::Ended;
    story.store.set_state(&conversation_id(), ended).await.expect("ended");
    let found = async |query: Option<&str>| {
        let rows = story.store.ended_conversations(9, query).await.expect("searched");
        rows.into_iter().next().map(|row| row.excerpt)
    };
    for (number, mine, others) in [
        (2, ["saffron", "豆腐"], ["turmeric", "牛乳"]),
        (1, ["turmeric", "牛乳"], ["saffron", "豆腐"]),
    ] {
        let asked = if number == 2 { "t1b-asks" } else { "t1-asks" };
        story.store.show_variant(&"t1b-asks".into(), number).await.expect("shown");
        let excerpt = found(None).await.expect("it has ended");
        assert!(excerpt.contains(mine[0]) && !excerpt.contains(others[0]), "{asked}: {excerpt}");
        for word in mine {
            assert!(found(Some(word)).await.is_some(), "{asked}: {word}");
        }
        for word in others {
            assert_eq!(found(Some(word)).await, None, "{asked}: {word}");
        }
        assert!(found(Some("Words")).await.is_some(), "a name of no branch");
    }
    // A name that a model gave tells of the branch that it was given in.
    let generated = protocol::GeneratedTitle { title: "Curcuma".into(), summary: None };
    let usage = protocol::TokenUsage::default();
    let asked =
        protocol::UtilityRequest { model: "cheap".into(), price: None, usage, at: Timestamp(500) };
    story.store.store_title(&"t1".into(), &generated, &asked).await.expect("named");
    assert!(found(Some("Curcuma")).await.is_some());
    story.store.show_variant(&"t1-asks".into(), 2).await.expect("shown");
    assert_eq!(found(Some("Curcuma")).await, None);
}

/// The marked parts of a hit's text.
fn marked(hit: &ConversationHit) -> Vec<String> {
    let units: Vec<u16> = hit.text.encode_utf16().collect();
    let place = |at: u32| usize::try_from(at).expect("it is small");
    let part = |(from, to): &(u32, u32)| {
        let units = units.get(place(*from)..place(*to)).expect("a part of the text");
        String::from_utf16(units).expect("whole letters")
    };
    hit.marks.iter().map(part).collect()
}

#[tokio::test]
async fn a_long_message_is_shown_around_the_first_match_or_where_more_of_the_query_stands() {
    let story = TestConversation::begin().await;
    let fill = |count: usize| vec!["und"; count].join(" ");
    let text = format!(
        "{} Crème {} brûlées {} crème brûlée {} quince",
        fill(9_000),
        fill(90),
        fill(90),
        fill(90_000)
    );
    story.says("t1", &text, 1).await;
    let hit = async |query: &str| found(&story, query).await.pop().expect("it is found");
    let first = hit("creme ").await;
    assert_eq!(first.text, format!("…{} Crème {}…", fill(11), fill(12)));
    assert_eq!(marked(&first), ["Crème"]);
    let prefix = hit("brul").await;
    assert_eq!(prefix.text, format!("…{} brûlées {}…", fill(11), fill(12)));
    assert_eq!(marked(&prefix), ["brûlées"]);
    let both = hit("BRULEE creme ").await;
    assert_eq!(both.text, format!("…{} crème brûlée {}…", fill(11), fill(11)));
    assert_eq!(marked(&both), ["crème", "brûlée"]);
    let apart = hit("quince creme ").await;
    assert_eq!(marked(&apart), ["Crème"], "the first of two that are far apart");
    let last = hit("quince").await;
    assert_eq!(last.text, format!("…{} quince", fill(23)));
    assert_eq!(marked(&last), ["quince"]);
}

#[tokio::test]
async fn a_search_costs_as_much_as_a_message_has_matches_and_not_their_square() {
    let story = TestConversation::begin().await;
    story.says("t1", &"milk and ".repeat(5_000), 1).await;
    story.says("t2", &"kefir and ".repeat(20_000), 2).await;
    story.says("t3", &"2024-01-01 failed\n".repeat(20_000), 3).await;
    let time = async |query: &str| {
        let mut least = Duration::MAX;
        for _ in 0..3 {
            let begun = Instant::now();
            assert_eq!(found(&story, query).await.len(), 1, "{query}");
            least = least.min(begun.elapsed());
        }
        least
    };
    let (few, many) = (time("milk").await, time("kefir").await);
    assert!(many < few * 8 + Duration::from_millis(100), "{many:?} after {few:?}");
    let log = time("2024-01-01 failed").await;
    assert!(log < Duration::from_secs(2), "{log:?} for a log");
}
