//! The tables of changes to notes: planned sets, the ledger of effects, reverts, and how long old contents are kept.

pub(crate) mod change_columns;
pub(crate) mod change_set;
pub(crate) mod content;
pub(crate) mod earlier_plan;
pub(crate) mod effect;
pub(crate) mod effect_history;
pub(crate) mod merged_plan;
pub(crate) mod planned_change;
pub(crate) mod planned_name;
pub(crate) mod purged;
pub(crate) mod retention;
pub(crate) mod retention_stats;
pub(crate) mod reverts;
pub(crate) mod succession;
