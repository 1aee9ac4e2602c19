//! The texts about models and the ends of turns, in English. The window words them by their names.

protocol::user_texts! {
    /// All texts about models and the ends of turns.
    pub const TEXTS;
    all_keys_limited() = "All API keys have hit their rate limit. Wait a moment, then try again.";
    answer_being_written() = "An answer is being written. Summarize when it is complete.";
    answer_severed() = "The answer was cut off before its end. Check the network, then try again.";
    answer_stopped_unexpectedly() = "The answer stopped unexpectedly. Try again.";
    answer_too_large(server, why) = "The answer of {server} is too large: {why}.";
    answer_unreadable(server, why) = "The answer of {server} can’t be read: {why}. Try again.";
    call_unreadable(problem) =
        "The model tried to use a tool, but its call can’t be read ({problem}). Rephrase your \
         message, or choose another model in Settings.";
    certificate_not_trusted(server) =
        "{server} has a certificate that this computer doesn’t trust. Check the server URL in \
         Settings and the computer’s clock.";
    check_the_network(server, what) = "{server} {what}. Check the network, then try again.";
    context_window_full() =
        "This conversation no longer fits the model’s context window. Start a new one.";
    encryption_unavailable() =
        "Couldn’t set up encrypted connections. Check the system’s certificates.";
    key_refused(owner) = "{owner} didn’t accept the API key. Check it, or use another one.";
    key_unfit() = "The API key contains invalid characters. Check it in Settings.";
    key_without_permission(said) =
        "This API key doesn’t have permission{said}. Check it in Settings.";
    length_limit_before_calls() =
        "The answer was cut off at its length limit before its tool calls were complete, so none \
         of them ran. Ask for smaller steps.";
    length_limit_before_text() =
        "The answer hit its length limit before any text. Ask for something shorter, or raise Max \
         output tokens in Settings.";
    local_server_slow(server, what) =
        "{server} {what}. A long prompt takes time on this computer. Ask for less at once, or \
         choose a smaller model.";
    model_declined() = "The model declined to answer. Rephrase your message.";
    model_loading(server, model) = "{server} is still loading `{model}`. Try again in a minute.";
    network_requires_login(server) =
        "Couldn’t reach {server}: this network requires you to sign in. Open a browser, sign in, \
         and try again.";
    no_answer_twice() = "The model gave no answer, twice. Try again, or rephrase your message.";
    no_credit(server) =
        "The account at {server} has no credit left. Add credit there, or use another API key in \
         Settings.";
    no_key_for(name) = "There is no API key for {name}. Add one in Settings.";
    no_web_address(example) = "isn’t a web address such as {example}";
    not_the_expected_api(server, api) =
        "{server} didn’t respond like {api}. Check the server URL in Settings.";
    paused_too_often() = "The model kept pausing without finishing. Try again.";
    prompt_cut(server, read, sent) =
        "{server} read only {read} of at least {sent} tokens, so this answer covers only part of \
         the conversation. Start a new one, or choose another model in Settings.";
    prompt_over_window(tokens, window) =
        "This conversation has at least {tokens} tokens, but the model’s context window is \
         {window}. Start a new conversation, or choose a model with a larger context window.";
    proxy_requires_login(server) =
        "{server} is behind a proxy that requires a login. Check the system’s proxy settings.";
    request_over_window(room, what, tokens, advice) =
        "The request doesn’t fit the context window of the model, which has room for {room} \
         tokens. {what} alone: about {tokens} tokens. To go on, {advice}.";
    request_refused(server, said) = "{server} refused the request{said}.";
    server_error(server, said) = "{server} reported an error{said}. Try again.";
    server_overloaded(server) = "{server} is overloaded. Wait a little, then try again.";
    server_overloaded_until(server, time) = "{server} is overloaded. Try again in {time}.";
    server_redirects(server) =
        "{server} redirects to another address, which isn’t allowed. Check the server URL in \
         Settings.";
    server_unreachable(server) = "Couldn’t reach {server}. Check the network, then try again.";
    server_url_unfit(why) = "The server URL {why}. Correct it in Settings.";
    server_window_full(window) =
        "This conversation no longer fits the context window ({window} tokens). Start a new one, \
         or start the server with a larger context window.";
    stopped_for_unknown_reason() = "The model stopped for an unknown reason. Try again.";
    too_many_requests(said) =
        "Too many requests for this API key{said}. Wait a little, then try again.";
    too_many_requests_until(said, time) =
        "Too many requests for this API key{said}. Try again in {time}.";
    tools_rejected(server, model) =
        "{server} rejected the request for `{model}`, perhaps because of its tools. Choose \
         another model in Settings.";
    unexpected_status(server, code) = "{server} answered with status {code}. Try again.";
    unknown_model(server, model) =
        "{server} doesn’t know the model `{model}`. Choose another one in Settings.";
}
