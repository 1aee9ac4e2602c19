//! The reports of the system, as paths in the vault. Reports that nobody needs are dropped.

use std::path::Path;

use notify::event::{
    AccessKind, AccessMode, CreateKind, EventKind, ModifyKind, RemoveKind, RenameMode,
};
use protocol::NotePath;

use crate::filesystem::temp_files::TEMP_PREFIX;

/// One thing that the system reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum WatchEvent {
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
    /// A file or folder has a new name: the summary of the two halves of a rename. The name before
    /// may be that of a hidden file.
    Renamed(String, NotePath),
    /// Something happened to a hidden file in a folder that is not: many programs write a note there first. For
    /// telling which file goes on as which, and for nothing else.
    Hidden(String, HiddenFileEvent),
    /// A folder was removed; its contents were reported before.
    FolderRemoved(NotePath),
    /// Something happened to the top folder itself.
    Top,
    /// The system lost count.
    Lost,
    /// All was reported that happened before the cookie was touched last.
    CaughtUp,
}

/// The changes that can happen to a hidden file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum HiddenFileEvent {
    Created,
    Written,
    Arrived,
    Left,
    Removed,
}

/// Reads one report about the vault at `top`.
pub(super) fn parse_events(top: &Path, report: notify::Result<notify::Event>) -> Vec<WatchEvent> {
    let Ok(event) = report else { return vec![WatchEvent::Lost] };
    if event.need_rescan() {
        return vec![WatchEvent::Lost];
    }
    if let (EventKind::Modify(ModifyKind::Name(RenameMode::Both)), [from, to]) =
        (event.kind, event.paths.as_slice())
    {
        let from =
            relative_path(top, from).filter(|name| is_own_temp_file(name) || is_hidden(name));
        let to = relative_path(top, to).and_then(|name| NotePath::parse(name).ok());
        let renamed = from.map(str::to_owned).zip(to);
        return renamed.map(|(from, to)| WatchEvent::Renamed(from, to)).into_iter().collect();
    }
    let Some(meaning) = event_constructor(event.kind) else { return Vec::new() };
    let hidden_event = hidden_file_event(event.kind);
    event.paths.iter().filter_map(|path| to_event(top, path, meaning, hidden_event)).collect()
}

/// `None` for reports that leave every text as it is: reads of a file, changes of its attributes,
/// and the summary of a rename whose two ends were reported before.
fn event_constructor(kind: EventKind) -> Option<fn(NotePath) -> WatchEvent> {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write)) => Some(WatchEvent::Saved),
        EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any) => Some(WatchEvent::Touched),
        EventKind::Create(CreateKind::File) => Some(WatchEvent::Created),
        EventKind::Remove(RemoveKind::File | RemoveKind::Any) => Some(WatchEvent::Removed),
        EventKind::Create(_) | EventKind::Modify(ModifyKind::Name(RenameMode::To)) => {
            Some(WatchEvent::Arrived)
        }
        EventKind::Modify(ModifyKind::Name(RenameMode::From)) => Some(WatchEvent::Left),
        EventKind::Remove(_) => Some(WatchEvent::FolderRemoved),
        _ => None,
    }
}

/// The same for a hidden file; `None` for folders.
fn hidden_file_event(kind: EventKind) -> Option<HiddenFileEvent> {
    match kind {
        EventKind::Access(AccessKind::Close(AccessMode::Write))
        | EventKind::Modify(ModifyKind::Data(_) | ModifyKind::Any) => {
            Some(HiddenFileEvent::Written)
        }
        EventKind::Create(CreateKind::File) => Some(HiddenFileEvent::Created),
        EventKind::Remove(RemoveKind::File | RemoveKind::Any) => Some(HiddenFileEvent::Removed),
        EventKind::Modify(ModifyKind::Name(RenameMode::To)) => Some(HiddenFileEvent::Arrived),
        EventKind::Modify(ModifyKind::Name(RenameMode::From)) => Some(HiddenFileEvent::Left),
        _ => None,
    }
}

/// Nothing for a path that is protected or no path of ours: our temporary files are among them.
fn to_event(
    top: &Path,
    path: &Path,
    meaning: fn(NotePath) -> WatchEvent,
    hidden_event: Option<HiddenFileEvent>,
) -> Option<WatchEvent> {
    let inside = relative_path(top, path)?;
    if inside.is_empty() {
        return Some(WatchEvent::Top);
    }
    match NotePath::parse(inside) {
        Ok(path) => Some(meaning(path)),
        Err(_) if is_hidden(inside) => Some(WatchEvent::Hidden(inside.to_owned(), hidden_event?)),
        Err(_) => None,
    }
}

fn relative_path<'a>(top: &Path, path: &'a Path) -> Option<&'a str> {
    path.strip_prefix(top).ok()?.to_str()
}

fn is_own_temp_file(path: &str) -> bool {
    NotePath::parse(path).is_ok()
}

/// Whether only the name itself is hidden. Temporary files of ours are followed by those who write them.
fn is_hidden(path: &str) -> bool {
    let (is_in_ours, name) = match path.rsplit_once('/') {
        Some((folder, name)) => (is_own_temp_file(folder), name),
        None => (true, path),
    };
    is_in_ours && name.starts_with('.') && !name.starts_with(TEMP_PREFIX)
}

#[cfg(test)]
mod tests {
    use notify::Event;
    use notify::event::{DataChange, Flag};

    use super::*;

    fn seen(kind: EventKind, path: &str) -> Vec<WatchEvent> {
        parse_events(Path::new("/v"), Ok(Event::new(kind).add_path(path.into())))
    }

    #[test]
    fn only_what_changes_a_text_in_the_vault_is_seen() {
        let written = EventKind::Modify(ModifyKind::Data(DataChange::Any));
        let note = || NotePath::parse("a/b.md").unwrap();
        let closed = EventKind::Access(AccessKind::Close(AccessMode::Write));
        assert_eq!(seen(written, "/v/a/b.md"), [WatchEvent::Touched(note())]);
        assert_eq!(seen(closed, "/v/a/b.md"), [WatchEvent::Saved(note())]);
        assert_eq!(
            seen(EventKind::Create(CreateKind::Folder), "/v/a/b.md"),
            [WatchEvent::Arrived(note())]
        );
        assert_eq!(seen(EventKind::Remove(RemoveKind::Folder), "/v"), [WatchEvent::Top]);
        for silent in ["/v/.git/index", "/v/a/.obsidian/x.json", "/v/.vaultmate-0.tmp", "/w/a.md"] {
            assert_eq!(seen(written, silent), [], "{silent}");
        }
        let looked = EventKind::Access(AccessKind::Open(AccessMode::Any));
        assert_eq!(seen(looked, "/v/a/b.md"), []);
    }

    #[test]
    fn a_hidden_file_is_seen_in_a_folder_that_is_not_hidden_itself() {
        let made = EventKind::Create(CreateKind::File);
        for name in ["a/.b.md.swp", ".goutputstream-X1", ".syncthing.b.md.tmp"] {
            let hidden = WatchEvent::Hidden(name.to_owned(), HiddenFileEvent::Created);
            assert_eq!(seen(made, &format!("/v/{name}")), [hidden], "{name}");
        }
        for silent in ["/v/.git/index", "/v/.trash/.b.md", "/v/a/.vaultmate-0.tmp", "/w/.b"] {
            assert_eq!(seen(made, silent), [], "{silent}");
        }
        assert_eq!(seen(EventKind::Create(CreateKind::Folder), "/v/.git"), []);
        assert!(matches!(seen(made, "/v/4913")[..], [WatchEvent::Created(_)]));
    }

    #[test]
    fn a_rename_from_a_hidden_name_to_a_note_is_seen_and_one_out_of_a_hidden_folder_is_not() {
        let renamed = EventKind::Modify(ModifyKind::Name(RenameMode::Both));
        let seen = |from: &str| {
            let event = Event::new(renamed).add_path(from.into()).add_path("/v/b.md".into());
            parse_events(Path::new("/v"), Ok(event))
        };
        let note = NotePath::parse("b.md").unwrap();
        assert_eq!(seen("/v/.b.md.tmp"), [WatchEvent::Renamed(".b.md.tmp".to_owned(), note)]);
        assert_eq!(seen("/v/.trash/b.md"), []);
    }

    #[test]
    fn lost_reports_and_failures_of_the_system_are_lost_count() {
        let overflow = Event::new(EventKind::Other).set_flag(Flag::Rescan);
        assert_eq!(parse_events(Path::new("/v"), Ok(overflow)), [WatchEvent::Lost]);
        let failed = notify::Error::generic("cannot be read");
        assert_eq!(parse_events(Path::new("/v"), Err(failed)), [WatchEvent::Lost]);
    }
}
