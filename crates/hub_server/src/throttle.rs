//! How the hub shows notifications: not too many, not too fast, and without markup.

use std::collections::VecDeque;
use std::time::Duration;

use crate::{HubNotification, LocalHubLimits};

const MAX_SHOWN_PER_WINDOW: usize = 10;
const MAX_QUEUED: usize = 100;

/// Queued notifications, and when the last ones were shown.
#[derive(Debug)]
pub(crate) struct NotificationThrottle {
    gap: Duration,
    merge: Duration,
    window: Duration,
    queue: VecDeque<HubNotification>,
    shown: VecDeque<(Duration, String)>,
}

impl NotificationThrottle {
    pub(crate) const fn new(rules: &LocalHubLimits) -> Self {
        Self {
            gap: rules.notice_gap,
            merge: rules.notice_merge,
            window: rules.notice_window,
            queue: VecDeque::new(),
            shown: VecDeque::new(),
        }
    }

    /// Takes a notification. The second with a title that is queued or was just shown is lost.
    pub(crate) fn offer(&mut self, now: Duration, notice: HubNotification) {
        let (title, body) = (without_markup(&notice.title), without_markup(&notice.body));
        let waits = self.queue.iter().any(|other| other.title == title);
        let just_shown =
            self.shown.iter().any(|(at, other)| *other == title && *at + self.merge > now);
        if !waits && !just_shown && self.queue.len() < MAX_QUEUED {
            self.queue.push_back(HubNotification { title, body, ..notice });
        }
    }

    /// When the next one may be shown, if any waits.
    pub(crate) fn next_due(&self) -> Option<Duration> {
        self.queue.front()?;
        let after_last = self.shown.back().map_or(Duration::ZERO, |(at, _)| *at + self.gap);
        let after_window = match self.shown.front() {
            Some((at, _)) if self.shown.len() == MAX_SHOWN_PER_WINDOW => *at + self.window,
            _ => Duration::ZERO,
        };
        Some(after_last.max(after_window))
    }

    /// The next one to show, if its time has come.
    pub(crate) fn take_due(&mut self, now: Duration) -> Option<HubNotification> {
        self.next_due().filter(|due| *due <= now)?;
        let notice = self.queue.pop_front()?;
        self.shown.push_back((now, notice.title.clone()));
        if self.shown.len() > MAX_SHOWN_PER_WINDOW {
            self.shown.pop_front();
        }
        Some(notice)
    }
}

/// Takes out every `<…>`. A `<` without its `>` stays.
fn without_markup(text: &str) -> String {
    let mut kept = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('<') {
        let Some((_, behind)) = after.split_once('>') else { break };
        kept.push_str(before);
        rest = behind;
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use hub::Priority;

    use super::*;

    fn notice(title: &str) -> HubNotification {
        HubNotification { title: title.into(), body: "b".into(), priority: Priority::Normal }
    }

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// The times at which `count` notifications of distinct titles, offered at once, are shown.
    fn shown_at(count: usize) -> Vec<u64> {
        let mut notices = NotificationThrottle::new(&LocalHubLimits::default());
        for n in 0..count {
            notices.offer(Duration::ZERO, notice(&n.to_string()));
        }
        let mut times = Vec::new();
        while let Some(due) = notices.next_due() {
            let early = due.checked_sub(Duration::from_millis(1));
            assert_eq!(early.and_then(|early| notices.take_due(early)), None);
            assert!(notices.take_due(due).is_some());
            times.push(due.as_secs());
        }
        times
    }

    #[test]
    fn ten_a_minute_are_shown_a_second_apart() {
        let mut expected: Vec<u64> = (0..10).collect();
        expected.extend([60, 61, 62]);
        assert_eq!(shown_at(13), expected);
    }

    #[test]
    fn a_title_within_five_seconds_is_merged_and_later_it_is_not() {
        let mut notices = NotificationThrottle::new(&LocalHubLimits::default());
        notices.offer(secs(0), notice("Notes"));
        notices.offer(secs(0), notice("Notes"));
        assert!(notices.take_due(secs(0)).is_some());
        notices.offer(secs(4), notice("Notes"));
        assert_eq!(notices.next_due(), None);
        notices.offer(secs(5), notice("Notes"));
        assert!(notices.take_due(secs(5)).is_some());
    }

    #[test]
    fn markup_is_taken_out_and_a_lone_sign_is_not() {
        assert_eq!(without_markup("a <b>bold</b> word"), "a bold word");
        assert_eq!(without_markup("1 < 2 and no end"), "1 < 2 and no end");
        assert_eq!(without_markup("x > 1"), "x > 1");
    }
}
