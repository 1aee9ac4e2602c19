//! Whether a request that failed is sent again, and when. Pure: the spread is handed in.

use std::time::Duration;

use crate::model::ModelError;

/// How often one request is sent at most.
pub const MAX_ATTEMPTS: u32 = 3;

/// How often at most when each time another key failed: the pool of keys tries each of them once.
const MAX_ATTEMPTS_WITH_KEYS: u32 = 32;

/// How often at most when the user has waited for a whole deadline each time.
const MAX_ATTEMPTS_AFTER_TIMEOUT: u32 = 2;

/// A server is never waited for longer than this; one that asks for more is not asked again.
pub const MAX_WAIT: Duration = Duration::from_secs(60);

/// How often a server that loads its model is asked, and the wait between two times: ten minutes in
/// all, for a large model on a slow disk.
const MAX_ATTEMPTS_WHILE_LOADING: u32 = 300;
const WAIT_WHILE_LOADING: Duration = Duration::from_secs(2);

const FIRST_WAIT: Duration = Duration::from_secs(1);

/// How long to wait before the request is sent again, or `None` when it is not: the error is
/// final, or `attempts` (those made so far, at least 1) are used up.
///
/// The wait doubles from one second and is stretched by up to a quarter, by `spread` (255 is
/// the whole quarter), so that clients that failed together do not return together. It is never shorter than
/// what the server asked for; more than [`MAX_WAIT`] is final, because asking before that is refused
/// again. Another key is tried at once, and an outdated request is built again at once. A server that
/// loads its model is asked every two seconds, for ten minutes.
#[must_use]
pub fn next_delay(error: &ModelError, attempts: u32, spread: u8) -> Option<Duration> {
    if matches!(error, ModelError::Loading(_)) {
        return (attempts < MAX_ATTEMPTS_WHILE_LOADING).then_some(WAIT_WHILE_LOADING);
    }
    let most = match error {
        ModelError::Silent(_) => MAX_ATTEMPTS_AFTER_TIMEOUT,
        ModelError::KeyFailed(_) => MAX_ATTEMPTS_WITH_KEYS,
        _ => MAX_ATTEMPTS,
    };
    if attempts >= most {
        return None;
    }
    let asked_for = match error {
        ModelError::KeyFailed(_) | ModelError::Outdated(_) => return Some(Duration::ZERO),
        ModelError::RateLimit { retry_after, .. } | ModelError::Overloaded { retry_after, .. } => {
            retry_after.unwrap_or_default()
        }
        ModelError::Network(_)
        | ModelError::Silent(_)
        | ModelError::Unknown { retryable: true, .. } => Duration::ZERO,
        ModelError::Auth(_)
        | ModelError::InvalidRequest(_)
        | ModelError::NoModel(_)
        | ModelError::NoTools(_)
        | ModelError::NotSent(_)
        | ModelError::Loading(_)
        | ModelError::ContextExceeded { .. }
        | ModelError::Unknown { retryable: false, .. } => return None,
    };
    if asked_for > MAX_WAIT {
        return None;
    }
    let doubled = FIRST_WAIT * 2_u32.pow(attempts.saturating_sub(1));
    let ours = doubled + doubled / 4 * u32::from(spread) / u32::from(u8::MAX);
    Some(ours.max(asked_for).min(MAX_WAIT))
}

/// Whether a request that failed so the first time is sent again.
pub(crate) fn is_retryable(error: &ModelError) -> bool {
    next_delay(error, 1, 0).is_some()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn limited(seconds: u64) -> ModelError {
        let retry_after = Some(Duration::from_secs(seconds));
        ModelError::RateLimit { message: "slow down".into(), retry_after }
    }

    #[test]
    fn waits_double_and_the_third_attempt_is_the_last() {
        let lost = ModelError::Network("lost".into());
        let waits: Vec<_> = (1..=3).map(|attempts| next_delay(&lost, attempts, 0)).collect();
        assert_eq!(waits, [Some(Duration::from_secs(1)), Some(Duration::from_secs(2)), None]);
    }

    #[test]
    fn a_server_that_was_silent_for_a_whole_deadline_is_asked_once_more() {
        let silent = ModelError::Silent("silent".into());
        let waits: Vec<_> = (1..=2).map(|attempts| next_delay(&silent, attempts, 0)).collect();
        assert_eq!(waits, [Some(Duration::from_secs(1)), None]);
    }

    #[test]
    fn a_server_that_loads_its_model_is_asked_every_two_seconds_for_ten_minutes() {
        let loading = ModelError::Loading("".into());
        let waits = (1..).map_while(|attempts| next_delay(&loading, attempts, 255));
        let waits: Vec<_> = waits.take(1_000).collect();
        assert_eq!(waits, [Duration::from_secs(2); 299]);
    }

    #[test]
    fn what_the_server_asks_for_is_honoured_and_more_than_a_minute_is_final() {
        assert_eq!(next_delay(&limited(7), 1, 255), Some(Duration::from_secs(7)));
        assert_eq!(next_delay(&limited(0), 1, 0), Some(Duration::from_secs(1)));
        assert_eq!(next_delay(&limited(60), 1, 0), Some(MAX_WAIT));
        assert_eq!(next_delay(&limited(61), 1, 0), None);
    }

    #[test]
    fn another_key_and_a_request_built_again_are_tried_at_once() {
        let waits = |failed: &ModelError| {
            let waits = (1..).map_while(|attempts| next_delay(failed, attempts, 255));
            waits.take(1_000).collect::<Vec<_>>()
        };
        let outdated = ModelError::Outdated("".into());
        assert_eq!(waits(&outdated), [Duration::ZERO; 2], "within the attempts of others");
        let failed = ModelError::KeyFailed("".into());
        assert_eq!(waits(&failed), [Duration::ZERO; 31], "however many keys there are");
        // After keys that did not do, other errors have no attempts of their own.
        assert_eq!(next_delay(&ModelError::Network("".into()), 4, 0), None);
    }

    #[test]
    fn final_errors_are_never_sent_again() {
        let unknown = ModelError::Unknown { message: "".into(), retryable: false };
        for error in [
            ModelError::Auth("".into()),
            ModelError::InvalidRequest("".into()),
            ModelError::NoTools("".into()),
            ModelError::NotSent("".into()),
            ModelError::ContextExceeded { message: "".into(), window: None, prompt: None },
            unknown,
        ] {
            assert_eq!(next_delay(&error, 1, 0), None, "{error:?}");
        }
    }

    proptest! {
        #[test]
        fn a_wait_is_bounded_whatever_is_handed_in(
            attempts in any::<u32>(), spread in any::<u8>(), seconds in any::<u64>(),
        ) {
            if let Some(wait) = next_delay(&limited(seconds), attempts, spread) {
                prop_assert!(Duration::from_secs(seconds) <= MAX_WAIT);
                prop_assert!(attempts < MAX_ATTEMPTS);
                prop_assert!(wait >= FIRST_WAIT && wait <= MAX_WAIT);
            }
        }
    }
}
