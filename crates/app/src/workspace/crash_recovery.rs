//! Recovers a vault when it is opened: changes that were under way, and turns that were
//! interrupted.

use protocol::{
    CallId, CallResult, ConversationId, OpenTurn, Origin, Settings, TokenUsage, TurnEnding,
    TurnStatus, UserError,
};
use store::{ChangeSetDecision, Store, StoreError};
use vault::Vault;

use crate::adapters::ledger::StoreLedger;
use crate::changes::hunk_decisions::already_decided;
use crate::hub::writable_notes;
use crate::settings::run_mode::RunMode;
use crate::support::clock::now;
use crate::user_texts;
use crate::workspace::interrupted_call::InterruptedCall;
use crate::workspace::resume_decision::{ResumeDecision, resume_decision};

/// Finishes or parks every change that was under way, then gives each open call of a cut turn its
/// one result, and the turn an end, unless it goes on; in a run that answers one question, such a
/// turn is left as it is. What cannot be recovered in one conversation is told among the problems, and the others
/// go on. Safe to run again when it is cut itself.
pub(crate) async fn recover(
    vault: &Vault,
    store: &Store,
    settings: &Settings,
    run_mode: RunMode,
) -> Result<Vec<UserError>, UserError> {
    let mut problems = Vec::new();
    let recovery = vault.recover(&StoreLedger(store.clone())).await?;
    for (intent, why) in &recovery.problems {
        let note = intent.change.path.as_str();
        let why = UserError::from(why);
        problems.push(UserError::other(user_texts::interrupted_change(note, why)));
    }
    problems.extend(close_applied_reviews(store).await?);
    for turn in store.open_turns().await? {
        if let Err(error) = recover_turn(store, &turn, settings, run_mode).await {
            let why = row_failure(error)?;
            problems.push(UserError::other(user_texts::answer_not_recovered(why)));
        }
    }
    Ok(problems)
}

/// Why one row could not be recovered; `Err` where the database itself failed, which keeps the vault
/// closed.
fn row_failure(error: StoreError) -> Result<UserError, UserError> {
    let concerns_one_row = error.concerns_one_row();
    let error = UserError::from(error);
    if concerns_one_row { Ok(error) } else { Err(error) }
}

async fn recover_turn(
    store: &Store,
    turn: &OpenTurn,
    settings: &Settings,
    run_mode: RunMode,
) -> Result<(), StoreError> {
    // One that was to continue has been cut again, or nobody continued it: its age counts from then.
    if turn.status == TurnStatus::Running || turn.resumed > 0 {
        end_or_resume(store, turn, settings, run_mode).await
    } else if turn.origin == Origin::Cli {
        // The process that asked on the command line has ended, so nobody waits for the answer.
        interrupt(store, turn).await
    } else {
        Ok(())
    }
}

async fn end_or_resume(
    store: &Store,
    turn: &OpenTurn,
    settings: &Settings,
    run_mode: RunMode,
) -> Result<(), StoreError> {
    let changes = store.turn_changes(&turn.turn).await?;
    let inbox = writable_notes::inbox_path(&settings.hub).ok();
    match resume_decision(turn, &changes, inbox.as_ref(), settings.resume, now()) {
        // Nobody continues it in this run, so the next run decides again.
        ResumeDecision::GoesOn if !run_mode.is_long_running() => Ok(()),
        // It is queued already, and its calls have their results.
        ResumeDecision::GoesOn if turn.status == TurnStatus::Queued => Ok(()),
        ResumeDecision::GoesOn => {
            let results = cut_results(store, turn).await?;
            store.resume_turn(&turn.turn, &results).await
        }
        ResumeDecision::Offered => {
            let ending = interrupted(store, turn).await?;
            store.offer_resume(&turn.turn, &ending).await
        }
        ResumeDecision::Ends => interrupt(store, turn).await,
    }
}

/// Ends the turn of the conversation that counts as running although nobody runs it.
pub(crate) async fn end_cut_turn(
    store: &Store,
    conversation: &ConversationId,
) -> Result<(), UserError> {
    if let Some(turn) = store.running_turn(conversation).await? {
        interrupt(store, &turn).await?;
    }
    Ok(())
}

/// Closes pending changes whose files hold them already: the process ended before their decision
/// was stored. Returns what to tell of those that could not be closed.
async fn close_applied_reviews(store: &Store) -> Result<Vec<UserError>, UserError> {
    let mut problems = Vec::new();
    let all = store.conversations_needing_you().await?;
    for conversation in all.into_iter().filter(|conversation| conversation.waiting_notes > 0) {
        if let Err(error) = close_applied_review(store, &conversation.id).await {
            let why = row_failure(error)?;
            problems.push(UserError::other(user_texts::review_lists_applied(why)));
        }
    }
    Ok(problems)
}

async fn close_applied_review(
    store: &Store,
    conversation: &ConversationId,
) -> Result<(), StoreError> {
    let Some(set) = store.open_change_set(conversation).await? else { return Ok(()) };
    let decided = already_decided(store, &set).await?;
    if decided != ChangeSetDecision::default() {
        store.decide(&set.id, &decided, now()).await?;
    }
    Ok(())
}

async fn interrupt(store: &Store, turn: &OpenTurn) -> Result<(), StoreError> {
    let ending = interrupted(store, turn).await?;
    store.finish_turn(&turn.turn, &ending).await
}

/// One result for each call that has none.
async fn cut_results(store: &Store, turn: &OpenTurn) -> Result<Vec<CallResult>, StoreError> {
    let mut results = Vec::new();
    for (call, tool) in store.unanswered_calls(&turn.turn).await? {
        let cut = InterruptedCall {
            spelled: store.call_paths(&turn.turn, &call).await?,
            effects: store.effects_of_call(&turn.turn, &call).await?,
            is_pending: needs_review(store, turn, &call).await?,
            call,
            tool,
        };
        results.push(cut.into_result());
    }
    Ok(results)
}

async fn interrupted(store: &Store, turn: &OpenTurn) -> Result<TurnEnding, StoreError> {
    Ok(TurnEnding {
        status: TurnStatus::Interrupted,
        results: cut_results(store, turn).await?,
        message: None,
        cut: false,
        question: None,
        ends_conversation: false,
        error: None,
        usage: TokenUsage::default(),
        at: now(),
    })
}

async fn needs_review(store: &Store, turn: &OpenTurn, call: &CallId) -> Result<bool, StoreError> {
    let open = store.open_change_set(&turn.conversation).await?;
    Ok(open.is_some_and(|set| {
        set.planned.iter().any(|row| row.turn == turn.turn && row.call == *call)
    }))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::time::{Duration, Instant};

    use protocol::{
        Change, ChangeSet, ConversationId, Intent, IntentState, Message, MessageId, MessagePart,
        NewTurn, NotePath, Role, SettledIntent, Source, TurnId, TurnStep,
    };
    use serde_json::{Value, json};
    use store::OpenChangeSet;

    use super::*;

    /// A turn in a conversation, both with this id.
    async fn submit(store: &Store, id: &str, origin: Origin) {
        let (turn, conversation) = (TurnId::from(id), ConversationId::from(id));
        store.create_conversation(&conversation, id, None, now()).await.expect("begun");
        let message = Message {
            id: MessageId::from(id),
            conversation,
            turn: turn.clone(),
            role: Role::User,
            parts: vec![MessagePart::Text { text: "words".into() }],
            at: now(),
        };
        let new = NewTurn { turn, message, origin, answers: None, shown: Vec::new() };
        store.submit_turn(&new).await.expect("stored");
    }

    /// The pending changes of one call, all of which were made before the process ended.
    async fn made_by_a_call(store: &Store, count: usize) -> OpenChangeSet {
        submit(store, "t", Origin::Window).await;
        let edited = |n: usize| Change::replace(path(&format!("{n}.md")), "before\n", "after\n");
        let changes: ChangeSet = (0..count).map(edited).collect();
        let (conversation, set, turn, call) = ("t".into(), "s".into(), "t".into(), "c".into());
        store
            .add_planned_changes(&conversation, &set, &changes, &turn, &call, now())
            .await
            .expect("planned");
        record_made(store, &changes).await;
        store.open_change_set(&conversation).await.expect("read").expect("pending")
    }

    /// Call `c` of turn `t` made these changes.
    async fn record_made(store: &Store, changes: &ChangeSet) {
        let intent = |(n, change): (usize, &Change)| Intent {
            effect: format!("e{n}").into(),
            change_set: "s".into(),
            turn: "t".into(),
            call: "c".into(),
            unit: None,
            base: None,
            access: None,
            is_exact: false,
            staged: None,
            temp_name: format!(".vaultmate-{n}.tmp"),
            change: change.clone(),
        };
        let intents: Vec<Intent> = changes.changes().enumerate().map(intent).collect();
        store.record_intents(&intents, now()).await.expect("stored");
        let settled = |intent: &Intent| SettledIntent {
            effect: intent.effect.clone(),
            state: IntentState::Done,
            file: None,
        };
        let settled: Vec<SettledIntent> = intents.iter().map(settled).collect();
        store.record_outcomes(&settled).await.expect("settled");
    }

    fn path(text: &str) -> NotePath {
        NotePath::parse(text).expect("a path")
    }

    /// The result of a call that made these changes, and the sources of its turn, after the turn was
    /// cut before the result was stored; at the next start, or where the program goes on.
    async fn told_after_cut(
        (tool, arguments): (&str, Value),
        changes: &[Change],
        is_restarted: bool,
    ) -> (String, BTreeSet<Source>) {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::open(folder.path()).expect("a vault");
        let store = Store::open(&folder.path().join(".vault.db")).await.expect("a store");
        let (conversation, turn) = (ConversationId::from("t"), TurnId::from("t"));
        submit(&store, "t", Origin::Window).await;
        store.begin_turn(&conversation).await.expect("begun").expect("a turn");
        let message = Message {
            id: MessageId::from("step"),
            conversation: conversation.clone(),
            turn: turn.clone(),
            role: Role::Assistant,
            parts: vec![MessagePart::Call { id: "c".into(), tool: tool.to_owned(), arguments }],
            at: now(),
        };
        let step = TurnStep { message, usage: TokenUsage::default() };
        store.store_step(&turn, &step).await.expect("stored");
        record_made(&store, &changes.iter().cloned().collect()).await;
        match is_restarted {
            true => {
                let settings = Settings::default();
                let problems = recover(&vault, &store, &settings, RunMode::Stay).await;
                assert_eq!(problems.expect("recovered").len(), 0);
            }
            false => end_cut_turn(&store, &conversation).await.expect("ended"),
        }
        let rows = store.messages_of_turn(&turn).await.expect("read");
        let result = rows.into_iter().flat_map(|row| row.parts).find_map(|part| match part {
            MessagePart::Result { output, .. } => Some(output),
            _ => None,
        });
        let sources = store.turn_sources(&[&turn]).await.expect("read").remove(&turn);
        store.close().await;
        (result.expect("a result"), sources.unwrap_or_default())
    }

    #[tokio::test]
    async fn the_result_of_a_cut_move_names_the_moved_note_and_none_that_links_to_it() {
        let links = |note: &str| Change::replace(path(note), "[[A]]\n", "[[Old/A]]\n");
        let moved = Change::rename(path("A.md"), path("Old/A.md"));
        let changes = [links("Open.md"), links("Private/x.md"), moved];
        let call = || ("move_file", json!({ "source": "A.md", "destination": "Old/A.md" }));
        for is_restarted in [true, false] {
            let (told, sources) = told_after_cut(call(), &changes, is_restarted).await;
            assert_eq!(told, "The program was interrupted; move_file had changed A.md.");
            assert!(sources.contains(&Source::Note(path("A.md"))), "{sources:?}");
            for note in ["Open.md", "Private/x.md"] {
                assert!(!sources.contains(&Source::Note(path(note))), "{sources:?}");
            }
            let (alone, of_alone) = told_after_cut(call(), &changes[2..], is_restarted).await;
            assert_eq!((told, sources), (alone, of_alone), "nobody can tell that there are some");
        }
    }

    #[tokio::test]
    async fn a_note_that_a_cut_call_spelled_is_named_and_is_a_source() {
        let edit = Change::replace(path("Open.md"), "[[A]]\n", "[[B]]\n");
        let call = || ("edit_file", json!({ "path": "open", "old_text": "A", "new_text": "B" }));
        for is_restarted in [true, false] {
            let changes = std::slice::from_ref(&edit);
            let (told, sources) = told_after_cut(call(), changes, is_restarted).await;
            assert_eq!(told, "The program was interrupted; edit_file had changed Open.md.");
            assert!(sources.contains(&Source::Note(path("Open.md"))), "{sources:?}");
        }
    }

    /// The time to find out which of so many changes were made; the least of several, because
    /// other programs disturb.
    async fn time_to_compare(count: usize) -> Duration {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join(".vault.db")).await.expect("a store");
        let set = made_by_a_call(&store, count).await;
        let mut least = Duration::MAX;
        for _ in 0..4 {
            let begun = Instant::now();
            let decided = already_decided(&store, &set).await.expect("read");
            least = least.min(begun.elapsed());
            assert_eq!(decided.applied.len(), count);
        }
        store.close().await;
        least
    }

    /// Four times the changes may cost eight times the time; the square would be sixteen times.
    #[tokio::test]
    async fn a_call_with_many_changes_is_recovered_at_a_cost_that_grows_with_them() {
        let (few, many) = (time_to_compare(150).await, time_to_compare(600).await);
        assert!(many < few * 8 + Duration::from_millis(20), "{many:?} after {few:?}");
    }

    #[tokio::test]
    async fn a_question_of_the_command_line_that_never_ran_is_not_run_later() {
        let folder = tempfile::tempdir().expect("a folder");
        let vault = Vault::open(folder.path()).expect("a vault");
        let store = Store::open(&folder.path().join(".vault.db")).await.expect("a store");
        let left = [("cli", Origin::Cli), ("window", Origin::Window)];
        for (id, origin) in left {
            submit(&store, id, origin).await;
        }
        recover(&vault, &store, &Settings::default(), RunMode::Stay).await.expect("recovered");
        let open: Vec<_> = store.open_turns().await.expect("read");
        let open: Vec<_> = open.iter().map(|turn| turn.turn.as_str()).collect();
        assert_eq!(open, ["window"], "the turn of the window continues");
    }
}
