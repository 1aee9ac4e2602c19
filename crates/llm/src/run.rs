//! Drives one turn: carries out what the rule book says, in order, each step durable before the
//! next is visible.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use protocol::event::ModelWait;
use protocol::{MessageId, OpenTurn, UserError};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::filling::Filling;
use crate::host::{Capacity, TurnEvent, TurnSetup};
use crate::model::{ModelError, ModelEvent};
use crate::provider::ModelStream;
use crate::service::ServiceParts;
use crate::tokens::Gauges;
use crate::turn::{Finish, How, Turn, TurnEffect, TurnInput};
use crate::wording;

mod calls;
mod filling;
mod halt;
mod place;
mod request;

use halt::{Halt, Halted};
use place::{Place, Results};

/// So many events that have come already are taken in together; between them nobody can stop.
const TOGETHER: usize = 256;

/// After so long a wait for a model on this computer is told.
const A_WAIT: Duration = Duration::from_secs(3);

/// How driving a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ran {
    /// It has a terminal status, durably.
    Ended,
    /// The service ends: the turn stays as it is, for recovery.
    Left,
    /// The ending could not be stored: the turn stays as it is, for recovery.
    Unstored,
}

/// Whether the history of a conversation may have to be made shorter once it rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Weight {
    Light,
    Heavy,
}

/// What the rule book is told next, or how it ended.
type Flow = ControlFlow<Ran, Vec<TurnInput>>;

/// Runs a turn that was just begun to its end.
pub(crate) async fn run(
    parts: &ServiceParts,
    gauges: &Gauges,
    turn: &OpenTurn,
    stop: &CancellationToken,
) -> (Ran, Weight) {
    parts.host.tell(turn, TurnEvent::Began);
    let halt = Halt { shutdown: &parts.cancel, stop };
    let results = Results::Whole;
    let shows = BTreeMap::new();
    let place = Place { parts, turn, question: Uuid::now_v7().into(), results, shows };
    let setup = match halt.or(parts.host.setup(turn)).await {
        Ok(Ok(setup)) => setup,
        Ok(Err(error)) => return unasked(&place, Finish::failed(error)).await,
        Err(Halted::Stopped) => return unasked(&place, Finish::cancelled()).await,
        Err(Halted::Shutdown) => return (Ran::Left, Weight::Light),
    };
    let place = Place { results: Results::of(&setup), ..place };
    let rules = match place.rules(&setup).await {
        Ok(rules) => rules,
        Err(error) => return unasked(&place, Finish::failed(error)).await,
    };
    let mut run = Run {
        place,
        halt,
        setup,
        gauges,
        answer: new_answer(),
        estimated: 0,
        filling: None,
        put_off: false,
        weight: Weight::Light,
        stream: None,
        waiting: Waiting::default(),
        was_loading: false,
    };
    let ran = run.drive(Turn::new(rules)).await;
    (ran, run.weight)
}

/// Ends a turn that has asked nobody.
async fn unasked(place: &Place<'_>, finish: Finish) -> (Ran, Weight) {
    (place.end(&new_answer(), finish).await, Weight::Light)
}

/// A turn that runs.
struct Run<'a> {
    place: Place<'a>,
    halt: Halt<'a>,
    setup: TurnSetup,
    gauges: &'a Gauges,
    /// The answer that is being written.
    answer: Answer,
    /// Tokens of the request that it answers, as estimated.
    estimated: u32,
    /// The content of the context window: the last request, and all that was stored since.
    filling: Option<Filling>,
    /// Whether a request was put off because it was too long.
    put_off: bool,
    weight: Weight,
    /// Where it comes from.
    stream: Option<ModelStream>,
    /// How long its beginning has been waited for.
    waiting: Waiting,
    /// Whether the server was found loading the model: it could not say before what the model can do.
    was_loading: bool,
}

/// The wait for the beginning of an answer.
#[derive(Default)]
struct Waiting {
    /// Since when it is waited for; `None` once it has begun.
    since: Option<Instant>,
    /// Whether that was told.
    is_told: bool,
}

impl Run<'_> {
    async fn drive(&mut self, mut turn: Turn) -> Ran {
        let mut effects: VecDeque<TurnEffect> = turn.step(TurnInput::Begun).into();
        loop {
            let flow = match effects.pop_front() {
                Some(effect) => self.carry_out(effect).await,
                None => self.listen().await,
            };
            match flow {
                ControlFlow::Break(ran) => return ran,
                ControlFlow::Continue(inputs) => {
                    effects.extend(inputs.into_iter().flat_map(|input| turn.step(input)));
                }
            }
        }
    }

    async fn carry_out(&mut self, effect: TurnEffect) -> Flow {
        match effect {
            TurnEffect::Ask(how) => self.ask(how).await,
            TurnEffect::Compact => self.compact().await,
            TurnEffect::Show(text) => {
                self.place.tell(TurnEvent::Delta { message: self.answer.id.clone(), text });
                ControlFlow::Continue(Vec::new())
            }
            TurnEffect::StoreStep { parts, usage } => {
                self.fill_with(&parts);
                one(self.place.store_step(&self.answer, parts, usage).await)
            }
            TurnEffect::Run(calls) => self.run_calls(calls).await,
            TurnEffect::Plan(call) => self.plan(call).await,
            TurnEffect::StoreResults(results) => {
                let results = self.place.told(results);
                self.fill_with_results(&results);
                one(self.place.store_results(results).await)
            }
            TurnEffect::Wait(wait) => {
                let wait = self.place.parts.pace.of(wait);
                match self.halt.or(tokio::time::sleep(wait)).await {
                    Ok(()) => one(TurnInput::Waited),
                    Err(halted) => halted.into(),
                }
            }
            TurnEffect::Finish(finish) => {
                self.has_begun();
                self.fill_with_end(&finish);
                ControlFlow::Break(self.place.end(&self.answer, finish).await)
            }
        }
    }

    async fn ask(&mut self, how: How) -> Flow {
        loop {
            if std::mem::take(&mut self.was_loading) {
                // What the server says of the model is known now.
                match self.halt.or(self.place.parts.host.setup_again(self.place.turn, None)).await {
                    Ok(Ok(setup)) => {
                        self.setup = setup;
                        self.place.results = Results::of(&self.setup);
                    }
                    Ok(Err(_)) => {}
                    Err(halted) => return halted.into(),
                }
            }
            self.answer = Answer { told: note(how), ..new_answer() };
            let request = match self.request(how).await {
                Ok(request) => request,
                Err(input) => return one(input),
            };
            self.waiting.since = Some(Instant::now());
            let provider = Arc::clone(&self.setup.provider);
            let error = match self.while_waiting(provider.stream(request)).await {
                Ok(Ok(stream)) => {
                    self.stream = Some(stream);
                    return ControlFlow::Continue(Vec::new());
                }
                Ok(Err(error)) => error,
                Err(halted) => return halted.into(),
            };
            if matches!(error, ModelError::Loading(_)) {
                self.was_loading = true;
                self.tell_wait(ModelWait::Loading);
            } else {
                self.has_begun();
            }
            let Some(window) = self.smaller_window(&error) else {
                return one(TurnInput::Failed(error));
            };
            // The server reads less than was thought: it is asked again with what it has room for.
            match self
                .halt
                .or(self.place.parts.host.setup_again(self.place.turn, Some(window)))
                .await
            {
                Ok(Ok(setup)) => {
                    self.setup = setup;
                    self.setup.capacity = Capacity::Window(window);
                    self.place.results = Results::of(&self.setup);
                }
                Ok(Err(_)) => return one(TurnInput::Failed(error)),
                Err(halted) => return halted.into(),
            }
        }
    }

    /// Does `work` until the turn is halted; tells once that the answer is waited for, when that takes long.
    async fn while_waiting<T>(
        &mut self,
        work: impl Future<Output = T> + Send,
    ) -> Result<T, Halted> {
        let mut work = pin!(work);
        let due = self.waiting.since.filter(|_| self.setup.runs_here && !self.waiting.is_told);
        if let Some(since) = due {
            let until = sleep_until(since + self.place.parts.pace.of(A_WAIT));
            let halt = &self.halt;
            tokio::select! {
                biased;
                done = halt.or(work.as_mut()) => return done,
                () = until => {}
            }
            self.tell_wait(ModelWait::Reading { tokens: self.estimated });
        }
        self.halt.or(work).await
    }

    fn tell_wait(&mut self, wait: ModelWait) {
        self.waiting.is_told = true;
        self.place.tell(TurnEvent::Waits(Some(wait)));
    }

    /// The answer begins, or there is none.
    fn has_begun(&mut self) {
        if std::mem::take(&mut self.waiting).is_told {
            self.place.tell(TurnEvent::Waits(None));
        }
    }

    /// The window that a refusal tells of, where it is smaller than was thought: so asking again ends.
    fn smaller_window(&self, error: &ModelError) -> Option<u32> {
        let ModelError::ContextExceeded { window: Some(told), .. } = error else { return None };
        matches!(self.setup.capacity, Capacity::Window(known) if *told < known).then_some(*told)
    }

    /// Waits for the next event of the answer, and takes in what has come with it; words that come
    /// together are one event. The stream is kept only while more may come.
    async fn listen(&mut self) -> Flow {
        let Some(mut stream) = self.stream.take() else {
            let error = UserError::other("The turn came to a halt without an end: try again.");
            return one(TurnInput::Broke(error));
        };
        let next = match self.while_waiting(stream.next()).await {
            Ok(next) => next,
            Err(halted) => return halted.into(),
        };
        self.has_begun();
        let mut heard = Vec::new();
        let mut is_over = hear(&mut heard, next);
        for _ in 0..TOGETHER {
            let Some(more) = (!is_over).then(|| stream.next().now_or_never()).flatten() else {
                break;
            };
            is_over = hear(&mut heard, more);
        }
        if !is_over {
            self.stream = Some(stream);
        }
        if let Some(TurnInput::Event(ModelEvent::Stopped { usage, .. })) = heard.last() {
            self.gauges.learn(&self.setup.model, self.estimated, *usage);
        }
        ControlFlow::Continue(heard)
    }
}

/// Adds what the stream gave, and says whether nothing follows; words join those before them.
fn hear(heard: &mut Vec<TurnInput>, next: Option<Result<ModelEvent, ModelError>>) -> bool {
    match (heard.last_mut(), next) {
        (Some(TurnInput::Event(ModelEvent::Text(said))), Some(Ok(ModelEvent::Text(more)))) => {
            said.push_str(&more);
            false
        }
        (_, Some(Ok(event))) => {
            let is_over = matches!(event, ModelEvent::Stopped { .. });
            heard.push(TurnInput::Event(event));
            is_over
        }
        (_, Some(Err(error))) => {
            heard.push(TurnInput::Failed(error));
            true
        }
        (_, None) => {
            heard.push(TurnInput::Severed);
            true
        }
    }
}

fn one(input: TurnInput) -> Flow {
    ControlFlow::Continue(vec![input])
}

/// What the model is told for one request; it is stored with the answer.
fn note(how: How) -> Option<&'static str> {
    match how {
        How::Plain => None,
        How::Nudged => Some(wording::SAY_SOMETHING),
        How::Closing => Some(wording::CLOSE_NOW),
    }
}

/// An answer that is being written.
struct Answer {
    id: MessageId,
    /// What the model was told for it alone.
    told: Option<&'static str>,
}

fn new_answer() -> Answer {
    Answer { id: Uuid::now_v7().into(), told: None }
}
