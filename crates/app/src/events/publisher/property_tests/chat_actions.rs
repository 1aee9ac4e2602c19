//! The same where messages are queued and changed, other versions are shown and turns are summarized.

use protocol::Compaction;
use store::RemovedMessage;

use super::*;

/// An action of the user, or a turn.
#[derive(Debug, Clone)]
enum ActionCase {
    Turn(TurnCase),
    /// A version of a message of the shown ones, counted from the last, is answered.
    Edit(usize, TurnCase),
    /// The same, but the message is removed before it is answered.
    Retract(usize),
    /// A version of the first message that has several is shown.
    Show(u32),
    /// Two messages are queued; one is changed, then both are removed.
    Queue,
    /// The turns up to one of the shown ones are summarized, counted from the last.
    Summarize(usize),
}

fn any_action() -> impl Strategy<Value = ActionCase> {
    prop_oneof![
        2 => any_turn().prop_map(ActionCase::Turn),
        2 => (0_usize..3, any_turn()).prop_map(|(back, turn)| ActionCase::Edit(back, turn)),
        1 => (0_usize..3).prop_map(ActionCase::Retract),
        2 => (1_u32..4).prop_map(ActionCase::Show),
        1 => Just(ActionCase::Queue),
        2 => (0_usize..3).prop_map(ActionCase::Summarize),
    ]
}

impl ObservedChat {
    async fn act(&mut self, number: usize, action: &ActionCase) {
        match action {
            ActionCase::Turn(turn) => self.play(number, turn).await,
            ActionCase::Edit(back, case) => {
                let Some(old) = self.turn_from_last(*back).await else { return };
                self.send(number, false, Some(&old)).await;
                let turn = self.begin_queued().await;
                self.play_turn(turn, case).await;
            }
            ActionCase::Retract(back) => {
                let Some(old) = self.turn_from_last(*back).await else { return };
                self.send(number, false, Some(&old)).await;
                self.remove(&format!("t{number}-asks").into()).await;
            }
            ActionCase::Show(wanted) => self.show(*wanted).await,
            ActionCase::Queue => self.queue(number).await,
            ActionCase::Summarize(back) => self.summarize(*back).await,
        }
    }

    /// A turn of the shown version that has ended, counted from the last.
    async fn turn_from_last(&self, back: usize) -> Option<TurnId> {
        let last = self.store.last_shown_turn(&conversation()).await.expect("read")?;
        let mut opened = self.shown.iter().rev().filter_map(|item| match item {
            ChatItem::User { id, .. } => id.as_str().strip_suffix("-asks").map(TurnId::from),
            _ => None,
        });
        Some(opened.nth(back).unwrap_or(last.turn))
    }

    async fn replace(&mut self, part: ChatPart) {
        self.publisher.on_chat_replaced(conversation(), part).await.expect("told");
        self.check().await;
    }

    async fn remove(&mut self, message: &MessageId) {
        let removed = self.store.remove_queued(message).await.expect("removed");
        let RemovedMessage { shown_again, .. } = removed.expect("it was queued");
        self.replace(shown_again.map_or(ChatPart::Queue, ChatPart::Since)).await;
    }

    async fn show(&mut self, wanted: u32) {
        let Some(version) = self.variants.first().cloned() else { return };
        let number = 1 + wanted % version.count;
        let shown = self.store.show_variant(&version.message, number).await.expect("shown");
        self.replace(ChatPart::Since(shown.message)).await;
    }

    async fn queue(&mut self, number: usize) {
        // Their numbers are of no other turn.
        let [first, second] = [1_000 + number, 2_000 + number];
        self.send(first, false, None).await;
        self.send(second, false, None).await;
        let queued = [first, second].map(|number| MessageId::from(format!("t{number}-asks")));
        let [first, second] = &queued;
        self.store.edit_queued(second, "Please, please.").await.expect("changed");
        self.replace(ChatPart::Queue).await;
        self.remove(first).await;
        self.remove(second).await;
    }

    async fn summarize(&mut self, back: usize) {
        let last = self.store.last_shown_turn(&conversation()).await.expect("read");
        let Some(turn) = last else { return };
        let until = self.turn_from_last(back).await.unwrap_or_else(|| turn.turn.clone());
        let new = Compaction { until, text: "They talked.".into(), summary: None };
        let stored = self.store.store_compaction(&turn.turn, &new, "", None, Timestamp(3)).await;
        stored.expect("stored");
        self.tell(&turn, TurnEvent::Summarized).await;
        self.check().await;
    }
}

async fn chat() -> (ObservedChat, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("vault.db")).await.expect("a store");
    (ObservedChat::begin(store).await, folder)
}

fn answered() -> TurnCase {
    TurnCase { answers: false, steps: Vec::new(), end: EndCase::Answer }
}

async fn act_all(actions: Vec<ActionCase>) {
    let (mut chat, _folder) = chat().await;
    for (number, action) in actions.iter().enumerate() {
        chat.act(number, action).await;
        assert_eq!(chat.fetched, chat.unplaced, "{action:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_items_of_events_are_those_of_the_rows_whatever_the_user_does(
        actions in prop::collection::vec(any_action(), 1..8),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(act_all(actions));
    }
}

#[tokio::test]
async fn another_version_is_told_without_a_fetch_and_only_by_its_items() {
    let (mut chat, _folder) = chat().await;
    chat.act(0, &ActionCase::Turn(answered())).await;
    chat.act(1, &ActionCase::Turn(answered())).await;
    chat.act(2, &ActionCase::Edit(0, answered())).await;
    // The control: the event tells what the window could not know.
    let before = chat.shown.clone();
    chat.store.show_variant(&"t2-asks".into(), 1).await.expect("shown");
    assert_ne!(chat.stored().await.0, before);
    chat.replace(ChatPart::Since("t1-asks".into())).await;
    assert_eq!(chat.fetched, 0);
    let shown: Vec<_> = chat.shown.iter().map(ChatItem::key).collect();
    assert_eq!(shown.len(), 4, "{shown:?}");
}

#[tokio::test]
async fn a_part_that_is_not_in_the_chat_is_fetched() {
    let (mut chat, _folder) = chat().await;
    chat.act(0, &ActionCase::Turn(answered())).await;
    for (fetched, part) in [
        (0, ChatPart::Since("t0-asks".into())),
        (0, ChatPart::SinceTurn("t0".into())),
        (1, ChatPart::Since("nobody".into())),
        (2, ChatPart::SinceTurn("nobody".into())),
        (3, ChatPart::SinceSummary),
        (4, ChatPart::Unknown),
    ] {
        chat.replace(part.clone()).await;
        assert_eq!(chat.fetched, fetched, "{part:?}");
    }
}
