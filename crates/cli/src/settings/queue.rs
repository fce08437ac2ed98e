//! Tables `[queue.NAME]` of the file: tasks of a pipeline as messages, and who they are pushed to.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use ::system::{Settings, System, secret};
use model::Millis;
use sending::{Batching, Consumer};
use serde::Deserialize;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wire::webhook::Key;
use worker::queue::{BodyKind, Queue};

use super::file::{Fault, line_of};

pub(super) const QUEUE: &str = "queue";

const BATCH_SIZE_MAX: usize = 100;
const BATCH_TIMEOUT_MAX: Millis = Millis::from_secs(60);
const CONCURRENCY_MAX: usize = 100;
const RETRIES_MAX: u32 = 100;
const DELAYS_MAX: usize = 20;
const DELAY_MAX: Millis = Millis::from_secs(12 * 3_600);
const WITHIN_MAX: Millis = Millis::from_secs(15 * 60);
const TASKS_MAX: usize = 100;
/// Shorter secrets can be guessed.
const SECRET_BYTES_MIN: usize = 24;

/// The queues of a file, and the consumers of those that have one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Queues {
    pub(crate) queues: Vec<Queue>,
    pub(crate) consumers: Vec<Consumer>,
}

impl Queues {
    /// Returns the foreign interface over the queues, where there are any.
    pub(crate) fn interface(&self) -> Option<Arc<dyn System>> {
        (!self.queues.is_empty())
            .then(|| Arc::new(compat::cloudflare(self.queues.clone())) as Arc<dyn System>)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct Table {
    pipeline: String,
    tasks: Vec<String>,
    #[serde(default)]
    outcomes: BTreeMap<String, String>,
    #[serde(default)]
    body: Body,
    #[serde(alias = "max_retries")]
    max_retries: Option<u32>,
    #[serde(alias = "retry_delay")]
    retry_delay: Option<Delays>,
    #[serde(alias = "dead_letter_queue")]
    dead_letter_queue: Option<String>,
    purge: Option<String>,
    consumer: Option<ConsumerTable>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum Body {
    #[default]
    Payload,
    Job,
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Delays {
    One(Millis),
    Each(Vec<Millis>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct ConsumerTable {
    url: String,
    secret_file: PathBuf,
    #[serde(alias = "max_batch_size")]
    max_batch_size: Option<usize>,
    #[serde(alias = "max_batch_timeout")]
    max_batch_timeout: Option<Millis>,
    #[serde(alias = "max_concurrency")]
    max_concurrency: Option<usize>,
    within: Option<Millis>,
}

/// Reads the table of tables, and what is wrong with it.
pub(super) fn read(text: &str, value: &DeValue<'_>, at: &Range<usize>) -> (Queues, Vec<Fault>) {
    let fault = |span: &Range<usize>, message: String| Fault { line: line_of(text, span), message };
    let DeValue::Table(tables) = value else {
        let message = format!("`{QUEUE}` is a table of tables: write `[{QUEUE}.NAME]`");
        return (Queues::default(), vec![fault(at, message)]);
    };
    let (mut queues, mut faults) = (Queues::default(), Vec::new());
    for (name, table) in tables {
        let (name, span) = (name.get_ref().as_ref(), name.span());
        match read_one(name, table) {
            Ok((queue, consumer)) => {
                queues.queues.push(queue);
                queues.consumers.extend(consumer);
            }
            Err(found) => {
                let message = format!("[{QUEUE}.{name}]: {}", found.message);
                faults.push(fault(&found.span.unwrap_or(span), message));
            }
        }
    }
    let names: Vec<_> = queues.queues.iter().map(|queue| &queue.name).collect();
    for queue in &queues.queues {
        let letters = queue.dead_letters.as_ref().filter(|letters| names.contains(letters));
        faults.extend(letters.map(|letters| {
            let message = format!(
                "[{QUEUE}.{}]: `dead-letter-queue` is {letters}, which is a queue of its own: choose another name",
                queue.name
            );
            fault(at, message)
        }));
    }
    (queues, faults)
}

fn read_one(name: &str, table: &Spanned<DeValue<'_>>) -> Result<(Queue, Option<Consumer>), ::system::Fault> {
    let DeValue::Table(settings) = table.get_ref() else {
        return Err(::system::Fault::new(format!("this is a table: write `[{QUEUE}.{name}]`")));
    };
    let settings: &DeTable<'_> = settings;
    let value = Spanned::new(table.span(), DeValue::Table(settings.clone()));
    let mut table: Table = Settings::new(value).read()?;
    let consumer = table.consumer.take();
    let queue = queue(name, table).map_err(::system::Fault::new)?;
    let consumer = consumer.map(|consumer| consumer.read(queue.clone())).transpose()?;
    Ok((queue, consumer))
}

fn queue(name: &str, table: Table) -> Result<Queue, String> {
    let Table { pipeline, tasks, outcomes, body, max_retries, retry_delay, dead_letter_queue, purge, .. } =
        table;
    for name in [Some(name), dead_letter_queue.as_deref()].into_iter().flatten() {
        if !Queue::is_name(name) {
            return Err(format!("`{name}` is no name of a queue: use up to 64 letters, digits, - and _"));
        }
    }
    if !(1..=TASKS_MAX).contains(&tasks.len()) {
        return Err(format!("`tasks` has {}; name 1 to {TASKS_MAX}", tasks.len()));
    }
    if let Some(task) = outcomes.keys().find(|task| !tasks.contains(task)) {
        return Err(format!("`outcomes` has one for `{task}`, which is none of the `tasks`"));
    }
    if max_retries.is_some_and(|most| most > RETRIES_MAX) {
        return Err(format!("`max-retries` is at most {RETRIES_MAX}"));
    }
    let retry_delays = match retry_delay {
        None => Vec::new(),
        Some(Delays::One(delay)) => vec![delay],
        Some(Delays::Each(delays)) if (1..=DELAYS_MAX).contains(&delays.len()) => delays,
        Some(Delays::Each(delays)) => {
            return Err(format!("`retry-delay` has {}; name 1 to {DELAYS_MAX}", delays.len()));
        }
    };
    if let Some(delay) = retry_delays.iter().find(|delay| **delay > DELAY_MAX) {
        return Err(format!("`retry-delay` is {delay}; the longest is {DELAY_MAX}"));
    }
    Ok(Queue {
        name: name.into(),
        pipeline: pipeline.into(),
        tasks,
        outcomes,
        body: match body {
            Body::Payload => BodyKind::Payload,
            Body::Job => BodyKind::Job,
        },
        max_retries,
        retry_delays,
        dead_letters: dead_letter_queue.map(Into::into),
        purge,
    })
}

impl ConsumerTable {
    fn read(self, queue: Queue) -> Result<Consumer, ::system::Fault> {
        let wrong = |message: String| ::system::Fault::new(message);
        let url = fetch::normalized(&self.url)
            .map_err(|error| wrong(format!("`consumer.url` cannot be used: {error}")))?;
        let size = within("max-batch-size", self.max_batch_size.unwrap_or(10), (1, BATCH_SIZE_MAX))
            .map_err(wrong)?;
        let wait = self.max_batch_timeout.unwrap_or(Millis::from_secs(5));
        let wait = within("max-batch-timeout", wait, (Millis::ZERO, BATCH_TIMEOUT_MAX)).map_err(wrong)?;
        let concurrency = within("max-concurrency", self.max_concurrency.unwrap_or(1), (1, CONCURRENCY_MAX))
            .map_err(wrong)?;
        let most = self.within.unwrap_or(Millis::from_secs(60));
        let most = within("within", most, (Millis::from_secs(1), WITHIN_MAX)).map_err(wrong)?;
        let keys = keys(&self.secret_file)?;
        let batching = Batching { size, wait: wait.into(), concurrency };
        Ok(Consumer { queue, url, keys, batching, within: Duration::from(most) })
    }
}

fn within<T: PartialOrd + std::fmt::Display>(
    name: &str,
    value: T,
    (least, most): (T, T),
) -> Result<T, String> {
    match value >= least && value <= most {
        true => Ok(value),
        false => Err(format!("`consumer.{name}` is {value}; it is between {least} and {most}")),
    }
}

/// Reads the secrets, one a line: a batch is signed by each.
fn keys(file: &Path) -> Result<Vec<Key>, ::system::Fault> {
    let name = "consumer.secret-file";
    let text = secret(name, file)?;
    let keys = text.lines().map(str::trim).filter(|line| !line.is_empty()).map(|line| {
        let long = line.trim_start_matches("whsec_").len() >= SECRET_BYTES_MIN * 4 / 3;
        Key::read(line).filter(|_| long).ok_or_else(|| {
            let wanted = "write each as whsec_ and base64 of 24 bytes or more";
            ::system::Fault::new(format!(
                "`{name}`: {} has a line that is no secret: {wanted}",
                file.display()
            ))
        })
    });
    keys.collect()
}
