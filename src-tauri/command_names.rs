/// Every command that the window may call. The build makes a permission of each; the capability
/// file grants them to the window `main`; a test compares this list with the handler and the UI.
pub(crate) const COMMANDS: [&str; 16] = [
    "subscribe",
    "open_conversation",
    "send_message",
    "stop",
    "continue_turn",
    "decide_review",
    "show_note",
    "close_note",
    "select_in_note",
    "save_settings",
    "set_key",
    "test_provider",
    "retry_hub",
    "pick_folder",
    "open_vault",
    "open_sample",
];
