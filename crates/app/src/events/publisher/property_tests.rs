//! Over random turns, after each event: the window has the items that a conversation has when it is opened.

mod chat_actions;

use std::sync::{Arc, Mutex};

use proptest::prelude::*;
use protocol::chat::conversation::MessageVariant;
use protocol::{
    CallId, MessageId, MessagePart, NewTurn, NumberedEvent, Origin, Role, Speech, TokenUsage,
    ToolEvent, TurnStatus, TurnStep,
};
use serde_json::json;

use super::*;

#[derive(Debug, Clone, Copy, PartialEq)]
enum CallCase {
    Read,
    FailedRead,
    Say,
    FailedSay,
    /// Talks, and has nothing to say.
    Resolve,
    Ask,
    End,
}

#[derive(Debug, Clone)]
struct StepCase {
    text: &'static str,
    calls: Vec<CallCase>,
}

/// How a turn ends that no call ends.
#[derive(Debug, Clone, Copy, PartialEq)]
enum EndCase {
    Answer,
    CutAnswer,
    Failure,
    /// The user stops it before the calls of its last step run.
    Stop,
}

#[derive(Debug, Clone)]
struct TurnCase {
    /// Whether its message answers the open question, if there is one.
    answers: bool,
    steps: Vec<StepCase>,
    end: EndCase,
}

fn any_turn() -> impl Strategy<Value = TurnCase> {
    use CallCase::{Ask, End, FailedRead, FailedSay, Read, Resolve, Say};
    let calls = vec![Read, Read, Read, FailedRead, Say, Say, FailedSay, Resolve, Ask, End];
    let calls = prop::collection::vec(prop::sample::select(calls), 1..5);
    let text = prop::sample::select(vec!["", " \n", "Looking."]);
    let step = (text, calls).prop_map(|(text, calls)| StepCase { text, calls });
    let ends = vec![EndCase::Answer, EndCase::CutAnswer, EndCase::Failure, EndCase::Stop];
    let steps = prop::collection::vec(step, 0..3);
    (any::<bool>(), steps, prop::sample::select(ends)).prop_map(|(answers, steps, end)| TurnCase {
        answers,
        steps,
        end,
    })
}

impl CallCase {
    const fn tool(self) -> &'static str {
        match self {
            Self::Read | Self::FailedRead => "read",
            Self::Say | Self::FailedSay | Self::Ask => "say",
            Self::Resolve => "resolve",
            Self::End => "end",
        }
    }

    const fn is_read(self) -> bool {
        matches!(self, Self::Read | Self::FailedRead)
    }

    fn result(self, call: &CallId) -> CallResult {
        let text = format!("words of {call}");
        let reason = Some("done".to_owned());
        let (speech, reactions) = match self {
            Self::Read | Self::FailedRead | Self::FailedSay | Self::Resolve => (None, Vec::new()),
            Self::Say => (Some(Speech::Say { text }), Vec::new()),
            Self::Ask => (Some(Speech::Ask { text, options: Vec::new() }), Vec::new()),
            Self::End => {
                let ended = ToolEvent::ConversationEnded { reason: reason.clone() };
                (Some(Speech::End { reason }), vec![ended])
            }
        };
        let is_error = matches!(self, Self::FailedRead | Self::FailedSay);
        CallResult { is_error, speech, reactions, ..refused(call) }
    }
}

fn refused(call: &CallId) -> CallResult {
    CallResult {
        call: call.clone(),
        output: format!("output of {call}"),
        is_error: true,
        speech: None,
        reactions: Vec::new(),
        seen: Vec::new(),
        sources: Vec::new(),
        whole: None,
    }
}

fn conversation() -> ConversationId {
    ConversationId::from("c")
}

fn talking_tools() -> BTreeSet<String> {
    ["say", "resolve", "end"].map(str::to_owned).into()
}

fn message(turn: &TurnId, name: &str, role: Role, parts: Vec<MessagePart>) -> Message {
    let (id, turn) = (MessageId::from(format!("{turn}-{name}")), turn.clone());
    Message { id, conversation: conversation(), turn, role, parts, at: Timestamp(1) }
}

fn text(text: &str) -> MessagePart {
    MessagePart::Text { text: text.to_owned() }
}

fn ending(status: TurnStatus) -> TurnEnding {
    let error = (status == TurnStatus::Failed).then(|| UserError::other("It failed."));
    TurnEnding {
        status,
        results: Vec::new(),
        message: None,
        cut: false,
        question: None,
        ends_conversation: false,
        error,
        usage: TokenUsage::default(),
        at: Timestamp(2),
    }
}

/// A conversation that is stored and told to a window at once.
struct ObservedChat {
    store: Store,
    publisher: EventPublisher,
    heard: Arc<Mutex<Vec<NumberedEvent>>>,
    ended: mpsc::UnboundedSender<(OpenTurn, TurnEnding)>,
    /// The items of the window.
    shown: Vec<ChatItem>,
    variants: Vec<MessageVariant>,
    /// How often the window fetched the chat.
    fetched: usize,
    /// How often a message was sent whose place in the chat nobody knows.
    unplaced: usize,
}

impl ObservedChat {
    async fn begin(store: Store) -> Self {
        let made = store.create_conversation(&conversation(), "c", None, Timestamp(0)).await;
        made.expect("begun");
        let (feed, heard) = (Feed::default(), Arc::new(Mutex::new(Vec::new())));
        let sink = Arc::clone(&heard);
        feed.subscribe(Box::new(move |batch| {
            sink.lock().expect("not poisoned").extend(batch);
            true
        }));
        let (ended, _) = mpsc::unbounded_channel();
        let uses = ContextUses::default();
        let publisher = EventPublisher::new(store.clone(), feed, uses, talking_tools());
        let (shown, variants) = (Vec::new(), Vec::new());
        Self { store, publisher, heard, ended, shown, variants, fetched: 0, unplaced: 0 }
    }

    /// Gives the window what it was told, and compares it with the rows.
    async fn check(&mut self) {
        for event in self.take_events() {
            self.apply(event).await;
        }
        let (items, variants) = self.stored().await;
        assert_eq!(self.shown, items);
        assert_eq!(self.variants, variants);
    }

    fn take_events(&self) -> Vec<AppEvent> {
        self.publisher.feed.flush();
        let events = std::mem::take(&mut *self.heard.lock().expect("not poisoned"));
        events.into_iter().map(|numbered| numbered.event).collect()
    }

    /// The items and the versions of the conversation as it is opened.
    async fn stored(&self) -> (Vec<ChatItem>, Vec<MessageVariant>) {
        let opened = self.store.open_conversation(&conversation(), &talking_tools()).await;
        let opened = opened.expect("read").expect("it is there");
        (opened.items, opened.variants)
    }

    /// As the window does.
    async fn apply(&mut self, event: AppEvent) {
        match event {
            AppEvent::ItemChanged { item, .. } => {
                match self.shown.iter_mut().find(|other| other.key() == item.key()) {
                    Some(earlier) => *earlier = item,
                    None => self.shown.push(item),
                }
            }
            AppEvent::ItemsReplaced { after, items, variants, .. } => {
                let kept = after.map_or(0, |after| {
                    let last = self.shown.iter().position(|item| item.key() == after);
                    last.expect("the window has the last item that stays") + 1
                });
                self.shown.truncate(kept);
                self.shown.retain(|item| !matches!(item, ChatItem::Summary { .. }));
                self.shown.extend(items);
                self.variants = variants;
            }
            AppEvent::QueueChanged { queued, .. } => {
                let is_queued =
                    |item: &ChatItem| matches!(item, ChatItem::User { queued: true, .. });
                let last = self.shown.iter().rposition(|item| !is_queued(item));
                self.shown.truncate(last.map_or(0, |last| last + 1));
                self.shown.extend(queued);
            }
            AppEvent::ChatChanged { .. } => {
                (self.shown, self.variants) = self.stored().await;
                self.fetched += 1;
            }
            _ => {}
        }
    }

    async fn tell(&mut self, turn: &OpenTurn, event: TurnEvent) {
        let told = self.publisher.on_turn_event(turn.clone(), event, &self.ended).await;
        told.expect("told");
    }

    async fn play(&mut self, number: usize, case: &TurnCase) {
        let turn = self.begin_turn(number, case.answers).await;
        self.play_turn(turn, case).await;
    }

    async fn play_turn(&mut self, turn: OpenTurn, case: &TurnCase) {
        let last = case.steps.len().checked_sub(1);
        for (place, step) in case.steps.iter().enumerate() {
            let is_stopped = case.end == EndCase::Stop && Some(place) == last;
            let end = self.play_step(&turn, place, step, is_stopped).await;
            if let Some(ending) = end {
                return self.end_turn(&turn, ending).await;
            }
        }
        let words = Some(message(&turn.turn, "end", Role::Assistant, vec![text("The end.")]));
        let ending = match case.end {
            EndCase::Answer => TurnEnding { message: words, ..ending(TurnStatus::Done) },
            EndCase::CutAnswer => {
                TurnEnding { message: words, cut: true, ..ending(TurnStatus::Failed) }
            }
            EndCase::Failure => ending(TurnStatus::Failed),
            EndCase::Stop => ending(TurnStatus::Cancelled),
        };
        self.end_turn(&turn, ending).await;
    }

    async fn begin_turn(&mut self, number: usize, answers: bool) -> OpenTurn {
        self.send(number, answers, None).await;
        self.begin_queued().await
    }

    /// Sends a message, in a version of its own where it stands in for a turn.
    async fn send(&mut self, number: usize, answers: bool, instead_of: Option<&TurnId>) {
        let question = self.store.question(&conversation()).await.expect("read");
        let turn = TurnId::from(format!("t{number}"));
        let message = message(&turn, "asks", Role::User, vec![text("Please.")]);
        let answers = question.as_ref().filter(|_| answers).map(|open| open.id.clone());
        let moves = answers.is_some() && !self.variants.is_empty();
        let new = NewTurn { turn, message, origin: Origin::Window, answers, shown: Vec::new() };
        let replaced = match instead_of {
            Some(old) => {
                self.store.submit_fork(&new, old).await.expect("stored");
                Some(ChatPart::Since(new.message.id))
            }
            None => {
                self.store.submit_turn(&new).await.expect("stored");
                self.unplaced += usize::from(moves);
                moves.then_some(ChatPart::Unknown)
            }
        };
        let queued = self.store.open_turns().await.expect("read").pop().expect("a turn");
        self.publisher.on_sent(&queued, question, replaced).await.expect("told");
        self.check().await;
    }

    async fn begin_queued(&mut self) -> OpenTurn {
        let begun = self.store.begin_turn(&conversation()).await.expect("begun");
        let turn = begun.expect("it is queued");
        self.tell(&turn, TurnEvent::Began).await;
        self.check().await;
        turn
    }

    /// Plays a step; returns the ending, if the turn ends in it.
    async fn play_step(
        &mut self,
        turn: &OpenTurn,
        place: usize,
        step: &StepCase,
        is_stopped: bool,
    ) -> Option<TurnEnding> {
        let ids = (0..step.calls.len()).map(|number| CallId::from(format!("{place}.{number}")));
        let ids: Vec<CallId> = ids.collect();
        let call = |(case, id): (&CallCase, &CallId)| {
            let (id, tool, arguments) = (id.clone(), case.tool().to_owned(), json!({ "a": 1 }));
            MessagePart::Call { id, tool, arguments }
        };
        let words = (!step.text.is_empty()).then(|| text(step.text));
        let parts = words.into_iter().chain(step.calls.iter().zip(&ids).map(call)).collect();
        let message = message(&turn.turn, &format!("step{place}"), Role::Assistant, parts);
        if !step.text.is_empty() {
            let (message, text) = (message.id.clone(), step.text.to_owned());
            self.tell(turn, TurnEvent::Delta { message, text }).await;
        }
        let stored = TurnStep { message: message.clone(), usage: TokenUsage::default() };
        self.store.store_step(&turn.turn, &stored).await.expect("stored");
        self.tell(turn, TurnEvent::Stepped(message)).await;
        self.check().await;
        if is_stopped {
            let results = ids.iter().map(refused).collect();
            return Some(TurnEnding { results, ..ending(TurnStatus::Cancelled) });
        }
        self.play_calls(turn, &step.calls, &ids).await
    }

    /// Gives calls their results in order, those of reads in a row at once.
    async fn play_calls(
        &mut self,
        turn: &OpenTurn,
        calls: &[CallCase],
        ids: &[CallId],
    ) -> Option<TurnEnding> {
        let mut results = Vec::new();
        for (number, (case, id)) in calls.iter().zip(ids).enumerate() {
            let later = ids.get(number + 1..).unwrap_or_default();
            results.push(case.result(id));
            match case {
                CallCase::Ask => {
                    let question = Some(asked(turn, id));
                    results.extend(later.iter().map(refused));
                    return Some(TurnEnding { results, question, ..ending(TurnStatus::Asked) });
                }
                CallCase::End => {
                    results.extend(later.iter().map(refused));
                    let ending = ending(TurnStatus::Done);
                    return Some(TurnEnding { results, ends_conversation: true, ..ending });
                }
                _ => {}
            }
            let is_next_read = calls.get(number + 1).is_some_and(|next| next.is_read());
            if !(case.is_read() && is_next_read) {
                let results = std::mem::take(&mut results);
                self.store.store_results(&turn.turn, &results).await.expect("stored");
                self.tell(turn, TurnEvent::Answered(results)).await;
                self.check().await;
            }
        }
        None
    }

    async fn end_turn(&mut self, turn: &OpenTurn, ending: TurnEnding) {
        self.store.finish_turn(&turn.turn, &ending).await.expect("ended");
        self.tell(turn, TurnEvent::Ended(ending)).await;
        self.check().await;
    }
}

fn asked(turn: &OpenTurn, call: &CallId) -> Question {
    Question {
        id: format!("{}-question", turn.turn).into(),
        conversation: conversation(),
        turn: turn.turn.clone(),
        call: call.clone(),
        original_message: turn.message.clone(),
        text: format!("words of {call}"),
        options: Vec::new(),
        tool_calls_completed: 0,
        asked_at: Timestamp(2),
    }
}

async fn play_all(turns: Vec<TurnCase>) {
    let folder = tempfile::tempdir().expect("a folder");
    let store = Store::open(&folder.path().join("vault.db")).await.expect("a store");
    let mut chat = ObservedChat::begin(store).await;
    for (number, turn) in turns.iter().enumerate() {
        chat.play(number, turn).await;
    }
    assert_eq!(chat.fetched, 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn the_items_of_events_are_those_of_the_rows(
        turns in prop::collection::vec(any_turn(), 1..4),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.expect("a runtime").block_on(play_all(turns));
    }
}
