//! The links of any file that has links, with the bytes of their targets.

use std::ops::Range;

use protocol::NotePath;
use serde::{Deserialize, Serialize};

use super::canvas;
use crate::breaks::breaks;
use crate::markdown::{Document, LinkForm, NotText};

/// One link as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Spelled {
    /// The bytes of its target in the file.
    pub at: Range<usize>,
    /// 1-based line of the file.
    pub line: usize,
    /// The path it names; empty when it stays in its note.
    pub path: String,
    /// The heading or block, its `#` included; may be empty.
    pub subpath: String,
    /// Whether it shows its target in place.
    pub is_embed: bool,
    pub(super) form: Form,
}

/// How a target is written, which decides how a path is read and spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) enum Form {
    Note(LinkForm),
    /// The file of a canvas card: a path from the top of the vault.
    CanvasFile,
    /// A link in the text of a canvas card.
    CanvasText(LinkForm),
}

impl Form {
    /// Whether the link is Markdown's own, which other programs read from the note's folder.
    pub(super) const fn is_markdown(self) -> bool {
        matches!(self, Self::Note(form) | Self::CanvasText(form)
            if matches!(form, LinkForm::Inline | LinkForm::Definition))
    }

    /// `path` in this form and in the manner of the bytes that stood there; `None` when the form
    /// cannot say it.
    pub(super) fn spell(self, path: &str, like: &str) -> Option<String> {
        match self {
            Self::Note(form) => form.spell(path, like),
            Self::CanvasFile => Some(canvas::escaped(path)),
            Self::CanvasText(form) => form.spell(path, like).map(|path| canvas::escaped(&path)),
        }
    }
}

impl Spelled {
    /// All links of the file `path`; none where it holds no text.
    pub(crate) fn all(path: &NotePath, bytes: &[u8]) -> Vec<Self> {
        if may_link(path) { links(path, bytes).unwrap_or_default() } else { Vec::new() }
    }

    /// All links of a note that was taken apart.
    pub(crate) fn of_note(document: &Document<'_>) -> Vec<Self> {
        with_lines(document.text, of_document(document, Form::Note))
    }
}

/// Whether a file may hold links.
pub(super) fn may_link(path: &NotePath) -> bool {
    path.is_markdown() || path.is_canvas()
}

/// All links of the file `path` with these bytes, in order. A canvas that is no JSON has none.
pub(super) fn links(path: &NotePath, bytes: &[u8]) -> Result<Vec<Spelled>, NotText> {
    if path.is_canvas() {
        let text = std::str::from_utf8(bytes).map_err(|e| NotText { at: e.valid_up_to() })?;
        return Ok(with_lines(text, canvas::links(text)));
    }
    let document = Document::decode(bytes)?;
    Ok(Spelled::of_note(&document))
}

/// The links of a document, their lines not yet counted.
pub(super) fn of_document(
    document: &Document<'_>,
    form: impl Fn(LinkForm) -> Form,
) -> Vec<Spelled> {
    let spelled = document.links.iter().map(|link| Spelled {
        at: link.target.clone(),
        line: 0,
        path: link.path(document.text),
        subpath: document.slice(&link.subpath).to_owned(),
        is_embed: link.is_embed,
        form: form(link.form),
    });
    spelled.collect()
}

fn with_lines(text: &str, mut links: Vec<Spelled>) -> Vec<Spelled> {
    links.sort_by_key(|link| link.at.start);
    let (mut at, mut line) = (0, 1);
    for link in &mut links {
        let passed = text.as_bytes().get(at..link.at.start).unwrap_or_default();
        line += breaks(passed);
        at = link.at.start;
        link.line = line;
    }
    links
}
