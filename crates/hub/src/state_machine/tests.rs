//! The link's rules: as stories first, then as properties over any story. `Q-sequence-…` are the
//! scenarios by their ids.

use proptest::prelude::*;

use super::*;

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn at(now: Duration) -> StepContext {
    StepContext { now, chance: 0.0 }
}

/// A link after `inputs`, all at time zero.
fn after(inputs: &[LinkInput]) -> LinkStateMachine {
    let mut link = LinkStateMachine::new(LinkTiming::default());
    for input in inputs {
        link.step(at(Duration::ZERO), input.clone());
    }
    link
}

fn online() -> LinkStateMachine {
    after(&[LinkInput::TurnOn, LinkInput::Opened, LinkInput::Registered])
}

/// The waits of a link whose every dial fails at once.
fn waits(count: usize, chance: f64) -> Vec<Duration> {
    waits_after(&LinkError::NoAnswer, count, chance)
}

fn waits_after(trouble: &LinkError, count: usize, chance: f64) -> Vec<Duration> {
    let mut link = after(&[LinkInput::TurnOn]);
    let mut now = Duration::ZERO;
    let mut waits = Vec::new();
    while waits.len() < count {
        link.step(StepContext { now, chance }, LinkInput::Lost(trouble.clone()));
        let until = link.next_tick().unwrap();
        waits.push(until - now);
        now = until;
        assert_eq!(link.step(at(now), LinkInput::Tick), [LinkEffect::Announce, LinkEffect::Dial]);
    }
    waits
}

#[test]
fn the_way_to_online_is_dial_register_and_the_hubs_word() {
    let mut link = LinkStateMachine::new(LinkTiming::default());
    let mut step = |input| (link.step(at(Duration::ZERO), input), link.state());
    assert_eq!(
        step(LinkInput::TurnOn),
        (vec![LinkEffect::Announce, LinkEffect::Dial], HubState::Connecting)
    );
    let registering = (vec![LinkEffect::Announce, LinkEffect::Register], HubState::Registering);
    assert_eq!(step(LinkInput::Opened), registering);
    assert_eq!(step(LinkInput::Registered), (vec![LinkEffect::Announce], HubState::Online));
    assert_eq!(
        step(LinkInput::TurnOff),
        (vec![LinkEffect::Close, LinkEffect::Announce], HubState::Off)
    );
}

#[test]
fn a_hub_that_is_started_again_on_this_computer_is_found_within_five_seconds() {
    for chance in [0.0, 0.5, 0.999] {
        let waits = waits_after(&LinkError::NotListening, 2_000, chance);
        assert!(waits.iter().all(|wait| *wait <= secs(5)), "{:?}", waits.iter().max());
        assert!(waits.iter().skip(5).all(|wait| *wait >= secs(3)), "the processor rests");
    }
    assert!(waits(30, 0.0).iter().any(|wait| *wait >= secs(60)), "the control: elsewhere");
}

/// A link whose dials failed like this, that was then online for 20 seconds, until the hub closed it; and when.
fn closed_again(trouble: &LinkError, failures: usize) -> (LinkStateMachine, Duration) {
    let mut link = after(&[LinkInput::TurnOn]);
    let mut now = Duration::ZERO;
    for _ in 0..failures {
        link.step(at(now), LinkInput::Lost(trouble.clone()));
        now = link.next_tick().unwrap();
        link.step(at(now), LinkInput::Tick);
    }
    link.step(at(now), LinkInput::Opened);
    link.step(at(now), LinkInput::Registered);
    assert_eq!(link.state(), HubState::Online);
    now += secs(20);
    link.step(at(now), LinkInput::Lost(LinkError::Closed { code: 1001 }));
    (link, now)
}

#[test]
fn a_hub_on_this_computer_that_is_started_twice_in_a_minute_is_dialed_at_once_again() {
    let quick = Duration::from_millis(250);
    for failures in [0, 4, 10, 100] {
        let (mut link, closed) = closed_again(&LinkError::NotListening, failures);
        assert_eq!(link.next_tick(), Some(closed + quick), "{failures}");
        // Nobody listens yet.
        link.step(at(closed + quick), LinkInput::Tick);
        link.step(at(closed + quick), LinkInput::Lost(LinkError::NotListening));
        assert_eq!(link.next_tick(), Some(closed + quick + quick), "{failures}");
    }
    let (link, closed) = closed_again(&LinkError::NoAnswer, 10);
    assert_eq!(link.next_tick(), Some(closed + secs(60)), "the control: elsewhere");
}

#[test]
fn waits_grow_from_a_quarter_second_to_a_minute() {
    let expected = [250, 250, 250, 250, 2000, 4000, 8000, 16_000, 32_000, 60_000, 60_000];
    assert_eq!(waits(11, 0.0), expected.map(Duration::from_millis));
}

#[test]
fn chance_adds_up_to_half() {
    assert_eq!(waits(10, 0.5).last(), Some(&secs(75)));
    assert_eq!(waits(1, 0.999_999).first().map(Duration::as_millis), Some(374));
}

#[test]
fn failures_are_reset_after_a_minute_of_health_and_not_earlier() {
    for (healthy, next) in [(60, Duration::from_millis(250)), (59, secs(2))] {
        let mut link = after(&[LinkInput::TurnOn]);
        for _ in 0..4 {
            link.step(at(Duration::ZERO), LinkInput::Lost(LinkError::NoAnswer));
            link.step(at(secs(1)), LinkInput::Tick);
        }
        link.step(at(secs(1)), LinkInput::Opened);
        link.step(at(secs(1)), LinkInput::Registered);
        link.step(at(secs(1 + healthy)), LinkInput::Lost(LinkError::Lost));
        assert_eq!(link.next_tick(), Some(secs(1 + healthy) + next));
    }
}

// Q-sequence-12, -13: found within 90 s, however its silence began.
#[test]
fn a_silent_hub_is_pinged_and_given_up() {
    let mut link = online();
    for due in [25, 50] {
        assert_eq!(link.next_tick(), Some(secs(due)));
        assert_eq!(link.step(at(secs(due)), LinkInput::Tick), [LinkEffect::Ping]);
    }
    assert_eq!(link.step(at(secs(60)), LinkInput::Tick), [LinkEffect::Drop, LinkEffect::Announce]);
    assert_eq!((link.state(), link.last_error()), (HubState::Waiting, Some(&LinkError::Silent)));
}

#[test]
fn any_frame_keeps_the_link_alive() {
    let mut link = online();
    link.step(at(secs(59)), LinkInput::Heard);
    link.step(at(secs(60)), LinkInput::Tick);
    assert_eq!(link.state(), HubState::Online);
    assert_eq!(link.step(at(secs(119)), LinkInput::Tick), [LinkEffect::Drop, LinkEffect::Announce]);
}

#[test]
fn handshake_and_registration_have_ten_seconds_each() {
    let mut link = after(&[LinkInput::TurnOn]);
    assert_eq!(link.step(at(secs(9)), LinkInput::Tick), []);
    assert_eq!(link.step(at(secs(10)), LinkInput::Tick), [LinkEffect::Drop, LinkEffect::Announce]);
    let mut link = after(&[LinkInput::TurnOn, LinkInput::Opened]);
    assert_eq!(link.step(at(secs(9)), LinkInput::Heard), []);
    assert_eq!(link.step(at(secs(10)), LinkInput::Tick), [LinkEffect::Close, LinkEffect::Announce]);
}

#[test]
fn codes_that_need_the_user_stop_and_the_others_wait() {
    for (code, expected) in [
        ("INVALID_NAME", HubState::Refused),
        ("INVALID_DESCRIPTION", HubState::Refused),
        ("ALREADY_REGISTERED", HubState::Refused),
        ("VALIDATION_ERROR", HubState::Refused),
        ("DUPLICATE_NAME", HubState::Waiting),
        ("NEW_CODE", HubState::Waiting),
        ("", HubState::Waiting),
    ] {
        let mut link = after(&[LinkInput::TurnOn, LinkInput::Opened]);
        let effects =
            link.step(at(Duration::ZERO), LinkInput::Declined(LinkError::from_decline_code(code)));
        assert_eq!(effects, [LinkEffect::Close, LinkEffect::Announce], "{code}");
        assert_eq!(link.state(), expected, "{code}");
    }
}

#[test]
fn a_forbidden_handshake_stops_until_the_user_retries() {
    let mut link =
        after(&[LinkInput::TurnOn, LinkInput::Lost(LinkError::Forbidden { status: 401 })]);
    assert_eq!((link.state(), link.next_tick()), (HubState::Refused, None));
    assert_eq!(link.step(at(secs(1)), LinkInput::Wake), []);
    assert_eq!(link.step(at(secs(1)), LinkInput::Retry), [LinkEffect::Announce, LinkEffect::Dial]);
}

#[test]
fn a_busy_hub_is_left_alone_for_as_long_as_it_asks_even_on_wake() {
    let busy = LinkError::Busy { retry_after: Some(secs(120)) };
    let mut link = after(&[LinkInput::TurnOn, LinkInput::Lost(busy)]);
    assert_eq!(link.next_tick(), Some(secs(120)));
    assert_eq!(link.step(at(secs(5)), LinkInput::Wake), [LinkEffect::Announce]);
    assert_eq!(link.step(at(secs(120)), LinkInput::Tick), [LinkEffect::Announce, LinkEffect::Dial]);
    let mut endless = after(&[LinkInput::TurnOn]);
    let busy = LinkError::Busy { retry_after: Some(Duration::MAX) };
    endless.step(at(Duration::ZERO), LinkInput::Lost(busy));
    assert_eq!(endless.next_tick(), Some(secs(3600)));
}

#[test]
fn a_hub_that_sends_us_away_by_its_rules_is_dialed_again_after_a_minute_even_on_wake() {
    let mut link = online();
    link.step(at(secs(1)), LinkInput::Lost(LinkError::Closed { code: 1008 }));
    assert_eq!((link.state(), link.next_dial_at()), (HubState::Waiting, Some(secs(61))));
    link.step(at(secs(2)), LinkInput::Wake);
    assert_eq!(link.next_dial_at(), Some(secs(61)));
    let mut link = online();
    link.step(at(secs(1)), LinkInput::Lost(LinkError::Closed { code: 1011 }));
    assert_eq!(link.next_dial_at(), Some(Duration::from_millis(1250)), "any other code is no rule");
}

// Q-sequence-17: on wake at once; a link that seems alive has 5 s for a sign of life.
#[test]
fn waking_ends_the_wait_and_probes_what_seems_alive() {
    let mut link = after(&[LinkInput::TurnOn]);
    for _ in 0..8 {
        link.step(at(Duration::ZERO), LinkInput::Lost(LinkError::NoAnswer));
        let until = link.next_tick().unwrap();
        link.step(at(until), LinkInput::Tick);
    }
    link.step(at(secs(40)), LinkInput::Lost(LinkError::NoAnswer));
    assert_eq!(link.step(at(secs(41)), LinkInput::Wake), [LinkEffect::Announce, LinkEffect::Dial]);

    let mut link = online();
    assert_eq!(link.step(at(secs(2)), LinkInput::Wake), [LinkEffect::Ping]);
    assert_eq!(link.step(at(secs(7)), LinkInput::Tick), [LinkEffect::Drop, LinkEffect::Announce]);
}

#[test]
fn another_config_ends_the_old_socket_before_it_dials() {
    let expected = [LinkEffect::Close, LinkEffect::Announce, LinkEffect::Dial];
    assert_eq!(online().step(at(secs(1)), LinkInput::TurnOn), expected);
}

// Q-sequence-15
#[test]
fn fifty_links_that_lost_one_hub_do_not_come_back_in_one_second() {
    let mut chance = fastrand::Rng::with_seed(7);
    let back_after = secs(45);
    let mut came_back = std::collections::BTreeMap::<u64, usize>::new();
    for _ in 0..50 {
        let mut link = online();
        let mut now = secs(1);
        link.step(StepContext { now, chance: chance.f64() }, LinkInput::Lost(LinkError::Lost));
        while now < back_after {
            now = link.next_tick().unwrap();
            assert_eq!(
                link.step(at(now), LinkInput::Tick),
                [LinkEffect::Announce, LinkEffect::Dial]
            );
            if now < back_after {
                link.step(
                    StepContext { now, chance: chance.f64() },
                    LinkInput::Lost(LinkError::NoAnswer),
                );
            }
        }
        *came_back.entry(now.as_secs()).or_default() += 1;
    }
    assert!(came_back.values().all(|links| *links <= 10), "{came_back:?}");
}

// Q-sequence-16
/// How often a link dials in 40 minutes, a wake every second, when each socket ends as `end` says.
fn dials_of_a_restless_link(end: &[LinkInput]) -> Vec<Duration> {
    let mut link = after(&[LinkInput::TurnOn]);
    let mut dials = vec![Duration::ZERO];
    for now in (0..2400).map(secs) {
        for input in end.iter().chain([&LinkInput::Wake]) {
            if link.step(at(now), input.clone()).contains(&LinkEffect::Dial) {
                dials.push(now);
            }
        }
    }
    dials
}

#[test]
fn however_often_it_wakes_a_link_dials_twenty_times_in_ten_minutes() {
    let refused = vec![LinkInput::Lost(LinkError::NoAnswer)];
    let flapping = vec![LinkInput::Opened, LinkInput::Registered, LinkInput::Lost(LinkError::Lost)];
    for end in [refused, flapping] {
        let dials = dials_of_a_restless_link(&end);
        let in_window = |from: Duration| {
            dials.iter().filter(|dial| (from..from + secs(600)).contains(*dial)).count()
        };
        assert_eq!(in_window(Duration::ZERO), 20);
        assert!(dials.iter().all(|from| in_window(*from) <= 20), "{dials:?}");
    }
}

fn any_trouble() -> impl Strategy<Value = LinkError> {
    prop_oneof![
        4 => Just(LinkError::NoAnswer),
        4 => Just(LinkError::NotListening),
        2 => Just(LinkError::Lost),
        1 => Just(LinkError::Silent),
        1 => Just(LinkError::Forbidden { status: 403 }),
        1 => Just(LinkError::NameTaken),
        1 => Just(LinkError::NameRefused),
        1 => (0_u64..200).prop_map(|s| LinkError::Busy { retry_after: Some(secs(s)) }),
    ]
}

fn any_input() -> impl Strategy<Value = LinkInput> {
    prop_oneof![
        1 => Just(LinkInput::TurnOn),
        1 => Just(LinkInput::TurnOff),
        1 => Just(LinkInput::Retry),
        3 => Just(LinkInput::Wake),
        6 => Just(LinkInput::Opened),
        6 => Just(LinkInput::Registered),
        2 => Just(LinkInput::Heard),
        1 => any_trouble().prop_map(LinkInput::Declined),
        6 => any_trouble().prop_map(LinkInput::Lost),
        6 => Just(LinkInput::Tick),
    ]
}

/// Steps of time, an input, and the chance drawn for it. Sometimes exactly the wanted tick.
fn any_story() -> impl Strategy<Value = Vec<(Option<u64>, f64, LinkInput)>> {
    let pass = prop_oneof![Just(None), (0_u64..90_000).prop_map(Some), (0_u64..50).prop_map(Some)];
    proptest::collection::vec((pass, 0.0..1.0, any_input()), 1..200)
}

/// The driver's view: one socket at most, and the dials since the count was reset.
#[derive(Default)]
struct LinkObserver {
    socket: bool,
    registered: bool,
    dials: Vec<Duration>,
}

impl LinkObserver {
    fn observe(
        &mut self,
        link: &LinkStateMachine,
        now: Duration,
        before: HubState,
        input: &LinkInput,
        did: LinkEffect,
    ) {
        match did {
            LinkEffect::Dial => {
                assert!(!self.socket, "a second socket");
                let by_user = matches!(input, LinkInput::TurnOn | LinkInput::Retry);
                let idle = matches!(before, HubState::Off | HubState::Refused);
                assert!(by_user || !idle, "dialled automatically from {before:?}");
                self.socket = true;
                self.dials.push(now);
            }
            LinkEffect::Register => {
                assert!(self.socket && !self.registered, "registered twice or without a socket");
                self.registered = true;
            }
            LinkEffect::Ping => {
                assert_eq!(link.state(), HubState::Online, "sent before it was online");
                assert!(self.socket && self.registered);
            }
            LinkEffect::Close | LinkEffect::Drop => {
                assert!(self.socket, "nothing to end");
                self.socket = false;
                self.registered = false;
            }
            LinkEffect::Announce => {}
        }
    }

    fn check_dials(&self, now: Duration) {
        let recent = self.dials.iter().filter(|dial| **dial + secs(600) > now).count();
        assert!(recent <= 20, "{recent} dials in ten minutes");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(100))]

    #[test]
    fn in_any_story_there_is_one_socket_and_nothing_goes_out_before_online(story in any_story()) {
        let mut link = LinkStateMachine::new(LinkTiming::default());
        let mut watcher = LinkObserver::default();
        let mut now = Duration::ZERO;
        let mut online_since = None;
        for (pass, chance, input) in story {
            now = match pass {
                Some(millis) => now + Duration::from_millis(millis),
                None => link.next_tick().map_or(now, |tick| tick.max(now)),
            };
            let before = link.state();
            let healthy = online_since.is_some_and(|since| now - since >= secs(60));
            let effects = link.step(StepContext { now, chance }, input.clone());
            let fresh = matches!(input, LinkInput::TurnOn | LinkInput::Retry) && effects.contains(&LinkEffect::Dial);
            if fresh || (healthy && link.state() != HubState::Online) {
                watcher.dials.clear();
            }
            for effect in effects {
                watcher.observe(&link, now, before, &input, effect);
            }
            watcher.check_dials(now);
            let has_socket = matches!(
                link.state(),
                HubState::Connecting | HubState::Registering | HubState::Online
            );
            prop_assert_eq!(has_socket, watcher.socket);
            online_since = (link.state() == HubState::Online).then(|| online_since.unwrap_or(now));
        }
    }

    #[test]
    fn in_any_story_a_waiting_link_has_a_time_to_dial_and_keeps_it(
        story in any_story(), chance in 0.0..1.0,
    ) {
        let mut link = LinkStateMachine::new(LinkTiming::default());
        let mut now = Duration::ZERO;
        for (pass, chance, input) in story {
            now += Duration::from_millis(pass.unwrap_or_default());
            link.step(StepContext { now, chance }, input);
            let idle = matches!(link.state(), HubState::Off | HubState::Refused);
            prop_assert_eq!(link.next_tick().is_none(), idle);
        }
        if link.state() == HubState::Waiting {
            let due = link.next_tick().unwrap().max(now);
            prop_assert!(due - now <= secs(3600));
            let effects = link.step(StepContext { now: due, chance }, LinkInput::Tick);
            prop_assert_eq!(effects, [LinkEffect::Announce, LinkEffect::Dial]);
        }
    }

    #[test]
    fn waits_stay_within_their_bounds(chance in 0.0..1.0, count in 1_usize..18) {
        for wait in waits(count, chance) {
            prop_assert!(wait >= Duration::from_millis(250) && wait <= secs(90));
        }
    }
}
