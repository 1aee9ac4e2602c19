//! End-to-end tests of whole vaults: the first run, the offer of a local server, another vault, a
//! large one, a week, search and images.

pub(crate) mod first_run;
pub(crate) mod images;
pub(crate) mod large_vault;
pub(crate) mod local_server_offer;
pub(crate) mod search;
pub(crate) mod vault_switching;
pub(crate) mod week;
