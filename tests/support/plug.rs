//! A hand on the plug: the process kills itself at a fault point of its own.
//!
//! `KILL_AT=n` means the n-th point, `KILL_ON=name` the first of that name; the name goes to
//! stderr first. `HOLD_AT=n` stops there instead: the name goes to stdout, and the process goes
//! on when a line comes in. [`shut`] keeps everybody at a point until [`open`].

use std::io::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

static PASSED: AtomicUsize = AtomicUsize::new(0);
static WANTED: OnceLock<Wanted> = OnceLock::new();

#[derive(Debug, Default)]
struct Wanted {
    kill_at: Option<usize>,
    kill_on: Option<String>,
    hold_at: Option<usize>,
}

/// Takes hold of the plug, as the environment says.
pub fn hold() {
    let number = |name| std::env::var(name).ok().map(|text| text.parse().expect("a number"));
    WANTED.get_or_init(|| Wanted {
        kill_at: number("KILL_AT"),
        kill_on: std::env::var("KILL_ON").ok(),
        hold_at: number("HOLD_AT"),
    });
    protocol::fault::install(count);
}

/// The point that nobody passes for now.
static SHUT: Mutex<Option<&'static str>> = Mutex::new(None);
static OPENED: Condvar = Condvar::new();

/// Lets nobody past the points of this name until [`open`] is called: what comes there is held before
/// it acts. For points that stand outside of a commit.
pub fn shut(name: &'static str) {
    *SHUT.lock().unwrap_or_else(PoisonError::into_inner) = Some(name);
}

/// Lets on whoever is held, for good.
pub fn open() {
    *SHUT.lock().unwrap_or_else(PoisonError::into_inner) = None;
    OPENED.notify_all();
}

fn wait_at(name: &'static str) {
    let is_shut = |shut: &mut Option<&'static str>| *shut == Some(name);
    let shut = SHUT.lock().unwrap_or_else(PoisonError::into_inner);
    if *shut == Some(name) {
        drop(shut);
        tokio::task::block_in_place(|| {
            let shut = SHUT.lock().unwrap_or_else(PoisonError::into_inner);
            drop(OPENED.wait_while(shut, is_shut));
        });
    }
}

/// How many points were passed.
pub fn passed() -> usize {
    PASSED.load(Ordering::SeqCst)
}

fn count(name: &'static str) {
    let number = PASSED.fetch_add(1, Ordering::SeqCst) + 1;
    let Some(wanted) = WANTED.get() else { return };
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
