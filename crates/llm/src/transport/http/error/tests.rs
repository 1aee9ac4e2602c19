//! Each failure as the error a caller can act on.

use reqwest::header::RETRY_AFTER;

use super::*;

const KEY: &str = "sk-CANARY-7f3a";

fn failures() -> RequestErrors {
    RequestErrors {
        api: &crate::providers::anthropic::API,
        host: "Anthropic".into(),
        model: "claude-x".into(),
        is_local: false,
        key: KEY.into(),
    }
}

fn status(code: u16, body: &str) -> ModelError {
    let status = StatusCode::from_u16(code).unwrap();
    failures().status(status, &HeaderMap::new(), body.as_bytes())
}

fn body(kind: &str, message: &str) -> String {
    serde_json::json!({"type": "error", "error": {"type": kind, "message": message}}).to_string()
}

#[test]
fn each_status_says_what_to_do() {
    for (code, body, says) in [
        (400, body("invalid_request_error", "odd"), "Anthropic refused the request (odd)."),
        (400, body("invalid_request_error", "prompt is too long: 9"), "Start a new one"),
        (401, String::new(), "didn’t accept the API key. Check it, or use another one"),
        (403, body("permission_error", "no"), "This API key doesn’t have permission (no)"),
        (402, String::new(), "has no credit left. Add credit there"),
        (
            404,
            body("not_found_error", "x"),
            "doesn’t know the model `claude-x`. Choose another one",
        ),
        (404, String::new(), "perhaps because of its tools. Choose another model in Settings"),
        (407, String::new(), "proxy that requires a login"),
        (302, String::new(), "redirects to another address"),
        (418, String::new(), "answered with status 418"),
        (429, body("rate_limit_error", "slow"), "Too many requests for this API key (slow)"),
        (500, String::new(), "Anthropic reported an error. Try again"),
        (511, String::new(), "requires you to sign in"),
        (529, String::new(), "overloaded"),
    ] {
        let error = status(code, &body).to_string();
        assert!(error.contains(says), "{code}: {error}");
    }
}

#[test]
fn a_status_is_sent_again_only_where_that_may_help() {
    for (code, again) in [
        (400, false),
        (401, false),
        (403, false),
        (404, false),
        (407, false),
        (408, true),
        (409, true),
        (413, false),
        (418, false),
        (422, false),
        (429, true),
        (500, true),
        (502, true),
        (503, true),
        (511, false),
        (529, true),
        (307, false),
    ] {
        let wait = crate::transport::retry::next_delay(&status(code, "<html>"), 1, 0);
        assert_eq!(wait.is_some(), again, "{code}");
    }
}

#[test]
fn a_server_that_asks_for_too_long_a_wait_is_told_with_the_time_and_not_asked_again() {
    for (seconds, says) in [
        ("60", "Wait a little"),
        ("61", "Try again in 2 min"),
        ("5400", "Try again in 90 min"),
        ("86400", "Try again in 24 h"),
    ] {
        for code in [429, 503] {
            let headers = HeaderMap::from_iter([(RETRY_AFTER, seconds.parse().unwrap())]);
            let status = StatusCode::from_u16(code).unwrap();
            let error = failures().status(status, &headers, b"");
            assert!(error.to_string().contains(says), "{seconds}: {error}");
            let wait = crate::transport::retry::next_delay(&error, 1, 0);
            assert_eq!(wait.is_some(), says == "Wait a little", "{seconds}");
        }
    }
}

#[test]
fn an_error_inside_a_stream_is_read_by_its_type() {
    let reported = |kind: &str| {
        let trouble = ErrorBody { kind: kind.into(), message: "m".into(), ..ErrorBody::default() };
        failures().decode(DecodeError::Reported(trouble))
    };
    assert!(matches!(reported("overloaded_error"), ModelError::Overloaded { .. }));
    assert!(matches!(reported("authentication_error"), ModelError::Auth(_)));
    assert!(matches!(reported("brand_new_error"), ModelError::Unknown { retryable: true, .. }));
}

#[test]
fn a_key_that_the_server_echoes_is_taken_out() {
    let error = status(400, &body("invalid_request_error", &format!("key {KEY} is odd")));
    assert_eq!(error.to_string(), "Anthropic refused the request (key [key] is odd).");
    assert!(!format!("{:?}", failures()).contains(KEY));
}

#[test]
fn a_servers_message_is_quoted_short_and_on_one_line() {
    let error = status(400, &body("invalid_request_error", &"a\n".repeat(1000))).to_string();
    assert!(error.len() < 400 && !error.contains('\n'), "{error}");
}

#[test]
fn retry_after_is_seconds_or_a_date() {
    let now: jiff::Timestamp = "2015-10-21T07:27:50Z".parse().unwrap();
    let date = "Wed, 21 Oct 2015 07:28:00 GMT";
    assert_eq!(parse_retry_after("2", now), Some(Duration::from_secs(2)));
    assert_eq!(parse_retry_after(date, now), Some(Duration::from_secs(10)));
    assert_eq!(parse_retry_after(date, now + Duration::from_secs(60)), Some(Duration::ZERO));
    assert_eq!(parse_retry_after("1e9", now), Some(Duration::from_secs(1_000_000_000)));
    for odd in ["", "soon", "-1", "NaN", "inf"] {
        assert_eq!(parse_retry_after(odd, now), None, "{odd}");
    }
}

#[test]
fn retry_after_reaches_the_error() {
    let headers = HeaderMap::from_iter([(RETRY_AFTER, "7".parse().unwrap())]);
    let error = failures().status(StatusCode::TOO_MANY_REQUESTS, &headers, b"");
    let expected = Some(Duration::from_secs(7));
    assert!(matches!(error, ModelError::RateLimit { retry_after, .. } if retry_after == expected));
}
