//! How busy a case keeps a core. Which one a thread runs on changes; that it runs does not, and it
//! runs on one at a time, so threads are what is watched.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

/// No thread may be busy with more than this share of a core for longer than [`LASTING`].
const SHARE: f64 = 0.5;
const LASTING: Duration = Duration::from_secs(2);

/// The kernel counts in hundredths of a second, on every Linux there is.
const TICKS: f64 = 100.0;

/// Seconds of processor time by thread.
type Used = HashMap<String, f64>;

/// Watches this process from now on, until it is dropped.
pub(super) struct Load {
    worst: Arc<Mutex<f64>>,
    _watching: JoinSet<()>,
}

impl Load {
    pub(super) fn watched() -> Self {
        let worst = Arc::new(Mutex::new(0.0));
        let (shared, mut watching) = (Arc::clone(&worst), JoinSet::new());
        watching.spawn(async move {
            let mut looks: VecDeque<(Instant, Used)> = VecDeque::new();
            loop {
                let (now, used) = (Instant::now(), used());
                if let Some((then, before)) = looks.front()
                    && now.duration_since(*then) > LASTING
                {
                    let share = busiest(before, &used) / now.duration_since(*then).as_secs_f64();
                    let mut worst = shared.lock().unwrap_or_else(PoisonError::into_inner);
                    *worst = share.max(*worst);
                    looks.pop_front();
                }
                looks.push_back((now, used));
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        });
        Self { worst, _watching: watching }
    }

    /// What is wrong with that.
    pub(super) fn complaint(&self) -> Option<String> {
        let worst = *self.worst.lock().unwrap_or_else(PoisonError::into_inner);
        (worst > SHARE).then(|| format!("it kept {worst:.2} of a core busy for {LASTING:?}"))
    }
}

/// The most that one thread took in between.
fn busiest(before: &Used, after: &Used) -> f64 {
    let spent = after.iter().map(|(thread, used)| used - before.get(thread).unwrap_or(&0.0));
    spent.fold(0.0, f64::max)
}

fn used() -> Used {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads
        .filter_map(|thread| {
            let stat = fs::read_to_string(thread.path().join("stat")).ok()?;
            // Fields 14 and 15 of proc(5); what follows the name begins with the third.
            let spent = stat.rsplit(')').next()?.split_whitespace().skip(11).take(2);
            let ticks: f64 = spent.filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
            Some((thread.file_name().to_string_lossy().into_owned(), ticks / TICKS))
        })
        .collect()
}
