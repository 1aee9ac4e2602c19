//! A queue goes on after the transcript failed.

use llm::TurnEvent;
use protocol::{TurnStatus, UserError};

use crate::fixtures::memory_transcript::FailingWrite;
use crate::fixtures::scripted_provider::answers;
use crate::fixtures::service_world::ServiceWorld;

fn full() -> Option<UserError> {
    Some(UserError::other("disk full"))
}

fn is_end(event: &TurnEvent) -> bool {
    matches!(event, TurnEvent::Ended(_))
}

/// A conversation whose queued turn could not be begun.
async fn failed_queue() -> ServiceWorld {
    let world = ServiceWorld::new();
    world.model.enqueue(answers("Hello")).enqueue(answers("Hello again"));
    world.memory.break_at(FailingWrite::Begin);
    world.send("c", "hi").await;
    world.hear_of_queue(&[full()]).await;
    world
}

#[tokio::test]
async fn turn_that_could_not_begin_runs_once_it_can_and_the_failure_is_told_once() {
    let mut world = failed_queue().await;
    // The control: while the transcript fails, it is only looked at again.
    let looked = world.memory.failures();
    world.memory.wait_for_failures(looked + 2).await;
    world.quiet().await;
    assert_eq!(world.memory.statuses(), [TurnStatus::Queued]);
    assert!(!world.service.is_working(&"c".into()), "what is stored can be changed meanwhile");
    world.memory.repair();
    world.hear(is_end).await;
    assert_eq!(world.memory.statuses(), [TurnStatus::Done]);
    world.hear_of_queue(&[full(), None]).await;
}

#[tokio::test(start_paused = true)]
async fn message_or_a_stop_looks_at_the_queue_at_once() {
    for is_stop in [false, true] {
        let mut world = failed_queue().await;
        world.memory.repair();
        if is_stop {
            world.stop();
        } else {
            world.service.wake(&"c".into());
        }
        let begun = tokio::time::Instant::now();
        world.hear(is_end).await;
        assert!(begun.elapsed().is_zero(), "nothing was waited for");
        let expected = if is_stop { TurnStatus::Cancelled } else { TurnStatus::Done };
        assert_eq!(world.memory.statuses(), [expected]);
    }
}

#[tokio::test]
async fn stop_that_could_not_be_carried_out_holds_until_the_turn_begins() {
    let mut world = failed_queue().await;
    world.stop();
    world.hear_of_queue(&[full(), full()]).await;
    world.memory.repair();
    world.hear(is_end).await;
    assert_eq!(world.memory.statuses(), [TurnStatus::Cancelled]);
}

#[tokio::test]
async fn turns_behind_one_whose_end_was_not_stored_run() {
    let mut world = ServiceWorld::new();
    world.model.enqueue(answers("Hello")).enqueue(answers("Hello again"));
    world.memory.break_at(FailingWrite::Finish);
    world.send("c", "hi").await;
    world.hear(is_end).await;
    world.send("c", "again").await;
    world.memory.repair();
    world.hear(is_end).await;
    assert_eq!(world.memory.statuses(), [TurnStatus::Running, TurnStatus::Done]);
}

#[tokio::test]
async fn answer_whose_end_cannot_be_stored_is_not_asked_for_again_and_again() {
    let mut world = ServiceWorld::new();
    world.model.enqueue(answers("One")).enqueue(answers("Two")).enqueue(answers("Three"));
    world.memory.break_at(FailingWrite::Finish);
    for text in ["one", "two", "three"] {
        world.send("c", text).await;
    }
    world.hear(is_end).await;
    world.hear(is_end).await;
    world.quiet().await;
    tokio::time::pause();
    tokio::time::advance(std::time::Duration::from_secs(3_600)).await;
    tokio::time::resume();
    world.quiet().await;
    assert_eq!(world.model.requests().len(), 2, "once, and once more");
}

#[tokio::test(start_paused = true)]
async fn service_that_ends_waits_for_no_queue() {
    let world = failed_queue().await;
    let begun = tokio::time::Instant::now();
    world.close().await;
    assert!(begun.elapsed().is_zero(), "nothing was waited for");
    assert_eq!(world.memory.statuses(), [TurnStatus::Queued]);
}
