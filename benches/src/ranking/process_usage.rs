//! The resource usage of this process so far, and the row that is made of it.

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};

/// Wall and processor time since a moment, all threads together.
pub(crate) struct ProcessTimer {
    began: Instant,
    used: Duration,
}

/// Of a pair the wall time is first, then the processor time. Sizes are in bytes.
pub(crate) struct CandidateFigures {
    pub(crate) build: (Duration, Duration),
    /// Of each changed note, until it was found.
    pub(crate) updates: Vec<Duration>,
    /// Of each query the processor time of the best round.
    pub(crate) queries: Vec<Duration>,
    pub(crate) disk: u64,
    /// Anonymous memory after all queries.
    pub(crate) memory: u64,
}

impl ProcessTimer {
    pub(crate) fn start() -> Self {
        Self { began: Instant::now(), used: cpu_time() }
    }

    /// Wall and processor time.
    pub(crate) fn elapsed(&self) -> (Duration, Duration) {
        (self.began.elapsed(), cpu_time().saturating_sub(self.used))
    }
}

/// The processor time of this process, all threads together.
pub(crate) fn cpu_time() -> Duration {
    let now = clock_gettime(ClockId::ProcessCPUTime);
    let (seconds, nanos) = (u64::try_from(now.tv_sec), u32::try_from(now.tv_nsec));
    Duration::new(seconds.unwrap_or_default(), nanos.unwrap_or_default())
}

impl fmt::Display for CandidateFigures {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (wall, used) = self.build;
        write!(
            to,
            "build_cpu_s={:.2} build_wall_s={:.2} update_ms={:.2} cpu_p50_us={:.0} cpu_p99_us={:.0} \
             disk_mb={:.1} anon_mb={:.1}",
            used.as_secs_f64(),
            wall.as_secs_f64(),
            quantile(&self.updates, 50).as_secs_f64() * 1e3,
            quantile(&self.queries, 50).as_secs_f64() * 1e6,
            quantile(&self.queries, 99).as_secs_f64() * 1e6,
            megabytes(self.disk),
            megabytes(self.memory),
        )
    }
}

#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

/// The least processor time of several rounds: the machine has other things to do as well.
pub(crate) fn best_cpu_time<E>(
    rounds: usize,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<Duration, E> {
    let mut best = Duration::MAX;
    for _ in 0..rounds {
        let began = cpu_time();
        work()?;
        best = best.min(cpu_time().saturating_sub(began));
    }
    Ok(best)
}

/// Of a hundred the one at this place.
pub(crate) fn quantile(times: &[Duration], percent: usize) -> Duration {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() * percent / 100).copied().unwrap_or_default()
}

/// The anonymous memory of this process, in bytes.
pub(crate) fn anonymous_memory() -> Result<u64, Box<dyn Error>> {
    let rollup = std::fs::read_to_string("/proc/self/smaps_rollup")?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Anonymous:"));
    let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB"));
    Ok(kilobytes.ok_or("the system does not say how much memory is anonymous")?.parse::<u64>()?
        << 10)
}

/// How many processes of the whole machine wanted to run in the last minute, on average.
pub(crate) fn load_average() -> String {
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    load.split(' ').next().unwrap_or_default().to_owned()
}

/// The size of all files in a folder, in bytes.
pub(crate) fn folder_size(folder: &Path) -> Result<u64, Box<dyn Error>> {
    let mut size = 0;
    for entry in std::fs::read_dir(folder)? {
        size += entry?.metadata()?.len();
    }
    Ok(size)
}
