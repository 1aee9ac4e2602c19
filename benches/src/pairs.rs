//! Two things measured in turn, so that whatever the machine does besides befalls both.

use std::time::{Duration, Instant};

/// What came of measuring something beside its rival.
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
    let (mut our_times, mut rival_times) = (Vec::new(), Vec::new());
    let warm_up = pairs / 10;
    for pair in 0..pairs + warm_up {
        let (our_time, rival_time) = if pair % 2 == 0 {
            let first = timed(&mut ours).await?;
            (first, timed(&mut rival).await?)
        } else {
            let first = timed(&mut rival).await?;
            (timed(&mut ours).await?, first)
        };
        if pair >= warm_up {
            our_times.push(our_time);
            rival_times.push(rival_time);
        }
    }
    Ok(Ratio { ours: median(our_times), rival: median(rival_times) })
}

async fn timed<E>(work: &mut impl AsyncFnMut() -> Result<(), E>) -> Result<Duration, E> {
    let began = Instant::now();
    work().await?;
    Ok(began.elapsed())
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default()
}
