//! A client's response to a message, cut to the length that a hub shows.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use crate::wire::{ResponseFrame, ResponsePayload, ToHub};

const TITLE_MAX: usize = 256;
const REASON_MAX: usize = 512;
const BODY_MAX: usize = 4096;

/// One of possibly several answers to a message the hub delivered. The hub confirms none of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HubResponse {
    /// The message is safe with us.
    Ack {
        /// The hub's id of the message.
        message_id: String,
    },
    /// The message cannot be taken; the hub tries other clients.
    Reject {
        /// The hub's id of the message.
        message_id: String,
        /// Shown to the user in the end; a blank one is omitted.
        reason: String,
    },
    /// A notification for the user. A blank title or body is omitted; with both blank the
    /// hub would drop it, and nothing is sent.
    Notification {
        /// The hub's id of the message it belongs to.
        message_id: String,
        /// At most 256 bytes, cut with "…".
        title: String,
        /// At most 4 kB, cut after a sentence with "…".
        body: String,
        /// How loudly.
        priority: Priority,
    },
}

/// How loudly a notification is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Priority {
    /// May pass unnoticed.
    Low,
    /// As usual.
    #[default]
    Normal,
    /// Wants the user.
    High,
}

impl HubResponse {
    /// The frame to send, or `None` when there is nothing to show.
    pub(crate) fn into_frame(self) -> Option<ToHub> {
        let (message_id, answer) = match self {
            Self::Ack { message_id } => (message_id, ResponsePayload::Ack {}),
            Self::Reject { message_id, reason } => {
                (message_id, ResponsePayload::Reject { reason: to_shown_text(&reason, REASON_MAX) })
            }
            Self::Notification { message_id, title, body, priority } => {
                let (title, body) =
                    (to_shown_text(&title, TITLE_MAX), to_shown_text(&body, BODY_MAX));
                if title.is_none() && body.is_none() {
                    return None;
                }
                (
                    message_id,
                    ResponsePayload::Notification { title, body, priority: Some(priority) },
                )
            }
        };
        Some(ToHub::Response(ResponseFrame { message_id, answer }))
    }
}

fn to_shown_text(text: &str, limit: usize) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| shorten(text, limit).into_owned())
}

/// Shortens `text` to at most `limit` bytes, "…" included: after a sentence where one ends in the
/// second half of the limit, else after a word, else within one.
fn shorten(text: &str, limit: usize) -> Cow<'_, str> {
    if text.len() <= limit {
        return Cow::Borrowed(text);
    }
    let room = limit.saturating_sub("…".len());
    let (fits, _) = text.split_at(text.floor_char_boundary(room));
    let kept = last_end(fits, ends_sentence)
        .filter(|end| *end >= room / 2)
        .or_else(|| last_end(fits, char::is_whitespace))
        .and_then(|end| fits.get(..end))
        .unwrap_or(fits);
    Cow::Owned(format!("{}…", kept.trim_end()))
}

const fn ends_sentence(c: char) -> bool {
    matches!(c, '.' | '!' | '?' | '\n' | '。')
}

/// The end of the last character that `ends` something, and is not inside a word or number.
fn last_end(text: &str, ends: impl Fn(char) -> bool) -> Option<usize> {
    text.char_indices().rev().map(|(at, c)| (at + c.len_utf8(), c)).find_map(|(end, c)| {
        let follows = text.get(end..).and_then(|rest| rest.chars().next());
        (ends(c) && !follows.is_some_and(char::is_alphanumeric) || ends(c) && c.is_whitespace())
            .then_some(end)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_text_stays_whole() {
        assert_eq!(shorten("Milk is on the list.", 40), "Milk is on the list.");
    }

    #[test]
    fn a_long_text_is_cut_after_a_sentence() {
        assert_eq!(shorten("One is done. Version 1.5 is next. And three more", 44), {
            "One is done. Version 1.5 is next.…"
        });
    }

    #[test]
    fn without_a_late_sentence_it_is_cut_after_a_word() {
        assert_eq!(shorten("A. then many words without any end", 24), "A. then many words…");
        assert_eq!(shorten("aaaaaaaaaaaaaaaaaaaaaaaa", 12), "aaaaaaaaa…");
    }

    #[test]
    fn blank_parts_are_omitted_and_nothing_at_all_is_not_sent() {
        let note = |title: &str, body: &str| HubResponse::Notification {
            message_id: "m1".into(),
            title: title.into(),
            body: body.into(),
            priority: Priority::High,
        };
        assert_eq!(note(" ", "\n").into_frame(), None);
        let frame = note("", " Done. ").into_frame().unwrap().to_json();
        assert_eq!(
            frame,
            r#"{"type":"response","payload":{"messageId":"m1","type":"notification","payload":{"body":"Done.","priority":"high"}}}"#
        );
    }

    proptest! {
        #[test]
        fn a_cut_text_is_a_beginning_that_fits(text in any::<String>(), limit in 3_usize..200) {
            let short = shorten(&text, limit);
            prop_assert!(short.len() <= limit);
            if text.len() > limit {
                let kept = short.strip_suffix('…').unwrap();
                prop_assert!(text.starts_with(kept));
            } else {
                prop_assert_eq!(short.as_ref(), text.as_str());
            }
        }
    }
}
