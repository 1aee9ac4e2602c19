//! What was read and what goes out again, by the pongs that came.

use super::*;

fn ack(id: &str) -> Letter {
    Letter { response: Response::Ack { message_id: id.into() }, sent: None }
}

fn waited_for(id: &str) -> (Letter, oneshot::Receiver<Result<(), NotOnline>>) {
    let (sent, outcome) = oneshot::channel();
    (Letter { sent: Some(sent), ..ack(id) }, outcome)
}

const NOW: Duration = Duration::from_secs(7);

/// A post whose hub has answered a ping.
fn answered() -> Post {
    let mut post = Post::new();
    let ping = post.ping(NOW);
    post.pong(&ping);
    post
}

fn held(post: &mut Post) -> Vec<String> {
    std::iter::from_fn(|| post.next_held())
        .map(|letter| match letter.response {
            Response::Ack { message_id } => message_id,
            other => panic!("an ack: {other:?}"),
        })
        .collect()
}

#[test]
fn what_a_pong_covers_was_read_and_the_rest_goes_out_again_in_its_order() {
    let mut post = answered();
    post.written(ack("m1"));
    assert!(post.wants_ping());
    let ping = post.ping(NOW);
    post.written(ack("m2"));
    post.written(ack("m3"));
    assert!(!post.wants_ping(), "one ping at a time");
    post.pong(&ping);
    assert!(post.wants_ping());
    post.hold(ack("m4"));
    post.lost();
    assert_eq!(held(&mut post), ["m2", "m3", "m4"]);
}

#[test]
fn who_waits_hears_when_it_was_read_or_that_it_is_not_known() {
    let mut post = answered();
    let (read, mut was_read) = waited_for("m1");
    post.written(read);
    assert!(was_read.try_recv().is_err(), "not yet");
    let ping = post.ping(NOW);
    let (unread, mut was_lost) = waited_for("m2");
    post.written(unread);
    post.pong(&ping);
    assert_eq!(was_read.try_recv(), Ok(Ok(())));
    post.lost();
    assert_eq!(was_lost.try_recv(), Ok(Err(NotOnline)));
    assert_eq!(held(&mut post), Vec::<String>::new(), "the sender keeps it");
}

#[test]
fn what_is_written_before_the_first_pong_waits_for_it_and_goes_out_again() {
    let mut post = Post::new();
    assert!(post.wants_ping(), "it is asked once whether it answers");
    post.ping(NOW);
    let (letter, mut outcome) = waited_for("m1");
    post.written(letter);
    post.written(ack("m2"));
    post.tick(NOW + MUTE - Duration::from_millis(1));
    assert!(outcome.try_recv().is_err(), "it may still answer");
    post.lost();
    assert_eq!(outcome.try_recv(), Ok(Err(NotOnline)), "the sender sends it again");
    assert_eq!(held(&mut post), ["m2"]);
}

#[test]
fn a_hub_that_answers_no_ping_in_five_seconds_is_taken_at_its_silence() {
    let mut post = Post::new();
    post.ping(NOW);
    let (letter, mut outcome) = waited_for("m1");
    post.written(letter);
    assert_eq!(post.mute_at(), Some(NOW + MUTE));
    post.tick(NOW + MUTE);
    assert_eq!(outcome.try_recv(), Ok(Ok(())));
    post.written(ack("m2"));
    assert!(!post.wants_ping());
    assert_eq!(post.mute_at(), None);
    post.lost();
    assert_eq!(held(&mut post), Vec::<String>::new());
    let ping = post.ping(NOW);
    post.pong(&ping);
    post.written(ack("m3"));
    post.lost();
    assert_eq!(held(&mut post), ["m3"], "it does answer after all");
}

#[test]
fn a_pong_that_nobody_asked_for_says_nothing() {
    let mut post = answered();
    post.written(ack("m1"));
    for bytes in [&b""[..], b"\xff\xff\xff\xff\xff\xff\xff\xff", b"eight by", b"not eight"] {
        post.pong(bytes);
    }
    post.lost();
    assert_eq!(held(&mut post), ["m1"]);
}

#[test]
fn another_hub_hears_nothing_of_what_was_meant_for_the_first() {
    let mut post = answered();
    let (letter, mut outcome) = waited_for("m1");
    post.written(letter);
    post.hold(ack("m2"));
    post.forget();
    assert_eq!(outcome.try_recv(), Ok(Err(NotOnline)));
    post.lost();
    assert_eq!(held(&mut post), Vec::<String>::new());
}
