//! `llm`'s host: who answers a turn, and where its events go.

use std::sync::{Arc, PoisonError, RwLock};

use async_trait::async_trait;
use llm::host::{Host, Limits, TurnEvent, TurnSetup};
use protocol::event::ProviderStatus;
use protocol::{Mode, OpenTurn, UserError};
use store::Store;
use tokio::sync::mpsc;
use vault::Vault;

use crate::capture::Capture;
use crate::config::Config;
use crate::context;
use crate::provider::Chosen;
use crate::trouble::user_error;

/// Output cap of one answer, in tokens.
const MAX_TOKENS: u32 = 8_192;

/// Files with hints about how the notes are organised; the first that is there is read.
const HOUSE_RULES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Decides for the turns of one vault.
pub(crate) struct AppHost {
    pub(crate) vault: Vault,
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) chosen: Arc<RwLock<Chosen>>,
    pub(crate) tools: Vec<(String, bool)>,
    pub(crate) news: mpsc::UnboundedSender<(OpenTurn, TurnEvent)>,
}

#[async_trait]
impl Host for AppHost {
    async fn setup(&self, turn: &OpenTurn) -> Result<TurnSetup, UserError> {
        let settings = self.config.get();
        let (provider, status) = self.answering();
        let captures = turn.origin.is_hub() && self.must_capture(turn, &status, provider.is_err()).await?;
        let provider = if captures { Ok(Arc::new(Capture) as _) } else { provider };
        let provider = provider?;
        self.store.set_model(&turn.turn, &settings.model).await.map_err(user_error)?;
        Ok(TurnSetup {
            provider,
            model: settings.model,
            max_tokens: MAX_TOKENS,
            system: context::system(turn.origin, settings.mode, self.house_rules().as_deref()),
            tools: self.tools_for(settings.mode, turn),
            limits: if turn.origin.is_hub() {
                Limits { round_trips: 4, calls: 10, ..Limits::default() }
            } else {
                Limits::default()
            },
        })
    }

    fn tell(&self, turn: &OpenTurn, event: TurnEvent) {
        // Nobody listens once the vault is being closed; then the events are of no use.
        let _ = self.news.send((turn.clone(), event));
    }
}

impl AppHost {
    fn answering(
        &self,
    ) -> (Result<Arc<dyn llm::provider::Provider>, UserError>, ProviderStatus) {
        let chosen = self.chosen.read().unwrap_or_else(PoisonError::into_inner);
        (chosen.provider.clone(), chosen.status.clone())
    }

    /// Whether the words of a hub message are to be kept as they are: there is no model, or one
    /// was asked already and failed.
    async fn must_capture(
        &self,
        turn: &OpenTurn,
        status: &ProviderStatus,
        no_provider: bool,
    ) -> Result<bool, UserError> {
        let row = self.store.inbox_of_turn(&turn.turn).await.map_err(user_error)?;
        let failed_before = row.is_some_and(|row| row.attempts > 0);
        Ok(!status.has_model || no_provider || failed_before)
    }

    fn tools_for(&self, mode: Mode, turn: &OpenTurn) -> Vec<String> {
        let offered = self.tools.iter().filter(|(name, changes_notes)| {
            let allowed = mode != Mode::ReadOnly || !changes_notes;
            allowed && !(turn.origin.is_hub() && name == "end_conversation")
        });
        offered.map(|(name, _)| name.clone()).collect()
    }

    fn house_rules(&self) -> Option<String> {
        let read = |name| {
            let path = self.vault.resolve(name).ok()?;
            let note = self.vault.read(&path).ok()?;
            String::from_utf8(note.bytes).ok()
        };
        HOUSE_RULES.into_iter().find_map(read).filter(|text| !text.trim().is_empty())
    }
}
