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
        forward(self.pairs(), path)
    }

    /// Where what stands at `path` afterwards was before; `None` when it went away from there.
    #[must_use]
    pub fn back(&self, path: &NotePath) -> Option<NotePath> {
        back(self.pairs(), path)
    }

    fn pairs(&self) -> impl DoubleEndedIterator<Item = (&NotePath, &NotePath)> {
        self.0.iter().map(|(from, to)| (from, to))
    }
}

/// As [`Renames::forward`], for renames in order that are kept elsewhere.
pub(super) fn forward<'a>(
    renames: impl Iterator<Item = (&'a NotePath, &'a NotePath)>,
    path: &NotePath,
) -> NotePath {
    let step = |path: NotePath, (from, to): (&NotePath, &NotePath)| {
        path.after_move(from, to).unwrap_or(path)
    };
    renames.fold(path.clone(), step)
}

/// As [`Renames::back`], for renames in order that are kept elsewhere.
pub(super) fn back<'a>(
    renames: impl DoubleEndedIterator<Item = (&'a NotePath, &'a NotePath)>,
    path: &NotePath,
) -> Option<NotePath> {
    let step = |path: NotePath, (from, to): (&NotePath, &NotePath)| match path.after_move(to, from)
    {
        Some(before) => Some(before),
        None => (!path.is_in(from)).then_some(path),
    };
    renames.rev().try_fold(path.clone(), step)
}

impl FromIterator<(NotePath, NotePath)> for Renames {
    fn from_iter<I: IntoIterator<Item = (NotePath, NotePath)>>(pairs: I) -> Self {
        Self(pairs.into_iter().collect())
    }
}
