//! Submitting, looking, acting.

use std::collections::BTreeMap;

use reqwest::Url;
use reqwest::header::IF_MATCH;
use wire::api::{
    AcknowledgeBody, ActBody, ActionsAnswer, ClaimReviewBody, DeliveryPage, DeliveryView, EventPage,
    FindAnswer, HandOverBody, ManyAnswer, NoteBody, RedriveBody, ReviewPage, SubmissionPage, SubmissionView,
    SubmitAnswer, SubmitBody, SubmitMany, WhyAnswer,
};
use wire::submission::Fingerprint;
use wire::{InvestigationStatus, Json, Millis, Status, SubmissionId, Time};

use crate::call::Call;
use crate::client::Client;
use worker::Error;

/// The reviews to list.
#[derive(Debug, Clone, Default)]
pub struct ReviewFilter {
    pub pipeline: Option<String>,
    /// The role that is asked to review.
    pub role: Option<String>,
    pub whose: Option<String>,
    pub limit: Option<usize>,
    /// The `next` of the page before.
    pub after: Option<String>,
}

/// The submissions to list. Every condition given must hold.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    pub pipeline: Option<String>,
    pub state: Option<String>,
    pub status: Option<Status>,
    /// The progress of the investigation of their end.
    pub investigation: Option<InvestigationStatus>,
    /// Those that have this key: its holder, those that wait for it, those that ended.
    pub key: Option<String>,
    /// Those whose id begins like this.
    pub id: Option<String>,
    pub parent: Option<SubmissionId>,
    pub lane: Option<String>,
    pub labels: BTreeMap<String, String>,
    pub created_before: Option<Time>,
    pub created_after: Option<Time>,
    /// Those in their state since before this time.
    pub entered_before: Option<Time>,
    /// Those whose last error has this code.
    pub error: Option<String>,
    /// Those whose last error has this fingerprint.
    pub fingerprint: Option<Fingerprint>,
    /// Those that this worker has leased.
    pub worker: Option<String>,
}

/// The messages to the outside to list.
#[derive(Debug, Clone, Default)]
pub struct DeliveryFilter {
    /// The submission that the messages are about.
    pub submission: Option<SubmissionId>,
    /// `mail` or `webhook`.
    pub channel: Option<String>,
    pub status: Option<Status>,
}

/// The part of a list to read.
#[derive(Debug, Clone, Default)]
pub struct Page {
    pub limit: Option<usize>,
    /// The `next` of the page before.
    pub after: Option<SubmissionId>,
}

#[derive(Debug, Clone, Default)]
pub struct ActOptions {
    /// Makes the action safe to repeat, and repeated when the server cannot be reached.
    pub idempotency_key: Option<String>,
    /// The revision that must still be the submission's.
    pub revision: Option<u64>,
}

impl Client {
    /// Submits one. With an idempotency key, the call is repeated when the server cannot be reached.
    pub async fn submit(
        &self,
        pipeline: &str,
        body: &SubmitBody,
        idempotency_key: Option<&str>,
    ) -> Result<SubmitAnswer, Error> {
        let url = self.at(["pipelines", pipeline, "submissions"]);
        self.json(Call::post(url, body)?.idempotent(idempotency_key)?).await
    }

    /// Submits many; the results are in their order.
    pub async fn submit_many(
        &self,
        pipeline: &str,
        body: &SubmitMany,
        idempotency_key: Option<&str>,
    ) -> Result<ManyAnswer, Error> {
        let url = self.at(["pipelines", pipeline, "submissions"]);
        self.json(Call::post(url, body)?.idempotent(idempotency_key)?).await
    }

    pub async fn submission(&self, id: SubmissionId) -> Result<SubmissionView, Error> {
        self.json(Call::get(self.at(["submissions", &id.to_string()]))).await
    }

    /// A page of submissions, newest first.
    pub async fn submissions(&self, filter: &Filter, page: &Page) -> Result<SubmissionPage, Error> {
        let mut url = self.at(["submissions"]);
        add_query(&mut url, filter, page);
        self.json(Call::get(url)).await
    }

    /// The submissions that a text may mean: an id or the beginning of one, a key, or `PIPELINE/KEY`.
    pub async fn find(&self, text: &str) -> Result<FindAnswer, Error> {
        let mut url = self.at(["find"]);
        url.query_pairs_mut().append_pair("text", text);
        self.json(Call::get(url)).await
    }

    /// A page of a submission's events after a revision, oldest first.
    pub async fn events(&self, id: SubmissionId, after: u64) -> Result<EventPage, Error> {
        let mut url = self.at(["submissions", &id.to_string(), "events"]);
        if after > 0 {
            url.query_pairs_mut().append_pair("after", &after.to_string());
        }
        self.json(Call::get(url)).await
    }

    /// A page of what people decided and wrote about a submission. It may have none and still be followed by another.
    pub async fn events_by_people(&self, id: SubmissionId, after: u64) -> Result<EventPage, Error> {
        let mut url = self.at(["submissions", &id.to_string(), "events"]);
        url.query_pairs_mut().append_pair("by", "people");
        if after > 0 {
            url.query_pairs_mut().append_pair("after", &after.to_string());
        }
        self.json(Call::get(url)).await
    }

    /// Makes a declared move.
    pub async fn act(
        &self,
        id: SubmissionId,
        action: &str,
        body: &ActBody,
        options: &ActOptions,
    ) -> Result<SubmissionView, Error> {
        let url = self.at(["submissions", &id.to_string(), "actions", action]);
        self.json(options.on(Call::post(url, body)?)?).await
    }

    /// Returns the actions that are open to this client's token now, each with its form, and why others are not open.
    pub async fn actions(&self, id: SubmissionId) -> Result<ActionsAnswer, Error> {
        self.json(Call::get(self.at(["submissions", &id.to_string(), "actions"]))).await
    }

    /// A page of what waits for people, the first due first. `whose` is `all`, `unassigned` or `mine`.
    pub async fn reviews(&self, query: &ReviewFilter) -> Result<ReviewPage, Error> {
        let mut url = self.at(["reviews"]);
        let limit = query.limit.map(|limit| limit.to_string());
        let given = [
            ("pipeline", query.pipeline.as_deref()),
            ("role", query.role.as_deref()),
            ("whose", query.whose.as_deref()),
            ("limit", limit.as_deref()),
            ("after", query.after.as_deref()),
        ];
        for (name, value) in given.into_iter().filter_map(|(name, value)| Some((name, value?))) {
            url.query_pairs_mut().append_pair(name, value);
        }
        self.json(Call::get(url)).await
    }

    /// Takes a review on, or keeps it for longer.
    pub async fn claim_review(
        &self,
        id: SubmissionId,
        span: Option<Millis>,
        options: &ActOptions,
    ) -> Result<SubmissionView, Error> {
        let url = self.at(["submissions", &id.to_string(), "review", "claim"]);
        self.json(options.on(Call::post(url, &ClaimReviewBody { span })?)?).await
    }

    /// Gives a review to somebody else.
    pub async fn hand_over_review(
        &self,
        id: SubmissionId,
        body: &HandOverBody,
        options: &ActOptions,
    ) -> Result<SubmissionView, Error> {
        let url = self.at(["submissions", &id.to_string(), "review", "hand-over"]);
        self.json(options.on(Call::post(url, body)?)?).await
    }

    /// Lets a review go.
    pub async fn release_review(
        &self,
        id: SubmissionId,
        options: &ActOptions,
    ) -> Result<SubmissionView, Error> {
        let url = self.at(["submissions", &id.to_string(), "review", "release"]);
        self.json(options.on(Call::post(url, &serde_json::json!({}))?)?).await
    }

    /// Writes down what others should know.
    pub async fn note(
        &self,
        id: SubmissionId,
        text: &str,
        options: &ActOptions,
    ) -> Result<SubmissionView, Error> {
        let url = self.at(["submissions", &id.to_string(), "notes"]);
        self.json(options.on(Call::post(url, &NoteBody { text: text.to_owned() })?)?).await
    }

    /// Changes the payload by an RFC 7386 merge patch, in the fields the pipeline allows.
    pub async fn amend(
        &self,
        id: SubmissionId,
        patch: &Json,
        options: &ActOptions,
    ) -> Result<SubmissionView, Error> {
        let url = self.at(["submissions", &id.to_string(), "amend"]);
        self.json(options.on(Call::post(url, patch)?)?).await
    }

    /// Every reason a submission is not moving.
    pub async fn why(&self, id: SubmissionId) -> Result<WhyAnswer, Error> {
        self.json(Call::get(self.at(["submissions", &id.to_string(), "why"]))).await
    }

    /// A page of dead letters, newest first. The filter's status is not looked at.
    pub async fn dead(&self, filter: &Filter, page: &Page) -> Result<SubmissionPage, Error> {
        let mut url = self.at(["dead"]);
        add_query(&mut url, &Filter { status: None, ..filter.clone() }, page);
        self.json(Call::get(url)).await
    }

    /// Sets a dead letter going again.
    pub async fn redrive(&self, id: SubmissionId, reason: Option<&str>) -> Result<SubmissionView, Error> {
        let url = self.at(["submissions", &id.to_string(), "redrive"]);
        let body = RedriveBody { reason: reason.map(str::to_owned) };
        self.json(Call::post(url, &body)?).await
    }

    /// A page of ends that somebody should look into, newest first. What the filter says of investigations is not
    /// looked at.
    pub async fn investigations(&self, filter: &Filter, page: &Page) -> Result<SubmissionPage, Error> {
        let mut url = self.at(["investigations"]);
        add_query(&mut url, &Filter { investigation: None, ..filter.clone() }, page);
        self.json(Call::get(url)).await
    }

    /// Says that somebody has looked into how a submission ended.
    pub async fn acknowledge(
        &self,
        id: SubmissionId,
        note: Option<&str>,
        options: &ActOptions,
    ) -> Result<SubmissionView, Error> {
        let url = self.at(["submissions", &id.to_string(), "acknowledge"]);
        let body = AcknowledgeBody { note: note.map(str::to_owned) };
        self.json(options.on(Call::post(url, &body)?)?).await
    }

    /// A page of messages to the outside, newest first.
    pub async fn deliveries(&self, filter: &DeliveryFilter, page: &Page) -> Result<DeliveryPage, Error> {
        let mut url = self.at(["deliveries"]);
        let submission = filter.submission.map(|id| id.to_string());
        let named = [("submission", submission.as_deref()), ("channel", filter.channel.as_deref())];
        for (name, value) in named {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, value);
            }
        }
        add_query(&mut url, &Filter { status: filter.status, ..Filter::default() }, page);
        self.json(Call::get(url)).await
    }

    /// Sends a message once more: a dead one goes on, one that has ended is made again.
    pub async fn replay(&self, id: SubmissionId, reason: Option<&str>) -> Result<DeliveryView, Error> {
        let url = self.at(["deliveries", &id.to_string(), "replay"]);
        let body = RedriveBody { reason: reason.map(str::to_owned) };
        self.json(Call::post(url, &body)?).await
    }
}

impl ActOptions {
    fn on(&self, call: Call) -> Result<Call, Error> {
        let call = call.idempotent(self.idempotency_key.as_deref())?;
        match self.revision {
            Some(revision) => call.header(IF_MATCH, &format!("\"{revision}\"")),
            None => Ok(call),
        }
    }
}

fn add_query(url: &mut Url, filter: &Filter, page: &Page) {
    let given = [
        ("pipeline", filter.pipeline.clone()),
        ("state", filter.state.clone()),
        ("status", filter.status.map(|status| status.as_str().to_owned())),
        ("investigation", filter.investigation.map(|status| status.as_str().to_owned())),
        ("key", filter.key.clone()),
        ("id", filter.id.clone()),
        ("parent", filter.parent.map(|id| id.to_string())),
        ("lane", filter.lane.clone()),
        ("created_before", filter.created_before.map(|at| at.to_string())),
        ("created_after", filter.created_after.map(|at| at.to_string())),
        ("entered_before", filter.entered_before.map(|at| at.to_string())),
        ("error", filter.error.clone()),
        ("fingerprint", filter.fingerprint.map(|wanted| wanted.to_string())),
        ("worker", filter.worker.clone()),
        ("limit", page.limit.map(|limit| limit.to_string())),
        ("after", page.after.map(|id| id.to_string())),
    ];
    let given = given.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
    let labels = filter.labels.iter().map(|(name, value)| (format!("label.{name}"), value.clone()));
    let pairs: Vec<(String, String)> = given.chain(labels).collect();
    if !pairs.is_empty() {
        url.query_pairs_mut().extend_pairs(pairs);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_given_conditions_are_sent() {
        let mut url = Url::parse("http://x/").expect("the test's address is good");
        add_query(&mut url, &Filter::default(), &Page::default());
        assert_eq!(url.as_str(), "http://x/");
        let filter = Filter {
            status: Some(Status::Dead),
            labels: BTreeMap::from([("owner".to_owned(), "a&b".to_owned())]),
            ..Filter::default()
        };
        add_query(&mut url, &filter, &Page { limit: Some(5), after: None });
        assert_eq!(url.as_str(), "http://x/?status=dead&limit=5&label.owner=a%26b");
    }
}
