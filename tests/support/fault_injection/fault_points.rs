//! A hand on the plug: the process kills itself at a fault point of its own.
//!
//! `KILL_AT=n` means the n-th point, `KILL_ON=name` the first of that name; the name goes to
//! stderr first. `HOLD_AT=n` stops there instead: the name goes to stdout, and the process goes
//! on when a line comes in. [`block`] keeps everybody at a point until [`unblock`].

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

static PASSED: AtomicUsize = AtomicUsize::new(0);
static OPTIONS: OnceLock<FaultPointOptions> = OnceLock::new();

#[derive(Debug, Default)]
struct FaultPointOptions {
    kill_at: Option<usize>,
    kill_on: Option<String>,
    hold_at: Option<usize>,
}

/// Takes hold of the plug, as the environment says.
pub fn install_from_env() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    OPTIONS.get_or_init(|| FaultPointOptions {
        kill_at: number("KILL_AT"),
        kill_on: std::env::var("KILL_ON").ok(),
        hold_at: number("HOLD_AT"),
    });
    protocol::fault_injection::install_handler(on_fault_point);
}

/// The point that nobody passes for now.
static BLOCKED: Mutex<Option<&'static str>> = Mutex::new(None);
static UNBLOCKED: Condvar = Condvar::new();

/// Lets nobody past the points of this name until [`unblock`] is called: what comes there is held before
/// it acts. For points that stand outside of a commit.
pub fn block(name: &'static str) {
    *BLOCKED.lock().unwrap_or_else(PoisonError::into_inner) = Some(name);
}

/// Releases every held thread, for good.
pub fn unblock() {
    *BLOCKED.lock().unwrap_or_else(PoisonError::into_inner) = None;
    UNBLOCKED.notify_all();
}

fn wait_at(name: &'static str) {
    let is_shut = |shut: &mut Option<&'static str>| *shut == Some(name);
    let shut = BLOCKED.lock().unwrap_or_else(PoisonError::into_inner);
    if *shut == Some(name) {
        drop(shut);
        tokio::task::block_in_place(|| {
            let shut = BLOCKED.lock().unwrap_or_else(PoisonError::into_inner);
            drop(UNBLOCKED.wait_while(shut, is_shut));
        });
    }
}

/// How many points were passed.
pub fn passed_count() -> usize {
    PASSED.load(Ordering::SeqCst)
}

fn on_fault_point(name: &'static str) {
    let number = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
    let Some(wanted) = OPTIONS.get() else { return };
    if wanted.kill_at == Some(number) || wanted.kill_on.as_deref() == Some(name) {
        eprintln!("{name}");
        let me = rustix::process::getpid();
        rustix::process::kill_process(me, rustix::process::Signal::KILL).expect("a signal");
        loop {
            std::thread::park();
        }
    }
    if wanted.hold_at == Some(number) {
        println!("{name}");
        std::io::stdout().flush().expect("somebody listens");
        std::io::stdin().read_line(&mut String::new()).expect("somebody answers");
    }
    wait_at(name);
}
