//! How busy a case keeps a core. Which one a thread runs on changes; that it runs does not, and it
//! runs on one at a time, so threads are what is watched.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;

/// No thread may be busy with more than this share of a core for longer than [`MAX_BUSY_TIME`].
const MAX_CPU_SHARE: f64 = 0.5;
const MAX_BUSY_TIME: Duration = Duration::from_secs(2);

/// The kernel counts in hundredths of a second, on every Linux there is.
const TICKS_PER_SECOND: f64 = 100.0;

/// Seconds of processor time by thread.
type ThreadCpuTimes = HashMap<String, f64>;

/// Watches this process from now on, until it is dropped.
pub(super) struct CpuLoadMonitor {
    worst: Arc<Mutex<f64>>,
    _watching: JoinSet<()>,
}

impl CpuLoadMonitor {
    pub(super) fn start() -> Self {
        let worst = Arc::new(Mutex::new(0.0));
        let (shared, mut watching) = (Arc::clone(&worst), JoinSet::new());
        watching.spawn(async move {
            let mut looks: VecDeque<(Instant, ThreadCpuTimes)> = VecDeque::new();
            loop {
                let (now, used) = (Instant::now(), thread_cpu_times());
                if let Some((then, before)) = looks.front()
                    && now.duration_since(*then) > MAX_BUSY_TIME
                {
                    let share =
                        max_thread_time(before, &used) / now.duration_since(*then).as_secs_f64();
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

    /// The problem with that, if any.
    pub(super) fn complaint(&self) -> Option<String> {
        let worst = *self.worst.lock().unwrap_or_else(PoisonError::into_inner);
        (worst > MAX_CPU_SHARE)
            .then(|| format!("it kept {worst:.2} of a core busy for {MAX_BUSY_TIME:?}"))
    }
}

/// The most that one thread took in between.
fn max_thread_time(before: &ThreadCpuTimes, after: &ThreadCpuTimes) -> f64 {
    let spent = after.iter().map(|(thread, used)| used - before.get(thread).unwrap_or(&0.0));
    spent.fold(0.0, f64::max)
}

fn thread_cpu_times() -> ThreadCpuTimes {
    let threads = fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    threads
        .filter_map(|thread| {
            let stat = fs::read_to_string(thread.path().join("stat")).ok()?;
            // Fields 14 and 15 of proc(5); what follows the name begins with the third.
            let spent = stat.rsplit(')').next()?.split_whitespace().skip(11).take(2);
            let ticks: f64 = spent.filter_map(|ticks| ticks.parse::<f64>().ok()).sum();
            Some((thread.file_name().to_string_lossy().into_owned(), ticks / TICKS_PER_SECOND))
        })
        .collect()
}
