//! Logs go to stderr.

use anyhow::Context as _;
use clap::ValueEnum;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer as _};

const VARIABLE: &str = "MILEPOST_LOG";

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    #[default]
    Text,
    Json,
}

/// Starts logging, at `level` unless MILEPOST_LOG says otherwise.
pub(crate) fn start(format: LogFormat, level: &str) -> anyhow::Result<()> {
    let directives = std::env::var(VARIABLE).ok().filter(|text| !text.is_empty());
    let filter = EnvFilter::try_new(directives.as_deref().unwrap_or(level))
        .with_context(|| format!("{VARIABLE} is no filter; write it like info or warn,engine=debug"))?;
    // A log that cannot be written must not bring down what it is about.
    let logs = tracing_subscriber::fmt::layer().with_writer(std::io::stderr).log_internal_errors(false);
    let logs = match format {
        LogFormat::Text => logs.with_ansi(std::io::IsTerminal::is_terminal(&std::io::stderr())).boxed(),
        LogFormat::Json => logs.json().flatten_event(true).boxed(),
    };
    // The filter is of the logs alone: what is exported is another matter.
    let subscriber = tracing_subscriber::registry().with(logs.with_filter(filter));
    #[cfg(feature = "otel")]
    let subscriber = subscriber.with(crate::otel::layer()?);
    subscriber.init();
    if format == LogFormat::Json {
        std::panic::set_hook(Box::new(|panic| tracing::error!("{panic}")));
    }
    Ok(())
}

/// One line of a log in JSON that no filter hides, with the members every other line has.
pub(crate) fn json_line(level: &str, message: &str, next: Option<&str>) -> String {
    let mut line = serde_json::json!({
        "timestamp": engine::clock::wall(),
        "level": level,
        "message": message,
        "target": "milepost",
    });
    if let (Some(next), Some(members)) = (next, line.as_object_mut()) {
        members.insert("next".to_owned(), next.into());
    }
    line.to_string()
}

/// Lets go of what is not yet where it should be.
pub(crate) fn end() {
    #[cfg(feature = "otel")]
    crate::otel::end();
}
