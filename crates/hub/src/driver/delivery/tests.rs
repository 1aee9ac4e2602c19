//! Which receipts were read and which are sent again, by the pongs that came.

use super::*;

fn ack(id: &str) -> PendingResponse {
    PendingResponse { response: HubResponse::Ack { message_id: id.into() }, sent: None }
}

fn waited_for(id: &str) -> (PendingResponse, oneshot::Receiver<Result<(), NotOnline>>) {
    let (sent, outcome) = oneshot::channel();
    (PendingResponse { sent: Some(sent), ..ack(id) }, outcome)
}

const NOW: Duration = Duration::from_secs(7);

/// A post whose hub has answered a ping.
fn answered() -> DeliveryQueue {
    let mut post = DeliveryQueue::new();
    let ping = post.next_ping(NOW);
    post.on_pong(&ping);
    post
}

fn held(post: &mut DeliveryQueue) -> Vec<String> {
    std::iter::from_fn(|| post.next_held())
        .map(|letter| match letter.response {
            HubResponse::Ack { message_id } => message_id,
            other => panic!("an ack: {other:?}"),
        })
        .collect()
}

#[test]
fn what_a_pong_covers_was_read_and_the_rest_goes_out_again_in_its_order() {
    let mut post = answered();
    post.add_in_flight(ack("m1"));
    assert!(post.needs_ping());
    let ping = post.next_ping(NOW);
    post.add_in_flight(ack("m2"));
    post.add_in_flight(ack("m3"));
    assert!(!post.needs_ping(), "one ping at a time");
    post.on_pong(&ping);
    assert!(post.needs_ping());
    post.hold(ack("m4"));
    post.on_link_lost();
    assert_eq!(held(&mut post), ["m2", "m3", "m4"]);
}

#[test]
fn who_waits_hears_when_it_was_read_or_that_it_is_not_known() {
    let mut post = answered();
    let (read, mut was_read) = waited_for("m1");
    post.add_in_flight(read);
    assert!(was_read.try_recv().is_err(), "not yet");
    let ping = post.next_ping(NOW);
    let (unread, mut was_lost) = waited_for("m2");
    post.add_in_flight(unread);
    post.on_pong(&ping);
    assert_eq!(was_read.try_recv(), Ok(Ok(())));
    post.on_link_lost();
    assert_eq!(was_lost.try_recv(), Ok(Err(NotOnline)));
    assert_eq!(held(&mut post), Vec::<String>::new(), "the sender keeps it");
}

#[test]
fn what_is_written_before_the_first_pong_waits_for_it_and_goes_out_again() {
    let mut post = DeliveryQueue::new();
    assert!(post.needs_ping(), "it is asked once whether it answers");
    post.next_ping(NOW);
    let (letter, mut outcome) = waited_for("m1");
    post.add_in_flight(letter);
    post.add_in_flight(ack("m2"));
    post.tick(NOW + PONG_TIMEOUT - Duration::from_millis(1));
    assert!(outcome.try_recv().is_err(), "it may still answer");
    post.on_link_lost();
    assert_eq!(outcome.try_recv(), Ok(Err(NotOnline)), "the sender sends it again");
    assert_eq!(held(&mut post), ["m2"]);
}

#[test]
fn a_hub_that_answers_no_ping_in_five_seconds_is_taken_at_its_silence() {
    let mut post = DeliveryQueue::new();
    post.next_ping(NOW);
    let (letter, mut outcome) = waited_for("m1");
    post.add_in_flight(letter);
    assert_eq!(post.pong_deadline(), Some(NOW + PONG_TIMEOUT));
    post.tick(NOW + PONG_TIMEOUT);
    assert_eq!(outcome.try_recv(), Ok(Ok(())));
    post.add_in_flight(ack("m2"));
    assert!(!post.needs_ping());
    assert_eq!(post.pong_deadline(), None);
    post.on_link_lost();
    assert_eq!(held(&mut post), Vec::<String>::new());
    let ping = post.next_ping(NOW);
    post.on_pong(&ping);
    post.add_in_flight(ack("m3"));
    post.on_link_lost();
    assert_eq!(held(&mut post), ["m3"], "it does answer after all");
}

#[test]
fn a_pong_that_nobody_asked_for_says_nothing() {
    let mut post = answered();
    post.add_in_flight(ack("m1"));
    for bytes in [&b""[..], b"\xff\xff\xff\xff\xff\xff\xff\xff", b"eight by", b"not eight"] {
        post.on_pong(bytes);
    }
    post.on_link_lost();
    assert_eq!(held(&mut post), ["m1"]);
}

#[test]
fn another_hub_hears_nothing_of_what_was_meant_for_the_first() {
    let mut post = answered();
    let (letter, mut outcome) = waited_for("m1");
    post.add_in_flight(letter);
    post.hold(ack("m2"));
    post.clear();
    assert_eq!(outcome.try_recv(), Ok(Err(NotOnline)));
    post.on_link_lost();
    assert_eq!(held(&mut post), Vec::<String>::new());
}
