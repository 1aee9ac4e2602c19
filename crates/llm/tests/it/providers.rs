//! The providers of models against servers that answer as theirs do.

pub(crate) mod anthropic;
pub(crate) mod broken_answers;
pub(crate) mod key_pool;
pub(crate) mod model_location;
pub(crate) mod ollama;
pub(crate) mod openai;
pub(crate) mod slow_prompt;
pub(crate) mod wait_notices;
