//! Tests of the whole without a window, in one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and these tests read the sources, not notes"
)]

mod architecture;
mod attribution;
mod broken_link;
mod change_policy;
mod change_sweep;
mod cli_ask;
mod client_name;
mod compaction;
mod concurrent_editor;
mod conformance;
mod context_use;
mod conversations;
mod copied_vault;
mod delete_history;
mod description;
mod disclosed_names;
mod extra_roots;
mod fault_injection;
mod file_watching;
mod forwarded_model;
mod frames;
mod fsync_count;
mod hostile_paths;
mod inbox;
mod interrupted_turns;
mod invisible_characters;
mod key_leaks;
mod key_trial;
mod keyring;
mod local_server;
mod message_queue;
mod model_mistakes;
mod network_failures;
mod note_scaling;
mod overload;
mod partial_review;
mod permissions;
mod private_notes;
mod prompt_caching;
mod prompt_injection;
mod provenance;
mod provider_streams;
mod provider_switch;
mod queries;
mod question;
mod question_sweep;
mod races;
mod raw_hub;
mod reactions;
mod real_model;
mod regenerate;
mod removed_notes;
mod reply_matching;
mod resume_events;
mod review;
mod save_answer;
mod search_freshness;
mod secrets;
mod settings;
mod shortened_results;
mod small_model;
mod soak;
mod spending;
mod step_limit;
mod stop;
mod story_runner;
mod symlinks;
mod test_app;
mod title_sweep;
mod titles;
mod tls;
mod turn_context;
mod turn_sweep;
mod undo;
mod undo_identity;
mod undo_moves;
mod user_errors;
