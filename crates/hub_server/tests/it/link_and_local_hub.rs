//! The link and the local hub, together.

use std::time::{Duration, Instant};

use hub::{HubResponse, LinkTiming, NotOnline, Priority, Token};
use hub_server::{
    DeliveryReport, HubNotification, InputMethod, LocalHubEvent, LocalHubLimits, ReportsWanted,
};
use protocol::{HubState, Origin};

use crate::fixtures::{RunningHub, RunningLink, any_local_port, config, named, within_timeout};

#[tokio::test]
async fn a_spoken_text_comes_in_is_acked_and_answered() {
    let hub = RunningHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    link.wait_for_state(HubState::Online).await;
    let (text, how) = ("remember milk", InputMethod::Voice);
    let mut reports =
        hub_server::send(hub.address, None, text, how, ReportsWanted::Responses).await.unwrap();

    let message = link.message().await;
    assert_eq!((message.text.as_str(), message.origin), (text, Origin::HubVoice));
    assert!(message.raw_timestamp.is_some());
    let id = message.id.clone();
    let from = message.hub.clone();
    message.receipt.ack();
    let note = HubResponse::Notification {
        message_id: id.clone(),
        title: "Notes".into(),
        body: "Milk is on the list.".into(),
        priority: Priority::High,
    };
    assert_eq!(link.handle.send(&from, note).await, Ok(()));

    let by = || "Notes".to_owned();
    let notice = HubNotification {
        title: by(),
        body: "Milk is on the list.".into(),
        priority: Priority::High,
    };
    for expected in [
        DeliveryReport::Delivered { to: by(), id },
        DeliveryReport::Acked { by: by() },
        DeliveryReport::Notified { by: by(), notice },
    ] {
        assert_eq!(within_timeout(reports.next()).await.unwrap().unwrap(), expected);
    }
}

#[tokio::test]
async fn a_rejected_message_reaches_the_other_client_with_its_reason_told() {
    let hub = RunningHub::start().await;
    let mut notes = RunningLink::start(config(hub.address));
    let mut tasks = RunningLink::start(named(hub.address, "Tasks"));
    notes.wait_for_state(HubState::Online).await;
    tasks.wait_for_state(HubState::Online).await;
    let how = InputMethod::Text;
    let mut reports =
        hub_server::send(hub.address, None, "notes: buy milk", how, ReportsWanted::Responses)
            .await
            .unwrap();
    notes.message().await.receipt.reject("The disk is full.");
    let message = tasks.message().await;
    assert_eq!((message.text.as_str(), message.origin), ("buy milk", Origin::HubText));
    message.receipt.ack();
    let mut told = Vec::new();
    for _ in 0..4 {
        told.push(within_timeout(reports.next()).await.unwrap().unwrap());
    }
    let rejected =
        DeliveryReport::Rejected { by: "Notes".into(), reason: "The disk is full.".into() };
    assert!(told.contains(&rejected), "{told:?}");
    assert_eq!(told.last(), Some(&DeliveryReport::Acked { by: "Tasks".into() }));
}

#[tokio::test]
async fn cancelling_and_switching_off_both_leave_with_1000() {
    let mut hub = RunningHub::start().await;
    let code = |seen| if let LocalHubEvent::Left { code, .. } = seen { Some(code) } else { None };

    let mut link = RunningLink::start(config(hub.address));
    link.wait_for_state(HubState::Online).await;
    link.handle.configure(None);
    link.wait_for_state(HubState::Off).await;
    assert_eq!(hub.wait_for_event(code).await, Some(1000));
    link.handle.configure(Some(config(hub.address)));
    link.wait_for_state(HubState::Online).await;
    link.stop().await;
    assert_eq!(hub.wait_for_event(code).await, Some(1000));
}

#[tokio::test]
async fn a_changed_name_is_registered_on_a_new_socket_and_the_same_config_changes_nothing() {
    let mut hub = RunningHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    link.wait_for_state(HubState::Online).await;
    link.handle.configure(Some(config(hub.address)));
    link.handle.configure(Some(named(hub.address, "Diary")));
    link.wait_for_state(HubState::Online).await;
    let moves = |seen| match seen {
        LocalHubEvent::Registered { name } => Some(format!("+{name}")),
        LocalHubEvent::Left { name, .. } => Some(format!("-{}", name.unwrap_or_default())),
        _ => None,
    };
    for expected in ["+Notes", "-Notes", "+Diary"] {
        assert_eq!(hub.wait_for_event(moves).await, expected);
    }
}

#[tokio::test]
async fn a_taken_name_is_tried_again_until_it_is_free() {
    let hub = RunningHub::start().await;
    let mut first = RunningLink::start(config(hub.address));
    first.wait_for_state(HubState::Online).await;
    let mut second = RunningLink::start(config(hub.address));
    let trouble = second.trouble(HubState::Waiting).await;
    assert!(trouble.starts_with("Another client is registered as “Notes”."), "{trouble}");
    first.stop().await;
    assert_eq!(second.wait_for_state(HubState::Online).await.trouble, None);
}

#[tokio::test]
async fn a_hub_that_is_killed_and_restarted_is_found_again() {
    let hub = RunningHub::start().await;
    let address = hub.address;
    let mut link =
        RunningLink::start_timed(Some(config(address)), LinkTiming::default().faster(20));
    link.wait_for_state(HubState::Online).await;
    hub.stop().await;
    let closed = link.trouble(HubState::Waiting).await;
    assert!(closed.contains("was closed"), "{closed}");
    let gone = link.trouble(HubState::Waiting).await;
    assert_eq!(
        gone,
        format!(
            "The hub at {address} isn’t responding. Check that it’s running. Retrying \
             automatically."
        )
    );
    let response = HubResponse::Ack { message_id: "m1".into() };
    assert_eq!(link.handle.send(&address.to_string(), response).await, Err(NotOnline));

    let hub = RunningHub::start_with(address, None, LocalHubLimits::default()).await;
    assert_eq!(link.wait_for_state(HubState::Online).await.trouble, None);
    hub.stop().await;
}

// Where nobody listens on this computer, a dial costs nothing: the pauses do not grow to a minute.
#[tokio::test]
async fn a_hub_on_this_computer_that_was_down_for_long_is_found_within_five_seconds() {
    let hub = RunningHub::start().await;
    let address = hub.address;
    let timing = LinkTiming::default().faster(20);
    let mut link = RunningLink::start_timed(Some(config(address)), timing.clone());
    link.wait_for_state(HubState::Online).await;
    hub.stop().await;
    for _ in 0..13 {
        link.wait_for_state(HubState::Waiting).await;
    }
    let hub = RunningHub::start_with(address, None, LocalHubLimits::default()).await;
    let began = Instant::now();
    link.wait_for_state(HubState::Online).await;
    let (found, slack) = (began.elapsed(), Duration::from_secs(2));
    let most = Duration::from_secs(5) / 20 + slack;
    // The pauses after as many failures elsewhere: the slack does not hide one.
    assert!(most < timing.longest_wait, "the control");
    assert!(found < most, "{found:?}");
    hub.stop().await;
}

#[tokio::test]
async fn a_hub_with_a_token_lets_only_those_in_who_have_it() {
    let token = Token::new("s3cret").unwrap();
    let hub =
        RunningHub::start_with(any_local_port(), Some(token.clone()), LocalHubLimits::default())
            .await;
    let mut link = RunningLink::start(config(hub.address));
    let trouble = link.trouble(HubState::Refused).await;
    assert!(trouble.contains("refuses the connection (401)"), "{trouble}");
    link.handle.configure(Some(config(hub.address).with_token(token.clone())));
    link.wait_for_state(HubState::Online).await;

    let (how, wait) = (InputMethod::Text, ReportsWanted::Delivery);
    let refused = hub_server::send(hub.address, None, "hi", how, wait).await;
    assert!(matches!(refused, Err(hub_server::SendProblem::Refused(_))));
    let mut reports = hub_server::send(hub.address, Some(&token), "hi", how, wait).await.unwrap();
    assert!(matches!(
        within_timeout(reports.next()).await,
        Some(Ok(DeliveryReport::Delivered { .. }))
    ));
    assert!(within_timeout(reports.next()).await.is_none());
}

#[tokio::test]
async fn the_task_ends_when_nobody_takes_its_events_any_more() {
    let mut hub = RunningHub::start().await;
    let mut link = RunningLink::start(config(hub.address));
    link.wait_for_state(HubState::Online).await;
    drop(link.events);
    let code = |seen| if let LocalHubEvent::Left { code, .. } = seen { Some(code) } else { None };
    assert_eq!(hub.wait_for_event(code).await, Some(1000));
    let response = HubResponse::Ack { message_id: "m".into() };
    let id = hub.address.to_string();
    assert_eq!(link.handle.send(&id, response).await, Err(NotOnline));
}
