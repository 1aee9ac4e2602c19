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
        conversations::search_said,
        conversations::rename_conversation,
        conversations::put_conversation,
        conversations::end_conversation,
        conversations::delete_conversation,
        conversations::restore_conversation,
        conversations::kept_conversations,
        conversations::delete_conversations,
        conversations::restore_conversations,
        conversations::export_conversations,
        chat::send_message,
        chat::stop,
        chat::continue_turn,
        chat::edit_queued,
        chat::remove_queued,
        chat::ask_anew,
        chat::show_variant,
        chat::leave_turn,
        chat::spent_in,
        chat::sum_up,
        settings::spent_by_month,
        chat::decide_review,
        changes::list_applied,
        changes::applied_hunks,
        changes::changed_since,
        changes::note_marks,
        changes::undo,
        changes::redo,
        changes::reapply,
        changes::settle_conflict,
        changes::undo_in,
        changes::stop_work,
        changes::history,
        changes::forget_history,
        notes::show_note,
        notes::close_note,
        notes::select_in_note,
        notes::save_answer,
        notes::open_in_editor,
        notes::open_in_obsidian,
        notes::open_picture,
        search::find_names,
        search::search_text,
        search::note_links,
        search::private_note,
        search::unresolved_links,
        search::link_repairs,
        search::create_linked_note,
        search::replace_broken_link,
        search::dead_links,
        search::list_tags,
        search::list_properties,
        search::property_values,
        search::notes_having,
        search::list_tasks,
        search::read_note,
        settings::save_settings,
        settings::settle_settings,
        settings::try_key,
        settings::set_key,
        settings::test_provider,
        settings::unlock_keyring,
        settings::stop_unlocking,
        hub::retry_hub,
        hub::hub_token_source,
        hub::set_hub_token,
        hub::decide_held,
        hub::write_description,
        hub::stop_description,
        vault::choose_vault,
        vault::add_extra_root,
        vault::open_sample,
        desktop::look_at,
        desktop::desktop_state,
        desktop::set_at_login,
        desktop::answer_closing,
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
