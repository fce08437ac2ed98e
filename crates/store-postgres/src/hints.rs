//! Hints to the servers on other machines: "something happened, look". Nobody relies on one.
//!
//! Hints go out after the commit and on a connection of their own: a NOTIFY within commits would have them queue for
//! one lock of the whole database. A hint announced while another is on its way goes out with the next.

use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, StreamExt};
use store::Hint;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::sleep;
use tokio_postgres::{AsyncMessage, Client};

use crate::connection::{self, Settings};
use crate::error::Result;
use crate::gate;
use crate::writer::within;

/// The pause between two hints: others look a little later, and a busy server sends hundreds a second, not thousands.
const PAUSE: Duration = Duration::from_millis(5);
/// The wait before a connection that was lost is made again.
const AGAIN: Duration = Duration::from_millis(500);
/// A connection that only listens notices nothing by itself when the other end is gone.
const STILL_THERE: Duration = Duration::from_secs(10);
/// A message to all may have 8,000 bytes.
const BYTES_MAX: usize = 7_000;
/// The settings of a session for hints. No work is lost with a hint: no hint waits for disk or standby.
const SESSION: &str =
    "SET synchronous_commit = off; SET statement_timeout = '5s'; SET client_min_messages = warning";

/// The hints this server has yet to send, and the connection that sends them.
#[derive(Debug, Default)]
pub(crate) struct Hints {
    waiting: Mutex<Hint>,
    bell: Notify,
    /// The connection that announces, by the server's number: what it says is not for ourselves.
    own: AtomicI32,
}

impl Hints {
    pub(crate) fn announce(&self, hint: &Hint) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        for (task, count) in &hint.ready {
            *waiting.ready.entry(task.clone()).or_default() += count;
        }
        waiting.seq = waiting.seq.max(hint.seq);
        drop(waiting);
        self.bell.notify_one();
    }

    fn take(&self) -> Hint {
        std::mem::take(&mut *self.waiting.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Sends what is announced, for as long as the store lives.
    pub(crate) async fn send(self: Arc<Self>, settings: Settings) {
        let channel = channel(&settings.schema);
        let mut client = None;
        loop {
            self.bell.notified().await;
            let open = match client.take() {
                Some(open) => Ok(open),
                None => self.connect(&settings).await,
            };
            let hint = self.take();
            let sent = match open {
                Ok(open) => within(STILL_THERE, notify(&open, &channel, hint)).await.map(|()| open),
                Err(fault) => Err(fault),
            };
            client = sent.ok();
            sleep(if client.is_some() { PAUSE } else { AGAIN }).await;
        }
    }

    async fn connect(&self, settings: &Settings) -> Result<Client> {
        let (client, connection) = connection::alone(settings).await?;
        drop(tokio::spawn(connection));
        client.batch_execute(SESSION).await?;
        let no: i32 = client.query_one("SELECT pg_backend_pid()", &[]).await?.try_get(0)?;
        self.own.store(no, Ordering::SeqCst);
        Ok(client)
    }

    /// Hears what others announce, for as long as the store lives. While there is no connection hints are lost, and
    /// whoever waits looks by itself.
    pub(crate) async fn hear(self: Arc<Self>, settings: Settings, heard: Heard) {
        loop {
            // Whatever ended it, it is tried again.
            let _ = self.listen(&settings, &heard).await;
            sleep(AGAIN).await;
        }
    }

    async fn listen(self: &Arc<Self>, settings: &Settings, heard: &Heard) -> Result<()> {
        let (client, mut connection) = connection::alone(settings).await?;
        let (hints, heard) = (self.clone(), heard.clone());
        let mut messages = stream::poll_fn(move |context| connection.poll_message(context));
        let mut reading = Reading(tokio::spawn(async move {
            while let Some(Ok(message)) = messages.next().await {
                if let AsyncMessage::Notification(said) = message
                    && said.process_id() != hints.own.load(Ordering::SeqCst)
                    && let Ok(hint) = serde_json::from_str(said.payload())
                {
                    heard(hint);
                }
            }
        }));
        let listen = format!("{SESSION}; LISTEN {}", channel(&settings.schema));
        within(STILL_THERE, async { Ok(client.batch_execute(&listen).await?) }).await?;
        loop {
            tokio::select! {
                _ = &mut reading.0 => return Ok(()),
                () = sleep(STILL_THERE) => {}
            }
            within(STILL_THERE, async { Ok(client.simple_query("").await?) }).await?;
        }
    }
}

pub(crate) type Heard = Arc<dyn Fn(Hint) + Send + Sync>;

/// Ends with whoever waits for it.
struct Reading(JoinHandle<()>);

impl Drop for Reading {
    fn drop(&mut self) {
        self.0.abort();
    }
}

async fn notify(client: &Client, channel: &str, hint: Hint) -> Result<()> {
    for part in parts(hint) {
        client.execute("SELECT pg_notify($1, $2)", &[&channel, &part]).await?;
    }
    Ok(())
}

/// Mostly one.
fn parts(hint: Hint) -> Vec<String> {
    let written = |hint: &Hint| serde_json::to_string(hint).expect("it has only string keys");
    let (mut parts, mut part) = (Vec::new(), Hint { seq: hint.seq, ..Hint::default() });
    let mut bytes = 0;
    for (task, count) in hint.ready {
        bytes += task.len() + 30;
        if bytes > BYTES_MAX && !part.ready.is_empty() {
            parts.push(written(&std::mem::take(&mut part)));
            bytes = task.len() + 30;
        }
        part.ready.insert(task, count);
    }
    parts.push(written(&part));
    parts
}

/// Returns the channel's name: another for each store of a database, and short enough for any schema's name.
fn channel(schema: &str) -> String {
    format!("milepost_{:016x}", gate::hashed(&["hints", schema]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_announced_meanwhile_goes_out_together() {
        let hints = Hints::default();
        for (task, seq) in [("a", 5), ("b", 7), ("a", 6)] {
            hints.announce(&Hint { ready: [(task.into(), 2)].into(), seq: Some(seq) });
        }
        assert_eq!(hints.take(), Hint { ready: [("a".into(), 4), ("b".into(), 2)].into(), seq: Some(7) });
        assert_eq!(hints.take(), Hint::default());
    }

    #[test]
    fn hint_that_is_too_long_for_one_message_goes_out_in_several() {
        let ready =
            (0..500).map(|no| (format!("system.task-with-a-rather-long-name-{no}").into(), no)).collect();
        let whole = Hint { ready, seq: Some(9) };
        let parts = parts(whole.clone());
        assert!(parts.len() > 1 && parts.iter().all(|part| part.len() < 8_000));
        let mut heard = Hint::default();
        for part in &parts {
            let part: Hint = serde_json::from_str(part).expect("it was written so");
            heard.ready.extend(part.ready);
            heard.seq = heard.seq.max(part.seq);
        }
        assert_eq!(heard, whole);
    }

    #[test]
    fn stores_of_one_database_do_not_hear_each_other() {
        assert_ne!(channel("a"), channel("b"));
        assert!(channel(&"x".repeat(500)).len() < 64);
    }
}
