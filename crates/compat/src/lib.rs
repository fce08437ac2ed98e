//! Interfaces that other people's clients speak: today the one of Cloudflare Queues.
//!
//! [`cloudflare`] is a system without pipelines: its routes ask for everything through the public client, in the name of
//! whoever calls, so they can do no more than a caller of the API, and every rule is the pipeline's. Sending is submitting,
//! pulling claims, acknowledging finishes, a retry fails the attempt, and purging is an action that the pipeline declares.

mod ack;
mod body;
mod envelope;
mod look;
mod pull;
mod purge;
mod push;
mod reference;

use std::pin::Pin;
use std::sync::Arc;

use http::Method;
use system::{Call, Need, PipelineFile, Reply, Room, Route, System};
use wire::Refusal;
use worker::queue::Queue;

use envelope::{Answer, Trouble};

/// The address before `/accounts/..`, which is all that a client has to be told.
pub const BASE: &str = "/compat/cloudflare/client/v4";

/// Returns the interface of Cloudflare Queues over these queues.
#[must_use]
pub fn cloudflare(queues: Vec<Queue>) -> impl System {
    Cloudflare { queues: Queues(queues.into()) }
}

struct Cloudflare {
    queues: Queues,
}

impl System for Cloudflare {
    fn name(&self) -> &'static str {
        "cloudflare"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        Vec::new()
    }

    fn routes(&self) -> Vec<Route> {
        macro_rules! at {
            ($path:literal) => {
                concat!("/compat/cloudflare/client/v4/accounts/{account}/queues", $path)
            };
        }
        let (get, post) = (Method::GET, Method::POST);
        vec![
            self.route(get.clone(), at!(""), |call, queues| Box::pin(look::list(call, queues))),
            self.route(get.clone(), at!("/{queue}"), |call, queues| Box::pin(look::show(call, queues))),
            self.route(get.clone(), at!("/{queue}/metrics"), |call, queues| {
                Box::pin(look::metrics(call, queues))
            }),
            self.route(post.clone(), at!("/{queue}/messages"), |call, queues| {
                Box::pin(push::one(call, queues))
            }),
            self.route(post.clone(), at!("/{queue}/messages/batch"), |call, queues| {
                Box::pin(push::many(call, queues))
            }),
            self.route(post.clone(), at!("/{queue}/messages/pull"), |call, queues| {
                Box::pin(pull::pull(call, queues))
            }),
            self.route(post.clone(), at!("/{queue}/messages/ack"), |call, queues| {
                Box::pin(ack::ack(call, queues))
            }),
            self.route(post.clone(), at!("/{queue}/messages/peek"), |call, queues| {
                Box::pin(look::peek(call, queues))
            }),
            self.route(post.clone(), at!("/{queue}/messages/purge"), |call, queues| {
                Box::pin(purge::some(call, queues))
            }),
            self.route(post, at!("/{queue}/purge"), |call, queues| Box::pin(purge::all(call, queues))),
            self.route(get, at!("/{queue}/purge"), |call, queues| Box::pin(purge::status(call, queues))),
        ]
    }
}

type Answering = Pin<Box<dyn Future<Output = Answer> + Send>>;

impl Cloudflare {
    /// Makes a route for whoever has a token; what the token is good for is checked where the server is asked in its name.
    fn route(
        &self,
        method: Method,
        path: &'static str,
        answer: impl Fn(Call, Queues) -> Answering + Send + Sync + Copy + 'static,
    ) -> Route {
        let queues = self.queues.clone();
        let handler = move |call: Call| {
            let queues = queues.clone();
            async move { Ok::<Reply, Refusal>(envelope::reply(answer(call, queues).await)) }
        };
        Route::new((method, path), (Need::AnyRole, Room::Page), "", handler).not_described()
    }
}

/// The queues that the settings declare.
#[derive(Debug, Clone)]
struct Queues(Arc<[Queue]>);

/// A queue as an address names it.
#[derive(Debug, Clone, Copy)]
enum Named<'a> {
    Tasks(&'a Queue),
    /// The dead letters of a queue, which can be looked at and purged.
    DeadLetters(&'a Queue),
}

impl<'a> Named<'a> {
    fn queue(self) -> &'a Queue {
        match self {
            Named::Tasks(queue) | Named::DeadLetters(queue) => queue,
        }
    }

    fn name(self) -> &'a str {
        match self {
            Named::Tasks(queue) => &queue.name,
            Named::DeadLetters(queue) => queue.dead_letters.as_deref().unwrap_or_default(),
        }
    }
}

impl Queues {
    /// Lists every name.
    fn each(&self) -> impl Iterator<Item = Named<'_>> {
        let dead = self.0.iter().filter(|queue| queue.dead_letters.is_some()).map(Named::DeadLetters);
        self.0.iter().map(Named::Tasks).chain(dead)
    }

    /// Returns what the address names.
    fn named(&self, call: &Call) -> Result<Named<'_>, Trouble> {
        let name = call.part("queue");
        let found = self.each().find(|named| named.name() == name);
        found.ok_or_else(|| {
            let shown: String = name.chars().take(64).collect();
            Trouble::new(
                404,
                format!("there is no queue `{shown}`; the settings declare them as `[queue.NAME]`"),
            )
        })
    }

    /// Returns the queue that the address names, where messages come and go.
    fn open(&self, call: &Call) -> Result<&Queue, Trouble> {
        match self.named(call)? {
            Named::Tasks(queue) => Ok(queue),
            Named::DeadLetters(queue) => Err(Trouble::new(
                400,
                format!(
                    "`{}` holds the dead letters of `{}`: look at them with peek, and set them going again with \
                     `milepost dead redrive`",
                    call.part("queue"),
                    queue.name
                ),
            )),
        }
    }
}
