//! Services of Splinter circuits, which run Scabbard.

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;
use wire::Millis;

use super::link::Extra;
use super::sawtooth::{link_of, wait_of};
use super::{Adapter, Link, Outgoing, Standing, Statuses, Submitted, Trouble, Watched, batch_list};

/// The most ids that fit into an address.
const STATUSES_MAX: usize = 50;
const VERSION: Option<Extra> = Some(("gridprotocolversion", "1"));

#[derive(Debug)]
pub(crate) struct Scabbard {
    link: Link,
    wait: Millis,
}

#[derive(Debug, Deserialize)]
struct Status {
    id: String,
    status: Typed,
}

#[derive(Debug, Deserialize)]
struct Typed {
    #[serde(rename = "statusType")]
    kind: String,
    #[serde(default)]
    message: Value,
}

impl Scabbard {
    pub(crate) fn new(link: Link, wait: Millis) -> Scabbard {
        Scabbard { link, wait }
    }
}

/// Returns the path of a service, which is named by its circuit and itself: `xxxxx-xxxxx::xxxx`.
fn path_of(service: &str) -> Result<String, Trouble> {
    match service.split_once("::") {
        Some((circuit, service)) => Ok(format!("/scabbard/{circuit}/{service}")),
        None => Err(Trouble::new(
            "service",
            format!("`{service}` is no service of a circuit, and only those are reached by Scabbard"),
        )),
    }
}

#[async_trait]
impl Adapter for Scabbard {
    async fn submit(&self, batch: &Outgoing) -> Result<Submitted, Trouble> {
        let path = format!("{}/batches", path_of(&batch.service)?);
        let body = batch_list::of_one(&batch.bytes, &batch.header);
        let answer = self.link.post(&path, ("application/octet-stream", body), VERSION).await?;
        match answer.status {
            200 | 202 => Ok(Submitted::Accepted { link: link_of(&answer.body) }),
            _ => Err(answer.trouble()),
        }
    }

    fn group(&self, service: &str) -> String {
        service.to_owned()
    }

    fn statuses_max(&self) -> usize {
        STATUSES_MAX
    }

    async fn statuses(&self, service: &str, batches: &[Watched]) -> Result<Statuses, Trouble> {
        let ids: Vec<&str> = batches.iter().flat_map(|batch| &batch.headers).map(String::as_str).collect();
        let (ids, wait) = (ids.join(","), wait_of(self.wait));
        let path = format!("{}/batch_statuses?ids={ids}{wait}", path_of(service)?);
        let answer = self.link.get(&path, VERSION).await?;
        if answer.status != 200 {
            return Err(answer.trouble());
        }
        let read: Vec<Status> =
            serde_json::from_value(answer.json()?).map_err(|error| Trouble::garbled(&error.to_string()))?;
        let found = read.into_iter().map(|Status { id, status: Typed { kind, message } }| {
            let details = match message {
                Value::Null => Vec::new(),
                Value::Array(details) => details,
                other => vec![other],
            };
            let standing = match &*kind {
                "Unknown" => Standing::Unknown,
                "Pending" => Standing::Pending,
                "Valid" => Standing::Valid,
                "Committed" => Standing::Committed(details),
                "Invalid" => Standing::Invalid(details),
                other => return Err(Trouble::garbled(&format!("the status {other:.40?} has no meaning"))),
            };
            Ok((id, standing))
        });
        Ok(Statuses::arrange(batches, found.collect::<Result<Vec<_>, _>>()?))
    }
}
