//! Any history is cut so that it fits, stays whole, and begins where it began before.

use proptest::prelude::*;
use protocol::{AnswerAuthor, Timestamp};
use serde_json::json;

use super::*;
use crate::context::history::request_messages;

fn row(turn: usize, role: Role, parts: Vec<MessagePart>) -> Message {
    let turn = TurnId::from(format!("t{turn}"));
    let (id, conversation) = ("m".into(), "c".into());
    Message { id, conversation, turn, role, parts, at: Timestamp(0) }
}

fn text(bytes: usize) -> MessagePart {
    MessagePart::Text { text: "x".repeat(bytes) }
}

/// An exchange: a message, steps of one call, an answer; sizes are in bytes.
fn exchange(turn: usize, message: usize, steps: &[usize], answer: usize) -> Vec<Message> {
    let mut rows = vec![row(turn, Role::User, vec![text(message)])];
    for (n, size) in steps.iter().enumerate() {
        let id = format!("c{n}");
        let call =
            MessagePart::Call { id: id.clone().into(), tool: "read".into(), arguments: json!({}) };
        rows.push(row(turn, Role::Assistant, vec![call]));
        let output = "y".repeat(*size);
        let result = MessagePart::Result { call: id.into(), output, is_error: false, speech: None };
        rows.push(row(turn, Role::User, vec![result]));
    }
    rows.push(row(turn, Role::Assistant, vec![text(answer)]));
    rows
}

struct FitCase {
    turn: TurnId,
    kept: BTreeSet<TurnId>,
    window: u32,
    system: String,
    told: Option<Compaction>,
}

impl FitCase {
    fn for_turn(turn: usize, window: u32) -> Self {
        let (kept, system) = (BTreeSet::new(), "Be good.".to_owned());
        Self { turn: format!("t{turn}").into(), kept, window, system, told: None }
    }

    fn fit(&self, rows: &[Message]) -> Result<FittedHistory, TooLarge> {
        let frame = RequestFrame {
            capacity: ContextCapacity::Window(self.window),
            max_tokens: 100,
            turn: &self.turn,
            kept: &self.kept,
            calibration: TokenCalibration::default(),
            overhead: RequestOverhead::estimate(&self.system, &[], None),
        };
        fit(History { compaction: self.told.clone(), ..History::of(rows.to_vec()) }, &frame)
    }
}

fn turns(rows: &[Arc<Message>]) -> Vec<&str> {
    let mut turns: Vec<&str> = rows.iter().map(|row| row.turn.as_str()).collect();
    turns.dedup();
    turns
}

#[test]
fn the_oldest_exchanges_are_dropped_whole_and_the_model_is_told() {
    let rows: Vec<Message> = (0..4).flat_map(|turn| exchange(turn, 350, &[350], 350)).collect();
    let fitting = FitCase::for_turn(3, 1_200).fit(&rows).unwrap();
    assert_eq!(turns(&fitting.rows), ["t2", "t3"]);
    assert!(fitting.estimated <= 900);
    let first = request_messages(&fitting.rows, &AnswerAuthor::default()).remove(0);
    assert_eq!(
        first.blocks[0],
        crate::model::ContentBlock::Text(model_texts::OMITTED_MESSAGES.into())
    );
    assert_eq!(FitCase::for_turn(3, 100_000).fit(&rows).unwrap().rows, History::of(rows).rows);
}

#[test]
fn a_turn_with_an_open_question_is_sent_however_old_it_is() {
    let rows: Vec<Message> = (0..4).flat_map(|turn| exchange(turn, 350, &[350], 350)).collect();
    let mut asked = FitCase::for_turn(3, 1_200);
    asked.kept.insert("t0".into());
    assert_eq!(turns(&asked.fit(&rows).unwrap().rows), ["t0", "t3"]);
}

#[test]
fn the_summary_of_earlier_turns_comes_first_and_is_dropped_last() {
    let rows: Vec<Message> = (2..6).flat_map(|turn| exchange(turn, 350, &[350], 350)).collect();
    let told =
        |bytes| Some(Compaction { until: "t1".into(), text: "s".repeat(bytes), summary: None });
    let fitting = FitCase { told: told(700), ..FitCase::for_turn(5, 1_600) }.fit(&rows).unwrap();
    assert_eq!(turns(&fitting.rows), ["t1", "t4", "t5"]);
    let first = request_messages(&fitting.rows, &AnswerAuthor::default()).remove(0);
    let texts: Vec<String> = first.blocks.iter().map(|block| format!("{block:?}")).collect();
    assert!(texts[0].contains("sss") && texts[1].contains("left out"), "{texts:?}");
    let fitting = FitCase { told: told(3_500), ..FitCase::for_turn(5, 1_600) }.fit(&rows).unwrap();
    assert!(!turns(&fitting.rows).contains(&"t1"));
    assert!(fitting.estimated <= 1_200);
}

#[test]
fn the_largest_part_of_what_must_be_there_is_named_with_its_size() {
    let rows = [exchange(0, 35, &[35_000], 35), exchange(1, 70_000, &[35_000], 35)].concat();
    let error = |asked: &FitCase| {
        let TooLarge { part, tokens, room } = asked.fit(&rows).unwrap_err();
        (part, tokens / 1_000, room)
    };
    let mut asked = FitCase::for_turn(1, 21_000);
    assert_eq!(error(&asked), (Mandatory::Message, 20, 20_000));
    asked.system = "x".repeat(105_000);
    assert_eq!(error(&asked), (Mandatory::Instructions, 30, 20_000));
    assert_eq!(error(&FitCase::for_turn(0, 9_000)), (Mandatory::OpenTurn, 10, 8_000));
    let mut asked = FitCase::for_turn(2, 9_000);
    asked.kept.insert("t0".into());
    assert_eq!(error(&asked), (Mandatory::Question, 10, 8_000));
    let sentence = ModelError::from(asked.fit(&rows).unwrap_err()).to_string();
    assert!(sentence.contains("room for 8000 tokens"), "{sentence}");
    assert!(sentence.contains("open question"), "{sentence}");
}

#[test]
fn the_first_sent_exchange_changes_once_in_many_turns() {
    let rows: Vec<Message> = (0..100).flat_map(|turn| exchange(turn, 350, &[], 350)).collect();
    let mut beginnings: Vec<String> = Vec::new();
    for turn in 0..100 {
        let heard = &rows[..=turn * 2];
        let fitting = FitCase::for_turn(turn, 1_000 + 8_000).fit(heard).unwrap();
        beginnings.push(turns(&fitting.rows)[0].to_owned());
    }
    beginnings.dedup();
    assert!(beginnings.len() <= 10, "{beginnings:?}");
}

#[test]
fn the_first_results_of_an_open_turn_are_dropped_when_it_has_read_too_much() {
    let mut rows = exchange(0, 35, &[7_000, 7_000, 7_000], 35);
    rows.pop();
    // Each takes 2,000 tokens, and two of them have room.
    let fitting = FitCase::for_turn(0, 6_000).fit(&rows).unwrap();
    let dropped: Vec<bool> = fitting.rows.iter().map(|row| is_dropped(row)).collect();
    assert_eq!(dropped, [false, false, true, false, false, false, false]);
    assert!(fitting.estimated <= 5_000, "{}", fitting.estimated);
    // The last result is never dropped: the turn could not continue without it.
    let error = FitCase::for_turn(0, 2_400).fit(&rows).unwrap_err();
    assert_eq!(error.part, Mandatory::OpenTurn);
}

fn is_result(parts: &[MessagePart]) -> bool {
    parts.iter().any(|part| matches!(part, MessagePart::Result { .. }))
}

fn is_dropped(row: &Message) -> bool {
    let is = |part: &MessagePart| matches!(part, MessagePart::Result { output, .. } if output == model_texts::DROPPED_RESULT);
    row.parts.iter().any(is)
}

fn last_result(rows: &[Arc<Message>]) -> &Arc<Message> {
    let last = rows.iter().rev().find(|row| is_result(&row.parts));
    last.unwrap_or(&rows[0])
}

fn story() -> impl Strategy<Value = Vec<(usize, Vec<usize>, usize)>> {
    let steps = proptest::collection::vec(0..4_000_usize, 0..4);
    proptest::collection::vec((1..4_000_usize, steps, 1..2_000_usize), 1..12)
}

proptest! {
    #[test]
    fn any_sent_history_fits_and_consists_of_whole_exchanges(
        story in story(),
        window in 1_500..20_000_u32,
        kept in proptest::collection::btree_set(0..12_usize, 0..2),
    ) {
        let units: Vec<Vec<Message>> = story.iter().enumerate()
            .map(|(turn, (message, steps, answer))| exchange(turn, *message, steps, *answer))
            .collect();
        let last = units.len() - 1;
        let mut asked = FitCase::for_turn(last, window);
        asked.kept = kept.iter().map(|turn| TurnId::from(format!("t{turn}"))).collect();
        let room = window - 1_000.min(window / 4);
        let rows = units.concat();
        match asked.fit(&rows) {
            Ok(mut fitting) => {
                prop_assert!(fitting.estimated <= room);
                let dropped = fitting.rows.len() < rows.len();
                if dropped {
                    let marker = Arc::make_mut(&mut fitting.rows[0]).parts.remove(0);
                    prop_assert_eq!(marker, MessagePart::Context { text: model_texts::OMITTED_MESSAGES.into() });
                }
                let sent = turns(&fitting.rows).iter().map(|turn| turn[1..].parse().unwrap())
                    .collect::<BTreeSet<usize>>();
                let whole: Vec<Message> = sent.iter().flat_map(|turn| units[*turn].clone()).collect();
                let whole = History::of(whole).rows;
                for (sent, said) in fitting.rows.iter().zip(&whole) {
                    let is_dropped = is_dropped(sent);
                    // Only of the open turn, and never what its last step read.
                    prop_assert!(!is_dropped || sent.turn == asked.turn);
                    prop_assert!(!is_dropped || !Arc::ptr_eq(said, last_result(&whole)));
                    prop_assert!(is_dropped || sent == said);
                }
                prop_assert_eq!(fitting.rows.len(), whole.len());
                prop_assert!(sent.contains(&last));
                prop_assert!(kept.iter().filter(|turn| **turn <= last).all(|turn| sent.contains(turn)));
                // Beside those that must be there, the newest ones without a gap.
                let free: Vec<usize> = (0..=last).filter(|turn| !kept.contains(turn)).collect();
                let heard = free.iter().filter(|turn| sent.contains(turn)).count();
                let newest: BTreeSet<usize> = free.iter().rev().take(heard).copied().collect();
                prop_assert!(newest.is_subset(&sent));
            }
            Err(error) => {
                prop_assert_eq!(error.room, room);
                let must = rows.iter()
                    .filter(|row| row.turn == asked.turn || asked.kept.contains(&row.turn));
                // Earlier results of the open turn could be dropped.
                let last = rows.iter().rposition(|row| is_result(&row.parts));
                let must: u32 = must
                    .filter(|row| row.turn != asked.turn || !is_result(&row.parts)
                        || last.is_some_and(|last| std::ptr::eq(&raw const rows[last], *row)))
                    .map(tokens::of_message).sum();
                prop_assert!(must + 200 > room, "{must} fit in {room}");
            }
        }
    }
}
