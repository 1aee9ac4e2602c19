//! Where files and folders go when several are renamed one after the other.

use crate::NotePath;

/// Renames in the order in which they happen.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Renames(Vec<(NotePath, NotePath)>);

impl Renames {
    /// Adds one that happens after all others.
    pub fn push(&mut self, from: NotePath, to: NotePath) {
        self.0.push((from, to));
    }

    /// Whether nothing is renamed.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Where what is at `path` before ends up.
    #[must_use]
    pub fn forward(&self, path: &NotePath) -> NotePath {
        let step = |path: NotePath, (from, to): &(NotePath, NotePath)| {
            path.after_move(from, to).unwrap_or(path)
        };
        self.0.iter().fold(path.clone(), step)
    }

    /// Where what stands at `path` afterwards was before; `None` when it went away from there.
    #[must_use]
    pub fn back(&self, path: &NotePath) -> Option<NotePath> {
        let step =
            |path: NotePath, (from, to): &(NotePath, NotePath)| match path.after_move(to, from) {
                Some(before) => Some(before),
                None => (!path.is_in(from)).then_some(path),
            };
        self.0.iter().rev().try_fold(path.clone(), step)
    }
}

impl FromIterator<(NotePath, NotePath)> for Renames {
    fn from_iter<I: IntoIterator<Item = (NotePath, NotePath)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}
