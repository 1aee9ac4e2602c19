//! Repairs a broken link: the note that it names is created, or the link leads to another note. Each is a
//! change set of the user's own, which can be undone.

use index::links::{LinkGraph, LinkRewrite};
use protocol::changes::history::AppliedBy;
use protocol::notes::query::{LinkRepairs, RepairedLink};
use protocol::{Change, ChangeSet, NotePath, UserError};
use vault::undo::UndoPlan;
use vault::{Progress, Vault, VaultError};

use crate::App;
use crate::changes::NoteChanges;
use crate::events::domain_event::DomainEvent;
use crate::privacy::provenance::is_rules_file;
use crate::support::blocking::run_blocking;
use crate::support::clock::new_id;
use crate::user_texts;

impl App {
    /// The repairs on offer for links to `link`, which does not exist; `None` until the index is built.
    pub async fn link_repairs(&self, link: String) -> Result<Option<LinkRepairs>, UserError> {
        self.run_query(move |open| {
            open.indexer.user.broken_links()?;
            let vault = open.vault.unfiltered();
            let create = new_note(&vault, &link).ok();
            Some(LinkRepairs { create, instead: nearest(&vault, &link) })
        })
        .await
    }

    /// Creates the note that a broken link names, empty. Refused where a note cannot have that name, and
    /// where one has it by now.
    pub async fn create_linked_note(&self, link: String) -> Result<RepairedLink, UserError> {
        let open = self.session().await?;
        let _alone = open.changes.change_lock.lock().await;
        let vault = open.changes.vault.unfiltered();
        let planned = run_blocking(move || {
            let note = new_note(&vault, &link)?;
            let changes = creating(&vault, &note)?;
            Ok::<_, UserError>((note, changes))
        });
        let (note, changes) = planned.await??;
        let repaired = apply(&open.changes, note, changes).await?;
        Ok(RepairedLink { rewritten: Vec::new(), ..repaired })
    }

    /// Rewrites every link to `link`, which points to no note, so that it points to `note`; its
    /// heading and its display text stay. Notes that cannot be changed are left as they are, and
    /// told.
    pub async fn replace_broken_link(
        &self,
        link: String,
        note: NotePath,
    ) -> Result<RepairedLink, UserError> {
        let open = self.session().await?;
        let _alone = open.changes.change_lock.lock().await;
        let (vault, to) = (open.changes.vault.unfiltered(), note.clone());
        let LinkRewrite { files, problems, skipped: left } =
            run_blocking(move || replacing(&vault, &link, &to)).await??;
        let left = left.into_iter().map(|left| left.path);
        let left: Vec<NotePath> =
            left.chain(problems.into_iter().map(|problem| problem.path)).collect();
        if files.is_empty() {
            return Err(UserError::other(user_texts::no_changeable_note_with_link()));
        }
        let replaced =
            files.into_iter().map(|file| Change::replace(file.path, file.before, file.after));
        let mut repaired = apply(&open.changes, note, replaced.collect()).await?;
        repaired.left.extend(left);
        Ok(repaired)
    }
}

/// The place where links with this name would lead if a note stood there; `None` for the name of another
/// file than a note, and for a link that each note means otherwise.
fn assumed(link: &str) -> Option<NotePath> {
    let name = link.trim_start_matches('/');
    if name.starts_with("./") || name.starts_with("../") {
        return None;
    }
    let path = NotePath::parse(name).ok()?;
    if path.is_markdown() {
        return Some(path);
    }
    let (_, end) = path.name().rsplit_once('.').unwrap_or_default();
    let is_extension = end.eq_ignore_ascii_case("canvas")
        || (1..=5).contains(&end.len())
            && end.chars().all(|sign| sign.is_ascii_alphanumeric())
            && end.chars().any(|sign| sign.is_ascii_alphabetic());
    if is_extension { None } else { NotePath::parse(&format!("{name}.md")).ok() }
}

/// The path of the note that a link names.
fn new_note(vault: &Vault, link: &str) -> Result<NotePath, UserError> {
    let unfit = || UserError::other(user_texts::note_name_impossible(link));
    let asked = assumed(link).ok_or_else(unfit)?;
    let path: NotePath = vault.new_path(asked.as_str())?.into();
    if is_rules_file(&path) { Err(unfit()) } else { Ok(path) }
}

/// The note that is there and whose name is nearest; that of a link with a wrong folder comes first.
fn nearest(vault: &Vault, link: &str) -> Option<NotePath> {
    let asked = assumed(link)?;
    let near = match vault.resolve(asked.name()) {
        Ok(path) => vec![path],
        Err(VaultError::Ambiguous { candidates, .. }) => candidates,
        Err(VaultError::NotFound { nearest, .. }) => nearest,
        Err(_) => Vec::new(),
    };
    near.into_iter().find(NotePath::is_markdown)
}

/// The new note, with what keeps the links that it would take over.
fn creating(vault: &Vault, note: &NotePath) -> Result<ChangeSet, UserError> {
    let mut changes = ChangeSet::one(Change::create(note.clone(), ""));
    let nothing = ChangeSet::default();
    let graph = LinkGraph::from_vault(vault, &nothing)?;
    let kept = graph.after_creating(std::slice::from_ref(note)).files.into_iter();
    let kept = kept.map(|file| Change::replace(file.path, file.before, file.after)).collect();
    changes.extend(kept).map_err(|error| UserError::other(error.to_string()))?;
    Ok(changes)
}

fn replacing(vault: &Vault, link: &str, note: &NotePath) -> Result<LinkRewrite, UserError> {
    let unfit = || UserError::other(user_texts::links_not_rewritable(link));
    let from = assumed(link).ok_or_else(unfit)?;
    let overlay = ChangeSet::one(Change::create(from.clone(), ""));
    let graph = LinkGraph::from_vault(vault, &overlay)?;
    if !graph.files().contains(note) {
        return Err(UserError::other(user_texts::no_note_at(note.as_str())));
    }
    Ok(graph.after_replacing(&from, note))
}

/// Applies the changes as one set of the user's own, and tells of it; the caller holds `change_lock`.
async fn apply(
    note_changes: &NoteChanges,
    note: NotePath,
    changes: ChangeSet,
) -> Result<RepairedLink, UserError> {
    // No turn led to it.
    let (set, turn) = (new_id(), new_id());
    let taken = UndoPlan { changes, ..UndoPlan::default() };
    let applied = note_changes
        .apply_user_set(&set, &taken, &turn, AppliedBy::Repair, &Progress::default())
        .await?;
    if applied.done.is_empty()
        && let Some((_, error)) = applied.problems.first()
    {
        return Err(error.into());
    }
    note_changes.emit(DomainEvent::Applied(vec![set.clone()]));
    let left = applied.problems.into_iter().map(|(path, _)| path).collect();
    Ok(RepairedLink { note, change_set: set, rewritten: applied.done, left })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assumed_at(link: &str, expected: Option<&str>) {
        let found = assumed(link);
        assert_eq!(found.as_ref().map(NotePath::as_str), expected, "[[{link}]]");
    }

    #[test]
    fn a_link_assumes_a_note_under_its_name_but_for_other_files_and_relative_paths() {
        assumed_at("Plan", Some("Plan.md"));
        assumed_at("Plan.md", Some("Plan.md"));
        assumed_at("/Garden/Plan", Some("Garden/Plan.md"));
        assumed_at("v1.2", Some("v1.2.md"));
        assumed_at("Dr. Ferri", Some("Dr. Ferri.md"));
        assumed_at("photo.png", None);
        assumed_at("Board.canvas", None);
        assumed_at("../Plan", None);
        assumed_at("./Plan", None);
        assumed_at("a/../../b", None);
    }
}
