//! Where a hub is: without TLS only on this computer, over TLS anywhere else.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use http::Uri;

use crate::ConfigProblem;

/// The port of a hub on this computer unless its URL has another.
const PLAIN_PORT: u16 = 9473;
/// The port of TLS unless the URL has another (RFC 6455, section 3).
const TLS_PORT: u16 = 443;

/// Where a hub is dialled. Holding one proves that no word leaves this computer in plain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Endpoint {
    /// On this computer.
    Plain(SocketAddr),
    /// Anywhere, if it proves to be who it says.
    Tls { host: String, port: u16 },
}

impl Endpoint {
    /// Parses a URL such as `ws://127.0.0.1:9473` or `wss://hub.example`; also returns its path.
    pub(crate) fn parse(url: &str) -> Result<(Self, String), ConfigProblem> {
        let unreadable = || ConfigProblem::Address(url.into());
        let uri: Uri = url.parse().map_err(|_| unreadable())?;
        let authority = uri.authority().ok_or_else(unreadable)?;
        if authority.as_str().contains('@') || uri.query().is_some() {
            return Err(unreadable());
        }
        let port = |otherwise| match authority.as_str().strip_prefix(authority.host()) {
            Some("") => Ok(otherwise),
            _ => authority.port_u16().filter(|port| *port != 0).ok_or_else(unreadable),
        };
        let way = match uri.scheme_str() {
            Some("ws") => {
                let ip = loopback_ip(authority.host())
                    .ok_or_else(|| ConfigProblem::NotThisComputer(url.into()))?;
                Self::Plain(SocketAddr::new(ip, port(PLAIN_PORT)?))
            }
            Some("wss") if !authority.host().is_empty() => {
                Self::Tls { host: authority.host().to_owned(), port: port(TLS_PORT)? }
            }
            _ => return Err(unreadable()),
        };
        Ok((way, uri.path().to_owned()))
    }

    /// The URL that a client requests.
    pub(crate) fn url(&self, path: &str) -> String {
        match self {
            Self::Plain(_) => format!("ws://{self}{path}"),
            Self::Tls { .. } => format!("wss://{self}{path}"),
        }
    }

    /// Host, port and path, without the `/` that every URL may end in.
    pub(crate) fn hub_id(&self, path: &str) -> String {
        let host = self.to_string().to_ascii_lowercase();
        format!("{host}{}", path.trim_end_matches('/'))
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain(address) => write!(to, "{address}"),
            Self::Tls { host, port } => write!(to, "{host}:{port}"),
        }
    }
}

/// The IP address of `host`, if that is surely on this computer. No name is ever resolved: a
/// resolver can lie.
#[must_use]
pub fn loopback_ip(host: &str) -> Option<IpAddr> {
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
        Endpoint::parse(address).map(|(way, path)| way.url(&path))
    }

    #[test]
    fn loopback_addresses_are_dialled_by_number() {
        for (address, expected) in [
            ("ws://127.0.0.1:9473", "ws://127.0.0.1:9473/"),
            ("ws://localhost:9000", "ws://127.0.0.1:9000/"),
            ("ws://LOCALHOST", "ws://127.0.0.1:9473/"),
            ("ws://127.8.7.6:1/", "ws://127.8.7.6:1/"),
            ("ws://[::1]:9473", "ws://[::1]:9473/"),
            ("ws://127.0.0.1/hub", "ws://127.0.0.1:9473/hub"),
        ] {
            assert_eq!(dialled(address).as_deref(), Ok(expected), "{address}");
        }
    }

    #[test]
    fn any_computer_is_dialled_by_name_over_tls() {
        for (address, expected) in [
            ("wss://hub.example", "wss://hub.example:443/"),
            ("wss://hub.example:9473/way", "wss://hub.example:9473/way"),
            ("wss://192.168.1.5", "wss://192.168.1.5:443/"),
            ("wss://[2001:db8::1]:1", "wss://[2001:db8::1]:1/"),
            ("wss://localhost", "wss://localhost:443/"),
        ] {
            assert_eq!(dialled(address).as_deref(), Ok(expected), "{address}");
        }
    }

    #[test]
    fn one_hub_has_one_id_however_its_url_is_spelled() {
        for (address, expected) in [
            ("ws://127.0.0.1:9473", "127.0.0.1:9473"),
            ("ws://localhost", "127.0.0.1:9473"),
            ("wss://127.0.0.1:9473/", "127.0.0.1:9473"),
            ("ws://[::1]:9473", "[::1]:9473"),
            ("wss://Hub.Example", "hub.example:443"),
            ("wss://hub.example:443/Notes/", "hub.example:443/Notes"),
        ] {
            assert_eq!(crate::LinkConfig::hub_id_of(address).as_deref(), Ok(expected), "{address}");
        }
    }

    #[test]
    fn every_other_computer_and_every_disguise_is_refused_in_plain() {
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
            "https://hub.example",
            "ws://",
            "wss://",
            "ws://127.0.0.1:0",
            "ws://127.0.0.1:99999",
            "ws://127.0.0.1:",
            "ws://user:secret@127.0.0.1:9473",
            "wss://user:secret@hub.example",
            "wss://hub.example/?token=secret",
        ] {
            assert_eq!(dialled(address), Err(ConfigProblem::Address(address.into())), "{address}");
        }
    }
}
