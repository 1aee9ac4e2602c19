//! The note that is shown beside the chat: the window always has its newest text.

use std::path::PathBuf;
use std::sync::Arc;

use markdown::Properties;
use protocol::notes::query::NoteText;
use protocol::request::NoteContent;
use protocol::{AppEvent, ContentHash, NoteOpener, NotePath, UserError};
use vault::{Note, Vault, VaultError};

use crate::adapters::active_note::{ActiveNoteState, OpenedBy};
use crate::events::feed::Feed;
use crate::notes::recent::RecentNotes;
use crate::support::blocking::run_blocking;
use crate::user_texts;

/// Shows notes to the window, and knows which one it shows.
pub(crate) struct NoteViewer {
    vault: Vault,
    feed: Feed,
    pub(crate) active_note: ActiveNoteState,
    /// Which notes were shown lately.
    pub(crate) recent: Arc<RecentNotes>,
    /// Held while the window is told about the note that it shows.
    shown: tokio::sync::Mutex<Option<ViewedNote>>,
}

/// The note that the window shows.
struct ViewedNote {
    path: NotePath,
    last_published: LastPublished,
}

/// The state that the window was sent last. The same state is not sent twice, whichever program
/// wrote it.
#[derive(PartialEq, Eq)]
enum LastPublished {
    Text(ContentHash),
    Removed,
    Unreadable,
}

impl NoteViewer {
    /// A viewer that shows no note.
    pub(crate) fn new(
        vault: Vault,
        feed: Feed,
        active_note: ActiveNoteState,
        recent: RecentNotes,
    ) -> Self {
        let (recent, shown) = (Arc::new(recent), tokio::sync::Mutex::default());
        Self { vault, feed, active_note, recent, shown }
    }

    /// Shows a note beside the chat: it is then the active note, and `by` chose it.
    pub(crate) async fn show(&self, asked: &str, by: NoteOpener) -> Result<NoteContent, UserError> {
        let mut shown = self.shown.lock().await;
        let (seq, vault, asked) = (self.feed.last_seq(), self.vault.clone(), asked.to_owned());
        let read = move || {
            let path = vault.resolve(&asked)?;
            let file = vault.follow_file(&path);
            let note = vault.read(&path)?;
            Ok::<_, VaultError>((note_text(&note.bytes), note, file))
        };
        let (content, note, file) = run_blocking(read).await??;
        self.active_note.show(note.path.clone(), file, OpenedBy::Window(by));
        let (recent, path) = (Arc::clone(&self.recent), note.path.clone());
        run_blocking(move || recent.add(&path)).await?;
        *shown = Some(ViewedNote {
            path: note.path.clone(),
            last_published: LastPublished::Text(note.hash.clone()),
        });
        Ok(NoteContent { seq, path: note.path, content })
    }

    /// Makes a note the active one that `--note` named.
    pub(crate) async fn open_on_command_line(&self, path: NotePath) -> Result<(), UserError> {
        let (vault, at) = (self.vault.clone(), path.clone());
        let file = run_blocking(move || vault.follow_file(&at)).await?;
        self.active_note.show(path, file, OpenedBy::CommandLine);
        Ok(())
    }

    /// The text of a note that is looked at, but not shown beside the chat: nothing is told of it.
    pub(crate) async fn read_note(&self, path: NotePath) -> Result<NoteContent, UserError> {
        let (seq, vault) = (self.feed.last_seq(), self.vault.clone());
        let read = move || vault.read(&path).map(|note| (note_text(&note.bytes), note.path));
        let (content, path) = run_blocking(read).await??;
        Ok(NoteContent { seq, path, content })
    }

    /// The path of a note on the disk. Refused for what is no note, is missing, or lies in an
    /// additional folder.
    pub(crate) async fn note_file_path(&self, path: NotePath) -> Result<PathBuf, UserError> {
        if !path.is_markdown() {
            return Err(UserError::other(user_texts::only_notes_open(path.as_str())));
        }
        let vault = self.vault.clone();
        let read = run_blocking(move || {
            vault.check_not_in_extra_root(&path).and_then(|()| vault.read(&path))
        });
        let note = read.await??;
        Ok(self.vault.folder().join(note.path.as_str()))
    }

    /// No note is shown any more.
    pub(crate) async fn close(&self) {
        let mut shown = self.shown.lock().await;
        *shown = None;
        self.active_note.clear();
    }

    /// Tells the window if the note that it shows is among the `touched` and not as it was.
    pub(super) async fn refresh(&self, touched: impl Fn(&NotePath) -> bool) {
        // Held until it is told: an answer to `show` and these events never cross.
        let mut shown = self.shown.lock().await;
        let Some(note) = shown.as_mut().filter(|note| touched(&note.path)) else { return };
        let (vault, path) = (self.vault.clone(), note.path.clone());
        let read = move || note_event(&path, vault.read(&path));
        let Ok((now, event)) = run_blocking(read).await else { return };
        if now != note.last_published {
            note.last_published = now;
            self.feed.publish(event);
        }
    }
}

fn note_event(path: &NotePath, read: Result<Note, VaultError>) -> (LastPublished, AppEvent) {
    let changed = |content| AppEvent::NoteChanged { path: path.clone(), content };
    match read {
        Ok(note) => (LastPublished::Text(note.hash.clone()), changed(Some(note_text(&note.bytes)))),
        Err(VaultError::NotFound { .. }) => (LastPublished::Removed, changed(None)),
        Err(error) => (LastPublished::Unreadable, AppEvent::Problem { error: error.into() }),
    }
}

/// Bytes that are no text are replacement signs in it.
fn note_text(bytes: &[u8]) -> NoteText {
    let text = String::from_utf8_lossy(bytes).into_owned();
    let properties = Properties::parse(&text).top_level().to_vec();
    let before = text.get(..markdown::body_start(&text)).unwrap_or_default();
    let body_start = u32::try_from(before.encode_utf16().count()).unwrap_or(u32::MAX);
    NoteText { text, properties, body_start }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The properties of a note as `name=value|value`, and the text behind them as the window cuts it off.
    fn shown(text: &str) -> (Vec<String>, String) {
        let NoteText { text, properties, body_start } = note_text(text.as_bytes());
        let properties = properties.iter().map(|it| format!("{}={}", it.name, it.values.join("|")));
        let start = usize::try_from(body_start).expect("a small number");
        let body: Vec<u16> = text.encode_utf16().skip(start).collect();
        (properties.collect(), String::from_utf16(&body).expect("whole signs"))
    }

    #[test]
    fn a_note_is_sent_with_its_properties_and_where_its_text_begins() {
        for text in [
            "---\ntags: [a, 'b']\ntitle: 🌱\n---\nText",
            "---\ntags:\n  - a\n  - b # c\ntitle: \"🌱\"\n...\nText",
            "\u{feff}---\ntags: [a, b]\ntitle: 🌱\n---\nText",
            "---\r\ntags: [a, b]\r\ntitle: 🌱\r\n...\r\nText",
            "--- \t\ntags: [a, b]\ntitle: 🌱\n---  \nText",
        ] {
            let expected = ["tags=a|b", "title=🌱"].map(str::to_owned).to_vec();
            assert_eq!(shown(text), (expected, "Text".to_owned()), "{text:?}");
        }
        let malformed = "---\na: b: c\nd: e\n---\nText";
        let expected = ["a=b: c", "d=e"].map(str::to_owned).to_vec();
        assert_eq!(shown(malformed), (expected, "Text".to_owned()));
    }

    #[test]
    fn a_note_without_frontmatter_is_all_text() {
        for text in ["Text", "---\na: 1\nText", "\n---\na: 1\n---\n", "Text\n---\na: 1\n---\n"] {
            assert_eq!(shown(text), (Vec::new(), text.to_owned()), "{text:?}");
        }
        assert_eq!(shown("---\n---\nText"), (Vec::new(), "Text".to_owned()));
        assert_eq!(shown("\u{feff}Text"), (Vec::new(), "Text".to_owned()));
    }
}
