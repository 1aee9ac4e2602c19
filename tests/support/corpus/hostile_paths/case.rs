//! The file of cases, and the words in it.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::fixture::PathFixture;

/// A file of cases.
#[derive(Debug, Deserialize)]
pub struct PathCorpus {
    #[serde(default)]
    variables: Map<String, Value>,
    pub(super) cases: Vec<PathCase>,
}

/// One path, what is done with it and what must come of it.
#[derive(Debug, Clone, Deserialize)]
pub struct PathCase {
    pub(super) id: String,
    #[serde(default)]
    pub(super) class: String,
    pub(super) ops: Vec<String>,
    pub(super) expect: String,
    /// None named means every one.
    #[serde(default)]
    platforms: Vec<String>,
    path: Option<String>,
    path_b64: Option<String>,
    pub(super) regex: Option<String>,
    #[serde(default)]
    pub(super) setup: Vec<PathSetup>,
}

/// Something that is there before the call.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct PathSetup {
    #[serde(rename = "do")]
    pub(super) what: String,
    #[serde(flatten)]
    words: Map<String, Value>,
}

/// The tool that gets the path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PathOperation {
    /// `read_file`.
    Read,
    /// `write_file`.
    Write,
    /// `edit_file`.
    Edit,
    /// `append_file`.
    Append,
    /// `create_folder`.
    Mkdir,
    /// `delete_file`.
    Delete,
    /// `move_file` from the path to the case's destination, or there and back.
    Move,
    /// `move_file` away from the path.
    MoveSource,
    /// `move_file` to the path.
    MoveDestination,
    /// `list_files` in the folder.
    List,
    /// `search_files` with the path as file pattern.
    Search,
}

impl PathCorpus {
    /// Reads the file's text.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }

    /// A variable that the file declares and no stage fills.
    pub(super) fn unknown_variable(&self) -> Option<String> {
        let known = |name: &String| PathFixture::VARIABLES.contains(&name.as_str());
        self.variables.keys().find(|name| !known(name)).cloned()
    }
}

impl PathCase {
    pub(super) fn is_for_linux(&self) -> bool {
        self.platforms.is_empty() || self.platforms.iter().any(|platform| platform == "linux")
    }

    /// The path's bytes, variables not filled in yet.
    pub(super) fn path_bytes(&self) -> Vec<u8> {
        match (&self.path, &self.path_b64) {
            (Some(text), _) => text.clone().into_bytes(),
            (None, Some(coded)) => STANDARD.decode(coded).unwrap_or_default(),
            (None, None) => Vec::new(),
        }
    }

    /// The problem of the case itself: a path that cannot be decoded, or none, or no operation.
    pub(super) fn malformed_reason(&self) -> Option<String> {
        let decoded = self.path_b64.as_ref().map(|coded| STANDARD.decode(coded));
        match (&self.path, decoded) {
            (None, None) => Some("a case without a path".to_owned()),
            (None, Some(Err(error))) => Some(format!("a path that is not base64 ({error})")),
            _ if self.ops.is_empty() => Some("a case without an operation".to_owned()),
            _ => None,
        }
    }

    /// The path as it can stand in a call.
    pub(super) fn path(&self) -> String {
        String::from_utf8_lossy(&self.path_bytes()).into_owned()
    }

    /// The race to run, if the case is one: how, and how often.
    pub(super) fn race(&self) -> Option<(&str, usize)> {
        let setup = self.setup.iter().find(|setup| setup.what == "race")?;
        let times = usize::try_from(setup.number("iterations")).unwrap_or(usize::MAX);
        Some((setup.text("how"), times))
    }

    pub(super) fn destination(&self) -> Option<&str> {
        self.setup.iter().find(|setup| setup.what == "dst").map(|setup| setup.text("path"))
    }
}

impl PathSetup {
    pub(super) fn text(&self, word: &str) -> &str {
        self.words.get(word).and_then(Value::as_str).unwrap_or_default()
    }

    pub(super) fn number(&self, word: &str) -> u64 {
        self.words.get(word).and_then(Value::as_u64).unwrap_or_default()
    }
}

impl PathOperation {
    pub(super) fn parse(word: &str) -> Option<Self> {
        Some(match word {
            "read" => Self::Read,
            "write" => Self::Write,
            "edit" => Self::Edit,
            "append" => Self::Append,
            "mkdir" => Self::Mkdir,
            "delete" => Self::Delete,
            "move" => Self::Move,
            "move_src" => Self::MoveSource,
            "move_dst" => Self::MoveDestination,
            "list" => Self::List,
            "search_root" => Self::Search,
            _ => return None,
        })
    }

    pub(super) fn tool(self) -> &'static str {
        match self {
            Self::Read => "read_file",
            Self::Write => "write_file",
            Self::Edit => "edit_file",
            Self::Append => "append_file",
            Self::Mkdir => "create_folder",
            Self::Delete => "delete_file",
            Self::Move | Self::MoveSource | Self::MoveDestination => "move_file",
            Self::List => "list_files",
            Self::Search => "search_files",
        }
    }

    pub(super) fn changes(self) -> bool {
        !matches!(self, Self::Read | Self::List | Self::Search)
    }

    /// Whether a name that is not there would be made.
    pub(super) fn creates(self) -> bool {
        matches!(self, Self::Write | Self::Append | Self::Mkdir | Self::MoveDestination)
    }

    /// The plainest call; every file of a stage holds the text that `edit` replaces.
    pub(super) fn arguments(self, path: &str, case: &PathCase) -> Value {
        match self {
            Self::Read | Self::List | Self::Mkdir | Self::Delete => json!({ "path": path }),
            Self::Write => json!({ "path": path, "content": "written\n" }),
            Self::Append => json!({ "path": path, "content": "appended\n" }),
            Self::Edit => json!({ "path": path, "old_text": "edit me", "new_text": "edited" }),
            Self::Move => json!({
                "source": path, "destination": case.destination().unwrap_or("notes/moved.md"),
            }),
            Self::MoveSource => json!({ "source": path, "destination": "dst/moved.md" }),
            Self::MoveDestination => json!({ "source": "notes/b.md", "destination": path }),
            Self::Search => json!({
                "pattern": case.regex.as_deref().unwrap_or("."), "file_pattern": path,
                "max_results": 200,
            }),
        }
    }
}
