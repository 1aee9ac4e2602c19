//! One case against the real link: what was expected, and what is wrong with what came.

use std::time::{Duration, Instant};

use protocol::chat::conversation::ChatItem;
use protocol::notes::invisible::invisible_ranges;
use protocol::{HubState, HubStatus};
use serde_json::Value;

use super::byte_hub::ByteHubConnection;
use super::case::FrameExpectation;
use super::fixture::{CASE_TIMEOUT, FrameFixture, responses_to};
use super::websocket::{DecodedFrames, HubConnectionEnd, RawFrames};

/// The waits of a link: the first, the longest, and the longest with chance.
const FIRST_RETRY_DELAY: Duration = Duration::from_millis(250);
const MAX_RETRY_DELAY: Duration = Duration::from_secs(60);
const MAX_RETRY_DELAY_WITH_JITTER: Duration = Duration::from_secs(90);

/// A dead peer is found within so long, and not sooner than this.
const MIN_DEAD_PEER_TIMEOUT: Duration = Duration::from_secs(50);
const MAX_DEAD_PEER_TIMEOUT: Duration = Duration::from_secs(90);

/// The delay that a machine under load may add.
const SLACK: Duration = Duration::from_secs(5);

/// The hub has sent us away by its rules.
const CLOSE_POLICY_VIOLATION: u16 = 1008;

/// Good messages, before and after the frame.
const WARM_UP_ID: &str = "warm";
const PROBE_ID: &str = "probe";

/// The escape of half a surrogate pair, as cases have it without the other half.
const LONE_HALF: &str = r"\ud83c";

/// Clocks that nobody can hear differ by no more.
const MAX_CLOCK_SKEW_MS: i64 = 10 * 60 * 1000;

pub(super) struct FrameTrial<'a> {
    pub(super) stage: &'a FrameFixture,
    pub(super) expect: FrameExpectation,
    pub(super) raw_frames: &'a RawFrames,
    pub(super) content: DecodedFrames,
    /// The divisor of the link's clocks.
    pub(super) clock: u32,
}

/// Complaints, in sentences.
type FrameFindings = Vec<String>;

impl FrameTrial<'_> {
    /// Whether the case takes longer than anybody waits, unless the clocks are divided.
    pub(super) fn is_long(expect: FrameExpectation, content: &DecodedFrames) -> bool {
        matches!(expect, FrameExpectation::IdleTimeout | FrameExpectation::FailStopAsk)
            || content.close_codes.contains(&CLOSE_POLICY_VIOLATION)
    }

    /// The line that gets the frame. Where that is a registered one it has carried a message of
    /// that length already: what is only taken once, and kept for the next, is no growth.
    pub(super) async fn connect(&self) -> Result<ByteHubConnection, String> {
        if self.expect.is_about_registration() {
            return self.stage.accept_link(CASE_TIMEOUT).await;
        }
        let mut line = self.stage.accept_registered_link(CASE_TIMEOUT).await?;
        let words = self
            .expected_message()
            .filter(|_| self.expect.accepts())
            .map_or(0, |(_, text)| text.len());
        match self.stage.send_probe(&mut line, WARM_UP_ID, &"w".repeat(words.max(1)), 1).await {
            None => Ok(line),
            Some(why) => Err(why),
        }
    }

    /// Sends the frame over it.
    pub(super) async fn run(&self, line: ByteHubConnection) -> FrameFindings {
        let played = if self.expect.is_about_registration() {
            self.run_as_registration_answer(line).await
        } else {
            self.run_after_registration(line).await
        };
        played.unwrap_or_else(|why| vec![why])
    }

    /// How many messages stand in the chat in the end.
    fn expected_message_count(&self) -> usize {
        let before = usize::from(!self.expect.is_about_registration());
        before + usize::from(self.expect.accepts()) + 1
    }

    /// The frame answers our registration.
    async fn run_as_registration_answer(
        &self,
        mut line: ByteHubConnection,
    ) -> Result<FrameFindings, String> {
        let begun = Instant::now();
        line.send(self.raw_frames).await;
        let mut wrong = self.check_disconnected(&mut line).await;
        let state = match self.expect {
            FrameExpectation::FailStopAsk => HubState::Refused,
            _ => HubState::Waiting,
        };
        wrong.extend(self.check_status(state).await);
        let next = if state == HubState::Refused {
            if self.stage.hub.accept(MAX_RETRY_DELAY_WITH_JITTER / self.clock).await.is_some() {
                wrong.push("it dials again automatically".to_owned());
            }
            let refused = |status: &&HubStatus| status.state == HubState::Refused;
            let notices = self.stage.statuses().iter().filter(refused).count();
            if notices != 1 {
                wrong.push(format!("{notices} notices"));
            }
            self.stage.app.retry_hub().await.map_err(|error| error.to_string())?;
            self.stage.accept_registered_link(CASE_TIMEOUT).await?
        } else {
            self.check_reconnect(begun, FIRST_RETRY_DELAY, &mut wrong).await?
        };
        self.probe(next, &mut wrong).await;
        Ok(wrong)
    }

    /// The frame comes after a good registration.
    async fn run_after_registration(
        &self,
        mut line: ByteHubConnection,
    ) -> Result<FrameFindings, String> {
        let begun = Instant::now();
        line.send(self.raw_frames).await;
        let mut wrong = Vec::new();
        let line = match self.expect {
            FrameExpectation::IgnoreCount => {
                let counts = |all: &[HubStatus]| all.iter().any(|status| status.ignored > 0);
                if !self.stage.wait_for_status(counts).await {
                    wrong.push("nothing was counted".to_owned());
                }
                line
            }
            expect if expect.accepts() => {
                wrong.extend(self.check_accepted(&mut line).await);
                line
            }
            FrameExpectation::Refused => {
                let id = self.expected_message().map(|(id, _)| id).unwrap_or_default();
                if !line
                    .wait_until(CASE_TIMEOUT, |heard| responses_to(heard, &id).contains(&"reject"))
                    .await
                {
                    wrong.push(format!("it is not refused: {:?}", line.received()));
                }
                line
            }
            expect => {
                if self.raw_frames.end == HubConnectionEnd::Rst {
                    drop(line);
                } else {
                    wrong.extend(self.check_disconnected(&mut line).await);
                }
                if expect == FrameExpectation::IdleTimeout {
                    wrong.extend(self.check_duration(begun.elapsed()));
                }
                wrong.extend(self.check_status(HubState::Waiting).await);
                let is_slow = self.content.close_codes.contains(&CLOSE_POLICY_VIOLATION);
                let wait = if is_slow { MAX_RETRY_DELAY } else { FIRST_RETRY_DELAY };
                self.check_reconnect(begun, wait, &mut wrong).await?
            }
        };
        self.probe(line, &mut wrong).await;
        Ok(wrong)
    }

    /// The message is acknowledged and worked on.
    async fn check_accepted(&self, line: &mut ByteHubConnection) -> FrameFindings {
        let Some((id, _)) = self.expected_message() else {
            return vec!["the case has no message that could be accepted".to_owned()];
        };
        if !line.wait_until(CASE_TIMEOUT, |heard| responses_to(heard, &id).contains(&"ack")).await {
            return vec![format!("it is not acknowledged: {:?}", line.received())];
        }
        self.stage.wait_until_idle(2).await.into_iter().collect()
    }

    /// The link is gone, with the right code where one is due.
    async fn check_disconnected(&self, line: &mut ByteHubConnection) -> FrameFindings {
        if !line.wait_until(CASE_TIMEOUT, |heard| heard.ended.is_some()).await {
            return vec!["the link stays".to_owned()];
        }
        let code = line.received().close;
        let is_right = match self.expect {
            FrameExpectation::TooBig => code.is_none_or(|code| code == 1009),
            FrameExpectation::CloseReconnect if !self.content.close_codes.is_empty() => {
                code.is_some_and(|code| self.content.close_codes.contains(&code))
            }
            FrameExpectation::FailStopAsk | FrameExpectation::FailBackoff => {
                code.is_none_or(|code| code == 1000)
            }
            _ => true,
        };
        if is_right { Vec::new() } else { vec![format!("it leaves with {code:?}")] }
    }

    fn check_duration(&self, time: Duration) -> Option<String> {
        let (soon, late) =
            (MIN_DEAD_PEER_TIMEOUT / self.clock, MAX_DEAD_PEER_TIMEOUT / self.clock + SLACK);
        (!(soon..late).contains(&time)).then(|| format!("it took {time:?}"))
    }

    /// The window is told of the trouble.
    async fn check_status(&self, state: HubState) -> Option<String> {
        let says = |all: &[HubStatus]| {
            all.iter().any(|status| status.state == state && status.trouble.is_some())
        };
        let told = self.stage.wait_for_status(says).await;
        (!told).then(|| format!("it never says why it is {state:?}: {:?}", self.stage.statuses()))
    }

    /// It reconnects automatically, after its wait.
    async fn check_reconnect(
        &self,
        begun: Instant,
        wait: Duration,
        wrong: &mut FrameFindings,
    ) -> Result<ByteHubConnection, String> {
        let line = self.stage.accept_registered_link(CASE_TIMEOUT).await?;
        let took = begun.elapsed();
        if took < wait / self.clock {
            wrong.push(format!("it dials again after {took:?}"));
        }
        Ok(line)
    }

    async fn probe(&self, mut line: ByteHubConnection, wrong: &mut FrameFindings) {
        wrong.extend(
            self.stage
                .send_probe(&mut line, PROBE_ID, "Still there?", self.expected_message_count())
                .await,
        );
        let heard = line.received();
        let about_others = heard.frames.iter().filter(|frame| {
            let about = &frame["payload"]["messageId"];
            frame["type"] == "response" && *about != WARM_UP_ID && *about != PROBE_ID
        });
        let acks = about_others.clone().filter(|frame| frame["payload"]["type"] == "ack").count();
        let expected = usize::from(self.expect.accepts());
        let answered = if self.expect == FrameExpectation::Refused { 1 } else { 0 };
        if acks != expected || (expected == 0 && about_others.count() != answered) {
            wrong.push(format!("{acks} acknowledgements: {:?}", heard.frames));
        }
    }

    /// Checks the final state of the chat and the notes.
    pub(super) async fn check_final_state(&self) -> FrameFindings {
        let messages = match self.stage.user_messages().await {
            Ok(messages) => messages,
            Err(why) => return vec![why],
        };
        let mut wrong = Vec::new();
        let expected = self.expected_message_count();
        if messages.len() != expected || self.stage.finished_work() != expected {
            let (shown, added) = (messages.len(), self.stage.finished_work());
            wrong.push(format!("{shown} messages and {added} units of work, not {expected}"));
        }
        let strange = self.stage.unexpected_files();
        if !strange.is_empty() {
            wrong.push(format!("changed without a decision: {strange:?}"));
        }
        for item in &messages {
            if let ChatItem::User { origin, at, .. } = item {
                let now = jiff::Timestamp::now().as_millisecond();
                if !origin.is_hub() || (now - at.0).abs() > MAX_CLOCK_SKEW_MS {
                    wrong.push(format!("it counts as from {origin:?} at {at:?}"));
                }
            }
        }
        if let (Some((_, text)), Some(ChatItem::User { text: shown, .. })) =
            (self.expected_message().filter(|_| self.expect.accepts()), messages.get(1))
        {
            wrong.extend(self.check_text(&text, shown));
        }
        wrong
    }

    /// Checks how the text is shown and told.
    fn check_text(&self, text: &str, shown: &str) -> Option<String> {
        let is_obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        if self.expect == FrameExpectation::AcceptSanitised {
            let is_escaped = !shown.contains(is_obeyed) && !shown.trim().is_empty();
            return (!is_escaped).then(|| format!("shown as {shown:?}"));
        }
        if shown != text && !text.contains(is_obeyed) {
            return Some(format!("shown as {:?}", shown.chars().take(80).collect::<String>()));
        }
        if self.expect == FrameExpectation::AcceptMarked {
            let marks = invisible_ranges(text);
            let asked = self.stage.model_requests_text();
            let told = marks.iter().filter_map(|mark| text.get(mark.clone()));
            let told: Vec<&str> = told.filter(|mark| asked.contains(mark)).collect();
            if marks.is_empty() || !told.is_empty() {
                return Some(format!("{} marks, and the model was told {told:?}", marks.len()));
            }
        }
        None
    }

    /// Id and text of the message that the case holds; U+FFFD stands for [`LONE_HALF`].
    fn expected_message(&self) -> Option<(String, String)> {
        self.content.texts.iter().find_map(|text| {
            let frame: Value = serde_json::from_str(text)
                .or_else(|_| serde_json::from_str(&text.replace(LONE_HALF, "\\ufffd")))
                .ok()?;
            let field = |name: &str| Some(frame["payload"][name].as_str()?.to_owned());
            Some((field("id")?, field("text")?))
        })
    }
}
