//! Claiming messages, sending them, and an orderly end.

use std::collections::BTreeMap;
use std::pin::pin;
use std::time::Duration;

use engine::Engine;
use engine::core::{ClaimMany, Granted};
use fetch::{Fetch, Policy};
use model::owed::DELIVERY;
use model::{Code, Json, Name};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::answer::Answer;
use crate::lease;
use crate::lines::{Lines, WAITING_MAX};
use crate::mail::Mails;
use crate::places::PLACES;
use crate::smtp::MailServer;
use crate::webhook::Webhooks;

const POST: &str = "delivery.post";
const MAIL: &str = "delivery.mail";
/// Messages that are leased at a time: those under way, those that wait for a place, and as many again for which it is
/// yet to be decided. These never wait for one of the others to end.
const LEASED_MAX: usize = 2 * (PLACES + WAITING_MAX);
/// Messages of one claim.
const CLAIMED_MAX: usize = 256;
/// The time that one claim waits. A claim cannot be cut off, or what it is granted would be nobody's; so a stop waits
/// for it, unless the engine ends it.
const CLAIM_FOR: Duration = Duration::from_secs(1);
/// Between looks while there is nothing to look for, or nobody to ask.
const PAUSE: Duration = Duration::from_secs(1);
/// How long messages under way may take to arrive when the server stops.
const GRACE: Duration = Duration::from_secs(5);
/// The longest try where the pipeline sets no time for one.
const TRY_WITHIN: Duration = Duration::from_secs(60);
const ANSWER_BYTES_MAX: usize = 4_096;
/// The status says whether a message was taken; what else a receiver has to say is worth a moment.
const ANSWER_BODY_WITHIN: Duration = Duration::from_secs(1);

/// What becomes of mails.
#[derive(Debug, Clone)]
pub enum Mail {
    By(MailServer),
    /// They become dead letters that say that there is no mail server.
    Nowhere,
    /// Somebody else's workers send them.
    Elsewhere,
}

/// The workers that send what the deliveries ask for.
#[derive(Debug, Clone)]
pub struct Senders {
    engine: Engine,
    webhooks: Webhooks,
    mails: Option<Mails>,
    takes_mail: bool,
}

impl Senders {
    /// Sends by these rules; how long and how much a receiver may answer is set here.
    #[must_use]
    pub fn new(engine: Engine, policy: Policy, mail: Mail) -> Senders {
        let policy = Policy {
            within: TRY_WITHIN,
            body_bytes_max: ANSWER_BYTES_MAX,
            body_within: Some(ANSWER_BODY_WITHIN),
            ..policy
        };
        let (fetch, lines) = (Fetch::new(policy), Lines::default());
        let takes_mail = !matches!(mail, Mail::Elsewhere);
        let mails = match mail {
            Mail::By(server) => Some(Mails { engine: engine.clone(), server, lines: lines.clone() }),
            Mail::Nowhere | Mail::Elsewhere => None,
        };
        Senders { webhooks: Webhooks { engine: engine.clone(), fetch, lines }, engine, mails, takes_mail }
    }

    /// Sends until `stop` ends, then lets what is under way arrive for a while, and gives the rest back.
    pub async fn run(self, stop: impl Future<Output = ()>) {
        let mut stop = pin!(stop);
        let give_up = watch::Sender::new(false);
        let mut under_way = JoinSet::new();
        loop {
            while under_way.try_join_next().is_some() {}
            if under_way.len() >= LEASED_MAX {
                tokio::select! {
                    biased;
                    () = &mut stop => break,
                    _ = under_way.join_next() => continue,
                }
            }
            let mut next = pin!(self.next(CLAIMED_MAX.min(LEASED_MAX - under_way.len())));
            let (granted, is_over) = tokio::select! {
                biased;
                () = &mut stop => (next.await, true),
                granted = &mut next => (granted, false),
            };
            let pauses = granted.is_none();
            for granted in granted.into_iter().flatten() {
                let sending = self.clone().one(granted, give_up.subscribe());
                under_way.spawn(sending);
            }
            if is_over {
                break;
            }
            if pauses {
                tokio::select! {
                    biased;
                    () = &mut stop => break,
                    () = tokio::time::sleep(PAUSE) => {}
                }
            }
        }
        let all = async { while under_way.join_next().await.is_some() {} };
        if tokio::time::timeout(GRACE, all).await.is_err() {
            tracing::info!(deliveries = under_way.len(), "stopping before all deliveries arrived");
            give_up.send_replace(true);
            while under_way.join_next().await.is_some() {}
        }
    }

    /// Messages to send, if there are some soon; `None` if there is nothing to ask for, or nobody to ask.
    async fn next(&self, max: usize) -> Option<Vec<Granted>> {
        let versions = self.engine.pipelines().current();
        let known = |task: &Name| versions.versions(DELIVERY).any(|pipeline| pipeline.has_task(task));
        let tasks: Vec<Name> = self.tasks().filter(known).collect();
        if tasks.is_empty() {
            return None;
        }
        let claim = ClaimMany {
            worker: "sender".into(),
            tasks,
            pipelines: vec![DELIVERY.into()],
            labels: BTreeMap::new(),
            max,
            arriving: false,
            only: None,
        };
        match self.engine.claim(claim, CLAIM_FOR).await {
            Ok(granted) => Some(granted),
            Err(refusal) => {
                if refusal.code != Code::Draining {
                    tracing::debug!(code = refusal.code.as_str(), "cannot claim deliveries; trying again");
                }
                None
            }
        }
    }

    fn tasks(&self) -> impl Iterator<Item = Name> {
        [POST].into_iter().chain(self.takes_mail.then_some(MAIL)).map(Name::from)
    }

    /// One message, from its lease to its settlement.
    async fn one(self, granted: Granted, mut give_up: watch::Receiver<bool>) {
        let lease = granted.row.lease().expect("a granted row is leased");
        let (token, span) = (granted.token, lease.span.into());
        let timeout = granted.pipeline.wanted_task(&granted.row).timeout.map(Duration::from);
        // Under the time the pipeline gives one try, so that it is us who say what went wrong.
        let within = timeout.map_or(TRY_WITHIN, |timeout| timeout * 4 / 5).min(TRY_WITHIN);
        let sending = tokio::time::timeout(within, self.send(&lease.task, &granted.documents.payload));
        let answer = tokio::select! {
            biased;
            sent = sending => sent.unwrap_or_else(|_| Answer::failed("timeout", "it took too long")),
            () = lease::keep(&self.engine, token, span) => return,
            _ = give_up.wait_for(|given_up| *given_up) => Answer::Elsewhere,
        };
        if let Answer::Failed { code, .. } = &answer {
            tracing::debug!(submission = %token.submission, code, "a delivery failed");
        }
        answer.tell(&self.engine, token).await;
    }

    async fn send(&self, task: &str, payload: &Json) -> Answer {
        match task {
            POST => self.webhooks.send(payload).await,
            MAIL => match &self.mails {
                Some(mails) => mails.send(payload).await,
                None => Answer::hopeless(
                    "no-mail-server",
                    "this server knows no mail server: start it with --smtp and redrive this",
                ),
            },
            other => Answer::hopeless("unknown-task", format!("nobody here does {other}")),
        }
    }
}
