//! Where a message of the hub may add at once: the inbox, today's daily note, notes the user listed.

use jiff::Zoned;
use protocol::settings::HubSettings;
use protocol::{NotePath, UserError};
use vault::{ObsidianFile, Vault};

use crate::user_texts;

/// The places of one vault at one moment.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct WritableNotes {
    notes: Vec<NotePath>,
}

impl WritableNotes {
    /// The places as the vault's and the user's settings have them. Reads a file of the vault.
    pub(crate) fn from_settings(vault: &Vault, settings: &HubSettings, now: &Zoned) -> Self {
        let daily = tools::notes::daily_note::path(
            vault.obsidian_config(ObsidianFile::DailyNotes).as_deref(),
            now,
        );
        let listed = settings.notes.iter().filter_map(|line| parse_listed_note(line).ok());
        let own = [NotePath::parse(&daily).ok(), inbox_path(settings).ok()];
        Self { notes: own.into_iter().flatten().chain(listed).collect() }
    }

    /// Whether the note is one of them, or the folder that holds the inbox; judged by its path, so
    /// of a note that was read through a link both paths are to be asked.
    pub(crate) fn contains(&self, path: &NotePath) -> bool {
        is_inbox(path) || is_inbox_folder(path) || self.notes.contains(path)
    }

    /// Whether the note is one of them by its own name, not as one of a folder.
    pub(crate) fn lists(&self, path: &NotePath) -> bool {
        self.notes.contains(path)
    }

    /// Whether a change of the note is one in these places: also where a link at its path leads.
    pub(crate) fn allows_change(&self, vault: &Vault, path: &NotePath) -> bool {
        self.contains(path) && vault.follow_symlinks(path).is_ok_and(|real| self.contains(&real))
    }
}

fn is_inbox_folder(path: &NotePath) -> bool {
    path.as_str().eq_ignore_ascii_case(inbox_folder())
}

fn inbox_folder() -> &'static str {
    HubSettings::INBOX.rsplit_once('/').unwrap_or_default().0
}

/// The note to which messages are added that no model could work on.
pub(crate) fn inbox_path(settings: &HubSettings) -> Result<NotePath, UserError> {
    match settings.inbox_note.trim() {
        "" => parse_listed_note(HubSettings::INBOX),
        line => parse_listed_note(line),
    }
}

/// Whether the note is in the inbox folder, however the vault spells it.
pub(crate) fn is_inbox(path: &NotePath) -> bool {
    path.folder().is_some_and(|given| given.eq_ignore_ascii_case(inbox_folder()))
}

/// Refuses an inbox that is no note, and a list with a line that names none.
pub(crate) fn validate(settings: &HubSettings) -> Result<(), UserError> {
    inbox_path(settings)?;
    settings.notes.iter().try_for_each(|line| parse_listed_note(line).map(|_| ()))
}

/// The note that a line names, with or without its `.md`.
fn parse_listed_note(line: &str) -> Result<NotePath, UserError> {
    let line = line.trim();
    let spelled =
        if line.to_lowercase().ends_with(".md") { line.to_owned() } else { format!("{line}.md") };
    NotePath::parse(&spelled).map_err(|error| {
        UserError::other(user_texts::not_a_note_for_the_hub(line, error.to_string()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).expect("a path")
    }

    #[test]
    fn the_inbox_folder_is_a_place_however_it_is_spelled_and_nothing_else_is() {
        let places = WritableNotes::default();
        for note in ["inbox/Inbox.md", "Inbox/Inbox.md", "INBOX/other.md"] {
            assert!(places.contains(&path(note)), "{note}");
        }
        for note in ["Inbox.md", "inbox/deep/a.md", "Archive/inbox/a.md", "inboxes/a.md"] {
            assert!(!places.contains(&path(note)), "{note}");
        }
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test makes the files of the vault")]
    fn the_daily_note_of_today_and_the_listed_notes_are_places() {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(".obsidian")).expect("made");
        let daily = folder.path().join(".obsidian/daily-notes.json");
        std::fs::write(daily, r#"{"folder":"Diary"}"#).expect("written");
        let vault = Vault::open(folder.path()).expect("a vault");
        let now: Zoned = "2026-11-21T16:20[Europe/Berlin]".parse().expect("a time");
        let notes = ["Lists/Shopping", " Todo.md ", "../out"].map(str::to_owned).to_vec();
        let settings = HubSettings { notes, ..HubSettings::default() };
        let places = WritableNotes::from_settings(&vault, &settings, &now);
        for note in ["Diary/2026-11-21.md", "Lists/Shopping.md", "Todo.md"] {
            assert!(places.contains(&path(note)), "{note}");
        }
        for note in ["Diary/2026-11-20.md", "2026-11-21.md", "Lists/Shopping.md.md", "out.md"] {
            assert!(!places.contains(&path(note)), "{note}");
        }
        let inbox_note = "Journal/In".to_owned();
        let other = HubSettings { inbox_note, ..HubSettings::default() };
        assert!(
            WritableNotes::from_settings(&vault, &other, &now).contains(&path("Journal/In.md"))
        );
        assert!(
            !WritableNotes::from_settings(&vault, &other, &now).contains(&path("Journal/Out.md"))
        );
        let outside = HubSettings { inbox_note: "../In.md".to_owned(), ..HubSettings::default() };
        assert!(validate(&outside).is_err() && validate(&other).is_ok());
        let refused = validate(&settings).expect_err("a line names nothing in the vault");
        assert!(refused.message.contains("“../out” isn’t a note"), "{refused}");
    }
}
