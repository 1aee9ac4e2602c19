//! The texts about the link and its settings, in English. The window words them by their names.

protocol::user_texts! {
    /// All texts about the link and its settings.
    pub const TEXTS;
    client_name_taken(name) =
        "Another client is registered as “{name}”. End it, or choose another name.";
    hub_busy(hub) = "The hub at {hub} is busy and asked Vaultmate to wait.";
    hub_closed(hub) = "The hub at {hub} was closed. Start it again to use it.";
    hub_closed_by_policy(hub, code) =
        "The hub at {hub} closed the connection because of its policy (code {code}). See the \
         hub’s log.";
    hub_declines_registration(hub, name, code) =
        "The hub at {hub} doesn’t register “{name}” now ({code}). See its log if this lasts.";
    hub_description_missing() =
        "The hub requires a description. Describe in a sentence how your notes can help.";
    hub_description_too_long(count, limit) =
        "The description has {count} characters. Shorten it to {limit}.";
    hub_ended_connection(hub, code) =
        "The hub at {hub} ended the connection (code {code}). See its log if this lasts.";
    hub_lost(hub) = "The connection to the hub at {hub} was lost. Check that the hub is running.";
    hub_name_unfit(name) =
        "The hub doesn’t accept the name “{name}”. Use up to 64 letters, digits, - and _, and \
         begin with a letter.";
    hub_not_responding(hub) = "The hub at {hub} isn’t responding. Check that it’s running.";
    hub_not_trusted(hub, why) =
        "The hub at {hub} has a certificate that this computer doesn’t trust ({why}). Check the \
         URL, or have the certificate trusted here, then connect again.";
    hub_refuses_connection(hub, status) =
        "The hub at {hub} refuses the connection ({status}). Check its token and settings, then \
         connect again.";
    hub_refuses_description() =
        "The hub refuses the description. Describe in a sentence what your notes are good for.";
    hub_refuses_name(name) =
        "The hub refuses the name “{name}”. Use letters, digits, - and _, beginning with a \
         letter.";
    hub_refuses_registration(hub, name, code) =
        "The hub at {hub} refuses to register “{name}” ({code}). Change its name or description, \
         then connect again.";
    hub_refuses_without_token(hub, status) =
        "The hub at {hub} refuses the connection ({status}), and the saved token is for another \
         hub. Enter the token of this hub in Settings > Hub.";
    hub_sent_unexpected(hub) =
        "The hub at {hub} sent an unexpected message. Check the URL and that the hub is up to \
         date.";
    hub_stopped_responding(hub) = "The hub at {hub} stopped responding. Restart it if this lasts.";
    hub_url_unencrypted(url) =
        "“{url}” isn’t encrypted, and ws:// is only allowed for a hub on this computer. Use \
         wss:// for a hub on another computer.";
    hub_url_unreadable(url) =
        "“{url}” isn’t the URL of a hub. Enter it like ws://127.0.0.1:9473 or wss://hub.example.";
    not_a_hub(server) = "The server at {server} isn’t a hub. Check the URL in Settings.";
    retrying(trouble) = "{trouble} Retrying automatically.";
    token_unfit() =
        "The token contains a space or control character. Check that you copied all of it.";
}
