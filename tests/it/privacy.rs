//! Private notes and provenance: what a model or the hub may be told, and where text comes from.

pub(crate) mod branches;
pub(crate) mod chosen_options;
pub(crate) mod copied_text;
pub(crate) mod disclosed_names;
pub(crate) mod hub_answers;
pub(crate) mod model_switch;
pub(crate) mod noticed_rules;
pub(crate) mod passed_text;
pub(crate) mod pending_text;
pub(crate) mod private_notes;
pub(crate) mod provenance;
pub(crate) mod removed_notes;
pub(crate) mod replaced_notes;
pub(crate) mod rules_file;
