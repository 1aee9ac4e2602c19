//! Whether what came of an operation is what the case expects.

use std::path::{Path, PathBuf};

use super::case::{PathCase, PathOperation};
use super::fixture::{FolderSnapshot, PathFixture};
use super::{PathResolver, ResolverAnswer, setup};

/// All expectations there are.
pub(super) const EXPECTATIONS: [&str; 13] = [
    "deny",
    "deny_create",
    "deny_write",
    "literal_or_deny",
    "policy_inside",
    "no_escape",
    "deny_or_approve",
    "same_object_check",
    "bounded",
    "deny_create_lossless_list",
    "warn",
    "atomic_or_deny",
    "allow",
];

/// An operation, its answers, and the vault before and after it.
pub(super) struct ObservedOperation<'a> {
    pub(super) case: &'a PathCase,
    pub(super) op: PathOperation,
    pub(super) path: &'a str,
    pub(super) answers: &'a [ResolverAnswer],
    pub(super) before: FolderSnapshot,
    pub(super) after: FolderSnapshot,
    pub(super) stage: &'a PathFixture,
}

/// The difference from the expected result, if any. Leaks are counted elsewhere.
pub(super) fn complaint<S: PathResolver>(
    seen: &ObservedOperation<'_>,
    subject: &S,
) -> Option<String> {
    match seen.case.expect.as_str() {
        "deny" | "deny_or_approve" if seen.op == PathOperation::Search => None,
        "deny" | "deny_or_approve" => seen.check_denied(subject),
        "deny_write" if seen.op.changes() => seen.check_denied(subject),
        "deny_create" if seen.op.creates() => seen.check_denied(subject),
        "deny_create" => seen.check_no_new_name(),
        "deny_create_lossless_list" if seen.op == PathOperation::List => {
            seen.check_listed_losslessly()
        }
        "deny_create_lossless_list" => seen.check_no_new_name(),
        "literal_or_deny" => seen.check_literal_or_denied(),
        "same_object_check" => seen.check_name_clash(),
        "policy_inside" => seen.check_deterministic(),
        "bounded" | "atomic_or_deny" => seen.check_clear_error(),
        "warn" => seen.refusal().is_some().then(|| seen.answer_texts()),
        "allow" => seen.check_succeeded(),
        _ => None,
    }
}

impl ObservedOperation<'_> {
    fn check_denied<S: PathResolver>(&self, subject: &S) -> Option<String> {
        if let Some(answer) = self.answers.iter().find(|answer| !answer.is_error) {
            return Some(format!("it was allowed: {}", first_line(&answer.text)));
        }
        if self.is_changed() {
            return Some("it was refused, but the vault changed".to_owned());
        }
        self.answers.iter().find_map(|answer| {
            let to = self.case.destination();
            let why = subject.unrelated_refusal(self.op, self.path, to, &answer.text)?;
            Some(format!("{why}, but the answer is: {}", first_line(&answer.text)))
        })
    }

    fn check_no_new_name(&self) -> Option<String> {
        self.new_names().next().map(|name| format!("it made `{}`", name.display()))
    }

    /// A byte that is not UTF-8 must be told from every other.
    fn check_listed_losslessly(&self) -> Option<String> {
        let name = setup::escaped_name(&self.case.path_bytes());
        let top = name.split('/').next().unwrap_or_default();
        let is_there = self.answers.iter().any(|answer| answer.text.contains(top));
        (!is_there).then(|| format!("`{top}` is not in the list"))
    }

    fn check_literal_or_denied(&self) -> Option<String> {
        if self.case.class == "N-glob" && self.op != PathOperation::Delete {
            return None;
        }
        let wanted = Path::new(self.path.trim_start_matches("./"));
        let with_extension = PathBuf::from(format!("{}.md", wanted.display()));
        let strange = self
            .new_names()
            .find(|name| !wanted.starts_with(name) && *name != wanted && *name != with_extension);
        if let Some(name) = strange {
            return Some(format!("it made `{}`", name.display()));
        }
        let taken = |name: &&Path| match self.op {
            PathOperation::MoveDestination => **name == *Path::new("notes/b.md"),
            PathOperation::Delete | PathOperation::Move | PathOperation::MoveSource => {
                **name == *wanted || **name == *with_extension
            }
            _ => false,
        };
        let gone = self.removed_names().find(|name| !taken(name));
        gone.map(|name| format!("it removed `{}`", name.display()))
    }

    fn check_name_clash(&self) -> Option<String> {
        let clashes = self.before.keys().any(|name| setup::is_same_name(name, self.path));
        if !self.op.changes() {
            return None;
        }
        if !clashes {
            return self.check_clear_error();
        }
        if let Some(made) = self.check_no_new_name() {
            return Some(made);
        }
        // An edit or a deletion may find the one note that is there; whole contents must stay.
        let lost = match self.op {
            PathOperation::Edit => false,
            PathOperation::Delete => {
                self.removed_names().any(|name| !setup::is_same_name(name, self.path))
            }
            _ => self.before != self.after,
        };
        lost.then(|| "it changed the note that was there".to_owned())
    }

    fn check_deterministic(&self) -> Option<String> {
        if self.op.changes() {
            return self.check_clear_error();
        }
        let first = self.answers.first()?.is_error;
        let differs = self.answers.iter().any(|answer| answer.is_error != first);
        differs.then(|| "it is followed at one time and refused at another".to_owned())
    }

    fn check_clear_error(&self) -> Option<String> {
        if self.answers.iter().any(|answer| answer.text.trim().is_empty()) {
            return Some("the answer says nothing".to_owned());
        }
        let refused = self.answers.iter().all(|answer| answer.is_error);
        (refused && self.is_changed()).then(|| "it was refused, but the vault changed".to_owned())
    }

    fn check_succeeded(&self) -> Option<String> {
        if let Some(refusal) = self.refusal() {
            return Some(format!("refused: {refusal}"));
        }
        let file = self.stage.vault.join(self.path);
        let text = std::fs::read_to_string(&file).ok();
        let holds = |words: &str| text.as_deref().is_some_and(|text| text.contains(words));
        let is_done = match self.op {
            PathOperation::Read => {
                self.answers.iter().any(|answer| answer.text.contains("edit me"))
            }
            PathOperation::Write => holds("written"),
            PathOperation::Append => holds("appended"),
            PathOperation::Edit => holds("edited") && !holds("edit me"),
            PathOperation::Delete => text.is_none() && self.after.len() >= self.before.len(),
            PathOperation::Move => holds("edit me"),
            PathOperation::MoveSource => text.is_none(),
            PathOperation::MoveDestination => holds("edit me"),
            PathOperation::Mkdir => file.is_dir(),
            PathOperation::List | PathOperation::Search => true,
        };
        (!is_done).then(|| format!("it says it is done and is not: {}", self.answer_texts()))
    }

    fn refusal(&self) -> Option<String> {
        let refused = self.answers.iter().find(|answer| answer.is_error)?;
        Some(first_line(&refused.text).to_owned())
    }

    fn answer_texts(&self) -> String {
        self.answers.last().map_or("", |answer| first_line(&answer.text)).to_owned()
    }

    /// Names that were made, but for those that the operation is there to make.
    fn new_names(&self) -> impl Iterator<Item = &Path> {
        let new = self.after.keys().filter(|name| !self.before.contains_key(*name));
        new.map(PathBuf::as_path).filter(|name| !self.is_expected_name(name))
    }

    fn removed_names(&self) -> impl Iterator<Item = &Path> {
        let gone = self.before.keys().filter(|name| !self.after.contains_key(*name));
        gone.map(PathBuf::as_path)
    }

    /// Whether the operation is there to make this: the trash, or where something is moved to.
    fn is_expected_name(&self, name: &Path) -> bool {
        match self.op {
            PathOperation::Delete => name.starts_with(".trash"),
            PathOperation::MoveSource => name.starts_with("dst"),
            PathOperation::Move => {
                Path::new(self.case.destination().unwrap_or("notes/moved.md")).starts_with(name)
            }
            _ => false,
        }
    }

    /// Whether anything is not as it was; an empty trash that was made on the way is nothing.
    fn is_changed(&self) -> bool {
        let trash = Path::new(".trash");
        let holds_more = self.after.keys().any(|name| name.starts_with(trash) && *name != *trash);
        let mut after = self.after.clone();
        if self.op == PathOperation::Delete && !holds_more && !self.before.contains_key(trash) {
            after.remove(trash);
        }
        after != self.before
    }
}

fn first_line(text: &str) -> &str {
    text.lines().next().unwrap_or_default()
}
