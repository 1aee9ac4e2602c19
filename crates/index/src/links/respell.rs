//! A link's path written anew after a move, in the manner it was written before.

use protocol::NotePath;

use super::LinkFormat;
use super::resolver::{Resolver, fold, relative_to};
use super::spelled::{Form, Spelled};

/// A link between two files, before and after.
pub(super) struct Moved<'a> {
    pub(super) link: &'a Spelled,
    /// Where the file that holds it was and will be.
    pub(super) source: (&'a NotePath, &'a NotePath),
    /// Where the file it leads to was and will be.
    pub(super) target: (&'a NotePath, &'a NotePath),
    pub(super) format: Option<LinkFormat>,
}

/// How the path was written.
enum Manner {
    /// A name alone.
    Short,
    /// Folders and a name, from some folder down.
    Path,
    /// From the note's folder, with or without `./` at its beginning.
    Relative,
    /// From the top, with `/` before it.
    Rooted,
    /// From the top of the vault, as a canvas writes it.
    Card,
}

impl Moved<'_> {
    /// Whether the link, left as it is, still leads where it led, and in the same way; `now` is where
    /// it leads then.
    pub(super) fn holds(&self, now: Option<&NotePath>) -> bool {
        let leads = now == Some(self.target.1);
        let moved = self.source.0 != self.source.1 || self.target.0 != self.target.1;
        let was_relative = moved && matches!(self.manner(), Manner::Relative);
        leads && (!was_relative || leads_from(self.source.1, &self.link.path, self.target.1))
    }

    /// The path to write; `None` when there is none that leads there.
    pub(super) fn path(&self, after: &Resolver) -> Option<String> {
        let (source, target) = (self.source.1, self.target.1);
        let whole = self.named(target.as_str());
        let manner = self.manner();
        if matches!(manner, Manner::Card) {
            return Some(target.as_str().to_owned());
        }
        let relative = || {
            let path = relative(source, &whole);
            let marked = self.link.path.starts_with("./") && !path.starts_with("../");
            if marked { format!("./{path}") } else { path }
        };
        let mut spellings: Vec<String> = Vec::new();
        match manner {
            Manner::Card => {}
            Manner::Relative => spellings.extend([relative(), format!("./{}", relative())]),
            Manner::Rooted => spellings.push(format!("/{whole}")),
            Manner::Short => {
                spellings.extend(unique(after, &whole, source, 1).filter(|one| !one.contains('/')));
                match self.format {
                    Some(LinkFormat::Absolute) => spellings.push(whole.clone()),
                    Some(LinkFormat::Relative) => spellings.push(relative()),
                    Some(LinkFormat::Shortest) | None => {}
                }
            }
            Manner::Path => {
                let was_whole = fold(&self.link.path) == fold(&self.named(self.target.0.as_str()));
                if was_whole || self.format == Some(LinkFormat::Absolute) {
                    spellings.push(whole.clone());
                } else if self.format == Some(LinkFormat::Relative) {
                    spellings.push(relative());
                }
            }
        }
        let parts = self.link.path.split('/').count();
        spellings.extend(unique(after, &whole, source, parts));
        // What is left when names stand in each other's way.
        let full = target.as_str();
        spellings.extend([whole.clone(), format!("/{whole}"), full.to_owned(), format!("/{full}")]);
        spellings
            .into_iter()
            .find(|path| after.resolve(path, source).is_some_and(|to| to == *target))
    }

    fn manner(&self) -> Manner {
        let path = self.link.path.as_str();
        let prefers_names =
            matches!(self.format, Some(LinkFormat::Shortest | LinkFormat::Absolute));
        let was_relative = leads_from(self.source.0, path, self.target.0);
        if self.link.form == Form::CanvasFile {
            Manner::Card
        } else if path.starts_with('/') {
            Manner::Rooted
        } else if path.starts_with("./")
            || path.starts_with("../")
            || (self.link.form.is_markdown() && was_relative && !prefers_names)
        {
            Manner::Relative
        } else if path.contains('/') {
            Manner::Path
        } else {
            Manner::Short
        }
    }

    /// `path` with `.md` where the link had it, and without it elsewhere.
    fn named(&self, path: &str) -> String {
        let keeps = fold(&self.link.path).ends_with(".md");
        let bare = path.len().saturating_sub(3);
        match path.split_at_checked(bare) {
            Some((stem, end)) if end.eq_ignore_ascii_case(".md") && !keeps => stem.to_owned(),
            _ => path.to_owned(),
        }
    }
}

/// Whether `path`, read from the folder of `source` as other programs do, is `target`.
fn leads_from(source: &NotePath, path: &str, target: &NotePath) -> bool {
    let here = source.folder().map(fold).unwrap_or_default();
    let path = relative_to(&here, &fold(path));
    let target = fold(target.as_str());
    path.is_some_and(|path| path == target || format!("{path}.md") == target)
}

/// The shortest ends of `whole`, of at least `parts` parts, that only one file has.
fn unique<'a>(
    after: &'a Resolver,
    whole: &'a str,
    source: &'a NotePath,
    parts: usize,
) -> impl Iterator<Item = String> + 'a {
    let all: Vec<&str> = whole.split('/').collect();
    let least = parts.clamp(1, all.len());
    let ends =
        (least..=all.len()).filter_map(move |count| Some(all.get(all.len() - count..)?.join("/")));
    ends.filter(move |end| after.candidates(end, source).len() == 1).take(1)
}

/// `whole`, a path from the top, from the folder of `source`.
fn relative(source: &NotePath, whole: &str) -> String {
    let here: Vec<&str> =
        source.folder().map(|folder| folder.split('/').collect()).unwrap_or_default();
    let there: Vec<&str> = whole.split('/').collect();
    let folders = there.len().saturating_sub(1);
    let shared = here.iter().zip(there.iter().take(folders)).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", here.len() - shared);
    let down = there.get(shared..).unwrap_or_default().iter().copied();
    up.chain(down).collect::<Vec<_>>().join("/")
}
