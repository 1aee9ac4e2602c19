//! Where a text has what a query asks for: case, diacritics and endings do not matter.

use crate::asked::Asked;
use crate::units::{Units, fold};

/// A word or a phrase found in a text.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Mark {
    /// The first byte.
    pub(crate) start: usize,
    /// The byte after the last.
    pub(crate) end: usize,
    /// Which term of the query it is.
    pub(crate) term: usize,
    /// How much of it was asked for: less than 1 when it is a longer word that begins so.
    pub(crate) share: f64,
}

/// Where `text` has what is asked for, in order; `None` when it has what is excluded.
pub(crate) fn marks(asked: &Asked, text: &str) -> Option<Vec<Mark>> {
    let (mut marks, mut folded) = (Vec::new(), String::new());
    let mut units = Units::of(text);
    while let Some(unit) = units.next() {
        let first = text.as_bytes().get(unit.start).copied().unwrap_or_default();
        if !asked.may_begin_with(first) {
            continue;
        }
        fold(text.get(unit.start..unit.end).unwrap_or_default(), &mut folded);
        let found = |spelled: &crate::asked::Spelled| spelled.ends_at(text, unit, &folded, &units);
        if asked.excluded.iter().any(|spelled| found(spelled).is_some()) {
            return None;
        }
        for (term, asked) in asked.terms.iter().enumerate() {
            let mark = |(end, share)| Mark { start: unit.start, end, term, share };
            marks.extend(found(&asked.spelled).map(mark));
        }
    }
    Some(marks)
}

/// How often two terms of the query stand side by side in its order.
pub(crate) fn pairs(text: &str, marks: &[Mark]) -> u32 {
    let beside = |(a, b): &(&Mark, &Mark)| {
        let between = text.get(a.end..b.start).unwrap_or("x");
        b.term == a.term + 1 && !between.contains(char::is_alphanumeric)
    };
    let count = marks.iter().zip(marks.iter().skip(1)).filter(beside).count();
    u32::try_from(count).unwrap_or(u32::MAX)
}
