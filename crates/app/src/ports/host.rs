//! `llm`'s host: who answers a turn, and where its events go.

use std::sync::Arc;

use async_trait::async_trait;
use llm::Provider;
use llm::host::{Capacity, Host, SummingUp, TurnEvent, TurnSetup};
use protocol::model::{ModelInfo, Price};
use protocol::{NotePath, OpenTurn, Privacy, Question, Settings, UserError};
use store::Store;
use tokio::sync::mpsc;

use crate::announce::News;
use crate::aside::aside;
use crate::capture::Capture;
use crate::config::Config;
use crate::context::{self, HouseRules};
use crate::hub_question;
use crate::inbox::ATTEMPTS;
use crate::privacy::Keeper;
use crate::profile::{Layers, Pending, Registered, RunKind};
use crate::provider::{Answering, Chosen, Vendor};
use crate::spending::{self, Gate};
use crate::taint::RULES_FILES;
use crate::trouble::user_error;

/// Output cap of one answer, in tokens.
const MAX_TOKENS: u32 = 8_192;

/// A hub message of more bytes is kept as it is, and no model is asked what it means.
const LONGEST_FOR_A_MODEL: usize = 256 << 10;

/// How much the models take in, in tokens.
const WINDOW: u32 = 200_000;

/// The same for models on this computer of which nothing is known.
const LOCAL_WINDOW: u32 = 32_768;

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
        let who = self.who(turn).await?;
        match turn.resumed {
            0 => self.keeper.begin(&turn.turn, who.shown).await?,
            _ => self.keeper.go_on(&turn.turn, who.shown).await?,
        }
        let setup = self.setup_for(turn, &who).await?;
        let stored = self.store.set_model(&turn.turn, &setup.model, who.price());
        stored.await.map_err(user_error)?;
        Ok(setup)
    }

    async fn at_rest(&self, turn: &OpenTurn) -> Result<TurnSetup, UserError> {
        let who = self.who(turn).await?;
        self.keeper.begin_again(&turn.turn, who.shown).await?;
        self.setup_for(turn, &who).await
    }

    async fn aside(&self, turn: &OpenTurn) -> Result<Option<SummingUp>, UserError> {
        self.config.up_to_date().await;
        if self.config.may_ask().is_err() {
            return Ok(None);
        }
        let who = self.who(turn).await?;
        let spending = &who.settings.spending;
        let Some(by) = who.summing_up() else { return Ok(None) };
        if !spending::month_lets(&self.store, spending, by.price).await? {
            return Ok(None);
        }
        self.keeper.begin_again(&turn.turn, who.shown).await?;
        Ok(Some(by))
    }

    fn rested(&self, turn: &OpenTurn) {
        self.keeper.end(&turn.turn);
    }

    fn tell(&self, turn: &OpenTurn, event: TurnEvent) {
        if matches!(event, TurnEvent::Ended(_)) {
            self.keeper.end(&turn.turn);
        }
        // Nobody listens once the vault is being closed; then the events are of no use.
        let _ = self.news.send(News::Turn(turn.clone(), event));
    }
}

/// Who answers a turn.
struct Who {
    settings: Settings,
    chosen: Arc<Chosen>,
    provider: Arc<dyn Provider>,
    /// A model, of which so much is known.
    model: Option<ModelInfo>,
    capacity: Capacity,
    /// How private what it may see is at most.
    shown: Privacy,
    /// The question that the message may answer.
    asked: Option<Question>,
}

impl Who {
    fn price(&self) -> Option<Price> {
        self.model.as_ref().and_then(|model| model.price)
    }

    /// The same provider sums up, by the model that the user picked for it.
    fn summing_up(&self) -> Option<SummingUp> {
        self.model.as_ref()?;
        Some(summing_up(&self.settings, &self.chosen, Arc::clone(&self.provider)))
    }
}

/// Who is asked for what is no answer: `provider`, by the model that the user picked for it.
pub(crate) fn summing_up(
    settings: &Settings,
    chosen: &Chosen,
    provider: Arc<dyn Provider>,
) -> SummingUp {
    let model = match settings.compaction.model.trim() {
        "" => chosen.model.clone(),
        model => model.to_owned(),
    };
    let known = known(settings, chosen, &model);
    let (price, window) = (known.price, window(&known, chosen));
    SummingUp { provider, model, price, window, prompt: settings.compaction.prompt.clone() }
}

impl AppHost {
    async fn who(&self, turn: &OpenTurn) -> Result<Who, UserError> {
        // A rule that was written a moment ago counts for this turn.
        self.config.up_to_date().await;
        self.keeper.set_rules(self.config.private_rules());
        let settings = self.config.get();
        let chosen = self.answering.get().await;
        let captures = turn.origin.is_hub() && self.must_capture(turn, &chosen).await?;
        let has_model = chosen.status.has_model && !captures;
        let asked = hub_question::of_turn(&self.store, turn).await?.map(|row| row.question);
        let provider = if captures {
            let without_settings = self.config.counts().is_err();
            Arc::new(Capture { asked: asked.clone(), without_settings }) as _
        } else if has_model {
            self.config.counts()?;
            let (provider, config) = (chosen.provider.clone()?, self.config.clone());
            Arc::new(Gate { provider, config }) as _
        } else {
            chosen.provider.clone()?
        };
        let shown = if captures { Privacy::Never } else { chosen.shown };
        let model = has_model.then(|| known(&settings, &chosen, &chosen.model));
        let capacity = match &model {
            Some(model) => Capacity::Window(window(model, &chosen)),
            None if captures => Capacity::OwnTurn,
            None => Capacity::Unlimited,
        };
        Ok(Who { settings, chosen, provider, model, capacity, shown, asked })
    }

    /// The notes that it reads are those that the turn may see.
    async fn setup_for(&self, turn: &OpenTurn, who: &Who) -> Result<TurnSetup, UserError> {
        let Who { settings, chosen, provider, model, capacity, .. } = who;
        let kind = RunKind::of(turn.origin);
        let pending = if who.asked.is_some() { Pending::Question } else { Pending::Nothing };
        let tool_set = provider.tool_set(&chosen.model).await;
        let house_rules = self.house_rules().await?;
        let spending = &settings.spending;
        let purse = spending::purse(&self.store, spending, who.price(), &turn.turn).await?;
        Ok(TurnSetup {
            provider: Arc::clone(provider),
            model: chosen.model.clone(),
            max_tokens: longest_answer(settings, &chosen.model, model.as_ref()),
            capacity: *capacity,
            purse,
            system: context::system(
                turn.origin,
                settings.mode,
                house_rules.as_ref(),
                &settings.organisation,
            ),
            tools: Layers { kind, mode: settings.mode, set: tool_set, pending }
                .offered(&self.tools),
            limits: kind.limits(),
            kept: self.store.asked_before(&turn.turn).await.map_err(user_error)?,
            summing_up: who.summing_up(),
        })
    }
}

/// How many tokens an answer may have: the user's word, else ours, within what the model writes.
fn longest_answer(settings: &Settings, model: &str, known: Option<&ModelInfo>) -> u32 {
    let given = settings.parameters.iter().find(|given| given.model == model);
    let wanted = given.and_then(|given| given.max_tokens).filter(|tokens| *tokens > 0);
    let most = known.and_then(|known| known.max_output);
    wanted.unwrap_or(MAX_TOKENS).min(most.unwrap_or(u32::MAX))
}

/// What is known of a model: the user's word, else what its provider or we know of it.
fn known(settings: &Settings, chosen: &Chosen, model: &str) -> ModelInfo {
    let known = llm::models::known(model, &settings.models, &chosen.status.models);
    known.unwrap_or_default()
}

/// How much the model takes in; what is not known is taken for what most have.
fn window(known: &ModelInfo, chosen: &Chosen) -> u32 {
    let usual = match chosen.vendor {
        Vendor::Ollama => LOCAL_WINDOW,
        Vendor::Anthropic | Vendor::OpenAi => WINDOW,
    };
    known.window.unwrap_or(usual)
}

impl AppHost {
    /// Whether the words of a hub message are to be kept as they are: there is no model, one has
    /// failed too often, or they are more than anybody dictates.
    async fn must_capture(&self, turn: &OpenTurn, chosen: &Chosen) -> Result<bool, UserError> {
        let row = self.store.inbox_of_turn(&turn.turn).await.map_err(user_error)?;
        let failed_before = row.as_ref().is_some_and(|row| row.attempts >= ATTEMPTS);
        let is_too_long = row.is_some_and(|row| row.text.len() > LONGEST_FOR_A_MODEL);
        let may_ask = self.config.may_ask().is_ok();
        let nobody = !may_ask || !chosen.status.has_model || chosen.provider.is_err();
        Ok(nobody || failed_before || is_too_long)
    }

    /// The hints at the top of the folder; the first file that is there is read. A file of that name deeper down is about something else.
    async fn house_rules(&self) -> Result<Option<HouseRules>, UserError> {
        let vault = self.keeper.seen();
        let read = move |file| {
            let note = vault.read(&NotePath::parse(file).ok()?).ok()?;
            let text = String::from_utf8(note.bytes).ok()?;
            (!text.trim().is_empty()).then_some(HouseRules { file, text })
        };
        aside(move || RULES_FILES.into_iter().find_map(read)).await
    }
}
