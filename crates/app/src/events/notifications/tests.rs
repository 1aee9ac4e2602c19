//! The notifications for each event.

use protocol::settings::{HubSettings, SettingsProblem};
use protocol::{ConversationState, HubStatus, Timestamp, UserError};
use uuid::Uuid;

use super::*;

fn id(number: u128) -> ConversationId {
    ConversationId::from(Uuid::from_u128(number))
}

fn row() -> Conversation {
    Conversation {
        id: id(1),
        title: "Groceries".into(),
        titled_by_model: false,
        inbox_day: None,
        summary: None,
        state: ConversationState::Active,
        from_hub: false,
        archived: false,
        updated_at: Timestamp(0),
        waiting_question: None,
        waiting_notes: 0,
        held: 0,
        interrupted: false,
        working: false,
    }
}

fn changed(conversation: Conversation) -> AppEvent {
    AppEvent::ConversationChanged { conversation }
}

fn overview() -> NotificationRules {
    let mut overview = NotificationRules::default();
    overview.apply_settings(&Settings::default());
    overview
}

fn away() -> WindowFocus {
    WindowFocus { focused: false, conversation: Some(id(1)) }
}

/// The notifications of a conversation that goes through these rows.
fn told(rows: &[Conversation], focus: &WindowFocus) -> Vec<NotificationKind> {
    let mut overview = overview();
    let steps = rows.iter().flat_map(|row| overview.step(&changed(row.clone()), focus));
    let news = steps.filter_map(|told| match told {
        NotificationChange::News(notice) => Some(notice.happened),
        NotificationChange::Over(_) => None,
    });
    news.collect()
}

#[test]
fn each_pending_item_is_told_once_and_not_while_the_window_shows_it() {
    let working = Conversation { working: true, ..row() };
    let asks = Conversation { waiting_question: Some("Which list?".into()), ..row() };
    let reviews = Conversation { waiting_notes: 2, ..row() };
    let holds = Conversation { held: 1, ..row() };
    for (waits, happened) in [
        (asks, NotificationKind::Asked),
        (reviews, NotificationKind::ToReview),
        (holds, NotificationKind::Held),
    ] {
        let story = [working.clone(), waits.clone(), waits.clone()];
        assert_eq!(told(&story, &away()), [happened]);
        let elsewhere = WindowFocus { focused: true, conversation: Some(id(2)) };
        assert_eq!(told(&story, &elsewhere), [happened], "the window shows another");
        let no_conversation = WindowFocus { focused: true, conversation: None };
        assert_eq!(told(&story, &no_conversation), [happened], "the window shows none");
        assert_eq!(told(&story, &WindowFocus { focused: true, conversation: Some(id(1)) }), []);
    }
}

#[test]
fn changes_that_still_grow_are_told_when_the_turn_has_ended() {
    let growing = |notes| Conversation { waiting_notes: notes, working: true, ..row() };
    let done = Conversation { waiting_notes: 3, ..row() };
    assert_eq!(told(&[growing(1), growing(2), growing(3)], &away()), []);
    assert_eq!(
        told(&[growing(1), growing(3), done.clone()], &away()),
        [NotificationKind::ToReview]
    );
    let fewer = Conversation { waiting_notes: 1, ..row() };
    assert_eq!(
        told(&[done, fewer], &away()),
        [NotificationKind::ToReview],
        "a decision is no news"
    );
}

#[test]
fn only_what_the_hub_brought_is_told_when_it_is_done_and_only_to_who_is_away() {
    let story = |from_hub| {
        [Conversation { working: true, from_hub, ..row() }, Conversation { from_hub, ..row() }]
    };
    assert_eq!(told(&story(true), &away()), [NotificationKind::Done]);
    assert_eq!(told(&story(false), &away()), [], "an answer is found in the window");
    assert_eq!(told(&story(true), &WindowFocus { focused: true, conversation: None }), []);
    let mut many = vec![Conversation { working: true, from_hub: true, ..row() }; 1_000];
    many.push(Conversation { from_hub: true, ..row() });
    assert_eq!(told(&many, &away()), [NotificationKind::Done], "a thousand messages are done once");
}

#[test]
fn a_failure_is_told_when_nothing_goes_on_any_more_and_one_of_the_hub_is_tried_again() {
    for (from_hub, wanted) in [(false, vec![NotificationKind::Failed]), (true, Vec::new())] {
        let mut overview = overview();
        let mut heard = Vec::new();
        let failed = AppEvent::ItemChanged {
            conversation: id(1),
            item: ChatItem::Ended {
                turn: Uuid::from_u128(9).into(),
                status: TurnStatus::Failed,
                error: None,
                offer: None,
            },
        };
        let working = Conversation { working: true, from_hub, ..row() };
        for event in [changed(working), failed, changed(Conversation { from_hub, ..row() })] {
            heard.extend(overview.step(&event, &away()));
        }
        let news: Vec<_> = heard
            .into_iter()
            .filter_map(|told| match told {
                NotificationChange::News(notice) => Some(notice.happened),
                NotificationChange::Over(_) => None,
            })
            .collect();
        assert_eq!(news, wanted);
    }
}

#[test]
fn notifications_of_answered_or_deleted_conversations_are_withdrawn() {
    let mut overview = overview();
    let asks = Conversation { waiting_question: Some("Which list?".into()), ..row() };
    assert_eq!(overview.step(&changed(asks.clone()), &away()).len(), 1);
    assert_eq!(overview.step(&changed(row()), &away()), [NotificationChange::Over(id(1))]);
    overview.step(&changed(asks), &away());
    let gone = AppEvent::ConversationGone { conversation: id(1) };
    assert_eq!(overview.step(&gone, &away()), [NotificationChange::Over(id(1))]);
    assert_eq!(overview.tray_state(), TrayState::default());
}

#[test]
fn what_waited_before_the_vault_was_opened_is_counted_and_no_news() {
    let asks = Conversation { waiting_question: Some("Which list?".into()), ..row() };
    let reviews = Conversation { id: id(2), waiting_notes: 1, ..row() };
    let mut overview = overview();
    overview.begin(&[asks.clone(), reviews], HubState::Off);
    assert_eq!(overview.step(&changed(asks), &away()), []);
    let standing = overview.tray_state();
    assert_eq!((standing.questions, standing.reviews), (1, 1));
    assert_eq!(standing.status(), TrayStatus::Waiting);
}

#[test]
fn a_name_is_told_without_keys_and_not_at_all_where_something_is_private() {
    let asks = Conversation {
        title: "My key is sk-CANARY-7f3a9c".into(),
        waiting_question: Some("What does the diary say: SECRET?".into()),
        ..row()
    };
    let mut open = overview();
    let heard = open.step(&changed(asks.clone()), &away());
    let [NotificationChange::News(notice)] = heard.as_slice() else { panic!("one: {heard:?}") };
    assert_eq!(notice.name.as_deref(), Some("My key is [key]"));
    assert!(!format!("{heard:?}").contains("SECRET"), "no words of a model");
    let mut settings = Settings::default();
    settings.private.local.push("Diary".into());
    let mut careful = NotificationRules::default();
    careful.apply_settings(&settings);
    let heard = careful.step(&changed(asks), &away());
    assert!(
        matches!(heard.as_slice(), [NotificationChange::News(AppNotification { name: None, .. })]),
        "{heard:?}"
    );
}

#[test]
fn a_title_is_not_shown_where_a_model_worded_it_or_no_rule_for_privacy_is_known() {
    let name = |rules: &mut NotificationRules, titled_by_model| {
        rules.step(&changed(row()), &away());
        let asks =
            Conversation { titled_by_model, waiting_question: Some("Which list?".into()), ..row() };
        match rules.step(&changed(asks), &away()).as_slice() {
            [NotificationChange::News(notice)] => notice.name.clone(),
            other => panic!("one: {other:?}"),
        }
    };
    assert_eq!(name(&mut overview(), false).as_deref(), Some("Groceries"));
    assert_eq!(name(&mut overview(), true), None, "it may quote a note");
    let mut unknown = overview();
    let mut read = |trouble| {
        unknown
            .step(&AppEvent::SettingsChanged { settings: Settings::default(), trouble }, &away());
        name(&mut unknown, false)
    };
    let damaged =
        SettingsProblem { message: "It is damaged.".into(), text: None, choices: Vec::new() };
    assert_eq!(read(Some(damaged)), None);
    assert_eq!(read(None).as_deref(), Some("Groceries"), "it is readable again");
}

#[test]
fn notifications_that_are_switched_off_leave_the_counts() {
    let mut overview = overview();
    let mut settings = Settings::default();
    settings.desktop.notifications = false;
    overview.step(&AppEvent::SettingsChanged { settings, trouble: None }, &away());
    let asks = Conversation { waiting_question: Some("Which list?".into()), ..row() };
    assert_eq!(overview.step(&changed(asks), &away()), []);
    assert_eq!(overview.tray_state().questions, 1);
}

#[test]
fn trouble_is_shown_before_pending_items_and_those_before_finished_ones() {
    let mut overview = overview();
    let hub = HubSettings { enabled: true, ..HubSettings::default() };
    overview.apply_settings(&Settings { hub, ..Settings::default() });
    let mut moods = Vec::new();
    let hub = |state| AppEvent::HubChanged { hub: HubStatus { state, ..HubStatus::off() } };
    for event in [
        hub(HubState::Online),
        changed(Conversation { working: true, ..row() }),
        changed(Conversation { waiting_notes: 1, ..row() }),
        hub(HubState::Refused),
    ] {
        overview.step(&event, &away());
        moods.push(overview.tray_state().status());
    }
    assert_eq!(
        moods,
        [TrayStatus::Idle, TrayStatus::Working, TrayStatus::Waiting, TrayStatus::Trouble]
    );
    let wrong = AppEvent::Problem { error: UserError::other("the words of a message") };
    let heard = overview.step(&wrong, &away());
    let [NotificationChange::News(notice)] = heard.as_slice() else { panic!("one: {heard:?}") };
    assert_eq!((notice.happened, &notice.name), (NotificationKind::WentWrong, &None));
}
