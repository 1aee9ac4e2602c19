//! The texts about the end of a turn, in English. The window words them by their names.

protocol::user_texts! {
    /// All texts about the end of a turn.
    pub const TEXTS;
    context_window_full() =
        "This conversation no longer fits the model’s context window. Start a new one.";
    length_limit_before_calls() =
        "The answer was cut off at its length limit before its tool calls were complete, so none \
         of them ran. Ask for smaller steps.";
    length_limit_before_text() =
        "The answer hit its length limit before any text. Ask for something shorter, or raise Max \
         output tokens in Settings.";
    model_declined() = "The model declined to answer. Rephrase your message.";
    no_answer_twice() = "The model gave no answer, twice. Try again, or rephrase your message.";
    paused_too_often() = "The model kept pausing without finishing. Try again.";
    stopped_for_unknown_reason() = "The model stopped for an unknown reason. Try again.";
}
