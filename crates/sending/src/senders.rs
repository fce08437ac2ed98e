//! The worker that sends what deliveries ask for.

use std::time::Duration;

use app::{App, Visitor};
use engine::Engine;
use fetch::{Fetch, Policy};
use model::owed::DELIVERY;
use model::{Caller, Role};
use worker::{Failure, Outcome, Task, Worker};

use crate::lines::{Lines, WAITING_MAX};
use crate::mail::Mails;
use crate::places::PLACES;
use crate::smtp::MailServer;
use crate::webhook::Webhooks;

const POST: &str = "delivery.post";
const MAIL: &str = "delivery.mail";
/// The name in which messages are claimed and settled. No token can have it.
const SUBJECT: &str = "notify";
/// Messages that are leased at a time: those under way, those that wait for a place, and as many again for which it is
/// yet to be decided. These never wait for one of the others to end.
const LEASED_MAX: usize = 2 * (PLACES + WAITING_MAX);
/// Messages of one claim.
const CLAIMED_MAX: usize = 256;
/// The time that messages under way have to arrive when the server stops.
const GRACE: Duration = Duration::from_secs(5);
/// The longest try where the pipeline sets no time for one.
const TRY_WITHIN: Duration = Duration::from_secs(60);
const ANSWER_BYTES_MAX: usize = 4_096;
/// The status says whether a message was taken; what else a receiver has to say is worth a moment.
const ANSWER_BODY_WITHIN: Duration = Duration::from_secs(1);

/// The way mails are handled.
#[derive(Debug, Clone)]
pub enum Mail {
    By(MailServer),
    /// Mails become dead letters that say that there is no mail server.
    Nowhere,
    /// Somebody else's workers send them.
    Elsewhere,
}

/// The worker that sends what the deliveries ask for.
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
        let caller = Caller::new(SUBJECT, Role::Worker);
        let source = App::new(self.engine, Visitor::inside(caller, Some(vec![DELIVERY.into()])));
        let webhooks = self.webhooks;
        let mut worker = Worker::new(source, "sender")
            .pipelines([DELIVERY])
            .concurrency(LEASED_MAX)
            .claim_max(CLAIMED_MAX)
            .grace(GRACE)
            .quietly()
            .task(POST, move |task| {
                let webhooks = webhooks.clone();
                async move { in_time(&task, webhooks.send(&task.payload)).await }
            });
        if self.takes_mail {
            let mails = self.mails;
            worker = worker.task(MAIL, move |task| {
                let mails = mails.clone();
                async move { in_time(&task, mail(mails.as_ref(), &task)).await }
            });
        }
        if let Err(error) = worker.run(stop).await {
            tracing::error!(%error, "messages are no longer sent");
        }
    }
}

async fn mail(mails: Option<&Mails>, task: &Task) -> Result<Outcome, Failure> {
    match mails {
        Some(mails) => mails.send(&task.payload).await,
        None => {
            let message = "this server knows no mail server: start it with --smtp and redrive this";
            Err(Failure::new("no-mail-server", message).permanent())
        }
    }
}

/// Ends a try before the pipeline's time for one is over, so that it is us who say what went wrong.
async fn in_time(
    task: &Task,
    sending: impl Future<Output = Result<Outcome, Failure>>,
) -> Result<Outcome, Failure> {
    let timeout = task.timeout.map(Duration::from);
    let within = timeout.map_or(TRY_WITHIN, |timeout| timeout * 4 / 5).min(TRY_WITHIN);
    let sent = tokio::time::timeout(within, sending).await;
    sent.unwrap_or_else(|_| Err(Failure::new("timeout", "it took too long")))
}
