//! The outcome of a plan, in the words that a model reads and the commands understand.
//!
//! The summary of a plan is an instruction ("append 1 line to `a.md`"); [`applied_text`] and
//! [`pending_text`] say what became of it. Older versions stored applied plans as a sentence in the
//! past tense, without a prefix.

const APPLIED_PREFIX: &str = "Applied: ";

const PENDING_PREFIX: &str = "Waiting for review, not applied: ";

/// The prefix of pending results of the first versions.
const FORMER_PENDING_PREFIX: &str = "Planned, not yet done: ";

/// In the summary of an edit of a note that changed after it was read.
pub(crate) const BASED_ON_PRESENT_TEXT: &str = "the edit is based on its present text";

/// How a change ended, as far as the text of its result says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PlanOutcome {
    /// It is in the note.
    Applied,
    /// It waits for the user's review.
    Pending,
}

/// The text for a plan that was applied, from [`llm::tool_api::tool::ChangePlan::summary`].
#[must_use]
pub fn applied_text(summary: &str) -> String {
    format!("{APPLIED_PREFIX}{summary}.")
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
    if summary.contains(BASED_ON_PRESENT_TEXT) {
        return applied_text(summary);
    }
    applied_text(&format!("{summary}; the note changed meanwhile, and {BASED_ON_PRESENT_TEXT}"))
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
        let summary = "append 1 line to `Groceries.md`";
        let applied = applied_text(summary);
        assert_eq!(applied, "Applied: append 1 line to `Groceries.md`.");
        assert_eq!(parse(&applied), PlanOutcome::Applied);
        assert_eq!(parse(&rebased_text(summary)), PlanOutcome::Applied);
        let pending = pending_text(summary);
        let start = "Waiting for review, not applied: append 1 line to `Groceries.md`. ";
        assert!(pending.starts_with(start), "{pending}");
        assert_eq!(parse(&pending), PlanOutcome::Pending);
    }

    #[test]
    fn the_outcomes_that_older_versions_stored_are_read() {
        for (former, outcome) in [
            ("Appended 1 line to `Groceries.md`", PlanOutcome::Applied),
            ("Planned, not yet done: Appended 1 line to `Groceries.md`.", PlanOutcome::Pending),
            ("Waiting for review, not applied: Appended 1 line to `A.md`.", PlanOutcome::Pending),
        ] {
            assert_eq!(parse(former), outcome, "{former}");
        }
    }

    #[test]
    fn a_changed_note_is_told_once() {
        let told = rebased_text("replace 1 place in `a.md` (line 1)");
        assert_eq!(told.matches(BASED_ON_PRESENT_TEXT).count(), 1, "{told}");
        let said_before = told.trim_start_matches(APPLIED_PREFIX).trim_end_matches('.');
        assert_eq!(rebased_text(said_before), told);
    }
}
