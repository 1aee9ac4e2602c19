//! The law of the turn, over any story: stories that make sense, and stories that do not.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use protocol::Speech;
use serde_json::json;

use super::tests::{call, rules};
use super::*;
use crate::model::StopReason;
use crate::transport::retry;

const ROUND_TRIPS: u32 = 4;
const CALLS: u32 = 9;
const CALLS_PER_MESSAGE: u32 = 4;

/// An input, whether or not the turn waits for it.
#[derive(Debug, Clone)]
enum StoryEvent {
    Begun,
    Text(&'static str),
    Call {
        id: u8,
        tool: &'static str,
        argument: u8,
    },
    Broken {
        id: u8,
    },
    Stop(StopReason),
    Fail(ModelError),
    Severed,
    Stored,
    NotStored,
    Settle {
        which: u8,
        how: CallSettlement,
    },
    Waited,
    Full,
    Compacted,
    Cancel,
    /// The next input of the turn, a success.
    Onward,
}

#[derive(Debug, Clone, Copy)]
enum CallSettlement {
    Well,
    Badly,
    Asking,
    Ending,
    Saying,
}

/// The state of the world around the turn.
struct TurnOracle {
    turn: Turn,
    unstored: Option<Unstored>,
    under_way: Vec<CallId>,
    calls: Vec<CallId>,
    results: Vec<CallId>,
    ran: Vec<CallId>,
    trips: u32,
    asked: u32,
    waiting: bool,
    compacting: bool,
    compactions: u32,
    /// Why the last answer stopped, and the one whose step was stored last.
    told: Option<StopReason>,
    reason: Option<StopReason>,
    finishes: u32,
}

enum Unstored {
    Step(Vec<CallId>),
    Results(Vec<CallId>),
}

impl TurnOracle {
    fn new() -> Self {
        let limits = TurnLimits {
            round_trips: ROUND_TRIPS,
            calls: CALLS,
            calls_per_message: CALLS_PER_MESSAGE,
        };
        Self {
            turn: Turn::new(TurnRules { limits, ..rules() }),
            unstored: None,
            under_way: Vec::new(),
            calls: Vec::new(),
            results: Vec::new(),
            ran: Vec::new(),
            trips: 0,
            asked: 0,
            waiting: false,
            compacting: false,
            compactions: 0,
            told: None,
            reason: None,
            finishes: 0,
        }
    }

    fn apply_event(&mut self, beat: StoryEvent) -> Result<(), TestCaseError> {
        let input = match beat {
            StoryEvent::Onward => self.next_input(),
            StoryEvent::Begun => TurnInput::Begun,
            StoryEvent::Text(text) => TurnInput::Event(ModelEvent::Text(text.into())),
            StoryEvent::Call { id, tool, argument } => {
                let call = call(&format!("c{id}"), tool, json!({ "a": argument }));
                TurnInput::Event(ModelEvent::Call(call))
            }
            StoryEvent::Broken { id } => TurnInput::Event(ModelEvent::BrokenCall {
                id: format!("c{id}").into(),
                tool: "read".into(),
                problem: "cut".into(),
            }),
            StoryEvent::Stop(reason) => {
                self.told = Some(reason);
                TurnInput::Event(ModelEvent::Stopped { reason, usage: TokenUsage::default() })
            }
            StoryEvent::Fail(error) => TurnInput::Failed(error),
            StoryEvent::Severed => TurnInput::Severed,
            StoryEvent::Stored => self.store(),
            StoryEvent::NotStored => {
                self.unstored = None;
                TurnInput::Broke(UserError::other("disk full"))
            }
            StoryEvent::Settle { which, how } => self.settle(which, how),
            StoryEvent::Waited => TurnInput::Waited,
            StoryEvent::Full => TurnInput::Full,
            StoryEvent::Compacted => {
                self.compacting = false;
                TurnInput::Compacted(1)
            }
            StoryEvent::Cancel => TurnInput::Cancel,
        };
        let effects = self.turn.step(input);
        effects.into_iter().try_for_each(|effect| self.apply_effect(effect))
    }

    fn store(&mut self) -> TurnInput {
        match self.unstored.take() {
            Some(Unstored::Step(calls)) => self.calls.extend(calls),
            Some(Unstored::Results(results)) => self.results.extend(results),
            None => {}
        }
        TurnInput::Stored
    }

    fn next_input(&mut self) -> TurnInput {
        if self.unstored.is_some() {
            self.store()
        } else if !self.under_way.is_empty() {
            self.settle(0, CallSettlement::Well)
        } else if std::mem::take(&mut self.waiting) {
            TurnInput::Waited
        } else if std::mem::take(&mut self.compacting) {
            TurnInput::Compacted(0)
        } else if self.asked == 0 {
            TurnInput::Begun
        } else {
            self.told = Some(StopReason::ToolUse);
            let usage = TokenUsage::default();
            TurnInput::Event(ModelEvent::Stopped { reason: StopReason::ToolUse, usage })
        }
    }

    fn settle(&mut self, which: u8, how: CallSettlement) -> TurnInput {
        if self.under_way.is_empty() {
            return TurnInput::Outcome("stranger".into(), ToolOutcome::ok("?"));
        }
        let call = self.under_way.remove(usize::from(which) % self.under_way.len());
        let speech = match how {
            CallSettlement::Asking => {
                Some(Speech::Ask { text: "which?".into(), options: Vec::new() })
            }
            CallSettlement::Ending => Some(Speech::End { reason: None }),
            CallSettlement::Saying => Some(Speech::Say { text: "well".into() }),
            CallSettlement::Well | CallSettlement::Badly => None,
        };
        let is_error = matches!(how, CallSettlement::Badly);
        let outcome = ToolOutcome { is_error, speech, ..ToolOutcome::ok("done") };
        TurnInput::Outcome(call, outcome)
    }

    fn apply_effect(&mut self, effect: TurnEffect) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.finishes, 0, "something follows the end: {:?}", effect);
        match effect {
            TurnEffect::Ask(_) => {
                self.asked += 1;
                prop_assert_eq!(&self.results, &self.calls, "asked with calls open");
            }
            TurnEffect::Compact => {
                self.compacting = true;
                self.compactions += 1;
                prop_assert_eq!(&self.results, &self.calls, "compacts with calls open");
            }
            TurnEffect::Show(text) => prop_assert!(!text.is_empty()),
            TurnEffect::StoreStep { parts, .. } => {
                let calls: Vec<CallId> = parts.into_iter().filter_map(id_of).collect();
                self.trips += u32::from(!calls.is_empty());
                self.reason = self.told;
                self.unstored = Some(Unstored::Step(calls));
            }
            TurnEffect::StoreResults(results) => {
                let results = results.into_iter().map(|result| result.call).collect();
                self.unstored = Some(Unstored::Results(results));
            }
            TurnEffect::Run(calls) => {
                let side = calls.len() > 1;
                let alone = |call: &ToolCall| matches!(call.tool.as_str(), "edit" | "say");
                prop_assert!(!side || !calls.iter().any(alone));
                calls.iter().try_for_each(|call| self.begin(call))?;
            }
            TurnEffect::Plan(call) => {
                prop_assert_eq!(&call.tool, "edit");
                self.begin(&call)?;
            }
            TurnEffect::Wait(wait) => {
                prop_assert!(wait <= retry::MAX_WAIT);
                self.waiting = true;
            }
            TurnEffect::Finish(finish) => {
                prop_assert!(finish.status.is_terminal());
                self.finishes += 1;
                self.results.extend(finish.results.into_iter().map(|result| result.call));
            }
        }
        Ok(())
    }

    fn begin(&mut self, call: &ToolCall) -> Result<(), TestCaseError> {
        prop_assert!(self.calls.contains(&call.id), "runs what is not stored");
        prop_assert!(!self.ran.contains(&call.id), "runs twice");
        prop_assert_eq!(self.reason, Some(StopReason::ToolUse));
        self.ran.push(call.id.clone());
        self.under_way.push(call.id.clone());
        Ok(())
    }

    /// The law, once the story is over.
    fn check(&self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.finishes, 1);
        prop_assert_eq!(&self.results, &self.calls, "one result per call, in call order");
        let ids: BTreeSet<&CallId> = self.calls.iter().collect();
        prop_assert_eq!(ids.len(), self.calls.len(), "ids are unique in the turn");
        prop_assert!(self.trips <= ROUND_TRIPS + 1, "one more may be cut inside its calls");
        prop_assert!(self.ran.len() <= CALLS as usize);
        let requests = ROUND_TRIPS + MAX_PAUSES + 2;
        prop_assert!(self.compactions <= 1, "compacted {} times", self.compactions);
        // The postponed request is sent again.
        prop_assert!(
            self.asked <= requests * retry::MAX_ATTEMPTS + 1,
            "asked {} times",
            self.asked
        );
        Ok(())
    }
}

fn id_of(part: MessagePart) -> Option<CallId> {
    if let MessagePart::Call { id, .. } = part { Some(id) } else { None }
}

fn any_event() -> impl Strategy<Value = StoryEvent> {
    let tool = prop_oneof![3 => Just("read"), 2 => Just("edit"), 1 => Just("say"), 1 => Just("?")];
    let reason = prop_oneof![
        6 => Just(StopReason::ToolUse),
        1 => Just(StopReason::EndTurn),
        1 => Just(StopReason::MaxTokens),
        1 => Just(StopReason::StopSequence),
        2 => Just(StopReason::PauseTurn),
        1 => Just(StopReason::Refusal),
        1 => Just(StopReason::ContextExceeded),
        1 => Just(StopReason::Unknown),
    ];
    let error = prop_oneof![
        3 => Just(ModelError::Network("lost".into())),
        1 => Just(ModelError::Auth("key".into())),
    ];
    let how = prop_oneof![
        6 => Just(CallSettlement::Well),
        4 => Just(CallSettlement::Badly),
        1 => Just(CallSettlement::Asking),
        1 => Just(CallSettlement::Ending),
        2 => Just(CallSettlement::Saying),
    ];
    prop_oneof![
        30 => Just(StoryEvent::Onward),
        4 => prop_oneof![Just("words "), Just(" ")].prop_map(StoryEvent::Text),
        30 => (0..6_u8, tool, 0..3_u8)
            .prop_map(|(id, tool, argument)| StoryEvent::Call { id, tool, argument }),
        2 => (0..6_u8).prop_map(|id| StoryEvent::Broken { id }),
        10 => reason.prop_map(StoryEvent::Stop),
        2 => error.prop_map(StoryEvent::Fail),
        1 => Just(StoryEvent::Severed),
        10 => Just(StoryEvent::Stored),
        1 => Just(StoryEvent::NotStored),
        10 => (any::<u8>(), how).prop_map(|(which, how)| StoryEvent::Settle { which, how }),
        2 => Just(StoryEvent::Waited),
        3 => Just(StoryEvent::Full),
        2 => Just(StoryEvent::Compacted),
        1 => Just(StoryEvent::Cancel),
        1 => Just(StoryEvent::Begun),
    ]
}

fn play(story: Vec<StoryEvent>) -> Result<TurnOracle, TestCaseError> {
    let mut world = TurnOracle::new();
    world.apply_event(StoryEvent::Begun)?;
    for beat in story {
        world.apply_event(beat)?;
    }
    for last in [
        StoryEvent::Cancel,
        StoryEvent::Stored,
        StoryEvent::Stored,
        StoryEvent::Begun,
        StoryEvent::Cancel,
    ] {
        world.apply_event(last)?;
    }
    Ok(world)
}

proptest! {
    #[test]
    fn whatever_happens_each_call_has_one_result_and_the_turn_one_end(
        story in proptest::collection::vec(any_event(), 0..120),
    ) {
        play(story)?.check()?;
    }

    #[test]
    fn a_turn_told_the_same_story_does_the_same(
        story in proptest::collection::vec(any_event(), 0..60),
    ) {
        let (one, other) = (play(story.clone())?, play(story)?);
        prop_assert_eq!((one.calls, one.results, one.ran), (other.calls, other.results, other.ran));
    }
}

#[test]
fn the_judge_notices_a_lost_result_a_swapped_one_and_a_second_end() {
    let two_reads = ["c1", "c2"];
    let mut world = TurnOracle::new();
    world.apply_event(StoryEvent::Begun).unwrap();
    for (id, _) in (1..).zip(two_reads) {
        world.apply_event(StoryEvent::Call { id, tool: "read", argument: id }).unwrap();
    }
    for beat in [
        StoryEvent::Onward,
        StoryEvent::Onward,
        StoryEvent::Onward,
        StoryEvent::Onward,
        StoryEvent::Onward,
        StoryEvent::Cancel,
    ] {
        world.apply_event(beat).unwrap();
    }
    world.check().unwrap();
    assert_eq!(world.ran.len(), 2);
    world.results.swap(0, 1);
    assert!(world.check().is_err());
    world.results.swap(0, 1);
    world.finishes = 2;
    assert!(world.check().is_err());
    world.finishes = 1;
    world.results.pop();
    assert!(world.check().is_err());
}
