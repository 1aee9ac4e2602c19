//! The links of any file that has links, with the bytes of their targets.

mod canvas;

use std::ops::Range;

use protocol::NotePath;
use serde::{Deserialize, Serialize};

use crate::count_line_breaks;
use crate::parser::{Document, LinkForm, NotText};

/// One link as it stands in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkText {
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
    /// How its target is written.
    pub form: TargetForm,
}

/// How a target is written, which decides how a path is read and spelled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum TargetForm {
    /// A link in the text or the properties of a note.
    Note(LinkForm),
    /// The file of a canvas card: a path from the top of the vault.
    CanvasFile,
    /// A link in the text of a canvas card.
    CanvasText(LinkForm),
}

impl TargetForm {
    /// Whether the link is Markdown's own, which other programs read from the note's folder.
    #[must_use]
    pub const fn is_markdown(self) -> bool {
        matches!(self, Self::Note(form) | Self::CanvasText(form)
            if matches!(form, LinkForm::Inline | LinkForm::Definition))
    }

    /// `path` in this form and in the manner of the bytes that stood there; `None` when the form
    /// cannot say it.
    #[must_use]
    pub fn write_target(self, path: &str, like: &str) -> Option<String> {
        match self {
            Self::Note(form) => form.encode_target(path, like),
            Self::CanvasFile => Some(canvas::escape_json(path)),
            Self::CanvasText(form) => {
                form.encode_target(path, like).map(|path| canvas::escape_json(&path))
            }
        }
    }
}

impl LinkText {
    /// All links of the file `path`; none where it holds no text.
    #[must_use]
    pub fn in_file(path: &NotePath, bytes: &[u8]) -> Vec<Self> {
        if may_hold_links(path) {
            links_in_file(path, bytes).unwrap_or_default()
        } else {
            Vec::new()
        }
    }

    /// All links of a note that was taken apart.
    #[must_use]
    pub fn in_document(document: &Document<'_>) -> Vec<Self> {
        with_lines(document.text, links_in_document(document, TargetForm::Note))
    }
}

/// Whether a file may hold links.
#[must_use]
pub fn may_hold_links(path: &NotePath) -> bool {
    path.is_markdown() || path.is_canvas()
}

/// All links of the file `path` with these bytes, in order. A canvas that is no JSON has none.
pub fn links_in_file(path: &NotePath, bytes: &[u8]) -> Result<Vec<LinkText>, NotText> {
    if path.is_canvas() {
        let text = std::str::from_utf8(bytes).map_err(|e| NotText { at: e.valid_up_to() })?;
        return Ok(with_lines(text, canvas::canvas_links(text)));
    }
    let document = Document::decode(bytes)?;
    Ok(LinkText::in_document(&document))
}

/// The links of a document, their lines not yet counted.
fn links_in_document(
    document: &Document<'_>,
    form: impl Fn(LinkForm) -> TargetForm,
) -> Vec<LinkText> {
    let spelled = document.links.iter().map(|link| LinkText {
        at: link.target.clone(),
        line: 0,
        path: link.path(document.text),
        subpath: document.slice(&link.subpath).to_owned(),
        is_embed: link.is_embed,
        form: form(link.form),
    });
    spelled.collect()
}

fn with_lines(text: &str, mut links: Vec<LinkText>) -> Vec<LinkText> {
    links.sort_by_key(|link| link.at.start);
    let (mut at, mut line) = (0, 1);
    for link in &mut links {
        let passed = text.as_bytes().get(at..link.at.start).unwrap_or_default();
        line += count_line_breaks(passed);
        at = link.at.start;
        link.line = line;
    }
    links
}
