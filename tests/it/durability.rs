//! Crashes and races: kill sweeps, injected faults, copied vaults, fsync counts, crossing requests.

pub(crate) mod change_sweep;
pub(crate) mod copied_vault;
pub(crate) mod fault_injection;
pub(crate) mod former_calls;
pub(crate) mod former_data;
pub(crate) mod fsync_count;
pub(crate) mod question_sweep;
pub(crate) mod races;
pub(crate) mod random_histories;
pub(crate) mod syncthing;
pub(crate) mod title_sweep;
pub(crate) mod turn_power_cuts;
pub(crate) mod turn_sweep;
pub(crate) mod working_tree;
