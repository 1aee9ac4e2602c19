//! Facts about a provider's API that hold for all servers which speak it.

use reqwest::header::HeaderName;

/// The profile of one provider's API.
#[derive(Debug)]
pub(crate) struct ApiProfile {
    /// Its name, where its own host answers.
    pub(crate) name: &'static str,
    /// Hosts that go by a name.
    pub(crate) hosts: &'static [(&'static str, &'static str)],
    /// The base URL of the provider itself.
    pub(crate) base_url: &'static str,
    /// Where its paths stand below the base URL.
    pub(crate) root: BasePath,
    /// The name of its API.
    pub(crate) api: &'static str,
    /// The content type of its answers.
    pub(crate) content_type: &'static str,
    /// The header of the key, and what stands before the key in it.
    pub(crate) key: (HeaderName, &'static str),
    /// The additional headers of every request.
    pub(crate) headers: &'static [(&'static str, &'static str)],
    /// The servers that need no key.
    pub(crate) keyless: KeylessServers,
}

/// Where the API's paths stand below the base URL that the user gives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum BasePath {
    /// Below this, which the base URL may end with already.
    Always(&'static str),
    /// Below the base URL; below this when the base URL has no path.
    UnlessGiven(&'static str),
}

/// Which servers are asked without a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum KeylessServers {
    /// None.
    Never,
    /// Those on this computer.
    Local,
}
