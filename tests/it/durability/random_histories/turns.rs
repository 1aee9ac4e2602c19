//! Turns of the model with random calls, and the user's decisions about what they planned.

use std::collections::{BTreeMap, BTreeSet};

use protocol::changes::review::{DiffLineKind, NoteDiff};
use protocol::chat::conversation::ChatItem;
use protocol::request::{
    DecideReview, HunkDecision, NoteDecision, OldChanges, RegenerateRequest, ReviewDecision,
};
use protocol::{ChangeKind, ConversationId, Mode, Review};
use serde_json::{Value, json};
use testkit::Reply;

use super::applied_effects::{HunkWords, words_of};
use super::history::RandomHistory;
use super::step_rules::StepPermission;
use super::tracked_notes::{is_below, marking_words, outside_trash, text_of};

/// A tool and its arguments.
type RandomCall = (&'static str, Value);

impl RandomHistory {
    /// A message, and a turn with one to four calls.
    pub(super) async fn turn_step(&mut self) {
        let mut notes: BTreeMap<String, String> = outside_trash(&self.known.files)
            .map(|(path, bytes)| (path.clone(), text_of(bytes)))
            .collect();
        let mut calls = Vec::new();
        for _ in 0..self.random.usize(1..5) {
            calls.extend(self.random_calls(&mut notes));
        }
        self.story.push(format!("the model calls {}", json!(calls)));
        let words: BTreeSet<String> = calls
            .iter()
            .flat_map(|(_, call)| marking_words(&call.to_string().replace("\\n", "\n")))
            .collect();
        let mut replies: Vec<Reply> = match self.random.bool() {
            true => calls.into_iter().map(|call| Reply::calls(vec![call])).collect(),
            false => vec![Reply::calls(calls)],
        };
        replies.push(Reply::text("Done."));
        self.replies.lock().expect("nobody panicked").extend(replies);
        let conversation = match self.random.choice(self.conversations.clone()) {
            Some(one) if self.random.u8(0..4) > 0 => Some(one),
            _ => None,
        };
        let named: Vec<String> =
            outside_trash(&self.known.files).map(|(path, _)| path.clone()).collect();
        let text = format!("Please change {}", named.join(", "));
        let sent = self.app().send_and_wait(conversation.as_ref(), &text).await;
        if !self.conversations.contains(&sent) {
            self.conversations.push(sent);
        }
        let mut permission =
            StepPermission { may_appear: words.clone(), ..StepPermission::default() };
        if self.is_auto {
            // An edit may remove all that stands under a heading.
            permission.may_vanish =
                named.iter().flat_map(|path| marking_words(&self.text_at(path))).collect();
        }
        self.end_step(&permission).await;
        self.tally.turns += 1;
    }

    fn model_words(&mut self) -> String {
        let words = (0..self.random.usize(1..3)).map(|_| {
            self.next_word += 1;
            format!("m-{}", self.next_word)
        });
        words.collect::<Vec<_>>().join("\n")
    }

    /// One call, or two that belong together; `notes` is what the model sees.
    fn random_calls(&mut self, notes: &mut BTreeMap<String, String>) -> Vec<RandomCall> {
        let Some(path) = self.random.choice(notes.keys().cloned().collect::<Vec<_>>()) else {
            return Vec::new();
        };
        match self.random.usize(0..16) {
            0..=4 => self.edit_call(&path, notes).into_iter().collect(),
            5 | 6 => self.section_call(&path).into_iter().collect(),
            7 | 8 => vec![self.property_call(&path)],
            9 => {
                let words = self.model_words();
                vec![("append_file", json!({ "path": path, "content": words }))]
            }
            10 => {
                let to = self.fresh_path();
                let words = self.model_words();
                notes.insert(to.clone(), words.clone() + "\n");
                let link = self.line_end(&to);
                vec![("write_file", json!({ "path": to, "content": format!("{words}{link}\n") }))]
            }
            11..=13 => self.move_calls(&path, notes),
            14 => {
                notes.remove(&path);
                vec![("delete_file", json!({ "path": path }))]
            }
            _ => self.folder_calls(&path, notes),
        }
    }

    /// Replaces, deletes or adds some lines.
    fn edit_call(
        &mut self,
        path: &str,
        notes: &mut BTreeMap<String, String>,
    ) -> Option<RandomCall> {
        let text = notes[path].clone();
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let marked = |at: &usize| lines[*at].starts_with("u-") || lines[*at].starts_with("m-");
        let from = self.random.choice((0..lines.len()).filter(marked).collect::<Vec<_>>())?;
        let count = (from..lines.len()).take_while(marked).count().min(self.random.usize(1..4));
        let old = lines[from..from + count].concat();
        let words = self.model_words() + "\n";
        let new = match self.random.usize(0..4) {
            0 => String::new(),
            1 => words,
            2 if old.ends_with('\n') => old.clone() + &words,
            _ => words + &old,
        };
        notes.insert(path.to_owned(), text.replacen(&old, &new, 1));
        Some(("edit_file", json!({ "path": path, "old_text": old, "new_text": new })))
    }

    fn section_call(&mut self, path: &str) -> Option<RandomCall> {
        let heading = if self.random.bool() { "Tasks" } else { "Log" };
        let action = match self.random.usize(0..5) {
            0 | 1 => "append",
            2 | 3 => "prepend",
            _ => "replace",
        };
        let text = self.model_words();
        Some((
            "edit_section",
            json!({ "path": path, "heading": heading, "action": action, "text": text }),
        ))
    }

    fn property_call(&mut self, path: &str) -> RandomCall {
        self.next_word += 1;
        let value = format!("m-{}", self.next_word);
        let call = match self.random.usize(0..4) {
            0 => json!({ "path": path, "property": "status", "action": "remove" }),
            1 => json!({ "path": path, "property": "tags", "action": "append", "value": value }),
            2 => json!({ "path": path, "property": "owner", "action": "set", "value": value }),
            _ => json!({ "path": path, "property": "status", "action": "set", "value": value }),
        };
        ("set_property", call)
    }

    /// A move, an edit of the moved note after it, or a second note in the place of the first.
    fn move_calls(&mut self, path: &str, notes: &mut BTreeMap<String, String>) -> Vec<RandomCall> {
        let to = match self.random.bool() {
            true => self.fresh_path(),
            false => {
                let name = path.rsplit('/').next().unwrap_or_default();
                format!("{}{name}", super::user_steps::FOLDERS[self.random.usize(0..3)])
            }
        };
        if notes.contains_key(&to) {
            return Vec::new();
        }
        let rename =
            |from: &str, to: &str| ("move_file", json!({ "source": from, "destination": to }));
        let mut calls = vec![rename(path, &to)];
        let text = notes.remove(path).unwrap_or_default();
        notes.insert(to.clone(), text);
        match self.random.usize(0..4) {
            0 => calls.extend(self.edit_call(&to, notes)),
            1 => {
                let others: Vec<String> =
                    notes.keys().filter(|other| **other != to).cloned().collect();
                if let Some(other) = self.random.choice(others) {
                    calls.push(rename(&other, path));
                    let text = notes.remove(&other).unwrap_or_default();
                    notes.insert(path.to_owned(), text);
                }
            }
            _ => {}
        }
        calls
    }

    /// A folder gets another name, is made, or goes to the trash.
    fn folder_calls(
        &mut self,
        path: &str,
        notes: &mut BTreeMap<String, String>,
    ) -> Vec<RandomCall> {
        self.next_name += 1;
        let name = format!("Folder{}", self.next_name);
        let Some((folder, _)) = path.rsplit_once('/') else {
            let to = format!("{name}/{path}");
            let text = notes.remove(path).unwrap_or_default();
            notes.insert(to.clone(), text);
            return vec![
                ("create_folder", json!({ "path": name })),
                ("move_file", json!({ "source": path, "destination": to })),
            ];
        };
        let inside: Vec<String> =
            notes.keys().filter(|one| is_below(one, folder)).cloned().collect();
        let is_trashed = self.random.u8(0..4) == 0;
        for one in inside {
            let text = notes.remove(&one).unwrap_or_default();
            if !is_trashed {
                notes.insert(one.replacen(folder, &name, 1), text);
            }
        }
        match is_trashed {
            true => vec![("delete_file", json!({ "path": format!("{folder}/") }))],
            false => {
                vec![("move_file", json!({ "source": format!("{folder}/"), "destination": name }))]
            }
        }
    }

    /// The user decides about what is pending in a conversation.
    pub(super) async fn decide_step(&mut self) {
        let mut all = self.conversations.clone();
        self.random.shuffle(&mut all);
        for conversation in all {
            if let Some(review) = self.app().view(&conversation).await.review {
                return self.decide(&review).await;
            }
        }
    }

    async fn decide(&mut self, review: &Review) {
        let way = self.random.usize(0..6);
        let mut permission = StepPermission { is_of_plan: true, ..StepPermission::default() };
        let mut notes = Vec::new();
        for note in &review.notes {
            let decision = match way {
                0..=2 => ReviewDecision::Accept,
                3 => ReviewDecision::Reject,
                _ => match self.random.usize(0..4) {
                    0 => ReviewDecision::Accept,
                    1 => ReviewDecision::Reject,
                    2 => self.decide_hunks(note),
                    _ => continue,
                },
            };
            self.permit(note, &decision, &mut permission);
            notes.push(NoteDecision { path: note.path.clone(), seen: note.seen.clone(), decision });
        }
        let paths = notes.iter().map(|note| format!("{}: {:?}", note.path, note.decision));
        self.story.push(format!("the user decides {:?}", paths.collect::<Vec<_>>()));
        let request = DecideReview { review: review.id.clone(), notes };
        let decided = self.app().app.decide_review(&request).await;
        if let Err(error) = &decided {
            self.story.push(format!("  refused: {}", error.message));
        }
        self.tally.refused_decisions += usize::from(decided.is_err());
        self.tally.decisions += 1;
        self.end_step(&permission).await;
    }

    fn decide_hunks(&mut self, note: &NoteDiff) -> ReviewDecision {
        let is_content = matches!(note.kind, ChangeKind::Create | ChangeKind::Replace);
        if note.unit.is_some() || !is_content {
            return ReviewDecision::Accept;
        }
        let decisions = note.hunks.iter().map(|_| match self.random.usize(0..8) {
            0..=2 => HunkDecision::Accept,
            3 | 4 => HunkDecision::Reject,
            5 | 6 => HunkDecision::Wait,
            _ => {
                self.next_word += 1;
                HunkDecision::Edit { text: format!("m-{}", self.next_word) }
            }
        });
        ReviewDecision::Hunks { hunks: decisions.collect() }
    }

    /// Permits the step to change what a decision is about: the lines that were shown.
    fn permit(&self, note: &NoteDiff, decision: &ReviewDecision, permission: &mut StepPermission) {
        let of_folder =
            |path: &str| *path == *note.path.as_str() || is_below(path, note.path.as_str());
        match (decision, note.kind) {
            (ReviewDecision::Reject, _) => {}
            (_, ChangeKind::Trash | ChangeKind::TrashFolder) => {
                let files = outside_trash(&self.known.files).filter(|(path, _)| of_folder(path));
                permission
                    .may_vanish
                    .extend(files.flat_map(|(_, bytes)| marking_words(&text_of(bytes))));
            }
            (ReviewDecision::Accept, _) => {
                permission.make(&note.hunks.iter().map(HunkWords::of).collect::<Vec<_>>());
            }
            (ReviewDecision::Hunks { hunks }, _) => {
                for (hunk, decision) in note.hunks.iter().zip(hunks) {
                    match decision {
                        HunkDecision::Accept => permission.make([&HunkWords::of(hunk)]),
                        HunkDecision::Edit { text } => {
                            permission.may_vanish.extend(words_of(hunk, DiffLineKind::Removed));
                            permission.may_appear.extend(marking_words(text));
                        }
                        HunkDecision::Reject | HunkDecision::Wait => {}
                    }
                }
            }
        }
    }

    /// The last message of a conversation is answered again, and the changes of the old answer are undone.
    pub(super) async fn regenerate_step(&mut self) {
        let Some(conversation) = self.random.choice(self.conversations.clone()) else { return };
        let Some((message, permission)) = self.last_message(&conversation).await else { return };
        self.story.push("the user regenerates an answer and undoes the old one".to_owned());
        let request = RegenerateRequest { message, text: None, old: Some(OldChanges::Undo) };
        if let Err(error) = self.app().app.regenerate(&request).await {
            self.story.push(format!("  refused: {}", error.message));
        }
        self.app().app.wait_until_idle(&conversation).await.expect("a vault is open");
        self.end_step(&permission).await;
    }

    async fn last_message(
        &self,
        conversation: &ConversationId,
    ) -> Option<(protocol::MessageId, StepPermission)> {
        let items = self.app().view(conversation).await.items;
        let message = items.iter().rev().find_map(|item| match item {
            ChatItem::User { id, .. } => Some(id.clone()),
            _ => None,
        })?;
        let mut permission = StepPermission::default();
        let effects = self.known.effects.all.values();
        let effects: Vec<_> = effects
            .filter(|one| one.conversation.as_ref() == Some(conversation) && one.is_own())
            .collect();
        effects.iter().for_each(|effect| permission.revert(&effect.hunks));
        self.known.allow_notes(&mut permission, effects);
        Some((message, permission))
    }

    /// Another mode: in Auto the model changes at once the notes that a message names.
    pub(super) async fn change_mode(&mut self) {
        self.is_auto = !self.is_auto;
        self.settings.mode = if self.is_auto { Mode::Auto } else { Mode::Review };
        self.story.push(format!("the mode is {:?}", self.settings.mode));
        self.app().replace_settings(self.settings.clone()).await;
    }
}
