use std::io::{self, Write as _};
use std::time::Duration;

use clap::Args;
use client::{Client, FeedFilter, Position, Retries};
use wire::api::EventView;

use super::list::read_label;
use super::show::what_went_wrong;
use crate::exit::Exit;
use crate::output::{Format, plain, say};
use crate::remote::{ServerArgs, block_on};

/// The time one question waits for something to happen.
const WAIT: Duration = Duration::from_secs(20);

/// Between looks for a server that is away.
const OUTAGE: Retries =
    Retries { times: u32::MAX, pause: Duration::from_millis(200), pause_max: Duration::from_secs(5) };

/// Print what happened last, and what happens
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost tail
  milepost tail --pipeline skill-review --state PUBLISHED --follow
  milepost tail --after 0 -o json

With -o json, every event is one line. With --follow, a server that is away is waited for: it goes on with what happened
meanwhile.")]
pub(crate) struct Tail {
    /// Of submissions of this pipeline
    #[arg(long, value_name = "NAME")]
    pipeline: Option<String>,

    /// Only events that lead to this state
    #[arg(long, value_name = "NAME")]
    state: Option<String>,

    /// Of submissions with this label; may be given several times
    #[arg(long = "label", value_name = "NAME=VALUE", value_parser = read_label)]
    labels: Vec<(String, String)>,

    /// Begin after this position
    #[arg(long, value_name = "POSITION", conflicts_with = "last")]
    after: Option<u64>,

    /// Begin so many events ago, whatever they are
    #[arg(long, value_name = "NUMBER", default_value_t = 20)]
    last: u64,

    /// Go on as long as something happens
    #[arg(long, short)]
    follow: bool,

    #[command(flatten)]
    server: ServerArgs,
}

impl Tail {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        block_on(self.tail(&client, format))
    }

    async fn tail(&self, client: &Client, format: Format) -> anyhow::Result<Exit> {
        let filter = FeedFilter {
            pipeline: self.pipeline.clone(),
            state: self.state.clone(),
            labels: self.labels.iter().cloned().collect(),
            limit: Some(1_000),
        };
        let (mut position, end) = self.begin(client, &filter).await?;
        let mut failed = 0;
        loop {
            let wait = if self.follow { WAIT } else { Duration::ZERO };
            let page = match client.feed(&filter, position, wait).await {
                Err(error) if self.follow && error.is_passing() => {
                    failed += 1;
                    if failed == 1 {
                        say!(
                            "{}; it goes on {} when the server is back",
                            plain(&error.to_string()),
                            told(position)
                        );
                    }
                    tokio::time::sleep(OUTAGE.pause_after(failed)).await;
                    continue;
                }
                page => page?,
            };
            if std::mem::take(&mut failed) > 0 {
                say!("the server at {} is back", client.server());
            }
            for event in &page.events {
                if !print(event, format)? {
                    return Ok(Exit::Fine);
                }
            }
            position = Position::After(page.next);
            if !self.follow && page.next >= end {
                return Ok(Exit::Fine);
            }
        }
    }

    /// Returns the position to begin at, and where the feed ends now.
    async fn begin(&self, client: &Client, filter: &FeedFilter) -> anyhow::Result<(Position, u64)> {
        let end = client.feed(filter, Position::End, Duration::ZERO).await?.next;
        let after = match self.after {
            Some(after) => after,
            None => {
                // Some of the last may be retired already.
                let after = end.saturating_sub(self.last);
                match client.feed(filter, Position::After(after), Duration::ZERO).await {
                    Err(error) if error.code() == Some("feed-retired") => return Ok((Position::Oldest, end)),
                    page => page.map(|_| after)?,
                }
            }
        };
        Ok((Position::After(after), end))
    }
}

fn told(position: Position) -> String {
    match position {
        Position::After(position) => format!("after position {position}"),
        Position::Oldest | Position::End => "where it was".to_owned(),
    }
}

/// False: nobody reads any more.
fn print(event: &EventView, format: Format) -> anyhow::Result<bool> {
    let line = match format {
        Format::Json => serde_json::to_string(event)?,
        Format::Table => plain(&format!(
            "{} {} {} {} {} -> {} ({}) by {}{}",
            event.seq,
            event.at,
            event.submission,
            event.kind.as_str(),
            event.from.as_deref().unwrap_or("-"),
            event.to,
            event.trigger,
            event.actor.name,
            what_went_wrong(event).map(|wrong| format!(": {wrong}")).unwrap_or_default()
        )),
    };
    let mut stdout = io::stdout().lock();
    match writeln!(stdout, "{line}").and_then(|()| stdout.flush()) {
        Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(false),
        written => Ok(written.map(|()| true)?),
    }
}
