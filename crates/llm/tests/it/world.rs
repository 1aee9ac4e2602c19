//! A service with everything around it, in memory.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use llm::{
    Capacity, Changes, Effect, Host, Limits, LlmService, Pace, Plan, Provider, Purse, ServiceParts,
    SummingUp, Surroundings, TurnEvent, TurnSetup, Verdict,
};
use protocol::model::Price;
use protocol::{
    CallId, ChangeSet, Ending, Message, NewTurn, OpenTurn, Origin, Part, Role, Timestamp, TurnId,
    UserError,
};
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::memory::Memory;
use crate::model::{ScriptedModel, check_request};
use crate::tools;

/// Nothing here takes this long unless it hangs.
const HANGS: Duration = Duration::from_secs(10);

pub(crate) struct World {
    pub(crate) service: LlmService,
    pub(crate) model: Arc<ScriptedModel>,
    pub(crate) memory: Arc<Memory>,
    pub(crate) changes: Arc<Desk>,
    pub(crate) tasks: TaskTracker,
    pub(crate) cancel: CancellationToken,
    host: Arc<Listener>,
    events: mpsc::UnboundedReceiver<TurnEvent>,
}

impl World {
    pub(crate) fn new() -> Self {
        let model = Arc::new(ScriptedModel::default());
        Self::asking(model.clone(), model)
    }

    /// A world whose turns `provider` answers; `model` is left unasked then.
    pub(crate) fn asking(provider: Arc<dyn Provider>, model: Arc<ScriptedModel>) -> Self {
        let memory = Arc::new(Memory::default());
        let (told, events) = mpsc::unbounded_channel();
        let host = Arc::new(Listener {
            provider,
            memory: memory.clone(),
            told,
            setup: Mutex::new(Ok(Limits::default())),
            capacity: Mutex::new(Capacity::Window(200_000)),
            kept: Mutex::default(),
            purse: Mutex::default(),
            summing_up: Mutex::default(),
            runs_here: AtomicBool::default(),
            at_rest: AtomicUsize::default(),
            too_early: Mutex::default(),
        });
        let changes = Arc::new(Desk::default());
        let (tasks, cancel) = (TaskTracker::new(), CancellationToken::new());
        let service = LlmService::new(ServiceParts {
            registry: tools::registry(),
            transcript: memory.clone(),
            changes: changes.clone(),
            host: host.clone(),
            tasks: tasks.clone(),
            cancel: cancel.clone(),
            pace: Pace::divided_by(1000),
        });
        Self { service, model, memory, changes, tasks, cancel, host, events }
    }

    pub(crate) fn limit(&self, limits: Limits) {
        *self.host.setup.lock().unwrap() = Ok(limits);
    }

    /// The model takes in so many tokens, and hears of `kept` turns in any case.
    pub(crate) fn shrink(&self, window: u32, kept: &[&str]) {
        *self.host.capacity.lock().unwrap() = Capacity::Window(window);
        *self.host.kept.lock().unwrap() = kept.iter().map(|turn| TurnId::from(*turn)).collect();
    }

    /// Each turn may cost so much, at this price.
    pub(crate) fn give(&self, purse: Purse) {
        *self.host.purse.lock().unwrap() = Some(purse);
    }

    /// From now on earlier messages are put together, by this model at this price.
    pub(crate) fn sum_up_by(&self, summarizer: Arc<ScriptedModel>, price: Option<Price>) {
        let by = SummingUp {
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
    pub(crate) async fn say(&mut self, text: &str) -> Ending {
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
            parts: vec![Part::Text { text: text.into() }],
            at: Timestamp(0),
        };
        let turn = message.turn.clone();
        let new =
            NewTurn { turn, message, origin: Origin::Window, answers: None, shown: Vec::new() };
        self.service.submit(new).await.unwrap();
    }

    /// Waits until nothing runs; then checks what must hold after each story.
    pub(crate) async fn quiet(&self) {
        within(self.service.idle(&"c".into())).await;
        assert_eq!(*self.host.too_early.lock().unwrap(), Vec::<TurnEvent>::new());
        self.model.requests().iter().for_each(check_request);
    }

    /// Waits until nothing is done for a conversation that rests.
    pub(crate) async fn rest(&self) {
        self.quiet().await;
        within(self.service.rested(&"c".into())).await;
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
    tokio::time::timeout(HANGS, work).await.expect("it hangs")
}

/// Hears all events; notices those that were told before they were durable.
struct Listener {
    provider: Arc<dyn Provider>,
    memory: Arc<Memory>,
    told: mpsc::UnboundedSender<TurnEvent>,
    setup: Mutex<Result<Limits, UserError>>,
    capacity: Mutex<Capacity>,
    purse: Mutex<Option<Purse>>,
    summing_up: Mutex<Option<SummingUp>>,
    /// Turns that are heard after their end.
    runs_here: AtomicBool,
    at_rest: AtomicUsize,
    kept: Mutex<BTreeSet<TurnId>>,
    too_early: Mutex<Vec<TurnEvent>>,
}

#[async_trait]
impl Host for Listener {
    async fn setup(&self, _: &OpenTurn) -> Result<TurnSetup, UserError> {
        let limits = self.setup.lock().unwrap().clone()?;
        Ok(TurnSetup {
            provider: self.provider.clone(),
            model: "model".into(),
            max_tokens: 100,
            system: "Be good.".into(),
            detail: llm::Detail::Whole,
            tools: ["look", "meet", "ask", "make"].map(String::from).to_vec(),
            limits,
            purse: self.purse.lock().unwrap().clone(),
            capacity: *self.capacity.lock().unwrap(),
            kept: self.kept.lock().unwrap().clone(),
            summing_up: self.summing_up.lock().unwrap().clone(),
            runs_here: self.runs_here.load(Ordering::SeqCst),
        })
    }

    async fn setup_again(&self, turn: &OpenTurn, _: Option<u32>) -> Result<TurnSetup, UserError> {
        self.setup(turn).await
    }

    async fn at_rest(&self, turn: &OpenTurn) -> Result<TurnSetup, UserError> {
        self.at_rest.fetch_add(1, Ordering::SeqCst);
        self.setup(turn).await
    }

    async fn aside(&self, _: &OpenTurn) -> Result<Option<SummingUp>, UserError> {
        self.at_rest.fetch_add(1, Ordering::SeqCst);
        Ok(self.summing_up.lock().unwrap().clone())
    }

    fn rested(&self, _: &OpenTurn) {
        self.at_rest.fetch_sub(1, Ordering::SeqCst);
    }

    fn tell(&self, _: &OpenTurn, event: TurnEvent) {
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
pub(crate) struct Desk {
    pub(crate) overlay: Mutex<ChangeSet>,
    /// One permit lets one plan through.
    pub(crate) gate: Semaphore,
}

impl Default for Desk {
    fn default() -> Self {
        Self { overlay: Mutex::default(), gate: Semaphore::new(100) }
    }
}

#[async_trait]
impl Changes for Desk {
    async fn surroundings(&self, _: &OpenTurn) -> Surroundings {
        let overlay = Arc::new(self.overlay.lock().unwrap().clone());
        Surroundings { overlay, ..Surroundings::default() }
    }

    async fn decide(
        &self,
        _: &OpenTurn,
        _: &CallId,
        _: Effect,
        plan: Plan,
        _: &CancellationToken,
    ) -> Verdict {
        self.gate.acquire().await.unwrap().forget();
        self.overlay.lock().unwrap().extend(plan.change_set).unwrap();
        let output = plan.summary;
        Verdict { output, ..Verdict::default() }
    }
}
