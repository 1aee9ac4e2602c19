//! The texts about the settings of the link, in English. The window words them by their names.

protocol::user_texts! {
    /// All texts about the settings of the link.
    pub const TEXTS;
    hub_description_missing() =
        "The hub requires a description. Describe in a sentence how your notes can help.";
    hub_description_too_long(count, limit) =
        "The description has {count} characters. Shorten it to {limit}.";
    hub_name_unfit(name) =
        "The hub doesn’t accept the name “{name}”. Use up to 64 letters, digits, - and _, and \
         begin with a letter.";
    hub_url_unencrypted(url) =
        "“{url}” isn’t encrypted, and ws:// is only allowed for a hub on this computer. Use \
         wss:// for a hub on another computer.";
    hub_url_unreadable(url) =
        "“{url}” isn’t the URL of a hub. Enter it like ws://127.0.0.1:9473 or wss://hub.example.";
    token_unfit() =
        "The token contains a space or control character. Check that you copied all of it.";
}
