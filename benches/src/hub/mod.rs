//! What the link to a hub costs: each figure beside the least that could be, in the same run.

mod ours;
mod rival;
mod wire;

use std::error::Error;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use hub::{HubEvent, LinkConfig};
use protocol::{HubState, Timestamp};
use store::{OutboxPush, Store};
use tokio::net::TcpListener;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::pairs::measure;
use crate::ranking::own_process::{anonymous, quantile};
use ours::{Place, rests};
use rival::{Commits, Echo};

/// So many messages are taken one after the other.
const MESSAGES: usize = 300;
/// So many come back through the link.
const ECHOES: usize = 2_000;
/// So often a hub goes and comes back.
const RETURNS: usize = 15;
/// So long it is away.
const AWAY: Duration = Duration::from_millis(600);
/// So many come at once.
const BURST: usize = 1_000;
/// So many notifications wait over a restart.
const QUEUED: usize = 10_000;

/// Prints the figures whose names begin with `wanted`.
pub(crate) async fn print(wanted: &str) -> ExitCode {
    let mut met = true;
    if "ack".starts_with(wanted) {
        met &= tell("ack", ack().await);
    }
    if "echo".starts_with(wanted) {
        met &= tell("echo", echo().await);
    }
    if "back".starts_with(wanted) {
        met &= tell("back", back().await);
    }
    if "burst".starts_with(wanted) {
        met &= tell("burst", burst().await);
    }
    if "queued".starts_with(wanted) {
        met &= tell("queued", queued().await);
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A figure, the bar for it, and what a reader may want to know besides.
struct Figure {
    value: f64,
    bar: f64,
    details: String,
}

type Taken = Result<Figure, Box<dyn Error>>;

fn tell(name: &str, taken: Taken) -> bool {
    match taken {
        Ok(Figure { value, bar, details }) => {
            let verdict = if value <= bar { "ok" } else { "MISSED" };
            println!("hub_{name} value={value:.3} bar={bar} {verdict} {details}");
            value <= bar
        }
        Err(why) => {
            println!("hub_{name} value=none MISSED not measured: {why}");
            false
        }
    }
}

/// From a frame to its acknowledgement, with the row on the disk between, beside one commit of such a
/// row that waits for the same disk. Slow ones are compared with slow ones.
async fn ack() -> Taken {
    let place = Place::new().await?;
    let (app, line) = tokio::join!(place.open(), wire::accept(&place.listener));
    let (app, mut line) = (app?, line.map_err(|why| why.to_string())?);
    let mut rival = Commits::in_folder(place.path()).await?;
    let (mut ours, mut commits) = (Vec::new(), Vec::new());
    for number in 0..MESSAGES + MESSAGES / 10 {
        let bytes = delivery(number)?;
        let began = Instant::now();
        line.write(&bytes).await.map_err(|why| why.to_string())?;
        while heard(&mut line).await? != "ack" {}
        let took = began.elapsed();
        rests(&app).await?;
        let began = Instant::now();
        rival.commit(number).await?;
        if number >= MESSAGES / 10 {
            ours.push(took);
            commits.push(began.elapsed());
        }
    }
    app.shutdown().await;
    let micros = |times: &[Duration], percent| quantile(times, percent).as_secs_f64() * 1e6;
    let [ours_99, commits_99] = [micros(&ours, 99), micros(&commits, 99)];
    let details = format!(
        "ours_p50_us={:.0} ours_p99_us={ours_99:.0} commit_p50_us={:.0} commit_p99_us={commits_99:.0}",
        micros(&ours, 50),
        micros(&commits, 50)
    );
    Ok(Figure { value: ours_99 / commits_99.max(f64::MIN_POSITIVE), bar: 3.0, details })
}

/// There and back through the link, beside the same bytes over bare sockets.
async fn echo() -> Taken {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let (tasks, cancel) = (TaskTracker::new(), CancellationToken::new());
    let config = LinkConfig::new(&format!("ws://{}", listener.local_addr()?), "Notes", "Keeps.")?;
    let (_link, events) = hub::start(&tasks, cancel.clone(), Some(config));
    tasks.spawn(acknowledge(events));
    let mut line = wire::accept(&listener).await.map_err(|why| why.to_string())?;
    let bytes = delivery(7)?;
    let mut rival = Echo::start(bytes.len()).await?;
    let ours = async || -> Result<(), Box<dyn Error>> {
        line.write(&bytes).await.map_err(|why| why.to_string())?;
        heard(&mut line).await.map(drop)
    };
    let ratio = measure(ECHOES, ours, async || rival.there_and_back().await).await?;
    cancel.cancel();
    let details = format!(
        "ours_us={:.1} tcp_us={:.1}",
        ratio.ours.as_secs_f64() * 1e6,
        ratio.rival.as_secs_f64() * 1e6
    );
    Ok(Figure { value: ratio.value(), bar: 2.0, details })
}

async fn acknowledge(mut events: mpsc::Receiver<HubEvent>) {
    while let Some(event) = events.recv().await {
        if let HubEvent::Message(message) = event {
            message.receipt.ack();
        }
    }
}

/// From the moment when a hub listens again to a link that dials, in milliseconds; the median of
/// many, as chance moves each. What follows is the connect itself.
async fn back() -> Taken {
    let (mut waits, mut connects) = (Vec::new(), Vec::new());
    for _ in 0..RETURNS {
        let (wait, connect) = one_return().await?;
        waits.push(wait);
        connects.push(connect);
    }
    let millis = |times: &[Duration], percent| quantile(times, percent).as_secs_f64() * 1e3;
    let details = format!(
        "away_ms={} longest_ms={:.0} connect_ms={:.2}",
        AWAY.as_millis(),
        millis(&waits, 99),
        millis(&connects, 50)
    );
    Ok(Figure { value: millis(&waits, 50), bar: 250.0, details })
}

/// A link whose hub goes and comes back: until it dials, and from there until it is online.
async fn one_return() -> Result<(Duration, Duration), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let (tasks, cancel) = (TaskTracker::new(), CancellationToken::new());
    let config = LinkConfig::new(&format!("ws://{address}"), "Notes", "Keeps.")?;
    let (_link, mut events) = hub::start(&tasks, cancel.clone(), Some(config));
    let line = wire::accept(&listener).await.map_err(|why| why.to_string())?;
    online(&mut events).await?;
    drop((line, listener));
    tokio::time::sleep(AWAY).await;
    let listener = TcpListener::bind(address).await?;
    let began = Instant::now();
    let (stream, _) = listener.accept().await?;
    let wait = began.elapsed();
    let _line = wire::register(stream).await.map_err(|why| why.to_string())?;
    online(&mut events).await?;
    cancel.cancel();
    Ok((wait, began.elapsed().saturating_sub(wait)))
}

async fn online(events: &mut mpsc::Receiver<HubEvent>) -> Result<(), Box<dyn Error>> {
    loop {
        match events.recv().await.ok_or("the link ended")? {
            HubEvent::Status(status) if status.state == HubState::Online => return Ok(()),
            _ => {}
        }
    }
}

/// A thousand messages at once: seconds until the last is acknowledged, and the memory it takes.
async fn burst() -> Taken {
    let place = Place::new().await?;
    let (app, line) = tokio::join!(place.open(), wire::accept(&place.listener));
    let (app, mut line) = (app?, line.map_err(|why| why.to_string())?);
    let mut bytes = Vec::new();
    for number in 0..BURST {
        bytes.extend(delivery(number)?);
    }
    let before = anonymous()?;
    let began = Instant::now();
    line.write(&bytes).await.map_err(|why| why.to_string())?;
    let mut acked = 0;
    while acked < BURST {
        acked += usize::from(heard(&mut line).await? == "ack");
    }
    let took = began.elapsed();
    let grown = anonymous()?.saturating_sub(before) >> 20;
    app.shutdown().await;
    let details = format!("messages={BURST} grown_mb={grown} bar_mb=64");
    let value = if grown < 64 { took.as_secs_f64() } else { f64::INFINITY };
    Ok(Figure { value, bar: 30.0, details })
}

/// How many of the notifications that wait are lost over a restart, or come in another order.
async fn queued() -> Taken {
    let place = Place::new().await?;
    let (app, line) = tokio::join!(place.open(), wire::accept(&place.listener));
    app?.shutdown().await;
    drop(line.map_err(|why| why.to_string())?);
    let store = Store::open(&place.database()?).await?;
    let at = Timestamp(jiff::Timestamp::now().as_millisecond());
    for number in 0..QUEUED {
        let push = OutboxPush {
            hub: "hub".into(),
            message_id: format!("m-{number}"),
            title: Some(format!("Number {number}")),
            body: "Saved.".into(),
            priority: "normal".into(),
            at,
        };
        store.outbox_push(&push).await?;
    }
    store.close().await;
    let began = Instant::now();
    let (app, line) = tokio::join!(place.open(), wire::accept(&place.listener));
    let (app, mut line) = (app?, line.map_err(|why| why.to_string())?);
    let first = line.heard().await.map_err(|why| why.to_string())?;
    let took = began.elapsed();
    app.shutdown().await;
    if first.pointer("/payload/messageId").and_then(serde_json::Value::as_str) != Some("m-0") {
        return Err(format!("the oldest goes first, not {first}").into());
    }
    let waiting = rival::waiting(&place.database()?).await?;
    // The first may have been noted as sent, or not yet.
    let lost = QUEUED.saturating_sub(waiting + 1);
    let details = format!("waiting={waiting} first_after_ms={:.0}", took.as_secs_f64() * 1e3);
    Ok(Figure { value: f64::from(u32::try_from(lost)?), bar: 0.0, details })
}

fn delivery(number: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = wire::delivery(&format!("m-{number}"), "remember to look at the harbour");
    bytes.map_err(|why| why.to_string().into())
}

/// What the next frame says about its message.
async fn heard(line: &mut wire::Line) -> Result<String, Box<dyn Error>> {
    let frame = line.heard().await.map_err(|why| why.to_string())?;
    let kind = frame.pointer("/payload/type").and_then(serde_json::Value::as_str);
    Ok(kind.unwrap_or_default().to_owned())
}
