//! `ask`: words go in, the answer streams out, changes are shown as a diff or written.

mod json;

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use app::{DataDir, FeedListener, OneShotAnswer, OneShotQuestion};
use clap::Args;
use protocol::chat::conversation::ChatItem;
use protocol::event::ModelWait;
use protocol::{AppEvent, NotePath, Passage, ToolEvent, UserError};

use crate::terminal::{eprint_line, write, write_json};

/// How the process ends when the question reached a limit: of its steps, or of spending.
const EXIT_AT_LIMIT: u8 = 4;

/// Arguments of `ask`.
#[derive(Debug, Args)]
pub(crate) struct AskArgs {
    /// Path to your vault (the folder with your notes).
    #[arg(long, value_name = "DIR")]
    vault: PathBuf,
    /// Treat this note as the open one.
    #[arg(long, value_name = "PATH")]
    note: Option<String>,
    /// Apply changes. Without this flag they are printed as a diff and discarded.
    #[arg(long)]
    write: bool,
    /// Read one JSON object (`message`, `context`, `history`) and print one (`messages`, `calls`,
    /// `change_set`, `reactions`, `stop_reason`, `error`, `sources`, `history`). What `context` and `history` hold
    /// without a source (`context_sources`, `sources`) counts as foreign. What `history` holds without `max_privacy`
    /// counts as the text of a model that sees all notes.
    #[arg(long, conflicts_with = "text")]
    json: bool,
    /// The question or instruction.
    #[arg(required_unless_present = "json", value_name = "TEXT")]
    text: Vec<String>,
}

/// Whether changes are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ChangeOutput {
    Yes,
    No,
}

/// Runs one turn and prints it: the answer on stdout, what is done on stderr.
pub(crate) async fn run(data: DataDir, arguments: AskArgs) -> Result<ExitCode, UserError> {
    if arguments.json {
        return run_json(data, arguments).await;
    }
    let printer = Arc::new(Mutex::new(EventPrinter::default()));
    let heard = Arc::clone(&printer);
    let listener: FeedListener = Box::new(move |batch| {
        let mut printer = heard.lock().unwrap_or_else(PoisonError::into_inner);
        batch.into_iter().for_each(|numbered| printer.print_event(numbered.event));
        true
    });
    let question = OneShotQuestion {
        vault: arguments.vault,
        text: arguments.text.join(" "),
        note: arguments.note,
        write: arguments.write,
        context: None,
        history: Vec::new(),
    };
    let asked = app::ask_once(data, question, listener).await?;
    printer.lock().unwrap_or_else(PoisonError::into_inner).end_line();
    report_unsent_note(&asked);
    if is_cut_by_length(&asked.items) {
        eprint_line("(Answer cut off: length limit reached)");
    }
    if !asked.planned.is_empty() {
        let diffs: String = asked.planned.iter().map(|note| note.diff.as_str()).collect();
        write(&format!("\n{diffs}"));
        match asked.waiting.as_slice() {
            [] => eprint_line("No changes made. Run again with --write to apply them."),
            waiting => eprint_line(pending_text(waiting)),
        }
    }
    match asked.error {
        Some(error) if asked.at_limit => {
            eprint_line(error);
            Ok(ExitCode::from(EXIT_AT_LIMIT))
        }
        Some(error) => Err(error),
        None if asked.at_limit => {
            eprint_line("Reached the limit of steps for one question. Ask once more to continue.");
            Ok(ExitCode::from(EXIT_AT_LIMIT))
        }
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Reports that the note of `--note` was not sent, so that an answer without it surprises nobody.
fn report_unsent_note(asked: &OneShotAnswer) {
    if let Some(note) = &asked.unsent_note {
        eprint_line(format_args!("{note} is a private note, so it wasn’t sent with the question."));
    }
}

/// Whether the answer was cut although its turn is done: one that ended otherwise tells its own reason.
fn is_cut_by_length(items: &[ChatItem]) -> bool {
    let is_cut = |item: &ChatItem| matches!(item, ChatItem::Assistant { cut: true, .. });
    let ended_early = |item: &ChatItem| matches!(item, ChatItem::Ended { .. });
    items.iter().any(is_cut) && !items.iter().any(ended_early)
}

/// The message about pending changes that should have been written.
fn pending_text(notes: &[NotePath]) -> String {
    let changes = match notes.len() {
        1 => "1 change is waiting for review".to_owned(),
        more => format!("{more} changes are waiting for review"),
    };
    let names: Vec<&str> = notes.iter().map(NotePath::as_str).collect();
    format!(
        "{changes}: {}. Open the vault in Vaultmate to accept or reject what is shown above.",
        names.join(", ")
    )
}

/// The same as a program wants it. A turn that failed is told in the object, and by the exit code.
async fn run_json(data: DataDir, arguments: AskArgs) -> Result<ExitCode, UserError> {
    let input = json::AskInput::read()?;
    let question = OneShotQuestion {
        vault: arguments.vault,
        text: input.message.clone(),
        note: arguments.note,
        write: arguments.write,
        context: input.context(),
        history: input.prior_messages(),
    };
    let written = if arguments.write { ChangeOutput::Yes } else { ChangeOutput::No };
    let asked = app::ask_once(data, question, Box::new(|_| true)).await?;
    report_unsent_note(&asked);
    write_json(&json::output(&input, &asked, written))
        .map_err(|error| output_error(&error, &asked))?;
    Ok(match asked.error {
        _ if asked.at_limit => ExitCode::from(EXIT_AT_LIMIT),
        Some(_) => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    })
}

/// The answer is lost with its output; changes that were made are not.
fn output_error(error: &io::Error, asked: &OneShotAnswer) -> UserError {
    UserError::other(if asked.written.is_empty() {
        format!("Couldn’t write the answer: {error}. Write it to another place, and ask again.")
    } else {
        format!(
            "The changes are made, but the answer couldn’t be written: {error}. Open the vault in \
             Vaultmate to see them."
        )
    })
}

/// The message while a model on this computer gets ready.
fn wait_text(wait: ModelWait) -> String {
    match wait {
        ModelWait::Reading { tokens } => format!("(Reading {} tokens …)", thousands(tokens)),
        ModelWait::Loading => "(The server loads the model …)".to_owned(),
    }
}

/// `4,300`, to the hundred.
fn thousands(tokens: u32) -> String {
    let rounded = tokens.div_ceil(100) * 100;
    match (rounded / 1_000, rounded % 1_000) {
        (0, rest) => rest.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}

/// Prints what happens, in order.
#[derive(Default)]
struct EventPrinter {
    mid_line: bool,
    streamed: bool,
}

impl EventPrinter {
    fn print_event(&mut self, event: AppEvent) {
        match event {
            AppEvent::TextAdded { text, .. } => {
                self.streamed = true;
                self.print_text(&text);
            }
            AppEvent::ItemChanged { item, .. } => self.print_item(item),
            AppEvent::WaitChanged { wait: Some(wait), .. } => {
                self.end_line();
                eprint_line(wait_text(wait));
            }
            AppEvent::Problem { error } => eprint_line(error),
            _ => {}
        }
    }

    fn print_item(&mut self, item: ChatItem) {
        match item {
            ChatItem::Assistant { streaming: true, .. } => self.end_line(),
            ChatItem::Assistant { text, .. } => {
                if !std::mem::take(&mut self.streamed) {
                    self.end_line();
                    self.print_text(&text);
                }
                self.end_line();
            }
            ChatItem::Asked { text, .. } => {
                self.end_line();
                self.print_text(&text);
                self.end_line();
            }
            ChatItem::Tool { tool, output: Some(output), is_error, reactions, .. } => {
                self.end_line();
                self.print_tool(&tool, &output, is_error, &reactions);
            }
            _ => {}
        }
    }

    fn print_tool(&mut self, tool: &str, output: &str, is_error: bool, reactions: &[ToolEvent]) {
        let passages = reactions.iter().find_map(|reaction| match reaction {
            ToolEvent::Passages { passages, .. } => Some(passages),
            _ => None,
        });
        if let Some(passages) = passages {
            passages.iter().for_each(|passage| self.print_passage(passage));
            return;
        }
        let first = output.lines().next().unwrap_or_default();
        let mark = if is_error { "!" } else { "·" };
        eprint_line(format_args!("{mark} {tool}: {first}"));
    }

    fn print_passage(&mut self, passage: &Passage) {
        let heading = passage.heading.as_ref().map(|heading| format!(" › {heading}"));
        let place = format!("{}:{}{}\n", passage.path, passage.line, heading.unwrap_or_default());
        self.print_text(&place);
        for line in passage.text.lines() {
            self.print_text(&format!("    {line}\n"));
        }
        self.print_text("\n");
    }

    fn print_text(&mut self, text: &str) {
        write(text);
        self.mid_line = !text.is_empty() && !text.ends_with('\n');
    }

    fn end_line(&mut self) {
        if self.mid_line {
            self.print_text("\n");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_reading(tokens: u32, expected: &str) {
        assert_eq!(wait_text(ModelWait::Reading { tokens }), expected, "{tokens}");
    }

    #[test]
    fn the_wait_for_a_long_prompt_is_told_with_its_tokens_to_the_hundred() {
        check_reading(1, "(Reading 100 tokens …)");
        check_reading(100, "(Reading 100 tokens …)");
        check_reading(101, "(Reading 200 tokens …)");
        check_reading(900, "(Reading 900 tokens …)");
        check_reading(901, "(Reading 1,000 tokens …)");
        check_reading(4_250, "(Reading 4,300 tokens …)");
        check_reading(12_001, "(Reading 12,100 tokens …)");
        check_reading(131_072, "(Reading 131,100 tokens …)");
    }

    #[test]
    fn a_server_that_loads_its_model_is_told_without_a_figure() {
        assert_eq!(wait_text(ModelWait::Loading), "(The server loads the model …)");
    }
}
