//! Trying shapes, each in a process of its own, and judging what they cost.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};

use super::super::CorpusReport;
use super::super::memory_growth::MemoryGrowth;
use super::fixture::ScalingFixture;
use super::{NoteShape, OPERATIONS, QUADRATIC_CONTROL, SHAPES};

/// How large notes are made, and what they may cost.
#[derive(Debug, Clone, Copy)]
pub struct ScalingLimits {
    /// The smaller of both.
    pub bytes: usize,
    /// CPU time of one work with the larger one.
    pub time: Duration,
    /// Memory of one work with the larger one, in bytes.
    pub memory: u64,
}

#[derive(Debug, Clone, Copy)]
struct OperationCost {
    time: Duration,
    memory: u64,
}

/// The larger note may cost so much of the smaller one, in percent: it is twice as long.
const MAX_GROWTH_PERCENT: u32 = 250;

/// Costs that count as nothing: a clock tick, a page, another thread.
const NEGLIGIBLE_COST: OperationCost =
    OperationCost { time: Duration::from_millis(60), memory: 8 << 20 };

/// How often a pair is measured before it counts as too slow: other programs disturb.
const MEASUREMENT_ATTEMPTS: usize = 3;

/// Tries all shapes, or the one called `only`, and prints to stderr how each ended; `program` is one that calls
/// [`run_child`].
pub fn run(program: &Path, sizes: ScalingLimits, only: Option<&str>) -> CorpusReport {
    let wanted = |shape: &&NoteShape| only.is_none_or(|only| only == shape.name);
    let (mut lines, mut run, mut failed) = (Vec::new(), 0, 0);
    for shape in SHAPES.iter().filter(wanted) {
        run += 1;
        let found = check_shape(program, shape, sizes);
        failed += usize::from(!found.is_empty());
        eprintln!("{} {}", shape.name, if found.is_empty() { "ok" } else { "FAILED" });
        lines.extend(found.into_iter().map(|why| format!("FAIL {}: {why}", shape.name)));
    }
    let summary = format!("notes run={run} failed={failed} works={}", OPERATIONS.len());
    CorpusReport { lines, summary, holds: failed == 0 && run > 0 }
}

/// Operations that cost too much with a shape, the control aside; a control that does not is a
/// complaint too.
fn check_shape(program: &Path, shape: &NoteShape, sizes: ScalingLimits) -> Vec<String> {
    let (mut found, mut least) = (Vec::new(), None);
    for _ in 0..MEASUREMENT_ATTEMPTS {
        let measured = match (
            measure_in_child(program, shape, sizes.bytes, sizes),
            measure_in_child(program, shape, 2 * sizes.bytes, sizes),
        ) {
            (Ok(once), Ok(twice)) => (once, twice),
            (Err(why), _) | (_, Err(why)) => return vec![why],
        };
        let (once, twice) = match least.take() {
            None => measured,
            Some((once, twice)) => (least_costs(once, measured.0), least_costs(twice, measured.1)),
        };
        let dear = |(once, twice): (&(String, OperationCost), &(String, OperationCost))| {
            Some(format!("{}: {}", once.0, excess_cost(once.1, twice.1, sizes)?))
        };
        found = once.iter().zip(&twice).filter_map(dear).collect();
        if found.is_empty() {
            break;
        }
        least = Some((once, twice));
    }
    found
}

/// Of two measurements of the same operations the lower costs: other programs only add to them.
fn least_costs(
    first: Vec<(String, OperationCost)>,
    second: Vec<(String, OperationCost)>,
) -> Vec<(String, OperationCost)> {
    let least = |(first, second): ((String, OperationCost), (String, OperationCost))| {
        let (name, first, second) = (first.0, first.1, second.1);
        let time = first.time.min(second.time);
        (name, OperationCost { time, memory: first.memory.min(second.memory) })
    };
    first.into_iter().zip(second).map(least).collect()
}

/// Why the larger note costs too much.
fn excess_cost(once: OperationCost, twice: OperationCost, sizes: ScalingLimits) -> Option<String> {
    let of = |cost: OperationCost| format!("{:?} and {} KiB", cost.time, cost.memory >> 10);
    let grows = twice.time > once.time * MAX_GROWTH_PERCENT / 100 + NEGLIGIBLE_COST.time
        || twice.memory
            > once.memory * u64::from(MAX_GROWTH_PERCENT) / 100 + NEGLIGIBLE_COST.memory;
    if grows {
        return Some(format!("{} for twice the note that takes {}", of(twice), of(once)));
    }
    let is_over = twice.time > sizes.time || twice.memory > sizes.memory;
    is_over.then(|| {
        format!("{} is more than {:?} or {} KiB", of(twice), sizes.time, sizes.memory >> 10)
    })
}

/// The cost of each operation with a note of so many bytes.
fn measure_in_child(
    program: &Path,
    shape: &NoteShape,
    bytes: usize,
    sizes: ScalingLimits,
) -> Result<Vec<(String, OperationCost)>, String> {
    let mut command = Command::new("timeout");
    // An operation that takes so long is not waited for; excessive memory ends the process.
    let timeout = sizes.time.as_secs().max(1) * 20;
    command.arg(timeout.to_string()).arg(program);
    command.args(["notes-child", shape.name, &bytes.to_string()]);
    // Memory that was freed goes back at once; else an operation works in what the one before it left,
    // and seems to take none. The name and the options are those of jemalloc(3).
    command.env("MALLOC_CONF", "narenas:2,dirty_decay_ms:0,muzzy_decay_ms:0");
    let output = command.output().map_err(|error| error.to_string())?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let cost = |line: &str| {
        let mut words = line.split(' ');
        let name = words.next()?.to_owned();
        let time = Duration::from_micros(words.next()?.parse().ok()?);
        Some((name, OperationCost { time, memory: words.next()?.parse().ok()? }))
    };
    if output.status.success() {
        return Ok(said.lines().filter_map(cost).collect());
    }
    let last = said.lines().last().unwrap_or("nothing").to_owned();
    let why = String::from_utf8_lossy(&output.stderr).lines().next().unwrap_or_default().to_owned();
    Err(format!("it ended after {last} with {} {why}", output.status))
}

/// Does all works with one shape and prints what each costs: name, microseconds, bytes.
pub fn run_child(shape: &str, bytes: usize) -> Result<(), String> {
    let shape = SHAPES.iter().find(|known| known.name == shape);
    let shape = shape.ok_or_else(|| "there is no such shape".to_owned())?;
    let stage = ScalingFixture::new(shape, bytes);
    for (name, work) in OPERATIONS {
        let (began, memory) = (cpu_time(ClockId::ProcessCPUTime), MemoryGrowth::start());
        work(&stage);
        println!(
            "{name} {} {}",
            (cpu_time(ClockId::ProcessCPUTime) - began).as_micros(),
            memory.peak_growth()
        );
    }
    Ok(())
}

/// Whether the control is found out at these sizes.
pub fn check_control(sizes: ScalingLimits) -> Option<String> {
    let shape = SHAPES.iter().find(|shape| shape.name == "tags")?;
    let cost = |bytes| {
        let stage = ScalingFixture::new(shape, bytes);
        // Other tests of this process run beside it.
        let of_thread = ClockId::ThreadCPUTime;
        let (began, memory) = (cpu_time(of_thread), MemoryGrowth::start());
        QUADRATIC_CONTROL.1(&stage);
        OperationCost { time: cpu_time(of_thread) - began, memory: memory.peak_growth() }
    };
    excess_cost(cost(sizes.bytes), cost(2 * sizes.bytes), sizes)
}

/// The CPU time of this process or thread.
fn cpu_time(of: ClockId) -> Duration {
    let now = clock_gettime(of);
    Duration::new(now.tv_sec.unsigned_abs(), u32::try_from(now.tv_nsec).unwrap_or_default())
}
