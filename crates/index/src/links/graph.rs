//! All files of a vault and the links between them, read from their bytes when asked.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use markdown::{LinkText, links_in_file, may_hold_links};
use protocol::{ChangeSet, NotePath};
use vault::{EntryKind, ObsidianFile, Vault, VaultError};

use super::LinkFormat;
use super::prefilter::LinkPrefilter;
use super::resolver::LinkResolver;
use super::rewrite::FormerPaths;
use super::targets::{AllTargets, TargetCache};
use crate::vault_scan::overlay::OverlaidVault;
use crate::vault_scan::parallel;

/// Gives a file's bytes; `None` for a file that is gone or cannot be read.
type FileReader<'a> = Box<dyn Fn(&NotePath) -> Option<Cow<'a, [u8]>> + Send + Sync + 'a>;

/// Whether this user may not write a file.
type ProtectionCheck<'a> = Box<dyn Fn(&NotePath) -> bool + Send + Sync + 'a>;

/// The files and how to read them.
pub struct LinkGraph<'a> {
    pub(super) files: Vec<NotePath>,
    /// The files whose links are looked at; `None` for all.
    sources: Option<Vec<NotePath>>,
    pub(super) resolver: LinkResolver,
    read: FileReader<'a>,
    pub(super) format: Option<LinkFormat>,
    unlisted: usize,
    /// Top-level folders whose files are only read.
    pub(super) read_only: Vec<NotePath>,
    is_protected: ProtectionCheck<'a>,
}

/// A link that leaves a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OutgoingLink {
    /// As it stands there.
    pub link: LinkText,
    /// The files it could mean, the one it means first, at most [`MAX_TARGETS`](super::MAX_TARGETS);
    /// empty when there is none.
    pub targets: Vec<NotePath>,
}

/// A link that leads to a note.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Backlink {
    /// The file that holds it.
    pub source: NotePath,
    /// As it stands there.
    pub link: LinkText,
}

impl<'a> LinkGraph<'a> {
    /// Over the files of a vault as they would be if the planned changes were applied, in the
    /// format that the vault's own settings ask for.
    pub fn from_vault(vault: &'a Vault, overlay: &'a ChangeSet) -> Result<Self, VaultError> {
        let (entries, overlaid) = OverlaidVault::list(vault, overlay, None)?;
        let is_file = |kind: EntryKind| !matches!(kind, EntryKind::Folder | EntryKind::Link);
        let on_disk = entries.into_iter().filter(|entry| is_file(entry.kind));
        let mut files: Vec<NotePath> = on_disk.map(|entry| entry.path).collect();
        files.extend(overlaid.planned().cloned());
        let format = vault
            .obsidian_config(ObsidianFile::App)
            .and_then(|settings| LinkFormat::from_app_json(&settings));
        let (unlisted, read_only) = (overlaid.unlisted(), vault.extra_root_names());
        Ok(Self {
            unlisted,
            read_only,
            is_protected: Box::new(|path| {
                matches!(vault.check_writable(path), Err(VaultError::Protected { .. }))
            }),
            ..Self::new(files, move |path| overlaid.bytes(path), format)
        })
    }

    /// Over `files`, which are all files that a link may lead to; `read` gives their bytes.
    #[must_use]
    pub fn new(
        files: Vec<NotePath>,
        read: impl Fn(&NotePath) -> Option<Cow<'a, [u8]>> + Send + Sync + 'a,
        format: Option<LinkFormat>,
    ) -> Self {
        let resolver = files.iter().cloned().collect();
        Self {
            files,
            sources: None,
            resolver,
            read: Box::new(read),
            format,
            unlisted: 0,
            read_only: Vec::new(),
            is_protected: Box::new(|_| false),
        }
    }

    /// The same, where only the links in these of its files are looked at. They may lead to any file.
    #[must_use]
    pub fn with_sources(self, sources: impl IntoIterator<Item = NotePath>) -> Self {
        let sources: HashSet<NotePath> = sources.into_iter().collect();
        let files = self.files.iter().filter(|file| sources.contains(*file));
        Self { sources: Some(files.cloned().collect()), ..self }
    }

    /// The files that were there at an earlier time, under the paths that they had then, and with the present bytes.
    /// Of lost files it has the paths alone.
    pub(super) fn with_former_paths<'g>(&'g self, former: &'g FormerPaths) -> LinkGraph<'g> {
        let moves = &former.moves;
        let before: HashMap<&NotePath, &NotePath> =
            moves.iter().map(|(before, now)| (now, before)).collect();
        let path_then = |file: &NotePath| match before.get(file) {
            Some(before) => Some((*before).clone()),
            None => {
                (!moves.contains_key(file) && !former.absent.contains(file)).then(|| file.clone())
            }
        };
        let known = self.files.iter().filter_map(path_then);
        let known = known.filter(|path| !former.lost.contains(path));
        let files = known.chain(former.lost.iter().cloned()).collect();
        let path_now = |path: &'_ NotePath| moves.get(path).unwrap_or(path).clone();
        LinkGraph {
            unlisted: self.unlisted,
            read_only: self.read_only.clone(),
            is_protected: Box::new(move |path| self.is_protected(&path_now(path))),
            ..LinkGraph::new(files, move |path| self.bytes(&path_now(path)), self.format)
        }
    }

    /// All files, those that hold no links too.
    #[must_use]
    pub fn files(&self) -> &[NotePath] {
        &self.files
    }

    /// How many files and folders are there but could not be looked at: links in them are unknown.
    #[must_use]
    pub const fn unlisted(&self) -> usize {
        self.unlisted
    }

    /// The links of one file in order, without those that stay in it; empty when it holds no text.
    #[must_use]
    pub fn outgoing_links(&self, source: &NotePath) -> Vec<OutgoingLink> {
        let Some(bytes) = self.bytes(source).filter(|_| may_hold_links(source)) else {
            return Vec::new();
        };
        let links = links_in_file(source, &bytes).unwrap_or_default().into_iter();
        let leaving = links.filter(|link| !link.path.is_empty());
        let all = AllTargets::among_all(&self.resolver);
        let mut targets = TargetCache::for_note(&all, source);
        let outgoing = leaving.map(|link| {
            let targets = targets.first_few(&link);
            OutgoingLink { link, targets }
        });
        outgoing.collect()
    }

    /// The links of all other files that lead to `target`, in the order of the files.
    #[must_use]
    pub fn backlinks(&self, target: &NotePath) -> Vec<Backlink> {
        let mention = LinkPrefilter::for_files(std::iter::once(target));
        let all = AllTargets::among_all(&self.resolver);
        let found = self.map_files(|source| {
            if source == target {
                return None;
            }
            let bytes = self.bytes(source).filter(|bytes| mention.may_match(bytes))?;
            let mut links = links_in_file(source, &bytes).ok()?;
            let mut targets = TargetCache::for_note(&all, source);
            links.retain(|link| !link.path.is_empty() && targets.first(link) == Some(target));
            Some((source.clone(), links))
        });
        let flat = found.into_iter().flat_map(|(source, links)| {
            links.into_iter().map(move |link| Backlink { source: source.clone(), link })
        });
        flat.collect()
    }

    /// Looks at every source that may hold links, on all cores; results in the order of the sources.
    pub(super) fn map_files<T: Send>(
        &self,
        look: impl Fn(&NotePath) -> Option<T> + Sync,
    ) -> Vec<T> {
        let linking = |path: &NotePath| if may_hold_links(path) { look(path) } else { None };
        let sources = self.sources.as_deref().unwrap_or(&self.files);
        parallel::map_parallel(sources, None, linking).found
    }

    /// Whether this user may not write a file.
    pub(super) fn is_protected(&self, path: &NotePath) -> bool {
        (self.is_protected)(path)
    }

    /// The bytes of a file.
    pub(super) fn bytes(&self, path: &NotePath) -> Option<Cow<'a, [u8]>> {
        (self.read)(path)
    }
}
