//! Keys over any story.

use proptest::prelude::*;

use super::*;

const NOW: Duration = Duration::ZERO;

fn key(choice: KeyChoice) -> usize {
    match choice {
        KeyChoice::Key(key) => key,
        KeyChoice::Wait(wait) => panic!("nothing is ready for {wait:?}"),
    }
}

#[test]
fn failover_stays_with_a_key_until_it_is_refused_or_limited() {
    for fault in [KeyFault::Refused, KeyFault::Limited(None)] {
        let mut keys = KeyRotation::new(KeyPolicy::Failover, 3);
        assert_eq!((key(keys.select(1, NOW)), key(keys.select(2, NOW))), (0, 0));
        assert_eq!(keys.failed(2, 0, fault, NOW), KeyFallback::Another);
        assert_eq!((key(keys.select(2, NOW)), key(keys.select(3, NOW))), (1, 1));
    }
}

#[test]
fn one_waits_only_when_all_keys_rest_and_no_longer_than_the_first_of_them() {
    let mut keys = KeyRotation::new(KeyPolicy::Failover, 2);
    let limited = |seconds| KeyFault::Limited(Some(Duration::from_secs(seconds)));
    assert_eq!(keys.failed(1, 0, limited(9), NOW), KeyFallback::Another);
    let second = key(keys.select(1, NOW));
    assert_eq!(keys.failed(1, second, limited(4), NOW), KeyFallback::Nothing);
    assert_eq!(keys.select(1, Duration::from_secs(1)), KeyChoice::Wait(Duration::from_secs(3)));
    assert_eq!(keys.select(1, Duration::from_secs(4)), KeyChoice::Key(1));
}

#[test]
fn a_call_tries_each_key_once_also_when_the_rest_of_the_first_is_over() {
    let mut keys = KeyRotation::new(KeyPolicy::Failover, 4);
    for round in 1..=2 {
        let begin = Duration::from_secs(60 * round);
        let tried = (0..).map_while(|number: u64| {
            let now = begin + Duration::from_secs(number);
            let used = key(keys.select(1, now));
            let limited = KeyFault::Limited(Some(Duration::from_secs(1)));
            (keys.failed(1, used, limited, now) == KeyFallback::Another).then_some(used)
        });
        assert_eq!(tried.take(100).count(), 3, "the fourth is the last, also in round {round}");
    }
}

#[test]
fn a_key_may_be_limited_for_longer_than_any_clock_goes() {
    let mut keys = KeyRotation::new(KeyPolicy::Failover, 2);
    let for_ever = KeyFault::Limited(Some(Duration::MAX));
    assert_eq!(keys.failed(1, 0, for_ever, Duration::from_secs(1)), KeyFallback::Another);
    assert_eq!(keys.select(1, Duration::from_secs(2)), KeyChoice::Key(1));
}

#[test]
fn keys_that_are_all_refused_are_tried_again_by_the_next_call() {
    let mut keys = KeyRotation::new(KeyPolicy::Failover, 2);
    assert_eq!(keys.failed(1, 0, KeyFault::Refused, NOW), KeyFallback::Another);
    assert_eq!(keys.failed(1, 1, KeyFault::Refused, NOW), KeyFallback::Nothing);
    assert!(matches!(keys.select(2, NOW), KeyChoice::Key(_)));
}

fn policy() -> impl Strategy<Value = KeyPolicy> {
    prop_oneof![Just(KeyPolicy::Failover), Just(KeyPolicy::RoundRobin)]
}

proptest! {
    #[test]
    fn in_turn_each_healthy_key_is_used_as_often_as_any_other(
        count in 1_usize..8, refused in prop::collection::btree_set(0_usize..8, 0..7), calls in 0_usize..200,
    ) {
        let mut keys = KeyRotation::new(KeyPolicy::RoundRobin, count);
        let refused: Vec<usize> = refused.into_iter().filter(|key| *key < count).collect();
        prop_assume!(refused.len() < count);
        for key in &refused {
            keys.failed(0, *key, KeyFault::Refused, NOW);
        }
        let mut used = vec![0_usize; count];
        for call in 0..calls {
            used[key(keys.select(call as u64, NOW))] += 1;
        }
        let healthy = count - refused.len();
        for (key, used) in used.into_iter().enumerate() {
            if refused.contains(&key) {
                prop_assert_eq!(used, 0);
            } else {
                prop_assert!(used == calls / healthy || used == calls.div_ceil(healthy));
            }
        }
    }

    #[test]
    fn an_answer_that_is_malformed_never_changes_the_key(
        policy in policy(), count in 1_usize..6, between in 0_u64..20, call in 100_u64..200,
    ) {
        let mut keys = KeyRotation::new(policy, count);
        let first = key(keys.select(call, NOW));
        prop_assert_eq!(keys.failed(call, first, KeyFault::Other, NOW), KeyFallback::Nothing);
        for other in 0..between {
            keys.select(other, NOW);
        }
        prop_assert_eq!(keys.select(call, NOW), KeyChoice::Key(first));
    }

    #[test]
    fn a_wait_comes_only_while_no_key_is_ready(
        policy in policy(), count in 1_usize..6,
        story in prop::collection::vec((0_u64..4, 0_u8..4, 0_u64..40), 0..60),
    ) {
        let mut keys = KeyRotation::new(policy, count);
        let mut now = NOW;
        for (call, fault, seconds) in story {
            now += Duration::from_secs(seconds);
            match keys.select(call, now) {
                KeyChoice::Wait(wait) => {
                    prop_assert!(!keys.states.contains(&KeyState::Ready));
                    prop_assert!(matches!(keys.select(call, now + wait), KeyChoice::Key(_)));
                }
                KeyChoice::Key(key) => {
                    prop_assert!(keys.is_ready(key));
                    let fault = match fault {
                        0 => continue,
                        1 => KeyFault::Refused,
                        2 => KeyFault::Limited(Some(Duration::from_secs(seconds))),
                        _ => KeyFault::Other,
                    };
                    let left = keys.failed(call, key, fault, now);
                    let another = left == KeyFallback::Another;
                    prop_assert!(!another || matches!(keys.select(call, now), KeyChoice::Key(k) if k != key));
                }
            }
        }
    }
}
