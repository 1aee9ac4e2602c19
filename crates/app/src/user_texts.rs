//! The texts of the application for the user, in English. The window words them by their names.

protocol::user_texts! {
    /// All texts of the application.
    pub(crate) const TEXTS;
    already_undone() = "This is already undone, or nothing was changed.";
    another_vault_opened() =
        "Another vault was opened meanwhile, so nothing was done. Look at what is shown now, then \
         try again.";
    answer_already_sent() = "This answer was already sent or discarded.";
    answer_for_another_hub(hub) =
        "This answer is for the hub at {hub}, not for the current one. Enter the URL of that hub \
         in Settings > Hub, then send the answer.";
    answer_gone() = "This answer no longer exists.";
    answer_limit_reached(limit) =
        "This answer reached your limit of {limit}. Continue, or raise the limit in Settings > \
         Spending.";
    answer_not_over_rules(path) =
        "`{path}` contains instructions for the assistant. Save the answer under another name.";
    answer_not_recovered(why) = "An interrupted answer couldn’t be recovered: {why}";
    answers_not_delivered(count) =
        "The hub was offline for a day, so {count} answers were never delivered. Read them in the \
         hub’s conversation, unless you have deleted that.";
    answers_not_shown(count) =
        "More came over the hub than it remembers, so it may not show {count} answers. Read them \
         in the hub’s conversation.";
    bad_pattern(pattern, why) =
        "“{pattern}” isn’t a valid regular expression: {why}. Fix it, or search for exact text.";
    broken_file_not_kept(path, why, what_to_do) =
        "Couldn’t keep the broken file as {path}: {why}. {what_to_do}";
    change_not_in_history() = "This change is no longer in the history.";
    change_too_old_to_compare() =
        "This change is too old to compare: its text is no longer stored.";
    changes_already_reviewed() = "These changes have already been reviewed.";
    check_the_disk() = "Check the disk, then try again.";
    choose_another_folder() = "Choose another folder.";
    chosen_note_gone() =
        "The note that you chose is no longer at that path, so nothing was changed. Try again.";
    connection_lost() = "The connection was lost during the answer. Try again.";
    conversation_busy() =
        "This conversation is busy. Wait for the answer or stop it, then send or remove queued \
         messages.";
    conversation_gone() = "This conversation no longer exists.";
    conversation_needs_name() = "A conversation needs a name. Type one.";
    data_folder_not_made(path, why, what_to_do) =
        "Couldn’t create the folder {path}: {why}. {what_to_do}";
    data_folder_not_released(path, why, what_to_do) =
        "Couldn’t release the data folder {path}: {why}. {what_to_do}";
    data_folder_not_writable() =
        "Vaultmate needs a data folder it can write to. Change the folder’s permissions, or set \
         VAULTMATE_DATA_DIR.";
    data_not_found(path, why, what_to_do) = "Couldn’t find {path}: {why}. {what_to_do}";
    data_not_locked(path, why, what_to_do) = "Couldn’t lock {path}: {why}. {what_to_do}";
    data_not_opened(path, why, what_to_do) = "Couldn’t open {path}: {why}. {what_to_do}";
    data_not_removed(path, why, what_to_do) = "Couldn’t remove {path}: {why}. {what_to_do}";
    data_not_written(path, why, what_to_do) = "Couldn’t write {path}: {why}. {what_to_do}";
    export_stopped() = "The export was stopped. No file was written.";
    file_exists(file) = "{file} already exists. Choose another name.";
    file_not_written(file, why, what_to_do) = "Couldn’t write {file}: {why}. {what_to_do}";
    folder_already_open(folder) =
        "{folder} is already open in another Vaultmate. Switch to it, or close it first.";
    folder_being_opened() =
        "Another Vaultmate is opening this folder. Wait a moment, then open it again.";
    folder_gone(folder) =
        "The folder with your notes no longer exists: {folder}. Restore it, or open another one \
         in Settings.";
    folder_name_not_text() =
        "The name of this folder isn’t valid UTF-8. Rename it, or choose another folder.";
    folder_not_chosen(folder) =
        "{folder} wasn’t chosen in a dialog of the system. Add it in Settings > Vault.";
    folder_open_in_serve(process, folder) =
        "`vaultmate-cli serve` (process {process}) has {folder} open without a window. Stop it \
         with Ctrl+C where it runs, or with `kill {process}`, then open the folder again.";
    history_in_database_file(why) =
        "The history was deleted, but some data is still in the database file: {why} Then delete \
         history again.";
    history_partly_deleted() =
        "The vault was closed before this finished. Part of the history is deleted. Delete \
         history again to remove the rest.";
    hub_changed_before_token() = "The hub was changed meanwhile. Paste the token again.";
    hub_name_taken(folder, name) =
        "The hub already knows the vault {folder} as “{name}”. Choose another name in Settings.";
    interrupted() = "It was interrupted.";
    interrupted_change(note, why) = "{note} was being changed when Vaultmate ended: {why}";
    interruption_already_resolved() = "This interrupted answer has already been dealt with.";
    key_for_unsafe_url() =
        "The API key wasn’t saved, because no key is sent to this server URL. The URL must begin \
         with https://, unless the server runs on this computer. Correct it in Settings, then \
         paste the key again.";
    key_lookup_interrupted() =
        "Looking for the API key was interrupted. Save the settings again, or restart Vaultmate.";
    key_of_another_server(other, server, variable) =
        "The saved API key is for {other}, so it isn’t sent to {server}. Paste the key for \
         {server} in Settings, or set {variable}.";
    keyring_locked_for_key(variable) =
        "The keyring is locked. Unlock it to use your API key, or set {variable}.";
    keyring_locked_for_token() = "The keyring is locked. Unlock it to use the token for the hub.";
    keyring_not_answered_yet() = "The keyring hasn’t answered yet. Wait a moment.";
    keyring_silent_for_key(variable) =
        "Your API key is in the keyring of the system, which doesn’t answer. Start the keyring \
         and try again, or set {variable}.";
    keyring_silent_for_token() =
        "The token for the hub is in the keyring of the system, which doesn’t answer. Start the \
         keyring, then try again.";
    links_not_rewritable(link) = "Links to “{link}” can’t be rewritten.";
    lock_not_released(path) =
        "Another Vaultmate has held {path} for ten seconds. End the one that doesn’t answer, then \
         try again.";
    make_room() = "The disk is full. Free up some space, then try again.";
    make_room_or_choose_disk() = "Free up some space, or choose another disk.";
    message_before_regenerated() =
        "Another message came before the answer was regenerated. The changes of the old answer \
         are already undone or rejected.";
    message_empty() = "There’s nothing to send. Type a message first.";
    message_not_answered() = "This message hasn’t been answered yet. Edit it in the queue.";
    message_not_queued() =
        "This message is no longer queued. Stop its answer, or send another message.";
    message_not_saved(why) = "Couldn’t save this message: {why}";
    model_did_nothing() = "The model did nothing about the message.";
    model_no_longer_local(model) =
        "The model server no longer says that “{model}” runs on this computer, so nothing more \
         was sent. Send your message again: it is answered without the notes that only local \
         models may read. Or choose another model in Settings > Model.";
    models_paused() = "Models are paused, so nothing was sent. Resume them in Settings > Spending.";
    monthly_limit_before_send() =
        "You’ve reached your monthly limit, so nothing was sent. Raise it in Settings > Spending.";
    monthly_limit_reached(limit) =
        "This month’s answers in this vault have reached your monthly limit of {limit}. Raise it \
         in Settings > Spending, then continue.";
    monthly_limit_spent(spent, limit) =
        "This month’s answers in this vault have cost {spent}, and your monthly limit is {limit}. \
         Raise it in Settings > Spending, or wait for the next month.";
    more_need_review(count) = " ({count} more notes need review for the same or other reasons.)";
    no_changeable_note_with_link() =
        "No note that can be changed has this link. Look at the list again.";
    no_data_folder() = "Couldn’t find a folder for app data. Set HOME or VAULTMATE_DATA_DIR.";
    no_image(link) = "There is no image `{link}`. Add it to the folder, or use another one.";
    no_image_extension(path) =
        "`{path}` doesn’t have an image file extension, so it can’t be opened. Rename it.";
    no_key_for_provider(name, variable) =
        "There is no API key for {name}. Paste one in Settings, or set {variable}.";
    no_model_for_description() =
        "No model is connected, so the description can’t be drafted. Connect one in Settings.";
    no_model_for_summary() =
        "No model answers, so nothing can be summarized. Connect one in Settings.";
    no_model_selected(name) = "No {name} model is selected. Choose one in Settings > Model.";
    no_note_at(note) = "There is no note at `{note}`.";
    no_shorter_summary() =
        "The model gave no summary that is shorter than the messages, so nothing has changed. Try \
         again, or choose another summary model in Settings.";
    no_usable_description() =
        "The model didn’t return a usable description. Try again, or choose another summary model \
         in Settings.";
    no_vault_open() = "No vault is open. Choose one first.";
    not_a_note_for_the_hub(line, error) =
        "“{line}” isn’t a note the hub can add to: {error} Enter a path in your vault, such as \
         Lists/Shopping.md.";
    not_a_note_name(path) = "`{path}` isn’t a note name. Remove the file extension.";
    not_changed_needs_review(note, why, more) =
        "{note} wasn’t changed and still needs review: {why}{more}";
    not_removed_by_keyring(word) =
        "The keyring didn’t remove the {word}. Delete it in the keyring’s own app, then try \
         again.";
    not_removed_from_locked_keyring(word) =
        "The keyring is locked, so the {word} couldn’t be removed from it. Unlock the keyring, \
         then try again.";
    not_removed_from_silent_keyring(word) =
        "The system keyring doesn’t answer, so the {word} couldn’t be removed from it. Start the \
         keyring, then try again.";
    not_saved_in_keyring(word, error, variable) =
        "The {word} couldn’t be saved in the system keyring ({error}). Unlock the keyring and try \
         again, set {variable}, or keep the {word} in a file that only you can read.";
    not_saved_in_locked_keyring(word, variable) =
        "The keyring is locked, so the {word} couldn’t be saved in it. Unlock the keyring and try \
         again, set {variable}, or keep the {word} in a file that only you can read.";
    not_undone_before_regenerating(note) =
        "Couldn’t regenerate, because changes to {note} couldn’t be fully undone. Review them in \
         Changes, or regenerate and keep them.";
    note_became_private() =
        "A note became private during this answer, so nothing more was sent. Send your message \
         again.";
    note_changed_since_shown() = "The note changed again since it was shown. Try again to see it.";
    note_exists(path) = "`{path}` already exists. Choose another name.";
    note_name_impossible(link) = "No note can be called “{link}”.";
    nothing_to_draft_from() =
        "There’s nothing to draft from yet. Describe in Settings how your notes are organized.";
    nothing_to_redo() = "There’s nothing to redo.";
    nothing_to_summarize() =
        "There’s nothing to summarize yet. The last six exchanges are never summarized.";
    nothing_to_undo() = "There’s nothing to undo.";
    one_answer_not_delivered() =
        "The hub was offline for a day, so one answer was never delivered. Read it in the hub’s \
         conversation, unless you have deleted that.";
    one_answer_not_shown() =
        "More came over the hub than it remembers, so it may not show one answer. Read the answer \
         in the hub’s conversation.";
    one_more_needs_review() = " (1 more note needs review for the same or another reason.)";
    only_last_regenerated() =
        "Only the last message can be regenerated. Edit this message instead.";
    only_notes_open(path) = "`{path}` isn’t a note. Only notes can be opened.";
    private_rules_changed() =
        "The rules for private notes were changed during this answer, so nothing more was sent. \
         Send your message again.";
    provider_changed_before_key() = "The provider was changed meanwhile. Paste the API key again.";
    queued_message_empty() = "There’s nothing to send. Type a message, or remove it.";
    redo_before_reapply() = "This change was undone. Redo it instead of reapplying it.";
    review_before_answer_end() =
        "The answer isn’t finished, so more changes may follow. Wait for it or stop it, then \
         review.";
    review_lists_applied(why) = "A review may still list changes that were already applied: {why}";
    review_not_repeated() = "These changes have already been reviewed. Nothing was repeated.";
    rules_file_hidden(path) =
        "`{path}` was hidden or removed during this answer, so nothing more was sent. Send your \
         message again.";
    search_result_in_busy_version() =
        "The search result is in another version of this conversation, which is busy. Wait for \
         the answer or stop it, send or remove queued messages, then open the result again.";
    secret_owners_unreadable(file, why) =
        "Couldn’t read {file}, which says where your saved API keys or token may be sent: {why}. \
         Make the file readable. Or remove your saved keys and token, delete the file, and paste \
         them again.";
    server_url_with_credentials() =
        "The server URL must not contain a username, password, or “?”. Enter only the URL, and \
         add your API key under Model.";
    settings_choice_unreadable() =
        "These settings can no longer be read. Choose others, or correct the file by hand.";
    settings_cut(file, marker) =
        "The settings file {file} may be cut off: it no longer has all it had, and its last line \
         isn’t “{marker}”. No model is asked until it is corrected, or until you choose which \
         settings count.";
    settings_empty(file) =
        "The settings file {file} is empty. No model is asked until it is corrected, or until you \
         choose which settings count.";
    settings_gone(file) =
        "The settings file {file} is gone. No model is asked until it is back, or until you \
         choose which settings count.";
    settings_not_written(error) = "The settings can’t be written: {error}";
    settings_saved_elsewhere() =
        "Another program saves the settings file all the time. End that program, then try again.";
    settings_unguarded(file, why) =
        "The settings file {file} has a new rule for private notes, and the copy that would show \
         its loss can’t be written. No model is asked until it is. {why}";
    settings_unreadable(file, why) =
        "The settings file {file} can’t be read ({why}). No model is asked until it is corrected, \
         or until you choose which settings count.";
    something_interrupted() = "Something interrupted this. Try again.";
    something_went_wrong() = "Something went wrong.";
    summary_interrupted() =
        "Summarizing was interrupted, so nothing has changed. Try again in a moment.";
    vault_closed_during_export() = "The vault was closed meanwhile. Open it and export again.";
    vault_may_be_copy(folder, original) =
        "{folder} carries the id of the vault that was at {original}, but it is another folder, \
         so it begins with a history of its own. If it is that vault, moved or restored, run \
         `vaultmate-cli adopt --vault {folder} --from {original}`.";
    vault_record_unreadable(file, dir, vault, why) =
        "Couldn’t read {file}, which tells whether the history in {dir} belongs to {vault}: \
         {why}. Make the file readable or restore it from a backup. To begin with a new history \
         instead, move {dir} to another place.";
    vaultmate_closing() = "Vaultmate is closing. Start it again.";
    version_not_text() =
        "This version isn’t UTF-8 text, and Vaultmate can’t tell its exact bytes. Nothing was \
         changed.";
}
