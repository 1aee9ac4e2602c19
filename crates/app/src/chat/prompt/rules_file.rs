//! The user's hints for models in a file at the top of the vault.

use protocol::{NotePath, Source, UserError};

use crate::privacy::PrivacyGuard;
use crate::privacy::provenance::RULES_FILES;
use crate::support::blocking::run_blocking;

/// The hints of the folder, and the file they stand in.
pub(crate) struct RulesFile {
    pub(crate) path: NotePath,
    pub(crate) text: String,
    /// The sources of the hints: also the note itself where some model must not see the file.
    pub(crate) sources: Vec<Source>,
}

impl RulesFile {
    /// The hints at the top of the vault; the first file that is there is read. A file of that name
    /// deeper down is about something else. A link is no rules file, also where links are followed:
    /// it leads to a note that anybody may change, and only a change of the rules file itself needs
    /// a review. A file that only local models may see is a source as a note is: an answer may repeat it.
    pub(crate) async fn read(privacy_guard: &PrivacyGuard) -> Result<Option<Self>, UserError> {
        let vault = privacy_guard.vault_for_models();
        let screened = privacy_guard.vault_for_any_model();
        let read = move |file| {
            let note = vault.read(&NotePath::parse(file).ok()?).ok()?;
            if note.real != note.path {
                return None;
            }
            let is_open = screened.shows(&note.path, &note.bytes, None);
            let mut sources = vec![Source::Hints(note.path.clone())];
            sources.extend((!is_open).then(|| Source::Note(note.path.clone())));
            let text = String::from_utf8(note.bytes).ok()?;
            (!text.trim().is_empty()).then_some(Self { path: note.path, text, sources })
        };
        run_blocking(move || RULES_FILES.into_iter().find_map(read)).await
    }
}
