//! Which notes are kept from the model that answers now: the window says so before anything is sent.

use std::sync::Arc;
use std::time::Duration;

use protocol::notes::privacy::PrivacyMetadata;
use protocol::notes::query::{MentionTarget, PrivateNote};
use protocol::{ConversationId, NotePath, Privacy, PrivateRules, UserError};

use crate::App;
use crate::models::model_info;
use crate::support::blocking::run_blocking;
use crate::vault_session::VaultSession;

/// Typing waits no longer than this for a model server that is asked where its model runs.
const PRIVACY_CHECK_TIMEOUT: Duration = Duration::from_millis(500);

impl App {
    /// Which rule keeps a note from the model that answers now; `None` where it may see the note, and
    /// where no model answers.
    pub async fn private_note(&self, path: NotePath) -> Result<Option<PrivateNote>, UserError> {
        let open = self.session().await?;
        Ok(open.kept_from_model(vec![path]).await?.into_iter().next().flatten())
    }

    /// For each of these, in their order, which rule keeps it from the model that answers now: the
    /// rule for the folder or the tag, and for a conversation that of a note whose text is in it.
    pub async fn private_mentions(
        &self,
        mentions: Vec<MentionTarget>,
    ) -> Result<Vec<Option<PrivateNote>>, UserError> {
        let open = self.session().await?;
        let rules = open.config.private_rules();
        if rules.is_empty() {
            return Ok(vec![None; mentions.len()]);
        }
        let shown = open.shown_at_most().await;
        let mut kept = Vec::new();
        for mention in mentions {
            kept.push(match mention {
                MentionTarget::Folder { path } => rule_above(shown, rules.by_path(&path)),
                MentionTarget::Tag { tag } => rule_above(shown, privacy_of_tag(&rules, tag)),
                MentionTarget::Conversation { id } => open.conversation_rule(shown, &id).await?,
            });
        }
        Ok(kept)
    }
}

impl VaultSession {
    /// For each of these notes, in their order, which rule keeps it from the model that answers now.
    pub(crate) async fn kept_from_model(
        &self,
        paths: Vec<NotePath>,
    ) -> Result<Vec<Option<PrivateNote>>, UserError> {
        if self.config.private_rules().is_empty() {
            return Ok(vec![None; paths.len()]);
        }
        let (guard, most) = (Arc::clone(&self.privacy_guard), self.shown_at_most().await);
        run_blocking(move || guard.kept_from(most, &paths)).await
    }

    /// The rule that hides some text of a conversation, in the branch that is shown of it, at the
    /// privacy level `shown`.
    async fn conversation_rule(
        &self,
        shown: Privacy,
        id: &ConversationId,
    ) -> Result<Option<PrivateNote>, UserError> {
        let Some(last) = self.store.last_shown_turn(id).await? else { return Ok(None) };
        let told = self.store.context_sources_by_turn(&last.turn).await?;
        if !self.privacy_guard.hides_told(shown, &told).await? {
            return Ok(None);
        }
        let is_never = self.privacy_guard.hides_told(Privacy::Local, &told).await?;
        Ok(Some(if is_never { PrivateNote::Never } else { PrivateNote::LocalOnly }))
    }

    /// The highest privacy of notes that the selected model is shown. Until it is known, that of
    /// every model.
    async fn shown_at_most(&self) -> Privacy {
        let Some(chosen) = self.answering.at_hand() else { return Privacy::Open };
        let asked =
            tokio::time::timeout(PRIVACY_CHECK_TIMEOUT, model_info::effective_privacy(&chosen))
                .await;
        asked.unwrap_or(Privacy::Open)
    }
}

/// The rule behind this privacy, where it is more than is shown.
fn rule_above(shown: Privacy, privacy: Privacy) -> Option<PrivateNote> {
    let rule = if privacy == Privacy::Never { PrivateNote::Never } else { PrivateNote::LocalOnly };
    (privacy > shown).then_some(rule)
}

/// How private a note is that says nothing but this tag.
fn privacy_of_tag(rules: &PrivateRules, tag: String) -> Privacy {
    rules.by_metadata(&PrivacyMetadata { tags: vec![tag], ..PrivacyMetadata::default() })
}
