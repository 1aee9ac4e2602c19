//! Which notes a search is about.

use std::collections::BTreeSet;

use protocol::NotePath;

use crate::metadata::queries::VisibleView;
use crate::view::LookupKey;

/// All of it has to be so; the default lets every note in.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct NoteFilter {
    /// In this folder, at any depth.
    pub folder: Option<NotePath>,
    /// With each of these tags, or one nested in it; without `#`.
    pub tags: Vec<String>,
    /// With this property, and with this value of it when there is one; case does not matter.
    pub property: Option<(String, Option<String>)>,
    /// With a link to this file.
    pub linked_to: Option<NotePath>,
}

impl NoteFilter {
    /// Whether it asks for more than a folder, which only a standing index knows.
    #[must_use]
    pub const fn needs_index(&self) -> bool {
        !self.tags.is_empty() || self.property.is_some() || self.linked_to.is_some()
    }

    /// Whether a path lies where it has to.
    pub(super) fn includes_path(&self, path: &NotePath) -> bool {
        self.folder.as_ref().is_none_or(|folder| path.is_in(folder))
    }

    /// The notes it lets in; all with `None`.
    pub(super) fn matching_notes(&self, shown: &VisibleView<'_>) -> Option<BTreeSet<NotePath>> {
        let mut allowed: Option<BTreeSet<NotePath>> = None;
        let mut only = |paths: BTreeSet<NotePath>| {
            let both = match allowed.take() {
                Some(before) => before.intersection(&paths).cloned().collect(),
                None => paths,
            };
            allowed = Some(both);
        };
        if self.folder.is_some() {
            let paths = shown.view.paths().map(|(path, _)| path);
            only(paths.filter(|path| self.includes_path(path)).cloned().collect());
        }
        for tag in &self.tags {
            let tag = tag.trim_start_matches('#').to_lowercase();
            let notes = shown.files_with(LookupKey::Tag(&tag)).into_iter();
            only(notes.map(|held| held.path().clone()).collect());
        }
        if let Some((name, value)) = &self.property {
            only(notes_with_property(shown, name, value.as_deref()));
        }
        if let Some(target) = &self.linked_to {
            only(shown.backlinks(target).into_iter().map(|link| link.source).collect());
        }
        allowed
    }
}

fn notes_with_property(
    shown: &VisibleView<'_>,
    name: &str,
    value: Option<&str>,
) -> BTreeSet<NotePath> {
    let (name, value) = (name.to_lowercase(), value.map(str::to_lowercase));
    let mut notes = shown.files_with(LookupKey::Property(&name));
    notes.retain(|held| {
        let Some(value) = &value else { return true };
        held.metadata().properties.iter().any(|(known, values)| {
            known.to_lowercase() == name && values.iter().any(|one| one.to_lowercase() == *value)
        })
    });
    notes.into_iter().map(|held| held.path().clone()).collect()
}
