//! The system's part of the demo: a ledger of its own, services that send signed batches to it, and one that stands.

mod batches;
mod ledger;

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use client::{Client, Filter, Page};
use serde_json::Value;
use system::{Demo, Failed, Staged, Story, Table};
use wire::api::{SubmissionView, SubmitBody, SubmitMany};
use wire::{Status, SubmissionId};

use crate::lookup::PIPELINE;
use batches::Sender;
use ledger::{Ledger, TRANSACTIONS_MAX};

/// The service whose batches are told of: one goes well, one is invalid, one is forgotten, one is put off.
const TOLD: &str = "grain-coast::mill";
/// The service that stands: its first batch fits into no block.
const STANDS: &str = "grain-coast::dock";
/// Services that go on sending.
const GO_ON: [&str; 5] =
    ["grain-coast::farm", "grain-coast::silo", "grain-coast::port", "olive-hills::mill", "olive-hills::shop"];
/// The pause between two calls of those.
const PAUSE: Duration = Duration::from_millis(2_500);
/// Open batches beyond which nothing is added.
const OPEN_MAX: usize = 40;

/// The demonstration. The ledger ends when it is dropped.
#[derive(Default)]
pub(crate) struct Show {
    ledger: Option<Ledger>,
}

/// A sample, and the words in which its story is told.
struct Told {
    about: &'static str,
    data_change: &'static str,
    pays: &'static [u64],
}

const OF_ONE_SERVICE: [Told; 4] = [
    Told { about: "pays 30", data_change: "dcid:flour", pays: &[30] },
    Told { about: "pays 500, which it has not", data_change: "dcid:overdraw", pays: &[500] },
    Told { about: "pays 20; the ledger forgets it", data_change: "dcid:forgotten", pays: &[20] },
    Told { about: "pays 10; the ledger is full", data_change: "dcid:put-off", pays: &[10] },
];
const OF_THE_ONE_THAT_STANDS: [Told; 2] = [
    Told { about: "fits into no block", data_change: "dcid:bulk", pays: &[1; TRANSACTIONS_MAX + 2] },
    Told { about: "waits behind it", data_change: "dcid:rope", pays: &[5] },
];

#[async_trait]
impl Demo for Show {
    async fn start(&mut self, _: &Path) -> Result<Staged, Failed> {
        let ledger = Ledger::start().await?;
        let port = ledger.port;
        self.ledger = Some(ledger);
        let settings = format!(
            "[system.ledger]\n\
             [[system.ledger.ledgers]]\n\
             name = \"demo\"\nkind = \"sawtooth\"\nservices = [\"*\"]\n\
             url = \"http://127.0.0.1:{port}\"\nallow-address = [\"127.0.0.1\"]\n\
             attempts = 3\npause = \"100ms\"\npause-step = \"100ms\"\npoll = \"300ms\"\nwait = \"0s\"\n\
             [params.ledger-batch]\ndelay_window = \"2s\"\n"
        );
        Ok(Staged { settings, ports: vec![port] })
    }

    async fn tell(&mut self, client: Client) -> Result<Story, Failed> {
        let told = submit(&client, &in_order(&sender(TOLD)?, &OF_ONE_SERVICE)).await?;
        let standing = submit(&client, &in_order(&sender(STANDS)?, &OF_THE_ONE_THAT_STANDS)).await?;
        let mut rows = Vec::new();
        for (told, id) in OF_ONE_SERVICE.iter().zip(&told) {
            rows.push((told, until(&client, *id, |view| view.status.is_final()).await?));
        }
        let stands = until(&client, standing[0], |view| view.error.is_some()).await?;
        rows.push((&OF_THE_ONE_THAT_STANDS[0], stands));
        rows.push((&OF_THE_ONE_THAT_STANDS[1], client.submission(standing[1]).await?));
        let text = text(&client, &rows).await?;
        Ok(Story { text, samples: told.into_iter().chain(standing).collect() })
    }

    async fn go_on(&mut self, client: Client) {
        for number in 1_u64.. {
            tokio::time::sleep(PAUSE).await;
            if let Err(error) = one_more(&client, number).await {
                tracing::debug!(%error, "the demo submits no batch this time");
            }
        }
    }
}

fn sender(service: &'static str) -> Result<Sender, Failed> {
    Sender::new(service).ok_or_else(|| format!("no key for {service}").into())
}

/// Signs batches so that their headers are in the order of the samples: those of one call go by their headers.
fn in_order(sender: &Sender, samples: &[Told]) -> Vec<Value> {
    let share = u32::MAX / u32::try_from(samples.len()).unwrap_or(1);
    let mut batches = Vec::with_capacity(samples.len());
    for (place, sample) in (0_u32..).zip(samples) {
        let in_its_share = (0_u64..)
            .map(|number| sender.batch(number, sample.pays, sample.data_change))
            .find(|batch| beginning(batch).is_some_and(|beginning| beginning / share == place));
        batches.extend(in_its_share);
    }
    batches
}

/// Returns the beginning of a batch's header as a number.
fn beginning(batch: &Value) -> Option<u32> {
    u32::from_str_radix(batch["batch_header"].as_str()?.get(..8)?, 16).ok()
}

/// Submits batches in one call.
async fn submit(client: &Client, batches: &[Value]) -> Result<Vec<SubmissionId>, Failed> {
    let one = |batch: &Value| SubmitBody { payload: batch.clone().into(), ..SubmitBody::default() };
    let body = SubmitMany { submissions: batches.iter().map(one).collect() };
    let answer = client.submit_many(PIPELINE, &body, None).await?;
    let ids = answer.results.into_iter().map(|result| match (result.submission, result.problem) {
        (Some(made), _) => Ok(made.id),
        (None, problem) => Err(problem.map_or_else(String::new, |problem| problem.detail).into()),
    });
    ids.collect()
}

async fn until(
    client: &Client,
    id: SubmissionId,
    is: impl Fn(&SubmissionView) -> bool + Send,
) -> Result<SubmissionView, Failed> {
    let mut view = client.submission(id).await?;
    while !is(&view) {
        view = client.wait_for_change(id, view.revision, None).await?;
    }
    Ok(view)
}

/// Submits up to three batches of the next service, unless enough are open.
async fn one_more(client: &Client, number: u64) -> Result<(), Failed> {
    let open =
        Filter { pipeline: Some(PIPELINE.to_owned()), status: Some(Status::Open), ..Filter::default() };
    let page = Page { limit: Some(OPEN_MAX), after: None };
    if client.submissions(&open, &page).await?.submissions.len() >= OPEN_MAX {
        return Ok(());
    }
    let services = GO_ON.len() as u64;
    let sender = sender(GO_ON[usize::try_from(number % services)?])?;
    // One in a dozen pays what nobody has.
    let pays = |at: u64| if (number + at).is_multiple_of(12) { 400 } else { 1 + (number * 7 + at * 3) % 9 };
    let batches: Vec<Value> = (0..=number % 3)
        .map(|at| sender.batch(number * 3 + at, &[pays(at)], &format!("dcid:load-{number}")))
        .collect();
    submit(client, &batches).await.map(drop)
}

async fn text(client: &Client, rows: &[(&Told, SubmissionView)]) -> Result<String, Failed> {
    let mut table = Table::new(["SERVICE", "BATCH", "STATE", "HOW IT GOT THERE"]);
    let mut stands = None;
    for (told, view) in rows {
        let events = client.events(view.id, 0).await?.events;
        let mut path: Vec<&str> = events.iter().skip(1).map(|event| &*event.to).collect();
        path.dedup();
        // One that is sent again and again has been everywhere by now.
        path.truncate(8);
        if view.error.is_some() && !view.status.is_final() {
            stands = Some(view.id);
        }
        table.row([
            view.labels.get("service").map(ToString::to_string).unwrap_or_default(),
            told.about.to_owned(),
            view.state.to_string(),
            path.join(" > "),
        ]);
    }
    let server = client.server();
    let server = server.trim_end_matches('/');
    let mut text = format!(
        "Signed batches go to a ledger that is slow, busy and forgetful, one in flight per service:\n\n{}\n\
         {server}/console/ledger/services shows the services; more batches come all the while. One service stands:\n",
        table.render()
    );
    if let Some(id) = stands {
        text.push_str(&format!(
            "\n  # what is under way, and what is wrong\n  milepost ledger services --server {server}\n\n  \
             # give up the batch that fits into no block; the next one goes\n  \
             milepost act {id} give_up --reason 'it fits into no block' --server {server}\n"
        ));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_samples_are_in_the_order_of_their_story() {
        for (service, samples) in [(TOLD, &OF_ONE_SERVICE[..]), (STANDS, &OF_THE_ONE_THAT_STANDS)] {
            let batches = in_order(&Sender::new(service).unwrap(), samples);
            assert_eq!(batches.len(), samples.len());
            let headers: Vec<&str> =
                batches.iter().map(|batch| batch["batch_header"].as_str().unwrap()).collect();
            assert!(headers.is_sorted(), "{headers:?}");
        }
    }

    #[test]
    fn every_service_has_a_key_and_a_name_that_the_schema_takes() {
        for service in GO_ON.into_iter().chain([TOLD, STANDS]) {
            assert!(Sender::new(service).is_some());
            let (circuit, name) = service.split_once("::").unwrap();
            assert_eq!((circuit.len(), name.len()), (11, 4), "{service}");
        }
    }
}
