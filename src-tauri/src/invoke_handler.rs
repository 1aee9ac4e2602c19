//! The one list of commands that feeds the window's invoke handler.

use tauri::Runtime;
use tauri::ipc::Invoke;

use crate::commands::{changes, chat, conversations, desktop, hub, notes, search, settings, vault};

/// The invoke handler.
#[expect(clippy::too_many_lines, reason = "a list, a line for each command")]
pub(crate) fn handler<R: Runtime>() -> impl Fn(Invoke<R>) -> bool + Send + Sync + 'static {
    tauri::generate_handler![
        chat::subscribe,
        chat::open_conversation,
        conversations::open_conversation_at,
        conversations::list_conversations,
        conversations::search_conversations,
        conversations::rename_conversation,
        conversations::set_archive_state,
        conversations::end_conversation,
        conversations::delete_conversation,
        conversations::restore_conversation,
        conversations::conversation_counts,
        conversations::delete_conversations,
        conversations::restore_conversations,
        conversations::export_conversations,
        chat::send_message,
        chat::stop,
        chat::continue_turn,
        chat::edit_queued,
        chat::remove_queued,
        chat::regenerate,
        chat::show_variant,
        chat::dismiss_interrupted_turn,
        chat::conversation_costs,
        chat::compact_conversation,
        settings::monthly_costs,
        chat::decide_review,
        changes::list_applied,
        changes::applied_hunks,
        changes::diff_since,
        changes::assistant_lines,
        changes::undo,
        changes::redo,
        changes::reapply,
        changes::resolve_conflict,
        changes::undo_in_note,
        changes::stop_job,
        changes::history,
        changes::delete_history,
        notes::show_note,
        notes::close_note,
        notes::select_in_note,
        notes::save_answer,
        notes::open_in_editor,
        notes::open_in_obsidian,
        notes::open_image,
        search::find_names,
        search::notes_named,
        search::search_text,
        search::note_links,
        search::private_note,
        search::private_mentions,
        search::unresolved_links,
        search::link_repairs,
        search::create_linked_note,
        search::replace_broken_link,
        search::broken_links,
        search::list_tags,
        search::list_properties,
        search::property_values,
        search::notes_matching,
        search::list_tasks,
        search::read_note,
        settings::save_settings,
        settings::recover_settings,
        settings::try_key,
        settings::set_key,
        settings::test_provider,
        settings::unlock_keyring,
        settings::stop_unlocking,
        hub::retry_hub,
        hub::hub_token_source,
        hub::set_hub_token,
        hub::decide_approval,
        hub::write_description,
        hub::stop_description,
        vault::choose_vault,
        vault::add_extra_root,
        vault::open_sample,
        desktop::set_window_focus,
        desktop::desktop_state,
        desktop::set_autostart,
        desktop::answer_close_request,
    ]
}

#[cfg(test)]
mod tests {
    include!("../command_names.rs");

    #[test]
    fn the_build_the_handler_the_capability_and_the_ui_name_the_same_commands() {
        let handler = include_str!("invoke_handler.rs");
        let capability = include_str!("../capabilities/main.json");
        let ui = include_str!("../../ui/src/ipc/tauri.ts");
        for name in COMMANDS {
            assert!(handler.contains(&format!("::{name},")), "handler: {name}");
            let permission = format!("\"allow-{}\"", name.replace('_', "-"));
            assert!(capability.contains(&permission), "capability: {name}");
            assert!(ui.contains(&format!("'{name}'")), "ui: {name}");
        }
        assert_eq!(capability.matches("\"allow-").count(), COMMANDS.len());
        let listed =
            handler.lines().filter(|line| line.trim_end().ends_with(',') && line.contains("::"));
        assert_eq!(listed.count(), COMMANDS.len());
    }
}
