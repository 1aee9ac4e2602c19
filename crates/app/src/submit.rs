//! The user's words on their way into a turn: with their context block, durable before we return.

use std::sync::Arc;

use protocol::request::SendMessage;
use protocol::{
    AppEvent, ConversationId, Message, NewTurn, NotePath, OpenTurn, Origin, Part, QuestionId, Role,
    Timestamp, TurnId, TurnStatus, UserError,
};
use store::VerdictRow;

use crate::announce::News;
use crate::briefing::Context;
use crate::clock::{fresh, now};
use crate::open_vault::OpenVault;
use crate::trouble::user_error;

/// Whether words are new.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// They are.
    Now,
    /// They stand in the chat already: the turn before could not work on them.
    Before,
}

/// What was said, and through which channel.
pub(crate) struct Words {
    pub(crate) text: String,
    pub(crate) origin: Origin,
    pub(crate) answers: Option<QuestionId>,
    pub(crate) said: Said,
    /// When they came, if it was over the hub.
    pub(crate) received_at: Option<Timestamp>,
    /// Which open note is sent with them.
    pub(crate) open_note: WithNote,
}

/// Which open note is sent with a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WithNote {
    /// None, and nothing is said of one: the user is elsewhere.
    Never,
    /// The one that lies on the desk.
    OnDesk,
    /// The one that the composer showed; `None` where it showed none.
    Shown(Option<NotePath>),
    /// The one that was sent with the message of this turn, with the same selection.
    AsIn(TurnId),
}

impl Words {
    /// New words that answer no question.
    pub(crate) const fn new(text: String, origin: Origin, open_note: WithNote) -> Self {
        Self { text, origin, answers: None, said: Said::Now, received_at: None, open_note }
    }
}

/// A turn ready to be stored, and the verdicts that its context block tells the model of.
pub(crate) struct Prepared {
    pub(crate) new: NewTurn,
    told: Vec<VerdictRow>,
}

impl OpenVault {
    /// Stores a message of the window; the turn runs behind.
    pub(crate) async fn send(
        self: &Arc<Self>,
        request: SendMessage,
    ) -> Result<ConversationId, UserError> {
        let text = request.text.trim().to_owned();
        if text.is_empty() {
            return Err(UserError::other("There is nothing to send: type a message first."));
        }
        let conversation = match request.conversation {
            Some(id) => id,
            None => self.new_conversation(&text).await?,
        };
        let open_note = WithNote::Shown(request.open_note);
        let words =
            Words { answers: request.answers, ..Words::new(text, Origin::Window, open_note) };
        let prepared = self.new_turn(&conversation, &words).await?;
        self.submit(prepared).await?;
        Ok(conversation)
    }

    /// Begins a conversation that is called by its first words.
    pub(crate) async fn new_conversation(&self, text: &str) -> Result<ConversationId, UserError> {
        let id = fresh();
        self.store
            .create_conversation(&id, &first_words(text), None, now())
            .await
            .map_err(user_error)?;
        Ok(id)
    }

    /// The turn for some words, with the context block of this moment.
    pub(crate) async fn new_turn(
        &self,
        conversation: &ConversationId,
        words: &Words,
    ) -> Result<Prepared, UserError> {
        let told = self.store.untold_verdicts(conversation).await.map_err(user_error)?;
        let Context { mut parts, shown } = self.context_of(conversation, words, &told).await?;
        if let Some(question) = &words.answers {
            parts.push(Part::Answers { question: question.clone() });
        }
        if words.said == Said::Before {
            parts.push(Part::Repeated);
        }
        parts.push(Part::Text { text: words.text.clone() });
        let turn = fresh();
        let message = Message {
            id: fresh(),
            conversation: conversation.clone(),
            turn,
            role: Role::User,
            parts,
            at: now(),
        };
        let new = NewTurn {
            turn: message.turn.clone(),
            message,
            origin: words.origin,
            answers: words.answers.clone(),
            shown,
        };
        Ok(Prepared { new, told })
    }

    /// Stores the turn durably, then lets it run. `Err` means that nothing was stored.
    pub(crate) async fn submit(&self, prepared: Prepared) -> Result<(), UserError> {
        self.submit_as(prepared, None).await
    }

    /// The same, in a branch of its own where it stands in for another turn.
    pub(crate) async fn submit_as(
        &self,
        prepared: Prepared,
        instead_of: Option<&TurnId>,
    ) -> Result<(), UserError> {
        let Prepared { new, told } = prepared;
        let conversation = new.message.conversation.clone();
        let turn = OpenTurn {
            turn: new.turn.clone(),
            conversation: conversation.clone(),
            message: new.message.id.clone(),
            origin: new.origin,
            status: TurnStatus::Queued,
            at: new.message.at,
            resumed: 0,
        };
        let question = self.store.question(&conversation).await.map_err(user_error)?;
        let cut = self.store.offered_turn(&conversation).await.map_err(user_error)?;
        // An answer may belong to another branch than the one that is shown.
        let variants = self.store.variants(&conversation).await.map_err(user_error)?;
        let moves = new.answers.is_some() && !variants.is_empty();
        let id = turn.turn.clone();
        match instead_of {
            None => self.service.submit(new).await?,
            Some(old) => {
                self.store.submit_fork(&new, old).await.map_err(user_error)?;
                self.announce(News::Reordered(conversation.clone()));
                self.service.wake(&conversation);
            }
        }
        if moves {
            self.announce(News::Reordered(conversation));
        }
        self.announce(News::Sent { turn, question, cut });
        // The words are safe: what fails from here on must not look as if they were not, or they
        // would be sent again. At worst the model hears of a verdict twice.
        if !told.is_empty()
            && let Err(error) = self.store.mark_told(&told, &id).await.map_err(user_error)
        {
            self.feed.tell(AppEvent::Problem { error });
        }
        Ok(())
    }
}

/// A name from the first words: one line, at most 60 characters, cut at a word.
pub(crate) fn first_words(text: &str) -> String {
    const LONGEST: usize = 60;
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= LONGEST {
        return line;
    }
    let cut: String = line.chars().take(LONGEST).collect();
    let whole_words = cut.rsplit_once(' ').map_or(cut.as_str(), |(words, _)| words);
    format!("{whole_words}…")
}

#[cfg(test)]
mod tests {
    use super::first_words;

    #[test]
    fn a_name_is_one_line_cut_at_a_word() {
        assert_eq!(first_words("buy\n milk"), "buy milk");
        let long = "Marta and Luca come on Sunday, so four of us. What did we cook last time?";
        assert_eq!(first_words(long), "Marta and Luca come on Sunday, so four of us. What did we…");
    }
}
