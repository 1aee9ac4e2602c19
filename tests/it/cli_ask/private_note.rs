//! A private note that `--note` names: it is not sent, and the user is told.

use testkit::{Reply, ScriptedModel};

use super::{NOTES, ask_command, ask_json};
use crate::harness::test_app::{TestHome, run_command};
use crate::settings::LAST_LINE;

#[tokio::test(flavor = "multi_thread")]
async fn a_private_note_that_is_not_sent_is_named_in_the_terminal_alone() {
    const TOLD: &str = "Diary/Secret.md is a private note, so it wasn’t sent with the question.\n";
    let secret = ("Diary/Secret.md", "The canary sings.\n");
    let home = TestHome::new(&[NOTES.as_slice(), &[secret]].concat());
    home.data.write("config.toml", format!("[private]\nnever = [\"Diary/\"]\n{LAST_LINE}\n"));
    let replies = (0..3).map(|_| Reply::text("At nine.")).collect();
    let model = ScriptedModel::start(replies).await;

    let words = ["--note", "Diary/Secret.md", "When?"];
    let said = run_command(&mut ask_command(&home, &model, &words)).await;
    assert_eq!((said.code, said.stdout.as_str()), (Some(0), "At nine.\n"), "{said:?}");
    assert!(said.stderr.contains(TOLD), "{said:?}");

    let (said, told) = ask_json(&home, &model, r#"{"message": "When?"}"#, &words[..2]).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(told["messages"][0]["text"], "At nine.");
    assert!(said.stderr.contains(TOLD), "{said:?}");

    // The control: any other note is sent, and nothing is said about it.
    let words = ["--note", "Harbour.md", "When?"];
    let said = run_command(&mut ask_command(&home, &model, &words)).await;
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(!said.stderr.contains("private"), "{said:?}");
    let sent: Vec<String> = model.requests().iter().map(ToString::to_string).collect();
    assert!(sent[2].contains("Open note: Harbour.md"), "{}", sent[2]);
    assert!(!sent.iter().any(|sent| sent.contains("Secret") || sent.contains("canary")));
    model.finish();
}
