//! The call that adds a hub message to the inbox note, and the text that says so: how both are recognized among the
//! messages of a conversation.

use llm::model::is_own_call;
use protocol::{CallId, NotePath};
use serde_json::Value;
use tools::plan_outcome::PlanOutcome;

/// The tool that adds messages to the note.
pub(super) const APPEND_TOOL: &str = "append_file";

/// Whether no model made the call: it keeps a message, or answers a question.
pub(crate) fn is_capture_call(call: &CallId) -> bool {
    is_own_call(call)
}

/// Whether the call of this tool keeps a message, and no model made it.
pub(crate) fn captures_message(call: &CallId, tool: &str) -> bool {
    tool == APPEND_TOOL && is_capture_call(call)
}

/// The path that a capture with these arguments adds to.
pub(crate) fn captured_path(arguments: &Value) -> Option<NotePath> {
    let path = arguments.get("path").and_then(Value::as_str)?;
    NotePath::parse(path.strip_prefix("./").unwrap_or(path)).ok()
}

/// The end of a turn whose capture had this outcome.
pub(super) fn saved_text(inbox: &NotePath, outcome: PlanOutcome) -> String {
    match outcome {
        PlanOutcome::Applied => format!("Saved to {inbox}."),
        PlanOutcome::Pending => format!("Added to {inbox} as a change to review."),
    }
}

/// The text with the reason why no model was asked: the settings file cannot be used.
pub(super) fn with_settings_notice(text: &str) -> String {
    format!(
        "{text} No model was asked: the settings file can’t be used. Open Vaultmate and choose \
         which settings count."
    )
}

/// The outcome of a capture that added to this note, if the text is ours, tells of that and of nothing else.
pub(crate) fn outcome_in_saved_text(text: &str, inbox: &NotePath) -> Option<PlanOutcome> {
    [PlanOutcome::Applied, PlanOutcome::Pending].into_iter().find(|outcome| {
        let saved = saved_text(inbox, *outcome);
        text == saved || text == with_settings_notice(&saved)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn inbox() -> NotePath {
        NotePath::parse("In.md").expect("a path")
    }

    #[test]
    fn only_our_own_text_counts_as_the_end_of_a_capture() {
        let outcome_in = |text: &str| outcome_in_saved_text(text, &inbox());
        for outcome in [PlanOutcome::Applied, PlanOutcome::Pending] {
            let saved = saved_text(&inbox(), outcome);
            for text in [with_settings_notice(&saved), saved] {
                assert_eq!(outcome_in(&text), Some(outcome), "{text}");
                let more = format!("{text} The diary says so, too.");
                assert_eq!(outcome_in(&more), None, "{more}");
            }
        }
        assert_eq!(outcome_in("Saved to Other.md."), None);
        let path = |path: &str| captured_path(&json!({ "path": path, "content": "- milk" }));
        assert_eq!(path("./In.md"), Some(inbox()));
        assert_eq!(path("inbox/In.md").as_ref().map(NotePath::as_str), Some("inbox/In.md"));
    }
}
