//! Folders of notes for tests: temporary, generated, and edited by another program.

pub mod external_editor;
pub mod generated_vault;
pub mod temp_vault;
