//! Which model answers a turn: selection, connection test, tool support, budget, and permissions.

pub(crate) mod connection_test;
pub(crate) mod context_use;
pub(crate) mod costs;
pub(crate) mod local_model_gate;
pub(crate) mod model_info;
pub(crate) mod model_privacy;
pub(crate) mod permissions;
pub(crate) mod private_rules_gate;
pub(crate) mod request_privacy_gate;
pub(crate) mod selection;
pub(crate) mod spending;
pub(crate) mod tool_support;
