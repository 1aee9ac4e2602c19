//! The settings of the link, checked before it dials.

use http::HeaderValue;
use protocol::UserError;
use protocol::error::user_text::UserText;
use thiserror::Error;

use crate::endpoint::Endpoint;

pub(crate) mod user_texts;

const NAME_MAX: usize = 64;
const DESCRIPTION_MAX: usize = 1024;

/// Where the hub is and who we are to it. Holding one proves that all of it is sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkConfig {
    pub(crate) endpoint: Endpoint,
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) token: Option<Token>,
    /// Whether there is a token that this hub must not see.
    pub(crate) is_token_withheld: bool,
}

impl LinkConfig {
    /// Checks a URL such as `ws://127.0.0.1:9473` or `wss://hub.example`, the name to register
    /// and the description that the hub's router reads. `ws://` passes for loopback addresses only:
    /// `localhost` is dialled as 127.0.0.1, and a missing port means 9473. Over `wss://` a missing
    /// port means 443, and nothing is sent to a hub whose certificate this computer does not trust.
    pub fn new(address: &str, name: &str, description: &str) -> Result<Self, ConfigProblem> {
        let (way, path) = Endpoint::parse(address.trim())?;
        check_name(name)?;
        check_description(description)?;
        Ok(Self {
            endpoint: way,
            path,
            name: name.into(),
            description: description.into(),
            token: None,
            is_token_withheld: false,
        })
    }

    /// Which hub is at a URL: host, port and path, whatever the scheme and the case of the host.
    /// Messages and answers are kept under it, so it stays the same from version to version.
    pub fn hub_id_of(address: &str) -> Result<String, ConfigProblem> {
        let (way, path) = Endpoint::parse(address.trim())?;
        Ok(way.hub_id(&path))
    }

    /// Which hub this is, as [`LinkConfig::hub_id_of`] says it.
    #[must_use]
    pub fn hub_id(&self) -> String {
        self.endpoint.hub_id(&self.path)
    }

    /// Presents `token` to the hub when connecting.
    #[must_use]
    pub fn with_token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// Presents no token, because the known one is for another hub. If the hub refuses the
    /// connection, the status says so.
    #[must_use]
    pub fn without_token_of_another_hub(mut self) -> Self {
        (self.token, self.is_token_withheld) = (None, true);
        self
    }

    /// Whether nothing leaves this computer on the way there.
    #[must_use]
    pub const fn is_loopback(&self) -> bool {
        matches!(self.endpoint, Endpoint::Plain(_))
    }

    /// The name that is registered.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }
}

/// A hub's password. It goes into one header, and never into a log: `Debug` hides it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token(HeaderValue);

impl Token {
    /// Takes visible ASCII characters only, since a header carries nothing else.
    pub fn new(token: &str) -> Result<Self, ConfigProblem> {
        if token.is_empty() || !token.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(ConfigProblem::Token);
        }
        let bearer = HeaderValue::try_from(format!("Bearer {token}"));
        let mut value = bearer.map_err(|_| ConfigProblem::Token)?;
        value.set_sensitive(true);
        Ok(Self(value))
    }

    pub(crate) const fn header(&self) -> &HeaderValue {
        &self.0
    }

    /// Whether an `Authorization` header presents this token. Takes the same time wherever the first
    /// difference stands, so that it cannot be guessed byte by byte.
    #[must_use]
    pub fn matches(&self, presented: &HeaderValue) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), presented.as_bytes());
        let differing = ours.iter().zip(theirs).fold(0, |seen, (a, b)| seen | (a ^ b));
        ours.len() == theirs.len() && differing == 0
    }
}

/// Problems of the hub's settings. Variants are the field to correct.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigProblem {
    /// The URL cannot be read.
    Address(String),
    /// The URL leads off this computer without TLS.
    NotThisComputer(String),
    /// The name does not fit the hub's rule.
    Name(String),
    /// The description is empty or only white space, which the hub refuses.
    DescriptionBlank,
    /// The description is too long.
    DescriptionLong(usize),
    /// The token cannot stand in a header.
    Token,
}

impl ConfigProblem {
    /// The text for the user.
    #[must_use]
    pub fn text(&self) -> UserText {
        match self {
            Self::Address(url) => user_texts::hub_url_unreadable(url.as_str()),
            Self::NotThisComputer(url) => user_texts::hub_url_unencrypted(url.as_str()),
            Self::Name(name) => user_texts::hub_name_unfit(name.as_str()),
            Self::DescriptionBlank => user_texts::hub_description_missing(),
            Self::DescriptionLong(count) => {
                user_texts::hub_description_too_long(count.to_string(), DESCRIPTION_MAX.to_string())
            }
            Self::Token => user_texts::token_unfit(),
        }
    }
}

impl std::fmt::Display for ConfigProblem {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.text().english())
    }
}

impl From<ConfigProblem> for UserError {
    fn from(problem: ConfigProblem) -> Self {
        Self::other(problem.text())
    }
}

/// Whether `name` is `^[a-zA-Z][a-zA-Z0-9_-]*$` and at most 64 long.
pub fn check_name(name: &str) -> Result<(), ConfigProblem> {
    let sound = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && name.len() <= NAME_MAX;
    if sound { Ok(()) } else { Err(ConfigProblem::Name(name.into())) }
}

/// Whether `description` is not blank and at most 1024 UTF-16 units long.
pub fn check_description(description: &str) -> Result<(), ConfigProblem> {
    if description.trim().is_empty() {
        return Err(ConfigProblem::DescriptionBlank);
    }
    match description.encode_utf16().count() {
        units if units > DESCRIPTION_MAX => Err(ConfigProblem::DescriptionLong(units)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_follow_the_hubs_rule() {
        let longest = "n".repeat(64);
        for name in ["Notes", "n", "my-notes_2", longest.as_str()] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        let too_long = "n".repeat(65);
        for name in ["", "My notes", "2nd", "-n", "Nötes", "Notes\n", too_long.as_str()] {
            assert_eq!(check_name(name), Err(ConfigProblem::Name(name.into())), "{name}");
        }
    }

    #[test]
    fn descriptions_are_counted_in_utf16_units() {
        assert_eq!(check_description(&"😀".repeat(512)), Ok(()));
        assert_eq!(check_description(&"😀".repeat(513)), Err(ConfigProblem::DescriptionLong(1026)));
        assert_eq!(check_description(" \n\t"), Err(ConfigProblem::DescriptionBlank));
    }

    #[test]
    fn a_token_admits_only_itself_and_never_shows() {
        let token = Token::new("s3cret").unwrap();
        assert!(token.matches(&HeaderValue::from_static("Bearer s3cret")));
        for wrong in ["Bearer s3cre", "Bearer s3crets", "Bearer s3creT", "s3cret", ""] {
            assert!(!token.matches(&HeaderValue::from_static(wrong)), "{wrong}");
        }
        assert!(!format!("{token:?}").contains("s3cret"));
        assert_eq!(Token::new("two words"), Err(ConfigProblem::Token));
        assert_eq!(Token::new(""), Err(ConfigProblem::Token));
    }
}
