//! Rewrites a link's path after a move, in the form that it had before.

use markdown::{LinkText, TargetForm};
use protocol::NotePath;

use super::LinkFormat;
use super::resolver::{LinkResolver, fold_name, relative_to};
use super::targets::AllTargets;

/// A link between two files, before and after.
pub(super) struct MovedLink<'a> {
    pub(super) link: &'a LinkText,
    /// Where the file that holds it was and will be.
    pub(super) source: (&'a NotePath, &'a NotePath),
    /// Where the file it leads to was and will be.
    pub(super) target: (&'a NotePath, &'a NotePath),
    pub(super) format: Option<LinkFormat>,
}

/// How the path was written.
enum LinkStyle {
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

impl MovedLink<'_> {
    /// Whether the link, left as it is, still leads where it led, and in the same way; `now` is where
    /// it leads then.
    pub(super) fn still_resolves(&self, now: Option<&NotePath>) -> bool {
        let leads = now == Some(self.target.1);
        let moved = self.source.0 != self.source.1 || self.target.0 != self.target.1;
        let was_relative = moved && matches!(self.style(), LinkStyle::Relative);
        leads && (!was_relative || resolves_relative(self.source.1, &self.link.path, self.target.1))
    }

    /// The path to write; `None` when there is none that leads there.
    pub(super) fn new_path(&self, after: &AllTargets<'_>) -> Option<String> {
        let resolver = after.resolver();
        let (source, target) = (self.source.1, self.target.1);
        let whole = self.with_extension_as_before(target.as_str());
        let manner = self.style();
        if matches!(manner, LinkStyle::Card) {
            return Some(target.as_str().to_owned());
        }
        let relative = || {
            let path = relative_path(source, &whole);
            let marked = self.link.path.starts_with("./") && !path.starts_with("../");
            if marked { format!("./{path}") } else { path }
        };
        let mut spellings: Vec<String> = Vec::new();
        match manner {
            LinkStyle::Card => {}
            LinkStyle::Relative => spellings.extend([relative(), format!("./{}", relative())]),
            LinkStyle::Rooted => spellings.push(format!("/{whole}")),
            LinkStyle::Short => {
                spellings
                    .extend(unique_suffixes(resolver, &whole, 1).filter(|one| !one.contains('/')));
                match self.format {
                    Some(LinkFormat::Absolute) => spellings.push(whole.clone()),
                    Some(LinkFormat::Relative) => spellings.push(relative()),
                    Some(LinkFormat::Shortest) | None => {}
                }
            }
            LinkStyle::Path => {
                let was_whole = fold_name(&self.link.path)
                    == fold_name(&self.with_extension_as_before(self.target.0.as_str()));
                if was_whole || self.format == Some(LinkFormat::Absolute) {
                    spellings.push(whole.clone());
                } else if self.format == Some(LinkFormat::Relative) {
                    spellings.push(relative());
                }
            }
        }
        let parts = self.link.path.split('/').count();
        spellings.extend(unique_suffixes(resolver, &whole, parts));
        // The full path remains when shorter names are ambiguous.
        let full = target.as_str();
        spellings.extend([whole.clone(), format!("/{whole}"), full.to_owned(), format!("/{full}")]);
        spellings.into_iter().find(|path| after.leads_to(path, source, target))
    }

    fn style(&self) -> LinkStyle {
        let path = self.link.path.as_str();
        let prefers_names =
            matches!(self.format, Some(LinkFormat::Shortest | LinkFormat::Absolute));
        let was_relative = resolves_relative(self.source.0, path, self.target.0);
        if self.link.form == TargetForm::CanvasFile {
            LinkStyle::Card
        } else if path.starts_with('/') {
            LinkStyle::Rooted
        } else if path.starts_with("./")
            || path.starts_with("../")
            || (self.link.form.is_markdown() && was_relative && !prefers_names)
        {
            LinkStyle::Relative
        } else if path.contains('/') {
            LinkStyle::Path
        } else {
            LinkStyle::Short
        }
    }

    /// `path` with `.md` where the link had it, and without it elsewhere.
    fn with_extension_as_before(&self, path: &str) -> String {
        let keeps = fold_name(&self.link.path).ends_with(".md");
        let bare = path.len().saturating_sub(3);
        match path.split_at_checked(bare) {
            Some((stem, end)) if end.eq_ignore_ascii_case(".md") && !keeps => stem.to_owned(),
            _ => path.to_owned(),
        }
    }
}

/// Whether `path`, read from the folder of `source` as other programs do, is `target`.
pub(super) fn resolves_relative(source: &NotePath, path: &str, target: &NotePath) -> bool {
    let here = source.folder().map(fold_name).unwrap_or_default();
    let path = relative_to(&here, &fold_name(path));
    let target = fold_name(target.as_str());
    path.is_some_and(|path| path == target || format!("{path}.md") == target)
}

/// The shortest ends of `whole`, of at least `parts` parts, that only one file has.
fn unique_suffixes<'a>(
    after: &'a LinkResolver,
    whole: &'a str,
    parts: usize,
) -> impl Iterator<Item = String> + 'a {
    let all: Vec<&str> = whole.split('/').collect();
    let least = parts.clamp(1, all.len());
    let ends =
        (least..=all.len()).filter_map(move |count| Some(all.get(all.len() - count..)?.join("/")));
    ends.filter(move |end| after.means_one_file(end)).take(1)
}

/// `whole`, a path from the top, from the folder of `source`.
fn relative_path(source: &NotePath, whole: &str) -> String {
    let here: Vec<&str> =
        source.folder().map(|folder| folder.split('/').collect()).unwrap_or_default();
    let there: Vec<&str> = whole.split('/').collect();
    let folders = there.len().saturating_sub(1);
    let shared = here.iter().zip(there.iter().take(folders)).take_while(|(a, b)| a == b).count();
    let up = std::iter::repeat_n("..", here.len() - shared);
    let down = there.get(shared..).unwrap_or_default().iter().copied();
    up.chain(down).collect::<Vec<_>>().join("/")
}
