//! The link and the local hub, together.

use hub::local::{InputMethod, Notice, Report, Rules, Seen, Wait};
use hub::{NotOnline, Priority, Response, Timing, Token};
use protocol::{HubState, Origin};

use crate::stage::{Hub, Link, anywhere, config, named, soon};

#[tokio::test]
async fn a_spoken_text_comes_in_is_acked_and_answered() {
    let hub = Hub::start().await;
    let mut link = Link::start(config(hub.address));
    link.reaches(HubState::Online).await;
    let (text, how) = ("remember milk", InputMethod::Voice);
    let mut reports =
        hub::local::send(hub.address, None, text, how, Wait::Responses).await.unwrap();

    let message = link.message().await;
    assert_eq!((message.text.as_str(), message.origin), (text, Origin::HubVoice));
    assert!(message.raw_timestamp.is_some());
    let id = message.id.clone();
    message.receipt.ack();
    let note = Response::Notification {
        message_id: id.clone(),
        title: "Notes".into(),
        body: "Milk is on the list.".into(),
        priority: Priority::High,
    };
    assert_eq!(link.handle.send(note).await, Ok(()));

    let by = || "Notes".to_owned();
    let notice =
        Notice { title: by(), body: "Milk is on the list.".into(), priority: Priority::High };
    for expected in [
        Report::Delivered { to: by(), id },
        Report::Acked { by: by() },
        Report::Notified { by: by(), notice },
    ] {
        assert_eq!(soon(reports.next()).await.unwrap().unwrap(), expected);
    }
}

#[tokio::test]
async fn a_rejected_message_reaches_the_other_client_with_its_reason_told() {
    let hub = Hub::start().await;
    let mut notes = Link::start(config(hub.address));
    let mut tasks = Link::start(named(hub.address, "Tasks"));
    notes.reaches(HubState::Online).await;
    tasks.reaches(HubState::Online).await;
    let how = InputMethod::Text;
    let mut reports =
        hub::local::send(hub.address, None, "notes: buy milk", how, Wait::Responses).await.unwrap();
    notes.message().await.receipt.reject("The disk is full.");
    let message = tasks.message().await;
    assert_eq!((message.text.as_str(), message.origin), ("buy milk", Origin::HubText));
    message.receipt.ack();
    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(soon(reports.next()).await.unwrap().unwrap());
    }
    let rejected = Report::Rejected { by: "Notes".into(), reason: "The disk is full.".into() };
    assert!(told.contains(&rejected), "{told:?}");
    assert_eq!(told.last(), Some(&Report::Acked { by: "Tasks".into() }));
}

#[tokio::test]
async fn cancelling_and_switching_off_both_leave_with_1000() {
    let mut hub = Hub::start().await;
    let code = |seen| if let Seen::Left { code, .. } = seen { Some(code) } else { None };

    let mut link = Link::start(config(hub.address));
    link.reaches(HubState::Online).await;
    link.handle.configure(None);
    link.reaches(HubState::Off).await;
    assert_eq!(hub.saw(code).await, Some(1000));
    link.handle.configure(Some(config(hub.address)));
    link.reaches(HubState::Online).await;
    link.stop().await;
    assert_eq!(hub.saw(code).await, Some(1000));
}

#[tokio::test]
async fn another_name_is_registered_on_a_new_socket_and_the_same_config_changes_nothing() {
    let mut hub = Hub::start().await;
    let mut link = Link::start(config(hub.address));
    link.reaches(HubState::Online).await;
    link.handle.configure(Some(config(hub.address)));
    link.handle.configure(Some(named(hub.address, "Diary")));
    link.reaches(HubState::Online).await;
    let moves = |seen| match seen {
        Seen::Registered { name } => Some(format!("+{name}")),
        Seen::Left { name, .. } => Some(format!("-{}", name.unwrap_or_default())),
        _ => None,
    };
    for expected in ["+Notes", "-Notes", "+Diary"] {
        assert_eq!(hub.saw(moves).await, expected);
    }
}

#[tokio::test]
async fn a_taken_name_is_tried_again_until_it_is_free() {
    let hub = Hub::start().await;
    let mut first = Link::start(config(hub.address));
    first.reaches(HubState::Online).await;
    let mut second = Link::start(config(hub.address));
    let trouble = second.trouble(HubState::Waiting).await;
    assert!(trouble.starts_with("Another client is registered as “Notes”:"), "{trouble}");
    first.stop().await;
    assert_eq!(second.reaches(HubState::Online).await.trouble, None);
}

#[tokio::test]
async fn a_hub_that_is_killed_and_comes_back_is_found_again() {
    let hub = Hub::start().await;
    let address = hub.address;
    let mut link = Link::start_timed(Some(config(address)), Timing::default().faster(20));
    link.reaches(HubState::Online).await;
    hub.stop().await;
    let closed = link.trouble(HubState::Waiting).await;
    assert!(closed.contains("was closed"), "{closed}");
    let gone = link.trouble(HubState::Waiting).await;
    assert_eq!(
        gone,
        format!("The hub at {address} does not answer: is it running? Trying again by itself.")
    );
    let response = Response::Ack { message_id: "m1".into() };
    assert_eq!(link.handle.send(response).await, Err(NotOnline));

    let hub = Hub::start_with(address, None, Rules::default()).await;
    assert_eq!(link.reaches(HubState::Online).await.trouble, None);
    hub.stop().await;
}

#[tokio::test]
async fn a_hub_with_a_token_lets_only_those_in_who_have_it() {
    let token = Token::new("s3cret").unwrap();
    let hub = Hub::start_with(anywhere(), Some(token.clone()), Rules::default()).await;
    let mut link = Link::start(config(hub.address));
    let trouble = link.trouble(HubState::Refused).await;
    assert!(trouble.contains("refuses the connection (401)"), "{trouble}");
    link.handle.configure(Some(config(hub.address).with_token(token.clone())));
    link.reaches(HubState::Online).await;

    let (how, wait) = (InputMethod::Text, Wait::Delivery);
    let refused = hub::local::send(hub.address, None, "hi", how, wait).await;
    assert!(matches!(refused, Err(hub::local::SendProblem::Refused(_))));
    let mut reports = hub::local::send(hub.address, Some(&token), "hi", how, wait).await.unwrap();
    assert!(matches!(soon(reports.next()).await, Some(Ok(Report::Delivered { .. }))));
    assert!(soon(reports.next()).await.is_none());
}

#[tokio::test]
async fn the_task_ends_when_nobody_takes_its_events_any_more() {
    let mut hub = Hub::start().await;
    let mut link = Link::start(config(hub.address));
    link.reaches(HubState::Online).await;
    drop(link.events);
    let code = |seen| if let Seen::Left { code, .. } = seen { Some(code) } else { None };
    assert_eq!(hub.saw(code).await, Some(1000));
    assert_eq!(link.handle.send(Response::Ack { message_id: "m".into() }).await, Err(NotOnline));
}
