//! A request as a model may read it: without the characters that a person would not see.
//!
//! The stored text keeps them, so that the user can be shown where they stand. The same rows give
//! the same request.

use protocol::notes::invisible::without_invisible;

use crate::context::model_texts;
use crate::model::{ContentBlock, ModelRequest};

/// The request with each text as a person would see it. Arguments of calls and verbatim content
/// stay as they are.
pub(crate) fn visible_request(request: ModelRequest) -> ModelRequest {
    let mut request = request;
    strip_invisible(&mut request.system);
    for block in request.messages.iter_mut().flat_map(|message| &mut message.blocks) {
        match block {
            ContentBlock::Text(text) | ContentBlock::Result { output: text, .. } => {
                strip_invisible(text)
            }
            ContentBlock::Call(_) | ContentBlock::Verbatim(_) => {}
        }
    }
    request
}

fn strip_invisible(text: &mut String) {
    let seen = without_invisible(text);
    if seen.len() == text.len() {
        return;
    }
    // Providers refuse a text that is blank.
    *text = if seen.trim().is_empty() {
        model_texts::NOTHING_VISIBLE.to_owned()
    } else {
        seen.into_owned()
    };
}

#[cfg(test)]
mod tests {
    use protocol::{CallId, Role};

    use super::*;
    use crate::model::ModelMessage;

    #[test]
    fn texts_and_results_lose_what_nobody_sees_and_are_never_blank() {
        let result = ContentBlock::Result {
            call: CallId::from("c"),
            output: "b\u{202E}".into(),
            is_error: false,
            speech: None,
        };
        let text = ContentBlock::Text("\u{E0041}\u{E0042}".into());
        let message = ModelMessage { role: Role::User, blocks: vec![result, text] };
        let request = ModelRequest {
            system: "a\u{200B}".into(),
            messages: vec![message],
            ..ModelRequest::default()
        };
        let seen = visible_request(request);
        assert_eq!(seen.system, "a");
        let [message] = seen.messages.as_slice() else { panic!("one message: {seen:?}") };
        let [ContentBlock::Result { output, .. }, ContentBlock::Text(text)] =
            message.blocks.as_slice()
        else {
            panic!("two blocks: {message:?}")
        };
        assert_eq!((output.as_str(), text.as_str()), ("b", model_texts::NOTHING_VISIBLE));
    }
}
