//! One case against the real link: what was expected, and what is wrong with what came.

use std::time::{Duration, Instant};

use protocol::conversation::Item;
use protocol::invisible::strays;
use protocol::{HubState, HubStatus};
use serde_json::Value;

use super::bytes::{Content, End, Sent};
use super::case::Expect;
use super::peer::Line;
use super::stage::{LIMIT, Stage, answers};

/// The waits of a link: the first, the longest, and the longest with chance.
const FIRST_WAIT: Duration = Duration::from_millis(250);
const LONGEST_WAIT: Duration = Duration::from_secs(60);
const WITH_CHANCE: Duration = Duration::from_secs(90);

/// A dead peer is found within so long, and not sooner than this.
const DEAD_SOON: Duration = Duration::from_secs(50);
const DEAD_LATE: Duration = Duration::from_secs(90);

/// What a machine under load may add.
const SLACK: Duration = Duration::from_secs(5);

/// The hub has sent us away by its rules.
const BY_ITS_RULES: u16 = 1008;

/// Good messages, before and after the frame.
const WARM: &str = "warm";
const PROBE: &str = "probe";

/// Clocks that nobody can hear differ by no more.
const MINUTES: i64 = 10 * 60 * 1000;

pub(super) struct Trial<'a> {
    pub(super) stage: &'a Stage,
    pub(super) expect: Expect,
    pub(super) sent: &'a Sent,
    pub(super) content: Content,
    /// What the link's clocks are divided by.
    pub(super) clock: u32,
}

/// What is wrong, in sentences.
type Wrong = Vec<String>;

impl Trial<'_> {
    /// Whether the case takes longer than anybody waits, unless the clocks are divided.
    pub(super) fn is_long(expect: Expect, content: &Content) -> bool {
        matches!(expect, Expect::IdleTimeout | Expect::FailStopAsk)
            || content.due.contains(&BY_ITS_RULES)
    }

    /// The line that gets the frame. Where that is a registered one it has carried a message of
    /// that length already: what is only taken once, and kept for the next, is no growth.
    pub(super) async fn line(&self) -> Result<Line, String> {
        if self.expect.is_about_registration() {
            return self.stage.link(LIMIT).await;
        }
        let mut line = self.stage.registered(LIMIT).await?;
        let words =
            self.message().filter(|_| self.expect.accepts()).map_or(0, |(_, text)| text.len());
        match self.stage.probe(&mut line, WARM, &"w".repeat(words.max(1)), 1).await {
            None => Ok(line),
            Some(why) => Err(why),
        }
    }

    /// Sends the frame over it.
    pub(super) async fn run(&self, line: Line) -> Wrong {
        let played = if self.expect.is_about_registration() {
            self.refused(line).await
        } else {
            self.online(line).await
        };
        played.unwrap_or_else(|why| vec![why])
    }

    /// How many messages stand in the chat in the end.
    fn items(&self) -> usize {
        let before = usize::from(!self.expect.is_about_registration());
        before + usize::from(self.expect.accepts()) + 1
    }

    /// The frame answers our registration.
    async fn refused(&self, mut line: Line) -> Result<Wrong, String> {
        let begun = Instant::now();
        line.send(self.sent).await;
        let mut wrong = self.left(&mut line).await;
        let state = match self.expect {
            Expect::FailStopAsk => HubState::Refused,
            _ => HubState::Waiting,
        };
        wrong.extend(self.says(state).await);
        let next = if state == HubState::Refused {
            if self.stage.port.accept(WITH_CHANCE / self.clock).await.is_some() {
                wrong.push("it dials again by itself".to_owned());
            }
            let refused = |status: &&HubStatus| status.state == HubState::Refused;
            let notices = self.stage.statuses().iter().filter(refused).count();
            if notices != 1 {
                wrong.push(format!("{notices} notices"));
            }
            self.stage.app.retry_hub().await.map_err(|error| error.to_string())?;
            self.stage.registered(LIMIT).await?
        } else {
            self.again(begun, FIRST_WAIT, &mut wrong).await?
        };
        self.probe(next, &mut wrong).await;
        Ok(wrong)
    }

    /// The frame comes after a good registration.
    async fn online(&self, mut line: Line) -> Result<Wrong, String> {
        let begun = Instant::now();
        line.send(self.sent).await;
        let mut wrong = Vec::new();
        let line = match self.expect {
            Expect::IgnoreCount => {
                let counts = |all: &[HubStatus]| all.iter().any(|status| status.ignored > 0);
                if !self.stage.told(counts).await {
                    wrong.push("nothing was counted".to_owned());
                }
                line
            }
            expect if expect.accepts() => {
                wrong.extend(self.taken(&mut line).await);
                line
            }
            Expect::Refused => {
                let id = self.message().map(|(id, _)| id).unwrap_or_default();
                if !line.hears(LIMIT, |heard| answers(heard, &id).contains(&"reject")).await {
                    wrong.push(format!("it is not refused: {:?}", line.heard()));
                }
                line
            }
            expect => {
                if self.sent.end == End::Rst {
                    drop(line);
                } else {
                    wrong.extend(self.left(&mut line).await);
                }
                if expect == Expect::IdleTimeout {
                    wrong.extend(self.took(begun.elapsed()));
                }
                wrong.extend(self.says(HubState::Waiting).await);
                let is_slow = self.content.due.contains(&BY_ITS_RULES);
                let wait = if is_slow { LONGEST_WAIT } else { FIRST_WAIT };
                self.again(begun, wait, &mut wrong).await?
            }
        };
        self.probe(line, &mut wrong).await;
        Ok(wrong)
    }

    /// The message is acknowledged and worked on.
    async fn taken(&self, line: &mut Line) -> Wrong {
        let Some((id, _)) = self.message() else {
            return vec!["the case has no message that could be accepted".to_owned()];
        };
        if !line.hears(LIMIT, |heard| answers(heard, &id).contains(&"ack")).await {
            return vec![format!("it is not acknowledged: {:?}", line.heard())];
        }
        self.stage.settled(2).await.into_iter().collect()
    }

    /// The link is gone, with the right code where one is due.
    async fn left(&self, line: &mut Line) -> Wrong {
        if !line.hears(LIMIT, |heard| heard.ended.is_some()).await {
            return vec!["the link stays".to_owned()];
        }
        let code = line.heard().close;
        let is_right = match self.expect {
            Expect::TooBig => code.is_none_or(|code| code == 1009),
            Expect::CloseReconnect if !self.content.due.is_empty() => {
                code.is_some_and(|code| self.content.due.contains(&code))
            }
            Expect::FailStopAsk | Expect::FailBackoff => code.is_none_or(|code| code == 1000),
            _ => true,
        };
        if is_right { Vec::new() } else { vec![format!("it leaves with {code:?}")] }
    }

    fn took(&self, time: Duration) -> Option<String> {
        let (soon, late) = (DEAD_SOON / self.clock, DEAD_LATE / self.clock + SLACK);
        (!(soon..late).contains(&time)).then(|| format!("it took {time:?}"))
    }

    /// The window is told of the trouble.
    async fn says(&self, state: HubState) -> Option<String> {
        let says = |all: &[HubStatus]| {
            all.iter().any(|status| status.state == state && status.trouble.is_some())
        };
        let told = self.stage.told(says).await;
        (!told).then(|| format!("it never says why it is {state:?}: {:?}", self.stage.statuses()))
    }

    /// It comes back by itself, after its wait.
    async fn again(
        &self,
        begun: Instant,
        wait: Duration,
        wrong: &mut Wrong,
    ) -> Result<Line, String> {
        let line = self.stage.registered(LIMIT).await?;
        let took = begun.elapsed();
        if took < wait / self.clock {
            wrong.push(format!("it dials again after {took:?}"));
        }
        Ok(line)
    }

    async fn probe(&self, mut line: Line, wrong: &mut Wrong) {
        wrong.extend(self.stage.probe(&mut line, PROBE, "Still there?", self.items()).await);
        let heard = line.heard();
        let about_others = heard.frames.iter().filter(|frame| {
            let about = &frame["payload"]["messageId"];
            frame["type"] == "response" && *about != WARM && *about != PROBE
        });
        let acks = about_others.clone().filter(|frame| frame["payload"]["type"] == "ack").count();
        let expected = usize::from(self.expect.accepts());
        let answered = if self.expect == Expect::Refused { 1 } else { 0 };
        if acks != expected || (expected == 0 && about_others.count() != answered) {
            wrong.push(format!("{acks} acknowledgements: {:?}", heard.frames));
        }
    }

    /// What stands in the chat and in the notes in the end.
    pub(super) async fn afterwards(&self) -> Wrong {
        let messages = match self.stage.messages().await {
            Ok(messages) => messages,
            Err(why) => return vec![why],
        };
        let mut wrong = Vec::new();
        let expected = self.items();
        if messages.len() != expected || self.stage.added() != expected {
            let (shown, added) = (messages.len(), self.stage.added());
            wrong.push(format!("{shown} messages and {added} units of work, not {expected}"));
        }
        let strange = self.stage.strange_files();
        if !strange.is_empty() {
            wrong.push(format!("changed without a verdict: {strange:?}"));
        }
        for item in &messages {
            if let Item::User { origin, at, .. } = item {
                let now = jiff::Timestamp::now().as_millisecond();
                if !origin.is_hub() || (now - at.0).abs() > MINUTES {
                    wrong.push(format!("it counts as from {origin:?} at {at:?}"));
                }
            }
        }
        if let (Some((_, text)), Some(Item::User { text: shown, .. })) =
            (self.message().filter(|_| self.expect.accepts()), messages.get(1))
        {
            wrong.extend(self.words(&text, shown));
        }
        wrong
    }

    /// What is wrong with how the words are shown and told.
    fn words(&self, text: &str, shown: &str) -> Option<String> {
        let is_obeyed = |c: char| c.is_control() && !matches!(c, '\n' | '\r' | '\t');
        if self.expect == Expect::AcceptSanitised {
            let is_escaped = !shown.contains(is_obeyed) && !shown.trim().is_empty();
            return (!is_escaped).then(|| format!("shown as {shown:?}"));
        }
        if shown != text && !text.contains(is_obeyed) {
            return Some(format!("shown as {:?}", shown.chars().take(80).collect::<String>()));
        }
        if self.expect == Expect::AcceptMarked {
            let marks = strays(text);
            let asked = self.stage.asked();
            let told = marks.iter().filter_map(|mark| text.get(mark.clone()));
            let told: Vec<&str> = told.filter(|mark| asked.contains(mark)).collect();
            if marks.is_empty() || !told.is_empty() {
                return Some(format!("{} marks, and the model was told {told:?}", marks.len()));
            }
        }
        None
    }

    /// Id and text of the message that the case holds.
    fn message(&self) -> Option<(String, String)> {
        self.content.texts.iter().find_map(|text| {
            let frame: Value = serde_json::from_str(text).ok()?;
            let field = |name: &str| Some(frame["payload"][name].as_str()?.to_owned());
            Some((field("id")?, field("text")?))
        })
    }
}
