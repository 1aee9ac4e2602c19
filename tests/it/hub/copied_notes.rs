//! Text of other notes does not reach the hub by way of its own notes, nor do the names of notes.

use protocol::chat::conversation::{ChatItem, ConversationView};
use protocol::request::{OldChanges, RegenerateRequest};
use protocol::settings::PrivateSettings;
use protocol::{MessageId, Mode, Settings};
use serde_json::json;
use testkit::{Reply, ScriptedModel};

use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{home_with_key, settings_with_model, with_hub, with_mode};

const NOTES: [(&str, &str); 4] = [
    ("Alpha.md", "# Alpha\n\nThe first line.\n"),
    ("Diary/Ann.md", "Ann is pregnant. See [[Plan]].\n"),
    ("Plan.md", "# Plan\n"),
    ("Tagged.md", "---\ntags: [home]\n---\nWe moved.\n"),
];

fn read(path: &str) -> (&'static str, serde_json::Value) {
    ("read_file", json!({ "path": path }))
}

fn first_message(view: &ConversationView) -> MessageId {
    let found = view.items.iter().find_map(|item| match item {
        ChatItem::User { id, .. } => Some(id.clone()),
        _ => None,
    });
    found.expect("a message")
}

fn append(content: &str) -> (&'static str, serde_json::Value) {
    ("append_file", json!({ "path": INBOX, "content": content }))
}

/// A hub message, and the additions that its turn makes one after another, each with its note and text.
struct HubAdditions {
    message: &'static str,
    /// Whether it reads a note outside the hub's places before.
    reads: bool,
    additions: &'static [(&'static str, &'static str)],
    /// So many of them, the first ones, are applied at once.
    applied: usize,
}

const INBOX: &str = "inbox/Inbox.md";

const ADDITIONS: [HubAdditions; 8] = [
    HubAdditions {
        message: "buy oat milk",
        reads: true,
        additions: &[(INBOX, "- Ann is pregnant")],
        applied: 0,
    },
    HubAdditions {
        message: "buy oat milk",
        reads: true,
        additions: &[(INBOX, "- [ ] Buy oat milk")],
        applied: 1,
    },
    HubAdditions {
        message: "buy oat milk",
        reads: false,
        additions: &[(INBOX, "- Ann is pregnant")],
        applied: 1,
    },
    HubAdditions {
        message: "tell me with these: a b c d e f g h i j k l m n o p q r s t u v w x y z",
        reads: true,
        additions: &[(INBOX, "- A n n i s p r e g n a n t")],
        applied: 0,
    },
    HubAdditions {
        message: "buy oat milk",
        reads: true,
        additions: &[("inbox/4711.md", "buy oat milk")],
        applied: 0,
    },
    HubAdditions {
        message: "buy oat milk from bus 4711",
        reads: true,
        additions: &[("inbox/Bus 4711.md", "buy oat milk")],
        applied: 1,
    },
    HubAdditions {
        message: "buy oat milk and call Ben",
        reads: true,
        additions: &[(INBOX, "- [ ] Buy oat milk"), (INBOX, "- [ ] Call Ben")],
        applied: 1,
    },
    HubAdditions {
        message: "buy oat milk and call Ben",
        reads: false,
        additions: &[(INBOX, "- [ ] Buy oat milk"), (INBOX, "- [ ] Call Ben")],
        applied: 2,
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_turn_that_read_a_note_adds_only_one_phrase_of_its_message_without_a_review() {
    for HubAdditions { message, reads, additions, applied } in ADDITIONS {
        let case = format!("{message}, {additions:?}, read: {reads}");
        let calls = reads.then(|| Reply::calls(vec![read("Diary/Ann.md")])).into_iter();
        let adds = additions.iter().map(|(path, content)| {
            Reply::calls(vec![("append_file", json!({ "path": path, "content": content }))])
        });
        let replies = calls.chain(adds).chain([Reply::text("Done.")]).collect();
        let model = ScriptedModel::start(replies).await;
        let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
        let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
        let mut line = hub.accept().await;
        line.deliver("m-1", message).await;
        assert_eq!(line.next_response().await.kind, "ack");
        line.next_response().await;
        let waiting = running.pending_paths(&running.only_conversation().await).await;
        assert_eq!(!waiting.is_empty(), applied < additions.len(), "{case}: {waiting:?}");
        for (number, (path, content)) in additions.iter().enumerate() {
            let note = home.notes.try_read(path).unwrap_or_default();
            assert_eq!(note.contains(content), number < applied, "{case}: {note}");
        }
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_turn_that_searched_other_notes_adds_only_a_phrase_of_its_message_without_a_review() {
    let everywhere = || ("search_files", json!({ "pattern": "PIN: [0-4]|milk" }));
    let in_inbox = json!({ "pattern": "milk", "file_pattern": "inbox/*.md" });
    for (look, content, is_pending) in [
        (everywhere(), "- It is above four", true),
        (("find_notes", json!({ "query": "zeppelin" })), "- There is none", true),
        (everywhere(), "- [ ] Buy oat milk", false),
        (("search_files", in_inbox), "- It is above four", false),
    ] {
        let case = format!("{look:?}, {content}");
        let calls = [look, append(content)].map(|call| Reply::calls(vec![call]));
        let replies = calls.into_iter().chain([Reply::text("Done.")]).collect();
        let model = ScriptedModel::start(replies).await;
        let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
        home.notes.write("Safe.md", "PIN: 7214\n");
        home.notes.write(INBOX, "- milk\n");
        let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
        let mut line = hub.accept().await;
        line.deliver("m-1", "buy oat milk").await;
        assert_eq!(line.next_response().await.kind, "ack");
        line.next_response().await;
        let waiting = running.pending_paths(&running.only_conversation().await).await;
        assert_eq!(waiting == [INBOX], is_pending, "{case}: {waiting:?}");
        assert_eq!(home.notes.read(INBOX).contains(content), !is_pending, "{case}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_with_the_id_of_a_capture_copies_no_note_and_passes_for_no_capture() {
    for id in ["capture-1", "capture-2", "cap.ture-1"] {
        let model = ScriptedModel::start(vec![
            Reply::calls(vec![read("Diary/Ann.md")]),
            Reply::calls(vec![append("- Ann is pregnant")]).with_call_id(id),
            Reply::text("Done."),
        ])
        .await;
        let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
        let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
        let mut line = hub.accept().await;
        line.deliver("m-1", "buy oat milk").await;
        assert_eq!(line.next_response().await.kind, "ack");
        line.next_response().await;
        let waiting = running.pending_paths(&running.only_conversation().await).await;
        assert_eq!(waiting, ["inbox/Inbox.md"], "{id}");
        assert_eq!(home.notes.try_read("inbox/Inbox.md"), None, "{id}");
        // The model is asked again after its call: its result is not taken for that of a capture.
        assert_eq!(model.requests().len(), 3, "{id}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_turn_that_fails_names_no_note_outside_its_places() {
    let plan = json!({ "source": "Plan.md", "destination": "Plan B.md" });
    let named = json!({ "path": "inbox/Ann is pregnant.md", "content": "- tea" });
    for (calls, never, told) in [
        (
            vec![("move_file", plan)],
            "Diary",
            "Interrupted after changing some notes. Look at it in Vaultmate.",
        ),
        (
            vec![append("- tea")],
            "Diary",
            "Interrupted after changing Inbox. Look at it in Vaultmate.",
        ),
        // The name of a pending note of the inbox folder is text of the model.
        (
            vec![read("Diary/Ann.md"), ("append_file", named)],
            "Other",
            "Interrupted after changing a note. Look at it in Vaultmate.",
        ),
    ] {
        let calls = calls.into_iter().map(|call| Reply::calls(vec![call]));
        let refused = Reply::status(400, "no");
        let model = ScriptedModel::start(calls.chain([refused]).collect()).await;
        let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
        let private =
            PrivateSettings { never: vec![never.to_owned()], ..PrivateSettings::default() };
        let settings = Settings { private, ..with_hub(settings_with_model(&model), &hub.url()) };
        let running = home.open(settings).await;
        let mut line = hub.accept().await;
        line.deliver("m-1", "rename the plan, tea").await;
        assert_eq!(line.next_response().await.kind, "ack");
        assert_eq!(line.next_response().await.payload["body"], told);
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_message_that_is_sent_again_in_the_window_names_no_note_in_auto() {
    let edit = || {
        let line = json!({ "path": "Alpha.md", "old_text": "first", "new_text": "last" });
        Reply::calls(vec![("edit_file", line)])
    };
    for (edited, is_pending) in [(None, true), (Some("please fix [[Alpha]]"), false)] {
        let model = ScriptedModel::start(vec![
            Reply::text("What is wrong with it?"),
            edit(),
            Reply::text("Fixed."),
        ])
        .await;
        let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
        let settings = with_mode(with_hub(settings_with_model(&model), &hub.url()), Mode::Auto);
        let running = home.open(settings).await;
        let mut line = hub.accept().await;
        line.deliver("m-1", "fix [[Alpha]]").await;
        assert_eq!(line.next_response().await.kind, "ack");
        line.next_response().await;
        let conversation = running.only_conversation().await;
        let message = first_message(&running.view(&conversation).await);
        let text = edited.map(str::to_owned);
        let request = RegenerateRequest { message, text, old: Some(OldChanges::Keep) };
        running.app.regenerate(&request).await.expect("begun");
        running.app.wait_until_idle(&conversation).await.expect("idle");
        let waiting = running.pending_paths(&conversation).await;
        assert_eq!(waiting == ["Alpha.md"], is_pending, "{edited:?}");
        assert_eq!(home.notes.read("Alpha.md").contains("last"), !is_pending, "{edited:?}");
        running.quit().await;
        model.finish();
    }
}

/// A hub message that is sent again in the window, and the additions that its turn makes.
struct RepeatedMessage {
    /// The message as the user edited it.
    edited: Option<&'static str>,
    /// The note that it reads before.
    reads: Option<&'static str>,
    note: &'static str,
    content: &'static str,
    is_pending: bool,
}

const REPEATED: &str = "add the deadline to the plan";

const REPEATED_MESSAGES: [RepeatedMessage; 6] = [
    RepeatedMessage {
        edited: None,
        reads: None,
        note: "Plan.md",
        content: "Friday",
        is_pending: true,
    },
    RepeatedMessage {
        edited: Some("add the deadline to the plan, please"),
        reads: None,
        note: "Plan.md",
        content: "Friday",
        is_pending: false,
    },
    RepeatedMessage {
        edited: Some("add the deadline to the plan\n\n[[Alpha]]"),
        reads: None,
        note: "Plan.md",
        content: "Friday",
        is_pending: true,
    },
    RepeatedMessage {
        edited: Some("add the deadline to the plan\n\n[[Plan]]"),
        reads: None,
        note: "Plan.md",
        content: "Friday",
        is_pending: false,
    },
    RepeatedMessage {
        edited: None,
        reads: None,
        note: INBOX,
        content: "- Friday",
        is_pending: false,
    },
    RepeatedMessage {
        edited: None,
        reads: Some("Diary/Ann.md"),
        note: INBOX,
        content: "- Ann is pregnant",
        is_pending: true,
    },
];

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_message_that_is_sent_again_in_the_window_adds_at_once_as_over_the_hub_only() {
    for RepeatedMessage { edited, reads, note, content, is_pending } in REPEATED_MESSAGES {
        let case = format!("{edited:?}, {reads:?}, {note}");
        let add = || {
            let text = json!({ "path": note, "content": content });
            Reply::calls(vec![("append_file", text)])
        };
        let reading = || reads.map(|path| Reply::calls(vec![read(path)]));
        let turn = || reading().into_iter().chain([add(), Reply::text("Done.")]);
        let model = ScriptedModel::start(turn().chain(turn()).collect()).await;
        let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
        home.notes.write(INBOX, "- milk\n");
        let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
        let mut line = hub.accept().await;
        line.deliver("m-1", REPEATED).await;
        assert_eq!(line.next_response().await.kind, "ack");
        line.next_response().await;
        let conversation = running.only_conversation().await;
        running.app.wait_until_idle(&conversation).await.expect("idle");
        let waiting = running.pending_paths(&conversation).await;
        let is_applied = note == INBOX && reads.is_none();
        assert_eq!(waiting.is_empty(), is_applied, "over the hub, {case}: {waiting:?}");
        let message = first_message(&running.view(&conversation).await);
        let text = edited.map(str::to_owned);
        let request = RegenerateRequest { message, text, old: Some(OldChanges::Undo) };
        running.app.regenerate(&request).await.expect("begun");
        running.app.wait_until_idle(&conversation).await.expect("idle");
        let waiting = running.pending_paths(&conversation).await;
        assert_eq!(waiting == [note], is_pending, "{case}: {waiting:?}");
        assert_eq!(home.notes.read(note).contains(content), !is_pending, "{case}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_note_loses_the_mark_of_a_private_one_only_after_a_review() {
    for (old, new, is_pending) in [("tags: [home]", "tags: []", true), ("moved", "move", false)] {
        let line = json!({ "path": "Tagged.md", "old_text": old, "new_text": new });
        let model = ScriptedModel::start(vec![
            Reply::calls(vec![("edit_file", line)]),
            Reply::text("Done."),
        ])
        .await;
        let home = home_with_key(&NOTES);
        let local = vec!["#home".to_owned()];
        let private =
            PrivateSettings { local, endpoint_is_local: true, ..PrivateSettings::default() };
        let settings = Settings { private, ..with_mode(settings_with_model(&model), Mode::Auto) };
        let running = home.open(settings).await;
        let conversation = running.send_and_wait(None, "change [[Tagged]]").await;
        let waiting = running.pending_paths(&conversation).await;
        assert_eq!(waiting == ["Tagged.md"], is_pending, "{new}");
        assert_eq!(home.notes.read("Tagged.md").contains(old), is_pending, "{new}");
        running.quit().await;
        model.finish();
    }
}
