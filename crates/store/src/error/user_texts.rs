//! The texts of the store’s errors, in English. The window words them by their names.

protocol::user_texts! {
    /// All texts of the store’s errors.
    pub const TEXTS;
    already_answered(answer) = "This question was already answered with “{answer}”.";
    answer_in_progress() =
        "An answer is being written in this conversation. Stop it or wait until it is complete.";
    answered_with_this_text() = "This question was already answered with this text.";
    database_damaged(file) =
        "`{file}` is damaged. Move it away or restore a backup, then start again.";
    database_failed(why) =
        "Vaultmate couldn’t read or save its data: {why}. Check the disk that contains the data \
         folder, then try again.";
    database_newer(file) =
        "`{file}` was written by a newer version of Vaultmate. Nothing was changed. Update \
         Vaultmate.";
    database_not_opened(file, why) =
        "Couldn’t open the database `{file}`: {why}. Check the permissions of the data folder, \
         then try again.";
    database_read_elsewhere(file) =
        "`{file}` is being read by another program. Close that program, then try again.";
    no_room_to_save() =
        "Couldn’t save because the disk is full. Free up some space, then try again.";
    question_withdrawn() = "This question was withdrawn. Send your text as a new message.";
    row_gone(what) = "{what} no longer exists.";
}
