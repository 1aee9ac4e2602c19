//! The cost of turns, conversations and periods.

use protocol::chat::cost::ModelCost;
use protocol::chat::model::Price;
use protocol::{Privacy, Timestamp, TokenUsage, TurnId};

use crate::test_conversation::{TestConversation, answered, conversation_id};

const USAGE: TokenUsage = TokenUsage { input: 5, output: 4, cache_read: 3, cache_write: 2 };
const PRICE: Price = Price { input: 1_000, output: 5_000, cache_read: 100, cache_write: 1_250 };
/// A step of [`TestConversation::steps`] uses this.
const STEP: TokenUsage = TokenUsage { input: 100, output: 10, cache_read: 0, cache_write: 0 };

/// A turn of one step and one answer, which ends at `at`.
async fn runs(conversation: &TestConversation, turn: &str, price: Option<Price>, at: i64) {
    conversation.says(turn, "Hello", at).await;
    conversation.begins().await;
    conversation.store.set_model(&turn.into(), "haiku", price, Privacy::Open).await.expect("noted");
    conversation.steps(turn, &format!("{turn}-m"), &[]).await;
    let mut ending = answered(turn, "Done.", at);
    ending.usage = USAGE;
    conversation.ends(turn, &ending).await;
}

fn both(unpriced: u32, cost: u64) -> ModelCost {
    let mut usage = STEP;
    usage += USAGE;
    ModelCost { requests: 2, usage, cost, unpriced }
}

#[tokio::test]
async fn a_turn_costs_what_its_steps_and_its_end_cost_at_the_price_it_began_with() {
    let story = TestConversation::begin().await;
    runs(&story, "t1", Some(PRICE), 10).await;
    let cost = PRICE.cost(&STEP) + PRICE.cost(&USAGE);
    // A later price changes nothing that was spent.
    let dearer = Price { input: 9_999, ..PRICE };
    story.store.set_model(&"t1".into(), "haiku", Some(dearer), Privacy::Open).await.expect("noted");
    let story = story.restart().await;
    let spent = story.store.turn_cost(&"t1".into()).await.expect("read");
    assert_eq!(spent, both(0, cost));
}

#[tokio::test]
async fn what_has_no_known_price_is_counted_and_said_to_have_none() {
    let story = TestConversation::begin().await;
    runs(&story, "t1", None, 10).await;
    assert_eq!(story.store.turn_cost(&"t1".into()).await.expect("read"), both(2, 0));
}

#[tokio::test]
async fn a_conversation_tells_what_each_turn_cost_and_a_time_what_fell_into_it() {
    let story = TestConversation::begin().await;
    assert_eq!(story.store.first_cost_at().await.expect("read"), None);
    runs(&story, "t1", Some(PRICE), 1_000).await;
    runs(&story, "t2", None, 2_000).await;
    let turns = story.store.turn_costs(&conversation_id()).await.expect("read");
    let cost = PRICE.cost(&STEP) + PRICE.cost(&USAGE);
    let told: Vec<_> = turns.iter().map(|turn| (turn.turn.clone(), turn.spent)).collect();
    assert_eq!(told, [("t1".into(), both(0, cost)), (TurnId::from("t2"), both(2, 0))]);
    assert!(turns.iter().all(|turn| turn.answer.is_some()));
    assert!(story.store.first_cost_at().await.expect("read").is_some());
    let between = |from, until| story.store.cost_between(Timestamp(from), Timestamp(until));
    let ends = between(1_000, 1_001).await.expect("read");
    assert_eq!((ends.requests, ends.cost), (1, PRICE.cost(&USAGE)));
    assert_eq!(between(1_001, 2_000).await.expect("read").cost, 0);
    assert_eq!(between(i64::MIN, i64::MAX).await.expect("read").requests, 4);
}
