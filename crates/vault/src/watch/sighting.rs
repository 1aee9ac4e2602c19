//! What the system reports, as paths in the vault. What nobody needs to hear of is dropped.

use std::path::Path;

use notify::event::{
    AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RemoveKind, RenameMode,
};
use protocol::NotePath;

/// One thing that the system reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Sighting {
    /// A program that wrote a file is done with it.
    Saved(NotePath),
    /// A file was written. More may follow: a save in two steps is half-way.
    Touched(NotePath),
    /// A file was made. More may follow.
    Created(NotePath),
    /// A file was removed. More may follow.
    Removed(NotePath),
    /// A folder was made, or a file or folder came to this name.
    Arrived(NotePath),
    /// A file or folder left this name.
    Left(NotePath),
    /// A file or folder has another name: the summary of what left and arrived.
    Renamed(NotePath, NotePath),
    /// A folder was removed; what was in it was reported before.
    FolderRemoved(NotePath),
    /// Something befell the top folder itself.
    Top,
    /// The system lost count.
    Lost,
    /// All was reported that happened before the mark was touched last.
    CaughtUp,
}

/// Reads one report about the vault at `top`.
pub(super) fn sightings(top: &Path, report: notify::Result<notify::Event>) -> Vec<Sighting> {
    let Ok(event) = report else { return vec![Sighting::Lost] };
    if event.need_rescan() {
        return vec![Sighting::Lost];
    }
    if let (EventKind::Modify(ModifyKind::Name(RenameMode::Both)), [from, to]) =
        (event.kind, event.paths.as_slice())
    {
        let inside = |path: &Path| NotePath::parse(path.strip_prefix(top).ok()?.to_str()?).ok();
        let renamed = inside(from).zip(inside(to));
        return renamed.map(|(from, to)| Sighting::Renamed(from, to)).into_iter().collect();
    }
    let Some(meaning) = meaning(event.kind) else { return Vec::new() };
    event.paths.iter().filter_map(|path| place(top, path, meaning)).collect()
}

/// `None` for what leaves every text as it is: looking at a file, its attributes, and the summary
/// of a rename whose two ends were reported before.
fn meaning(kind: EventKind) -> Option<fn(NotePath) -> Sighting> {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => Some(Sighting::Saved),
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any) => Some(Sighting::Touched),
        EventKind::Create(CreateKind::File) => Some(Sighting::Created),
        EventKind::Remove(RemoveKind::File | RemoveKind::Any) => Some(Sighting::Removed),
        EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(RenameMode::To)) => {
            Some(Sighting::Arrived)
        }
        EventKind::Modify(ModifyKind::Name(RenameMode::From)) => Some(Sighting::Left),
        EventKind::Remove(_) => Some(Sighting::FolderRemoved),
        _ => None,
    }
}

/// Nothing for a path that is protected or no path of ours: our temporary files are among them.
fn place(top: &Path, path: &Path, meaning: fn(NotePath) -> Sighting) -> Option<Sighting> {
    let inside = path.strip_prefix(top).ok()?.to_str()?;
    if inside.is_empty() {
        return Some(Sighting::Top);
    }
    NotePath::parse(inside).ok().map(meaning)
}

#[cfg(test)]
mod tests {
    use notify::Event;
    use notify::event::{DataChange, Flag};

    use super::*;

    fn seen(kind: EventKind, path: &str) -> Vec<Sighting> {
        sightings(Path::new("/v"), Ok(Event::new(kind).add_path(path.into())))
    }

    #[test]
    fn only_what_changes_a_text_in_the_vault_is_seen() {
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let note = || NotePath::parse("a/b.md").unwrap();
        let closed = EventKind::Access(AccessKind::Close(AccessMode::Write));
        assert_eq!(seen(written, "/v/a/b.md"), [Sighting::Touched(note())]);
        assert_eq!(seen(closed, "/v/a/b.md"), [Sighting::Saved(note())]);
        assert_eq!(
            seen(EventKind::Create(CreateKind::Folder), "/v/a/b.md"),
            [Sighting::Arrived(note())]
        );
        assert_eq!(seen(EventKind::Remove(RemoveKind::Folder), "/v"), [Sighting::Top]);
        for silent in ["/v/.git/index", "/v/a/.obsidian/x.json", "/v/.vaultmate-0.tmp", "/w/a.md"] {
            assert_eq!(seen(written, silent), [], "{silent}");
        }
        let looked = EventKind::Access(AccessKind::Open(AccessMode::Any));
        assert_eq!(seen(looked, "/v/a/b.md"), []);
    }

    #[test]
    fn lost_reports_and_failures_of_the_system_are_lost_count() {
        let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(sightings(Path::new("/v"), Ok(overflow)), [Sighting::Lost]);
        let failed = notify::Error::generic("cannot be read");
        assert_eq!(sightings(Path::new("/v"), Err(failed)), [Sighting::Lost]);
    }
}
