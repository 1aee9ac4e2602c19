//! `llm`'s host: who answers a turn, and where its events go.

use std::sync::Arc;

use async_trait::async_trait;
use llm::host::{Capacity, Host, TurnEvent, TurnSetup};
use protocol::model::ModelInfo;
use protocol::{NotePath, OpenTurn, Privacy, Settings, UserError};
use store::Store;
use tokio::sync::mpsc;

use crate::announce::News;
use crate::aside::aside;
use crate::capture::Capture;
use crate::config::Config;
use crate::context::{self, HouseRules};
use crate::privacy::Keeper;
use crate::profile::{Layers, Registered, RunKind};
use crate::provider::{Answering, Chosen, Vendor};
use crate::spending::{self, Gate};
use crate::trouble::user_error;

/// Output cap of one answer, in tokens.
const MAX_TOKENS: u32 = 8_192;

/// How much the models take in, in tokens.
const WINDOW: u32 = 200_000;

/// The same for models on this computer of which nothing is known.
const LOCAL_WINDOW: u32 = 32_768;

/// Files with hints about how the notes are organised; the first that is there is read.
const HOUSE_RULES: [&str; 2] = ["AGENTS.md", "CLAUDE.md"];

/// Decides for the turns of one vault.
pub(crate) struct AppHost {
    pub(crate) keeper: Arc<Keeper>,
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) answering: Answering,
    pub(crate) tools: Vec<Registered>,
    pub(crate) news: mpsc::UnboundedSender<News>,
}

#[async_trait]
impl Host for AppHost {
    async fn setup(&self, turn: &OpenTurn) -> Result<TurnSetup, UserError> {
        let (settings, kind) = (self.config.get(), RunKind::of(turn.origin));
        let chosen = self.answering.get().await;
        let captures = turn.origin.is_hub() && self.must_capture(turn, &chosen).await?;
        let has_model = chosen.status.has_model && !captures;
        let provider = if captures {
            Arc::new(Capture) as _
        } else if has_model {
            let (provider, config) = (chosen.provider.clone()?, self.config.clone());
            Arc::new(Gate { provider, config }) as _
        } else {
            chosen.provider.clone()?
        };
        let most = if captures { Privacy::Never } else { chosen.shown };
        self.keeper.begin(&turn.turn, most).await?;
        let tool_set = provider.tool_set(&chosen.model).await;
        let house_rules = self.house_rules().await?;
        let known = has_model.then(|| known(&settings, &chosen)).flatten();
        let price = known.as_ref().and_then(|model| model.price);
        let purse = spending::purse(&self.store, &settings.spending, price, &turn.turn).await?;
        self.store.set_model(&turn.turn, &chosen.model, price).await.map_err(user_error)?;
        Ok(TurnSetup {
            provider,
            model: chosen.model.clone(),
            max_tokens: longest_answer(&settings, &chosen.model, known.as_ref()),
            capacity: if has_model {
                Capacity::Window(window(known.as_ref(), &chosen))
            } else {
                Capacity::Unlimited
            },
            purse,
            system: context::system(
                turn.origin,
                settings.mode,
                house_rules.as_ref(),
                &settings.organisation,
            ),
            tools: Layers { kind, mode: settings.mode, set: tool_set }.offered(&self.tools),
            limits: kind.limits(),
            kept: self.store.asked_before(&turn.turn).await.map_err(user_error)?,
        })
    }

    fn tell(&self, turn: &OpenTurn, event: TurnEvent) {
        if matches!(event, TurnEvent::Ended(_)) {
            self.keeper.end(&turn.turn);
        }
        // Nobody listens once the vault is being closed; then the events are of no use.
        let _ = self.news.send(News::Turn(turn.clone(), event));
    }
}

/// How many tokens an answer may have: the user's word, else ours, within what the model writes.
fn longest_answer(settings: &Settings, model: &str, known: Option<&ModelInfo>) -> u32 {
    let given = settings.parameters.iter().find(|given| given.model == model);
    let wanted = given.and_then(|given| given.max_tokens).filter(|tokens| *tokens > 0);
    let most = known.and_then(|known| known.max_output);
    wanted.unwrap_or(MAX_TOKENS).min(most.unwrap_or(u32::MAX))
}

/// What is known of the model: the user's word, else what its provider or we know of it.
fn known(settings: &Settings, chosen: &Chosen) -> Option<ModelInfo> {
    llm::models::known(&chosen.model, &settings.models, &chosen.status.models)
}

/// How much the model takes in; what is not known is taken for what most have.
fn window(known: Option<&ModelInfo>, chosen: &Chosen) -> u32 {
    let usual = match chosen.vendor {
        Vendor::Ollama => LOCAL_WINDOW,
        Vendor::Anthropic | Vendor::OpenAi => WINDOW,
    };
    known.and_then(|known| known.window).unwrap_or(usual)
}

impl AppHost {
    /// Whether the words of a hub message are to be kept as they are: there is no model, or one
    /// was asked already and failed.
    async fn must_capture(&self, turn: &OpenTurn, chosen: &Chosen) -> Result<bool, UserError> {
        let row = self.store.inbox_of_turn(&turn.turn).await.map_err(user_error)?;
        let failed_before = row.is_some_and(|row| row.attempts > 0);
        let paused = self.config.get().spending.paused;
        let nobody = paused || !chosen.status.has_model || chosen.provider.is_err();
        Ok(nobody || failed_before)
    }

    /// The hints at the top of the folder. A file of that name deeper down is about something else.
    async fn house_rules(&self) -> Result<Option<HouseRules>, UserError> {
        let vault = self.keeper.seen();
        let read = move |file| {
            let note = vault.read(&NotePath::parse(file).ok()?).ok()?;
            let text = String::from_utf8(note.bytes).ok()?;
            (!text.trim().is_empty()).then_some(HouseRules { file, text })
        };
        aside(move || HOUSE_RULES.into_iter().find_map(read)).await
    }
}
