//! Stories in which the model asks the user something, while other messages wait: the model's part,
//! and the user's, who goes on wherever the story stands after a crash.

use std::path::{Path, PathBuf};

use app::{App, DataDir, Pace};
use protocol::conversation::{ConversationView, Item};
use protocol::request::SendMessage;
use protocol::settings::Titles;
use protocol::{ConversationId, ErrorCode, QuestionId, Resume, Settings, UserError};
use serde_json::{Value, json};

use crate::long_story::done_in;
use crate::plug;
use crate::scripted_model::Reply;

/// The stories that are played in the window: by how the question is met.
pub const STORIES: [&str; 4] = ["option", "free", "other", "anew"];
/// The one that is played over the hub.
pub const HUB: &str = "hub";
/// The note that each story begins with.
pub const NOTE: (&str, &str) = ("List.md", "# List\n");
/// Where the words of the hub go.
pub const INBOX: &str = "inbox/Inbox.md";
/// What the model asks of, and what it says nothing to but a word.
pub const ASK: &str = "play question";
const ASK_AGAIN: &str = "play question again";
const QUIET: [&str; 2] = ["and now?", "how is the weather"];
/// What is typed before the question has come.
const TYPED: [&str; 2] = ["note one", "note two"];
/// The clocks of these stories: a hub is told something every 11 ms.
const HURRIED: u32 = 100;

type Call = (&'static str, Value);

/// The model: what it does follows from the request alone, and what has a good result is not done again.
#[must_use]
pub fn model(request: &Value) -> Reply {
    let messages = request["messages"].as_array().map(Vec::as_slice).unwrap_or_default();
    let Some(place) = messages.iter().rposition(|message| texts(message).next().is_some()) else {
        return Reply::text("Nobody said anything.");
    };
    let told: Vec<&str> = texts(&messages[place]).collect();
    let done = done_in(messages[place..].iter());
    for batch in wanted(&told) {
        let is_open = |call: &Call| !done.contains(&(call.0.to_owned(), call.1.to_string()));
        let open: Vec<Call> = batch.into_iter().filter(is_open).collect();
        if !open.is_empty() {
            return Reply::calls(open);
        }
    }
    Reply::text("Noted.")
}

/// What the user said and was told around it, in one message.
fn texts(message: &Value) -> impl Iterator<Item = &str> {
    let blocks = message["content"].as_array().filter(|_| message["role"] == "user");
    blocks.into_iter().flatten().filter_map(|block| block["text"].as_str())
}

/// How often these very words stand as words of the user in a request.
#[must_use]
pub fn times_heard(request: &Value, words: &str) -> usize {
    let messages = request["messages"].as_array().into_iter().flatten();
    messages.flat_map(texts).filter(|text| *text == words).count()
}

fn wanted(told: &[&str]) -> Vec<Vec<Call>> {
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
    if let Some(question) = told.iter().find_map(|text| named(text)) {
        let is_answer = words.contains("blue");
        let settles = json!({ "question_id": question, "is_answer": is_answer });
        let settles = vec![("resolve_question", settles)];
        return if is_answer { vec![settles, append(INBOX)] } else { vec![settles] };
    }
    if QUIET.contains(&words) { Vec::new() } else { vec![append(NOTE.0)] }
}

/// The question that the context of a message of the hub names.
fn named(told: &str) -> Option<&str> {
    told.split("Your question `").nth(1)?.split('`').next()
}

/// A story from wherever it stands to its end, and what became of it. `CONTROL` is a user who does
/// wrong: `twice` says an answer that was taken once more, `silent` gives none.
pub async fn play(data: PathBuf, vault: &Path, story: &str) -> Value {
    let data = DataDir::at(data).expect("a data directory");
    let app = App::start_at(data, Pace::divided_by(HURRIED));
    let settings =
        Settings { resume: Resume::Always, titles: Titles::Words, ..Settings::default() };
    app.save_settings(settings).await.expect("saved");
    if story != HUB {
        plug::shut("llm.step.before");
    }
    app.open_vault(vault).await.expect("the vault opens");
    let mut user = User { app, control: std::env::var("CONTROL").ok(), wrong: Vec::new() };
    let chat = match story {
        HUB => user.listens().await,
        story => Some(user.talks(story).await),
    };
    let told = user.tells(chat.as_ref()).await;
    user.app.shutdown().await;
    told
}

struct User {
    app: App,
    control: Option<String>,
    wrong: Vec<String>,
}

impl User {
    /// Everything is said over the hub: this only looks, until its input ends.
    async fn listens(&mut self) -> Option<ConversationId> {
        if let Some(chat) = self.chat().await {
            self.look(&chat).await;
        }
        let ended = tokio::task::spawn_blocking(|| std::io::read_to_string(std::io::stdin()));
        ended.await.expect("it is read").expect("it ends");
        self.chat().await
    }

    async fn talks(&mut self, story: &str) -> ConversationId {
        let mut chat = self.chat().await;
        if let Some(chat) = &chat {
            self.look(chat).await;
        }
        for words in [ASK].into_iter().chain(TYPED) {
            chat = Some(self.says_once(chat, words).await);
        }
        let chat = chat.expect("something was said");
        // From here on the model may ask: what was typed is there before.
        plug::open();
        self.tries_again(&chat).await;
        loop {
            self.app.idle(&chat).await.expect("idle");
            let view = self.look(&chat).await;
            let Some(question) = view.question.clone() else { break };
            protocol::fault::point("user.is.asked");
            match (story, asked(&view).len()) {
                _ if self.is_told("silent") => return chat,
                ("other", 1) => self.says(&chat, "note three", None).await,
                ("anew", 1) => self.says(&chat, ASK_AGAIN, None).await,
                _ => self.says(&chat, answer(story), Some(question.id)).await,
            }
            .expect("it is taken");
            protocol::fault::point("user.has.answered");
            self.tries_again(&chat).await;
        }
        self.says_once(Some(chat.clone()), "and now?").await;
        self.app.idle(&chat).await.expect("idle");
        self.tries_again(&chat).await;
        chat
    }

    /// Says something unless it was said before a crash.
    async fn says_once(&mut self, chat: Option<ConversationId>, words: &str) -> ConversationId {
        if let Some(chat) = &chat
            && said(&self.view(chat).await).contains(&words.to_owned())
        {
            return chat.clone();
        }
        let request = SendMessage {
            conversation: chat,
            text: words.to_owned(),
            answers: None,
            open_note: None,
        };
        self.app.send(request).await.expect("it is taken")
    }

    async fn says(
        &self,
        chat: &ConversationId,
        words: &str,
        answers: Option<QuestionId>,
    ) -> Result<ConversationId, UserError> {
        let (conversation, text) = (Some(chat.clone()), words.to_owned());
        self.app.send(SendMessage { conversation, text, answers, open_note: None }).await
    }

    /// Who does not know whether the answer was taken gives it again, or another one.
    async fn tries_again(&mut self, chat: &ConversationId) {
        for (id, _, answer, withdrawn) in asked(&self.view(chat).await) {
            let question = Some(QuestionId::from(id.as_str()));
            if self.is_told("twice")
                && let Some(answer) = &answer
            {
                self.says(chat, answer, None).await.expect("it is taken");
                return;
            }
            let tries = match (answer, withdrawn) {
                (None, false) => continue,
                (_, true) => vec![("Blue".to_owned(), "This question was withdrawn".to_owned())],
                (Some(answer), false) => {
                    let contradicted = format!("already answered with “{answer}”");
                    vec![
                        (answer, "already answered with these words".to_owned()),
                        ("Another one".to_owned(), contradicted),
                    ]
                }
            };
            for (words, refusal) in tries {
                match self.says(chat, &words, question.clone()).await {
                    Err(why)
                        if why.code == ErrorCode::Answered && why.message.contains(&refusal) => {}
                    other => self.wrong.push(format!("“{words}” came to {other:?}")),
                }
            }
        }
    }

    fn is_told(&self, control: &str) -> bool {
        self.control.as_deref() == Some(control)
    }

    async fn chat(&self) -> Option<ConversationId> {
        let snapshot = self.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
        snapshot.conversations.into_iter().map(|conversation| conversation.id).next()
    }

    async fn view(&self, chat: &ConversationId) -> ConversationView {
        self.app.conversation(chat).await.expect("a view")
    }

    /// What is shown; a question that waits is shown as one wherever the user looks.
    async fn look(&mut self, chat: &ConversationId) -> ConversationView {
        let view = self.view(chat).await;
        let mut waits = asked(&view);
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

    async fn tells(&mut self, chat: Option<&ConversationId>) -> Value {
        let points = plug::passed();
        let Some(chat) = chat else {
            return json!({ "points": points, "story": null, "wrong": [] });
        };
        let view = self.look(chat).await;
        let questions: Vec<_> = asked(&view)
            .into_iter()
            .map(|(_, text, answer, withdrawn)| json!([text, answer, withdrawn]))
            .collect();
        for item in &view.items {
            match item {
                Item::Ended { .. }
                | Item::Tool { output: None, .. }
                | Item::User { queued: true, .. } => {
                    self.wrong.push(format!("left: {item:?}"));
                }
                _ => {}
            }
        }
        let story = json!({ "asked": questions, "said": said(&view) });
        json!({ "points": points, "story": story, "wrong": self.wrong })
    }
}

fn answer(story: &str) -> &'static str {
    match story {
        "free" => "something green, please",
        "anew" => "Large",
        _ => "Blue",
    }
}

fn said(view: &ConversationView) -> Vec<String> {
    let words = view.items.iter().filter_map(|item| match item {
        Item::User { text, .. } => Some(text.clone()),
        _ => None,
    });
    words.collect()
}

/// Each question: its id, its words, its answer, and whether it was withdrawn.
fn asked(view: &ConversationView) -> Vec<(String, String, Option<String>, bool)> {
    let asked = view.items.iter().filter_map(|item| match item {
        Item::Asked { id, text, answer, withdrawn } => {
            Some((id.to_string(), text.clone(), answer.clone(), *withdrawn))
        }
        _ => None,
    });
    asked.collect()
}
