//! How much of the message that opened a turn is the user's own text: an option that the user chose and a message of the
//! hub that the user sends again are not, what the user attached to them is.

use protocol::{Message, MessagePart, NoteOpener, NotePath, OpenTurn, UserError};
use vault::VaultError;

use crate::adapters::changes::VaultChanges;
use crate::notes::mentions::chosen_option::OfferedTexts;
use crate::notes::mentions::{mentions_note, user_authored_text};
use crate::support::blocking::run_blocking;

impl VaultChanges {
    /// Whether the user's own message names each of these notes, or it is the open note that was
    /// sent with the message and that the user opened. A note that a tool opened was chosen by the model, in
    /// whichever conversation it is sent; one that a tool showed in this conversation counts as such. An option
    /// that the user chooses and a message of the hub that the user sends again are not the user's own; what
    /// the user attaches to them is.
    pub(super) async fn are_mentioned(
        &self,
        turn: &OpenTurn,
        paths: &[&NotePath],
    ) -> Result<bool, UserError> {
        let opening = self.store.opening_message(&turn.turn).await?;
        let message = opening.map(|(message, _)| message);
        let open = message.as_ref().and_then(|message| message.open_note().flatten());
        let open = open.filter(|note| note.opened_by == NoteOpener::User);
        let shown = match open {
            Some(_) => self.store.notes_shown_by_tools(&turn.conversation).await?,
            None => Vec::new(),
        };
        let is_open = |path: &NotePath| {
            open.is_some_and(|note| note.path == *path)
                && !shown.iter().any(|shown| shown == path.as_str())
        };
        let others = paths.iter().filter(|path| !is_open(path));
        let others: Vec<NotePath> = others.map(|path| (*path).clone()).collect();
        if others.is_empty() {
            return Ok(true);
        }
        let text = message.as_ref().map(Message::text).unwrap_or_default();
        let options = self.store.offered_options(&turn.conversation).await?;
        let from_hub = self.store.hub_messages(&turn.conversation).await?;
        let mut foreign = OfferedTexts::default();
        options.iter().chain(&from_hub).for_each(|other| foreign.insert(other));
        // The window puts what the user attaches behind the option that they chose.
        let chosen_by_user = foreign.rest_behind(&text).unwrap_or(&text);
        let (own_text, vault) = (user_authored_text(chosen_by_user), self.vault.unfiltered());
        let are_named = move || -> Result<bool, VaultError> {
            if !others.iter().all(|path| mentions_note(&own_text, path, &[])) {
                return Ok(false);
            }
            let files = vault.list()?.entries.into_iter().map(|entry| entry.path);
            let files: Vec<NotePath> = files.collect();
            Ok(others.iter().all(|path| mentions_note(&own_text, path, &files)))
        };
        Ok(run_blocking(are_named).await??)
    }

    /// Whether the turn works on a message of the hub, also on one that the user sent again in the window, unless what
    /// the user attached to it names each of these notes. A message of the user may read like one of the hub, but does
    /// not take the place of another.
    pub(super) async fn is_requested_by_hub(
        &self,
        turn: &OpenTurn,
        paths: &[&NotePath],
    ) -> Result<bool, UserError> {
        if turn.origin.is_hub() {
            return Ok(true);
        }
        let from_hub = self.store.hub_messages(&turn.conversation).await?;
        if from_hub.is_empty() {
            return Ok(false);
        }
        if !self.store.begins_version(&turn.turn).await? {
            return Ok(false);
        }
        let opening = self.store.opening_message(&turn.turn).await?;
        let Some((message, _)) = opening else { return Ok(false) };
        let is_answer = |part: &MessagePart| matches!(part, MessagePart::Answers { .. });
        if message.parts.iter().any(is_answer) {
            return Ok(false);
        }
        let mut of_hub = OfferedTexts::default();
        from_hub.iter().for_each(|text| of_hub.insert(text));
        let text = message.text();
        Ok(of_hub.rest_behind(&text).is_some() && !self.are_mentioned(turn, paths).await?)
    }
}
