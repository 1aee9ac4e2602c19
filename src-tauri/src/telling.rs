//! What the desktop is told, in words: notifications, and what the tray shows.

use app::{Happened, Mood, Notice, Standing};
use desktop::{Card, Entry, Look, Mark};
use protocol::HubState;

use crate::words::Words;

/// The key of what is about no conversation.
pub(crate) const APPLICATION: &str = "application";

/// What can be chosen in the tray.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chosen {
    /// Show the window.
    Show,
    /// Ask no model, or ask them again.
    Pause,
    /// End the program.
    Quit,
}

/// The notification for what happened.
pub(crate) fn card(notice: &Notice, words: Words) -> Card {
    let summary = match notice.happened {
        Happened::Asked => "desk_asked",
        Happened::ToReview => "desk_to_review",
        Happened::Held => "desk_held",
        Happened::Done => "desk_done",
        Happened::Failed => "desk_failed",
        Happened::WentWrong => "desk_went_wrong",
        Happened::HubRefused => "desk_hub_refused",
    };
    Card {
        key: notice
            .conversation
            .as_ref()
            .map_or_else(|| APPLICATION.to_owned(), ToString::to_string),
        summary: words.say(summary),
        body: notice.name.clone().unwrap_or_else(|| words.say("desk_look")),
        open: words.say("desk_open"),
    }
}

/// What the tray shows, in the language of the time; nothing while the hub is off.
pub(crate) fn look(standing: &Standing) -> Option<Look<Chosen>> {
    if !standing.hub_on {
        return None;
    }
    let words = Words::chosen(standing.language);
    let (mark, mood) = match standing.mood() {
        Mood::Idle => (Mark::None, "tray_idle"),
        Mood::Working => (Mark::Working, "tray_working"),
        Mood::Waiting => (Mark::Waiting, "tray_waiting"),
        Mood::Trouble => (Mark::Trouble, "tray_trouble"),
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
        Entry::Do(words.say("tray_show"), Chosen::Show),
        Entry::Rule,
        Entry::Words(words.say("tray_hub").replace("{state}", &words.say(hub))),
        Entry::Words(words.count("tray_questions", standing.questions)),
        Entry::Words(words.count("tray_reviews", standing.reviews)),
        Entry::Rule,
    ];
    menu.push(Entry::Switch(words.say("tray_pause"), standing.paused, Chosen::Pause));
    menu.push(Entry::Do(words.say("tray_quit"), Chosen::Quit));
    Some(Look { words: words.say(mood), mark, menu, click: Chosen::Show })
}

#[cfg(test)]
mod tests {
    use protocol::settings::Language;

    use super::*;

    fn on() -> Standing {
        Standing { hub_on: true, hub: HubState::Online, ..Standing::default() }
    }

    #[test]
    fn the_tray_says_how_things_stand_and_is_not_there_without_the_hub() {
        assert_eq!(look(&Standing::default()), None);
        let busy = look(&Standing { questions: 2, ..on() }).expect("a look");
        let words = Words::chosen(Language::System).say("tray_waiting");
        assert_eq!((busy.mark, busy.words), (Mark::Waiting, words));
        let said =
            |entry: &Entry<Chosen>| matches!(entry, Entry::Words(said) if said.contains('2'));
        assert_eq!(busy.menu.iter().filter(|entry| said(entry)).count(), 1);
    }

    #[test]
    fn the_tray_speaks_the_language_that_was_chosen_last() {
        let said = |language| look(&Standing { language, ..on() }).map(|look| look.menu);
        let (english, german) = (said(Language::En), said(Language::De));
        assert!(english.is_some_and(|menu| menu.contains(&Entry::Do("Quit".into(), Chosen::Quit))));
        let quit = Words::chosen(Language::De).say("tray_quit");
        assert_ne!(quit, "Quit");
        assert!(german.is_some_and(|menu| menu.contains(&Entry::Do(quit, Chosen::Quit))));
    }

    #[test]
    fn whatever_happens_and_however_it_stands_there_are_words_for_it() {
        let words = Words::chosen(Language::System);
        let is_said = |text: &str| !text.contains('_') && !text.contains('{');
        for happened in [
            Happened::Asked,
            Happened::ToReview,
            Happened::Held,
            Happened::Done,
            Happened::Failed,
            Happened::WentWrong,
            Happened::HubRefused,
        ] {
            let card = card(&Notice { happened, conversation: None, name: None }, words);
            for text in [&card.summary, &card.body, &card.open] {
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
            let look = look(&Standing { hub, working: true, ..on() }).expect("a look");
            assert!(is_said(&look.words));
            for entry in look.menu {
                match entry {
                    Entry::Words(text) | Entry::Do(text, _) | Entry::Switch(text, ..) => {
                        assert!(is_said(&text), "{text}");
                    }
                    Entry::Rule => {}
                }
            }
        }
    }
}
