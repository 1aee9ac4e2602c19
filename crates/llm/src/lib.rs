//! Calls models and runs turns. Knows no notes, files, SQL or windows.
//!
//! [`turn`] is a pure state machine with the rules of a turn. [`service`] drives it, with one session task per
//! conversation. A [`provider::Provider`] translates one provider's wire format; a [`tool_api::tool::Tool`] is one thing that
//! the model may do. The application implements three ports: [`ports::transcript::Transcript`] stores what must be
//! durable, [`ports::change_applier::ChangeApplier`] changes notes, and [`ports::turn_policy::TurnPolicy`] decides which
//! model answers, with which tools and limits.
//!
//! ```
//! use llm::TurnLimits;
//! use llm::turn::{AskMode, ResumeState, Turn, TurnEffect, TurnInput, TurnRules};
//!
//! let mut turn = Turn::new(TurnRules {
//!     limits: TurnLimits::default(),
//!     spending_limit: None,
//!     maker: Default::default(),
//!     kinds: Default::default(),
//!     question: "q1".into(),
//!     spread: 0,
//!     resume: ResumeState::default(),
//! });
//! // The machine does nothing itself: it returns the effects that its driver carries out.
//! assert_eq!(turn.step(TurnInput::Begun), [TurnEffect::Ask(AskMode::Plain)]);
//! ```

mod compaction;
pub mod context;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz_invariants;
pub mod hub_description;
pub mod model;
pub mod ports;
pub mod provider;
pub mod providers;
pub mod service;
pub mod text_tools;
pub mod titles;
pub mod tool_api;
pub mod transport;
pub mod turn;

pub use model::user_texts::TEXTS as USER_TEXTS;
pub use model::{
    ContentBlock, ModelError, ModelEvent, ModelMessage, ModelRequest, StopReason, ToolCall,
    ToolSpec,
};
pub use ports::change_applier::{ChangeApplier, ChangeOutcome, NoteOverlay};
pub use ports::transcript::{FullHistory, History, Transcript};
pub use ports::turn_policy::{
    ContextCapacity, RefusedWindow, Summarizer, ToolDetail, TurnEvent, TurnLimits, TurnPolicy,
    TurnSetup,
};
pub use provider::{Capabilities, ModelStream, Provider};
pub use providers::anthropic::{Anthropic, AnthropicConfig};
pub use providers::key_pool::KeyPool;
pub use providers::ollama::{Ollama, OllamaConfig};
pub use providers::openai::{OpenAi, OpenAiConfig};
pub use providers::request_parameters::RequestParameters;
pub use service::{LlmService, ServiceParts, SummarizeOutcome};
pub use text_tools::{TextToolProvider, ToollessModels};
pub use tool_api::registry::{DuplicateTool, ToolRegistry};
pub use tool_api::tool::{
    CallOutcome, ChangePlan, ChangingTool, SourceLabels, Tool, ToolContext, ToolEffect,
    ToolFailure, ToolOutcome,
};
pub use transport::http::Deadlines;
pub use transport::time_scale::TimeScale;
pub use turn::spending_limit::SpendingLimit;
