//! Settings that are changed at the same time are all kept, whichever program changes them.

use std::process::Stdio;

use app::{App, DataDir};
use protocol::desktop::OnClose;
use protocol::settings::{PrivateSettings, ProviderKind};
use protocol::{AppEvent, ErrorCode, Settings};
use serde_json::json;
use testkit::{Reply, ScriptedModel, TempVault, TestHub};
use tokio::io::{AsyncBufReadExt as _, BufReader};
use tokio::process::{Child, Command};

use crate::harness::test_app::{
    RunningApp, TestHome, home_with_key, settings_with_model, settings_without_model, with_hub,
};

/// The last line of a settings file that was written by the application.
pub(crate) const LAST_LINE: &str =
    "# End of the settings. Keep this line last: without it they may count as cut off.";

const NOTES: [(&str, &str); 2] = [("Diary/Secret.md", "canary\n"), ("Open.md", "canary\n")];

fn changed_settings(app: &RunningApp) -> (bool, OnClose) {
    let settings = app.app.settings();
    (settings.spending.paused, settings.desktop.on_close)
}

#[tokio::test(flavor = "multi_thread")]
async fn changes_at_the_same_time_are_all_kept_and_in_two_steps_one_is_lost() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let running = home.open(settings_without_model()).await;
    let app = &running.app;

    let ((), done) = tokio::join!(
        app.toggle_pause(),
        app.change_settings(|settings| settings.desktop.on_close = OnClose::Quit),
    );
    done.expect("saved");
    assert_eq!(changed_settings(&running), (true, OnClose::Quit));

    // Both are read before one of them is saved: a host must not do this on its own.
    let (mut goes_on, mut asks) = (app.settings(), app.settings());
    goes_on.spending.paused = false;
    asks.desktop.on_close = OnClose::Ask;
    app.save_settings(goes_on).await.expect("saved");
    app.save_settings(asks).await.expect("saved");
    assert_eq!(changed_settings(&running), (true, OnClose::Ask), "the control finds what is lost");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_was_declared_local_loses_that_to_another_server() {
    let home = home_with_key(&[("Alpha.md", "one\n")]);
    let running = home.open(settings_without_model()).await;
    let mark = |settings: &mut Settings| {
        settings.provider = ProviderKind::Ollama;
        settings.base_url = "http://localhost:11434".to_owned();
        settings.private.endpoint_is_local = true;
    };
    let other_model: fn(&mut Settings) = |settings| settings.model = "llama3.2".to_owned();
    let other_url: fn(&mut Settings) =
        |settings| settings.base_url = "http://localhost:4000".to_owned();
    let other_provider: fn(&mut Settings) = |settings| settings.provider = ProviderKind::OpenAi;
    // A window that has not heard of the mark yet.
    let mut unmarked = running.app.settings();
    unmarked.provider = ProviderKind::Ollama;
    unmarked.base_url = "http://localhost:11434".to_owned();
    for (change, stays) in [(other_model, true), (other_url, false), (other_provider, false)] {
        running.app.change_settings(mark).await.expect("saved");
        assert!(running.app.settings().private.endpoint_is_local);
        let mut changed = unmarked.clone();
        change(&mut changed);
        let saved = running.app.save_changed(&unmarked, changed).await.expect("saved");
        assert_eq!(saved.private.endpoint_is_local, stays, "{saved:?}");
        let file = std::fs::read_to_string(home.data.root().join("config.toml")).expect("a file");
        assert_eq!(file.contains("endpointIsLocal = true"), stays, "{file}");
    }
    running.quit().await;
}

fn private_rules(rules: &[&str]) -> PrivateSettings {
    let never = rules.iter().map(|rule| (*rule).to_owned()).collect();
    PrivateSettings { never, ..PrivateSettings::default() }
}

/// A model that searches for the canary, then ends.
async fn start_searching_model() -> ScriptedModel {
    let step = std::sync::atomic::AtomicUsize::new(0);
    ScriptedModel::responder(move |_| {
        match step.fetch_add(1, std::sync::atomic::Ordering::Relaxed) % 2 {
            0 => Reply::calls(vec![("search_files", json!({ "pattern": "canary" }))]),
            _ => Reply::text("I looked."),
        }
    })
    .await
}

/// The requests to the model after its first ones.
fn requests_after(model: &ScriptedModel, after: usize) -> String {
    let requests = model.requests().into_iter().skip(after);
    serde_json::to_string(&requests.collect::<Vec<_>>()).expect("json")
}

/// A second window on the same data directory, over another vault.
async fn open_second_window(test_home: &TestHome, vault: &TempVault) -> App {
    let app = App::start(DataDir::at(test_home.data.root().to_owned()).expect("a data directory"));
    app.open_vault(vault.root()).await.expect("it opens");
    app
}

#[tokio::test(flavor = "multi_thread")]
async fn a_rule_that_is_written_by_hand_counts_for_the_next_message_of_a_running_window() {
    let (home, model) = (home_with_key(&NOTES), start_searching_model().await);
    let running = home.open(settings_with_model(&model)).await;
    running.send_and_wait(None, "look").await;
    assert!(
        requests_after(&model, 0).contains("Diary/Secret.md"),
        "the control: without a rule it is found"
    );
    let before = model.requests().len();
    let text = home.data.read("config.toml");
    home.data.write("config.toml", format!("{text}[private]\nnever = [\"Diary\"]\n"));
    running.send_and_wait(None, "look").await;
    let told = requests_after(&model, before);
    assert!(told.contains("Open.md") && !told.contains("Secret.md"), "{told}");
    running
        .wait_for_event("the rule", |event| match event {
            AppEvent::SettingsChanged { settings, .. } => {
                (settings.private == private_rules(&["Diary"])).then_some(())
            }
            _ => None,
        })
        .await;
    running.app.change_settings(|settings| settings.follow_links = true).await.expect("saved");
    assert_eq!(running.settings().await.private, private_rules(&["Diary"]));
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn two_windows_on_two_vaults_change_settings_all_the_time_and_lose_none() {
    const TIMES: u32 = 40;
    let (home, vault) = (home_with_key(&NOTES), TempVault::new(&NOTES));
    let running = home.open(settings_without_model()).await;
    let (one, other) = (&running.app, open_second_window(&home, &vault).await);
    one.change_settings(|settings| settings.private = private_rules(&["Diary"]))
        .await
        .expect("saved");
    let limits = |app: &App| app.settings().spending;
    let (turn, month) = (limits(one).turn_cents, limits(one).month_cents);
    for _ in 0..TIMES {
        let (first, then) = tokio::join!(
            one.change_settings(|settings| settings.spending.turn_cents += 1),
            other.change_settings(|settings| settings.spending.month_cents += 1),
        );
        first.and(then).expect("saved");
    }
    let begun = open_second_window(&home, &TempVault::new(&[])).await;
    let now = begun.settings();
    assert_eq!(
        (now.spending.turn_cents, now.spending.month_cents, now.private.clone()),
        (turn + TIMES, month + TIMES, private_rules(&["Diary"]))
    );
    // The control: one window writes all it knows. What the other changes just then is gone.
    let all = one.settings();
    other
        .change_settings(|settings| settings.private.never.push("Work".into()))
        .await
        .expect("saved");
    let whole = home.data.read("config.toml").replace(", \"Work\"", "");
    home.data.write("config.toml", whole);
    assert_eq!(all.private, private_rules(&["Diary"]));
    running.wait_for_event("what was lost", |event| lacks_second_rule(event).then_some(())).await;
    begun.shutdown().await;
    other.shutdown().await;
    running.quit().await;
}

/// Whether the second window's rule is not there.
fn lacks_second_rule(event: &AppEvent) -> bool {
    matches!(event, AppEvent::SettingsChanged { settings, .. } if settings.private == private_rules(&["Diary"]))
}

/// Saves a rule as an editor does: reads, and replaces the file whole.
fn add_by_hand(test_home: &TestHome, rule: &str) {
    let text = test_home.data.read("config.toml");
    assert!(text.contains("never = ["), "{text}");
    test_home
        .data
        .write("by-hand", text.replacen("never = [", &format!("never = [\"{rule}\", "), 1));
    let root = test_home.data.root();
    std::fs::rename(root.join("by-hand"), root.join("config.toml")).expect("saved");
}

fn spawn_setting_changer(test_home: &TestHome, vault: &TempVault, setting: &str) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_story"));
    command.args([test_home.data.root(), vault.root()]).arg(format!("settings {setting}"));
    test_home.set_environment(&mut command);
    command.stdout(Stdio::null()).spawn().expect("it starts")
}

#[tokio::test(flavor = "multi_thread")]
async fn rules_outlive_windows_that_are_killed_while_they_save_and_hands_that_write_between() {
    let (home, vaults) = (home_with_key(&NOTES), [TempVault::new(&NOTES), TempVault::new(&NOTES)]);
    let running = home.open(settings_without_model()).await;
    let saved = |settings: &mut Settings| settings.private = private_rules(&["Diary"]);
    running.app.change_settings(saved).await.expect("saved");
    for round in 0..6 {
        let rule = format!("By hand {round}");
        let limits = running.app.settings().spending;
        let mut windows = [
            spawn_setting_changer(&home, &vaults[0], "turn"),
            spawn_setting_changer(&home, &vaults[1], "month"),
        ];
        let more = |settings: &Settings, by: u32| {
            let now = &settings.spending;
            now.turn_cents > limits.turn_cents + by && now.month_cents > limits.month_cents + by
        };
        let is_later = |event: &AppEvent, by: u32, rule: &str| match event {
            AppEvent::SettingsChanged { settings, trouble } => {
                assert_eq!(*trouble, None, "it never looks cut off");
                let has_rule = settings.private.never.iter().any(|one| one == rule);
                (more(settings, by) && has_rule).then_some(())
            }
            _ => None,
        };
        running.wait_for_event("both change", |event| is_later(event, 3, "Diary")).await;
        add_by_hand(&home, &rule);
        running.wait_for_event("both go on", |event| is_later(event, 8, &rule)).await;
        for window in &mut windows {
            window.kill().await.expect("killed");
        }
        let begun = open_second_window(&home, &TempVault::new(&[])).await;
        assert!(begun.settings().private.never.contains(&rule), "{:?}", begun.settings());
        begun.shutdown().await;
    }
    let never = running.app.settings().private.never;
    let hand = (0..6).map(|round| format!("By hand {round}"));
    let missing: Vec<_> = hand.chain(["Diary".to_owned()]).filter(|r| !never.contains(r)).collect();
    assert_eq!(missing, Vec::<String>::new(), "{never:?}");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn no_model_is_asked_while_the_file_is_cut_at_any_byte() {
    let (home, model) = (home_with_key(&NOTES), start_searching_model().await);
    let settings = Settings { private: private_rules(&["Diary"]), ..settings_with_model(&model) };
    let running = home.open(settings).await;
    let whole = home.data.read("config.toml");
    let mut conversation = None;
    for end in 0..whole.len() {
        // All bytes are tried below, in the application's own tests; here those around line ends as well.
        let at_end = whole.as_bytes()[end..].starts_with(b"\n") || whole[..end].ends_with('\n');
        if !at_end && end % 16 != 0 {
            continue;
        }
        home.data.write("config.toml", &whole[..end]);
        conversation = Some(running.send_and_wait(conversation.as_ref(), "look").await);
        assert_eq!(model.requests().len(), 0, "asked with a file of {end} bytes");
    }
    let ended = running.view(&conversation.expect("it was said")).await.items.pop();
    let ended = serde_json::to_string(&ended).expect("json");
    assert!(ended.contains("No model is asked until"), "it says so: {ended}");
    assert!(!running.app.test_provider().await.ok);
    let refused = running.app.write_description("By year.").await.expect_err("refused");
    assert_eq!(refused.code, ErrorCode::Settings);
    assert_eq!(model.requests().len(), 0);
    home.data.write("config.toml", &whole);
    running.send_and_wait(None, "look").await;
    let told = requests_after(&model, 0);
    assert!(told.contains("Open.md") && !told.contains("Secret.md"), "the control: whole again");
    running.quit().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_hub_the_terminal_and_the_server_say_that_the_settings_do_not_count() {
    let (home, model) = (home_with_key(&NOTES), start_searching_model().await);
    let hub = TestHub::start().await;
    let running = home.open(with_hub(settings_with_model(&model), &hub.url())).await;
    hub.wait_for_registration().await;
    home.data.write("config.toml", "mode = [oops\n");
    let message = hub.send("buy milk").await;
    hub.wait_for_notification_text(
        &message,
        "No model was asked: the settings file can’t be used.",
    )
    .await;
    assert_eq!(home.notes.read("inbox/Inbox.md"), "- buy milk\n", "it is kept all the same");
    running.quit().await;

    let said = home.ask(&["What is open?"]).await;
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.stderr.contains("No model is asked until it is corrected"), "{said:?}");
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let mut served = home
        .cli_command(&["serve", "--vault", vault])
        .stderr(Stdio::piped())
        .spawn()
        .expect("it starts");
    let mut lines = BufReader::new(served.stderr.take().expect("its words")).lines();
    let first = lines.next_line().await.expect("it talks").expect("a line");
    assert!(first.contains("No model is asked until it is corrected"), "{first}");
    served.kill().await.expect("killed");
    assert_eq!(model.requests().len(), 0);
}
