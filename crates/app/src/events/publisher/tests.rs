//! The events of a turn for the window, and their order.

use std::sync::{Arc, Mutex};

use protocol::{MessageId, MessagePart, NewTurn, Origin, Role, Timestamp};

use super::*;

async fn with_a_queued_turn(store: &Store) -> OpenTurn {
    let (conversation, turn) = (ConversationId::from("c"), TurnId::from("t"));
    store.create_conversation(&conversation, "c", None, Timestamp(0)).await.expect("begun");
    let message = Message {
        id: MessageId::from("m"),
        conversation,
        turn: turn.clone(),
        role: Role::User,
        parts: vec![MessagePart::Text { text: "words".into() }],
        at: Timestamp(1),
    };
    let new = NewTurn { turn, message, origin: Origin::Window, answers: None, shown: Vec::new() };
    store.submit_turn(&new).await.expect("stored");
    store.open_turns().await.expect("read").pop().expect("a turn")
}

async fn events_of(store: &Store, news: Vec<DomainEvent>) -> Vec<AppEvent> {
    let (feed, heard) = (Feed::default(), Arc::new(Mutex::new(Vec::new())));
    let sink = Arc::clone(&heard);
    feed.subscribe(Box::new(move |batch| {
        sink.lock().expect("not poisoned").extend(batch);
        true
    }));
    let ((sender, receiver), (ended, _)) = (mpsc::unbounded_channel(), mpsc::unbounded_channel());
    news.into_iter().for_each(|news| sender.send(news).expect("it is heard"));
    drop(sender);
    EventPublisher::new(store.clone(), feed.clone(), ContextUses::default(), BTreeSet::new())
        .run(receiver, ended)
        .await;
    feed.flush();
    let heard = std::mem::take(&mut *heard.lock().expect("not poisoned"));
    heard.into_iter().map(|numbered| numbered.event).collect()
}

/// Whether the message was queued, each time that it was told.
async fn told(store: &Store, news: Vec<DomainEvent>) -> Vec<bool> {
    let events = events_of(store, news).await;
    let queued = events.iter().filter_map(|event| match event {
        AppEvent::ItemChanged { item: ChatItem::User { queued, .. }, .. } => Some(*queued),
        _ => None,
    });
    queued.collect()
}

#[tokio::test]
async fn a_turn_that_began_before_its_message_was_told_is_not_told_as_queued() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("vault.db")).await.expect("a store");
    let turn = with_a_queued_turn(&store).await;
    let sent = || DomainEvent::Sent { turn: turn.clone(), question: None, replaced: None };
    assert_eq!(told(&store, vec![sent()]).await, [true], "the control: it is queued");
    store.begin_turn(&turn.conversation).await.expect("begun");
    let began = DomainEvent::Turn(turn.clone(), TurnEvent::Began);
    assert_eq!(told(&store, vec![began, sent()]).await, [false, false]);
}

#[tokio::test]
async fn a_window_fetches_again_where_what_happened_cannot_be_read() {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("vault.db")).await.expect("a store");
    let turn = with_a_queued_turn(&store).await;
    let conversation = turn.conversation.clone();
    let outdated = AppEvent::ChatChanged { conversation: conversation.clone() };
    let began = || vec![DomainEvent::Turn(turn.clone(), TurnEvent::Began)];
    let decided = || vec![DomainEvent::Decided(conversation.clone())];
    for news in [began(), decided()] {
        let events = events_of(&store, news).await;
        assert!(!events.contains(&outdated), "the control: all of it is read: {events:?}");
    }
    store.clone().close().await;
    for news in [began(), decided()] {
        assert_eq!(events_of(&store, news).await, std::slice::from_ref(&outdated));
    }
    let purged = vec![DomainEvent::Purged(vec!["e".into()])];
    assert_eq!(events_of(&store, purged).await, [AppEvent::HistoryChanged]);
}
