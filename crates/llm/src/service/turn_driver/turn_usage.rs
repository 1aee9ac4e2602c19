//! How full the context window is while a turn runs and when it ends, and what a turn has cost that is left.

use protocol::{CallResult, MessagePart, TokenUsage, UtilityRequest};

use super::TurnDriver;
use crate::ports::turn_policy::TurnEvent;
use crate::transport::clock::now;
use crate::turn::Finish;

impl TurnDriver<'_> {
    /// The turn stores a message with these parts.
    pub(super) fn fill_with(&mut self, parts: &[MessagePart]) {
        if let Some(filling) = &mut self.filling {
            filling.grow(parts);
        }
    }

    /// The turn stores these results.
    pub(super) fn fill_with_results(&mut self, results: &[CallResult]) {
        self.fill_with(&results.iter().map(part).collect::<Vec<_>>());
    }

    /// The turn ends, and its last text and results are stored. Tells how full the window is then;
    /// before the first request nothing is known.
    pub(super) fn fill_with_end(&mut self, finish: &Finish) {
        if let Some(text) = &finish.text {
            self.fill_with(&[MessagePart::Text { text: text.clone() }]);
        }
        if !finish.results.is_empty() {
            self.fill_with_results(&finish.results);
        }
        if let Some(filling) = &mut self.filling {
            filling.close();
        }
        self.tell_context();
    }

    /// The turn is left as it is, and this usage of its requests is in no step of it.
    pub(super) async fn record_left_usage(&mut self, usage: TokenUsage) {
        if usage == TokenUsage::default() {
            return;
        }
        let (model, price) = (self.setup.model.clone(), self.setup.price);
        let asked = UtilityRequest { model, price, usage, at: now() };
        let place = &self.recorder;
        if let Err(error) = place.parts.transcript.record_usage(&place.turn.turn, &asked).await {
            tracing::warn!(turn = %place.turn.turn, %error, "an answer that was left is not counted");
        }
    }

    /// Tells how full the context window is.
    pub(super) fn tell_context(&self) {
        let Some(filling) = &self.filling else { return };
        let told = filling.context_use(self.calibrations.for_model(&self.setup.model));
        self.recorder.publish(TurnEvent::Context(Some(told)));
    }
}

fn part(result: &CallResult) -> MessagePart {
    MessagePart::Result {
        call: result.call.clone(),
        output: result.output.clone(),
        is_error: result.is_error,
        speech: result.speech.clone(),
    }
}
