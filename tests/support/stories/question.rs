//! Stories in which the model asks the user something, while other messages wait: the model's part,
//! and the user's, who goes on wherever the story stands after a crash.

use std::path::{Path, PathBuf};

use app::{App, DataDir, TimeScale};
use protocol::chat::conversation::{ChatItem, ConversationView};
use protocol::request::SendMessageRequest;
use protocol::settings::TitleSource;
use protocol::{ConversationId, ErrorCode, QuestionId, ResumePolicy, Settings, UserError};
use serde_json::{Value, json};

use crate::fault_injection::fault_points;
use crate::scripted_model::Reply;
use crate::stories::multi_call::completed_calls_in;

/// The stories that are played in the window: by how the question is met.
pub const STORIES: [&str; 4] = ["option", "free", "other", "repeat"];
/// The one that is played over the hub.
pub const HUB: &str = "hub";
/// The note that each story begins with.
pub const NOTE: (&str, &str) = ("List.md", "# List\n");
/// The note that keeps hub messages.
pub const INBOX: &str = "inbox/Inbox.md";
/// The message at which the model asks; to others it answers with a word.
pub const ASK: &str = "play question";
const ASK_AGAIN: &str = "play question again";
const UNRELATED_MESSAGES: [&str; 2] = ["and now?", "how is the weather"];
/// Messages that are typed before the question has come.
const QUEUED_MESSAGES: [&str; 2] = ["note one", "note two"];
/// The clocks of these stories: a hub is told something every 11 ms.
const TIME_DIVISOR: u32 = 100;

type QuestionStoryCall = (&'static str, Value);

/// The model: what it does follows from the request alone, and what has a good result is not done again.
#[must_use]
pub fn reply(request: &Value) -> Reply {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(place) = messages.iter().rposition(|message| texts(message).next().is_some()) else {
        return Reply::text("Nobody said anything.");
    };
    let told: Vec<&str> = texts(&messages[place]).collect();
    let done = completed_calls_in(messages[place..].iter());
    for batch in planned_calls(&told) {
        let is_open =
            |call: &QuestionStoryCall| !done.contains(&(call.0.to_owned(), call.1.to_string()));
        let open: Vec<QuestionStoryCall> = batch.into_iter().filter(is_open).collect();
        if !open.is_empty() {
            return Reply::calls(open);
        }
    }
    Reply::text("Noted.")
}

/// The user's text and its context, in one message.
fn texts(message: &Value) -> impl Iterator<Item = &str> {
    let blocks = message["content"].as_array().filter(|_| message["role"] == "user");
    blocks.into_iter().flatten().filter_map(|block| block["text"].as_str())
}

/// How often this text is a message of the user in a request.
#[must_use]
pub fn count_user_text(request: &Value, words: &str) -> usize {
    let messages = request["messages"].as_array().into_iter().flatten();
    messages.flat_map(texts).filter(|text| *text == words).count()
}

fn planned_calls(told: &[&str]) -> Vec<Vec<QuestionStoryCall>> {
    let words = told.last().copied().unwrap_or_default();
    let append = |path: &str| {
        vec![("append_file", json!({ "path": path, "content": format!("- {words}") }))]
    };
    let asks = |text: &str, options: [&str; 2]| {
        let question = json!({ "message": text, "is_question": true, "options": options });
        vec![("send_message", question)]
    };
    if words == ASK {
        let reads = vec![("read_file", json!({ "path": NOTE.0 }))];
        return vec![reads, asks("Which colour?", ["Red", "Blue"])];
    }
    if words == ASK_AGAIN {
        return vec![asks("Which size?", ["Small", "Large"])];
    }
    if let Some(question) = told.iter().find_map(|text| question_in_context(text)) {
        let is_answer = words.contains("blue");
        let settles = json!({ "question_id": question, "is_answer": is_answer });
        let settles = vec![("resolve_question", settles)];
        return if is_answer { vec![settles, append(INBOX)] } else { vec![settles] };
    }
    if UNRELATED_MESSAGES.contains(&words) { Vec::new() } else { vec![append(NOTE.0)] }
}

/// The question that the context of a message of the hub names.
fn question_in_context(told: &str) -> Option<&str> {
    told.split("Your question `").nth(1)?.split('`').next()
}

/// A story from wherever it stands to its end, and what became of it. `CONTROL` is a user who does
/// wrong: `twice` says an answer that was taken once more, `silent` gives none.
pub async fn play(data: PathBuf, vault: &Path, story: &str) -> Value {
    let data = DataDir::at(data).expect("a data directory");
    let app = App::start_at(data, TimeScale::divided_by(TIME_DIVISOR));
    let settings = Settings {
        resume: ResumePolicy::Always,
        titles: TitleSource::Words,
        ..Settings::default()
    };
    app.save_settings(settings).await.expect("saved");
    if story != HUB {
        fault_points::block("llm.step.before");
    }
    app.open_vault(vault).await.expect("the vault opens");
    let mut user =
        QuestionStoryUser { app, control: std::env::var("CONTROL").ok(), wrong: Vec::new() };
    let chat = match story {
        HUB => user.run_over_hub().await,
        story => Some(user.run_in_window(story).await),
    };
    let told = user.outcome(chat.as_ref()).await;
    user.app.shutdown().await;
    told
}

struct QuestionStoryUser {
    app: App,
    control: Option<String>,
    wrong: Vec<String>,
}

impl QuestionStoryUser {
    /// All messages come over the hub: this only looks, until its input ends.
    async fn run_over_hub(&mut self) -> Option<ConversationId> {
        if let Some(chat) = self.find_conversation().await {
            self.check_view(&chat).await;
        }
        let ended = tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin()));
        ended.await.expect("it is read").expect("it ends");
        self.find_conversation().await
    }

    async fn run_in_window(&mut self, story: &str) -> ConversationId {
        let mut chat = self.find_conversation().await;
        if let Some(chat) = &chat {
            self.check_view(chat).await;
        }
        for words in [ASK].into_iter().chain(QUEUED_MESSAGES) {
            chat = Some(self.send_once(chat, words).await);
        }
        let chat = chat.expect("something was said");
        // From here on the model may ask: what was typed is there before.
        fault_points::unblock();
        self.answer_again(&chat).await;
        loop {
            self.app.wait_until_idle(&chat).await.expect("idle");
            let view = self.check_view(&chat).await;
            let Some(question) = view.question.clone() else { break };
            protocol::fault_injection::point("user.is.asked");
            match (story, questions_in(&view).len()) {
                _ if self.has_control("silent") => return chat,
                ("other", 1) => self.send(&chat, "note three", None).await,
                ("repeat", 1) => self.send(&chat, ASK_AGAIN, None).await,
                _ => self.send(&chat, answer_text(story), Some(question.id)).await,
            }
            .expect("it is taken");
            protocol::fault_injection::point("user.has.answered");
            self.answer_again(&chat).await;
        }
        self.send_once(Some(chat.clone()), "and now?").await;
        self.app.wait_until_idle(&chat).await.expect("idle");
        self.answer_again(&chat).await;
        chat
    }

    /// Sends a message unless it was sent before a crash.
    async fn send_once(&mut self, chat: Option<ConversationId>, words: &str) -> ConversationId {
        if let Some(chat) = &chat
            && user_messages(&self.view(chat).await).contains(&words.to_owned())
        {
            return chat.clone();
        }
        let request = SendMessageRequest {
            conversation: chat,
            text: words.to_owned(),
            answers: None,
            open_note: None,
        };
        self.app.send(request).await.expect("it is taken")
    }

    async fn send(
        &self,
        chat: &ConversationId,
        words: &str,
        answers: Option<QuestionId>,
    ) -> Result<ConversationId, UserError> {
        let (conversation, text) = (Some(chat.clone()), words.to_owned());
        self.app.send(SendMessageRequest { conversation, text, answers, open_note: None }).await
    }

    /// A user who does not know whether the answer was taken gives it again, or another one.
    async fn answer_again(&mut self, chat: &ConversationId) {
        for (id, _, answer, withdrawn) in questions_in(&self.view(chat).await) {
            let question = Some(QuestionId::from(id.as_str()));
            if self.has_control("twice")
                && let Some(answer) = &answer
            {
                self.send(chat, answer, None).await.expect("it is taken");
                return;
            }
            let tries = match (answer, withdrawn) {
                (None, false) => continue,
                (_, true) => vec![("Blue".to_owned(), "This question was withdrawn".to_owned())],
                (Some(answer), false) => {
                    let contradicted = format!("already answered with “{answer}”");
                    vec![
                        (answer, "already answered with this text".to_owned()),
                        ("Another one".to_owned(), contradicted),
                    ]
                }
            };
            for (words, refusal) in tries {
                match self.send(chat, &words, question.clone()).await {
                    Err(why)
                        if why.code == ErrorCode::Answered && why.message.contains(&refusal) => {}
                    other => self.wrong.push(format!("“{words}” came to {other:?}")),
                }
            }
        }
    }

    fn has_control(&self, control: &str) -> bool {
        self.control.as_deref() == Some(control)
    }

    async fn find_conversation(&self) -> Option<ConversationId> {
        let snapshot = self.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
        snapshot.conversations.into_iter().map(|conversation| conversation.id).next()
    }

    async fn view(&self, chat: &ConversationId) -> ConversationView {
        self.app.conversation(chat).await.expect("a view")
    }

    /// Checks the view; an open question is shown as one in every place.
    async fn check_view(&mut self, chat: &ConversationId) -> ConversationView {
        let view = self.view(chat).await;
        let mut waits = questions_in(&view);
        waits.retain(|(_, _, answer, withdrawn)| answer.is_none() && !withdrawn);
        let listed = view.conversation.waiting_question.as_deref();
        let is_shown = match (waits.as_slice(), &view.question) {
            ([], None) => listed.is_none(),
            ([(id, text, ..)], Some(question)) => {
                question.id.as_str() == id
                    && question.text == *text
                    && question.options.len() == 2
                    && listed == Some(text)
            }
            _ => false,
        };
        if !is_shown {
            self.wrong.push(format!("shown: {waits:?}, {:?}, {listed:?}", view.question));
        }
        view
    }

    async fn outcome(&mut self, chat: Option<&ConversationId>) -> Value {
        let points = fault_points::passed_count();
        let Some(chat) = chat else {
            return json!({ "points": points, "story": null, "wrong": [] });
        };
        let view = self.check_view(chat).await;
        let questions: Vec<_> = questions_in(&view)
            .into_iter()
            .map(|(_, text, answer, withdrawn)| json!([text, answer, withdrawn]))
            .collect();
        for item in &view.items {
            match item {
                ChatItem::Ended { .. }
                | ChatItem::Tool { output: None, .. }
                | ChatItem::User { queued: true, .. } => {
                    self.wrong.push(format!("left: {item:?}"));
                }
                _ => {}
            }
        }
        let story = json!({ "asked": questions, "said": user_messages(&view) });
        json!({ "points": points, "story": story, "wrong": self.wrong })
    }
}

fn answer_text(story: &str) -> &'static str {
    match story {
        "free" => "something green, please",
        "repeat" => "Large",
        _ => "Blue",
    }
}

fn user_messages(view: &ConversationView) -> Vec<String> {
    let words = view.items.iter().filter_map(|item| match item {
        ChatItem::User { text, .. } => Some(text.clone()),
        _ => None,
    });
    words.collect()
}

/// Each question: its id, its text, its answer, and whether it was withdrawn.
fn questions_in(view: &ConversationView) -> Vec<(String, String, Option<String>, bool)> {
    let asked = view.items.iter().filter_map(|item| match item {
        ChatItem::Asked { id, text, answer, withdrawn } => {
            Some((id.to_string(), text.clone(), answer.clone(), *withdrawn))
        }
        _ => None,
    });
    asked.collect()
}
