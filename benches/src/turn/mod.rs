//! The cost of a turn compared with a bare client that uses the same server: each figure a ratio.

mod app_fixture;
mod bare_client;
mod fsync_count;
mod timing_server;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use app_fixture::TurnAppFixture;
use bare_client::BareClient;
use timing_server::{TimingServer, read_call_reply, text_reply};

use crate::ranking::process_usage::{anonymous_memory, cpu_time};

pub(crate) use fsync_count::run_turns;

/// So many turns are measured for the time of one.
const TURNS: usize = 60;

/// The early turn that a long conversation is compared with.
const EARLY_TURN: usize = 10;
const LATE_TURN: usize = 300;

/// Around these turns so many count, on either side.
const TURNS_AROUND: usize = 5;

/// The answer that comes in pieces, and the length of a piece, in bytes.
const ANSWER_BYTES: usize = 20_000;
const CHUNK_BYTES: usize = 4;

/// So often such an answer is read.
const ANSWER_COUNT: usize = 20;

/// So many turns memory is looked at over, in conversations of so many.
const MEMORY_TURNS: usize = 10_000;
const TURNS_PER_CONVERSATION: usize = 50;

/// Prints the figures whose names begin with `wanted`; `turns` are for those of memory.
pub(crate) async fn print(wanted: &str, turns: Option<usize>) -> ExitCode {
    let mut met = true;
    if "own_time".starts_with(wanted) {
        met &= print_figure("own_time", 2.0, measure_own_time().await);
    }
    if "growth".starts_with(wanted) {
        met &= print_figure("growth", 1.3, measure_growth().await);
    }
    if "decode".starts_with(wanted) {
        met &= print_figure("decode", 2.0, measure_decode().await);
    }
    if "memory".starts_with(wanted) {
        met &= print_figure("memory", 1.1, measure_memory(turns.unwrap_or(MEMORY_TURNS)).await);
    }
    if "fsyncs".starts_with(wanted) {
        met &= fsync_count::print();
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A measured value, its bar, and details for the reader.
type TurnMeasurement = Result<(f64, f64, String), Box<dyn Error>>;

fn print_figure(name: &str, bar: f64, taken: TurnMeasurement) -> bool {
    match taken {
        Ok((ours, against, details)) => {
            let ratio = ours / against.max(f64::MIN_POSITIVE);
            let result = if ratio <= bar { "ok" } else { "MISSED" };
            println!("{name} ratio={ratio:.3} bar={bar} {result} {details}");
            ratio <= bar
        }
        Err(why) => {
            println!("{name} ratio=none bar={bar} MISSED not measured: {why}");
            false
        }
    }
}

/// From the last byte of a call to the request with its result, over turns of one read each; ours
/// and the rival's in turn.
async fn measure_own_time() -> TurnMeasurement {
    let (server, others) =
        (TimingServer::start(read_call_reply).await?, TimingServer::start(read_call_reply).await?);
    let mut ours = TurnAppFixture::new(&server.url()).await?;
    ours.run_turn().await?;
    let mut rival = BareClient::new(&others.url(), &server.last_body()).await?;
    rival.run_turn().await?;
    server.take_gaps();
    others.take_gaps();
    for turn in 0..TURNS {
        if turn % 2 == 0 {
            ours.run_turn().await?;
            rival.run_turn().await?;
        } else {
            rival.run_turn().await?;
            ours.run_turn().await?;
        }
    }
    ours.close().await;
    let [ours, rival] = [median(server.take_gaps()), median(others.take_gaps())];
    Ok((ours, rival, format!("ours_us={:.0} rival_us={:.0}", ours * 1e6, rival * 1e6)))
}

/// The same time late in a conversation, compared with early.
async fn measure_growth() -> TurnMeasurement {
    let server = TimingServer::start(read_call_reply).await?;
    let mut ours = TurnAppFixture::new(&server.url()).await?;
    for _ in 0..LATE_TURN + TURNS_AROUND {
        ours.run_turn().await?;
    }
    ours.close().await;
    let gaps = server.take_gaps();
    let around = |turn: usize| {
        median(gaps.get(turn - TURNS_AROUND..turn + TURNS_AROUND).unwrap_or_default().to_vec())
    };
    let (late, early) = (around(LATE_TURN), around(EARLY_TURN));
    Ok((late, early, format!("late_us={:.0} early_us={:.0}", late * 1e6, early * 1e6)))
}

/// The processor time of a long answer in small pieces until it is in the feed, compared with the
/// library for such streams alone; the cost of short answers is subtracted from both.
async fn measure_decode() -> TurnMeasurement {
    let mut costs = Vec::new();
    for answer in [ANSWER_BYTES, CHUNK_BYTES] {
        let reply = move |_: &serde_json::Value| {
            text_reply(&"four".repeat(answer / CHUNK_BYTES), CHUNK_BYTES)
        };
        let server = TimingServer::start(reply).await?;
        let mut ours = TurnAppFixture::new(&server.url()).await?;
        ours.run_turn().await?;
        let mut rival = BareClient::new(&server.url(), &server.last_body()).await?;
        let (mut our_times, mut rival_times) = (Vec::new(), Vec::new());
        for _ in 0..ANSWER_COUNT {
            ours.start_conversation();
            let began = cpu_time();
            ours.run_turn().await?;
            our_times.push(cpu_time().saturating_sub(began));
            let began = cpu_time();
            rival.drain_answer().await?;
            rival_times.push(cpu_time().saturating_sub(began));
        }
        ours.close().await;
        costs.push((median(our_times), median(rival_times)));
    }
    let [(our_long, rival_long), (our_short, rival_short)] = costs[..] else {
        return Err("two answers were measured".into());
    };
    let (ours, rival) = (our_long - our_short, rival_long - rival_short);
    Ok((ours, rival, format!("ours_cpu_us={:.0} rival_cpu_us={:.0}", ours * 1e6, rival * 1e6)))
}

/// Anonymous memory after all turns, compared with that after the first tenth.
#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
async fn measure_memory(turns: usize) -> TurnMeasurement {
    let server = TimingServer::start(read_call_reply).await?;
    let mut ours = TurnAppFixture::new(&server.url()).await?;
    let mut tenths = Vec::new();
    for turn in 0..turns {
        if turn % TURNS_PER_CONVERSATION == 0 {
            ours.start_conversation();
        }
        ours.run_turn().await?;
        server.take_gaps();
        if (turn + 1) % (turns / 10).max(1) == 0 {
            tenths.push(anonymous_memory()? as f64 / 1e6);
        }
    }
    ours.close().await;
    let (Some(early), Some(late)) = (tenths.first(), tenths.last()) else {
        return Err("no turn was measured".into());
    };
    let megabytes: Vec<String> = tenths.iter().map(|size| format!("{size:.1}")).collect();
    let details = format!("turns={turns} mb={}", megabytes.join(","));
    Ok((*late, *early, details))
}

/// In seconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort_unstable();
    times.get(times.len() / 2).copied().unwrap_or_default().as_secs_f64()
}
