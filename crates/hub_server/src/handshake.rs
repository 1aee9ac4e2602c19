//! Accepts programs of this computer, no browser, and only with the token if there is one.

use http::{HeaderMap, StatusCode, header};
use hub::{Token, loopback_ip};
use tokio_tungstenite::tungstenite::handshake::server::{
    Callback, ErrorResponse, Request, Response,
};

/// The path of those who send a text to the clients, as the hub's voice would.
pub(crate) const SEND_PATH: &str = "/send";

/// The purpose of a socket, by its request path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocketPurpose {
    /// Registers and gets messages.
    Client,
    /// Gives a text to be delivered.
    Sender,
}

/// Whether there was a place left when the socket came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SocketCapacity {
    Free,
    Full,
}

/// Checks one upgrade request.
pub(crate) struct HandshakeCheck<'a> {
    pub(crate) peer: std::net::IpAddr,
    pub(crate) room: SocketCapacity,
    pub(crate) token: Option<&'a Token>,
    pub(crate) purpose: &'a mut SocketPurpose,
}

impl HandshakeCheck<'_> {
    fn check(&self, headers: &HeaderMap) -> Result<(), StatusCode> {
        // A web page can reach this port too; its browser always says so. A page that had its own
        // name point here is betrayed by the name.
        let from_browser = headers.contains_key(header::ORIGIN);
        if !self.peer.is_loopback() || from_browser || !has_loopback_host(headers) {
            return Err(StatusCode::FORBIDDEN);
        }
        if let Some(token) = self.token {
            let presented = headers.get(header::AUTHORIZATION);
            if !presented.is_some_and(|presented| token.matches(presented)) {
                return Err(StatusCode::UNAUTHORIZED);
            }
        }
        match self.room {
            SocketCapacity::Free => Ok(()),
            SocketCapacity::Full => Err(StatusCode::SERVICE_UNAVAILABLE),
        }
    }
}

fn has_loopback_host(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
    let authority = host.and_then(|host| host.parse::<http::uri::Authority>().ok());
    authority.is_some_and(|authority| loopback_ip(authority.host()).is_some())
}

impl Callback for HandshakeCheck<'_> {
    fn on_request(self, request: &Request, response: Response) -> Result<Response, ErrorResponse> {
        if request.uri().path() == SEND_PATH {
            *self.purpose = SocketPurpose::Sender;
        }
        self.check(request.headers()).map(|()| response).map_err(|status| {
            let mut refused = ErrorResponse::new(None);
            *refused.status_mut() = status;
            refused
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use super::*;

    struct HandshakeCase<'a> {
        peer: &'a str,
        room: SocketCapacity,
        headers: &'a [(&'a str, &'a str)],
    }

    const GOOD: HandshakeCase<'_> = HandshakeCase {
        peer: "127.0.0.1",
        room: SocketCapacity::Free,
        headers: &[("host", "127.0.0.1:9473")],
    };

    fn answer(case: &HandshakeCase<'_>, token: Option<&Token>) -> u16 {
        let mut purpose = SocketPurpose::Client;
        let peer: IpAddr = case.peer.parse().unwrap();
        let check = HandshakeCheck { peer, room: case.room, token, purpose: &mut purpose };
        let mut request = Request::new(());
        for (name, value) in case.headers {
            let name = http::HeaderName::try_from(*name).unwrap();
            request.headers_mut().append(name, value.parse().unwrap());
        }
        match check.on_request(&request, Response::new(())) {
            Ok(_) => 101,
            Err(refused) => refused.status().as_u16(),
        }
    }

    #[test]
    fn programs_of_this_computer_come_in() {
        assert_eq!(answer(&GOOD, None), 101);
        for host in ["localhost:1", "[::1]:1"] {
            assert_eq!(answer(&HandshakeCase { headers: &[("host", host)], ..GOOD }, None), 101);
        }
        assert_eq!(answer(&HandshakeCase { peer: "::1", ..GOOD }, None), 101);
    }

    #[test]
    fn others_browsers_and_disguised_names_stay_out() {
        assert_eq!(answer(&HandshakeCase { peer: "192.168.1.7", ..GOOD }, None), 403);
        for headers in [
            &[("host", "127.0.0.1:9473"), ("origin", "https://evil.example")][..],
            &[("host", "127.0.0.1:9473"), ("origin", "null")],
            &[("host", "127.0.0.1:9473"), ("origin", "http://localhost")],
            &[("host", "127.0.0.1:9473"), ("origin", "tauri://localhost")],
            &[("host", "0.0.0.0:9473")],
            &[("host", "evil.example:9473")],
            &[("host", "127.0.0.1.evil.example")],
            &[],
        ] {
            assert_eq!(answer(&HandshakeCase { headers, ..GOOD }, None), 403, "{headers:?}");
        }
    }

    #[test]
    fn a_token_is_wanted_in_its_header() {
        let token = Token::new("s3cret").unwrap();
        let host = ("host", "127.0.0.1:9473");
        for (headers, expected) in [
            (&[host][..], 401),
            (&[host, ("authorization", "Bearer s3creT")], 401),
            (&[host, ("authorization", "Bearer s3cret")], 101),
        ] {
            assert_eq!(
                answer(&HandshakeCase { headers, ..GOOD }, Some(&token)),
                expected,
                "{headers:?}"
            );
        }
    }

    #[test]
    fn a_full_house_is_said_to_be_one() {
        assert_eq!(answer(&HandshakeCase { room: SocketCapacity::Full, ..GOOD }, None), 503);
    }
}
