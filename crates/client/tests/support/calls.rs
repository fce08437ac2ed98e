//! The methods of the client under the names that the cases call them by.

use std::collections::BTreeMap;
use std::time::Duration;

use client::{
    ActOptions, Client, CursorFilter, Error, FeedFilter, Filter, Page, Position, Rest, ReviewFilter,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use wire::api::{
    ActBody, ClaimBody, CursorBody, EntryBody, FinishBody, HandOverBody, HoldBody, RenewBody, SpawnBody,
    SubmitBody, SubmitMany,
};
use wire::submission::Progress;
use wire::{Json, Millis, SubmissionId};

struct Arguments<'a>(&'a Value);

impl Arguments<'_> {
    fn maybe<T: DeserializeOwned>(&self, name: &str) -> Option<T> {
        let value = self.0.get(name)?;
        Some(serde_json::from_str(&value.to_string()).unwrap_or_else(|error| panic!("{name}: {error}")))
    }

    fn get<T: DeserializeOwned>(&self, name: &str) -> T {
        self.maybe(name).unwrap_or_else(|| panic!("the case has no argument `{name}`"))
    }

    /// All but these, as a body.
    fn without<T: DeserializeOwned>(&self, names: &[&str]) -> T {
        let members = self.0.as_object().unwrap().iter().filter(|(name, _)| !names.contains(&name.as_str()));
        let body: serde_json::Map<String, Value> =
            members.map(|(name, value)| (name.clone(), value.clone())).collect();
        serde_json::from_str(&Value::Object(body).to_string()).unwrap()
    }

    fn id(&self) -> SubmissionId {
        self.get("id")
    }

    fn key(&self) -> Option<String> {
        self.maybe("idempotency_key")
    }

    fn options(&self) -> ActOptions {
        ActOptions { idempotency_key: self.key(), revision: self.maybe("revision") }
    }

    fn span(&self, name: &str) -> Option<Duration> {
        self.maybe::<Millis>(name).map(Duration::from)
    }

    fn labels(&self) -> BTreeMap<String, String> {
        self.maybe("labels").unwrap_or_default()
    }

    fn position(&self) -> Position {
        match self.maybe::<Value>("after") {
            None => Position::Oldest,
            Some(Value::String(_)) => Position::End,
            Some(position) => Position::After(position.as_u64().unwrap()),
        }
    }
}

fn shown<T: Serialize>(answer: T) -> Value {
    serde_json::from_str(&serde_json::to_string(&answer).unwrap()).unwrap()
}

/// Calls what a case names, and gives the answer as JSON.
pub(crate) async fn call(client: &Client, case: &Value) -> Result<Value, Error> {
    let name = case["call"].as_str().unwrap();
    let arguments = Arguments(&case["arguments"]);
    match name {
        "submit" | "submit_many" => submit(client, name, &arguments).await,
        "entry" | "entries" | "put_entry" => keep(client, name, &arguments).await,
        "claim" | "finish" | "renew" | "spawn" => work(client, name, &arguments).await,
        "feed_page" | "cursor" | "cursors" | "move_cursor" | "delete_cursor" | "hold" | "holds"
        | "release" => watch(client, name, &arguments).await,
        _ => look(client, name, &arguments).await,
    }
}

async fn submit(client: &Client, name: &str, arguments: &Arguments<'_>) -> Result<Value, Error> {
    const APART: [&str; 4] = ["pipeline", "idempotency_key", "traceparent", "tracestate"];
    let (pipeline, key) = (arguments.get::<String>("pipeline"), arguments.key());
    let (trace, state) = (arguments.maybe::<String>("traceparent"), arguments.maybe::<String>("tracestate"));
    let client = &match trace {
        Some(trace) => client.clone().traced(&trace, state.as_deref())?,
        None => client.clone(),
    };
    if name == "submit" {
        let body: SubmitBody = arguments.without(&APART);
        return client.submit(&pipeline, &body, key.as_deref()).await.map(shown);
    }
    let body: SubmitMany = arguments.without(&APART);
    client.submit_many(&pipeline, &body, key.as_deref()).await.map(|answer| shown(answer.results))
}

async fn look(client: &Client, name: &str, arguments: &Arguments<'_>) -> Result<Value, Error> {
    match name {
        "get" => client.submission(arguments.id()).await.map(shown),
        "page" => {
            let filter = Filter {
                pipeline: arguments.maybe("pipeline"),
                status: arguments.maybe("status"),
                investigation: arguments.maybe("investigation"),
                labels: arguments.labels(),
                ..Filter::default()
            };
            let page = Page { limit: arguments.maybe("limit"), after: arguments.maybe("after") };
            client.submissions(&filter, &page).await.map(shown)
        }
        "events" => {
            client.events(arguments.id(), arguments.get("after")).await.map(|page| shown(page.events))
        }
        "find" => client.find(&arguments.get::<String>("text")).await.map(shown),
        "reviews" => {
            let filter = ReviewFilter {
                pipeline: arguments.maybe("pipeline"),
                role: arguments.maybe("role"),
                whose: arguments.maybe("whose"),
                limit: arguments.maybe("limit"),
                after: arguments.maybe("after"),
            };
            client.reviews(&filter).await.map(shown)
        }
        "claim_review" => {
            let span = arguments.maybe("span");
            client.claim_review(arguments.id(), span, &arguments.options()).await.map(shown)
        }
        "hand_over_review" => {
            let body = HandOverBody { to: arguments.get("to"), span: arguments.maybe("span") };
            client.hand_over_review(arguments.id(), &body, &arguments.options()).await.map(shown)
        }
        "release_review" => client.release_review(arguments.id(), &arguments.options()).await.map(shown),
        "note" => {
            let text: String = arguments.get("text");
            client.note(arguments.id(), &text, &arguments.options()).await.map(shown)
        }
        "figures" => client.figures().await.map(shown),
        "lanes" => {
            let (pipeline, after): (String, Option<String>) =
                (arguments.get("pipeline"), arguments.maybe("after"));
            client.lanes(&pipeline, arguments.maybe("limit"), after.as_deref()).await.map(shown)
        }
        "actions" => client.actions(arguments.id()).await.map(shown),
        "events_by_people" => {
            let after = arguments.get("after");
            client.events_by_people(arguments.id(), after).await.map(|page| shown(page.events))
        }
        "why" => client.why(arguments.id()).await.map(shown),
        "wait" => {
            let waited = client.wait(arguments.id(), arguments.span("at_most")).await?;
            let rest = match waited.rest {
                Rest::Ended => "ended",
                Rest::Dead => "dead",
                Rest::Person => "person",
                Rest::Deadline => "deadline",
            };
            Ok(json!({ "rest": rest, "submission": shown(waited.submission) }))
        }
        "act" => {
            let body: ActBody = arguments.without(&["id", "action", "revision", "idempotency_key"]);
            let action: String = arguments.get("action");
            client.act(arguments.id(), &action, &body, &arguments.options()).await.map(shown)
        }
        "amend" => client
            .amend(arguments.id(), &arguments.get::<Json>("patch"), &arguments.options())
            .await
            .map(shown),
        "acknowledge" => {
            let note = arguments.maybe::<String>("note");
            client.acknowledge(arguments.id(), note.as_deref(), &arguments.options()).await.map(shown)
        }
        "redrive" => {
            client.redrive(arguments.id(), arguments.maybe::<String>("reason").as_deref()).await.map(shown)
        }
        other => panic!("the client has no method for the call `{other}`"),
    }
}

async fn watch(client: &Client, name: &str, arguments: &Arguments<'_>) -> Result<Value, Error> {
    match name {
        "feed_page" => {
            let filter = FeedFilter {
                pipeline: arguments.maybe("pipeline"),
                state: arguments.maybe("state"),
                labels: arguments.labels(),
                limit: arguments.maybe("limit"),
            };
            let wait = arguments.span("wait").unwrap_or_default();
            client.feed(&filter, arguments.position(), wait).await.map(shown)
        }
        "cursor" => client.cursor(&arguments.get::<String>("name")).await.map(shown),
        "cursors" => client.cursors(&cursors(arguments)).await.map(shown),
        "delete_cursor" => {
            let subject = arguments.maybe::<String>("subject");
            client.delete_cursor(&arguments.get::<String>("name"), subject.as_deref()).await.map(shown)
        }
        "move_cursor" => {
            let body: CursorBody = arguments.without(&["name"]);
            client.move_cursor(&arguments.get::<String>("name"), body).await.map(shown)
        }
        "hold" => client.hold(&arguments.without::<HoldBody>(&[])).await.map(shown),
        "holds" => client.holds().await.map(|list| shown(list.holds)),
        _ => client.release(&arguments.get::<String>("hold")).await.map(shown),
    }
}

fn cursors(arguments: &Arguments<'_>) -> CursorFilter {
    CursorFilter {
        subject: arguments.maybe("subject"),
        limit: arguments.maybe("limit"),
        after: arguments.maybe("after"),
    }
}

async fn keep(client: &Client, name: &str, arguments: &Arguments<'_>) -> Result<Value, Error> {
    let system = arguments.get::<String>("system");
    match name {
        "entry" => client.entry(&system, &arguments.get::<String>("name")).await.map(shown),
        "entries" => {
            let after: Option<String> = arguments.maybe("after");
            client.entries(&system, arguments.maybe("limit"), after.as_deref()).await.map(shown)
        }
        _ => {
            let body: EntryBody = arguments.without(&["system", "name"]);
            client.put_entry(&system, &arguments.get::<String>("name"), &body).await.map(shown)
        }
    }
}

async fn work(client: &Client, name: &str, arguments: &Arguments<'_>) -> Result<Value, Error> {
    match name {
        "claim" => client.claim(&arguments.without::<ClaimBody>(&[])).await.map(|answer| shown(answer.tasks)),
        "finish" => {
            let tasks: Vec<FinishBody> = arguments.get("tasks");
            client.finish(tasks).await.map(|answer| shown(answer.results))
        }
        "renew" => {
            let tokens: Vec<String> = arguments.get("tokens");
            let mut progress: BTreeMap<String, Progress> = arguments.maybe("progress").unwrap_or_default();
            let tasks =
                tokens.into_iter().map(|token| RenewBody { progress: progress.remove(&token), token });
            let tasks = tasks.collect();
            client.renew(tasks).await.map(|answer| shown(answer.results))
        }
        _ => {
            let body: SpawnBody = arguments.without(&[]);
            client.spawn(vec![body]).await.map(|answer| shown(&answer.results[0]))
        }
    }
}
