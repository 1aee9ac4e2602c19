//! A hand on the plug: the process kills itself at a fault point of its own.
//!
//! `KILL_AT=n` means the n-th point, `KILL_ON=name` the first of that name; the name goes to
//! stderr first. `HOLD_AT=n` stops there instead: the name goes to stdout, and the process goes
//! on when a line comes in.

use std::io::Write as _;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

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
}
