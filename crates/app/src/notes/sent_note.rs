//! Which open note is sent with a message, and what of it a model sees.
//!
//! Only the note that the composer shows is sent. The message keeps which one it was (`MessagePart::OpenNote`), so that tools,
//! Auto mode, a queued message and a regenerated answer mean the same note, whichever is open by then.

use std::sync::Arc;
use std::time::Duration;

use protocol::{MessagePart, NoteOpener, NotePath, OpenNote, Privacy, Timestamp, UserError};
use store::Store;

use crate::adapters::active_note::{ActiveNoteEntry, ActiveNoteState, OpenedFile};
use crate::chat::prompt::{self, NoteSelection};
use crate::chat::user_message::{UserMessage, WithNote};
use crate::models::model_info;
use crate::models::selection::ModelSelector;
use crate::privacy::PrivacyGuard;
use crate::privacy::note_lineage::{KnownNote, ReadTimes};
use crate::settings::config::Config;
use crate::support::blocking::run_blocking;

/// A message waits no longer than this for a model server that is slow to say where its model runs. Most servers are
/// asked up to four things about a model, each for three seconds at most.
const MODEL_LOCATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Decides which open note is sent with each message.
pub(crate) struct SentNotes {
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
    pub(crate) model_selector: ModelSelector,
    pub(crate) active_note: ActiveNoteState,
}

/// The open note of one message.
#[derive(Default)]
pub(crate) struct SentNote {
    /// The line of the context block that names it.
    pub(crate) line: Option<String>,
    /// Ready to be stored: what is selected in it, and which note it is.
    pub(crate) parts: Vec<MessagePart>,
    /// The note that was sent; `None` if none was.
    pub(crate) path: Option<NotePath>,
}

/// The user's choice about the open note.
enum Choice {
    /// No note is open.
    NoneOpen,
    /// One is open and is not sent.
    Excluded,
    /// This one is sent.
    Send(ToSend),
}

/// A note to send.
struct ToSend {
    note: OpenNote,
    /// How the context block names it.
    line: String,
    /// The age of the selection, as text.
    age: String,
    seen: SeenAs,
}

/// The proof that the note is not another one that has its path by now.
#[derive(Clone, Copy)]
enum SeenAs {
    File(OpenedFile),
    /// The note that was at the path at that time.
    SentAt(Timestamp),
    /// Only its name is known.
    Name,
}

impl From<ActiveNoteEntry> for Choice {
    fn from(active: ActiveNoteEntry) -> Self {
        let (line, age) = (active.describe(), active.selection_age());
        let seen = active.file().map_or(SeenAs::Name, SeenAs::File);
        Self::Send(ToSend { note: active.into_note(), line, age, seen })
    }
}

impl SentNotes {
    /// The open note that is sent with this message. A note that is kept from the model that
    /// answers now is excluded; one that becomes private later is withheld like the rest of the
    /// history.
    pub(crate) async fn sent_note(&self, message: &UserMessage) -> Result<SentNote, UserError> {
        let excluded =
            SentNote { parts: vec![MessagePart::OpenNote { note: None }], ..SentNote::default() };
        let ToSend { mut note, line, age, seen } = match self.choice(message).await? {
            Choice::NoneOpen => return Ok(SentNote::default()),
            Choice::Excluded => return Ok(excluded),
            Choice::Send(note) => note,
        };
        let path = note.path.clone();
        // In this order: while a server is waited for, another note may take the path.
        if self.is_hidden_from_model(&path).await? || self.has_left(&path, seen).await? {
            return Ok(excluded);
        }
        let selection = self.selection_of(&note, age).await?;
        if selection.is_none() {
            (note.selected, note.heading) = (String::new(), None);
        }
        let parts =
            selection.into_iter().chain([MessagePart::OpenNote { note: Some(note) }]).collect();
        Ok(SentNote { line: Some(line), parts, path: Some(path) })
    }

    /// Whether the model that answers now must not see the note. Unlike the check while the user types, this one
    /// waits for a slow model server: a note that is not sent now is missing from each regenerated answer too.
    async fn is_hidden_from_model(&self, path: &NotePath) -> Result<bool, UserError> {
        if self.config.private_rules().is_empty() {
            return Ok(false);
        }
        // A note that every model may see waits for no server.
        if !self.is_hidden_at(Privacy::Open, path).await? {
            return Ok(false);
        }
        // Nor does one that no model may see.
        if self.is_hidden_at(Privacy::Local, path).await? {
            return Ok(true);
        }
        let asked = async {
            let selected = self.model_selector.selected().await;
            model_info::effective_privacy(&selected).await
        };
        let shown = tokio::time::timeout(MODEL_LOCATION_TIMEOUT, asked).await;
        self.is_hidden_at(shown.unwrap_or(Privacy::Open), path).await
    }

    /// Whether a rule keeps the note from a model that is shown notes up to this privacy.
    async fn is_hidden_at(&self, shown: Privacy, path: &NotePath) -> Result<bool, UserError> {
        let (guard, path) = (Arc::clone(&self.privacy_guard), path.clone());
        let kept = run_blocking(move || guard.kept_from(shown, &[path])).await?;
        Ok(kept.iter().any(Option::is_some))
    }

    /// Whether the note is not at its path any more and may be private by now.
    async fn has_left(&self, path: &NotePath, seen: SeenAs) -> Result<bool, UserError> {
        let guard = &self.privacy_guard;
        let known = match seen {
            SeenAs::File(OpenedFile { file, at }) => Some(KnownNote::File(Some(file), Some(at))),
            SeenAs::SentAt(at) => Some(KnownNote::Read(ReadTimes::since(at))),
            SeenAs::Name => None,
        };
        if guard.is_missing_for_any(path, known).await? {
            return Ok(true);
        }
        match seen {
            SeenAs::File(file) => guard.is_another_for_any(path, file).await,
            SeenAs::SentAt(at) => {
                let replaced = guard.replaced_for_any([(path.clone(), at)].into()).await?;
                Ok(!replaced.is_empty())
            }
            SeenAs::Name => Ok(false),
        }
    }

    async fn choice(&self, words: &UserMessage) -> Result<Choice, UserError> {
        let active = self.active_note.entry();
        Ok(match &words.open_note {
            WithNote::Never => Choice::NoneOpen,
            WithNote::Active => active.map_or(Choice::NoneOpen, Choice::from),
            WithNote::Shown(None) => active.map_or(Choice::NoneOpen, |_| Choice::Excluded),
            WithNote::Shown(Some(path)) => match active {
                Some(active) if active.path() == path => active.into(),
                // Another one was opened meanwhile: of this one the user saw only the name.
                _ => Choice::Send(ToSend {
                    note: OpenNote {
                        path: path.clone(),
                        selected: String::new(),
                        heading: None,
                        opened_by: NoteOpener::Unknown,
                    },
                    line: format!("Open note: {path} (opened beside the chat)"),
                    age: String::new(),
                    seen: SeenAs::Name,
                }),
            },
            WithNote::AsIn(turn) => {
                let opening = self.store.opening_message(turn).await?;
                let Some((message, _)) = opening else { return Ok(Choice::NoneOpen) };
                let at = message.at;
                match message.open_note() {
                    None => Choice::NoneOpen,
                    Some(None) => Choice::Excluded,
                    Some(Some(note)) => Choice::Send(ToSend {
                        note: note.clone(),
                        line: format!(
                            "Open note: {} (open when the user first sent this)",
                            note.path
                        ),
                        age: "when the user first sent this".to_owned(),
                        seen: SeenAs::SentAt(at),
                    }),
                }
            }
        })
    }

    /// The selection in the note, unless some model must not see it.
    async fn selection_of(
        &self,
        note: &OpenNote,
        age: String,
    ) -> Result<Option<MessagePart>, UserError> {
        if note.selected.trim().is_empty() {
            return Ok(None);
        }
        let (vault, path) = (self.privacy_guard.vault_for_any_model(), note.path.clone());
        if run_blocking(move || vault.hides(&path)).await? {
            return Ok(None);
        }
        let OpenNote { path: note, selected: text, heading, .. } = note.clone();
        let text = prompt::selection_block(&NoteSelection { note, heading, text, age });
        Ok(Some(MessagePart::Context { text }))
    }
}
