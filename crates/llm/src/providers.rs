//! Providers of models: one module for each wire format, several keys as one provider, the catalog of known models and request parameters.

pub mod anthropic;
pub(crate) mod chat_template;
mod function_tool;
pub mod key_pool;
pub mod model_catalog;
pub mod ollama;
pub mod openai;
pub mod request_parameters;
