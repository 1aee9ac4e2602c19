//! Asks models and runs the turn. Knows nothing of notes, files, SQL or windows.
//!
//! [`turn`] is the rule book: a pure machine. [`service`] drives it, one session task a
//! conversation. A [`provider::Provider`] translates one vendor's wire; a [`tool::Tool`] is
//! something the model may do. What must be durable goes through [`transcript::Transcript`], what
//! changes notes through [`change_applier::ChangeApplier`], what the application decides through
//! [`turn_policy::TurnPolicy`].

pub mod anthropic;
mod budget;
pub mod change_applier;
mod compaction;
mod decoder;
mod exchange;
mod filling;
#[cfg(any(test, feature = "fuzzing"))]
pub mod fuzz_invariants;
pub mod history;
pub mod http;
pub mod hub_description;
mod idle;
pub mod key_pool;
pub mod model;
pub mod model_catalog;
mod model_texts;
mod ndjson;
pub mod ollama;
pub mod openai;
mod provenance;
pub mod provider;
pub mod registry;
pub mod request_parameters;
pub mod retry;
pub mod service;
mod session;
mod spending_limit;
mod sse;
mod surrogates;
pub mod text_tools;
mod time_scale;
pub mod titles;
mod tls;
mod tokens;
pub mod tool;
pub mod transcript;
pub mod truncate;
pub mod turn;
mod turn_driver;
pub mod turn_policy;
mod visible_text;

pub use anthropic::{Anthropic, AnthropicConfig};
pub use change_applier::{ChangeApplier, ChangeOutcome, NoteOverlay};
pub use http::Deadlines;
pub use key_pool::KeyPool;
pub use model::{
    ContentBlock, ModelError, ModelEvent, ModelMessage, ModelRequest, StopReason, ToolCall,
    ToolSpec,
};
pub use ollama::{Ollama, OllamaConfig};
pub use openai::{OpenAi, OpenAiConfig};
pub use provider::{Capabilities, ModelStream, Provider};
pub use registry::{DuplicateTool, ToolRegistry};
pub use request_parameters::RequestParameters;
pub use service::{LlmService, ServiceParts, SummarizeOutcome};
pub use spending_limit::SpendingLimit;
pub use text_tools::{TextToolProvider, ToollessModels};
pub use time_scale::TimeScale;
pub use tool::{
    CallOutcome, ChangePlan, ChangingTool, Control, SourceLabels, Tool, ToolContext, ToolEffect,
    ToolFailure, ToolOutcome,
};
pub use transcript::{FullHistory, History, Transcript};
pub use turn_policy::{
    ContextCapacity, Summarizer, ToolDetail, TurnEvent, TurnLimits, TurnPolicy, TurnSetup,
};
