//! The tokens of a request: as reported so far, or estimated.
//!
//! A stopped or broken answer costs what was read and written until then, and many providers report
//! that only at the end of an answer. Some report it never.

use protocol::TokenUsage;

use crate::context::tokens;
use crate::model::{ModelError, ModelEvent};

/// No prompt takes more than this many times the estimated tokens: an estimate counts about four bytes as one, and a
/// token is a byte at least. The rest is for what a server adds.
const MAX_PROMPT_RATIO: u32 = 8;
/// Tokens that a server may add to any prompt, for its own rules and for tools.
const MAX_ADDED_PROMPT: u32 = 20_000;
/// No model writes more in one answer, thinking included.
const MAX_OUTPUT: u32 = 200_000;

/// Counts one request.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct RequestUsage {
    /// Tokens of the prompt, as estimated; 0 until it is sent.
    prompt: u32,
    reported: Option<TokenUsage>,
    /// Bytes of text that came.
    streamed: usize,
    has_begun: bool,
}

impl RequestUsage {
    /// The request is sent, with a prompt of `prompt` tokens, as estimated.
    pub(crate) fn sent(prompt: u32) -> Self {
        Self { prompt, ..Self::default() }
    }

    /// An event of the answer came.
    pub(crate) fn observe(&mut self, event: &ModelEvent) {
        self.has_begun = true;
        match event {
            ModelEvent::Usage(usage) => self.reported = Some(*usage),
            ModelEvent::Text(text) | ModelEvent::HeldText(text) => {
                self.streamed = self.streamed.saturating_add(text.len());
            }
            ModelEvent::Verbatim(_)
            | ModelEvent::Call(_)
            | ModelEvent::OwnCall(_)
            | ModelEvent::BrokenCall { .. }
            | ModelEvent::AnotherRequest
            | ModelEvent::Stopped { .. } => {}
        }
    }

    /// The tokens until now; none for a request that no model was sent.
    pub(crate) fn so_far(&self) -> TokenUsage {
        if self.prompt == 0 && self.reported.is_none() {
            return TokenUsage::default();
        }
        let mut usage = self.reported.unwrap_or_default();
        if usage.input == 0 && usage.cache_read == 0 && usage.cache_write == 0 {
            usage.input = self.prompt;
        }
        usage.output = usage.output.max(tokens::of_bytes(self.streamed));
        self.plausible(usage)
    }

    /// The tokens of a request whose answer is whole and ended with this report. Where it says nothing of the
    /// prompt, the prompt is estimated; one without any tokens was answered by no model.
    pub(crate) fn at_end(&self, reported: TokenUsage) -> TokenUsage {
        let TokenUsage { input, output, cache_read, cache_write } = reported;
        let lacks_prompt = input == 0 && cache_read == 0 && cache_write == 0;
        let usage = match lacks_prompt && output > 0 {
            true => TokenUsage { input: self.prompt, ..reported },
            false => reported,
        };
        self.plausible(usage)
    }

    /// A report without the tokens that no request can have taken: by one wrong report the limit of a month would be
    /// reached.
    fn plausible(&self, usage: TokenUsage) -> TokenUsage {
        if self.prompt == 0 {
            return usage;
        }
        let mut left =
            self.prompt.saturating_mul(MAX_PROMPT_RATIO).saturating_add(MAX_ADDED_PROMPT);
        let mut take = |reported: u32| {
            let taken = reported.min(left);
            left -= taken;
            taken
        };
        let most_output = MAX_OUTPUT.max(tokens::of_bytes(self.streamed));
        let taken = TokenUsage {
            cache_write: take(usage.cache_write),
            input: take(usage.input),
            cache_read: take(usage.cache_read),
            output: usage.output.min(most_output),
        };
        if taken != usage {
            tracing::warn!(
                ?usage,
                ?taken,
                "the server reported more tokens than a request can take"
            );
        }
        taken
    }

    /// The tokens of a request that ended with `error`: none if the server refused it.
    pub(crate) fn after(&self, error: &ModelError) -> TokenUsage {
        let is_lost = matches!(error, ModelError::Network(_) | ModelError::Silent(_));
        if self.has_begun || is_lost { self.so_far() } else { TokenUsage::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(prompt: u32, events: &[ModelEvent]) -> RequestUsage {
        let mut usage = RequestUsage::sent(prompt);
        events.iter().for_each(|event| usage.observe(event));
        usage
    }

    fn counts(usage: TokenUsage) -> (u32, u32, u32) {
        (usage.input, usage.cache_read, usage.output)
    }

    #[test]
    fn a_report_counts_and_its_gaps_are_estimated() {
        let text = || ModelEvent::Text("seven b".into());
        let report = |input, cache_read, output| {
            ModelEvent::Usage(TokenUsage { input, cache_read, output, cache_write: 0 })
        };
        for (events, expected) in [
            (vec![], (90, 0, 0)),
            (vec![text(), text()], (90, 0, 4)),
            (vec![report(5, 3, 1), text()], (5, 3, 2)),
            (vec![report(0, 3, 0)], (0, 3, 0)),
            (vec![text(), report(0, 0, 7)], (90, 0, 7)),
            (vec![report(5, 0, 1), report(5, 0, 9)], (5, 0, 9)),
        ] {
            assert_eq!(counts(heard(90, &events).so_far()), expected, "{events:?}");
        }
        assert_eq!(heard(0, &[text()]).so_far(), TokenUsage::default(), "no model was asked");
    }

    #[test]
    fn an_end_that_does_not_report_the_prompt_is_charged_with_the_estimate() {
        let report =
            |input, cache_read, output| TokenUsage { input, output, cache_read, cache_write: 0 };
        for (reported, expected) in [
            (report(0, 0, 7), (90, 0, 7)),
            (report(5, 0, 7), (5, 0, 7)),
            (report(0, 3, 7), (0, 3, 7)),
            (report(0, 0, 0), (0, 0, 0)),
        ] {
            assert_eq!(counts(heard(90, &[]).at_end(reported)), expected, "{reported:?}");
        }
    }

    #[test]
    fn a_report_of_more_tokens_than_a_request_can_take_is_cut() {
        let report =
            |input, cache_read, output| TokenUsage { input, output, cache_read, cache_write: 0 };
        for (reported, expected) in [
            (report(u32::MAX, 0, 7), (20_720, 0, 7)),
            (report(20_000, u32::MAX, u32::MAX), (20_000, 720, 200_000)),
            // The control: a proxy with a long prompt of its own, and a model that thinks long.
            (report(700, 20_000, 128_000), (700, 20_000, 128_000)),
        ] {
            let heard = heard(90, &[ModelEvent::Usage(reported)]);
            assert_eq!(counts(heard.at_end(reported)), expected, "{reported:?}");
            assert_eq!(counts(heard.so_far()), expected, "{reported:?}");
        }
    }

    #[test]
    fn what_the_server_refused_before_its_answer_began_costs_nothing() {
        let limited = ModelError::RateLimit { message: "".into(), retry_after: None };
        let lost = ModelError::Network("".into());
        let text = [ModelEvent::Text("seven b".into())];
        assert_eq!(heard(90, &[]).after(&limited), TokenUsage::default());
        assert_eq!(counts(heard(90, &[]).after(&lost)), (90, 0, 0));
        assert_eq!(counts(heard(90, &text).after(&limited)), (90, 0, 2));
    }
}
