//! The outcome of a plan, in the words that a model reads and the commands understand.
//!
//! An applied plan is described by its own summary; a pending one by [`pending_text`].

const PENDING_PREFIX: &str = "Waiting for review, not applied: ";

/// The prefix of results that older versions stored.
const FORMER_PENDING_PREFIX: &str = "Planned, not yet done: ";

/// How a change ended, as far as the text of its result says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanOutcome {
    /// It is in the note.
    Applied,
    /// It is pending.
    Pending,
}

/// The text for a plan that was put before the user, from [`llm::tool_api::tool::ChangePlan::summary`].
#[must_use]
pub fn pending_text(summary: &str) -> String {
    format!(
        "{PENDING_PREFIX}{summary}. read_file already shows the note with this change. Tell the user that \
         it waits for review."
    )
}

/// The text for a plan that was applied to notes which had changed since it was made.
#[must_use]
pub fn rebased_text(summary: &str) -> String {
    const SAID: &str = "the edit was made on what is there now";
    if summary.contains(SAID) {
        return summary.to_owned();
    }
    format!("{summary}; the note had changed meanwhile, and {SAID}")
}

/// The outcome that the result of a plan describes, if it is no error.
#[must_use]
pub fn parse(output: &str) -> PlanOutcome {
    let is_pending =
        [PENDING_PREFIX, FORMER_PENDING_PREFIX].iter().any(|it| output.starts_with(it));
    if is_pending { PlanOutcome::Pending } else { PlanOutcome::Applied }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outcome_is_read_back_as_it_was_worded() {
        let summary = "Appended 1 line to `Groceries.md`";
        assert_eq!(parse(summary), PlanOutcome::Applied);
        assert_eq!(parse(&pending_text(summary)), PlanOutcome::Pending);
        assert!(pending_text(summary).contains(summary));
        let former = "Planned, not yet done: Appended 1 line to `Groceries.md`.";
        assert_eq!(parse(former), PlanOutcome::Pending);
    }
}
