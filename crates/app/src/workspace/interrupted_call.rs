//! The result of a call whose turn was interrupted: what became of it, as the ledger knows.
//!
//! A call that moves or makes a note has links in other notes rewritten, in private ones too, and no filter reads
//! this result before it is stored. So it names only notes and folders that the call spelled, and what became of
//! other notes does not change a word of it (ADR 19).

use std::collections::BTreeSet;

use protocol::{CallId, CallResult, ChangeKind, IntentState, Source};
use store::CallEffect;

/// Stands for a note or folder that the call named without its path.
const UNSPELLED: &str = "the note or folder it was given";

/// A call that got no result before its turn was interrupted.
#[derive(Debug)]
pub(super) struct InterruptedCall {
    pub(super) call: CallId,
    pub(super) tool: String,
    /// The paths among its arguments, as it spelled them.
    pub(super) spelled: Vec<String>,
    /// Its changes, links in other notes included.
    pub(super) effects: Vec<CallEffect>,
    /// Whether a change that it planned is pending.
    pub(super) is_pending: bool,
}

impl InterruptedCall {
    /// The one result of the call. The notes that it names and that were there before are among its sources,
    /// unless the application made the call.
    pub(super) fn into_result(self) -> CallResult {
        let own = self.own_effects();
        let among = |states: &[IntentState]| -> Vec<&CallEffect> {
            own.iter().copied().filter(|effect| states.contains(&effect.state)).collect()
        };
        let done = among(&[IntentState::Done]);
        let unknown = among(&[IntentState::Open, IntentState::Parked]);
        let told = done.iter().chain(&unknown);
        let sources: BTreeSet<Source> = told.filter_map(|effect| self.source_of(effect)).collect();
        let output = self.output(&done, &unknown);
        let is_error = done.is_empty() && !self.is_pending;
        CallResult {
            call: self.call,
            output,
            is_error,
            speech: None,
            reactions: Vec::new(),
            seen: Vec::new(),
            sources: sources.into_iter().collect(),
            whole: None,
        }
    }

    fn spells(&self, effect: &CallEffect) -> bool {
        self.spelled.iter().any(|text| effect.path.matches_spelling(text))
    }

    /// The changes of the note or folder that the call is about. If it makes, moves or deletes that, it gives
    /// other notes a new text for their links alone.
    fn own_effects(&self) -> Vec<&CallEffect> {
        let is_own =
            |effect: &&CallEffect| effect.kind != ChangeKind::Replace || self.spells(effect);
        let own: Vec<&CallEffect> = self.effects.iter().filter(is_own).collect();
        match own.is_empty() {
            // An edit of a note that the call named without its path.
            true => self.effects.iter().collect(),
            false => own,
        }
    }

    fn output(&self, done: &[&CallEffect], unknown: &[&CallEffect]) -> String {
        let tool = &self.tool;
        if !unknown.is_empty() {
            let made = match done.is_empty() {
                true => String::new(),
                false => format!("{tool} had changed {}. ", self.names_of(done)),
            };
            format!(
                "The program was interrupted; {made}nobody can tell whether {tool} changed {}. Read \
                 before you change it again.",
                self.names_of(unknown)
            )
        } else if !done.is_empty() {
            format!("The program was interrupted; {tool} had changed {}.", self.names_of(done))
        } else if self.is_pending {
            tools::plan_outcome::pending_text(&format!(
                "the change that {tool} planned before an interruption"
            ))
        } else {
            format!("The program was interrupted before {tool} did anything.")
        }
    }

    /// The notes and folders of these changes, each once.
    fn names_of(&self, effects: &[&CallEffect]) -> String {
        let mut names: Vec<&str> = Vec::new();
        for effect in effects {
            let name = if self.spells(effect) { effect.path.as_str() } else { UNSPELLED };
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names.join(", ")
    }

    /// The source of what the result tells about one of its own changes. A note that the call made holds only what
    /// the call wrote. That a name without a path was that of one note, and that a folder could be changed, depends
    /// on every note.
    fn source_of(&self, effect: &CallEffect) -> Option<Source> {
        // No model is told the outcome of our own call.
        if llm::model::is_own_call(&self.call) {
            return None;
        }
        match effect.kind {
            ChangeKind::Create => None,
            ChangeKind::Replace | ChangeKind::Trash | ChangeKind::Rename if self.spells(effect) => {
                Some(Source::Note(effect.path.clone()))
            }
            _ => Some(Source::Vault),
        }
    }
}

#[cfg(test)]
mod tests {
    use protocol::NotePath;

    use super::*;

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).expect("a path")
    }

    fn effect(kind: ChangeKind, at: &str, state: IntentState) -> CallEffect {
        CallEffect { path: path(at), kind, state }
    }

    fn result(tool: &str, spelled: &[&str], effects: Vec<CallEffect>) -> CallResult {
        result_of_call("c", tool, spelled, effects)
    }

    fn result_of_call(
        call: &str,
        tool: &str,
        spelled: &[&str],
        effects: Vec<CallEffect>,
    ) -> CallResult {
        let spelled = spelled.iter().map(|text| (*text).to_owned()).collect();
        let call = CallId::from(call);
        InterruptedCall { call, tool: tool.to_owned(), spelled, effects, is_pending: false }
            .into_result()
    }

    #[test]
    fn an_interrupted_call_is_told_what_the_ledger_knows() {
        let edited =
            |state| result("edit_file", &["A"], vec![effect(ChangeKind::Replace, "a.md", state)]);
        let done = edited(IntentState::Done);
        assert_eq!(done.output, "The program was interrupted; edit_file had changed a.md.");
        assert_eq!((done.is_error, done.sources), (false, vec![Source::Note(path("a.md"))]));
        for state in [IntentState::Open, IntentState::Parked] {
            let unknown = edited(state);
            let told = "nobody can tell whether edit_file changed a.md. Read before";
            assert!(unknown.is_error && unknown.output.contains(told), "{}", unknown.output);
            assert_eq!(unknown.sources, [Source::Note(path("a.md"))]);
        }
        for state in [IntentState::Stale, IntentState::Failed] {
            let nothing = edited(state);
            assert!(nothing.is_error, "{nothing:?}");
            assert_eq!(
                nothing.output,
                "The program was interrupted before edit_file did anything."
            );
            assert!(nothing.sources.is_empty(), "it tells nothing of the note: {nothing:?}");
        }
    }

    #[test]
    fn a_change_that_was_planned_before_the_interruption_is_pending() {
        let planned = InterruptedCall {
            call: CallId::from("c"),
            tool: "edit_file".to_owned(),
            spelled: vec!["a.md".to_owned()],
            effects: Vec::new(),
            is_pending: true,
        };
        let result = planned.into_result();
        assert!(!result.is_error && result.output.starts_with("Waiting for review"), "{result:?}");
    }

    #[test]
    fn notes_whose_links_alone_changed_do_not_change_a_word_of_the_result() {
        use IntentState::{Done, Failed, Open, Parked};
        let spelled = ["./A.md", "Archive/A"];
        for (kind, at) in [(ChangeKind::Rename, "a.md"), (ChangeKind::Create, "Archive/A.md")] {
            for own in [Done, Open, Parked, Failed] {
                let alone = result("a_tool", &spelled, vec![effect(kind, at, own)]);
                for links in [Done, Open, Parked, Failed] {
                    let of_links = |note: &str| {
                        effect(ChangeKind::Replace, &format!("Private/{note}.md"), links)
                    };
                    let all = vec![of_links("x"), of_links("y"), effect(kind, at, own)];
                    let told = result("a_tool", &spelled, all);
                    assert_eq!(told, alone, "{kind:?}: {own:?} and {links:?}");
                }
                // The control: the state of its own change is told.
                assert_eq!(alone.output.contains("did anything"), own == Failed, "{alone:?}");
            }
        }
    }

    #[test]
    fn a_moved_note_whose_own_links_changed_too_is_named_once() {
        let of_note = |kind| effect(kind, "A.md", IntentState::Done);
        let effects = vec![of_note(ChangeKind::Replace), of_note(ChangeKind::Rename)];
        let told = result("move_file", &["A.md", "b/A.md"], effects);
        assert_eq!(told.output, "The program was interrupted; move_file had changed A.md.");
        assert_eq!(told.sources, [Source::Note(path("A.md"))]);
    }

    #[test]
    fn a_note_that_the_call_named_without_its_path_is_not_named() {
        for (kind, tool) in [(ChangeKind::Replace, "edit_file"), (ChangeKind::Rename, "move_file")]
        {
            let effects = || vec![effect(kind, "Work/Garden.md", IntentState::Done)];
            let told = result(tool, &["Garden"], effects());
            let named = format!(
                "The program was interrupted; {tool} had changed the note or folder it was given."
            );
            assert_eq!((told.output, told.sources), (named, vec![Source::Vault]));
            // The control: by its path.
            let told = result(tool, &["work/garden"], effects());
            assert!(told.output.ends_with("had changed Work/Garden.md."), "{told:?}");
        }
    }

    #[test]
    fn a_note_that_our_own_call_added_a_message_to_is_no_source() {
        for state in [IntentState::Done, IntentState::Open, IntentState::Parked] {
            let cut = |call: &str| {
                let effects = vec![effect(ChangeKind::Replace, "Inbox.md", state)];
                result_of_call(call, "append_file", &["./Inbox.md"], effects)
            };
            let own = cut("capture-1");
            assert!(own.output.contains("Inbox.md") && own.sources.is_empty(), "{own:?}");
            // The control: a call of a model.
            assert_eq!(cut("c").sources, [Source::Note(path("Inbox.md"))]);
        }
    }

    #[test]
    fn a_note_or_folder_that_the_call_made_is_named_and_is_no_source() {
        let made = |kind, at| result("a_tool", &[at], vec![effect(kind, at, IntentState::Done)]);
        let note = made(ChangeKind::Create, "New.md");
        assert!(note.output.ends_with("had changed New.md."), "{note:?}");
        assert!(note.sources.is_empty(), "{note:?}");
        // That a folder could be made, moved or deleted tells something of the vault.
        for kind in [ChangeKind::MakeFolder, ChangeKind::RenameFolder, ChangeKind::TrashFolder] {
            let folder = made(kind, "Work");
            assert!(folder.output.ends_with("had changed Work."), "{folder:?}");
            assert_eq!(folder.sources, [Source::Vault]);
        }
    }
}
