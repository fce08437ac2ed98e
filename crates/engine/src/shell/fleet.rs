//! The servers over one store, as this one sees them.

use std::time::Duration;

use model::{Millis, Name, Refusal, Time};
use tokio::sync::oneshot;

use super::Engine;
use super::queue::Request;
use crate::clock;
use crate::core::{self, Ask, Server};

/// The time for which a server that stops tries to say so. If it cannot, the others find out.
const FAREWELL: Duration = Duration::from_secs(3);

/// A server and what it does for all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServerReport {
    pub server: Server,
    /// The time since the server said that it is there.
    pub seen_ago: Millis,
    pub duties: Vec<Name>,
    /// Set if the server is the one that was asked.
    pub asked: bool,
}

pub(super) fn millis(span: Duration) -> Millis {
    Millis::new(u64::try_from(span.as_millis()).unwrap_or(u64::MAX))
}

impl Engine {
    /// Records where this server can be reached: known only once it listens.
    pub fn listens_at(&self, address: impl Into<String>) {
        // A server listens once.
        let _ = self.address.set(address.into());
        self.duties.wake("presence");
    }

    /// The store's time, as far as it is known without asking.
    #[must_use]
    pub fn now(&self) -> Time {
        let step = self.hints.last_step();
        step.map_or_else(clock::wall, |(now, ago)| now.plus(millis(ago)))
    }

    /// A fresh id, in the order of the store's time.
    #[must_use]
    pub fn fresh_id(&self) -> model::SubmissionId {
        clock::fresh_id_at(self.now())
    }

    /// Every server over the store, by name.
    pub async fn servers(&self) -> Result<Vec<ServerReport>, Refusal> {
        let (now, this) = (self.now(), self.server());
        if !self.store.is_shared() {
            let duties = self.duties.names();
            return Ok(vec![ServerReport { server: this, seen_ago: Millis::ZERO, duties, asked: true }]);
        }
        let (servers, shifts) = self.read(|store| Ok((core::servers(store)?, core::shifts(store)?))).await?;
        let mut reports: Vec<_> = servers
            .into_iter()
            .map(|server| ServerReport {
                seen_ago: now.since(server.seen_at),
                duties: (shifts.iter())
                    .filter(|(_, shift)| shift.server == server.id && shift.until > now)
                    .map(|(duty, _)| duty.clone())
                    .collect(),
                asked: server.id == this.id,
                server,
            })
            .collect();
        reports.sort_by(|one, other| {
            (&one.server.name, one.server.started_at).cmp(&(&other.server.name, other.server.started_at))
        });
        Ok(reports)
    }

    /// This server as it tells the others.
    pub(super) fn server(&self) -> Server {
        Server {
            id: self.id.clone(),
            name: self.name.clone(),
            address: self.address.get().cloned().unwrap_or_default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            started_at: self.started_at,
            seen_at: self.started_at,
            polled: self.own_polls().known,
            asked_in_vain: self.own_polls().unknown,
            published_at: self.published_at(),
        }
    }

    /// Takes nothing more in; the last thing it does is to tell the others that its duties are free.
    pub(super) async fn leave(&self) {
        let news = self.metrics.levels.send();
        if !news.is_empty() {
            // Decided before the queues are over; nobody waits for the answer.
            let (reply, _) = oneshot::channel();
            let _ = self.queues.push(Request::new(Ask::Measured(Box::new(news)).into(), reply));
        }
        let flow = crate::duty::Flow::news(&self.metrics, &self.id);
        if !flow.is_empty() {
            let (reply, _) = oneshot::channel();
            let _ = self.queues.push(Request::new(Ask::Flowed(Box::new(flow)).into(), reply));
        }
        if !self.store.is_shared() {
            return self.queues.close();
        }
        let (reply, told) = oneshot::channel();
        let ask = Ask::Leave { server: self.id.clone(), duties: self.duties.names() };
        // Refused where it has left already.
        let _ = self.queues.push(Request::new(ask.into(), reply));
        self.queues.close();
        let _ = tokio::time::timeout(FAREWELL, told).await;
    }
}
