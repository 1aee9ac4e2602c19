//! The server URLs to which a key and notes may be sent.

use std::net::IpAddr;

use protocol::error::user_text::UserText;
use reqwest::Url;

use super::api_profile::{ApiProfile, BasePath};
use crate::model::{ModelError, user_texts};

/// The base URL for the API's paths; empty means the provider's own.
pub(super) fn parse(api: &ApiProfile, base_url: &str) -> Result<Url, ModelError> {
    let given = base_url.trim().trim_end_matches('/');
    let base = if given.is_empty() { api.base_url } else { given };
    let refused_as = |why: UserText| ModelError::InvalidRequest(user_texts::server_url_unfit(why));
    let refused = |why: &str| refused_as(why.into());
    let mut url =
        Url::parse(base).map_err(|_| refused_as(user_texts::no_web_address(api.base_url)))?;
    url.set_path(&path_below(api.root, url.path()));
    if !url.username().is_empty() || url.password().is_some() {
        return Err(refused("contains a username or password"));
    }
    if url.query().is_some() || url.fragment().is_some() {
        return Err(refused("contains a ? or #"));
    }
    match url.scheme() {
        "https" => Ok(url),
        "http" if is_loopback(&url) => Ok(url),
        "http" => {
            Err(refused("must begin with https://, or the API key would be sent unencrypted"))
        }
        _ => Err(refused("must begin with https://")),
    }
}

fn path_below(root: BasePath, path: &str) -> String {
    let path = path.trim_end_matches('/');
    match root {
        BasePath::UnlessGiven(root) if path.is_empty() => root.to_owned(),
        BasePath::UnlessGiven(_) => path.to_owned(),
        BasePath::Always(root) => format!("{}{root}", path.strip_suffix(root).unwrap_or(path)),
    }
}

/// The name of the server in errors.
pub(super) fn server_name(api: &ApiProfile, base: &Url) -> String {
    let host = base.host_str().unwrap_or_default();
    let named = api.hosts.iter().find(|(known, _)| *known == host);
    match (named, base.port()) {
        (Some((_, name)), None) => (*name).to_owned(),
        (_, None) => host.to_owned(),
        (_, Some(port)) => format!("{host}:{port}"),
    }
}

/// Whether a URL holds a secret: a login, or values that may be a key.
#[must_use]
pub fn has_credentials(base_url: &str) -> bool {
    let url = Url::parse(base_url.trim());
    url.is_ok_and(|url| {
        let has_login = !url.username().is_empty() || url.password().is_some();
        has_login || url.query().is_some() || url.fragment().is_some()
    })
}

/// The server of a base URL, as a name to compare and to show: `https://api.openai.com`, or `localhost` for this computer,
/// whatever the port. `None` for a URL that no provider would use: nothing is sent there.
#[must_use]
pub fn server_of(base_url: &str) -> Option<String> {
    if is_on_this_computer(base_url) {
        return Some("localhost".to_owned());
    }
    let url = Url::parse(base_url.trim()).ok().filter(|url| url.scheme() == "https");
    url.map(|url| url.origin().ascii_serialization())
}

/// Whether this URL, as a provider would use it, is on this computer.
#[must_use]
pub fn is_on_this_computer(base_url: &str) -> bool {
    let url = Url::parse(base_url.trim());
    url.is_ok_and(|url| is_loopback(&url) && url.username().is_empty() && url.password().is_none())
}

pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    host == "localhost" || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_on_this_computer;

    #[test]
    fn only_a_url_of_this_computer_is_on_it() {
        for url in
            ["http://localhost:11434", "http://127.0.0.1/v1", "http://[::1]:80", "http://127.9.9.9"]
        {
            assert!(is_on_this_computer(url), "{url}");
        }
        for url in [
            "https://api.anthropic.com",
            "http://localhost@evil.org",
            "http://a:b@localhost",
            "http://127.0.0.1.evil.org",
            "http://evil.org\\@127.0.0.1",
            "http://evil.org/127.0.0.1",
            "http://192.168.0.2",
            "http://0.0.0.0",
            "",
        ] {
            assert!(!is_on_this_computer(url), "{url}");
        }
    }
}
