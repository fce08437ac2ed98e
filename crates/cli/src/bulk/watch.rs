//! Watching an operation to its end, and telling how it went.

use std::io::{IsTerminal as _, Write as _};

use client::{Client, ResultFilter};
use wire::api::{OperationBody, ResultView};
use wire::operation::{Operation, OperationStatus};

use super::tables::{results, table};
use crate::exit::{Exit, Stop};
use crate::output::{Table, say};
use crate::remote::{ServerArgs, program};
use crate::signals::Signals;

/// Refusals that are shown; `operations results` has them all.
const REFUSALS_SHOWN: usize = 5;

/// Fine only if everything was done.
pub(crate) fn exit<'a>(operations: impl IntoIterator<Item = &'a Operation>) -> Exit {
    let well =
        |operation: &Operation| operation.status == OperationStatus::Done && operation.refused.is_empty();
    if operations.into_iter().all(well) { Exit::Fine } else { Exit::Negative }
}

/// Operations on a server, watched from here.
pub(crate) struct Bulk<'a> {
    pub(crate) client: Client,
    pub(crate) server: &'a ServerArgs,
}

impl Bulk<'_> {
    /// Starts an operation and waits for its end.
    async fn perform(&self, body: &OperationBody) -> anyhow::Result<Operation> {
        // Heard from before it starts: whoever gives up then is told what goes on.
        let signals = Signals::listen()?;
        let started = self.client.start_operation(body).await?;
        self.follow(&started.id, signals).await
    }

    /// Waits for an operation's end. It goes on by itself when nobody watches.
    pub(crate) async fn watch(&self, id: &str) -> anyhow::Result<Operation> {
        self.follow(id, Signals::listen()?).await
    }

    async fn follow(&self, id: &str, signals: Signals) -> anyhow::Result<Operation> {
        let mut line = Line { shown: false };
        let ended = tokio::select! {
            ended = self.client.wait_for_operation(id, |operation| line.show(operation)) => Some(ended),
            () = signals.asked_to_stop() => None,
        };
        line.end();
        if let Some(Ok(operation)) = ended {
            return Ok(operation);
        }
        let (program, server) = (program(), self.server.same_server());
        let next = format!(
            "look with `{program} operations show {id}{server}`, or stop it with `{program} operations stop {id}{server}`"
        );
        match ended {
            Some(Err(error)) => {
                say!("operation {id} goes on without being watched; {next}");
                Err(error.into())
            }
            _ => Err(Stop::new(Exit::Negative, format!("operation {id} goes on")).next(next).into()),
        }
    }

    /// Does one operation after the other and waits for each. None: whoever was asked thought better of it.
    pub(crate) async fn perform_all(
        &self,
        bodies: &[OperationBody],
        yes: bool,
    ) -> anyhow::Result<Option<Vec<Operation>>> {
        let is_dry = bodies.iter().all(|body| body.dry_run);
        if !is_dry && !yes && !self.are_meant(bodies).await? {
            return Ok(None);
        }
        let mut operations = Vec::new();
        for body in bodies {
            operations.push(self.perform(body).await?);
        }
        Ok(Some(operations))
    }

    /// Says what would come of them, and asks.
    async fn are_meant(&self, bodies: &[OperationBody]) -> anyhow::Result<bool> {
        if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
            let stop = Stop::usage("this is for every submission that fits, and there is nobody to ask");
            return Err(stop.next("look what would come of it with --dry-run, then give --yes").into());
        }
        let mut operations = Vec::new();
        for body in bodies {
            operations.push(self.perform(&OperationBody { dry_run: true, ..body.clone() }).await?);
        }
        say!("{}", self.told(&operations.iter().collect::<Vec<_>>()).await?.trim_end());
        let done: u64 = operations.iter().map(|operation| operation.done).sum();
        let Some(first) = bodies.first().filter(|_| done > 0) else {
            say!("there is nothing to do");
            return Ok(false);
        };
        let _ = write!(std::io::stderr(), "{} these {done}? [y/N] ", first.action);
        let mut answer = String::new();
        std::io::stdin().read_line(&mut answer)?;
        Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
    }

    /// Tells how operations went, and the first of those who refused.
    pub(crate) async fn told(&self, operations: &[&Operation]) -> anyhow::Result<String> {
        let mut text = table(operations.iter().copied());
        let mut refusals = Vec::new();
        for operation in operations {
            for code in operation.refused.keys() {
                let missing = REFUSALS_SHOWN.saturating_sub(refusals.len());
                refusals.extend(self.refused(operation, code, missing).await?);
            }
        }
        if refusals.is_empty() {
            return Ok(text);
        }
        let mut codes = Table::new(["REFUSED WITH", "TIMES"]);
        for (code, count) in operations.iter().flat_map(|operation| &operation.refused) {
            codes.row([code.clone(), count.to_string()]);
        }
        text.push_str(&format!("\n{}\n{}", codes.render(), results(&refusals)));
        Ok(text)
    }

    /// Some of those that refused with a code.
    async fn refused(
        &self,
        operation: &Operation,
        code: &str,
        most: usize,
    ) -> Result<Vec<ResultView>, client::Error> {
        let mut found = Vec::new();
        let mut filter = ResultFilter { code: Some(code.to_owned()), limit: Some(most.max(1)), after: None };
        while found.len() < most {
            let page = self.client.operation_results(&operation.id, &filter).await?;
            found.extend(page.results);
            filter.after = page.next;
            if filter.after.is_none() {
                break;
            }
        }
        found.truncate(most);
        Ok(found)
    }
}

/// One line that is written over, for people who watch.
struct Line {
    shown: bool,
}

impl Line {
    fn show(&mut self, operation: &Operation) {
        let mut stderr = std::io::stderr();
        if !stderr.is_terminal() {
            return;
        }
        let Operation { found, done, .. } = operation;
        let would = if operation.dry_run { "would be " } else { "" };
        let refused: u64 = operation.refused.values().sum();
        let _ = write!(stderr, "\r{found} found, {done} {would}done, {refused} refused");
        let _ = stderr.flush();
        self.shown = true;
    }

    fn end(&self) {
        if self.shown {
            say!("");
        }
    }
}
