//! Which notes have a tag, a property or a value of one.

use std::collections::BTreeSet;

use protocol::NotePath;
use vault::Vault;

use crate::Index;
use crate::metadata::queries::{VisibleView, count_spellings};
use crate::view::{FoldedWord, LookupKey, ViewEntry};

/// A property and how many notes have it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PropertyCount {
    /// As its name is spelled in most notes.
    pub name: String,
    /// The number of notes that have it.
    pub notes: usize,
}

impl Index {
    /// All properties, those of most notes first. `None` until the index stands.
    #[must_use]
    pub fn properties(&self, vault: &Vault) -> Option<Vec<PropertyCount>> {
        let view = self.view()?;
        let shown = VisibleView { view: &view, vault };
        let counted = count_spellings(&shown, view.property_names(), LookupKey::Property, |held| {
            held.metadata().properties.iter().map(|(name, _)| FoldedWord::new(name)).collect()
        });
        let counted = counted.into_iter().map(|(name, notes)| PropertyCount { name, notes });
        let mut all: Vec<PropertyCount> = counted.collect();
        all.sort_by(|a, b| b.notes.cmp(&a.notes).then_with(|| a.name.cmp(&b.name)));
        Some(all)
    }

    /// The notes that have a tag, or one that is nested in it, whatever its case; by path. `None`
    /// until the index stands.
    #[must_use]
    pub fn notes_with_tag(&self, vault: &Vault, tag: &str) -> Option<Vec<NotePath>> {
        let view = self.view()?;
        let notes =
            VisibleView { view: &view, vault }.files_with(LookupKey::Tag(&tag.to_lowercase()));
        Some(entry_paths(notes))
    }

    /// The notes where a property has a value, whatever the case of both; by path. `None` until the
    /// index stands.
    #[must_use]
    pub fn notes_with_value(
        &self,
        vault: &Vault,
        property: &str,
        value: &str,
    ) -> Option<Vec<NotePath>> {
        let view = self.view()?;
        let (name, value) = (property.to_lowercase(), value.to_lowercase());
        let mut notes = VisibleView { view: &view, vault }.files_with(LookupKey::Property(&name));
        notes.retain(|held| {
            let own = held.metadata().properties.into_iter();
            own.filter(|(own, _)| own.to_lowercase() == name)
                .flat_map(|(_, values)| values)
                .any(|own| own.to_lowercase() == value)
        });
        Some(entry_paths(notes))
    }
}

fn entry_paths(notes: Vec<ViewEntry<'_>>) -> Vec<NotePath> {
    let ordered: BTreeSet<NotePath> = notes.iter().map(|held| held.path().clone()).collect();
    ordered.into_iter().collect()
}
