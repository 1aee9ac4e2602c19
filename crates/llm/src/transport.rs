//! How bytes travel to a provider's server and back: HTTP, TLS, event framing, decoding, retries, deadlines and
//! the clock.

pub(crate) mod clock;
pub(crate) mod decoder;
pub mod http;
pub(crate) mod ndjson;
pub mod retry;
pub(crate) mod sse;
pub(crate) mod surrogates;
pub(crate) mod time_scale;
pub(crate) mod tls;
