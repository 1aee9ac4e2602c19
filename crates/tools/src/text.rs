//! The text of one note and of results: headings, spans, similar lines, numbered pages and line endings.

pub(crate) mod heading_ref;
pub(crate) mod list_style;
pub(crate) mod numbered_page;
pub(crate) mod similar_lines;
pub(crate) mod suggestions;
pub(crate) mod text_encoding;
pub(crate) mod text_span;
