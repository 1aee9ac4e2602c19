//! What a turn's model is sent, and what is done when that has become too much.

use protocol::{Role, UserError};

use super::place::Place;
use super::{Flow, Run, Weight, one};
use crate::budget::{self, Budget, Frame};
use crate::compaction::{self, Job, Spared, When};
use crate::filling::Filling;
use crate::history;
use crate::host::Capacity;
use crate::model::{Block, ModelMessage, ModelRequest, ToolSpec};
use crate::shown::shown;
use crate::transcript::History;
use crate::turn::{How, TurnInput};

impl Run<'_> {
    // `&mut`, as in all that awaits here: a stream is not `Sync`, so a shared borrow is not `Send`.
    pub(super) async fn request(&mut self, how: How) -> Result<ModelRequest, TurnInput> {
        let history = self.history().await.map_err(TurnInput::Broke)?;
        let tools = match how {
            How::Plain | How::Nudged => self.tools(),
            How::Closing => Vec::new(),
        };
        let setup = &self.setup;
        let frame = self.frame(&tools);
        let budget = Budget::of(&frame);
        let open = &self.place.turn.turn;
        let filled = budget.map(|budget| Filling::of(budget, &history, Some(open), &setup.kept));
        if setup.summing_up.is_some()
            && !self.put_off
            && filled.is_some_and(|filling| filling.percent() >= compaction::BEFORE_A_REQUEST)
        {
            self.put_off = true;
            return Err(TurnInput::Full);
        }
        let fitting =
            budget::fit(history, &frame).map_err(|error| TurnInput::Failed(error.into()))?;
        let answered = fitting.estimated.saturating_add(setup.max_tokens);
        self.weight = match budget.map(|budget| budget.percent(answered)) {
            Some(percent) if percent >= compaction::AT_REST => Weight::Heavy,
            Some(_) | None => Weight::Light,
        };
        self.estimated = fitting.estimated;
        self.filling = filled;
        self.tell_context();
        let mut messages = history::request_messages(&fitting.rows, &setup.maker());
        if let Some(note) = self.answer.told {
            add_note(&mut messages, note);
        }
        let request = ModelRequest {
            model: setup.model.clone(),
            system: setup.system.clone(),
            tools,
            messages,
            max_tokens: setup.max_tokens,
        };
        Ok(match setup.capacity {
            Capacity::Window(_) => shown(request),
            Capacity::Unlimited | Capacity::OwnTurn => request,
        })
    }

    fn tools(&self) -> Vec<ToolSpec> {
        self.setup.specs(&self.place.parts.registry)
    }

    fn frame(&self, tools: &[ToolSpec]) -> Frame<'_> {
        let setup = &self.setup;
        let gauge = self.gauges.of(&setup.model);
        Frame::of(setup, tools, self.answer.told, &self.place.turn.turn, gauge)
    }

    async fn history(&mut self) -> Result<History, UserError> {
        let Place { parts, turn, .. } = &self.place;
        let (conversation, turn) = (&turn.conversation, &turn.turn);
        match self.setup.capacity {
            Capacity::Window(_) => parts.transcript.history(conversation, turn).await,
            // Everything is heard as it was.
            Capacity::Unlimited => {
                let all = parts.transcript.originals(conversation, turn).await?;
                Ok(History::of(all.rows))
            }
            Capacity::OwnTurn => Ok(History::of(parts.transcript.said_in(turn).await?)),
        }
    }

    /// Puts earlier messages together. What fails is no reason not to ask: the oldest are left out.
    pub(super) async fn compact(&mut self) -> Flow {
        let Place { parts, turn, .. } = self.place;
        let tools = self.tools();
        let Some(budget) = Budget::of(&self.frame(&tools)) else {
            return one(TurnInput::Compacted(0));
        };
        let Some(by) = &self.setup.summing_up else { return one(TurnInput::Compacted(0)) };
        let spared = Spared { open: Some(&turn.turn), asked: &self.setup.kept };
        let job = Job { parts, gauges: self.gauges, turn, by, spared, budget };
        match self.halt.or(job.run(When::Needed)).await {
            Ok((made, cost)) => {
                if let Err(error) = made {
                    tracing::warn!(%error, "earlier messages could not be put together");
                }
                one(TurnInput::Compacted(cost))
            }
            Err(halted) => halted.into(),
        }
    }
}

fn add_note(messages: &mut Vec<ModelMessage>, note: &str) {
    let note = Block::Text(note.to_owned());
    match messages.last_mut() {
        Some(last) if last.role == Role::User => last.blocks.push(note),
        _ => messages.push(ModelMessage { role: Role::User, blocks: vec![note] }),
    }
}
