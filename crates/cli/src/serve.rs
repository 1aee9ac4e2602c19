//! `serve`: works on hub messages without a window, until it is stopped.

use std::collections::HashMap;
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Mutex, PoisonError};

use app::{App, DataDir};
use clap::Args;
use protocol::{
    AppEvent, Conversation, ConversationId, ErrorCode, HubState, HubStatus, NumberedEvent,
    UserError,
};

use crate::stop_signal::StopSignal;
use crate::terminal::eprint_line;

/// Arguments of `serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// Path to your vault [default: the last one opened].
    #[arg(long, value_name = "DIR")]
    vault: Option<PathBuf>,
}

/// Opens the vault and stays until SIGINT or SIGTERM.
pub(crate) async fn run(data: DataDir, arguments: ServeArgs) -> Result<ExitCode, UserError> {
    let folder = arguments.vault.or_else(|| data.last_vault()).ok_or_else(|| {
        UserError::new(
            ErrorCode::Vault,
            "No vault given, and none was opened before. Pass --vault DIR.",
        )
    })?;
    let mut stop = StopSignal::listen()?;
    let app = App::serve(data);
    let told = Mutex::new(PrintedLines::new(QuestionDetail::for_stderr()));
    let snapshot = app
        .subscribe(Box::new(move |batch| {
            let mut told = told.lock().unwrap_or_else(PoisonError::into_inner);
            batch.into_iter().filter_map(|event| told.event_line(event)).for_each(eprint_line);
            true
        }))
        .await?;
    snapshot.settings_trouble.iter().for_each(|trouble| eprint_line(&trouble.message));
    snapshot.problems.iter().for_each(eprint_line);
    app.open_vault(&folder).await?;
    eprint_line(format_args!("Serving {}. Stop with Ctrl+C.", folder.display()));
    if !app.is_hub_enabled() {
        eprint_line("The hub is off. Turn it on in Settings, or set VAULTMATE_HUB_URL.");
    }
    stop.received().await;
    let left = app.shutdown().await;
    if left > 0 {
        eprint_line(format_args!(
            "{left} tasks didn’t finish in time and will continue at the next start."
        ));
    }
    Ok(ExitCode::SUCCESS)
}

/// How much a line tells about a question that waits.
#[derive(Debug, Clone, Copy)]
enum QuestionDetail {
    /// The question and the title of its conversation.
    Text,
    /// The id of its conversation: a journal keeps the line, and the text may come from a private note.
    Id,
}

impl QuestionDetail {
    fn for_stderr() -> Self {
        if std::io::stderr().is_terminal() { Self::Text } else { Self::Id }
    }
}

/// The line printed last for each thing: a line comes when something changes, and not again before it does.
#[derive(Debug)]
struct PrintedLines {
    question_detail: QuestionDetail,
    hub: Option<String>,
    problem: Option<String>,
    settings: Option<String>,
    questions: HashMap<ConversationId, String>,
}

impl PrintedLines {
    fn new(question_detail: QuestionDetail) -> Self {
        let (hub, problem, settings, questions) = (None, None, None, HashMap::new());
        Self { question_detail, hub, problem, settings, questions }
    }

    /// The line for an event, if there is something new in it.
    fn event_line(&mut self, NumberedEvent { event, .. }: NumberedEvent) -> Option<String> {
        match event {
            AppEvent::HubChanged { hub } => {
                let line = hub_line(hub)?;
                if_changed(&mut self.hub, Some(line))
            }
            AppEvent::Problem { error } => if_changed(&mut self.problem, Some(error.to_string())),
            AppEvent::SettingsChanged { trouble, .. } => {
                if_changed(&mut self.settings, trouble.map(|trouble| trouble.message))
            }
            AppEvent::ConversationChanged { conversation } => self.question_line(conversation),
            _ => None,
        }
    }

    fn question_line(&mut self, conversation: Conversation) -> Option<String> {
        let Some(question) = conversation.waiting_question else {
            self.questions.remove(&conversation.id);
            return None;
        };
        let line = match self.question_detail {
            QuestionDetail::Text => {
                format!("Waiting for an answer in “{}”: {question}", conversation.title)
            }
            QuestionDetail::Id => {
                format!("A question waits for an answer in the conversation {}.", conversation.id)
            }
        };
        let before = self.questions.insert(conversation.id, question.clone());
        (before.as_ref() != Some(&question)).then_some(line)
    }
}

/// The text, if it is another one than the one before.
fn if_changed(before: &mut Option<String>, now: Option<String>) -> Option<String> {
    if *before == now {
        return None;
    }
    before.clone_from(&now);
    now
}

/// On the way there is nothing to tell: what was wrong last still is.
fn hub_line(hub: HubStatus) -> Option<String> {
    match (hub.trouble, hub.state) {
        (Some(trouble), _) => Some(trouble.message),
        (None, HubState::Online) => Some("Connected to the hub.".to_owned()),
        (None, _) => None,
    }
}

#[cfg(test)]
mod tests {
    use protocol::settings::SettingsProblem;
    use protocol::{ConversationState, Settings, Timestamp};

    use super::*;

    fn numbered(event: AppEvent) -> NumberedEvent {
        NumberedEvent { seq: 1, event }
    }

    fn hub(state: HubState, trouble: Option<&str>) -> AppEvent {
        let trouble = trouble.map(UserError::other);
        AppEvent::HubChanged { hub: HubStatus { state, trouble, retry_at: None, ignored: 0 } }
    }

    fn problem(words: &str) -> AppEvent {
        AppEvent::Problem { error: UserError::other(words.to_owned()) }
    }

    fn settings(trouble: Option<&str>) -> AppEvent {
        let trouble = trouble.map(|message| SettingsProblem {
            message: message.to_owned(),
            text: None,
            choices: Vec::new(),
        });
        AppEvent::SettingsChanged { settings: Settings::default(), trouble }
    }

    fn asks(id: &str, question: Option<&str>) -> AppEvent {
        let conversation = Conversation {
            id: id.into(),
            title: "Milk".to_owned(),
            titled_by_model: false,
            inbox_day: None,
            summary: None,
            state: ConversationState::Active,
            from_hub: true,
            archived: false,
            updated_at: Timestamp(1),
            waiting_question: question.map(str::to_owned),
            waiting_notes: 0,
            held: 0,
            interrupted: false,
            working: false,
        };
        AppEvent::ConversationChanged { conversation }
    }

    /// Checks the lines that are printed for these events, one after the other.
    #[track_caller]
    fn check(events: Vec<AppEvent>, expected: &[&str]) {
        check_with(QuestionDetail::Text, events, expected);
    }

    #[track_caller]
    fn check_with(question_detail: QuestionDetail, events: Vec<AppEvent>, expected: &[&str]) {
        let mut told = PrintedLines::new(question_detail);
        let printed: Vec<String> =
            events.into_iter().filter_map(|event| told.event_line(numbered(event))).collect();
        assert_eq!(printed, expected);
    }

    #[test]
    fn a_line_about_the_hub_comes_when_something_changes_and_not_again() {
        let (away, busy) = (Some("The hub does not answer."), Some("The hub is busy."));
        check(
            vec![
                hub(HubState::Connecting, None),
                hub(HubState::Waiting, away),
                hub(HubState::Connecting, away),
                hub(HubState::Waiting, away),
                hub(HubState::Waiting, busy),
                hub(HubState::Online, None),
                hub(HubState::Online, None),
                hub(HubState::Waiting, away),
            ],
            &[
                "The hub does not answer.",
                "The hub is busy.",
                "Connected to the hub.",
                "The hub does not answer.",
            ],
        );
    }

    #[test]
    fn a_question_is_printed_once_and_again_after_it_was_answered() {
        let lines = [
            "Waiting for an answer in “Milk”: Which one?",
            "Waiting for an answer in “Milk”: Which one?",
            "Waiting for an answer in “Milk”: How many?",
            "Waiting for an answer in “Milk”: Which one?",
        ];
        check(
            vec![
                asks("a", None),
                asks("a", Some("Which one?")),
                asks("a", Some("Which one?")),
                asks("b", Some("Which one?")),
                asks("a", Some("How many?")),
                asks("b", Some("Which one?")),
                asks("a", None),
                asks("a", Some("Which one?")),
            ],
            &lines,
        );
    }

    #[test]
    fn outside_a_terminal_a_question_is_printed_without_its_text_and_title() {
        let line = "A question waits for an answer in the conversation a.";
        check_with(
            QuestionDetail::Id,
            vec![
                asks("a", Some("Which one?")),
                asks("a", Some("Which one?")),
                asks("a", Some("How many?")),
            ],
            &[line, line],
        );
    }

    #[test]
    fn problems_and_trouble_with_settings_are_printed_once_each() {
        let (full, locked) = ("The disk is full.", "The note is locked.");
        check(
            vec![problem(full), problem(full), problem(locked), problem(full)],
            &[full, locked, full],
        );
        let cut = Some("The settings are cut off.");
        check(
            vec![settings(None), settings(cut), settings(cut), settings(None), settings(cut)],
            &["The settings are cut off.", "The settings are cut off."],
        );
        // A line of one kind does not repeat or remove those of the others.
        check(
            vec![
                problem(full),
                settings(Some(full)),
                hub(HubState::Waiting, Some(full)),
                problem(full),
            ],
            &[full, full, full],
        );
    }
}
