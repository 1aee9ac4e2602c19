//! Asks models and runs the turn. Knows nothing of notes, files, SQL or windows.
//!
//! [`turn`] is the rule book: a pure machine. [`service`] drives it, one session task a
//! conversation. A [`provider::Provider`] translates one vendor's wire; a [`tool_api::tool::Tool`] is
//! something the model may do. What must be durable goes through [`ports::transcript::Transcript`], what
//! changes notes through [`ports::change_applier::ChangeApplier`], what the application decides through
//! [`ports::turn_policy::TurnPolicy`].

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

pub use model::{
    ContentBlock, ModelError, ModelEvent, ModelMessage, ModelRequest, StopReason, ToolCall,
    ToolSpec,
};
pub use ports::change_applier::{ChangeApplier, ChangeOutcome, NoteOverlay};
pub use ports::transcript::{FullHistory, History, Transcript};
pub use ports::turn_policy::{
    ContextCapacity, Summarizer, ToolDetail, TurnEvent, TurnLimits, TurnPolicy, TurnSetup,
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
    CallOutcome, ChangePlan, ChangingTool, Control, SourceLabels, Tool, ToolContext, ToolEffect,
    ToolFailure, ToolOutcome,
};
pub use transport::http::Deadlines;
pub use transport::time_scale::TimeScale;
pub use turn::spending_limit::SpendingLimit;
