//! Drives one turn: carries out what the rule book says, in order, each step durable before the
//! next is visible.

use std::collections::{BTreeMap, VecDeque};
use std::ops::ControlFlow;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures_util::{FutureExt as _, StreamExt as _};
use protocol::event::ModelWait;
use protocol::{ErrorCode, MessageId, OpenTurn, TokenUsage, UserError};
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::context::model_texts;
use crate::context::tokens::TokenCalibrations;
use crate::context::window_usage::Filling;
use crate::model::{ModelError, ModelEvent, user_texts};
use crate::ports::turn_policy::{ContextCapacity, RefusedWindow, TurnEvent, TurnSetup};
use crate::provider::ModelStream;
use crate::service::parts::ServiceParts;
use crate::turn::{AskMode, Finish, Turn, TurnEffect, TurnInput};

mod cancel;
mod recorder;
mod request;
mod tool_calls;
mod turn_usage;

use cancel::{CancelReason, CancelSignals};
use recorder::{ResultStorage, TurnRecorder};

/// The number of events that have come already and are taken in together; between them nobody can
/// stop.
const MAX_EVENT_BATCH: usize = 256;

/// The time after which a wait for a model on this computer is told.
const WAIT_NOTICE_DELAY: Duration = Duration::from_secs(3);

/// The number of requests of a turn that are built again because they were too long: the server reads less
/// than expected, or counts more tokens.
const MAX_REFITS: u32 = 4;

/// How driving a turn ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TurnExit {
    /// It has a terminal status, durably.
    Ended,
    /// The service ends: the turn stays as it is, for recovery.
    Left,
    /// The ending could not be stored: the turn stays as it is, for recovery.
    Unstored,
}

/// Whether the history of a conversation may have to be made shorter once it rests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HistoryWeight {
    Light,
    Heavy,
}

/// The next inputs of the turn, or how it ended.
type DriverFlow = ControlFlow<TurnExit, Vec<TurnInput>>;

/// Runs a turn that was just begun to its end.
pub(crate) async fn drive_turn(
    parts: &ServiceParts,
    gauges: &TokenCalibrations,
    turn: &OpenTurn,
    stop: &CancellationToken,
) -> (TurnExit, HistoryWeight) {
    parts.policy.publish(turn, TurnEvent::Began);
    let halt = CancelSignals { shutdown: &parts.cancel, stop };
    let results = ResultStorage::Whole;
    let shows = BTreeMap::new();
    let place =
        TurnRecorder { parts, turn, question: Uuid::now_v7().into(), results, sources: shows };
    let setup = match halt.unless_cancelled(parts.policy.setup(turn)).await {
        Ok(Ok(setup)) => setup,
        Ok(Err(error)) => return end_unasked(&place, Finish::failed(error)).await,
        Err(CancelReason::Stopped) => return end_unasked(&place, Finish::cancelled()).await,
        Err(CancelReason::Shutdown) => return (TurnExit::Left, HistoryWeight::Light),
    };
    let place = TurnRecorder { results: ResultStorage::of(&setup), ..place };
    let rules = match place.rules(&setup).await {
        Ok(rules) => rules,
        Err(error) => return end_unasked(&place, Finish::failed(error)).await,
    };
    let mut run = TurnDriver {
        recorder: place,
        cancel: halt,
        setup,
        calibrations: gauges,
        answer: new_answer(),
        estimated: 0,
        filling: None,
        postponed: false,
        weight: HistoryWeight::Light,
        stream: None,
        waiting: AnswerWait::default(),
        needs_renewal: false,
        refused: None,
        refits: 0,
    };
    let ran = run.drive(Turn::new(rules)).await;
    (ran, run.weight)
}

/// Ends a turn that has asked nobody.
async fn end_unasked(place: &TurnRecorder<'_>, finish: Finish) -> (TurnExit, HistoryWeight) {
    (place.end(&new_answer(), finish).await, HistoryWeight::Light)
}

/// A turn that runs.
struct TurnDriver<'a> {
    recorder: TurnRecorder<'a>,
    cancel: CancelSignals<'a>,
    setup: TurnSetup,
    calibrations: &'a TokenCalibrations,
    /// The answer that is being written.
    answer: AnswerRecord,
    /// Tokens of the request that it answers, as estimated.
    estimated: u32,
    /// The content of the context window: the last request, and all that was stored since.
    filling: Option<Filling>,
    /// Whether a request was put off because it was too long.
    postponed: bool,
    weight: HistoryWeight,
    /// Where it comes from.
    stream: Option<ModelStream>,
    /// How long its beginning has been waited for.
    waiting: AnswerWait,
    /// Whether the setup is made again before the next request: the server was loading the model, and could
    /// not say before what the model can do; or the request was outdated before it was sent.
    needs_renewal: bool,
    /// The refusal of a request that was too long, with the window that the next one is made for.
    refused: Option<(u32, ModelError)>,
    /// How often a request was built again because it was too long.
    refits: u32,
}

/// The wait for the beginning of an answer.
#[derive(Default)]
struct AnswerWait {
    /// Since when it is waited for; `None` once it has begun.
    since: Option<Instant>,
    /// Whether that was told.
    is_told: bool,
}

impl TurnDriver<'_> {
    async fn drive(&mut self, mut turn: Turn) -> TurnExit {
        let mut effects: VecDeque<TurnEffect> = turn.step(TurnInput::Begun).into();
        loop {
            let flow = match effects.pop_front() {
                Some(effect) => self.carry_out(effect).await,
                None => self.receive().await,
            };
            match flow {
                ControlFlow::Break(ran) => {
                    if ran == TurnExit::Left {
                        self.record_left_usage(turn.unstored_usage()).await;
                    }
                    return ran;
                }
                ControlFlow::Continue(inputs) => {
                    effects.extend(inputs.into_iter().flat_map(|input| turn.step(input)));
                }
            }
        }
    }

    async fn carry_out(&mut self, effect: TurnEffect) -> DriverFlow {
        match effect {
            TurnEffect::Ask(how) => self.ask(how).await,
            TurnEffect::Compact => self.compact().await,
            TurnEffect::Show(text) => {
                self.recorder.publish(TurnEvent::Delta { message: self.answer.id.clone(), text });
                ControlFlow::Continue(Vec::new())
            }
            TurnEffect::StoreStep { parts, usage } => {
                self.fill_with(&parts);
                next_input(self.recorder.store_step(&self.answer, parts, usage).await)
            }
            TurnEffect::Run(calls) => self.run_calls(calls).await,
            TurnEffect::Plan(call) => self.plan(call).await,
            TurnEffect::StoreResults(results) => {
                let results = self.recorder.as_stored(results);
                self.fill_with_results(&results);
                next_input(self.recorder.store_results(results).await)
            }
            TurnEffect::Wait(wait) => {
                let wait = self.recorder.parts.time_scale.scale(wait);
                match self.cancel.unless_cancelled(tokio::time::sleep(wait)).await {
                    Ok(()) => next_input(TurnInput::Waited),
                    Err(halted) => halted.into(),
                }
            }
            TurnEffect::Finish(finish) => {
                self.answer_began();
                self.fill_with_end(&finish);
                ControlFlow::Break(self.recorder.end(&self.answer, finish).await)
            }
        }
    }

    async fn ask(&mut self, mode: AskMode) -> DriverFlow {
        if std::mem::take(&mut self.needs_renewal) {
            let refused = self.refused.take();
            return self.renew(refused).await;
        }
        self.answer = AnswerRecord { told: mode_note(mode), ..new_answer() };
        let request = match self.request(mode).await {
            Ok(request) => request,
            Err(input) => return next_input(input),
        };
        self.waiting.since = Some(Instant::now());
        let provider = Arc::clone(&self.setup.provider);
        let error = match self.while_waiting(provider.stream(request)).await {
            Ok(Ok(stream)) => {
                self.stream = Some(stream);
                return ControlFlow::Continue(self.sent().into_iter().collect());
            }
            Ok(Err(error)) => error,
            Err(CancelReason::Stopped) => {
                let inputs = self.sent().into_iter().chain([TurnInput::Cancel]);
                return ControlFlow::Continue(inputs.collect());
            }
            // The turn is left when it is to receive the answer, and the request counts.
            Err(CancelReason::Shutdown) => {
                return ControlFlow::Continue(self.sent().into_iter().collect());
            }
        };
        self.needs_renewal = matches!(error, ModelError::Loading(_) | ModelError::Outdated(_));
        if matches!(error, ModelError::Loading(_)) {
            self.publish_wait(ModelWait::Loading);
        } else {
            self.answer_began();
        }
        if let Some(window) = self.window_to_retry(&error) {
            // The server reads less than expected, or counts more tokens: it is asked again with a
            // request that fits.
            return self.renew(Some((window, error))).await;
        }
        // A server that was silent until the deadline has read the prompt, as far as anybody knows.
        let sent = self.sent().filter(|_| matches!(error, ModelError::Silent(_)));
        ControlFlow::Continue(sent.into_iter().chain([TurnInput::Failed(error)]).collect())
    }

    /// The request is on its way. No model is asked where everything is heard whole.
    fn sent(&self) -> Option<TurnInput> {
        let ContextCapacity::Window(_) = self.setup.capacity else { return None };
        let calibration = self.calibrations.for_model(&self.setup.model);
        Some(TurnInput::Sent(calibration.corrected(self.estimated)))
    }

    /// Has the model chosen again: its server has loaded it by now, or has refused a request
    /// because it reads fewer tokens; or the request was outdated. The user may have chosen another
    /// model, or spent the month's limit in another conversation.
    async fn renew(&mut self, refused: Option<(u32, ModelError)>) -> DriverFlow {
        let policy = &self.recorder.parts.policy;
        let window = refused.as_ref().map(|(window, _)| RefusedWindow {
            model: self.setup.model.clone(),
            base_url: self.setup.base_url.clone(),
            window: *window,
        });
        let again = policy.refresh_setup(self.recorder.turn, window.as_ref());
        match (self.cancel.unless_cancelled(again).await, refused) {
            (Ok(Ok(setup)), _) => {
                self.setup = setup;
                self.recorder.results = ResultStorage::of(&self.setup);
                next_input(TurnInput::Renewed(self.recorder.renewed_rules(&self.setup)))
            }
            (Ok(Err(error)), Some((_, refused))) if error.code != ErrorCode::Spending => {
                next_input(TurnInput::Failed(refused))
            }
            (Ok(Err(error)), _) => next_input(TurnInput::Broke(error)),
            (Err(halted), _) => halted.into(),
        }
    }

    /// Does `work` until the turn is halted; tells once that the answer is waited for, when that takes long.
    async fn while_waiting<T>(
        &mut self,
        work: impl Future<Output = T> + Send,
    ) -> Result<T, CancelReason> {
        let mut work = pin!(work);
        let due = self.waiting.since.filter(|_| self.setup.runs_here && !self.waiting.is_told);
        if let Some(since) = due {
            let until =
                sleep_until(since + self.recorder.parts.time_scale.scale(WAIT_NOTICE_DELAY));
            let halt = &self.cancel;
            tokio::select! {
                biased;
                done = halt.unless_cancelled(work.as_mut()) => return done,
                () = until => {}
            }
            self.publish_wait(ModelWait::Reading { tokens: self.estimated });
        }
        self.cancel.unless_cancelled(work).await
    }

    fn publish_wait(&mut self, wait: ModelWait) {
        self.waiting.is_told = true;
        self.recorder.publish(TurnEvent::Waits(Some(wait)));
    }

    /// The answer begins, or there is none.
    fn answer_began(&mut self) {
        if std::mem::take(&mut self.waiting).is_told {
            self.recorder.publish(TurnEvent::Waits(None));
        }
    }

    /// The window that a refusal tells of, where a request that fits it can be built now: the window
    /// is smaller than was thought, or the server counted more tokens than were expected, which
    /// corrects the estimates. A turn is told one only [`MAX_REFITS`] times, so asking again ends.
    fn window_to_retry(&mut self, error: &ModelError) -> Option<u32> {
        let ModelError::ContextExceeded { window: Some(told), prompt, .. } = *error else {
            return None;
        };
        let ContextCapacity::Window(known) = self.setup.capacity else { return None };
        let model = &self.setup.model;
        let expected = self.calibrations.for_model(model).corrected(self.estimated);
        // The estimate is of the first request of an answer.
        let is_estimated = !self.answer.took_more_requests;
        let counted = prompt.filter(|counted| is_estimated && *counted > expected);
        if let Some(input) = counted {
            let usage = TokenUsage { input, ..TokenUsage::default() };
            self.calibrations.learn(model, self.estimated, usage);
        }
        if told >= known && counted.is_none() {
            return None;
        }
        self.refits += 1;
        (self.refits <= MAX_REFITS).then_some(told.min(known))
    }

    /// Waits for the next event of the answer, and includes those that came with it; text that
    /// comes together is one event. The stream is kept only while more may come.
    async fn receive(&mut self) -> DriverFlow {
        if self.cancel.shutdown.is_cancelled() {
            return CancelReason::Shutdown.into();
        }
        let Some(mut stream) = self.stream.take() else {
            let error = UserError::other(user_texts::answer_stopped_unexpectedly());
            return next_input(TurnInput::Broke(error));
        };
        let next = match self.while_waiting(stream.next()).await {
            Ok(next) => next,
            Err(halted) => return halted.into(),
        };
        self.answer_began();
        let mut heard = Vec::new();
        let mut is_over = collect_event(&mut heard, next);
        for _ in 0..MAX_EVENT_BATCH {
            let Some(more) = (!is_over).then(|| stream.next().now_or_never()).flatten() else {
                break;
            };
            is_over = collect_event(&mut heard, more);
        }
        if !is_over {
            self.stream = Some(stream);
        }
        let resends =
            |input: &TurnInput| matches!(input, TurnInput::Event(ModelEvent::AnotherRequest));
        self.answer.took_more_requests |= heard.iter().any(resends);
        if let Some(TurnInput::Failed(error)) = heard.last()
            && let Some(window) = self.window_to_retry(error)
        {
            // The request was sent again as text to a model without tools, and was too long.
            let error = error.clone();
            heard.pop();
            heard.push(TurnInput::TooLong(error.clone()));
            self.refused = Some((window, error));
        }
        match heard.last() {
            // The estimate is of one request, and the report of all that the answer took.
            Some(TurnInput::Event(ModelEvent::Stopped { usage, .. }))
                if !self.answer.took_more_requests =>
            {
                self.calibrations.learn(&self.setup.model, self.estimated, *usage);
            }
            Some(TurnInput::Failed(ModelError::Outdated(_)) | TurnInput::TooLong(_)) => {
                self.needs_renewal = true;
            }
            _ => {}
        }
        ControlFlow::Continue(heard)
    }
}

/// Adds an event of the stream, and returns whether nothing follows; text joins the text before it, and
/// the tokens until now stand first, so that they do not part it.
fn collect_event(heard: &mut Vec<TurnInput>, next: Option<Result<ModelEvent, ModelError>>) -> bool {
    match (heard.last_mut(), next) {
        (Some(TurnInput::Event(ModelEvent::Text(said))), Some(Ok(ModelEvent::Text(more)))) => {
            said.push_str(&more);
            false
        }
        (_, Some(Ok(ModelEvent::Usage(usage)))) => {
            let usage = TurnInput::Event(ModelEvent::Usage(usage));
            match heard.first_mut() {
                Some(told @ TurnInput::Event(ModelEvent::Usage(_))) => *told = usage,
                _ => heard.insert(0, usage),
            }
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

fn next_input(input: TurnInput) -> DriverFlow {
    ControlFlow::Continue(vec![input])
}

/// The note to the model for one request; it is stored with the answer.
fn mode_note(mode: AskMode) -> Option<&'static str> {
    match mode {
        AskMode::Plain => None,
        AskMode::Nudged => Some(model_texts::SAY_SOMETHING),
        AskMode::Closing => Some(model_texts::CLOSE_NOW),
    }
}

/// An answer that is being written.
struct AnswerRecord {
    id: MessageId,
    /// The note to the model for this answer alone.
    told: Option<&'static str>,
    /// Whether it took more requests than the one that was estimated.
    took_more_requests: bool,
}

fn new_answer() -> AnswerRecord {
    AnswerRecord { id: Uuid::now_v7().into(), told: None, took_more_requests: false }
}
