//! Requests in text that are too long for the window: the repair of a wrong call, and the first one without tools.

use super::*;

/// As llama.cpp's server refuses a request that is longer than its window.
fn too_long(window: u32) -> CannedAnswer {
    let error = json!({
        "code": 400,
        "message": "the request exceeds the available context size",
        "type": "exceed_context_size_error",
        "n_prompt_tokens": window + 50,
        "n_ctx": window,
    });
    respond("400 Bad Request", "", &json!({ "error": error }).to_string())
}

/// No smaller than the window that the service knows.
const KNOWN_WINDOW: u32 = 200_000;

#[tokio::test]
async fn a_call_whose_repair_does_not_fit_the_window_fails_as_a_call_and_not_as_a_long_conversation()
 {
    for (before, window) in [("", KNOWN_WINDOW), ("I will look.\n", 2_048)] {
        let answers = vec![refusal(), say(&format!("{before}{BROKEN}")), too_long(window)];
        let (ending, bodies) = turn(&ToollessModels::default(), answers).await;
        assert_eq!((ending.status, bodies.len()), (TurnStatus::Failed, 3), "{before:?}");
        let error = ending.error.unwrap().to_string();
        assert!(error.contains("its call can’t be read (`parameters.what` is missing)"), "{error}");
    }
}

#[tokio::test]
async fn a_window_is_learned_from_the_refusal_of_a_repair_before_anything_was_shown() {
    let answers = vec![refusal(), say(BROKEN), too_long(2_048), say("It is blue.")];
    let (ending, bodies) = turn(&ToollessModels::default(), answers).await;
    assert_eq!((ending.status, bodies.len()), (TurnStatus::Done, 4), "{ending:?}");
    assert_eq!(ending.message.unwrap().text(), "It is blue.");
    assert!(!bodies[3].to_string().contains("Invalid tool call"), "the request begins again");
}

#[tokio::test]
async fn a_repair_that_is_refused_for_another_reason_fails_with_it() {
    let said = json!({ "error": { "code": 401, "message": "wrong key" } });
    let answers = vec![refusal(), say(BROKEN), respond("401 Unauthorized", "", &said.to_string())];
    let (ending, _) = turn(&ToollessModels::default(), answers).await;
    let error = ending.error.unwrap().to_string();
    assert!(error.contains("didn’t accept the API key"), "{error}");
}

#[tokio::test]
async fn a_window_is_learned_from_the_request_as_text_however_long_the_model_was_loaded() {
    let loading = || {
        let body = r#"{"error":{"code":503,"message":"Loading model","type":"unavailable_error"}}"#;
        respond("503 Service Unavailable", "", body)
    };
    for times in [0, 1, 5] {
        let mut answers: Vec<_> = (0..times).map(|_| loading()).collect();
        // The server drops the tools: its prompt is far shorter than the one that was sent.
        answers.extend([say_counted("I remembered it.", 5), too_long(2_048), say("It is blue.")]);
        let requests = answers.len();
        let (ending, bodies) =
            turn_at(ServerAddress::Own, &ToollessModels::default(), answers).await;
        assert_eq!((ending.status, bodies.len()), (TurnStatus::Done, requests), "{ending:?}");
        assert_eq!(ending.message.unwrap().text(), "It is blue.");
    }
}
