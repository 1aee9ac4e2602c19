//! A message comes over the hub while the window is open: it is kept and answered, and the desktop
//! notifies the user when the answer needs approval.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use testkit::gui::desktop_app::cli_path;
use testkit::scripted_model::tool_results;
use testkit::{
    DesktopHome, FakeNotificationServer, PrivateBus, Reply, ScriptedModel, TempVault, TestHub,
};
use tokio::io::{AsyncBufReadExt as _, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

use crate::input_device::InputDevice;
use crate::lock_display;

/// A running command and what it prints.
struct CommandOutput {
    lines: Lines<BufReader<ChildStdout>>,
    _command: Child,
}

impl CommandOutput {
    fn start(arguments: &[&str]) -> Self {
        let mut command = Command::new(cli_path());
        command.args(arguments).stdout(Stdio::piped()).kill_on_drop(true);
        let mut command = command.spawn().expect("the headless host starts");
        let output = command.stdout.take().expect("its output is piped");
        Self { lines: BufReader::new(output).lines(), _command: command }
    }

    /// Resolves with the next line that contains `needle`.
    async fn wait_for_line(&mut self, needle: &str) -> String {
        let mut heard = Vec::new();
        let next = async {
            while let Ok(Some(line)) = self.lines.next_line().await {
                if line.contains(needle) {
                    return Some(line);
                }
                heard.push(line);
            }
            None
        };
        let found = tokio::time::timeout(Duration::from_secs(30), next).await;
        found.ok().flatten().unwrap_or_else(|| panic!("no `{needle}` in {heard:?}"))
    }
}

fn free_port() -> String {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).expect("a free port");
    listener.local_addr().expect("its address").port().to_string()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hub_message_is_taken_within_a_second_shown_kept_and_answered() {
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    let port = free_port();
    let mut hub = CommandOutput::start(&["hub", "--port", &port]);
    let home = DesktopHome::new().with_vault(&vault).with_hub(&format!("ws://127.0.0.1:{port}"));
    let app = home.start().await;
    hub.wait_for_line("Notes connected").await;

    let mut sender =
        CommandOutput::start(&["hub", "send", "--port", &port, "--wait", "remember milk"]);
    sender.wait_for_line("delivered to Notes").await;
    let delivered = Instant::now();
    sender.wait_for_line("Notes acknowledged").await;
    let taken = delivered.elapsed();
    assert!(taken < Duration::from_secs(1), "taken after {taken:?}");

    sender.wait_for_line("Saved").await;
    hub.wait_for_line("shown: ").await;
    let before = TempVault::from_fixture("sample").read("inbox/Inbox.md");
    let inbox = vault.wait_for("inbox/Inbox.md", "remember milk").await;
    assert_eq!(inbox, format!("{before}- remember milk\n"));

    let row = app.window.find("[data-testid=conversation-list] button").await;
    app.window.click_element(&row).await;
    app.window.find_text("[data-testid=chat-log]", "remember milk").await;
    app.window.find_text("[data-testid=chat-log]", "via the hub").await;
    app.save_screenshot("hub-message").await;
    app.quit().await;
}

/// The model reads a note that the hub may not read, so its answer needs the user's approval. The
/// desktop notifies them, their click leads to the answer, and the hub gets only what they send.
async fn notify_and_approve(device: InputDevice) {
    let _turn = lock_display().await;
    let (bus, hub) = (PrivateBus::start(), TestHub::start().await);
    let board = FakeNotificationServer::start(bus.address()).await;
    let vault = TempVault::from_fixture("sample");
    let model =
        ScriptedModel::responder(|request: &Value| match tool_results(request).is_empty() {
            true => Reply::calls(vec![("read_file", json!({ "path": "Groceries.md" }))]),
            false => Reply::text("Carrots and two lemons."),
        })
        .await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);
    let home = home.with_hub(&hub.url()).with_bus(&bus);
    let app = home.start().await;
    app.wait_until_opened().await;
    hub.wait_for_registration().await;
    device.open_settings(&app, "general", "General").await;

    let message = hub.send("what do I still need?").await;
    let held = board
        .wait_for_notification("the approval", |shown| {
            shown.summary.contains("needs your approval")
        })
        .await;
    let all = format!("{:?}", board.shown());
    assert!(!all.contains("Carrots") && !all.contains("still need"), "{all}");
    board.click(held.id).await;
    app.window.find_text("[data-testid=approval-card]", "Carrots and two lemons.").await;
    app.save_screenshot("hub-held").await;
    let heard = format!("{:?}", hub.events());
    assert!(!heard.contains("Carrots"), "the hub heard it already: {heard}");
    device.press(&app, "[data-testid=approval-send]", "Send").await;
    hub.wait_for_notification_text(&message, "Carrots and two lemons.").await;
    app.window.wait_until_gone("[data-testid=approval-card]").await;
    app.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_for_the_hub_is_told_to_the_desktop_and_sent_by_pointer() {
    notify_and_approve(InputDevice::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_for_the_hub_is_told_to_the_desktop_and_sent_by_keyboard() {
    notify_and_approve(InputDevice::Keyboard).await;
}
