//! Comments: what stands between two `%%`.

use std::ops::Range;

use super::covers;

/// Comments behind `body`, outside of code. A sign without a second one is no comment.
pub(super) fn find(text: &str, body: usize, opaque: &[Range<usize>]) -> Vec<Range<usize>> {
    let rest = text.get(body..).unwrap_or_default();
    let mut signs =
        rest.match_indices("%%").map(|(at, _)| body + at).filter(|at| !covers(opaque, *at));
    let mut found = Vec::new();
    while let (Some(open), Some(close)) = (signs.next(), signs.next()) {
        found.push(open..close + 2);
    }
    found
}
