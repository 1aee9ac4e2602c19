//! Notes as the vault names them: paths, file identity, privacy rules, provenance, and search results.

pub mod conflict_copy;
pub mod file_access;
pub mod file_id;
pub mod invisible;
pub mod path;
pub mod privacy;
pub mod provenance;
pub mod query;
