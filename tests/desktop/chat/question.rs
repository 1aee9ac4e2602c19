//! A question outlives the program: asked, killed, started again, answered.

use serde_json::{Value, json};
use testkit::{DesktopHome, Reply, ScriptedModel, TempVault};

use crate::input_device::InputDevice;
use crate::lock_display;

const QUESTION: &str = "On which list shall I put the turmeric?";

async fn answer_after_kill(device: InputDevice) {
    let _turn = lock_display().await;
    let vault = TempVault::from_fixture("sample");
    let options = json!(["Groceries", "Pantry"]);
    let asks = json!({ "message": QUESTION, "is_question": true, "options": options });
    let model = ScriptedModel::start(vec![
        Reply::calls(vec![("send_message", asks)]),
        Reply::text("On the Pantry list, then."),
    ])
    .await;
    let home = DesktopHome::new().with_vault(&vault).with_model(&model);

    let app = home.start().await;
    device.send_message(&app, "Write down turmeric").await;
    app.window.find_text("[data-testid=question-card]", QUESTION).await;
    app.kill().await;

    let app = home.start().await;
    app.window.find_text("[data-testid=conversation-list] button", QUESTION).await;
    device.open_conversation(&app, "Write down turmeric").await;
    app.window.find_text("[data-testid=question-card]", QUESTION).await;
    app.save_screenshot("question-after-restart").await;
    device.press(&app, "[data-testid=question-option]", "Pantry").await;
    app.window.find_text("[data-testid=chat-log]", "On the Pantry list, then.").await;
    app.window.wait_until_gone("[data-testid=question-card]").await;

    expect_call_result_and_answer(&model.wait_for_request(2).await);
    app.quit().await;
    model.finish();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_survives_a_kill_and_its_answer_reaches_the_model_by_pointer() {
    answer_after_kill(InputDevice::Pointer).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_survives_a_kill_and_its_answer_reaches_the_model_by_keyboard() {
    answer_after_kill(InputDevice::Keyboard).await;
}

fn expect_call_result_and_answer(request: &Value) {
    let messages = request["messages"].as_array().expect("messages");
    let [.., asked, answered] = messages.as_slice() else { panic!("too short: {messages:?}") };
    let block = |message: &Value, kind: &str| {
        let blocks = message["content"].as_array().cloned().unwrap_or_default();
        blocks.into_iter().filter(|block| block["type"] == kind).collect::<Vec<_>>()
    };
    let calls = block(asked, "tool_use");
    assert_eq!(calls.len(), 1);
    assert_eq!(calls[0]["name"], "send_message");
    assert_eq!(calls[0]["input"]["message"], QUESTION);
    let results = block(answered, "tool_result");
    assert_eq!(results.len(), 1);
    assert_eq!(results[0]["tool_use_id"], calls[0]["id"]);
    let texts = block(answered, "text");
    let last = texts.last().expect("the answer");
    assert_eq!(last["text"], "Pantry");
}
