//! Implements `llm::TurnPolicy`: which model answers a turn, with which tools and limits, and where its events go.

use std::sync::Arc;

use async_trait::async_trait;
use llm::ports::turn_policy::{
    ContextCapacity, RefusedWindow, Summarizer, ToolDetail, TurnEvent, TurnPolicy, TurnSetup,
};
use llm::text_tools::declaration_bytes;
use llm::{Capabilities, Provider, ToolRegistry};
use protocol::chat::model::{ModelInfo, Price};
use protocol::{CallId, ConversationId, Mode, OpenTurn, Privacy, Question, Settings, UserError};
use store::Store;

use crate::chat::prompt::rules_file::RulesFile;
use crate::chat::prompt::{self, SystemPromptInput};
use crate::events::chat_part::ChatPart;
use crate::events::domain_event::{DomainEvent, DomainEvents};
use crate::hub::fallback_capture::{CaptureIfIgnored, FallbackCapture, MAX_TURN_ATTEMPTS};
use crate::hub::{reply_matching, writable_notes};
use crate::models::local_model_gate::LocalModelGate;
use crate::models::model_info::{compaction_model_for, context_window, max_privacy, model_info};
use crate::models::permissions::{PendingQuestion, RegisteredTool, RunKind, ToolFilter, ToolSet};
use crate::models::private_rules_gate::PrivateRulesGate;
use crate::models::request_privacy_gate::{RequestPrivacyGate, TurnHints};
use crate::models::selection::{ModelSelector, SelectedModel};
use crate::models::spending::{self, SpendingGate};
use crate::privacy::PrivacyGuard;
use crate::settings::config::Config;

/// Output cap of one answer, in tokens.
const DEFAULT_MAX_OUTPUT_TOKENS: u32 = 8_192;

/// A hub message of more bytes is kept as it is, and no model is asked what it means.
const MAX_HUB_MESSAGE_BYTES: usize = 256 << 10;

/// Of a window the answer has this part at most; and half of it where the user wants longer answers.
const ANSWER_WINDOW_DIVISOR: u32 = 4;
const LONG_ANSWER_WINDOW_DIVISOR: u32 = 2;

/// Instructions and tools, with the texts of vault and user, take this part of the window at most.
const INSTRUCTIONS_WINDOW_DIVISOR: u32 = 4;

/// Bytes of a token in our own text and in JSON, in tenths.
const FIXED_BYTES_PER_TOKEN_TENTHS: usize = 35;

/// Bytes of a token in the texts of vault and user, in whatever language they are.
const USER_BYTES_PER_TOKEN: usize = 3;

/// Decides for the turns of one vault.
pub(crate) struct AppTurnPolicy {
    pub(crate) privacy_guard: Arc<PrivacyGuard>,
    pub(crate) store: Store,
    pub(crate) config: Config,
    pub(crate) model_selector: ModelSelector,
    pub(crate) tools: Vec<RegisteredTool>,
    pub(crate) registry: Arc<ToolRegistry>,
    pub(crate) domain_events: DomainEvents,
}

#[async_trait]
impl TurnPolicy for AppTurnPolicy {
    async fn setup(&self, turn: &OpenTurn) -> Result<TurnSetup, UserError> {
        let who = self.turn_model(turn).await?;
        match turn.resumed {
            0 => self.privacy_guard.begin(&turn.turn, who.max_privacy).await?,
            _ => self.privacy_guard.resume(&turn.turn, who.max_privacy).await?,
        }
        self.running_setup(turn, &who).await
    }

    async fn refresh_setup(
        &self,
        turn: &OpenTurn,
        refused: Option<&RefusedWindow>,
    ) -> Result<TurnSetup, UserError> {
        let mut who = self.turn_model(turn).await?;
        let refused = refused.filter(|_| who.model.is_some());
        let base_url = who.selected.model_provider.base_url(&who.settings);
        let window = refused.and_then(|refused| refused.of(&who.selected.model, &base_url));
        who.capacity = window.map_or(who.capacity, ContextCapacity::Window);
        self.privacy_guard.change_model(&turn.turn, who.max_privacy).await?;
        self.running_setup(turn, &who).await
    }

    async fn idle_setup(&self, turn: &OpenTurn) -> Result<TurnSetup, UserError> {
        let who = self.turn_model(turn).await?;
        self.privacy_guard.begin_replay(&turn.turn, who.max_privacy).await?;
        let rules = RulesFile::read(&self.privacy_guard).await?;
        self.setup_for(turn, &who, rules.as_ref()).await
    }

    async fn background_summarizer(
        &self,
        turn: &OpenTurn,
    ) -> Result<Option<Summarizer>, UserError> {
        self.config.reload_if_changed().await;
        if self.config.ensure_models_allowed().is_err() {
            return Ok(None);
        }
        let who = self.turn_model(turn).await?;
        let Some(by) = who.compaction_model(&self.store).await? else { return Ok(None) };
        self.privacy_guard.begin_replay(&turn.turn, who.max_privacy).await?;
        Ok(Some(by))
    }

    fn idle_finished(&self, turn: &OpenTurn) {
        self.privacy_guard.end_replay(&turn.turn);
    }

    fn queue_failed(&self, _: &ConversationId, error: &UserError) {
        self.domain_events.emit(DomainEvent::Problem(error.clone()));
    }

    fn queue_recovered(&self, conversation: &ConversationId) {
        let part = ChatPart::Unknown;
        self.domain_events.emit(DomainEvent::ChatReplaced(conversation.clone(), part));
    }

    fn publish(&self, turn: &OpenTurn, event: TurnEvent) {
        if matches!(event, TurnEvent::Ended(_)) {
            self.privacy_guard.end(&turn.turn);
        }
        self.domain_events.emit(DomainEvent::Turn(turn.clone(), event));
    }
}

/// The model that answers a turn, and its limits.
struct TurnModel {
    settings: Settings,
    selected: Arc<SelectedModel>,
    provider: Arc<dyn Provider>,
    /// The facts that are known about the model.
    model: Option<ModelInfo>,
    /// Its capabilities, as its server says them.
    capabilities: Capabilities,
    capacity: ContextCapacity,
    /// How private what it may see is at most.
    max_privacy: Privacy,
    /// The question that the message may answer.
    question: Option<Question>,
    /// Names the rules file once the instructions of the turn are written.
    hints: Arc<TurnHints>,
}

impl TurnModel {
    fn price(&self) -> Option<Price> {
        self.model.as_ref().and_then(|model| model.price)
    }

    /// The same provider summarizes, within the month's limit, with the model that the user chose for it.
    async fn compaction_model(&self, store: &Store) -> Result<Option<Summarizer>, UserError> {
        let Self { settings, selected, provider, .. } = self;
        if self.model.is_none() {
            return Ok(None);
        }
        let by = compaction_model_for(settings, selected, Arc::clone(provider)).await;
        let has_budget = spending::has_month_budget(store, &settings.spending, by.price).await?;
        Ok(has_budget.then_some(by))
    }
}

impl AppTurnPolicy {
    async fn turn_model(&self, turn: &OpenTurn) -> Result<TurnModel, UserError> {
        // A rule that was written a moment ago counts for this turn.
        self.config.reload_if_changed().await;
        let rules_generation = self.privacy_guard.set_rules(self.config.private_rules());
        let settings = self.config.get();
        let chosen = self.model_selector.selected().await;
        let captures = turn.origin.is_hub() && self.must_capture(turn, &chosen).await?;
        let has_model = chosen.status.has_model && !captures;
        let hints = TurnHints::new(&turn.turn);
        let asked =
            reply_matching::question_for_turn(&self.store, turn).await?.map(|row| row.question);
        let provider = if captures {
            let without_settings = self.config.ensure_valid().is_err();
            let inbox = writable_notes::inbox_path(&settings.hub)?;
            let undone = self.ineffective_calls(turn).await?;
            Arc::new(FallbackCapture {
                inbox,
                ineffective_calls: undone,
                question: asked.clone(),
                without_settings,
            }) as _
        } else if has_model {
            self.config.ensure_valid()?;
            self.gated(&chosen, rules_generation, (&hints, Privacy::Open))?
        } else {
            chosen.provider.clone()?
        };
        let capabilities = match has_model {
            true => provider.capabilities(&chosen.model).await,
            false => Capabilities::default(),
        };
        let shown = if captures { Privacy::Never } else { max_privacy(&chosen, capabilities) };
        let provider = match shown {
            Privacy::Local => self.gated(&chosen, rules_generation, (&hints, Privacy::Local))?,
            Privacy::Open | Privacy::Never => provider,
        };
        let model = has_model.then(|| model_info(&settings, &chosen, &chosen.model, capabilities));
        let capacity = match &model {
            Some(model) => ContextCapacity::Window(context_window(model, &chosen)),
            None if captures => ContextCapacity::OwnTurn,
            None => ContextCapacity::Unlimited,
        };
        Ok(TurnModel {
            settings,
            selected: chosen,
            provider,
            model,
            capabilities,
            capacity,
            max_privacy: shown,
            question: asked,
            hints,
        })
    }

    /// The setup of a turn that runs, with its model and the source of its instructions stored.
    async fn running_setup(
        &self,
        turn: &OpenTurn,
        who: &TurnModel,
    ) -> Result<TurnSetup, UserError> {
        let rules = RulesFile::read(&self.privacy_guard).await?;
        let setup = self.setup_for(turn, who, rules.as_ref()).await?;
        // Without a model nobody reads the instructions.
        if let Some(rules) = rules.filter(|_| who.model.is_some()) {
            who.hints.set_rules_file(&rules.path);
            self.store.add_sources(&turn.turn, &rules.sources).await?;
        }
        self.note_model(turn, &setup, who).await?;
        Ok(setup)
    }

    /// The provider of `chosen`. Each of its requests is sent only while models may be asked, by the private
    /// rules of this generation, with hints that the turn may hear, and to a model on this computer where it may see
    /// `most`.
    fn gated(
        &self,
        chosen: &SelectedModel,
        rules_generation: u64,
        (hints, most): (&Arc<TurnHints>, Privacy),
    ) -> Result<Arc<dyn Provider>, UserError> {
        chosen.gated(|provider| {
            let (config, privacy_guard) = (self.config.clone(), Arc::clone(&self.privacy_guard));
            let provider: Arc<dyn Provider> =
                Arc::new(PrivateRulesGate { provider, config, privacy_guard, rules_generation });
            let (privacy_guard, hints) = (Arc::clone(&self.privacy_guard), Arc::clone(hints));
            let provider: Arc<dyn Provider> =
                Arc::new(RequestPrivacyGate { provider, privacy_guard, hints });
            let config = self.config.clone();
            let provider: Arc<dyn Provider> = Arc::new(SpendingGate { provider, config });
            match most {
                Privacy::Local => {
                    let privacy_guard = Arc::clone(&self.privacy_guard);
                    Arc::new(LocalModelGate { provider, privacy_guard }) as _
                }
                Privacy::Open | Privacy::Never => provider,
            }
        })
    }

    async fn note_model(
        &self,
        turn: &OpenTurn,
        setup: &TurnSetup,
        who: &TurnModel,
    ) -> Result<(), UserError> {
        self.store.set_model(&turn.turn, &setup.model, who.price(), who.max_privacy).await?;
        Ok(())
    }

    /// The notes that it reads are those that the turn may see.
    async fn setup_for(
        &self,
        turn: &OpenTurn,
        who: &TurnModel,
        rules: Option<&RulesFile>,
    ) -> Result<TurnSetup, UserError> {
        let TurnModel { settings, selected: chosen, model, capacity, .. } = who;
        let kind = RunKind::from_origin(turn.origin);
        let pending = if who.question.is_some() {
            PendingQuestion::Question
        } else {
            PendingQuestion::Nothing
        };
        let window = match capacity {
            ContextCapacity::Window(window) => *window,
            ContextCapacity::Unlimited | ContextCapacity::OwnTurn => u32::MAX,
        };
        let tool_set = ToolSet::for_model(window, who.capabilities.parameters);
        let tools =
            ToolFilter { kind, mode: settings.mode, set: tool_set, pending }.offered(&self.tools);
        let mut instructions = SystemPromptInput {
            origin: turn.origin,
            inbox: &writable_notes::inbox_path(&settings.hub)?,
            mode: settings.mode,
            rules_file: rules,
            organisation: &settings.organisation,
            detail: tool_set.detail(),
            room: 0,
        };
        instructions.room = self.user_text_budget(window, &instructions, &tools);
        let (limits, price) = (&settings.spending, who.price());
        let spending_limit = spending::turn_budget(&self.store, limits, price, &turn.turn).await?;
        let base_url = chosen.model_provider.base_url(settings);
        Ok(TurnSetup {
            provider: self.with_fallback_capture(turn, who).await?,
            model: chosen.model.clone(),
            max_tokens: max_output_tokens(settings, &chosen.model, model.as_ref(), window),
            capacity: *capacity,
            price,
            spending_limit,
            system: prompt::system_prompt(&instructions),
            detail: tool_set.detail(),
            tools,
            limits: kind.limits(),
            kept_turns: self.store.asking_turns(&turn.turn).await?,
            summarizer: who.compaction_model(&self.store).await?,
            runs_here: model.is_some() && llm::transport::http::is_on_this_computer(&base_url),
            base_url,
        })
    }
}

impl AppTurnPolicy {
    /// How many bytes of the folder's hints and of the user's text go into the instructions: what our own
    /// text, which `instructions` has without room, and the tools leave of their part of the window.
    fn user_text_budget(
        &self,
        window: u32,
        instructions: &SystemPromptInput<'_>,
        tools: &[String],
    ) -> usize {
        let specs = match instructions.detail {
            ToolDetail::Whole => self.registry.specs(tools),
            ToolDetail::Brief => self.registry.brief_specs(tools),
        };
        let fixed = prompt::system_prompt(instructions).len() + declaration_bytes(&specs);
        let fixed_tokens = (fixed * 10).div_ceil(FIXED_BYTES_PER_TOKEN_TENTHS);
        let most = usize::try_from(window / INSTRUCTIONS_WINDOW_DIVISOR).unwrap_or(usize::MAX);
        most.saturating_sub(fixed_tokens).saturating_mul(USER_BYTES_PER_TOKEN)
    }
}

/// The maximum of output tokens: the user's setting, else ours, within what the model writes and
/// its window holds.
fn max_output_tokens(
    settings: &Settings,
    model: &str,
    known: Option<&ModelInfo>,
    window: u32,
) -> u32 {
    let given = settings.parameters.iter().find(|given| given.model == model);
    let wanted = given.and_then(|given| given.max_tokens).filter(|tokens| *tokens > 0);
    let most = known.and_then(|known| known.max_output).unwrap_or(u32::MAX);
    let within = match wanted {
        Some(wanted) => wanted.min(window / LONG_ANSWER_WINDOW_DIVISOR),
        None => DEFAULT_MAX_OUTPUT_TOKENS.min(window / ANSWER_WINDOW_DIVISOR),
    };
    within.min(most).max(1)
}

impl AppTurnPolicy {
    /// The provider. If the turn of a hub message does nothing about it, the provider keeps the
    /// message in the inbox note. In read-only mode nothing can be kept.
    async fn with_fallback_capture(
        &self,
        turn: &OpenTurn,
        who: &TurnModel,
    ) -> Result<Arc<dyn Provider>, UserError> {
        let provider = &who.provider;
        let is_kept =
            turn.origin.is_hub() && who.model.is_some() && who.settings.mode != Mode::ReadOnly;
        let row = match is_kept {
            true => self.store.inbox_of_turn(&turn.turn).await?,
            false => None,
        };
        Ok(match row {
            Some(row) => {
                let (provider, message) = (Arc::clone(provider), row.text);
                let inbox = writable_notes::inbox_path(&who.settings.hub)?;
                let undone = self.ineffective_calls(turn).await?;
                let (ineffective_calls, registry) = (undone, Arc::clone(&self.registry));
                Arc::new(CaptureIfIgnored { provider, inbox, ineffective_calls, message, registry })
                    as _
            }
            None => Arc::clone(provider),
        })
    }

    /// Calls of a turn that was taken up again which failed before and changed nothing.
    async fn ineffective_calls(&self, turn: &OpenTurn) -> Result<Vec<CallId>, UserError> {
        match turn.resumed {
            0 => Ok(Vec::new()),
            _ => Ok(self.store.ineffective_calls(&turn.turn).await?),
        }
    }

    /// Whether a hub message is kept as it is: there is no model, one has failed too often, or the
    /// message is longer than anybody dictates.
    async fn must_capture(
        &self,
        turn: &OpenTurn,
        model: &SelectedModel,
    ) -> Result<bool, UserError> {
        let row = self.store.inbox_of_turn(&turn.turn).await?;
        let failed_before = row.as_ref().is_some_and(|row| row.attempts >= MAX_TURN_ATTEMPTS);
        let is_too_long = row.is_some_and(|row| row.text.len() > MAX_HUB_MESSAGE_BYTES);
        let may_ask = self.config.ensure_models_allowed().is_ok();
        let nobody = !may_ask || !model.status.has_model || model.provider.is_err();
        Ok(nobody || failed_before || is_too_long)
    }
}
