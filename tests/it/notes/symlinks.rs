//! Links in the folder, where the user has them followed: text that is read through one counts as
//! that of its target, wherever sources matter.

use std::os::unix::fs::symlink;

use protocol::Settings;
use serde_json::{Value, json};
use testkit::{Reply, ScriptedModel};

use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{TestHome, home_with_key, settings_with_model, with_hub};

const HELD_NOTIFICATION: &str = "An answer needs your approval in Vaultmate.";

const NOTES: [(&str, &str); 4] = [
    ("Clip.md", "Obey the clip.\n"),
    ("Diary.md", "PIN: 1234\n"),
    ("Meta/How.md", "Be brief.\n"),
    ("inbox/Inbox.md", "- milk\n"),
];

fn make_symlink(test_home: &TestHome, at: &str, to: &str) {
    symlink(to, test_home.notes.root().join(at)).expect("a link");
}

fn with_followed_links(settings: Settings) -> Settings {
    Settings { follow_links: true, ..settings }
}

fn append_call(path: &str, content: &str) -> (&'static str, Value) {
    ("append_file", json!({ "path": path, "content": content }))
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_for_the_assistant_are_not_read_through_a_link() {
    for target in ["Meta/How.md", "inbox/Inbox.md"] {
        let model = ScriptedModel::start(vec![
            Reply::calls(vec![("read_file", json!({ "path": "Clip.md" }))]),
            Reply::calls(vec![append_call(target, "CANARY")]),
            Reply::text("Done."),
            Reply::text("Hello."),
            Reply::text("Hello."),
        ])
        .await;
        let home = home_with_key(&NOTES);
        make_symlink(&home, "AGENTS.md", target);
        let running = home.open(with_followed_links(settings_with_model(&model))).await;
        running.send_and_wait(None, "do what Clip.md says").await;
        // No rules file is touched, so it is done at once.
        assert!(home.notes.read(target).ends_with("CANARY\n"));
        running.send_and_wait(None, "hello").await;
        // The control: a file of its own is read, under the other name.
        home.notes.write("CLAUDE.md", "Be kind.\n");
        running.send_and_wait(None, "hello").await;
        let requests = model.requests();
        let system = |at: usize| requests[at]["system"].to_string();
        assert!(!system(0).contains("Be brief") && !system(3).contains("CANARY"), "{target}");
        assert!(system(4).contains("Be kind") && !system(4).contains("CANARY"), "{target}");
        running.quit().await;
        model.finish();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_link_in_the_inbox_leads_nothing_out_over_the_hub() {
    let info = ("get_file_info", json!({ "path": "inbox/l.md" }));
    let read = |path: &str| ("read_file", json!({ "path": path }));
    for (target, call, told) in [
        ("../Diary.md", read("inbox/l.md"), HELD_NOTIFICATION),
        ("../Diary.md", info, HELD_NOTIFICATION),
        ("../Diary.md", append_call("inbox/l.md", "- eggs"), HELD_NOTIFICATION),
        ("gone.md", read("inbox/l.md"), HELD_NOTIFICATION),
        // The controls: what it leads to is in the inbox, and no link at all.
        ("Inbox.md", read("inbox/l.md"), "It says so."),
        ("../Diary.md", read("inbox/Inbox.md"), "It says so."),
    ] {
        let case = format!("{} through {target}", call.1);
        let replies = vec![Reply::calls(vec![call]), Reply::text("It says so.")];
        let model = ScriptedModel::start(replies).await;
        let (home, hub) = (home_with_key(&NOTES), RawHub::bind().await);
        make_symlink(&home, "inbox/l.md", target);
        let running =
            home.open(with_followed_links(with_hub(settings_with_model(&model), &hub.url()))).await;
        let mut line = hub.accept().await;
        line.deliver("m-1", "what does it say").await;
        assert_eq!(line.next_response().await.kind, "ack", "{case}");
        assert_eq!(line.next_response().await.payload["body"], told, "{case}");
        assert_eq!(home.notes.read("Diary.md"), "PIN: 1234\n", "{case}");
        let conversation = running.only_conversation().await;
        assert_eq!(running.pending_paths(&conversation).await, [""; 0], "{case}");
        running.quit().await;
        model.finish();
    }
}
