//! What a turn costs beside a bare client that asks the same server: each figure a ratio.

mod ours;
mod rival;
mod server;
mod syncs;

use std::error::Error;
use std::process::ExitCode;
use std::time::Duration;

use ours::Ours;
use rival::Rival;
use server::{Server, call, said};

use crate::ranking::own_process::{anonymous, used};

pub(crate) use syncs::work;

/// So many turns are measured for the time of one.
const TURNS: usize = 60;

/// What a long conversation is compared at.
const EARLY: usize = 10;
const LATE: usize = 300;

/// Around these turns so many count, on either side.
const AROUND: usize = 5;

/// The answer that comes in pieces, and the length of a piece, in bytes.
const ANSWER: usize = 20_000;
const PIECE: usize = 4;

/// So often such an answer is read.
const ANSWERS: usize = 20;

/// So many turns memory is looked at over, in conversations of so many.
const MANY: usize = 10_000;
const CONVERSATION: usize = 50;

/// Prints the figures whose names begin with `wanted`; `turns` are for those of memory.
pub(crate) async fn print(wanted: &str, turns: Option<usize>) -> ExitCode {
    let mut met = true;
    if "own_time".starts_with(wanted) {
        met &= tell("own_time", 2.0, own_time().await);
    }
    if "growth".starts_with(wanted) {
        met &= tell("growth", 1.3, growth().await);
    }
    if "decode".starts_with(wanted) {
        met &= tell("decode", 2.0, decode().await);
    }
    if "memory".starts_with(wanted) {
        met &= tell("memory", 1.1, memory(turns.unwrap_or(MANY)).await);
    }
    if "fsyncs".starts_with(wanted) {
        met &= syncs::print();
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What was measured, what it is held against, and what a reader may want to know besides.
type Taken = Result<(f64, f64, String), Box<dyn Error>>;

fn tell(name: &str, bar: f64, taken: Taken) -> bool {
    match taken {
        Ok((ours, against, details)) => {
            let ratio = ours / against.max(f64::MIN_POSITIVE);
            let verdict = if ratio <= bar { "ok" } else { "MISSED" };
            println!("{name} ratio={ratio:.3} bar={bar} {verdict} {details}");
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
async fn own_time() -> Taken {
    let (server, others) = (Server::start(call).await?, Server::start(call).await?);
    let mut ours = Ours::asking(&server.url()).await?;
    ours.turn().await?;
    let mut rival = Rival::asking(&others.url(), &server.last_body()).await?;
    rival.turn().await?;
    server.take_gaps();
    others.take_gaps();
    for turn in 0..TURNS {
        if turn % 2 == 0 {
            ours.turn().await?;
            rival.turn().await?;
        } else {
            rival.turn().await?;
            ours.turn().await?;
        }
    }
    ours.close().await;
    let [ours, rival] = [median(server.take_gaps()), median(others.take_gaps())];
    Ok((ours, rival, format!("ours_us={:.0} rival_us={:.0}", ours * 1e6, rival * 1e6)))
}

/// The same time late in a conversation, beside early.
async fn growth() -> Taken {
    let server = Server::start(call).await?;
    let mut ours = Ours::asking(&server.url()).await?;
    for _ in 0..LATE + AROUND {
        ours.turn().await?;
    }
    ours.close().await;
    let gaps = server.take_gaps();
    let around =
        |turn: usize| median(gaps.get(turn - AROUND..turn + AROUND).unwrap_or_default().to_vec());
    let (late, early) = (around(LATE), around(EARLY));
    Ok((late, early, format!("late_us={:.0} early_us={:.0}", late * 1e6, early * 1e6)))
}

/// What a long answer in small pieces takes of the processor until it is in the feed, beside the
/// library for such streams alone; what short ones take is taken off both.
async fn decode() -> Taken {
    let mut costs = Vec::new();
    for answer in [ANSWER, PIECE] {
        let reply = move |_: &serde_json::Value| said(&"four".repeat(answer / PIECE), PIECE);
        let server = Server::start(reply).await?;
        let mut ours = Ours::asking(&server.url()).await?;
        ours.turn().await?;
        let mut rival = Rival::asking(&server.url(), &server.last_body()).await?;
        let (mut our_times, mut rival_times) = (Vec::new(), Vec::new());
        for _ in 0..ANSWERS {
            ours.begin_anew();
            let began = used();
            ours.turn().await?;
            our_times.push(used().saturating_sub(began));
            let began = used();
            rival.read_through().await?;
            rival_times.push(used().saturating_sub(began));
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

/// Anonymous memory after all turns, beside that after the first tenth.
#[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
async fn memory(turns: usize) -> Taken {
    let server = Server::start(call).await?;
    let mut ours = Ours::asking(&server.url()).await?;
    let mut tenths = Vec::new();
    for turn in 0..turns {
        if turn % CONVERSATION == 0 {
            ours.begin_anew();
        }
        ours.turn().await?;
        server.take_gaps();
        if (turn + 1) % (turns / 10).max(1) == 0 {
            tenths.push(anonymous()? as f64 / 1e6);
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
