//! Comments: what stands between two `%%`.

use std::ops::Range;

use super::walk::covers;

/// Comments behind `body`, outside of code. A sign without a second one is no comment.
pub(super) fn find(text: &str, body: usize, opaque: &[Range<usize>]) -> Vec<Range<usize>> {
    let mut signs = comment_marks(text, body).filter(|at| !covers(opaque, *at));
    let mut found = Vec::new();
    while let (Some(open), Some(close)) = (signs.next(), signs.next()) {
        found.push(open..close + 2);
    }
    found
}

/// Where `%%` stands behind `body`; of more than two signs each two are one.
fn comment_marks(text: &str, body: usize) -> impl Iterator<Item = usize> {
    // A single sign is looked for: that is quick, and there are few.
    let mut at = body;
    std::iter::from_fn(move || {
        loop {
            let sign = at + text.get(at..)?.find('%')?;
            let is_double = text.as_bytes().get(sign + 1) == Some(&b'%');
            at = sign + if is_double { 2 } else { 1 };
            if is_double {
                return Some(sign);
            }
        }
    })
}
