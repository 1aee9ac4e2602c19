//! Drives one turn: carries out what the rule book says, in order, each step durable before the
//! next is visible.

use std::collections::VecDeque;
use std::ops::ControlFlow;

use futures_util::StreamExt;
use protocol::fault::point;
use protocol::{
    CallResult, Ending, Message, MessageId, OpenTurn, Part, Question, QuestionId, Role, Step,
    Timestamp, TurnStatus, Usage, UserError,
};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::history;
use crate::host::{TurnEvent, TurnSetup};
use crate::model::{Block, ModelEvent, ModelMessage, ModelRequest};
use crate::provider::ModelStream;
use crate::service::ServiceParts;
use crate::tool::Effect;
use crate::turn::{Finish, How, Kind, Rules, Turn, TurnEffect, TurnInput};
use crate::wording;

mod calls;
mod halt;

use halt::{Halt, Halted};

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

/// What the rule book is told next, or how it ended.
type Flow = ControlFlow<Ran, Vec<TurnInput>>;

/// Runs a turn that was just begun to its end.
pub(crate) async fn run(parts: &ServiceParts, turn: &OpenTurn, stop: &CancellationToken) -> Ran {
    parts.host.tell(turn, TurnEvent::Began);
    let halt = Halt { shutdown: &parts.cancel, stop };
    let place = Place { parts, turn, question: Uuid::now_v7().into() };
    let setup = match halt.or(parts.host.setup(turn)).await {
        Ok(Ok(setup)) => setup,
        Ok(Err(error)) => return place.end(new_answer(), Finish::failed(error)).await,
        Err(Halted::Stopped) => return place.end(new_answer(), Finish::cancelled()).await,
        Err(Halted::Shutdown) => return Ran::Left,
    };
    let rules = place.rules(&setup);
    let run = Run { place, halt, setup, answer: new_answer(), stream: None };
    run.drive(Turn::new(rules)).await
}

/// A turn that runs.
struct Run<'a> {
    place: Place<'a>,
    halt: Halt<'a>,
    setup: TurnSetup,
    /// The answer that is being written.
    answer: MessageId,
    /// Where it comes from.
    stream: Option<ModelStream>,
}

impl Run<'_> {
    async fn drive(mut self, mut turn: Turn) -> Ran {
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
            TurnEffect::Show(text) => {
                self.place.tell(TurnEvent::Delta { message: self.answer.clone(), text });
                ControlFlow::Continue(Vec::new())
            }
            TurnEffect::StoreStep { parts, usage } => {
                one(self.place.store_step(self.answer.clone(), parts, usage).await)
            }
            TurnEffect::Run(calls) => self.run_calls(calls).await,
            TurnEffect::Plan(call) => self.plan(call).await,
            TurnEffect::StoreResults(results) => one(self.place.store_results(results).await),
            TurnEffect::Wait(wait) => {
                let wait = self.place.parts.pace.of(wait);
                match self.halt.or(tokio::time::sleep(wait)).await {
                    Ok(()) => one(TurnInput::Waited),
                    Err(halted) => halted.into(),
                }
            }
            TurnEffect::Finish(finish) => {
                self.stream = None;
                ControlFlow::Break(self.place.end(self.answer.clone(), finish).await)
            }
        }
    }

    async fn ask(&mut self, how: How) -> Flow {
        self.answer = new_answer();
        let request = match self.request(how).await {
            Ok(request) => request,
            Err(error) => return one(TurnInput::Broke(error)),
        };
        match self.halt.or(self.setup.provider.stream(request)).await {
            Ok(Ok(stream)) => {
                self.stream = Some(stream);
                ControlFlow::Continue(Vec::new())
            }
            Ok(Err(error)) => one(TurnInput::Failed(error)),
            Err(halted) => halted.into(),
        }
    }

    // `&mut`, as in all that awaits here: a stream is not `Sync`, so a shared borrow is not `Send`.
    async fn request(&mut self, how: How) -> Result<ModelRequest, UserError> {
        let Place { parts, turn, .. } = &self.place;
        let rows = parts.transcript.history(&turn.conversation, &turn.turn).await?;
        let mut messages = history::request_messages(&rows);
        let tools = match how {
            How::Plain | How::Nudged => parts.registry.specs(&self.setup.tools),
            How::Closing => Vec::new(),
        };
        match how {
            How::Plain => {}
            How::Nudged => add_note(&mut messages, wording::SAY_SOMETHING),
            How::Closing => add_note(&mut messages, wording::CLOSE_NOW),
        }
        Ok(ModelRequest {
            model: self.setup.model.clone(),
            system: self.setup.system.clone(),
            tools,
            messages,
            max_tokens: self.setup.max_tokens,
        })
    }

    /// Waits for the next event of the answer.
    async fn listen(&mut self) -> Flow {
        let Some(stream) = &mut self.stream else {
            let error = UserError::other("The turn came to a halt without an end: try again.");
            return one(TurnInput::Broke(error));
        };
        let input = match self.halt.or(stream.next()).await {
            Ok(Some(Ok(event))) => TurnInput::Event(event),
            Ok(Some(Err(error))) => TurnInput::Failed(error),
            Ok(None) => TurnInput::Severed,
            Err(halted) => {
                self.stream = None;
                return halted.into();
            }
        };
        if !matches!(&input, TurnInput::Event(event) if !matches!(event, ModelEvent::Stopped { .. }))
        {
            self.stream = None;
        }
        one(input)
    }
}

/// Where a turn is kept and told.
struct Place<'a> {
    parts: &'a ServiceParts,
    turn: &'a OpenTurn,
    /// The id of the question, should the turn end with one.
    question: QuestionId,
}

impl Place<'_> {
    fn tell(&self, event: TurnEvent) {
        self.parts.host.tell(self.turn, event);
    }

    fn rules(&self, setup: &TurnSetup) -> Rules {
        let registry = &self.parts.registry;
        let kind = |name: &str| match registry.effect(name) {
            _ if registry.changes_notes(name) => Kind::Change,
            Some(Effect::Read) | None => Kind::Read,
            Some(_) => Kind::Talk,
        };
        Rules {
            limits: setup.limits,
            kinds: setup.tools.iter().map(|name| (name.clone(), kind(name))).collect(),
            question: self.question.clone(),
            spread: fastrand::u8(..),
        }
    }

    async fn store_step(&self, id: MessageId, parts: Vec<Part>, usage: Usage) -> TurnInput {
        let step = Step { message: self.message(id, parts), usage };
        point("llm.step.before");
        let stored = self.parts.transcript.step(&self.turn.turn, &step).await;
        point("llm.step.after");
        match stored {
            Ok(()) => {
                self.tell(TurnEvent::Stepped(step.message));
                TurnInput::Stored
            }
            Err(error) => TurnInput::Broke(error),
        }
    }

    async fn store_results(&self, results: Vec<CallResult>) -> TurnInput {
        point("llm.results.before");
        let stored = self.parts.transcript.results(&self.turn.turn, &results).await;
        point("llm.results.after");
        match stored {
            Ok(()) => {
                self.tell(TurnEvent::Answered(results));
                TurnInput::Stored
            }
            Err(error) => TurnInput::Broke(error),
        }
    }

    async fn end(&self, answer: MessageId, finish: Finish) -> Ran {
        let ending = self.ending(answer, finish);
        point("llm.finish.before");
        let stored = self.parts.transcript.finish(&self.turn.turn, &ending).await;
        point("llm.finish.after");
        match stored {
            Ok(()) => {
                self.tell(TurnEvent::Ended(ending));
                Ran::Ended
            }
            Err(error) => {
                let (status, error) = (TurnStatus::Failed, Some(error));
                self.tell(TurnEvent::Ended(Ending { status, error, question: None, ..ending }));
                Ran::Unstored
            }
        }
    }

    fn ending(&self, answer: MessageId, finish: Finish) -> Ending {
        let at = now();
        let text = |text| self.message(answer, vec![Part::Text { text }]);
        let question = finish.question.map(|asked| Question {
            id: self.question.clone(),
            conversation: self.turn.conversation.clone(),
            turn: self.turn.turn.clone(),
            call: asked.call,
            original_message: self.turn.message.clone(),
            text: asked.message,
            options: asked.options,
            tool_calls_completed: asked.calls_before,
            asked_at: at,
        });
        Ending {
            status: finish.status,
            results: finish.results,
            message: finish.text.map(text),
            cut: finish.cut,
            question,
            ends_conversation: finish.ends_conversation,
            error: finish.error,
            usage: finish.usage,
            at,
        }
    }

    fn message(&self, id: MessageId, parts: Vec<Part>) -> Message {
        Message {
            id,
            conversation: self.turn.conversation.clone(),
            turn: self.turn.turn.clone(),
            role: Role::Assistant,
            parts,
            at: now(),
        }
    }
}

fn one(input: TurnInput) -> Flow {
    ControlFlow::Continue(vec![input])
}

/// Says something to the model for one request; it is not stored.
fn add_note(messages: &mut Vec<ModelMessage>, note: &str) {
    let note = Block::Text(note.to_owned());
    match messages.last_mut() {
        Some(last) if last.role == Role::User => last.blocks.push(note),
        _ => messages.push(ModelMessage { role: Role::User, blocks: vec![note] }),
    }
}

fn new_answer() -> MessageId {
    Uuid::now_v7().into()
}

fn now() -> Timestamp {
    Timestamp(jiff::Timestamp::now().as_millisecond())
}
