//! The file of attacks, and the words in it.

use serde::Deserialize;
use serde_json::Value;

/// A file of attacks.
#[derive(Debug, Deserialize)]
pub struct Corpus {
    pub(super) cases: Vec<Case>,
}

/// Words that try to command the model, and what a model does that obeys them.
#[derive(Debug, Clone, Deserialize)]
pub struct Case {
    pub(super) id: String,
    source: String,
    content: String,
    pub(super) expect: String,
    pub(super) scripted_calls: Vec<Step>,
}

/// One thing that the model does.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum Step {
    Call { tool: String, args: Value },
    Repeat { repeat: usize, call: Call },
    Text { final_text: String },
}

/// A call with `{i}` where its number goes.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) args: Value,
}

/// Where the words stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Note,
    Hub,
    FileName,
    /// A tag, of which a list of tags tells.
    Tag,
    /// The words of a link, of which a list of links tells.
    Link,
    /// A name that an error offers for one that is not there.
    NearName,
    SearchResult,
    OldConversation,
    User,
}

/// What must come of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expect {
    Review,
    NoLeak,
    Deny,
    Benign,
}

/// A word that the runner does not know.
#[derive(Debug)]
pub(super) struct Unknown(pub(super) String);

impl Corpus {
    /// Reads the file's text.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl Case {
    pub(super) fn source(&self) -> Result<Source, Unknown> {
        Ok(match self.source.as_str() {
            // A picture's words and a mixture come to the model as a note's words do.
            "note" | "image_text" | "mixed" => Source::Note,
            "hub" => Source::Hub,
            "filename" => Source::FileName,
            "tag" => Source::Tag,
            "link" => Source::Link,
            "near_name" => Source::NearName,
            "search_result" => Source::SearchResult,
            "old_conversation" => Source::OldConversation,
            "user" => Source::User,
            other => return Err(Unknown(format!("source {other}"))),
        })
    }

    pub(super) fn expect(&self) -> Result<Expect, Unknown> {
        Ok(match self.expect.as_str() {
            "review" => Expect::Review,
            "no_leak" => Expect::NoLeak,
            "deny" => Expect::Deny,
            "benign" => Expect::Benign,
            other => return Err(Unknown(format!("expect {other}"))),
        })
    }

    /// The words, `{{repeat:TEXT:N}}` written out.
    pub(super) fn content(&self) -> String {
        let Some((before, rest)) = self.content.split_once("{{repeat:") else {
            return self.content.clone();
        };
        let Some((what, after)) = rest.split_once("}}") else { return self.content.clone() };
        let Some((text, times)) = what.rsplit_once(':') else { return self.content.clone() };
        let times = times.parse().unwrap_or(1);
        format!("{before}{}{after}", text.replace("\\n", "\n").repeat(times))
    }
}

impl Step {
    /// The calls of one message; empty for words.
    pub(super) fn calls(&self) -> Vec<(String, Value)> {
        match self {
            Self::Call { tool, args } => vec![(tool.clone(), args.clone())],
            Self::Repeat { repeat, call } => {
                let numbered = |number: usize| {
                    let args = call.args.to_string().replace("{i}", &number.to_string());
                    (call.tool.clone(), serde_json::from_str(&args).unwrap_or_default())
                };
                (0..*repeat).map(numbered).collect()
            }
            Self::Text { .. } => Vec::new(),
        }
    }
}
