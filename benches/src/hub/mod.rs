//! The cost of the link to a hub: each figure compared with the least possible cost, in the same
//! run.

mod app_fixture;
mod baseline;
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

use crate::paired_timing::measure;
use crate::ranking::process_usage::{anonymous_memory, quantile};
use app_fixture::{HubAppFixture, wait_until_idle};
use baseline::{BareCommits, BareEcho};

/// So many messages are taken one after the other.
const MESSAGES: usize = 300;
/// How many messages return through the link.
const ECHO_COUNT: usize = 2_000;
/// How often a hub goes and returns.
const RECONNECT_COUNT: usize = 15;
/// So long it is away.
const DOWNTIME: Duration = Duration::from_millis(600);
/// So many come at once.
const BURST_MESSAGES: usize = 1_000;
/// So many notifications wait over a restart.
const QUEUED_NOTIFICATIONS: usize = 10_000;

/// Prints the figures whose names begin with `wanted`.
pub(crate) async fn print(wanted: &str) -> ExitCode {
    let mut met = true;
    if "ack".starts_with(wanted) {
        met &= print_figure("ack", measure_ack().await);
    }
    if "echo".starts_with(wanted) {
        met &= print_figure("echo", measure_echo().await);
    }
    if "back".starts_with(wanted) {
        met &= print_figure("back", measure_reconnect().await);
    }
    if "burst".starts_with(wanted) {
        met &= print_figure("burst", measure_burst().await);
    }
    if "queued".starts_with(wanted) {
        met &= print_figure("queued", measure_queued().await);
    }
    if met { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// A figure, its bar, and details for the reader.
struct HubFigure {
    value: f64,
    bar: f64,
    details: String,
}

type HubMeasurement = Result<HubFigure, Box<dyn Error>>;

fn print_figure(name: &str, taken: HubMeasurement) -> bool {
    match taken {
        Ok(HubFigure { value, bar, details }) => {
            let result = if value <= bar { "ok" } else { "MISSED" };
            println!("hub_{name} value={value:.3} bar={bar} {result} {details}");
            value <= bar
        }
        Err(why) => {
            println!("hub_{name} value=none MISSED not measured: {why}");
            false
        }
    }
}

/// From a frame to its acknowledgment, with the row on the disk between, compared with one commit
/// of such a row that waits for the same disk. Slow ones are compared with slow ones.
async fn measure_ack() -> HubMeasurement {
    let place = HubAppFixture::new().await?;
    let (app, line) = tokio::join!(place.open_app(), wire::accept(&place.listener));
    let (app, mut line) = (app?, line.map_err(|why| why.to_string())?);
    let mut rival = BareCommits::in_folder(place.folder()).await?;
    let (mut ours, mut commits) = (Vec::new(), Vec::new());
    for number in 0..MESSAGES + MESSAGES / 10 {
        let bytes = delivery(number)?;
        let began = Instant::now();
        line.write(&bytes).await.map_err(|why| why.to_string())?;
        while next_message_id(&mut line).await? != "ack" {}
        let took = began.elapsed();
        wait_until_idle(&app).await?;
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
    Ok(HubFigure { value: ours_99 / commits_99.max(f64::MIN_POSITIVE), bar: 3.0, details })
}

/// There and back through the link, compared with the same bytes over bare sockets.
async fn measure_echo() -> HubMeasurement {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let (tasks, cancel) = (TaskTracker::new(), CancellationToken::new());
    let config = LinkConfig::new(&format!("ws://{}", listener.local_addr()?), "Notes", "Keeps.")?;
    let (_link, events) = hub::start(&tasks, cancel.clone(), Some(config));
    tasks.spawn(acknowledge(events));
    let mut line = wire::accept(&listener).await.map_err(|why| why.to_string())?;
    let bytes = delivery(7)?;
    let mut rival = BareEcho::start(bytes.len()).await?;
    let ours = async || -> Result<(), Box<dyn Error>> {
        line.write(&bytes).await.map_err(|why| why.to_string())?;
        next_message_id(&mut line).await.map(drop)
    };
    let ratio = measure(ECHO_COUNT, ours, async || rival.round_trip().await).await?;
    cancel.cancel();
    let details = format!(
        "ours_us={:.1} tcp_us={:.1}",
        ratio.ours.as_secs_f64() * 1e6,
        ratio.rival.as_secs_f64() * 1e6
    );
    Ok(HubFigure { value: ratio.value(), bar: 2.0, details })
}

async fn acknowledge(mut events: mpsc::Receiver<HubEvent>) {
    while let Some(event) = events.recv().await {
        if let HubEvent::Message(message) = event {
            message.receipt.ack();
        }
    }
}

/// From the moment when a hub listens again to a link that dials, in milliseconds; the median of
/// many, as chance moves each. The connect itself is not included.
async fn measure_reconnect() -> HubMeasurement {
    let (mut waits, mut connects) = (Vec::new(), Vec::new());
    for _ in 0..RECONNECT_COUNT {
        let (wait, connect) = time_reconnect().await?;
        waits.push(wait);
        connects.push(connect);
    }
    let millis = |times: &[Duration], percent| quantile(times, percent).as_secs_f64() * 1e3;
    let details = format!(
        "away_ms={} longest_ms={:.0} connect_ms={:.2}",
        DOWNTIME.as_millis(),
        millis(&waits, 99),
        millis(&connects, 50)
    );
    Ok(HubFigure { value: millis(&waits, 50), bar: 250.0, details })
}

/// A link whose hub goes and returns: until it dials, and from there until it is online.
async fn time_reconnect() -> Result<(Duration, Duration), Box<dyn Error>> {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let (tasks, cancel) = (TaskTracker::new(), CancellationToken::new());
    let config = LinkConfig::new(&format!("ws://{address}"), "Notes", "Keeps.")?;
    let (_link, mut events) = hub::start(&tasks, cancel.clone(), Some(config));
    let line = wire::accept(&listener).await.map_err(|why| why.to_string())?;
    wait_until_online(&mut events).await?;
    drop((line, listener));
    tokio::time::sleep(DOWNTIME).await;
    let listener = TcpListener::bind(address).await?;
    let began = Instant::now();
    let (stream, _) = listener.accept().await?;
    let wait = began.elapsed();
    let _line = wire::register(stream).await.map_err(|why| why.to_string())?;
    wait_until_online(&mut events).await?;
    cancel.cancel();
    Ok((wait, began.elapsed().saturating_sub(wait)))
}

async fn wait_until_online(events: &mut mpsc::Receiver<HubEvent>) -> Result<(), Box<dyn Error>> {
    loop {
        match events.recv().await.ok_or("the link ended")? {
            HubEvent::Status(status) if status.state == HubState::Online => return Ok(()),
            _ => {}
        }
    }
}

/// A thousand messages at once: seconds until the last is acknowledged, and the memory it takes.
async fn measure_burst() -> HubMeasurement {
    let place = HubAppFixture::new().await?;
    let (app, line) = tokio::join!(place.open_app(), wire::accept(&place.listener));
    let (app, mut line) = (app?, line.map_err(|why| why.to_string())?);
    let mut bytes = Vec::new();
    for number in 0..BURST_MESSAGES {
        bytes.extend(delivery(number)?);
    }
    let before = anonymous_memory()?;
    let began = Instant::now();
    line.write(&bytes).await.map_err(|why| why.to_string())?;
    let mut acked = 0;
    while acked < BURST_MESSAGES {
        acked += usize::from(next_message_id(&mut line).await? == "ack");
    }
    let took = began.elapsed();
    let grown = anonymous_memory()?.saturating_sub(before) >> 20;
    app.shutdown().await;
    let details = format!("messages={BURST_MESSAGES} grown_mb={grown} bar_mb=64");
    let value = if grown < 64 { took.as_secs_f64() } else { f64::INFINITY };
    Ok(HubFigure { value, bar: 30.0, details })
}

/// How many of the queued notifications are lost over a restart, or come in another order.
async fn measure_queued() -> HubMeasurement {
    let place = HubAppFixture::new().await?;
    let (app, line) = tokio::join!(place.open_app(), wire::accept(&place.listener));
    app?.shutdown().await;
    drop(line.map_err(|why| why.to_string())?);
    let store = Store::open(&place.database_path()?).await?;
    let at = Timestamp(jiff::Timestamp::now().as_millisecond());
    for number in 0..QUEUED_NOTIFICATIONS {
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
    let (app, line) = tokio::join!(place.open_app(), wire::accept(&place.listener));
    let (app, mut line) = (app?, line.map_err(|why| why.to_string())?);
    let first = line.next_text_frame().await.map_err(|why| why.to_string())?;
    let took = began.elapsed();
    app.shutdown().await;
    if first.pointer("/payload/messageId").and_then(serde_json::Value::as_str) != Some("m-0") {
        return Err(format!("the oldest goes first, not {first}").into());
    }
    let waiting = baseline::count_queued_notifications(&place.database_path()?).await?;
    // The first may have been noted as sent, or not yet.
    let lost = QUEUED_NOTIFICATIONS.saturating_sub(waiting + 1);
    let details = format!("waiting={waiting} first_after_ms={:.0}", took.as_secs_f64() * 1e3);
    Ok(HubFigure { value: f64::from(u32::try_from(lost)?), bar: 0.0, details })
}

fn delivery(number: usize) -> Result<Vec<u8>, Box<dyn Error>> {
    let bytes = wire::delivery(&format!("m-{number}"), "remember to look at the harbour");
    bytes.map_err(|why| why.to_string().into())
}

/// The id of the message in the next frame.
async fn next_message_id(line: &mut wire::WireConnection) -> Result<String, Box<dyn Error>> {
    let frame = line.next_text_frame().await.map_err(|why| why.to_string())?;
    let kind = frame.pointer("/payload/type").and_then(serde_json::Value::as_str);
    Ok(kind.unwrap_or_default().to_owned())
}
