//! Names of the copies that a sync program makes of a note because two versions of it conflict:
//! `Plan (Ann's conflicted copy 2026-01-02).md` (Dropbox, Nextcloud, Obsidian Sync),
//! `Plan.sync-conflict-20260102-030405-ABCDEFG.md` (Syncthing),
//! `Plan_conflict-20260102-030405.md` (ownCloud).

/// The name of the note or folder that this is a copy of, in lower case: `plan.md` for
/// `Plan (conflicted copy 2026-01-02).md`. `None` for any other name.
#[must_use]
pub fn original(name: &str) -> Option<String> {
    let name = name.to_lowercase();
    if let Some((stem, extension)) = name.rsplit_once('.')
        && let Some(stem) = without_mark(stem)
    {
        return Some(format!("{stem}.{extension}"));
    }
    // A folder has no extension.
    without_brackets(&name).map(str::to_owned)
}

/// The name, in lower case, of the file that an editor or a merge kept this one of: `plan.md` for `Plan.md~`,
/// `Plan.md.bak` and `Plan.md.orig`. `None` for any other name.
#[must_use]
pub fn backed_up(name: &str) -> Option<String> {
    let name = name.to_lowercase();
    let kept = KEPT.iter().find_map(|mark| name.strip_suffix(mark))?;
    (!kept.is_empty() && !kept.ends_with('/')).then(|| kept.to_owned())
}

/// How the names of kept files end: of Emacs and gedit, of editors and tools that say so, of merges.
const KEPT: [&str; 7] = ["~", ".bak", ".backup", ".old", ".orig", ".rej", ".save"];

fn without_mark(stem: &str) -> Option<&str> {
    let dated = |mark: &str| {
        let (before, rest) = stem.rsplit_once(mark)?;
        let day = rest.bytes().take_while(u8::is_ascii_digit).count();
        (!before.is_empty() && day == 8).then_some(before)
    };
    without_brackets(stem).or_else(|| dated(".sync-conflict-")).or_else(|| dated("_conflict-"))
}

fn without_brackets(stem: &str) -> Option<&str> {
    let (before, inside) = stem.rsplit_once('(')?;
    let is_mark = inside.contains("conflicted copy") && inside.trim_end().ends_with(')');
    let before = before.trim_end();
    (is_mark && !before.is_empty()).then_some(before)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_editor_kept_tells_what_it_is_of() {
        for name in ["Plan.md~", "Plan.md.bak", "plan.md.ORIG", "Plan.md.save"] {
            assert_eq!(backed_up(name).as_deref(), Some("plan.md"), "{name}");
        }
        for name in ["Plan.md", "~", ".bak", "Notes/~", "Plan~.md"] {
            assert_eq!(backed_up(name), None, "{name}");
        }
    }

    #[test]
    fn a_copy_tells_what_it_is_a_copy_of() {
        for name in [
            "Plan (conflicted copy 2026-01-02).md",
            "Plan (Ann's conflicted copy 2026-01-02).md",
            "Plan.sync-conflict-20260102-030405-ABCDEFG.md",
            "Plan_conflict-20260102-030405.md",
        ] {
            assert_eq!(original(name).as_deref(), Some("plan.md"), "{name}");
        }
        assert_eq!(original("Diary (conflicted copy 1)").as_deref(), Some("diary"));
        for name in ["The conflicted copy.md", "Plan (draft).md", "(conflicted copy).md", "Plan"] {
            assert_eq!(original(name), None, "{name}");
        }
    }
}
