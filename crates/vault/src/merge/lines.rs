//! The lines of a note, each with its line break.

use std::ops::Range;

/// Lines of one text; a place outside of it has no lines.
#[derive(Debug, Clone)]
pub(super) struct SplitLines<'a> {
    all: Vec<&'a [u8]>,
}

impl<'a> SplitLines<'a> {
    pub(super) fn split(text: &'a [u8]) -> Self {
        Self { all: text.split_inclusive(|byte| *byte == b'\n').collect() }
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    pub(super) fn slice(&self, range: Range<usize>) -> &[&'a [u8]] {
        self.all.get(range).unwrap_or_default()
    }

    pub(super) fn get(&self, at: usize) -> Option<&'a [u8]> {
        self.all.get(at).copied()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'a [u8]> {
        self.all.iter().copied()
    }

    /// The bytes of some lines.
    pub(super) fn bytes(&self, range: Range<usize>) -> Vec<u8> {
        self.slice(range).concat()
    }
}
