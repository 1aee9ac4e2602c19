//! A folder of notes that cannot be escaped, lost or torn. Knows no models, windows or SQL.

pub mod ledger;
