//! Exports of conversations, against a real store and real files.

use std::path::PathBuf;

use protocol::{
    CallResult, Message, MessagePart, NewTurn, Origin, Role, Speech, Timestamp, TokenUsage,
    TurnEnding, TurnStatus, TurnStep,
};
use serde_json::Value;
use tempfile::TempDir;

use super::*;

fn result(call: &str, output: &str, speech: Option<Speech>) -> CallResult {
    CallResult {
        call: call.into(),
        output: output.into(),
        is_error: false,
        speech,
        reactions: Vec::new(),
        seen: Vec::new(),
        sources: Vec::new(),
        whole: None,
    }
}

struct ExportFixture {
    folder: TempDir,
    store: Store,
}

/// Written to its end.
async fn written(store: &Store, export: &ExportJob) -> Result<Exported, UserError> {
    let exported = write(store, export, &Progress::default()).await?;
    Ok(exported.expect("nobody stopped it"))
}

impl ExportFixture {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let store = Store::open(&folder.path().join("vault.db")).await.expect("a store");
        Self { folder, store }
    }

    async fn begin(&self, id: &str) {
        let id = id.into();
        let made = self.store.create_conversation(&id, "The boat", None, Timestamp(0));
        made.await.expect("begun");
    }

    fn message(
        conversation: &str,
        id: &str,
        turn: &str,
        role: Role,
        parts: Vec<MessagePart>,
    ) -> Message {
        let (conversation, turn) = (conversation.into(), turn.into());
        Message { id: id.into(), conversation, turn, role, parts, at: Timestamp(1) }
    }

    fn asks(conversation: &str, turn: &str, words: &str) -> NewTurn {
        let parts = vec![
            MessagePart::Context { text: "The open note is Secret.md.".into() },
            MessagePart::Text { text: words.into() },
        ];
        let message = Self::message(conversation, &format!("{turn}-asks"), turn, Role::User, parts);
        NewTurn {
            turn: turn.into(),
            message,
            origin: Origin::Window,
            answers: None,
            shown: Vec::new(),
        }
    }

    /// A turn with a call, stored and ended.
    async fn answered(&self, conversation: &str, turn: &str, answer: &str) {
        self.store.begin_turn(&conversation.into()).await.expect("begun");
        let arguments = serde_json::json!({ "path": "Boat.md" });
        let parts = vec![
            MessagePart::Verbatim {
                content: serde_json::json!({ "signature": "opaque" }),
                maker: None,
            },
            MessagePart::Call { id: "look".into(), tool: "read_file".into(), arguments },
        ];
        let message =
            Self::message(conversation, &format!("{turn}-step"), turn, Role::Assistant, parts);
        let step = TurnStep { message, usage: TokenUsage::default() };
        self.store.store_step(&turn.into(), &step).await.expect("stored");
        let result = result("look", "```\nred\n```", None);
        let parts = vec![MessagePart::Text { text: answer.into() }];
        let ending = TurnEnding {
            status: TurnStatus::Done,
            results: vec![result],
            message: Some(Self::message(
                conversation,
                &format!("{turn}-end"),
                turn,
                Role::Assistant,
                parts,
            )),
            cut: false,
            question: None,
            ends_conversation: false,
            error: None,
            usage: TokenUsage::default(),
            at: Timestamp(2),
        };
        self.store.finish_turn(&turn.into(), &ending).await.expect("ended");
    }

    /// A conversation with two versions of a question.
    async fn with_branches() -> Self {
        let scene = Self::new().await;
        scene.begin("c").await;
        scene.store.submit_turn(&Self::asks("c", "t1", "Which red?")).await.expect("stored");
        scene.answered("c", "t1", "Vermilion.").await;
        let other = Self::asks("c", "t2", "Which green?");
        scene.store.submit_fork(&other, &"t1".into()).await.expect("stored");
        scene.answered("c", "t2", "Sea green.").await;
        scene
    }

    fn export(&self, format: ExportFormat, existing: ExistingFile) -> ExportJob {
        let file = self.folder.path().join(format!("out.{}", format.extension()));
        ExportJob { conversation: None, format, file, existing }
    }

    fn files(&self) -> Vec<PathBuf> {
        let files = self.folder.path().read_dir().expect("a listing");
        let mut files: Vec<PathBuf> = files.map(|entry| entry.expect("an entry").path()).collect();
        files.retain(|file| !file.to_string_lossy().contains("vault.db"));
        files
    }

    #[expect(clippy::disallowed_methods, reason = "reads what a test has written")]
    fn text(export: &ExportJob) -> String {
        std::fs::read_to_string(&export.file).expect("a file")
    }
}

#[tokio::test]
async fn json_holds_all_messages_with_their_branches_and_nothing_else() {
    let scene = ExportFixture::with_branches().await;
    let export = scene.export(ExportFormat::Json, ExistingFile::Kept);
    let exported = written(&scene.store, &export).await.expect("written");
    assert_eq!(exported.conversations, 1);
    let text = ExportFixture::text(&export);
    let all: Value = serde_json::from_str(&text).expect("JSON");
    assert_eq!((&all["format"], &all["version"]), (&"vaultmate-conversations".into(), &1.into()));
    let one = &all["conversations"][0];
    assert_eq!((&one["title"], &one["shown_branch"]), (&"The boat".into(), &1.into()));
    let branch = serde_json::json!([{ "number": 1, "parent": 0, "instead_of": "t1" }]);
    assert_eq!(one["branches"], branch);
    let said: Vec<(i64, &str)> = one["turns"]
        .as_array()
        .expect("turns")
        .iter()
        .flat_map(|turn| {
            let branch = turn["branch"].as_i64().expect("a number");
            let messages = turn["messages"].as_array().expect("messages").iter();
            messages.map(move |message| (branch, message["text"].as_str().expect("text")))
        })
        .filter(|(_, text)| !text.is_empty())
        .collect();
    assert_eq!(
        said,
        [(0, "Which red?"), (0, "Vermilion."), (1, "Which green?"), (1, "Sea green.")]
    );
    let call = &one["turns"][0]["messages"][1]["calls"][0];
    assert_eq!((&call["tool"], &call["output"]), (&"read_file".into(), &"```\nred\n```".into()));
    assert!(!text.contains("opaque") && !text.contains("Secret.md"), "{text}");
}

#[tokio::test]
async fn why_a_turn_failed_is_told_in_both_forms() {
    let scene = ExportFixture::new().await;
    scene.begin("c").await;
    scene.store.submit_turn(&ExportFixture::asks("c", "t1", "Which red?")).await.expect("stored");
    scene.store.begin_turn(&"c".into()).await.expect("begun");
    let ending = TurnEnding {
        status: TurnStatus::Failed,
        results: Vec::new(),
        message: None,
        cut: false,
        question: None,
        ends_conversation: false,
        error: Some(UserError::other(user_texts::model_did_nothing())),
        usage: TokenUsage::default(),
        at: Timestamp(2),
    };
    scene.store.finish_turn(&"t1".into(), &ending).await.expect("ended");
    let export = scene.export(ExportFormat::Markdown, ExistingFile::Kept);
    written(&scene.store, &export).await.expect("written");
    let text = ExportFixture::text(&export);
    assert!(text.contains("*Failed: The model did nothing about the message.*"), "{text}");
    let export = scene.export(ExportFormat::Json, ExistingFile::Kept);
    written(&scene.store, &export).await.expect("written");
    let all: Value = serde_json::from_str(&ExportFixture::text(&export)).expect("JSON");
    let turn = &all["conversations"][0]["turns"][0];
    let error = serde_json::json!({
        "code": "other",
        "message": "The model did nothing about the message.",
    });
    assert_eq!(turn["error"], error);
}

#[tokio::test]
async fn markdown_is_read_in_order_and_names_each_version() {
    let scene = ExportFixture::with_branches().await;
    let export = scene.export(ExportFormat::Markdown, ExistingFile::Kept);
    written(&scene.store, &export).await.expect("written");
    let text = ExportFixture::text(&export);
    let order = [
        "# The boat\n",
        "2 versions, 2 is shown",
        "### You\n",
        "Which red?",
        "`read_file`: {\"path\":\"Boat.md\"}\n\n````\n```\nred\n```\n````",
        "### Assistant",
        "Vermilion.",
        "## Version 2\n\n*Continues version 1, instead of turn t1.*",
        "Which green?",
        "Sea green.",
    ];
    let mut rest = text.as_str();
    for part in order {
        let at = rest.find(part).unwrap_or_else(|| panic!("{part:?} is not in {rest}"));
        rest = &rest[at + part.len()..];
    }
    assert!(!text.contains("opaque") && !text.contains("Secret.md"), "{text}");
}

#[tokio::test]
async fn markdown_has_messages_and_questions_as_text_and_a_refused_message_as_a_failed_call() {
    let scene = ExportFixture::new().await;
    scene.begin("c").await;
    scene.store.submit_turn(&ExportFixture::asks("c", "t1", "Which red?")).await.expect("stored");
    scene.store.begin_turn(&"c".into()).await.expect("begun");
    let call = |id: &str| {
        let arguments = serde_json::json!({ "message": "Red?" });
        MessagePart::Call { id: id.into(), tool: "send_message".into(), arguments }
    };
    let calls = vec![call("say"), call("ask"), call("refused")];
    let message = ExportFixture::message("c", "t1-step", "t1", Role::Assistant, calls);
    let step = TurnStep { message, usage: TokenUsage::default() };
    scene.store.store_step(&"t1".into(), &step).await.expect("stored");
    let says = Speech::Say { text: "Looking.".into() };
    let options = vec!["Dark".into(), "Light".into()];
    let asks = Speech::Ask { text: "Which one?".into(), options };
    let results = [
        result("say", "Delivered.", Some(says)),
        result("ask", "Delivered.", Some(asks)),
        CallResult { is_error: true, ..result("refused", "Ask once.", None) },
    ];
    scene.store.store_results(&"t1".into(), &results).await.expect("stored");
    let export = scene.export(ExportFormat::Markdown, ExistingFile::Kept);
    written(&scene.store, &export).await.expect("written");
    let expected = concat!(
        "### Assistant\n\nLooking.\n\n\n",
        "### Question\n\nWhich one?\n\n- Dark\n- Light\n\n",
        "`send_message` (failed): {\"message\":\"Red?\"}\n\n```\nAsk once.\n```\n",
    );
    let text = ExportFixture::text(&export);
    assert!(text.contains(expected), "{text}");
}

#[tokio::test]
async fn a_file_that_is_there_stays_unless_it_shall_be_replaced_and_nothing_is_left_half() {
    let scene = ExportFixture::with_branches().await;
    let export = scene.export(ExportFormat::Markdown, ExistingFile::Kept);
    written(&scene.store, &export).await.expect("written");
    let before = ExportFixture::text(&export);
    let refused = written(&scene.store, &export).await.expect_err("it is there");
    assert!(refused.message.contains("already exists"), "{}", refused.message);
    let gone = ExportJob {
        conversation: Some("gone".into()),
        ..scene.export(ExportFormat::Json, ExistingFile::Kept)
    };
    written(&scene.store, &gone).await.expect_err("no such conversation");
    assert_eq!(scene.files(), std::slice::from_ref(&export.file), "nothing half stays");
    scene.store.rename(&"c".into(), "The mast").await.expect("renamed");
    written(&scene.store, &scene.export(ExportFormat::Markdown, ExistingFile::Replaced))
        .await
        .expect("replaced");
    assert_ne!(ExportFixture::text(&export), before);
    assert_eq!(scene.files(), [export.file]);
    let missing_folder = ExportJob {
        file: scene.folder.path().join("no/out.md"),
        ..scene.export(ExportFormat::Markdown, ExistingFile::Kept)
    };
    let refused = written(&scene.store, &missing_folder).await.expect_err("no such folder");
    assert!(refused.message.contains("Choose another folder"), "{}", refused.message);
}

#[tokio::test]
async fn all_are_written_but_what_was_deleted_and_one_when_one_is_asked_for() {
    let scene = ExportFixture::new().await;
    for at in 0..1_203 {
        scene.begin(&format!("c{at:04}")).await;
    }
    scene.store.delete(&"c0007".into(), Timestamp(1)).await.expect("deleted");
    let export = scene.export(ExportFormat::Json, ExistingFile::Kept);
    let exported = written(&scene.store, &export).await.expect("written");
    assert_eq!(exported.conversations, 1_202);
    let all: Value = serde_json::from_str(&ExportFixture::text(&export)).expect("JSON");
    assert_eq!(all["conversations"].as_array().map(Vec::len), Some(1_202));
    let one = ExportJob {
        conversation: Some("c0042".into()),
        ..scene.export(ExportFormat::Markdown, ExistingFile::Kept)
    };
    assert_eq!(written(&scene.store, &one).await.expect("written").conversations, 1);
}

#[tokio::test]
#[expect(clippy::disallowed_methods, reason = "a file of the user's")]
async fn one_that_is_stopped_leaves_no_file_and_the_one_before_it_as_it_was() {
    let scene = ExportFixture::new().await;
    for at in 0..1_203 {
        scene.begin(&format!("c{at:04}")).await;
    }
    let export = scene.export(ExportFormat::Json, ExistingFile::Replaced);
    std::fs::write(&export.file, "before").expect("a file");
    let progress = Progress::default();
    let stop = async {
        while progress.done() < 3 {
            tokio::task::yield_now().await;
        }
        progress.stop();
    };
    let (stopped, ()) = tokio::join!(write(&scene.store, &export, &progress), stop);
    assert!(stopped.expect("no error: it was the user's wish").is_none());
    assert!(progress.done() < 1_203, "it was whole before it could be stopped");
    assert_eq!(progress.all(), 1_203);
    assert_eq!(ExportFixture::text(&export), "before");
    assert_eq!(scene.files(), std::slice::from_ref(&export.file), "nothing half stays");
    let whole = written(&scene.store, &export).await.expect("written");
    assert_eq!(whole.conversations, 1_203);
}
