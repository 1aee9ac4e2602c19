//! A request as a model may read it: without the characters that a person would not see.
//!
//! What is stored keeps them, so that the user can be shown where they stand. The same rows give the
//! same request.

use protocol::invisible::visible;

use crate::model::{Block, ModelRequest};
use crate::wording;

/// The request with each text as a person would see it. What the model wrote into a call, and what
/// its vendor wants back as it came, stay.
pub(crate) fn shown(request: ModelRequest) -> ModelRequest {
    let mut request = request;
    show(&mut request.system);
    for block in request.messages.iter_mut().flat_map(|message| &mut message.blocks) {
        match block {
            Block::Text(text) | Block::Result { output: text, .. } => show(text),
            Block::Call(_) | Block::Verbatim(_) => {}
        }
    }
    request
}

fn show(text: &mut String) {
    let seen = visible(text);
    if seen.len() == text.len() {
        return;
    }
    // A vendor refuses a text that is blank.
    *text = if seen.trim().is_empty() {
        wording::NOTHING_VISIBLE.to_owned()
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
        let result =
            Block::Result { call: CallId::from("c"), output: "b\u{202E}".into(), is_error: false };
        let text = Block::Text("\u{E0041}\u{E0042}".into());
        let message = ModelMessage { role: Role::User, blocks: vec![result, text] };
        let request = ModelRequest {
            system: "a\u{200B}".into(),
            messages: vec![message],
            ..ModelRequest::default()
        };
        let seen = shown(request);
        assert_eq!(seen.system, "a");
        let [message] = seen.messages.as_slice() else { panic!("one message: {seen:?}") };
        let [Block::Result { output, .. }, Block::Text(text)] = message.blocks.as_slice() else {
            panic!("two blocks: {message:?}")
        };
        assert_eq!((output.as_str(), text.as_str()), ("b", wording::NOTHING_VISIBLE));
    }
}
