//! What the link needs to dial, checked before it dials.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use http::{HeaderValue, Uri};
use thiserror::Error;

/// The port a hub listens on unless its address says another.
const DEFAULT_PORT: u16 = 9473;
const NAME_MAX: usize = 64;
const DESCRIPTION_MAX: usize = 1024;

/// Where the hub is and who we are to it. Holding one proves that all of it is sound.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LinkConfig {
    pub(crate) address: SocketAddr,
    pub(crate) path: String,
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) token: Option<Token>,
}

impl LinkConfig {
    /// Checks an address such as `ws://127.0.0.1:9473`, the name to register and the description
    /// that the hub's router reads. Only loopback addresses pass; `localhost` is dialled as
    /// 127.0.0.1, and a missing port means 9473.
    pub fn new(address: &str, name: &str, description: &str) -> Result<Self, ConfigProblem> {
        let (address, path) = loopback(address.trim())?;
        check_name(name)?;
        check_description(description)?;
        Ok(Self { address, path, name: name.into(), description: description.into(), token: None })
    }

    /// Presents `token` to the hub when connecting.
    #[must_use]
    pub fn with_token(mut self, token: Token) -> Self {
        self.token = Some(token);
        self
    }

    /// The address that is dialled.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
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

    /// Takes the same time wherever the first difference stands, so that it cannot be guessed
    /// byte by byte.
    pub(crate) fn admits(&self, presented: &HeaderValue) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), presented.as_bytes());
        let differing = ours.iter().zip(theirs).fold(0, |seen, (a, b)| seen | (a ^ b));
        ours.len() == theirs.len() && differing == 0
    }
}

/// What is wrong with the hub's settings. Variants are the field to correct.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum ConfigProblem {
    /// The address cannot be read.
    #[error("“{0}” is not a hub's address: write it like ws://127.0.0.1:9473")]
    Address(String),
    /// The address leads off this computer, or asks for TLS, which only that would need.
    #[error(
        "“{0}” is refused: only a hub on this computer for now, at an address like \
         ws://127.0.0.1:9473"
    )]
    NotThisComputer(String),
    /// The name does not fit the hub's rule.
    #[error(
        "the hub refuses the name “{0}”: use letters, digits, - and _, beginning with a letter, \
         at most 64"
    )]
    Name(String),
    /// The description is blank.
    #[error("the hub wants a description: say in a sentence what your notes are good for")]
    DescriptionBlank,
    /// The description is too long.
    #[error("the description has {0} characters: shorten it to {DESCRIPTION_MAX}")]
    DescriptionLong(usize),
    /// The token cannot stand in a header.
    #[error("the token holds a blank or a special character: use letters, digits and signs")]
    Token,
}

/// Whether `name` is `^[a-zA-Z][a-zA-Z0-9_-]*$` and at most 64 long.
pub(crate) fn check_name(name: &str) -> Result<(), ConfigProblem> {
    let sound = name.starts_with(|first: char| first.is_ascii_alphabetic())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
        && name.len() <= NAME_MAX;
    if sound { Ok(()) } else { Err(ConfigProblem::Name(name.into())) }
}

/// Whether `description` is not blank and at most 1024 UTF-16 units long.
pub(crate) fn check_description(description: &str) -> Result<(), ConfigProblem> {
    if description.trim().is_empty() {
        return Err(ConfigProblem::DescriptionBlank);
    }
    match description.encode_utf16().count() {
        units if units > DESCRIPTION_MAX => Err(ConfigProblem::DescriptionLong(units)),
        _ => Ok(()),
    }
}

fn loopback(address: &str) -> Result<(SocketAddr, String), ConfigProblem> {
    let unreadable = || ConfigProblem::Address(address.into());
    let uri: Uri = address.parse().map_err(|_| unreadable())?;
    match uri.scheme_str() {
        Some("ws") => {}
        Some("wss") => return Err(ConfigProblem::NotThisComputer(address.into())),
        _ => return Err(unreadable()),
    }
    let authority = uri.authority().ok_or_else(unreadable)?;
    if authority.as_str().contains('@') || uri.query().is_some() {
        return Err(unreadable());
    }
    let ip = loopback_ip(authority.host())
        .ok_or_else(|| ConfigProblem::NotThisComputer(address.into()))?;
    let port = match authority.as_str().strip_prefix(authority.host()) {
        Some("") => DEFAULT_PORT,
        _ => authority.port_u16().filter(|port| *port != 0).ok_or_else(unreadable)?,
    };
    Ok((SocketAddr::new(ip, port), uri.path().to_owned()))
}

/// The address `host` means, if that is surely on this computer. No name is ever resolved:
/// a resolver can be told to lie.
pub(crate) fn loopback_ip(host: &str) -> Option<IpAddr> {
    if host.eq_ignore_ascii_case("localhost") {
        return Some(Ipv4Addr::LOCALHOST.into());
    }
    let bare = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    bare.parse::<IpAddr>().ok().filter(IpAddr::is_loopback)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialled(address: &str) -> Result<String, ConfigProblem> {
        LinkConfig::new(address, "Notes", "Keeps notes.").map(|config| config.address.to_string())
    }

    #[test]
    fn loopback_addresses_are_dialled_by_number() {
        for (address, expected) in [
            ("ws://127.0.0.1:9473", "127.0.0.1:9473"),
            ("ws://localhost:9000", "127.0.0.1:9000"),
            ("ws://LOCALHOST", "127.0.0.1:9473"),
            ("ws://127.8.7.6:1/", "127.8.7.6:1"),
            ("ws://[::1]:9473", "[::1]:9473"),
            ("  ws://127.0.0.1/hub ", "127.0.0.1:9473"),
        ] {
            assert_eq!(dialled(address).as_deref(), Ok(expected), "{address}");
        }
    }

    #[test]
    fn every_other_computer_and_every_disguise_is_refused() {
        for address in [
            "ws://192.168.1.5:9473",
            "ws://example.org",
            "ws://127.0.0.1.evil.example:9473",
            "ws://localhost.evil.example",
            "ws://0.0.0.0:9473",
            "ws://127.1:9473",
            "ws://2130706433",
            "ws://[::ffff:127.0.0.1]:9473",
            "ws://[::]:9473",
            "wss://127.0.0.1:9473",
            "wss://hub.example",
        ] {
            assert_eq!(dialled(address), Err(ConfigProblem::NotThisComputer(address.into())));
        }
    }

    #[test]
    fn an_address_that_is_none_is_refused() {
        for address in [
            "",
            "hub",
            "127.0.0.1:9473",
            "http://127.0.0.1:9473",
            "ws://",
            "ws://127.0.0.1:0",
            "ws://127.0.0.1:99999",
            "ws://127.0.0.1:",
            "ws://user:secret@127.0.0.1:9473",
            "ws://127.0.0.1:9473/?token=secret",
        ] {
            assert_eq!(dialled(address), Err(ConfigProblem::Address(address.into())), "{address}");
        }
    }

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
        assert!(token.admits(&HeaderValue::from_static("Bearer s3cret")));
        for wrong in ["Bearer s3cre", "Bearer s3crets", "Bearer s3creT", "s3cret", ""] {
            assert!(!token.admits(&HeaderValue::from_static(wrong)), "{wrong}");
        }
        assert!(!format!("{token:?}").contains("s3cret"));
        assert_eq!(Token::new("two words"), Err(ConfigProblem::Token));
        assert_eq!(Token::new(""), Err(ConfigProblem::Token));
    }
}
