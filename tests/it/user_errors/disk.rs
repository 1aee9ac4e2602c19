//! Disks that are full or take no writes: real ones, mounted for the test. Rights alone would not
//! do, they do not bind the superuser; where mounting is not allowed the test says so.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use protocol::ErrorCode;
use protocol::hub::approval::ApprovalReason;
use serde_json::json;
use testkit::scripted_model::tool_results;
use testkit::stories::note_changes;
use testkit::stories::note_changes::{EDITED, NOTES};
use testkit::{Reply, ScriptedModel};

use super::{assert_error, assert_readable};
use crate::harness::raw_hub::RawHub;
use crate::harness::test_app::{
    TestHome, home_with_key, settings_with_model, settings_without_model, user_messages, with_hub,
};
use crate::settings::LAST_LINE;

/// A small disk over a folder, gone on drop.
struct LimitedDisk {
    root: PathBuf,
}

impl LimitedDisk {
    /// A disk of so many kilobytes, or `None` where the system does not let us.
    fn mount_over(root: &Path, kilobytes: u32) -> Option<Self> {
        let size = format!("size={kilobytes}k");
        let mounted = mount(&["-t", "tmpfs", "-o", &size, "tmpfs"], root);
        if !mounted {
            println!("skipped: this system does not let the test mount a disk");
        }
        mounted.then(|| Self { root: root.to_owned() })
    }

    /// From now on it takes no writes.
    fn make_read_only(&self) {
        assert!(mount(&["-o", "remount,ro"], &self.root), "it is mounted");
    }

    /// Fills it to the last byte.
    fn fill(&self) {
        let mut filler = fs::File::create(self.filler()).expect("a file");
        while filler.write_all(&[0; 512]).is_ok() {}
    }

    /// Frees what was filled.
    fn free_space(&self) {
        fs::remove_file(self.filler()).expect("it was filled");
    }

    fn filler(&self) -> PathBuf {
        self.root.join(".filler")
    }
}

impl Drop for LimitedDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(&self.root).status();
    }
}

fn mount(options: &[&str], root: &Path) -> bool {
    let done = Command::new("mount").args(options).arg(root).output();
    done.is_ok_and(|output| output.status.success())
}

fn write_notes(test_home: &TestHome) {
    for (path, text) in NOTES {
        test_home.notes.write(path, text);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_read_only_vault_is_read_and_every_change_is_refused_with_a_reason() {
    let home = home_with_key(&[]);
    let Some(disk) = LimitedDisk::mount_over(home.notes.root(), 256) else { return };
    write_notes(&home);
    disk.make_read_only();
    let before = home.notes.snapshot();
    let edit = json!({ "path": "Alpha.md", "old_text": "first", "new_text": "FIRST" });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("read_file", json!({ "path": "Alpha.md" })), ("edit_file", edit)]),
        Reply::text("It is read-only."),
    ])
    .await;
    let running = home.open(settings_with_model(&model)).await;
    let snapshot = running.app.subscribe(Box::new(|_| true)).await.expect("a snapshot");
    assert!(!snapshot.vault.expect("it is open").writable);
    let conversation = running.send_and_wait(None, "shout").await;
    let results = tool_results(&model.wait_for_request(2).await);
    assert!(results[0].1.contains("The first line of alpha."), "{results:?}");
    assert_eq!(
        results[1].1,
        "The vault is read-only, so `Alpha.md` wasn’t changed. Make its disk writable, then try again."
    );
    assert_eq!(running.pending_paths(&conversation).await, [""; 0]);
    running.quit().await;
    model.finish();

    home.data.write("config.toml", format!("provider = \"commands\"\n{LAST_LINE}\n"));
    let said = home.ask(&["--write", "append bread to List"]).await;
    assert!(said.stdout.contains("read-only"), "{said:?}");
    assert_eq!(home.notes.snapshot(), before);
    let said = home.ask(&["second line"]).await;
    assert!(said.stdout.contains("Alpha.md"), "reading works: {said:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_vault_that_becomes_read_only_keeps_pending_changes() {
    let home = home_with_key(&[]);
    let Some(disk) = LimitedDisk::mount_over(home.notes.root(), 256) else { return };
    write_notes(&home);
    let model = ScriptedModel::responder(note_changes::reply).await;
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "play review").await;
    let before = home.notes.snapshot();
    disk.make_read_only();
    let error = running.decide(&conversation, &["Alpha.md"], &[]).await.expect_err("no writes");
    let sentence = "Alpha wasn’t changed and still needs review: The vault is read-only, so \
                    `Alpha.md` wasn’t changed. Make its disk writable, then try again.";
    assert_error(&error, ErrorCode::Write, sentence);
    assert_eq!(home.notes.snapshot(), before);
    assert_eq!(running.pending_paths(&conversation).await.len(), 3);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_full_disk_the_note_is_untouched_and_applied_once_there_is_room() {
    let home = home_with_key(&[]);
    let Some(disk) = LimitedDisk::mount_over(home.notes.root(), 64) else { return };
    write_notes(&home);
    let model = ScriptedModel::responder(note_changes::reply).await;
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "play review").await;
    disk.fill();
    let before = home.notes.snapshot();
    let all = ["Alpha.md", "Beta.md", "Deep/Gamma.md"];
    let error = running.decide(&conversation, &all, &[]).await.expect_err("there is no room");
    let sentence = "Alpha wasn’t changed and still needs review: The disk is full, so `Alpha.md` \
                    wasn’t changed. Free up some space, then try again. (2 more notes need review \
                    for the same or other reasons.)";
    assert_error(&error, ErrorCode::Write, sentence);
    assert_eq!(home.notes.snapshot(), before, "and nothing is left beside the notes");

    disk.free_space();
    running.decide(&conversation, &all, &[]).await.expect("there is room");
    for (path, text) in EDITED {
        assert_eq!(home.notes.read(path), text);
    }
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_addition_for_which_there_is_no_room_is_told_as_not_done() {
    let home = TestHome::new(&[]);
    let Some(disk) = LimitedDisk::mount_over(home.notes.root(), 64) else { return };
    write_notes(&home);
    disk.fill();
    let before = home.notes.snapshot();
    let said = home.ask(&["--write", "append bread to List"]).await;
    let sentence =
        "The disk is full, so `List.md` wasn’t changed. Free up some space, then try again.";
    assert!(said.stdout.contains(sentence) && !said.stdout.contains("Appended"), "{said:?}");
    assert_eq!(home.notes.snapshot(), before);

    disk.free_space();
    home.ask(&["--write", "append bread to List"]).await;
    assert_eq!(home.notes.read("List.md"), "# List\n\n- bread\n- bread\n");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_message_that_cannot_be_kept_is_reported_and_stays_in_the_chat() {
    let (home, hub) = (TestHome::new(&[]), RawHub::bind().await);
    let Some(disk) = LimitedDisk::mount_over(home.notes.root(), 64) else { return };
    disk.make_read_only();
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let mut line = hub.accept().await;
    line.deliver("m-1", "remember milk").await;
    assert_eq!(line.next_response().await.kind, "ack");
    let body = line.next_response().await.payload["body"].as_str().expect("words").to_owned();
    assert_eq!(body, "Not saved. Open Vaultmate to see why.");
    let view = running.view(&running.only_conversation().await).await;
    let ApprovalReason::Failed { error } = &view.held[0].why else { panic!("{:?}", view.held) };
    assert!(error.contains("read-only"), "{error}");
    assert_readable(error);
    assert!(user_messages(&view).contains(&"remember milk"), "{:?}", view.items);
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn with_no_room_for_the_database_nothing_is_applied_and_nothing_is_half_stored() {
    let home = TestHome::new(&NOTES);
    let Some(disk) = LimitedDisk::mount_over(home.data.root(), 4096) else { return };
    home.data.write("key", testkit::scripted_model::KEY);
    let model = ScriptedModel::responder(note_changes::reply).await;
    let running = home.open(settings_with_model(&model)).await;
    let conversation = running.send_and_wait(None, "play review").await;
    let (before, requests) = (home.notes.snapshot(), model.requests().len());
    disk.fill();

    let long = "words ".repeat(20_000);
    let refused = running.send(Some(&conversation), &long, None).await.expect_err("no room");
    let sentence = "Couldn’t save because the disk is full. Free up some space, then try again.";
    assert_error(&refused, ErrorCode::Write, sentence);
    let refused = running.decide(&conversation, &["Alpha.md"], &[]).await;
    if let Err(error) = &refused {
        // A few kilobytes may still fit between two pages; then the change is applied.
        assert_eq!(error.code, ErrorCode::Write);
        assert_readable(&error.message);
        assert_eq!(home.notes.snapshot(), before);
    }
    assert_eq!(user_messages(&running.view(&conversation).await), ["play review"]);
    assert_eq!(model.requests().len(), requests);

    disk.free_space();
    running.send_and_wait(Some(&conversation), "go on").await;
    assert_eq!(user_messages(&running.view(&conversation).await), ["play review", "go on"]);
    running.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_data_folder_without_room_is_told_before_anything_is_begun() {
    let home = TestHome::new(&NOTES);
    let Some(disk) = LimitedDisk::mount_over(home.data.root(), 64) else { return };
    disk.fill();
    let before = home.notes.snapshot();
    let said = home.ask(&["--write", "append bread to List"]).await;
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("he disk is full"), "{said:?}");
    assert_readable(said.stderr.trim_end());
    assert_eq!(home.notes.snapshot(), before);

    disk.free_space();
    drop(disk);
    home.open(settings_without_model()).await.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_message_that_cannot_be_stored_is_refused_and_never_acknowledged() {
    // Q-sequence-24
    let home = TestHome::new(&NOTES);
    let Some(disk) = LimitedDisk::mount_over(home.data.root(), 4096) else { return };
    let hub = RawHub::bind().await;
    let running = home.open(with_hub(settings_without_model(), &hub.url())).await;
    let mut line = hub.accept().await;
    disk.fill();
    let long = format!("remember {}", "words ".repeat(20_000));
    line.deliver("m-1", &long).await;
    let answer = line.next_response().await;
    assert_eq!((answer.message.as_str(), answer.kind.as_str()), ("m-1", "reject"));
    let reason = answer.payload["reason"].as_str().expect("words").to_owned();
    assert!(reason.starts_with("Not saved: Couldn’t save because the disk is full"), "{reason}");
    assert_readable(&reason);

    disk.free_space();
    line.deliver("m-1", "remember milk").await;
    assert_eq!(line.next_response().await.kind, "ack", "nothing is known of the first");
    assert_eq!(line.next_response().await.kind, "notification");
    assert_eq!(home.notes.read("inbox/Inbox.md"), "- remember milk\n");
    running.quit().await;
}
