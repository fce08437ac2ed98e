//! Operations: one deed for every submission a filter finds.

use engine::NewOperation;
use engine::core::{OPERATIONS, results_of};
use model::{Code, Json, Refusal, Role, SubmissionId};
use serde::de::DeserializeOwned;
use store::{LAST_NAME, Room, Store};
use wire::api::{OperationBody, OperationList, ResultPage, ResultView};
use wire::operation::{Deed, Operation};

use crate::{App, Visitor, quote};

/// Results one call passes over to find those of one code.
const SCAN_MAX: usize = 10_000;
const PAGE: usize = 1_000;

impl App {
    /// Starts an operation, or counts what it would find.
    pub async fn start_operation(&self, mut body: OperationBody) -> Result<Operation, Refusal> {
        self.visitor.check_sees(&body.filter.pipeline)?;
        self.visitor.narrow_labels(&mut body.filter.labels)?;
        let deed = body.deed()?;
        self.check_many(&deed)?;
        self.check_operation(&self.engine.pipelines().current(), &body.filter, &deed)?;
        let OperationBody { filter, reason, dry_run, .. } = body;
        let new = NewOperation { filter, deed, reason, dry_run, by: self.visitor.caller.clone() };
        self.sharing().start_operation(new).await
    }

    /// Returns an operation that finds nothing but what the visitor sees.
    pub async fn operation(&self, id: &str) -> Result<Operation, Refusal> {
        let name = id.to_owned();
        let body = self.engine.read(move |store| store::registry_entry(store, OPERATIONS, &name)).await?;
        let operation: Option<Operation> = body.map(|body| kept(&body)).transpose()?;
        let seen = operation.filter(|operation| concerns(&self.visitor, operation));
        seen.ok_or_else(|| Refusal::new(Code::UnknownOperation, format!("no operation {}", quote(id))))
    }

    /// Stops an operation behind the submission it is at.
    pub async fn stop_operation(&self, id: &str) -> Result<Operation, Refusal> {
        let operation = self.operation(id).await?;
        if self.visitor.caller.role != Role::Admin && operation.by.name != self.visitor.caller.name {
            let message = format!("{} started it; they or an admin may stop it", operation.by.name);
            return Err(Refusal::new(Code::RoleRequired, message).with("role", Role::Admin.as_str()));
        }
        self.by().stop_operation(operation.id).await
    }

    /// Refuses those who are no admins whatever is no action: of actions, each submission says whether it is theirs.
    fn check_many(&self, deed: &Deed) -> Result<(), Refusal> {
        if self.visitor.caller.role == Role::Admin || matches!(deed, Deed::Act { .. } | Deed::Acknowledge) {
            return Ok(());
        }
        let message = "this takes the role admin; a reviewer may act on many and acknowledge many";
        Err(Refusal::new(Code::RoleRequired, message).with("role", Role::Admin.as_str()))
    }

    /// Lists operations, the newest first, from behind `after`.
    pub async fn operations(
        &self,
        after: Option<SubmissionId>,
        limit: usize,
    ) -> Result<OperationList, Refusal> {
        let visitor = self.visitor.clone();
        let wanted = move |operation: &Operation| concerns(&visitor, operation);
        let page = Newest { before: after, limit };
        self.engine.read(move |store| page.read(store, &wanted)).await
    }

    /// Lists what became of each submission of an operation, in the order of their ids; those of one code alone where
    /// one is given.
    pub async fn operation_results(
        &self,
        id: &str,
        code: Option<String>,
        after: Option<SubmissionId>,
        limit: usize,
    ) -> Result<ResultPage, Refusal> {
        let operation = self.operation(id).await?;
        let look = Results { kind: results_of(&operation.id), code, limit };
        let after = after.map_or_else(String::new, |id| id.to_string());
        self.engine.read(move |store| look.page(store, after)).await
    }
}

/// Tells whether all that the operation can find is the visitor's business.
fn concerns(visitor: &Visitor, operation: &Operation) -> bool {
    visitor.sees(&operation.filter.pipeline) && visitor.covers(&operation.filter.labels)
}

fn kept<T: DeserializeOwned>(body: &Json) -> Result<T, Refusal> {
    let read = serde_json::from_str(body.as_str());
    read.map_err(|error| {
        Refusal::new(Code::Internal, format!("an operation cannot be read as it is kept: {error}"))
    })
}

/// A page of operations, the newest first: ids begin with their time.
struct Newest {
    before: Option<SubmissionId>,
    limit: usize,
}

impl Newest {
    /// The number that is read at a time: an operation has up to 64 KiB.
    const AT_ONCE: usize = 50;

    fn read(
        &self,
        store: &dyn Store,
        wanted: &dyn Fn(&Operation) -> bool,
    ) -> Result<OperationList, store::Error> {
        let mut upto = self.before.map_or_else(|| LAST_NAME.to_owned(), |id| id.to_string());
        let (mut operations, mut room): (Vec<Operation>, _) = (Vec::new(), Room::default());
        loop {
            let page = store.registry_back(OPERATIONS, &upto, Self::AT_ONCE)?;
            let is_last = page.len() < Self::AT_ONCE;
            for (name, body) in page {
                // A page begins with the one that the page before ended with.
                if name == upto {
                    continue;
                }
                let read = serde_json::from_str::<Operation>(body.as_str());
                let read = read.inspect_err(
                    |error| tracing::warn!(operation = name, %error, "an operation cannot be read"),
                );
                if let Some(operation) = read.ok().filter(wanted) {
                    if operations.len() == self.limit || !room.is_left() {
                        let next = operations.last().map(|operation| operation.id.clone());
                        return Ok(OperationList { operations, next });
                    }
                    room.take(body.as_str().len());
                    operations.push(operation);
                }
                upto = name;
            }
            if is_last {
                return Ok(OperationList { operations, next: None });
            }
        }
    }
}

/// The results of one operation, in the order of their submissions' ids.
struct Results {
    kind: String,
    code: Option<String>,
    limit: usize,
}

impl Results {
    fn page(&self, store: &dyn Store, mut after: String) -> Result<ResultPage, store::Error> {
        let mut results = Vec::new();
        let mut scanned = 0;
        // With a code, most may be passed over; without, one page has all that is wanted.
        while scanned < SCAN_MAX {
            let wanted = if self.code.is_some() { PAGE } else { self.limit + 1 };
            let page = store.registry(&self.kind, &after, wanted)?;
            let whole = page.len() == wanted;
            for (name, body) in page {
                let view = view(&name, &body)?;
                if results.len() == self.limit {
                    return Ok(ResultPage { results, next: after.parse().ok() });
                }
                if self.code.is_none() || view.result.code == self.code {
                    results.push(view);
                }
                scanned += 1;
                after = name;
            }
            if !whole {
                return Ok(ResultPage { results, next: None });
            }
        }
        Ok(ResultPage { results, next: after.parse().ok() })
    }
}

fn view(name: &str, body: &Json) -> Result<ResultView, store::Error> {
    let corrupt =
        |error: String| store::Error::corrupt(format!("the result of {name} cannot be read: {error}"));
    let submission = name.parse().map_err(|_| corrupt("its name is no id".to_owned()))?;
    let result = serde_json::from_str(body.as_str()).map_err(|error| corrupt(error.to_string()))?;
    Ok(ResultView { submission, result })
}
