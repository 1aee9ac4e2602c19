//! Which notes are kept from the model that answers now: the window says so before anything is sent.

use protocol::notes::privacy::PrivacyMetadata;
use protocol::notes::query::{MentionTarget, PrivateNote};
use protocol::{NotePath, Privacy, PrivateRules, UserError};

use crate::App;

impl App {
    /// Which rule keeps a note from the model that answers now; `None` where it may see the note, and
    /// where no model answers.
    pub async fn private_note(&self, path: NotePath) -> Result<Option<PrivateNote>, UserError> {
        let open = self.session().await?;
        Ok(open.model_privacy.kept_from_model(vec![path]).await?.into_iter().next().flatten())
    }

    /// For each of these, in their order, which rule keeps it from the model that answers now: the
    /// rule for the folder or the tag, and for a conversation that of a note whose text is in it.
    pub async fn private_mentions(
        &self,
        mentions: Vec<MentionTarget>,
    ) -> Result<Vec<Option<PrivateNote>>, UserError> {
        let open = self.session().await?;
        let rules = self.services().config.private_rules();
        if rules.is_empty() {
            return Ok(vec![None; mentions.len()]);
        }
        let shown = open.model_privacy.shown_at_most().await;
        let mut kept = Vec::new();
        for mention in mentions {
            kept.push(match mention {
                MentionTarget::Folder { path } => rule_above(shown, rules.by_path(&path)),
                MentionTarget::Tag { tag } => rule_above(shown, privacy_of_tag(&rules, tag)),
                MentionTarget::Conversation { id } => {
                    open.model_privacy.conversation_rule(shown, &id).await?
                }
            });
        }
        Ok(kept)
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
