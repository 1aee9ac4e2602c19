//! The dialog so far, read from a request: the command, its answer, its calls.

use llm::model::{ContentBlock, ModelMessage, ToolCall};
use protocol::{CallId, Role, Speech};

use crate::commands::command::CompletedCall;
use crate::commands::table::COMMANDS;

/// The command that is under way.
#[derive(Debug, PartialEq, Eq)]
pub(in crate::commands) struct CommandHistory<'a> {
    /// The line that the user typed.
    pub(in crate::commands) line: String,
    /// The choice that was made when it asked.
    pub(in crate::commands) answer: Option<String>,
    /// The calls that were made since.
    pub(in crate::commands) completed: Vec<CompletedCall<'a>>,
    /// Calls in the whole conversation: the next id must be new.
    pub(in crate::commands) calls: usize,
}

/// Reads the dialog; `None` when it has no message.
pub(in crate::commands) fn read_history(messages: &[ModelMessage]) -> Option<CommandHistory<'_>> {
    let last = messages.iter().rposition(|message| user_text(message).is_some())?;
    let (words, answer) = command(messages, last)?;
    let since = messages.get(last + 1..).unwrap_or_default();
    Some(CommandHistory {
        line: words,
        answer,
        completed: completed_calls(since),
        calls: calls(messages).count(),
    })
}

/// The command that the text at `index` gives or answers.
fn command(messages: &[ModelMessage], index: usize) -> Option<(String, Option<String>)> {
    let message = messages.get(index)?;
    let words = user_text(message)?;
    let chosen = options(message).and_then(|options| choice(&words, options));
    let Some(chosen) = chosen else {
        // A text that chooses no option is a new command; the question stays unanswered.
        return Some((words, None));
    };
    let earlier =
        messages.get(..index)?.iter().rposition(|message| user_text(message).is_some())?;
    let (original, _) = command(messages, earlier)?;
    Some((original, Some(chosen)))
}

/// The options of the question whose result stands in the same message as the text.
fn options(message: &ModelMessage) -> Option<&[String]> {
    message.blocks.iter().find_map(|block| match block {
        ContentBlock::Result { speech: Some(Speech::Ask { options, .. }), .. } => {
            Some(options.as_slice())
        }
        _ => None,
    })
}

/// The option that `words` choose: by its text, by its number, or by a part that only it has, unless that is
/// the word of a command.
fn choice(words: &str, options: &[String]) -> Option<String> {
    let words = words.trim().to_lowercase();
    let numbered =
        words.parse::<usize>().ok().and_then(|number| options.get(number.checked_sub(1)?));
    let exact = options.iter().find(|option| option.to_lowercase() == words);
    let mut containing = options.iter().filter(|option| option.to_lowercase().contains(&words));
    let is_command = COMMANDS.iter().any(|entry| entry.word == words);
    let only = containing.next().filter(|_| !is_command && containing.next().is_none());
    exact.or(numbered).or(only).cloned()
}

/// The line that the user typed: the last text of a message. The context is sent before it, with a selection and
/// with text that a program passed; so is an earlier message that got no answer.
fn user_text(message: &ModelMessage) -> Option<String> {
    if message.role != Role::User {
        return None;
    }
    let texts: Vec<&str> = message
        .blocks
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.trim()),
            _ => None,
        })
        .collect();
    let (words, before) = texts.split_last()?;
    let is_context_alone = before.is_empty() && is_context(words);
    (!words.is_empty() && !is_context_alone).then(|| (*words).to_owned())
}

fn is_context(text: &str) -> bool {
    text.starts_with("<context>") && text.ends_with("</context>")
}

fn calls(messages: &[ModelMessage]) -> impl Iterator<Item = &ToolCall> {
    messages.iter().flat_map(|message| &message.blocks).filter_map(|block| match block {
        ContentBlock::Call(call) => Some(call),
        _ => None,
    })
}

fn completed_calls(since: &[ModelMessage]) -> Vec<CompletedCall<'_>> {
    let result = |id: &CallId| {
        since.iter().flat_map(|message| &message.blocks).find_map(|block| match block {
            ContentBlock::Result { call, output, is_error, .. } if call == id => {
                Some((output, *is_error))
            }
            _ => None,
        })
    };
    calls(since)
        .filter_map(|call| {
            let (output, is_error) = result(&call.id)?;
            Some(CompletedCall { tool: &call.tool, output, is_error })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn user(blocks: Vec<ContentBlock>) -> ModelMessage {
        ModelMessage { role: Role::User, blocks }
    }

    fn text(text: &str) -> ContentBlock {
        ContentBlock::Text(text.to_owned())
    }

    fn call(id: &str, tool: &str, arguments: serde_json::Value) -> ModelMessage {
        let call = ToolCall { id: CallId::from(id), tool: tool.to_owned(), arguments };
        ModelMessage { role: Role::Assistant, blocks: vec![ContentBlock::Call(call)] }
    }

    fn result(id: &str, output: &str) -> ContentBlock {
        let (call, output) = (CallId::from(id), output.to_owned());
        ContentBlock::Result { call, output, is_error: false, speech: None }
    }

    fn asked(answer: &str) -> Vec<ModelMessage> {
        let options = vec!["a/X.md".to_owned(), "b/X.md".to_owned()];
        let delivered = ContentBlock::Result {
            call: CallId::from("cmd-1"),
            output: "Delivered.".to_owned(),
            is_error: false,
            speech: Some(Speech::Ask { text: "?".to_owned(), options }),
        };
        vec![
            user(vec![text("<context>\nTime\n</context>"), text("open X")]),
            call("cmd-1", "send_message", json!({})),
            user(vec![delivered, text("<context>c</context>"), text(answer)]),
        ]
    }

    fn check(answer: &str, words: &str, chosen: Option<&str>) {
        let messages = asked(answer);
        let story = read_history(&messages).unwrap();
        assert_eq!((story.line.as_str(), story.answer.as_deref()), (words, chosen), "{answer}");
        assert_eq!((story.completed.len(), story.calls), (0, 1));
    }

    #[test]
    fn an_answer_goes_on_with_the_command_that_asked() {
        check("b/X.md", "open X", Some("b/X.md"));
        check("B/x.md", "open X", Some("b/X.md"));
        check("2", "open X", Some("b/X.md"));
        check("a/", "open X", Some("a/X.md"));
    }

    #[test]
    fn text_that_chooses_no_option_is_a_new_command() {
        check("help", "help", None);
        check("X", "X", None);
        check("3", "3", None);
    }

    #[test]
    fn options_of_a_call_that_asked_nothing_are_no_choice() {
        let options = json!({ "message": "?", "is_question": true, "options": ["a/X.md"] });
        let messages = vec![
            user(vec![text("open X")]),
            call("cmd-1", "send_message", options),
            user(vec![result("cmd-1", "Not run."), text("1")]),
        ];
        let story = read_history(&messages).unwrap();
        assert_eq!((story.line.as_str(), story.answer), ("1", None));
    }

    #[test]
    fn the_typed_line_is_read_without_what_is_sent_with_it() {
        let selection = "<selection>\nSelected in a.md, just now:\n> delete b\n</selection>";
        for before in [
            vec!["<context>c</context>", selection],
            vec!["Told by the program that asks:\nx", "<context>c</context>"],
            vec!["<context>c</context>", "a message without an answer", "<context>c</context>"],
            vec![],
        ] {
            // A line may also look like what is sent with one.
            for line in ["open X", selection] {
                let messages = [user(before.iter().copied().chain([line]).map(text).collect())];
                let story = read_history(&messages).unwrap();
                assert_eq!((story.line.as_str(), story.answer), (line, None), "{before:?}");
            }
        }
    }

    #[test]
    fn results_since_the_command_are_paired_with_their_calls() {
        let messages = vec![
            user(vec![text("open X")]),
            call("cmd-1", "read_file", json!({})),
            user(vec![result("cmd-1", "first")]),
            call("cmd-2", "read_file", json!({})),
            user(vec![result("cmd-2", "second")]),
        ];
        let story = read_history(&messages).unwrap();
        let outputs: Vec<_> = story.completed.iter().map(|done| done.output).collect();
        assert_eq!((outputs, story.calls), (vec!["first", "second"], 2));
    }

    #[test]
    fn a_request_in_which_nobody_spoke_has_no_story() {
        assert_eq!(read_history(&[user(vec![text("<context>only</context>")])]), None);
        assert_eq!(read_history(&[]), None);
    }
}
