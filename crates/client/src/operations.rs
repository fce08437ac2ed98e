//! Operations over many submissions, and what is late.

use wire::SubmissionId;
use wire::api::{OperationBody, OperationList, OverduePage, ResultPage};
use wire::operation::{Operation, OperationStatus};

use crate::call::Call;
use crate::client::Client;
use crate::wait::Polls;
use worker::Error;

/// The results of an operation to list.
#[derive(Debug, Clone, Default)]
pub struct ResultFilter {
    /// The code with which listed results were refused.
    pub code: Option<String>,
    pub limit: Option<usize>,
    /// The `next` of the page before.
    pub after: Option<SubmissionId>,
}

impl Client {
    /// Begins an operation; it goes on by itself. Not repeated: a repeat would be a second one.
    pub async fn start_operation(&self, body: &OperationBody) -> Result<Operation, Error> {
        self.json(Call::post(self.at(["operations"]), body)?).await
    }

    pub async fn operation(&self, id: &str) -> Result<Operation, Error> {
        self.json(Call::get(self.at(["operations", id]))).await
    }

    /// A page of operations, newest first. `after` is the `next` of the page before.
    pub async fn operations(
        &self,
        limit: Option<usize>,
        after: Option<&str>,
    ) -> Result<OperationList, Error> {
        let given = [("limit", limit.map(|limit| limit.to_string())), ("after", after.map(str::to_owned))];
        self.json(self.listing(["operations"], given)).await
    }

    /// Stops an operation. What is done stays done.
    pub async fn stop_operation(&self, id: &str) -> Result<Operation, Error> {
        self.json(Call::post(self.at(["operations", id, "stop"]), &serde_json::json!({}))?).await
    }

    /// A page of what came of each submission. With a code, a page may be empty and still have a `next`.
    pub async fn operation_results(&self, id: &str, filter: &ResultFilter) -> Result<ResultPage, Error> {
        let given = [
            ("code", filter.code.clone()),
            ("limit", filter.limit.map(|limit| limit.to_string())),
            ("after", filter.after.map(|id| id.to_string())),
        ];
        self.json(self.listing(["operations", id, "results"], given)).await
    }

    /// Waits until an operation has ended. `seen` is told how far it is with every look.
    pub async fn wait_for_operation(
        &self,
        id: &str,
        mut seen: impl FnMut(&Operation),
    ) -> Result<Operation, Error> {
        let mut polls = Polls::new(None);
        loop {
            let operation = self.operation(id).await?;
            seen(&operation);
            if operation.status != OperationStatus::Running {
                return Ok(operation);
            }
            polls.pause().await;
        }
    }

    /// A page of submissions that have missed a service level, the longest ago first.
    pub async fn overdue(
        &self,
        pipeline: Option<&str>,
        limit: Option<usize>,
        after: Option<&str>,
    ) -> Result<OverduePage, Error> {
        let given = [
            ("pipeline", pipeline.map(str::to_owned)),
            ("limit", limit.map(|limit| limit.to_string())),
            ("after", after.map(str::to_owned)),
        ];
        self.json(self.listing(["overdue"], given)).await
    }

    /// A read with those parameters that are given.
    fn listing<'a, const N: usize>(
        &self,
        parts: impl IntoIterator<Item = &'a str>,
        given: [(&str, Option<String>); N],
    ) -> Call {
        let mut url = self.at(parts);
        for (name, value) in given {
            if let Some(value) = value {
                url.query_pairs_mut().append_pair(name, &value);
            }
        }
        Call::get(url)
    }
}
