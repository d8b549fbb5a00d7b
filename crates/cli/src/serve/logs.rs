//! The log on stderr.

use anyhow::anyhow;
use tracing_subscriber::EnvFilter;

use super::flags::LogFormat;

const USUAL_LEVEL: &str = "warn";

pub(super) fn start(format: LogFormat, level: Option<&str>) -> anyhow::Result<()> {
    let level = level.unwrap_or(USUAL_LEVEL);
    let filter = EnvFilter::try_new(level)
        .map_err(|error| anyhow!("--log-level {level} makes no sense ({error}): use a level such as info"))?;
    let log = tracing_subscriber::fmt().with_env_filter(filter).with_writer(std::io::stderr);
    let started = match format {
        LogFormat::Text => log.try_init(),
        LogFormat::Json => log.json().flatten_event(true).try_init(),
    };
    started.map_err(|error| anyhow!("the log cannot be written: {error}"))
}
