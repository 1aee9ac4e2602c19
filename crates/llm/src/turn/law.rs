//! The law of the turn, over any story: stories that make sense, and stories that do not.

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use serde_json::json;

use super::tests::{call, rules};
use super::*;
use crate::model::StopReason;
use crate::retry;
use crate::tool::Control;

const ROUND_TRIPS: u32 = 4;
const CALLS: u32 = 9;
const CALLS_PER_MESSAGE: u32 = 4;

/// One thing that happens, whether or not the turn waits for it.
#[derive(Debug, Clone)]
enum Beat {
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
        how: Settled,
    },
    Waited,
    Full,
    Compacted,
    Cancel,
    /// Whatever the turn waits for goes well.
    Onward,
}

#[derive(Debug, Clone, Copy)]
enum Settled {
    Well,
    Badly,
    Asking,
    Ending,
    Saying,
}

/// What the world around the turn holds.
struct World {
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

impl World {
    fn new() -> Self {
        let limits =
            Limits { round_trips: ROUND_TRIPS, calls: CALLS, calls_per_message: CALLS_PER_MESSAGE };
        Self {
            turn: Turn::new(Rules { limits, ..rules() }),
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

    fn live(&mut self, beat: Beat) -> Result<(), TestCaseError> {
        let input = match beat {
            Beat::Onward => self.onward(),
            Beat::Begun => TurnInput::Begun,
            Beat::Text(text) => TurnInput::Event(ModelEvent::Text(text.into())),
            Beat::Call { id, tool, argument } => {
                let call = call(&format!("c{id}"), tool, json!({ "a": argument }));
                TurnInput::Event(ModelEvent::Call(call))
            }
            Beat::Broken { id } => TurnInput::Event(ModelEvent::BrokenCall {
                id: format!("c{id}").into(),
                tool: "read".into(),
                problem: "cut".into(),
            }),
            Beat::Stop(reason) => {
                self.told = Some(reason);
                TurnInput::Event(ModelEvent::Stopped { reason, usage: Usage::default() })
            }
            Beat::Fail(error) => TurnInput::Failed(error),
            Beat::Severed => TurnInput::Severed,
            Beat::Stored => self.store(),
            Beat::NotStored => {
                self.unstored = None;
                TurnInput::Broke(UserError::other("disk full"))
            }
            Beat::Settle { which, how } => self.settle(which, how),
            Beat::Waited => TurnInput::Waited,
            Beat::Full => TurnInput::Full,
            Beat::Compacted => {
                self.compacting = false;
                TurnInput::Compacted(1)
            }
            Beat::Cancel => TurnInput::Cancel,
        };
        let effects = self.turn.step(input);
        effects.into_iter().try_for_each(|effect| self.feel(effect))
    }

    fn store(&mut self) -> TurnInput {
        match self.unstored.take() {
            Some(Unstored::Step(calls)) => self.calls.extend(calls),
            Some(Unstored::Results(results)) => self.results.extend(results),
            None => {}
        }
        TurnInput::Stored
    }

    fn onward(&mut self) -> TurnInput {
        if self.unstored.is_some() {
            self.store()
        } else if !self.under_way.is_empty() {
            self.settle(0, Settled::Well)
        } else if std::mem::take(&mut self.waiting) {
            TurnInput::Waited
        } else if std::mem::take(&mut self.compacting) {
            TurnInput::Compacted(0)
        } else if self.asked == 0 {
            TurnInput::Begun
        } else {
            self.told = Some(StopReason::ToolUse);
            let usage = Usage::default();
            TurnInput::Event(ModelEvent::Stopped { reason: StopReason::ToolUse, usage })
        }
    }

    fn settle(&mut self, which: u8, how: Settled) -> TurnInput {
        if self.under_way.is_empty() {
            return TurnInput::Outcome("stranger".into(), ToolOutcome::ok("?"));
        }
        let call = self.under_way.remove(usize::from(which) % self.under_way.len());
        let control = match how {
            Settled::Asking => Some(Control::Ask { message: "which?".into(), options: Vec::new() }),
            Settled::Ending => Some(Control::End { reason: None }),
            Settled::Saying => Some(Control::Say("well".into())),
            Settled::Well | Settled::Badly => None,
        };
        let is_error = matches!(how, Settled::Badly);
        let outcome = ToolOutcome { is_error, control, ..ToolOutcome::ok("done") };
        TurnInput::Outcome(call, outcome)
    }

    fn feel(&mut self, effect: TurnEffect) -> Result<(), TestCaseError> {
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
                prop_assert!(wait <= retry::LONGEST_WAIT);
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
    fn judge(&self) -> Result<(), TestCaseError> {
        prop_assert_eq!(self.finishes, 1);
        prop_assert_eq!(&self.results, &self.calls, "one result per call, in call order");
        let ids: BTreeSet<&CallId> = self.calls.iter().collect();
        prop_assert_eq!(ids.len(), self.calls.len(), "ids are unique in the turn");
        prop_assert!(self.trips <= ROUND_TRIPS + 1, "one more may be cut inside its calls");
        prop_assert!(self.ran.len() <= CALLS as usize);
        let requests = ROUND_TRIPS + PAUSES + 2;
        prop_assert!(self.compactions <= 1, "compacted {} times", self.compactions);
        // The one that was put off is asked again.
        prop_assert!(self.asked <= requests * retry::ATTEMPTS + 1, "asked {} times", self.asked);
        Ok(())
    }
}

fn id_of(part: Part) -> Option<CallId> {
    if let Part::Call { id, .. } = part { Some(id) } else { None }
}

fn beat() -> impl Strategy<Value = Beat> {
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
        6 => Just(Settled::Well),
        4 => Just(Settled::Badly),
        1 => Just(Settled::Asking),
        1 => Just(Settled::Ending),
        2 => Just(Settled::Saying),
    ];
    prop_oneof![
        30 => Just(Beat::Onward),
        4 => prop_oneof![Just("words "), Just(" ")].prop_map(Beat::Text),
        30 => (0..6_u8, tool, 0..3_u8)
            .prop_map(|(id, tool, argument)| Beat::Call { id, tool, argument }),
        2 => (0..6_u8).prop_map(|id| Beat::Broken { id }),
        10 => reason.prop_map(Beat::Stop),
        2 => error.prop_map(Beat::Fail),
        1 => Just(Beat::Severed),
        10 => Just(Beat::Stored),
        1 => Just(Beat::NotStored),
        10 => (any::<u8>(), how).prop_map(|(which, how)| Beat::Settle { which, how }),
        2 => Just(Beat::Waited),
        3 => Just(Beat::Full),
        2 => Just(Beat::Compacted),
        1 => Just(Beat::Cancel),
        1 => Just(Beat::Begun),
    ]
}

fn tell(story: Vec<Beat>) -> Result<World, TestCaseError> {
    let mut world = World::new();
    world.live(Beat::Begun)?;
    for beat in story {
        world.live(beat)?;
    }
    for last in [Beat::Cancel, Beat::Stored, Beat::Stored, Beat::Begun, Beat::Cancel] {
        world.live(last)?;
    }
    Ok(world)
}

proptest! {
    #[test]
    fn whatever_happens_each_call_has_one_result_and_the_turn_one_end(
        story in proptest::collection::vec(beat(), 0..120),
    ) {
        tell(story)?.judge()?;
    }

    #[test]
    fn a_turn_told_the_same_story_does_the_same(
        story in proptest::collection::vec(beat(), 0..60),
    ) {
        let (one, other) = (tell(story.clone())?, tell(story)?);
        prop_assert_eq!((one.calls, one.results, one.ran), (other.calls, other.results, other.ran));
    }
}

#[test]
fn the_judge_notices_a_lost_result_a_swapped_one_and_a_second_end() {
    let two_reads = ["c1", "c2"];
    let mut world = World::new();
    world.live(Beat::Begun).unwrap();
    for (id, _) in (1..).zip(two_reads) {
        world.live(Beat::Call { id, tool: "read", argument: id }).unwrap();
    }
    for beat in [Beat::Onward, Beat::Onward, Beat::Onward, Beat::Onward, Beat::Onward, Beat::Cancel]
    {
        world.live(beat).unwrap();
    }
    world.judge().unwrap();
    assert_eq!(world.ran.len(), 2);
    world.results.swap(0, 1);
    assert!(world.judge().is_err());
    world.results.swap(0, 1);
    world.finishes = 2;
    assert!(world.judge().is_err());
    world.finishes = 1;
    world.results.pop();
    assert!(world.judge().is_err());
}
