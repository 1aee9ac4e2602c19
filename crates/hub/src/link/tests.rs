//! The link's rules: as stories first, then as properties over any story. `Q-sequence-…` are the
//! scenarios by their ids.

use proptest::prelude::*;

use super::*;

const fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn at(now: Duration) -> Moment {
    Moment { now, chance: 0.0 }
}

/// A link after `inputs`, all at time zero.
fn after(inputs: &[Input]) -> Link {
    let mut link = Link::new(Timing::default());
    for input in inputs {
        link.step(at(Duration::ZERO), input.clone());
    }
    link
}

fn online() -> Link {
    after(&[Input::TurnOn, Input::Opened, Input::Registered])
}

/// The waits of a link whose every dial fails at once.
fn waits(count: usize, chance: f64) -> Vec<Duration> {
    waits_after(&Trouble::NoAnswer, count, chance)
}

fn waits_after(trouble: &Trouble, count: usize, chance: f64) -> Vec<Duration> {
    let mut link = after(&[Input::TurnOn]);
    let mut now = Duration::ZERO;
    let mut waits = Vec::new();
    while waits.len() < count {
        link.step(Moment { now, chance }, Input::Lost(trouble.clone()));
        let until = link.next_tick().unwrap();
        waits.push(until - now);
        now = until;
        assert_eq!(link.step(at(now), Input::Tick), [Effect::Announce, Effect::Dial]);
    }
    waits
}

#[test]
fn the_way_to_online_is_dial_register_and_the_hubs_word() {
    let mut link = Link::new(Timing::default());
    let mut step = |input| (link.step(at(Duration::ZERO), input), link.state());
    assert_eq!(step(Input::TurnOn), (vec![Effect::Announce, Effect::Dial], HubState::Connecting));
    let registering = (vec![Effect::Announce, Effect::Register], HubState::Registering);
    assert_eq!(step(Input::Opened), registering);
    assert_eq!(step(Input::Registered), (vec![Effect::Announce], HubState::Online));
    assert_eq!(step(Input::TurnOff), (vec![Effect::Close, Effect::Announce], HubState::Off));
}

#[test]
fn a_hub_that_is_started_again_on_this_computer_is_found_within_five_seconds() {
    for chance in [0.0, 0.5, 0.999] {
        let waits = waits_after(&Trouble::NotListening, 2_000, chance);
        assert!(waits.iter().all(|wait| *wait <= secs(5)), "{:?}", waits.iter().max());
        assert!(waits.iter().skip(5).all(|wait| *wait >= secs(3)), "the processor rests");
    }
    assert!(waits(30, 0.0).iter().any(|wait| *wait >= secs(60)), "the control: elsewhere");
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
fn a_minute_of_health_forgets_the_failures_and_less_does_not() {
    for (healthy, next) in [(60, Duration::from_millis(250)), (59, secs(2))] {
        let mut link = after(&[Input::TurnOn]);
        for _ in 0..4 {
            link.step(at(Duration::ZERO), Input::Lost(Trouble::NoAnswer));
            link.step(at(secs(1)), Input::Tick);
        }
        link.step(at(secs(1)), Input::Opened);
        link.step(at(secs(1)), Input::Registered);
        link.step(at(secs(1 + healthy)), Input::Lost(Trouble::Lost));
        assert_eq!(link.next_tick(), Some(secs(1 + healthy) + next));
    }
}

// Q-sequence-12, -13: found within 90 s, however its silence began.
#[test]
fn a_silent_hub_is_pinged_and_given_up() {
    let mut link = online();
    for due in [25, 50] {
        assert_eq!(link.next_tick(), Some(secs(due)));
        assert_eq!(link.step(at(secs(due)), Input::Tick), [Effect::Ping]);
    }
    assert_eq!(link.step(at(secs(60)), Input::Tick), [Effect::Drop, Effect::Announce]);
    assert_eq!((link.state(), link.trouble()), (HubState::Waiting, Some(&Trouble::Silent)));
}

#[test]
fn any_frame_keeps_the_link_alive() {
    let mut link = online();
    link.step(at(secs(59)), Input::Heard);
    link.step(at(secs(60)), Input::Tick);
    assert_eq!(link.state(), HubState::Online);
    assert_eq!(link.step(at(secs(119)), Input::Tick), [Effect::Drop, Effect::Announce]);
}

#[test]
fn handshake_and_registration_have_ten_seconds_each() {
    let mut link = after(&[Input::TurnOn]);
    assert_eq!(link.step(at(secs(9)), Input::Tick), []);
    assert_eq!(link.step(at(secs(10)), Input::Tick), [Effect::Drop, Effect::Announce]);
    let mut link = after(&[Input::TurnOn, Input::Opened]);
    assert_eq!(link.step(at(secs(9)), Input::Heard), []);
    assert_eq!(link.step(at(secs(10)), Input::Tick), [Effect::Close, Effect::Announce]);
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
        let mut link = after(&[Input::TurnOn, Input::Opened]);
        let effects = link.step(at(Duration::ZERO), Input::Declined(Trouble::declined(code)));
        assert_eq!(effects, [Effect::Close, Effect::Announce], "{code}");
        assert_eq!(link.state(), expected, "{code}");
    }
}

#[test]
fn a_forbidden_handshake_stops_until_the_user_retries() {
    let mut link = after(&[Input::TurnOn, Input::Lost(Trouble::Forbidden { status: 401 })]);
    assert_eq!((link.state(), link.next_tick()), (HubState::Refused, None));
    assert_eq!(link.step(at(secs(1)), Input::Wake), []);
    assert_eq!(link.step(at(secs(1)), Input::Retry), [Effect::Announce, Effect::Dial]);
}

#[test]
fn a_busy_hub_is_left_alone_for_as_long_as_it_asks_even_on_wake() {
    let busy = Trouble::Busy { retry_after: Some(secs(120)) };
    let mut link = after(&[Input::TurnOn, Input::Lost(busy)]);
    assert_eq!(link.next_tick(), Some(secs(120)));
    assert_eq!(link.step(at(secs(5)), Input::Wake), [Effect::Announce]);
    assert_eq!(link.step(at(secs(120)), Input::Tick), [Effect::Announce, Effect::Dial]);
    let mut endless = after(&[Input::TurnOn]);
    let busy = Trouble::Busy { retry_after: Some(Duration::MAX) };
    endless.step(at(Duration::ZERO), Input::Lost(busy));
    assert_eq!(endless.next_tick(), Some(secs(3600)));
}

#[test]
fn a_hub_that_sends_us_away_by_its_rules_is_asked_again_after_a_minute_even_on_wake() {
    let mut link = online();
    link.step(at(secs(1)), Input::Lost(Trouble::Closed { code: 1008 }));
    assert_eq!((link.state(), link.waits_until()), (HubState::Waiting, Some(secs(61))));
    link.step(at(secs(2)), Input::Wake);
    assert_eq!(link.waits_until(), Some(secs(61)));
    let mut link = online();
    link.step(at(secs(1)), Input::Lost(Trouble::Closed { code: 1011 }));
    assert_eq!(link.waits_until(), Some(Duration::from_millis(1250)), "any other code is no rule");
}

// Q-sequence-17: on wake at once; what seems alive has 5 s for a sign of life.
#[test]
fn waking_ends_the_wait_and_probes_what_seems_alive() {
    let mut link = after(&[Input::TurnOn]);
    for _ in 0..8 {
        link.step(at(Duration::ZERO), Input::Lost(Trouble::NoAnswer));
        let until = link.next_tick().unwrap();
        link.step(at(until), Input::Tick);
    }
    link.step(at(secs(40)), Input::Lost(Trouble::NoAnswer));
    assert_eq!(link.step(at(secs(41)), Input::Wake), [Effect::Announce, Effect::Dial]);

    let mut link = online();
    assert_eq!(link.step(at(secs(2)), Input::Wake), [Effect::Ping]);
    assert_eq!(link.step(at(secs(7)), Input::Tick), [Effect::Drop, Effect::Announce]);
}

#[test]
fn another_config_ends_the_old_socket_before_it_dials() {
    let expected = [Effect::Close, Effect::Announce, Effect::Dial];
    assert_eq!(online().step(at(secs(1)), Input::TurnOn), expected);
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
        link.step(Moment { now, chance: chance.f64() }, Input::Lost(Trouble::Lost));
        while now < back_after {
            now = link.next_tick().unwrap();
            assert_eq!(link.step(at(now), Input::Tick), [Effect::Announce, Effect::Dial]);
            if now < back_after {
                link.step(Moment { now, chance: chance.f64() }, Input::Lost(Trouble::NoAnswer));
            }
        }
        *came_back.entry(now.as_secs()).or_default() += 1;
    }
    assert!(came_back.values().all(|links| *links <= 10), "{came_back:?}");
}

// Q-sequence-16
/// How often a link dials in 40 minutes, a wake every second, when each socket ends as `end` says.
fn dials_of_a_restless_link(end: &[Input]) -> Vec<Duration> {
    let mut link = after(&[Input::TurnOn]);
    let mut dials = vec![Duration::ZERO];
    for now in (0..2400).map(secs) {
        for input in end.iter().chain([&Input::Wake]) {
            if link.step(at(now), input.clone()).contains(&Effect::Dial) {
                dials.push(now);
            }
        }
    }
    dials
}

#[test]
fn however_often_it_wakes_a_link_dials_twenty_times_in_ten_minutes() {
    let refused = vec![Input::Lost(Trouble::NoAnswer)];
    let flapping = vec![Input::Opened, Input::Registered, Input::Lost(Trouble::Lost)];
    for end in [refused, flapping] {
        let dials = dials_of_a_restless_link(&end);
        let in_window = |from: Duration| {
            dials.iter().filter(|dial| (from..from + secs(600)).contains(*dial)).count()
        };
        assert_eq!(in_window(Duration::ZERO), 20);
        assert!(dials.iter().all(|from| in_window(*from) <= 20), "{dials:?}");
    }
}

fn any_trouble() -> impl Strategy<Value = Trouble> {
    prop_oneof![
        4 => Just(Trouble::NoAnswer),
        4 => Just(Trouble::NotListening),
        2 => Just(Trouble::Lost),
        1 => Just(Trouble::Silent),
        1 => Just(Trouble::Forbidden { status: 403 }),
        1 => Just(Trouble::NameTaken),
        1 => Just(Trouble::NameRefused),
        1 => (0_u64..200).prop_map(|s| Trouble::Busy { retry_after: Some(secs(s)) }),
    ]
}

fn any_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        1 => Just(Input::TurnOn),
        1 => Just(Input::TurnOff),
        1 => Just(Input::Retry),
        3 => Just(Input::Wake),
        6 => Just(Input::Opened),
        6 => Just(Input::Registered),
        2 => Just(Input::Heard),
        1 => any_trouble().prop_map(Input::Declined),
        6 => any_trouble().prop_map(Input::Lost),
        6 => Just(Input::Tick),
    ]
}

/// Steps of time, an input, and the chance drawn for it. Sometimes exactly the wanted tick.
fn any_story() -> impl Strategy<Value = Vec<(Option<u64>, f64, Input)>> {
    let pass = prop_oneof![Just(None), (0_u64..90_000).prop_map(Some), (0_u64..50).prop_map(Some)];
    proptest::collection::vec((pass, 0.0..1.0, any_input()), 1..200)
}

/// What the driver would see: one socket at most, and the dials since the count began anew.
#[derive(Default)]
struct Watcher {
    socket: bool,
    registered: bool,
    dials: Vec<Duration>,
}

impl Watcher {
    fn see(&mut self, link: &Link, now: Duration, before: HubState, input: &Input, did: Effect) {
        match did {
            Effect::Dial => {
                assert!(!self.socket, "a second socket");
                let by_user = matches!(input, Input::TurnOn | Input::Retry);
                let idle = matches!(before, HubState::Off | HubState::Refused);
                assert!(by_user || !idle, "dialled by itself from {before:?}");
                self.socket = true;
                self.dials.push(now);
            }
            Effect::Register => {
                assert!(self.socket && !self.registered, "registered twice or without a socket");
                self.registered = true;
            }
            Effect::Ping => {
                assert_eq!(link.state(), HubState::Online, "sent before it was online");
                assert!(self.socket && self.registered);
            }
            Effect::Close | Effect::Drop => {
                assert!(self.socket, "nothing to end");
                self.socket = false;
                self.registered = false;
            }
            Effect::Announce => {}
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
        let mut link = Link::new(Timing::default());
        let mut watcher = Watcher::default();
        let mut now = Duration::ZERO;
        let mut online_since = None;
        for (pass, chance, input) in story {
            now = match pass {
                Some(millis) => now + Duration::from_millis(millis),
                None => link.next_tick().map_or(now, |tick| tick.max(now)),
            };
            let before = link.state();
            let healthy = online_since.is_some_and(|since| now - since >= secs(60));
            let effects = link.step(Moment { now, chance }, input.clone());
            let fresh = matches!(input, Input::TurnOn | Input::Retry) && effects.contains(&Effect::Dial);
            if fresh || (healthy && link.state() != HubState::Online) {
                watcher.dials.clear();
            }
            for effect in effects {
                watcher.see(&link, now, before, &input, effect);
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
        let mut link = Link::new(Timing::default());
        let mut now = Duration::ZERO;
        for (pass, chance, input) in story {
            now += Duration::from_millis(pass.unwrap_or_default());
            link.step(Moment { now, chance }, input);
            let idle = matches!(link.state(), HubState::Off | HubState::Refused);
            prop_assert_eq!(link.next_tick().is_none(), idle);
        }
        if link.state() == HubState::Waiting {
            let due = link.next_tick().unwrap().max(now);
            prop_assert!(due - now <= secs(3600));
            let effects = link.step(Moment { now: due, chance }, Input::Tick);
            prop_assert_eq!(effects, [Effect::Announce, Effect::Dial]);
        }
    }

    #[test]
    fn waits_stay_within_their_bounds(chance in 0.0..1.0, count in 1_usize..18) {
        for wait in waits(count, chance) {
            prop_assert!(wait >= Duration::from_millis(250) && wait <= secs(90));
        }
    }
}
