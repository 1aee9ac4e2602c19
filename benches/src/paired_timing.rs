//! Two things measured in turn, so that other work of the machine affects both.

use std::time::{Duration, Instant};

/// The result of measuring the product compared with its rival.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ratio {
    /// The median time of ours.
    pub(crate) ours: Duration,
    /// The median time of the rival.
    pub(crate) rival: Duration,
}

impl Ratio {
    /// How many times the rival's time ours is.
    #[must_use]
    pub(crate) fn value(self) -> f64 {
        self.ours.as_secs_f64() / self.rival.as_secs_f64().max(f64::MIN_POSITIVE)
    }
}

/// Times both so many times, in pairs whose order alternates; the first tenth warms up.
pub(crate) async fn measure<E>(
    pairs: usize,
    mut ours: impl AsyncFnMut() -> Result<(), E>,
    mut rival: impl AsyncFnMut() -> Result<(), E>,
) -> Result<Ratio, E> {
    let (ours, rival) = (async || time(&mut ours).await, async || time(&mut rival).await);
    measure_alternating(pairs, pairs / 10, ours, rival).await
}

/// Has both done so many times, in pairs whose order alternates, after so many that warm up; each
/// says how long it took.
pub(crate) async fn measure_alternating<E>(
    pairs: usize,
    warm_up: usize,
    mut ours: impl AsyncFnMut() -> Result<Duration, E>,
    mut rival: impl AsyncFnMut() -> Result<Duration, E>,
) -> Result<Ratio, E> {
    let (mut our_times, mut rival_times) = (Vec::new(), Vec::new());
    for pair in 0..pairs + warm_up {
        let (our_time, rival_time) = if pair % 2 == 0 {
            let first = ours().await?;
            (first, rival().await?)
        } else {
            let first = rival().await?;
            (ours().await?, first)
        };
        if pair >= warm_up {
            our_times.push(our_time);
            rival_times.push(rival_time);
        }
    }
    Ok(Ratio { ours: median(our_times), rival: median(rival_times) })
}

async fn time<E>(work: &mut impl AsyncFnMut() -> Result<(), E>) -> Result<Duration, E> {
    let began = Instant::now();
    work().await?;
    Ok(began.elapsed())
}

pub(crate) fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
