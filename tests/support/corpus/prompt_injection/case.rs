//! The file of attacks, and the words in it.

use serde::Deserialize;
use serde_json::Value;

/// A file of attacks.
#[derive(Debug, Deserialize)]
pub struct InjectionCorpus {
    pub(super) cases: Vec<InjectionCase>,
}

/// A text that tries to command the model, and the calls of a model that obeys it.
#[derive(Debug, Clone, Deserialize)]
pub struct InjectionCase {
    pub(super) id: String,
    source: String,
    content: String,
    pub(super) expect: String,
    pub(super) scripted_calls: Vec<AttackStep>,
}

/// One thing that the model does.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum AttackStep {
    Call { tool: String, args: Value },
    Repeat { repeat: usize, call: AttackCall },
    Text { final_text: String },
}

/// A call with `{i}` where its number goes.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct AttackCall {
    pub(super) tool: String,
    pub(super) args: Value,
}

/// Where the text stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttackSource {
    Note,
    Hub,
    FileName,
    /// A tag, of which a list of tags tells.
    Tag,
    /// The text of a link, which a list of links shows.
    Link,
    /// A name that an error offers for one that is not there.
    NearName,
    SearchResult,
    OldConversation,
    User,
}

/// The expected result.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum AttackExpectation {
    Review,
    NoLeak,
    Deny,
    Benign,
}

/// A word that the runner does not know.
#[derive(Debug)]
pub(super) struct UnknownAttackWord(pub(super) String);

impl InjectionCorpus {
    /// Reads the file's text.
    pub fn parse(text: &str) -> Result<Self, serde_json::Error> {
        serde_json::from_str(text)
    }
}

impl InjectionCase {
    pub(super) fn attack_source(&self) -> Result<AttackSource, UnknownAttackWord> {
        Ok(match self.source.as_str() {
            // The text of an image and a mixture come to the model as a note's text does.
            "note" | "image_text" | "mixed" => AttackSource::Note,
            "hub" => AttackSource::Hub,
            "filename" => AttackSource::FileName,
            "tag" => AttackSource::Tag,
            "link" => AttackSource::Link,
            "near_name" => AttackSource::NearName,
            "search_result" => AttackSource::SearchResult,
            "old_conversation" => AttackSource::OldConversation,
            "user" => AttackSource::User,
            other => return Err(UnknownAttackWord(format!("source {other}"))),
        })
    }

    pub(super) fn expectation(&self) -> Result<AttackExpectation, UnknownAttackWord> {
        Ok(match self.expect.as_str() {
            "review" => AttackExpectation::Review,
            "no_leak" => AttackExpectation::NoLeak,
            "deny" => AttackExpectation::Deny,
            "benign" => AttackExpectation::Benign,
            other => return Err(UnknownAttackWord(format!("expect {other}"))),
        })
    }

    /// The text, `{{repeat:TEXT:N}}` written out.
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

impl AttackStep {
    /// The calls of one message; empty for text.
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
