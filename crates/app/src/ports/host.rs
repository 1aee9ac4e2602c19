//! `llm`'s host: who answers a turn, and where its events go.

use std::sync::Arc;

use async_trait::async_trait;
use llm::host::{Capacity, Host, SummingUp, TurnEvent, TurnSetup};
use llm::{Capabilities, Provider};
use protocol::model::{ModelInfo, Price};
use protocol::{CallId, Mode, NotePath, OpenTurn, Privacy, Question, Settings, UserError};
use store::Store;
use tokio::sync::mpsc;

use crate::announce::News;
use crate::aside::aside;
use crate::capture::{Capture, CaptureFallback};
use crate::config::Config;
use crate::context::{self, HouseRules, Instructions};
use crate::hub_places;
use crate::hub_question;
use crate::inbox::ATTEMPTS;
use crate::privacy::Keeper;
use crate::profile::{Layers, Pending, Registered, RunKind, ToolSet};
use crate::provider::{Answering, Chosen, runs_elsewhere};
use crate::spending::{self, Gate};
use crate::taint::RULES_FILES;
use crate::trouble::user_error;

/// Output cap of one answer, in tokens.
const MAX_TOKENS: u32 = 8_192;

/// A hub message of more bytes is kept as it is, and no model is asked what it means.
const LONGEST_FOR_A_MODEL: usize = 256 << 10;

/// Of a window the answer has this part at most; and half of it where the user wants longer answers.
const ANSWERS_PART: u32 = 4;
const LONG_ANSWERS_PART: u32 = 2;

/// The texts of folder and user have no more room in the instructions than this part of the window has
/// bytes: with a token of three to four bytes, and tools and our own words beside them, all of it stays
/// below a quarter.
const TEXTS_PART: u32 = 4;

/// In a smaller window there is no room for them at all.
const SMALLEST_WITH_TEXTS: u32 = 6_000;

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

    async fn setup_again(
        &self,
        turn: &OpenTurn,
        window: Option<u32>,
    ) -> Result<TurnSetup, UserError> {
        let mut who = self.who(turn).await?;
        if let Some(window) = window {
            who.capacity = Capacity::Window(window);
        }
        self.keeper.begin_again(&turn.turn, who.shown).await?;
        let setup = self.setup_for(turn, &who).await?;
        // The user may have chosen another model meanwhile.
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
        let Some(by) = who.summing_up().await else { return Ok(None) };
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
    /// Its capabilities, as its server says them.
    capabilities: Capabilities,
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
    async fn summing_up(&self) -> Option<SummingUp> {
        self.model.as_ref()?;
        Some(summing_up(&self.settings, &self.chosen, Arc::clone(&self.provider)).await)
    }
}

/// How private what `chosen` may see is at most, its server asked where its model runs.
pub(crate) async fn may_see(chosen: &Chosen) -> Privacy {
    match (chosen.shown, &chosen.provider) {
        (Privacy::Local, Ok(provider)) => shown(chosen, provider.capabilities(&chosen.model).await),
        (shown, _) => shown,
    }
}

fn shown(chosen: &Chosen, capabilities: Capabilities) -> Privacy {
    match chosen.shown {
        // The server is here and the model is not.
        Privacy::Local if capabilities.runs_elsewhere => Privacy::Open,
        shown => shown,
    }
}

/// Who is asked for what is no answer: `provider`, by the model that the user picked for it.
pub(crate) async fn summing_up(
    settings: &Settings,
    chosen: &Chosen,
    provider: Arc<dyn Provider>,
) -> SummingUp {
    let own = chosen.model.clone();
    let mut model = match settings.compaction.model.trim() {
        "" => own.clone(),
        model => model.to_owned(),
    };
    let mut capabilities = provider.capabilities(&model).await;
    // The conversation was shown to the model that answers, on this computer; no other computer reads it.
    let leaves = capabilities.runs_elsewhere || runs_elsewhere(&model);
    if model != own && leaves && chosen.shown == Privacy::Local {
        capabilities = provider.capabilities(&own).await;
        model = own;
    }
    let known = known(settings, chosen, &model, capabilities);
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
            let inbox = hub_places::inbox(&settings.hub)?;
            let undone = self.undone(turn).await?;
            Arc::new(Capture { inbox, undone, asked: asked.clone(), without_settings }) as _
        } else if has_model {
            self.config.counts()?;
            let (provider, config) = (chosen.provider.clone()?, self.config.clone());
            Arc::new(Gate { provider, config }) as _
        } else {
            chosen.provider.clone()?
        };
        let capabilities = match has_model {
            true => provider.capabilities(&chosen.model).await,
            false => Capabilities::default(),
        };
        let shown = if captures { Privacy::Never } else { shown(&chosen, capabilities) };
        let model = has_model.then(|| known(&settings, &chosen, &chosen.model, capabilities));
        let capacity = match &model {
            Some(model) => Capacity::Window(window(model, &chosen)),
            None if captures => Capacity::OwnTurn,
            None => Capacity::Unlimited,
        };
        Ok(Who { settings, chosen, provider, model, capabilities, capacity, shown, asked })
    }

    /// The notes that it reads are those that the turn may see.
    async fn setup_for(&self, turn: &OpenTurn, who: &Who) -> Result<TurnSetup, UserError> {
        let Who { settings, chosen, model, capacity, .. } = who;
        let kind = RunKind::of(turn.origin);
        let pending = if who.asked.is_some() { Pending::Question } else { Pending::Nothing };
        let window = match capacity {
            Capacity::Window(window) => *window,
            Capacity::Unlimited | Capacity::OwnTurn => u32::MAX,
        };
        let tool_set = ToolSet::of(window, who.capabilities.parameters);
        let house_rules = self.house_rules().await?;
        let spending = &settings.spending;
        let purse = spending::purse(&self.store, spending, who.price(), &turn.turn).await?;
        Ok(TurnSetup {
            provider: self.keeping_words(turn, who).await?,
            model: chosen.model.clone(),
            max_tokens: longest_answer(settings, &chosen.model, model.as_ref(), window),
            capacity: *capacity,
            purse,
            system: context::system(&Instructions {
                origin: turn.origin,
                inbox: &hub_places::inbox(&settings.hub)?,
                mode: settings.mode,
                house_rules: house_rules.as_ref(),
                organisation: &settings.organisation,
                detail: tool_set.detail(),
                room: room_for_texts(window, tool_set),
            }),
            detail: tool_set.detail(),
            tools: Layers { kind, mode: settings.mode, set: tool_set, pending }
                .offered(&self.tools),
            limits: kind.limits(),
            kept: self.store.asked_before(&turn.turn).await.map_err(user_error)?,
            summing_up: who.summing_up().await,
            runs_here: model.is_some()
                && llm::http::is_on_this_computer(&chosen.vendor.address(settings)),
        })
    }
}

/// How many bytes of the folder's hints and of the user's text go into the instructions. Where all tools
/// are offered there is room for them, or the request says that they are too long.
fn room_for_texts(window: u32, set: ToolSet) -> usize {
    match set {
        ToolSet::All => usize::MAX,
        ToolSet::Few if window >= SMALLEST_WITH_TEXTS => {
            usize::try_from(window / TEXTS_PART).unwrap_or(usize::MAX)
        }
        ToolSet::Few | ToolSet::Fewest => 0,
    }
}

/// How many tokens an answer may have: the user's word, else ours, within what the model writes and
/// what its window has room for.
fn longest_answer(settings: &Settings, model: &str, known: Option<&ModelInfo>, window: u32) -> u32 {
    let given = settings.parameters.iter().find(|given| given.model == model);
    let wanted = given.and_then(|given| given.max_tokens).filter(|tokens| *tokens > 0);
    let most = known.and_then(|known| known.max_output).unwrap_or(u32::MAX);
    let within = match wanted {
        Some(wanted) => wanted.min(window / LONG_ANSWERS_PART),
        None => MAX_TOKENS.min(window / ANSWERS_PART),
    };
    within.min(most).max(1)
}

/// Returns all that is known of a model: the user's word, else its server's word as it runs, else its
/// provider's list or our own.
fn known(
    settings: &Settings,
    chosen: &Chosen,
    model: &str,
    capabilities: Capabilities,
) -> ModelInfo {
    let listed = llm::models::known(model, &[], &chosen.status.models).unwrap_or_default();
    let id = model.to_owned();
    let running = ModelInfo { id, window: capabilities.window, ..ModelInfo::default() };
    let users = settings.models.iter().find(|users| users.id == model).cloned();
    let running = running.or(listed);
    match users {
        Some(users) => users.or(running),
        None => running,
    }
}

/// How much the model takes in; what is not known is taken for what most have.
fn window(known: &ModelInfo, chosen: &Chosen) -> u32 {
    known.window.unwrap_or(chosen.usual_window)
}

impl AppHost {
    /// The provider; of a hub message whose turn does nothing about it, the words are kept. In read-only mode
    /// nothing can be.
    async fn keeping_words(
        &self,
        turn: &OpenTurn,
        who: &Who,
    ) -> Result<Arc<dyn Provider>, UserError> {
        let provider = &who.provider;
        let is_kept =
            turn.origin.is_hub() && who.model.is_some() && who.settings.mode != Mode::ReadOnly;
        let row = match is_kept {
            true => self.store.inbox_of_turn(&turn.turn).await.map_err(user_error)?,
            false => None,
        };
        Ok(match row {
            Some(row) => {
                let (provider, words) = (Arc::clone(provider), row.text);
                let inbox = hub_places::inbox(&who.settings.hub)?;
                let undone = self.undone(turn).await?;
                Arc::new(CaptureFallback { provider, inbox, undone, words }) as _
            }
            None => Arc::clone(provider),
        })
    }

    /// Calls of a turn that was taken up again which failed before and changed nothing.
    async fn undone(&self, turn: &OpenTurn) -> Result<Vec<CallId>, UserError> {
        match turn.resumed {
            0 => Ok(Vec::new()),
            _ => self.store.ineffective_calls(&turn.turn).await.map_err(user_error),
        }
    }

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

    /// The hints at the top of the folder; the first file that is there is read. A file of that name
    /// deeper down is about something else. A link is no rules file, also where links are followed: it
    /// leads to a note that anybody may change, and only a change of the rules file itself waits.
    async fn house_rules(&self) -> Result<Option<HouseRules>, UserError> {
        let vault = self.keeper.seen();
        let read = move |file| {
            let note = vault.read(&NotePath::parse(file).ok()?).ok()?;
            if note.real != note.path {
                return None;
            }
            let text = String::from_utf8(note.bytes).ok()?;
            (!text.trim().is_empty()).then_some(HouseRules { file, text })
        };
        aside(move || RULES_FILES.into_iter().find_map(read)).await
    }
}
