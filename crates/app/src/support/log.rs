//! Logs: one file a day in the data directory, a week of them, no note text and no keys.

use std::io::{self, Write};
use std::panic;

use tracing_appender::non_blocking::{NonBlocking, WorkerGuard};
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;
use tracing_subscriber::fmt::MakeWriter;

use crate::support::redact::redact;
use crate::workspace::data_dir::{DataDir, make_private};

/// Writes out what is still buffered when it is dropped.
pub struct LogGuard {
    _worker: Option<WorkerGuard>,
}

/// Starts logging for this process, including the messages of panics. Text that looks like a key is
/// redacted. Without a place to write, the program continues without logs.
#[must_use]
pub fn start(data: &DataDir) -> LogGuard {
    panic::set_hook(Box::new(|panic| {
        let said = panic.to_string();
        let said = redact(&said);
        // There may be nobody to read it.
        let _ = writeln!(io::stderr(), "{said}");
        tracing::error!(%said, "a part of the program gave up");
    }));
    if make_private(&data.logs()).is_err() {
        return LogGuard { _worker: None };
    }
    let appender = RollingFileAppender::builder()
        .rotation(Rotation::DAILY)
        .max_log_files(7)
        .filename_prefix("vaultmate")
        .filename_suffix("log")
        .build(data.logs());
    let Ok(appender) = appender else { return LogGuard { _worker: None } };
    let (writer, worker) = tracing_appender::non_blocking(appender);
    let filter = EnvFilter::try_from_env("VAULTMATE_LOG").unwrap_or_else(|_| {
        EnvFilter::new("warn,app=info,hub=info,llm=info,vault=info,store=info")
    });
    let started = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(RedactingWriter(writer))
        .with_ansi(false)
        .try_init();
    if started.is_err() {
        tracing::debug!("another log is in place");
    }
    LogGuard { _worker: Some(worker) }
}

/// Writes without what looks like a key. Each write is a whole entry.
#[derive(Clone)]
struct RedactingWriter<W>(W);

impl<W: Write> Write for RedactingWriter<W> {
    fn write(&mut self, entry: &[u8]) -> io::Result<usize> {
        self.0.write_all(redact(&String::from_utf8_lossy(entry)).as_bytes())?;
        Ok(entry.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

impl MakeWriter<'_> for RedactingWriter<NonBlocking> {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_written_without_the_keys_in_it() {
        let mut written = RedactingWriter(Vec::new());
        let entry = b"WARN llm: refused key sk-CANARY-7f3a9c\n";
        assert_eq!(written.write(entry).expect("written"), entry.len());
        assert_eq!(written.0, b"WARN llm: refused key [key]\n");
    }
}
