//! Logs: one file a day in the data directory, a week of them, no note text and no keys.

use tracing_appender::non_blocking::WorkerGuard;
use tracing_appender::rolling::{RollingFileAppender, Rotation};
use tracing_subscriber::EnvFilter;

use crate::data_dir::{DataDir, make_private};

/// Writes out what is still buffered when it is dropped.
pub struct LogGuard {
    _worker: Option<WorkerGuard>,
}

/// Starts logging for this process. Without a place to write, the program goes on without logs.
#[must_use]
pub fn start(data: &DataDir) -> LogGuard {
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
        .with_writer(writer)
        .with_ansi(false)
        .try_init();
    if started.is_err() {
        tracing::debug!("another log is in place");
    }
    LogGuard { _worker: Some(worker) }
}
