//! Questions to a model server on this computer: it needs no key, and a call that no repair made
//! readable is a failure.

use serde_json::{Value, json};

use super::{NOTES, exit_and_stderr, piped_output};
use crate::harness::test_app::{CliOutput, TestHome, run_command, turn_failure};
use crate::models::local_server::{FakeLlamaServer, LlamaOptions};
use crate::settings::LAST_LINE;

const WINDOW: u32 = 32_768;

/// A data folder whose settings name an OpenAI-compatible server at this URL.
fn home_with_server(base_url: &str) -> TestHome {
    let home = TestHome::new(&NOTES);
    let server = format!("provider = \"openai\"\nbaseUrl = \"{base_url}\"\nmodel = \"tiny\"\n");
    home.data.write("config.toml", format!("{server}{LAST_LINE}\n"));
    home
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_on_this_computer_is_asked_without_a_key_as_in_the_window() {
    let llama = FakeLlamaServer::start(LlamaOptions::without_tools(WINDOW), &[]).await;
    let url = llama.settings().base_url;
    for base_url in [url.clone(), format!("{url}/v1"), url.replace("127.0.0.1", "LOCALHOST")] {
        let said = home_with_server(&base_url).ask(&["hello"]).await;
        assert_eq!((said.code, said.stdout.as_str()), (Some(0), "Yes.\n"), "{base_url}: {said:?}");
    }
    // The same with the server in the environment and none in the settings.
    let home = home_with_server("");
    let vault = home.notes.root().to_str().expect("a path in UTF-8");
    let mut command = home.cli_command(&["ask", "--vault", vault, "hello"]);
    let said = run_command(command.env("OPENAI_BASE_URL", &url)).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "Yes.\n"), "{said:?}");
    assert_eq!(llama.chat_requests().len(), 4);
    // The window: the same settings, and no key either.
    let window = TestHome::new(&NOTES);
    let running = window.open(llama.settings()).await;
    let conversation = running.send_and_wait(None, "hello").await;
    assert_eq!(turn_failure(&running.view(&conversation).await), None);
    running.quit().await;
    // The control: a server elsewhere is not asked without a key.
    let said = home_with_server("https://models.invalid/v1").ask(&["hello"]).await;
    let sentence =
        "There is no API key for OpenAI. Paste one in Settings, or set OPENAI_API_KEY.\n";
    assert_eq!(exit_and_stderr(&said), (Some(1), sentence));
}

/// `ask` where the model answers so, in words and as JSON.
async fn answers_to(says: &[Value]) -> [CliOutput; 2] {
    let ask = async |arguments: &[&str], input: &str| {
        let llama = FakeLlamaServer::start(LlamaOptions::without_tools(WINDOW), says).await;
        let home = home_with_server(&llama.settings().base_url);
        let vault = home.notes.root().to_str().expect("a path in UTF-8");
        let all = [&["ask", "--vault", vault], arguments].concat();
        let said = piped_output(&mut home.cli_command(&all), input).await;
        assert_eq!(llama.chat_requests().len(), says.len(), "{said:?}");
        said
    };
    [
        ask(&["Where", "is", "the", "ferry?"], "").await,
        ask(&["--json"], r#"{"message": "Where is the ferry?"}"#).await,
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_still_wrong_after_its_repair_is_a_failure_in_words() {
    let call = |text: &str| json!({ "content": text });
    let wrong = r#"{"tool": "read_file", "parameters": {"path": "Harbour.md"#;
    for again in [wrong, r#"{"tool": "read_file", "parameters": 7}"#] {
        let [words, object] = answers_to(&[call(wrong), call(again)]).await;
        assert_eq!((words.code, words.stdout.as_str()), (Some(1), ""), "{words:?}");
        let failure = "The model tried to use a tool, but its call can’t be read";
        assert!(words.stderr.starts_with(failure), "{words:?}");
        assert!(!words.stderr.contains("parameters\":"), "{words:?}");
        assert_eq!(object.code, Some(1), "{object:?}");
        let told: Value = serde_json::from_str(&object.stdout).expect("JSON");
        assert!(told["error"].to_string().contains(failure), "{told}");
        assert_eq!((&told["stop_reason"], &told["messages"]), (&json!("failed"), &json!([])));
    }
    // The control: a call that its repair made readable runs, and the answer counts.
    let right = r#"{"tool": "read_file", "parameters": {"path": "Harbour.md"}}"#;
    let answers = [call(wrong), call(right), call("At nine.")];
    for said in answers_to(&answers).await {
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(said.stdout.contains("At nine."), "{said:?}");
    }
}
