//! Models and their providers: wire formats, networks, local servers, mistakes of models, spending.

pub(crate) mod conformance;
pub(crate) mod forwarded_model;
pub(crate) mod key_trial;
pub(crate) mod keyring;
pub(crate) mod local_server;
pub(crate) mod model_mistakes;
pub(crate) mod model_tasks;
pub(crate) mod network_failures;
pub(crate) mod prompt_caching;
pub(crate) mod provider_streams;
pub(crate) mod provider_switch;
pub(crate) mod real_model;
pub(crate) mod small_model;
pub(crate) mod spending;
