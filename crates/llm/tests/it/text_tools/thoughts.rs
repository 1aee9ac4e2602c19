//! Calls in and after the thoughts that a model writes into its text.

use super::*;

/// An answer that comes in pieces of five bytes.
fn say_in_pieces(text: &str) -> CannedAnswer {
    let pieces = text.as_bytes().chunks(5).map(|piece| std::str::from_utf8(piece).unwrap());
    let chunks = pieces.map(|piece| words(piece).swap_remove(0));
    data(&chunks.chain(words("").pop()).collect::<Vec<_>>())
}

/// Runs a turn with these answers; returns the last answer and the last request.
async fn turn_with(server: &str, texts: &[&str]) -> (String, Value) {
    let (address, refusal) = match server {
        "on this computer" => (ServerAddress::Own, None),
        "refuses tools" => (ServerAddress::Else, Some(refusal())),
        _ => (ServerAddress::Else, None),
    };
    let asked = texts.len() + usize::from(refusal.is_some());
    let answers = refusal.into_iter().chain(texts.iter().map(|text| say_in_pieces(text)));
    let (ending, mut bodies) =
        turn_at(address, &ToollessModels::default(), answers.collect()).await;
    assert_eq!((ending.status, bodies.len()), (TurnStatus::Done, asked), "{server}: {ending:?}");
    (ending.message.unwrap().text(), bodies.pop().unwrap())
}

#[tokio::test]
async fn a_call_in_a_thought_is_not_made_and_the_answer_after_it_is_shown() {
    for opening in ["<think>", ""] {
        let text = format!("{opening}I could call {CALL}, no.</think>\nMilk is on the list.");
        for server in ["on this computer", "refuses tools", "elsewhere"] {
            assert_eq!(turn_with(server, &[&text]).await.0, text, "{server}");
            // Also once the server is known, and text is no longer held back.
            assert_eq!(turn_with(server, &[CALL, &text]).await.0, text, "{server}");
        }
    }
}

#[tokio::test]
async fn a_call_after_a_thought_is_made() {
    let closed = format!("<think>They ask for the sky.</think>\n\n{CALL}");
    let draft = format!("\n<think>I could call {CALL}.</think>{CALL}");
    let only_closed = format!("They ask for the sky.</think>\n{CALL}");
    let unclosed = format!("<think>They ask for the sky. {CALL}");
    for (server, texts) in [
        ("on this computer", &[&closed, &draft, &only_closed, &unclosed][..]),
        ("refuses tools", &[&closed, &draft, &only_closed, &unclosed][..]),
        // Of a server elsewhere, a call is all of the answer that follows the thought.
        ("elsewhere", &[&closed, &draft][..]),
    ] {
        for text in texts {
            let (said, request) = turn_with(server, &[text, "It is blue."]).await;
            assert_eq!(said, "It is blue.", "{server}: {text}");
            assert!(request.to_string().contains("sky 0"), "{server}, {text}: {request}");
        }
    }
}

#[tokio::test]
async fn a_call_after_a_thought_that_was_cut_off_fails_and_is_not_shown() {
    let cut = format!("<think>They ask for the sky.</think>\n{}", &CALL[..40]);
    let (ending, _) = turn(&ToollessModels::default(), vec![say_cut(&cut)]).await;
    assert_eq!(ending.status, TurnStatus::Failed, "{ending:?}");
    assert!(!format!("{:?}", ending.message).contains("look"), "{ending:?}");
    // The control: within the thought it is part of it.
    let cut = cut.replace("</think>", "");
    let (ending, _) = turn(&ToollessModels::default(), vec![refusal(), say_cut(&cut)]).await;
    assert_eq!((ending.status, ending.cut), (TurnStatus::Done, true), "{ending:?}");
    assert_eq!(ending.message.unwrap().text(), cut);
}
