//! A server in this process: the store, the engine over it, and the API over that.

use std::sync::Arc;
use std::time::Duration;

use ::sending::{Consumer, Consumers, Mail, Senders};
use anyhow::anyhow;
use engine::pipelines::{Apply, Brought};
use engine::{ApplyError, Condition, Engine};
use model::Refusal;
use model::pipeline::{Problems, Source};
use server::{Doors, Site};
use tokio::net::TcpListener;
use tokio::sync::watch;

use crate::exit::{Exit, Stop};
use crate::store_place::Place;
use crate::systemd::Notify;
use crate::systems::Systems;

#[derive(Debug, Clone)]
pub(crate) struct Node {
    engine: Engine,
}

impl Node {
    /// Opens the store and starts the engine.
    pub(crate) fn open(place: &Place, options: &engine::Options) -> anyhow::Result<Node> {
        let engine = Engine::start(place.open()?, options)?;
        Ok(Node { engine })
    }

    /// Goes on to a definition.
    pub(crate) async fn apply(&self, source: &Source) -> anyhow::Result<()> {
        match self.engine.apply(source).await {
            Ok(_) => Ok(()),
            Err(ApplyError::Problems(problems)) => Err(problematic(source, &problems)),
            Err(ApplyError::Refused(refusal)) => Err(refused(source, &refusal)),
        }
    }

    /// Brings a definition that was loaded into force as it is meant.
    pub(crate) async fn bring(&self, apply: Apply) -> Result<Brought, Refusal> {
        self.engine.bring_loaded(apply).await
    }

    /// Applies the pipeline that notifications go through, where there is none.
    pub(crate) async fn apply_delivery(&self) -> anyhow::Result<()> {
        match self.engine.apply_delivery().await {
            Ok(true) => tracing::info!("applied the built-in pipeline `delivery`"),
            Ok(false) => {}
            Err(error) => return Err(anyhow!("the built-in pipeline `delivery` cannot be applied: {error}")),
        }
        Ok(())
    }

    /// Tells the service manager that all is well, for as long as the thread that commits answers. A store that cannot
    /// be reached is no reason to be killed: being started again would not bring it back.
    pub(crate) async fn reassure(self, notify: Arc<Notify>, every: Duration) {
        loop {
            tokio::time::sleep(every).await;
            if self.engine.answers(every).await {
                notify.alive();
            } else {
                tracing::error!(
                    "the engine does not answer; the service manager is not told that all is well"
                );
            }
        }
    }

    /// Makes the first token, if there is none yet.
    pub(crate) async fn first_token(&self, file: &std::path::Path) -> anyhow::Result<()> {
        crate::first_token::make(&self.engine, file).await
    }

    /// Returns who will be let in at this address; an error if nobody may listen there.
    pub(crate) async fn doors(&self, listener: &TcpListener) -> anyhow::Result<Doors> {
        let doors = server::doors(&self.engine, listener.local_addr()?).await;
        Ok(doors.map_err(|refusal| Stop::new(Exit::Refused, refusal.message))?)
    }

    /// Makes what sends notifications by these rules, once the node serves.
    pub(crate) fn senders(&self, policy: fetch::Policy, mail: Mail) -> Senders {
        Senders::new(self.engine.clone(), policy, mail)
    }

    /// Makes what pushes to consumers by these rules, once the node serves.
    pub(crate) fn consumers(&self, policy: fetch::Policy, consumers: Vec<Consumer>) -> Consumers {
        Consumers::new(self.engine.clone(), policy, consumers)
    }

    /// Serves until it is told to stop or the engine breaks; what was begun is finished.
    pub(crate) async fn serve(
        self,
        listener: TcpListener,
        mut options: server::Options,
        (senders, consumers, mut systems): (Option<Senders>, Consumers, Systems),
        stop: impl Future<Output = ()>,
    ) -> anyhow::Result<()> {
        options.listen = listener.local_addr()?;
        self.engine.listens_at(options.listen.to_string());
        let stop_sending = watch::Sender::new(false);
        let mut stopping = stop_sending.subscribe();
        let sending = tokio::spawn(async move {
            if let Some(senders) = senders {
                senders.run(async move { drop(stopping.wait_for(|stopped| *stopped).await) }).await;
            }
        });
        let pushing = tokio::spawn(consumers.run(stop_sending.subscribe()));
        let over = async {
            tokio::select! {
                () = stop => {}
                () = self.broken() => {}
            }
            stop_sending.send_replace(true);
        };
        let site = Site::new(self.engine.clone(), options, systems.mounts()?);
        let site = site.listening(systems.take_bound());
        let running = systems.run(&site, &stop_sending.subscribe())?;
        let served = site.serve(listener, over).await;
        stop_sending.send_replace(true);
        sending.await?;
        pushing.await?;
        running.join_all().await;
        served?;
        match self.engine.drain().await {
            Condition::Broken(reason) => Err(anyhow!("the store cannot be used any more: {reason}")),
            _ => Ok(()),
        }
    }

    async fn broken(&self) {
        let mut condition = self.engine.condition();
        // The sender ends with the engine's thread: then, too, there is nothing left to serve.
        let _ = condition.wait_for(|seen| matches!(seen, Condition::Broken(_) | Condition::Drained)).await;
    }
}

/// A file that cannot be loaded.
pub(crate) fn problematic(source: &Source, problems: &Problems) -> anyhow::Error {
    Stop::new(Exit::Negative, problems.render(source).trim_end()).into()
}

/// A file that may not come into force.
pub(crate) fn refused(source: &Source, refusal: &Refusal) -> anyhow::Error {
    anyhow!("{} cannot be applied: {} ({})", source.file, refusal.message, refusal.code.as_str())
}
