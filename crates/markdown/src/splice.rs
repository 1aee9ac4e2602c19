//! Puts new text in place of a range of bytes.

use std::ops::Range;

/// `text` with `new` in place of `range`; all other bytes stay.
#[must_use]
pub fn splice(text: &str, range: Range<usize>, new: &str) -> String {
    let mut out = String::with_capacity(text.len() + new.len());
    out.push_str(text.get(..range.start).unwrap_or_default());
    out.push_str(new);
    out.push_str(text.get(range.end..).unwrap_or_default());
    out
}
