//! The hub's rules, told as stories of lines and frames.

use super::*;

const TIMEOUT: Duration = Duration::from_secs(30);
const SENDER: u64 = 99;

/// A board with clients registered on lines 1, 2, …
fn board(names: &[&str]) -> LocalHubState {
    let mut board = LocalHubState::new(TIMEOUT);
    for (line, name) in (1..).zip(names) {
        board.connected(line);
        let acts = register(&mut board, line, name, "Keeps things.");
        assert!(
            acts.contains(&HubAction::Tell(LocalHubEvent::Registered { name: (*name).into() }))
        );
    }
    board
}

fn register(state: &mut LocalHubState, line: u64, name: &str, description: &str) -> Vec<HubAction> {
    let payload = json!({ "name": name, "description": description });
    let frame = json!({ "type": "registration", "payload": payload });
    state.on_client_frame(Duration::ZERO, line, &frame.to_string())
}

fn say(state: &mut LocalHubState, text: &str) -> Vec<HubAction> {
    let frame = json!({ "text": text, "inputMethod": "text" }).to_string();
    state.on_sender_frame(Duration::ZERO, SENDER, &frame, "2026-11-20T10:00:00Z".into())
}

fn answer(
    state: &mut LocalHubState,
    line: u64,
    id: &str,
    kind: &str,
    payload: Value,
) -> Vec<HubAction> {
    let payload = json!({ "messageId": id, "type": kind, "payload": payload });
    let frame = json!({ "type": "response", "payload": payload });
    state.on_client_frame(Duration::from_secs(1), line, &frame.to_string())
}

fn seen(acts: &[HubAction]) -> Vec<&LocalHubEvent> {
    acts.iter()
        .filter_map(|act| if let HubAction::Tell(seen) = act { Some(seen) } else { None })
        .collect()
}

/// Id, receiver and text of each delivery.
fn delivered(acts: &[HubAction]) -> Vec<(String, String, String)> {
    let delivered = seen(acts).into_iter().filter_map(|seen| match seen {
        LocalHubEvent::Delivered { id, to, text } => Some((id.clone(), to.clone(), text.clone())),
        _ => None,
    });
    delivered.collect()
}

fn first_id(acts: &[HubAction]) -> String {
    delivered(acts).remove(0).0
}

fn code_of(acts: &[HubAction]) -> Option<&'static str> {
    seen(acts).iter().find_map(|seen| match seen {
        LocalHubEvent::Declined { code, .. } => Some(*code),
        _ => None,
    })
}

#[test]
fn registrations_are_declined_with_the_protocols_codes() {
    let mut board = board(&["Notes"]);
    board.connected(2);
    let long = "d".repeat(1025);
    for (line, name, description, code) in [
        (2, "My notes", "d", "INVALID_NAME"),
        (2, "Tasks", " ", "INVALID_DESCRIPTION"),
        (2, "Tasks", long.as_str(), "INVALID_DESCRIPTION"),
        (2, "Notes", "d", "DUPLICATE_NAME"),
        (1, "Other", "d", "ALREADY_REGISTERED"),
    ] {
        assert_eq!(code_of(&register(&mut board, line, name, description)), Some(code), "{name}");
    }
    let nameless = r#"{"type":"registration","payload":{"name":null}}"#;
    let acts = board.on_client_frame(Duration::ZERO, 2, nameless);
    assert_eq!(code_of(&acts), Some("VALIDATION_ERROR"));
    assert_eq!(code_of(&register(&mut board, 2, "Tasks", "d")), None);
}

#[test]
fn a_name_is_free_again_when_its_socket_has_gone() {
    let mut board = board(&["Notes"]);
    board.connected(2);
    assert_eq!(code_of(&register(&mut board, 2, "Notes", "d")), Some("DUPLICATE_NAME"));
    board.disconnected(1, Some(1000));
    assert_eq!(code_of(&register(&mut board, 2, "Notes", "d")), None);
}

#[test]
fn the_only_client_gets_every_text_whole() {
    let acts = say(&mut board(&["Notes"]), "Tasks: buy milk");
    let [(_, to, text)] = delivered(&acts).try_into().unwrap();
    assert_eq!((to.as_str(), text.as_str()), ("Notes", "Tasks: buy milk"));
    let Some(HubAction::Send { line: 1, frame }) = acts.first() else { panic!("{acts:?}") };
    let frame: Value = serde_json::from_str(frame).unwrap();
    assert_eq!(
        frame["payload"]["metadata"],
        json!({ "inputMethod": "text", "directRouted": false })
    );
    assert_eq!(frame["payload"]["timestamp"], "2026-11-20T10:00:00Z");
}

#[test]
fn of_several_clients_the_named_one_gets_the_rest_of_the_text() {
    let mut board = board(&["Notes", "Tasks"]);
    let [(_, to, text)] = delivered(&say(&mut board, " tasks : buy: milk")).try_into().unwrap();
    assert_eq!((to.as_str(), text.as_str()), ("Tasks", "buy: milk"));
    for text in ["buy milk", "Mail: hello", "Tasks: "] {
        let acts = say(&mut board, text);
        assert!(delivered(&acts).is_empty());
        assert!(acts.contains(&HubAction::Finish { line: SENDER }), "{text}");
    }
}

#[test]
fn without_a_client_or_words_the_sender_is_told_so() {
    for (names, text) in [(&[][..], "hello"), (&["Notes"], "  ")] {
        let acts = say(&mut board(names), text);
        assert!(matches!(seen(&acts).as_slice(), [LocalHubEvent::Undelivered { .. }]), "{acts:?}");
    }
}

#[test]
fn an_ack_settles_a_delivery() {
    let mut board = board(&["Notes", "Tasks"]);
    let id = first_id(&say(&mut board, "Notes: hi"));
    let acts = answer(&mut board, 1, &id, "ack", json!({}));
    assert_eq!(seen(&acts), [&LocalHubEvent::Acked { id, by: "Notes".into() }]);
    assert_eq!(board.next_tick(), None);
    assert_eq!(board.tick(TIMEOUT * 2), []);
}

#[test]
fn a_rejected_message_goes_to_the_others_under_a_new_id_and_ends_with_the_last() {
    let mut board = board(&["Notes", "Tasks"]);
    let first = first_id(&say(&mut board, "Notes: hi"));
    let acts = answer(&mut board, 1, &first, "reject", json!({ "reason": "busy" }));
    let [(second, to, text)] = delivered(&acts).try_into().unwrap();
    assert_eq!((to.as_str(), text.as_str()), ("Tasks", "hi"));
    assert_ne!(first, second);
    let acts = answer(&mut board, 2, &second, "reject", json!({}));
    assert!(delivered(&acts).is_empty());
    assert!(acts.contains(&HubAction::Finish { line: SENDER }));
}

#[test]
fn silence_is_a_rejection_and_a_late_ack_does_not_undo_it() {
    let mut board = board(&["Notes", "Tasks"]);
    let id = first_id(&say(&mut board, "Notes: hi"));
    assert_eq!(board.next_tick(), Some(TIMEOUT));
    assert_eq!(board.tick(TIMEOUT - Duration::from_millis(1)), []);
    let acts = board.tick(TIMEOUT);
    let timed_out = LocalHubEvent::Rejected {
        id: id.clone(),
        by: "Notes".into(),
        reason: "Response timeout".into(),
    };
    assert!(seen(&acts).contains(&&timed_out));
    assert_eq!(delivered(&acts).len(), 1);
    let acts = answer(&mut board, 1, &id, "ack", json!({}));
    assert_eq!(seen(&acts), [&LocalHubEvent::Acked { id, by: "Notes".into() }]);
    assert_eq!(board.next_tick(), Some(TIMEOUT * 2), "the other delivery still waits");
}

#[test]
fn responses_count_only_for_what_was_delivered_to_that_name() {
    let mut board = board(&["Notes", "Tasks"]);
    let id = first_id(&say(&mut board, "Notes: hi"));
    for (line, id) in [(2, id.as_str()), (1, "unknown"), (7, id.as_str())] {
        let acts = answer(&mut board, line, id, "ack", json!({}));
        assert!(matches!(seen(&acts).as_slice(), [LocalHubEvent::Dropped { .. }]), "{line} {id}");
    }
    board.disconnected(1, None);
    board.connected(3);
    register(&mut board, 3, "Notes", "d");
    let acts = answer(&mut board, 3, &id, "ack", json!({}));
    assert_eq!(
        seen(&acts),
        [&LocalHubEvent::Acked { id, by: "Notes".into() }],
        "after a reconnect"
    );
}

#[test]
fn only_the_last_hundred_deliveries_are_remembered() {
    let mut board = board(&["Notes"]);
    let ids: Vec<String> = (0..101).map(|_| first_id(&say(&mut board, "hi"))).collect();
    let mut acked = |id: &str| {
        let acts = answer(&mut board, 1, id, "ack", json!({}));
        matches!(seen(&acts).as_slice(), [LocalHubEvent::Acked { .. }])
    };
    assert!(!acked(&ids[0]));
    assert!(acked(&ids[1]));
    assert!(acked(&ids[100]));
}

#[test]
fn a_notification_reaches_the_sender_and_the_screen_unless_it_is_empty() {
    let mut board = board(&["Notes"]);
    let id = first_id(&say(&mut board, "hi"));
    for empty in [json!({}), json!({ "title": "", "body": " " })] {
        let acts = answer(&mut board, 1, &id, "notification", empty);
        assert!(matches!(seen(&acts).as_slice(), [LocalHubEvent::Dropped { .. }]));
    }
    let said = json!({ "title": "Notes", "body": "Done.", "priority": "high" });
    let acts = answer(&mut board, 1, &id, "notification", said);
    let notice = HubNotification {
        title: "Notes".into(),
        body: "Done.".into(),
        priority: hub::Priority::High,
    };
    assert!(acts.contains(&HubAction::Show(notice.clone())));
    let report = DeliveryReport::Notified { by: "Notes".into(), notice };
    assert!(acts.contains(&send_report(SENDER, &report)));
}

#[test]
fn frames_that_are_none_are_dropped() {
    let mut board = board(&["Notes"]);
    for frame in ["", "{", "null", r#"{"type":"hello","payload":{}}"#, r#"{"type":"response"}"#] {
        let acts = board.on_client_frame(Duration::ZERO, 1, frame);
        assert_eq!(seen(&acts), [&LocalHubEvent::Dropped { by: Some("Notes".into()) }], "{frame}");
    }
}
