//! Asks models and runs the turn. Knows nothing of notes, files, SQL or windows.
//!
//! [`turn`] is the rule book: a pure machine. [`service`] drives it, one session task a
//! conversation. A [`provider::Provider`] translates one vendor's wire; a [`tool::Tool`] is
//! something the model may do. What must be durable goes through [`transcript::Transcript`], what
//! changes notes through [`changes::Changes`], what the application decides through
//! [`host::Host`].

pub mod anthropic;
mod budget;
pub mod changes;
mod compaction;
mod decoding;
pub mod describing;
mod exchange;
mod filling;
pub mod gist;
pub mod history;
pub mod host;
pub mod http;
pub mod json_calls;
pub mod key_pool;
mod lines;
pub mod model;
pub mod models;
pub mod ollama;
pub mod openai;
mod pace;
pub mod parameters;
#[cfg(any(test, feature = "fuzzing"))]
pub mod properties;
pub mod provider;
mod purse;
pub mod registry;
mod rest;
pub mod retry;
mod run;
pub mod service;
mod session;
pub mod shorten;
mod shown;
mod shows;
mod sse;
mod surrogates;
mod tls;
mod tokens;
pub mod tool;
pub mod transcript;
pub mod turn;
mod wording;

pub use anthropic::{Anthropic, AnthropicConfig};
pub use changes::{Changes, Surroundings, Verdict};
pub use host::{Capacity, Detail, Host, Limits, SummingUp, TurnEvent, TurnSetup};
pub use http::Deadlines;
pub use json_calls::{JsonCalls, NoTools};
pub use key_pool::KeyPool;
pub use model::{
    Block, ModelError, ModelEvent, ModelMessage, ModelRequest, StopReason, ToolCall, ToolSpec,
};
pub use ollama::{Ollama, OllamaConfig};
pub use openai::{OpenAi, OpenAiConfig};
pub use pace::Pace;
pub use parameters::Parameters;
pub use provider::{Capabilities, ModelStream, Provider};
pub use purse::Purse;
pub use registry::{DuplicateTool, ToolRegistry};
pub use service::{LlmService, ServiceParts, SummedUp};
pub use tool::{
    Called, ChangingTool, Control, Effect, Labels, Plan, Tool, ToolContext, ToolFailure,
    ToolOutcome,
};
pub use transcript::{History, Originals, Transcript};
