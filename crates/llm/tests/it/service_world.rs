//! A service with everything around it, in memory.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use llm::{
    ChangeApplier, ChangeOutcome, ChangePlan, ContextCapacity, LlmService, NoteOverlay, Provider,
    ServiceParts, SpendingLimit, Summarizer, TimeScale, ToolEffect, TurnEvent, TurnLimits,
    TurnPolicy, TurnSetup,
};
use protocol::chat::model::Price;
use protocol::{
    CallId, ChangeSet, Message, MessagePart, NewTurn, OpenTurn, Origin, Role, Timestamp,
    TurnEnding, TurnId, UserError,
};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::memory_transcript::MemoryTranscript;
use crate::scripted_provider::{ScriptedProvider, check_request};
use crate::tools;

/// Nothing here takes this long unless it hangs.
const TEST_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct ServiceWorld {
    pub(crate) service: LlmService,
    pub(crate) model: Arc<ScriptedProvider>,
    pub(crate) memory: Arc<MemoryTranscript>,
    pub(crate) changes: Arc<MemoryChanges>,
    pub(crate) tasks: TaskTracker,
    pub(crate) cancel: CancellationToken,
    host: Arc<RecordingPolicy>,
    events: mpsc::UnboundedReceiver<TurnEvent>,
}

impl ServiceWorld {
    pub(crate) fn new() -> Self {
        let model = Arc::new(ScriptedProvider::default());
        Self::asking(model.clone(), model)
    }

    /// A world whose turns `provider` answers; `model` is left unasked then.
    pub(crate) fn asking(provider: Arc<dyn Provider>, model: Arc<ScriptedProvider>) -> Self {
        let memory = Arc::new(MemoryTranscript::default());
        let (told, events) = mpsc::unbounded_channel();
        let host = Arc::new(RecordingPolicy {
            provider,
            memory: memory.clone(),
            told,
            setup: Mutex::new(Ok(TurnLimits::default())),
            capacity: Mutex::new(ContextCapacity::Window(200_000)),
            kept: Mutex::default(),
            purse: Mutex::default(),
            summing_up: Mutex::default(),
            runs_here: AtomicBool::default(),
            at_rest: AtomicUsize::default(),
            too_early: Mutex::default(),
        });
        let changes = Arc::new(MemoryChanges::default());
        let (tasks, cancel) = (TaskTracker::new(), CancellationToken::new());
        let service = LlmService::new(ServiceParts {
            registry: tools::registry(),
            transcript: memory.clone(),
            changes: changes.clone(),
            policy: host.clone(),
            tasks: tasks.clone(),
            cancel: cancel.clone(),
            time_scale: TimeScale::divided_by(1000),
        });
        Self { service, model, memory, changes, tasks, cancel, host, events }
    }

    pub(crate) fn limit(&self, limits: TurnLimits) {
        *self.host.setup.lock().unwrap() = Ok(limits);
    }

    /// The model takes in so many tokens, and hears of `kept` turns in any case.
    pub(crate) fn shrink(&self, window: u32, kept: &[&str]) {
        *self.host.capacity.lock().unwrap() = ContextCapacity::Window(window);
        *self.host.kept.lock().unwrap() = kept.iter().map(|turn| TurnId::from(*turn)).collect();
    }

    /// Each turn may cost so much, at this price.
    pub(crate) fn give(&self, purse: SpendingLimit) {
        *self.host.purse.lock().unwrap() = Some(purse);
    }

    /// From now on earlier messages are put together, by this model at this price.
    pub(crate) fn sum_up_by(&self, summarizer: Arc<ScriptedProvider>, price: Option<Price>) {
        let by = Summarizer {
            provider: summarizer,
            model: "summarizer".into(),
            price,
            window: 100_000,
            prompt: "Mind the dates.".into(),
        };
        *self.host.summing_up.lock().unwrap() = Some(by);
    }

    /// The model runs on this computer from now on.
    pub(crate) fn runs_here(&self) {
        self.host.runs_here.store(true, Ordering::SeqCst);
    }

    /// How many turns are heard after their end.
    pub(crate) fn at_rest(&self) -> usize {
        self.host.at_rest.load(Ordering::SeqCst)
    }

    pub(crate) fn refuse_setup(&self, error: UserError) {
        *self.host.setup.lock().unwrap() = Err(error);
    }

    /// Sends a message and waits until the conversation is idle.
    pub(crate) async fn say(&mut self, text: &str) -> TurnEnding {
        self.send("c", text).await;
        self.quiet().await;
        self.memory.endings().pop().expect("a turn ended")
    }

    pub(crate) async fn send(&self, conversation: &str, text: &str) {
        let n = self.memory.statuses().len();
        let message = Message {
            id: format!("message {n}").into(),
            conversation: conversation.into(),
            turn: format!("turn {n}").into(),
            role: Role::User,
            parts: vec![MessagePart::Text { text: text.into() }],
            at: Timestamp(0),
        };
        let turn = message.turn.clone();
        let new =
            NewTurn { turn, message, origin: Origin::Window, answers: None, shown: Vec::new() };
        self.service.submit(new).await.unwrap();
    }

    /// Waits until nothing runs; then checks what must hold after each story.
    pub(crate) async fn quiet(&self) {
        within(self.service.wait_until_idle(&"c".into())).await;
        assert_eq!(*self.host.too_early.lock().unwrap(), Vec::<TurnEvent>::new());
        self.model.requests().iter().for_each(check_request);
    }

    /// Waits until nothing is done for a conversation that rests.
    pub(crate) async fn rest(&self) {
        self.quiet().await;
        within(self.service.wait_until_idle_task_done(&"c".into())).await;
    }

    /// Waits for the next event that `wanted` accepts.
    pub(crate) async fn hear(&mut self, wanted: impl Fn(&TurnEvent) -> bool) -> TurnEvent {
        loop {
            let event = within(self.events.recv()).await.expect("the host listens");
            if wanted(&event) {
                return event;
            }
        }
    }

    /// The events told so far and not heard.
    pub(crate) fn told(&mut self) -> Vec<TurnEvent> {
        std::iter::from_fn(|| self.events.try_recv().ok()).collect()
    }
}

pub(crate) async fn within<F: Future>(work: F) -> F::Output {
    tokio::time::timeout(TEST_TIMEOUT, work).await.expect("it hangs")
}

/// Hears all events; notices those that were told before they were durable.
struct RecordingPolicy {
    provider: Arc<dyn Provider>,
    memory: Arc<MemoryTranscript>,
    told: mpsc::UnboundedSender<TurnEvent>,
    setup: Mutex<Result<TurnLimits, UserError>>,
    capacity: Mutex<ContextCapacity>,
    purse: Mutex<Option<SpendingLimit>>,
    summing_up: Mutex<Option<Summarizer>>,
    /// Turns that are heard after their end.
    runs_here: AtomicBool,
    at_rest: AtomicUsize,
    kept: Mutex<BTreeSet<TurnId>>,
    too_early: Mutex<Vec<TurnEvent>>,
}

#[async_trait]
impl TurnPolicy for RecordingPolicy {
    async fn setup(&self, _: &OpenTurn) -> Result<TurnSetup, UserError> {
        let limits = self.setup.lock().unwrap().clone()?;
        Ok(TurnSetup {
            provider: self.provider.clone(),
            model: "model".into(),
            max_tokens: 100,
            system: "Be good.".into(),
            detail: llm::ToolDetail::Whole,
            tools: ["look", "meet", "ask", "make"].map(String::from).to_vec(),
            limits,
            spending_limit: self.purse.lock().unwrap().clone(),
            capacity: *self.capacity.lock().unwrap(),
            kept_turns: self.kept.lock().unwrap().clone(),
            summarizer: self.summing_up.lock().unwrap().clone(),
            runs_here: self.runs_here.load(Ordering::SeqCst),
        })
    }

    async fn refresh_setup(&self, turn: &OpenTurn, _: Option<u32>) -> Result<TurnSetup, UserError> {
        self.setup(turn).await
    }

    async fn idle_setup(&self, turn: &OpenTurn) -> Result<TurnSetup, UserError> {
        self.at_rest.fetch_add(1, Ordering::SeqCst);
        self.setup(turn).await
    }

    async fn background_summarizer(&self, _: &OpenTurn) -> Result<Option<Summarizer>, UserError> {
        self.at_rest.fetch_add(1, Ordering::SeqCst);
        Ok(self.summing_up.lock().unwrap().clone())
    }

    fn idle_finished(&self, _: &OpenTurn) {
        self.at_rest.fetch_sub(1, Ordering::SeqCst);
    }

    fn publish(&self, _: &OpenTurn, event: TurnEvent) {
        let durable = match &event {
            TurnEvent::Stepped(message) => self.memory.has_message(message),
            TurnEvent::Answered(results) => {
                results.iter().all(|result| self.memory.has_result(&result.call))
            }
            _ => true,
        };
        if !durable {
            self.too_early.lock().unwrap().push(event.clone());
        }
        let _ = self.told.send(event);
    }
}

/// Applies every plan at once, in memory, when it is let.
pub(crate) struct MemoryChanges {
    pub(crate) overlay: Mutex<ChangeSet>,
    /// One permit lets one plan through.
    pub(crate) gate: Semaphore,
}

impl Default for MemoryChanges {
    fn default() -> Self {
        Self { overlay: Mutex::default(), gate: Semaphore::new(100) }
    }
}

#[async_trait]
impl ChangeApplier for MemoryChanges {
    async fn note_overlay(&self, _: &OpenTurn) -> NoteOverlay {
        let overlay = Arc::new(self.overlay.lock().unwrap().clone());
        NoteOverlay { overlay, ..NoteOverlay::default() }
    }

    async fn decide(
        &self,
        _: &OpenTurn,
        _: &CallId,
        _: ToolEffect,
        plan: ChangePlan,
        _: &CancellationToken,
    ) -> ChangeOutcome {
        self.gate.acquire().await.unwrap().forget();
        self.overlay.lock().unwrap().extend(plan.change_set).unwrap();
        let output = plan.summary;
        ChangeOutcome { output, ..ChangeOutcome::default() }
    }
}
