//! What of a note the assistant wrote: the lines that stand as one of its changes left them.

use std::collections::HashMap;

use protocol::applied::{AppliedBy, AssistantLines, NoteMarks};
use protocol::{ChangeKind, ChangeSetId, Effect, NotePath, Timestamp, UserError};

use crate::App;
use crate::applied::versions;
use crate::aside::aside;
use crate::blame::Blame;
use crate::open_vault::OpenVault;
use crate::trouble::{of_note, user_error};

/// So many changes of a note are looked at, the newest first; what is older has no marks.
const CHANGES: usize = 200;
/// A note that is longer, in bytes, has none at all.
const LONGEST: usize = 1 << 20;

impl App {
    /// The lines of a note that the assistant wrote and nobody changed since, as far as that is known:
    /// not behind a rename by hand, nor where earlier versions are not kept any more.
    pub async fn note_marks(&self, path: NotePath) -> Result<NoteMarks, UserError> {
        let open = self.open().await?;
        let vault = open.vault.clone();
        let note = aside(move || vault.read(&path)).await?.map_err(|error| of_note(&error))?;
        let text = String::from_utf8_lossy(&note.bytes).into_owned();
        let marks = match note.bytes.len() {
            0..=LONGEST => open.marks(note.path, note.bytes).await?,
            _ => Vec::new(),
        };
        Ok(NoteMarks { text, marks })
    }
}

impl OpenVault {
    async fn marks(&self, path: NotePath, note: Vec<u8>) -> Result<Vec<AssistantLines>, UserError> {
        let past = self.past_of(path).await?;
        let own = self.store.own_sets().await.map_err(user_error)?;
        let mut blame = Blame::of(note);
        let mut at = 0;
        while let Some(effect) = past.get(at).filter(|_| blame.goes_on()) {
            if effect.forgotten.is_some() {
                break;
            }
            at = match known_before(&past, at, &own) {
                // The note is as it was then, byte by byte: who wrote it is known from there.
                Some(then) => then,
                None => {
                    let whose = (!own.contains_key(&effect.change_set)).then_some(at);
                    blame = self.step(blame, effect, whose).await?;
                    at + 1
                }
            };
        }
        let mut marks = Vec::new();
        for (first, behind, whose) in blame.runs() {
            let Some(effect) = past.get(whose) else { continue };
            marks.push(self.told(first, behind, effect).await?);
        }
        Ok(marks)
    }

    /// The changes of a note's bytes, newest first, back over the names that it had.
    async fn past_of(&self, mut path: NotePath) -> Result<Vec<Effect>, UserError> {
        let mut past: Vec<Effect> = Vec::new();
        let mut before = None;
        'names: loop {
            let found = self.store.changes_at(&path, before.as_ref()).await.map_err(user_error)?;
            for effect in found {
                before = Some(effect.id.clone());
                match (effect.kind, effect.target.as_ref()) {
                    (ChangeKind::Replace, _) => past.push(effect),
                    (ChangeKind::Create, _) => {
                        past.push(effect);
                        return Ok(past);
                    }
                    (ChangeKind::Rename, Some(to)) if *to == path => {
                        path = effect.path;
                        continue 'names;
                    }
                    (ChangeKind::RenameFolder, Some(to)) => {
                        let Some(earlier) = moved_back(&path, &effect.path, to) else {
                            return Ok(past);
                        };
                        path = earlier;
                        continue 'names;
                    }
                    // Before that it was another note.
                    _ => return Ok(past),
                }
                if past.len() == CHANGES {
                    return Ok(past);
                }
            }
            return Ok(past);
        }
    }

    async fn step(
        &self,
        mut blame: Blame,
        effect: &Effect,
        whose: Option<usize>,
    ) -> Result<Blame, UserError> {
        let (before, after) = versions(&self.store, effect).await?;
        aside(move || {
            blame.back_to(after);
            blame.take(before, whose);
            blame
        })
        .await
    }

    async fn told(
        &self,
        first: usize,
        behind: usize,
        effect: &Effect,
    ) -> Result<AssistantLines, UserError> {
        let line = |line: usize| u32::try_from(line).unwrap_or(u32::MAX);
        Ok(AssistantLines {
            first: line(first + 1),
            last: line(behind),
            change_set: effect.change_set.clone(),
            conversation: effect.conversation.clone(),
            request: self.store.words_of(&effect.turn).await.map_err(user_error)?,
            at: effect.at.unwrap_or(Timestamp(0)),
        })
    }
}

/// Where the past goes on behind a change of the user's own that brought back what the note was: at
/// the change that had left it so, or behind the one that had found it so.
fn known_before(
    past: &[Effect],
    at: usize,
    own: &HashMap<ChangeSetId, AppliedBy>,
) -> Option<usize> {
    let effect = past.get(at).filter(|effect| own.contains_key(&effect.change_set))?;
    let left = effect.after.as_ref()?;
    for (then, earlier) in past.iter().enumerate().skip(at + 1) {
        if earlier.after.as_ref() == Some(left) {
            return Some(then);
        }
        if earlier.before.as_ref() == Some(left) {
            return Some(then + 1);
        }
    }
    None
}

/// Where something was before the folder above it got another name.
fn moved_back(path: &NotePath, from: &NotePath, to: &NotePath) -> Option<NotePath> {
    let inside = path.as_str().strip_prefix(to.as_str())?.strip_prefix('/')?;
    NotePath::parse(&format!("{from}/{inside}")).ok()
}
