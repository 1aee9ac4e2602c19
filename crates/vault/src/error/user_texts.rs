//! The texts of the vault’s errors, in English. The window words them by their names.

protocol::user_texts! {
    /// All texts of the vault’s errors.
    pub const TEXTS;
    change_disturbed(path) =
        "Another program disturbed the change to `{path}`, so the note was left as it was. Try \
         again.";
    change_parked(path) =
        "Vaultmate can’t tell whether `{path}` was changed, because something else changed it \
         meanwhile. It was left as it is. Read it before changing it again.";
    change_uncertain(path) =
        "Vaultmate can’t tell whether `{path}` was changed, because the disk failed on the way. \
         Read it before changing it again.";
    changes_not_detected(source) =
        "Vaultmate can’t detect changes made by other programs: {source}. Reopen the vault.";
    file_already_there(path) = "`{path}` already exists. Edit it, or choose another name.";
    file_failed(path, verb, source) = "`{path}` couldn’t be {verb}: {source}. Try again.";
    folder_changed(path) =
        "The folder `{path}` has other contents than when this was planned, so it was left as it \
         is. Look at what is in it, then delete it again.";
    folder_contains_vault(folder) =
        "{folder} contains the vault, so its notes would appear twice. Choose a folder outside \
         the vault.";
    folder_empty(folder) = "{folder} is empty. If it’s on another drive, connect that drive.";
    folder_in_vault(folder) = "{folder} is in the vault already. Choose a folder outside it.";
    folder_is_vault(folder) = "{folder} is the vault itself. Choose a folder outside it.";
    folder_name_unfit(folder, name) =
        "{folder} can’t be shown in the vault under the name `{name}`. Rename the folder, or give \
         it another name in the settings file.";
    folder_not_opened(folder, source) =
        "{folder} couldn’t be opened: {source}. Try again, or choose another folder.";
    folder_not_readable(folder) =
        "You don’t have permission to read {folder}. Change its permissions, or choose another \
         folder.";
    folder_not_restored(path, folder) =
        "`{path}` was left as it is, because the folder `{folder}` couldn’t be restored. Restore \
         that folder, then try again.";
    folder_with_private_notes(path) =
        "`{path}` contains notes that the user keeps private, so it stays where it is. Ask the \
         user to do this, or choose single notes.";
    folders_overlap(folder) =
        "{folder} overlaps another additional folder. Add only the outer one.";
    image_too_large(path, size) = "`{path}` is {size} MiB. Images can have up to 32 MiB.";
    in_additional_folder(path) =
        "`{path}` is in an additional folder, which is read-only. Create the note in the vault \
         instead.";
    move_undone(path, why) =
        "`{path}` was left unchanged, because the move it belongs to was undone: {why}";
    moved_into_itself(path) = "`{path}` can’t be moved into itself. Choose a place outside it.";
    name_ambiguous(asked, paths) = "`{asked}` could be {paths}. Use one of these paths.";
    name_kept_private(path) =
        "The user keeps `{path}` private, so it can’t be made. Choose another name.";
    names_look_alike(path) =
        "Two names look like `{path}`: their accents are stored in different ways, so it isn’t \
         certain which one is meant. Rename one of them, then try again.";
    no_folder_at(folder) =
        "There is no folder at {folder}. Choose another folder, or restore this one.";
    no_note(asked, suggestion) = "There is no note `{asked}`.{suggestion}";
    no_space(path) =
        "The disk is full, so `{path}` wasn’t changed. Free up some space, then try again.";
    not_a_folder(folder) = "{folder} isn’t a folder. Choose the folder that contains your notes.";
    not_a_full_path(folder) =
        "{folder} isn’t the full path of a folder. Enter the full path, starting with `/`.";
    not_a_regular_note(path, what) = "Can’t open `{path}`: it’s {what}. Choose a regular note.";
    not_allowed(path, verb) =
        "The system doesn’t allow `{path}` to be {verb}. Change the permissions of it or its \
         folder, then try again.";
    not_an_image(path) =
        "`{path}` can’t be shown: it isn’t a PNG, JPEG, GIF, WebP, AVIF, or BMP image. Save it as \
         one of these.";
    not_downloaded(path) =
        "`{path}` isn’t downloaded to this computer. Ask the user to download it, then try again.";
    note_open_elsewhere(path) =
        "Another program has `{path}` open and may still write to it, so the note was left as it \
         is. Close it there, then try again.";
    note_saved_at_same_moment(path) =
        "Another program saved `{path}` at the same moment, so the change wasn’t made. Read it, \
         then change it again.";
    note_stale(path) = "`{path}` changed on disk since it was read. Read it again, then change it.";
    note_too_large(path, size) =
        "`{path}` is {size} MiB, over the limit of 10 MiB for a note. Split it, or choose another \
         note.";
    note_write_protected(path) =
        "`{path}` is write-protected for this user, so it was left as it is. Make it writable, \
         then try again.";
    owner_not_kept(path) =
        "A change would give `{path}` another owner or other permissions, so it was left as it \
         is. Make this user its owner, then try again.";
    path_or(others, last) = "`{others}` or `{last}`";
    stopped_before(path) = "`{path}` was left as it is: the user stopped before it.";
    suggestion_near(paths) = " Did you mean {paths}?";
    suggestion_search() = " List or search the notes to find its path.";
    system_folder(folder) =
        "{folder} is a system folder, not one with notes. Choose another folder.";
    too_many_pixels(path, width, height) =
        "`{path}` is {width} × {height} pixels. Images can have up to 120 million pixels.";
    vault_not_readable(source) =
        "The vault’s folder can’t be read: {source}. Restore it, or open another vault.";
    vault_read_only(path) =
        "The vault is read-only, so `{path}` wasn’t changed. Make its disk writable, then try \
         again.";
}
