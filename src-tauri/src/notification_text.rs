//! The texts of the desktop: notifications and the tray.

use app::{AppNotification, NotificationKind, TrayState, TrayStatus};
use desktop::{DesktopNotification, TrayBadge, TrayContent, TrayMenuEntry};
use protocol::HubState;
use protocol::time::Weekday;

use crate::i18n::Translations;

/// The key of what is about no conversation.
pub(crate) const APPLICATION_KEY: &str = "application";

/// An entry of the tray's menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum TrayAction {
    /// Show the window.
    Show,
    /// Pause all models, or resume them.
    Pause,
    /// End the program.
    Quit,
}

/// The notification for what happened.
pub(crate) fn notification_card(
    notice: &AppNotification,
    words: Translations,
) -> DesktopNotification {
    let summary = match notice.happened {
        NotificationKind::Asked => "desk_asked",
        NotificationKind::ToReview => "desk_to_review",
        NotificationKind::Held => "desk_held",
        NotificationKind::Done => "desk_done",
        NotificationKind::Failed => "desk_failed",
        NotificationKind::WentWrong => "desk_went_wrong",
        NotificationKind::HubRefused => "desk_hub_refused",
    };
    DesktopNotification {
        key: notice
            .conversation
            .as_ref()
            .map_or_else(|| APPLICATION_KEY.to_owned(), ToString::to_string),
        summary: words.text(summary),
        body: match (notice.inbox_day, &notice.name) {
            (Some(day), _) => words.text(inbox_title_key(day)),
            (None, Some(title)) => title.clone(),
            (None, None) => words.text("desk_look"),
        },
        open_label: words.text("desk_open"),
    }
}

/// The key of the title of a day of the hub.
const fn inbox_title_key(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "inbox_monday",
        Weekday::Tuesday => "inbox_tuesday",
        Weekday::Wednesday => "inbox_wednesday",
        Weekday::Thursday => "inbox_thursday",
        Weekday::Friday => "inbox_friday",
        Weekday::Saturday => "inbox_saturday",
        Weekday::Sunday => "inbox_sunday",
    }
}

/// The content of the tray, in the current language; `None` while the hub is off.
pub(crate) fn tray_content(standing: &TrayState) -> Option<TrayContent<TrayAction>> {
    if !standing.hub_on {
        return None;
    }
    let words = Translations::for_language(standing.language);
    let (mark, mood) = match standing.status() {
        TrayStatus::Idle => (TrayBadge::None, "tray_idle"),
        TrayStatus::Working => (TrayBadge::Working, "tray_working"),
        TrayStatus::Waiting => (TrayBadge::Waiting, "tray_waiting"),
        TrayStatus::Trouble => (TrayBadge::Trouble, "tray_trouble"),
    };
    let hub = match standing.hub {
        HubState::Off => "hub_off",
        HubState::Connecting => "hub_connecting",
        HubState::Registering => "hub_registering",
        HubState::Online => "hub_online",
        HubState::Waiting => "hub_waiting",
        HubState::Refused => "hub_refused",
    };
    let mut menu = vec![
        TrayMenuEntry::Do(words.text("tray_show"), TrayAction::Show),
        TrayMenuEntry::Rule,
        TrayMenuEntry::Words(words.text("tray_hub").replace("{state}", &words.text(hub))),
    ];
    let counts = [("tray_questions", standing.questions), ("tray_reviews", standing.reviews)];
    let open = counts.iter().filter(|(_, count)| *count > 0);
    menu.extend(
        open.map(|(text, count)| TrayMenuEntry::Words(words.text_with_count(text, *count))),
    );
    menu.push(TrayMenuEntry::Rule);
    menu.push(TrayMenuEntry::Switch(words.text("tray_pause"), standing.paused, TrayAction::Pause));
    menu.push(TrayMenuEntry::Do(words.text("tray_quit"), TrayAction::Quit));
    Some(TrayContent { tooltip: words.text(mood), badge: mark, menu, click: TrayAction::Show })
}

#[cfg(test)]
mod tests {
    use protocol::settings::Language;

    use super::*;

    fn on() -> TrayState {
        TrayState { hub_on: true, hub: HubState::Online, ..TrayState::default() }
    }

    #[test]
    fn the_tray_says_how_things_stand_and_is_not_there_without_the_hub() {
        assert_eq!(tray_content(&TrayState::default()), None);
        let busy = tray_content(&TrayState { questions: 2, ..on() }).expect("a look");
        let words = Translations::for_language(Language::System).text("tray_waiting");
        assert_eq!((busy.badge, busy.tooltip), (TrayBadge::Waiting, words));
        let said = |entry: &TrayMenuEntry<TrayAction>| matches!(entry, TrayMenuEntry::Words(said) if said.contains('2'));
        assert_eq!(busy.menu.iter().filter(|entry| said(entry)).count(), 1);
    }

    #[test]
    fn the_tray_omits_questions_and_reviews_when_there_are_none() {
        let language = Language::En;
        let lines = |state: TrayState| -> Vec<String> {
            let menu = tray_content(&TrayState { language, ..state }).expect("a look").menu;
            let line = |entry| match entry {
                TrayMenuEntry::Words(line) => Some(line),
                _ => None,
            };
            menu.into_iter().filter_map(line).collect()
        };
        assert_eq!(lines(on()), ["Hub: Connected"]);
        assert_eq!(lines(TrayState { questions: 2, ..on() }), ["Hub: Connected", "Questions: 2"]);
        assert_eq!(lines(TrayState { reviews: 1, ..on() }), ["Hub: Connected", "Reviews: 1"]);
    }

    #[test]
    fn the_tray_uses_the_language_that_was_chosen_last() {
        let said = |language| tray_content(&TrayState { language, ..on() }).map(|look| look.menu);
        let (english, german) = (said(Language::En), said(Language::De));
        assert!(english.is_some_and(|menu| {
            menu.contains(&TrayMenuEntry::Do("Quit".into(), TrayAction::Quit))
        }));
        let quit = Translations::for_language(Language::De).text("tray_quit");
        assert_ne!(quit, "Quit");
        assert!(
            german.is_some_and(|menu| menu.contains(&TrayMenuEntry::Do(quit, TrayAction::Quit)))
        );
    }

    #[test]
    fn the_title_of_a_day_of_the_hub_is_in_the_language_of_the_user() {
        let body = |title: &str, inbox_day, language| {
            let notice = AppNotification {
                happened: NotificationKind::Held,
                conversation: None,
                name: Some(title.to_owned()),
                inbox_day,
            };
            notification_card(&notice, Translations::for_language(language)).body
        };
        let saturday = Some(Weekday::Saturday);
        assert_eq!(body("Inbox, Saturday", saturday, Language::De), "Eingang, Samstag");
        assert_eq!(body("Inbox, Saturday", saturday, Language::En), "Inbox, Saturday");
        for title in ["Inbox, Saturday", "Boiler"] {
            assert_eq!(body(title, None, Language::De), title, "the user worded it");
        }
    }

    #[test]
    fn every_event_and_every_state_has_a_text() {
        let words = Translations::for_language(Language::System);
        let is_said = |text: &str| !text.contains('_') && !text.contains('{');
        for happened in [
            NotificationKind::Asked,
            NotificationKind::ToReview,
            NotificationKind::Held,
            NotificationKind::Done,
            NotificationKind::Failed,
            NotificationKind::WentWrong,
            NotificationKind::HubRefused,
        ] {
            let notice =
                AppNotification { happened, conversation: None, name: None, inbox_day: None };
            let card = notification_card(&notice, words);
            for text in [&card.summary, &card.body, &card.open_label] {
                assert!(is_said(text), "{text}");
            }
        }
        for hub in [
            HubState::Off,
            HubState::Connecting,
            HubState::Registering,
            HubState::Online,
            HubState::Waiting,
            HubState::Refused,
        ] {
            let look = tray_content(&TrayState { hub, working: true, ..on() }).expect("a look");
            assert!(is_said(&look.tooltip));
            for entry in look.menu {
                match entry {
                    TrayMenuEntry::Words(text)
                    | TrayMenuEntry::Do(text, _)
                    | TrayMenuEntry::Switch(text, ..) => {
                        assert!(is_said(&text), "{text}");
                    }
                    TrayMenuEntry::Rule => {}
                }
            }
        }
    }
}
