//! `ask`: words go in, the answer streams out, changes are shown as a diff or written.

use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use app::{DataDir, Listener, Question};
use clap::Args;
use protocol::conversation::Item;
use protocol::{AppEvent, Passage, Reaction, UserError};

use crate::terminal::{note, write};

/// Arguments of `ask`.
#[derive(Debug, Args)]
pub(crate) struct Arguments {
    /// The folder of notes.
    #[arg(long, value_name = "DIR")]
    vault: PathBuf,
    /// The note that counts as open.
    #[arg(long, value_name = "PATH")]
    note: Option<String>,
    /// Write changes; without it they are printed as a diff and discarded.
    #[arg(long)]
    write: bool,
    /// The words.
    #[arg(required = true, value_name = "TEXT")]
    text: Vec<String>,
}

/// Runs one turn and prints it: the answer on stdout, what is done on stderr.
pub(crate) async fn run(data: DataDir, arguments: Arguments) -> Result<ExitCode, UserError> {
    let printer = Arc::new(Mutex::new(Printer::default()));
    let heard = Arc::clone(&printer);
    let listener: Listener = Box::new(move |batch| {
        let mut printer = heard.lock().unwrap_or_else(PoisonError::into_inner);
        batch.into_iter().for_each(|numbered| printer.hear(numbered.event));
        true
    });
    let question = Question {
        vault: arguments.vault,
        text: arguments.text.join(" "),
        note: arguments.note,
        write: arguments.write,
    };
    let asked = app::ask(data, question, listener).await?;
    printer.lock().unwrap_or_else(PoisonError::into_inner).end_line();
    if !asked.diff.is_empty() {
        write(&format!("\n{}", asked.diff));
        note("Nothing was changed: add --write to change the notes.");
    }
    match asked.error {
        Some(error) => Err(error),
        None => Ok(ExitCode::SUCCESS),
    }
}

/// Prints what happens, in order.
#[derive(Default)]
struct Printer {
    mid_line: bool,
    streamed: bool,
}

impl Printer {
    fn hear(&mut self, event: AppEvent) {
        match event {
            AppEvent::TextAdded { text, .. } => {
                self.streamed = true;
                self.out(&text);
            }
            AppEvent::ItemChanged { item, .. } => self.item(item),
            AppEvent::Problem { error } => note(error),
            _ => {}
        }
    }

    fn item(&mut self, item: Item) {
        match item {
            Item::Assistant { streaming: true, .. } => self.end_line(),
            Item::Assistant { text, cut, .. } => {
                if !std::mem::take(&mut self.streamed) {
                    self.end_line();
                    self.out(&text);
                }
                self.end_line();
                if cut {
                    note("(The answer was cut off here.)");
                }
            }
            Item::Asked { text, .. } => {
                self.end_line();
                self.out(&text);
                self.end_line();
            }
            Item::Tool { tool, output: Some(output), is_error, reactions, .. } => {
                self.end_line();
                self.tool(&tool, &output, is_error, &reactions);
            }
            _ => {}
        }
    }

    fn tool(&mut self, tool: &str, output: &str, is_error: bool, reactions: &[Reaction]) {
        let passages = reactions.iter().find_map(|reaction| match reaction {
            Reaction::Passages { passages, .. } => Some(passages),
            _ => None,
        });
        if let Some(passages) = passages {
            passages.iter().for_each(|passage| self.passage(passage));
            return;
        }
        let first = output.lines().next().unwrap_or_default();
        let mark = if is_error { "!" } else { "·" };
        note(format_args!("{mark} {tool}: {first}"));
    }

    fn passage(&mut self, passage: &Passage) {
        let heading = passage.heading.as_ref().map(|heading| format!(" › {heading}"));
        let place = format!("{}:{}{}\n", passage.path, passage.line, heading.unwrap_or_default());
        self.out(&place);
        for line in passage.text.lines() {
            self.out(&format!("    {line}\n"));
        }
        self.out("\n");
    }

    fn out(&mut self, text: &str) {
        write(text);
        self.mid_line = !text.is_empty() && !text.ends_with('\n');
    }

    fn end_line(&mut self) {
        if self.mid_line {
            self.out("\n");
        }
    }
}
