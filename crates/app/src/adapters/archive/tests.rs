//! What a model finds among ended conversations of which some are withheld from it.

use super::*;
use crate::adapters::stored_conversations::StoredConversations;

fn ids(found: Vec<ArchivedConversation>) -> String {
    let ids: Vec<String> = found.into_iter().map(|one| one.id.to_string()).collect();
    ids.join(", ")
}

#[tokio::test]
async fn a_hidden_conversation_that_matches_takes_no_place_of_one_that_is_shown() {
    let stored = StoredConversations::new().await;
    let private = Some("Diary/a.md");
    // Oldest first.
    for (conversation, note, answer) in [
        ("first", None, "Milk is there."),
        ("other", None, "Bread is there."),
        ("hidden 1", private, "Milk makes Ann ill."),
        ("second", None, "No milk is there."),
        ("hidden 2", private, "Ann drinks milk."),
        ("hidden 3", private, "Ann buys milk."),
        ("hidden 4", private, "Ann sells milk."),
    ] {
        stored.end_with(conversation, note, answer).await;
    }
    let archive =
        StoreArchive { store: stored.store.clone(), privacy_guard: stored.guard(&["Diary"]) };
    let found = async |limit| ids(archive.search("milk", limit).await.expect("found").found);
    for (limit, expected) in [(0, ""), (1, "second"), (2, "second, first"), (9, "second, first")] {
        assert_eq!(found(limit).await, expected, "{limit}");
    }
    // The control: a list without a query names them, and tells nothing of what is in them.
    let recent = archive.recent(4).await.expect("listed");
    assert!(recent.iter().all(|one| !one.summary.contains("Ann")), "{recent:?}");
    assert_eq!(ids(recent), "hidden 4, hidden 3, hidden 2, second");
    archive.privacy_guard.set_rules(protocol::PrivateRules::default());
    assert_eq!(found(2).await, "hidden 4, hidden 3", "the control: nothing is private");
}

#[tokio::test]
async fn where_something_is_hidden_a_search_is_of_the_newest_conversations_and_says_so() {
    let stored = StoredConversations::new().await;
    // Oldest first.
    for (conversation, note, answer) in [
        ("first", None, "Milk is there."),
        ("hidden", Some("Diary/a.md"), "Milk makes Ann ill."),
        ("second", None, "No milk is there."),
        ("other", None, "Bread is there."),
    ] {
        stored.end_with(conversation, note, answer).await;
    }
    let archive =
        StoreArchive { store: stored.store.clone(), privacy_guard: stored.guard(&["Diary"]) };
    let found = async |limit, newest| {
        let search = archive.search_newest("milk", limit, newest).await.expect("found");
        (ids(search.found), search.searched_newest)
    };
    for (limit, newest, expected, searched_newest) in [
        (9, 1, "", Some(1)),
        (9, 2, "second", Some(2)),
        (9, 3, "second", Some(3)),
        (9, 4, "second, first", None),
        (1, 2, "second", None),
        (2, 3, "second", Some(3)),
        (2, 4, "second, first", None),
    ] {
        let case = format!("{limit} of {newest}");
        assert_eq!(found(limit, newest).await, (expected.to_owned(), searched_newest), "{case}");
    }
    archive.privacy_guard.set_rules(protocol::PrivateRules::default());
    let all = "second, hidden, first".to_owned();
    assert_eq!(found(9, 1).await, (all, None), "the control: nothing is private");
}
