//! Tests of the whole without a window, in one binary.
#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::disallowed_methods,
    reason = "a test fails by panicking, and these tests read the sources, not notes"
)]

mod anew;
mod architecture;
mod ask;
mod bad_input;
mod bare_hub;
mod beside;
mod briefing;
mod broken_link;
mod canary;
mod cloud_model;
mod compaction;
mod conformance;
mod context_use;
mod copied_vault;
mod corpus;
mod describing;
mod extra_roots;
mod faults;
mod flood;
mod fresh;
mod gist;
mod gist_sweep;
mod gone_notes;
mod heavy_notes;
mod history;
mod hub_frames;
mod hub_name;
mod hub_profile;
mod hub_question;
mod hub_tls;
mod hunks;
mod imperfect;
mod inbox;
mod injection;
mod invisible;
mod key_trial;
mod keyring;
mod kill_sweep;
mod limit;
mod links;
mod local_server;
mod long_results;
mod looking;
mod marks;
mod modes;
mod moving_on;
mod names;
mod network;
mod played;
mod prefix;
mod private;
mod question;
mod question_sweep;
mod queue;
mod reactions;
mod real_model;
mod resume;
mod review;
mod save_answer;
mod seams;
mod secrets;
mod settings;
mod shelf;
mod small_model;
mod soak;
mod spending;
mod stage;
mod stop;
mod syncs;
mod taint;
mod turn_sweep;
mod undo;
mod undo_identity;
mod undo_moves;
mod waking;
mod watch;
mod weather;
