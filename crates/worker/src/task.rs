//! Tasks as handlers are given them.

use std::fmt;
use std::ops::Deref;

use serde::de::DeserializeOwned;
use tokio::sync::watch;
use wire::Json;
use wire::api::TaskView;
use wire::submission::Progress;

use crate::answer::Failure;
use crate::lease::Lease;

/// A task under lease: the fields of [`TaskView`], and its documents as types of your own.
#[derive(Clone)]
pub struct Task {
    view: TaskView,
    newest: watch::Receiver<u64>,
    told: watch::Sender<Option<Progress>>,
}

impl Task {
    pub(crate) fn new(view: TaskView, lease: &Lease) -> Task {
        Task { view, newest: lease.newest(), told: lease.told() }
    }

    /// Tells how far the task has come: `done`, of a total where that is known, and what it is at. Cheap, to be called as
    /// often as there is something new: the newest is sent, once a second at most. It is kept with the lease, shown with
    /// the submission, and gone when the task ends.
    pub fn report(&self, progress: Progress) {
        self.told.send_replace(Some(progress));
    }

    /// Tells whether the payload was amended since the task was claimed: a renewal has said so. The submission, as a client
    /// shows it, has the new one.
    #[must_use]
    pub fn is_amended(&self) -> bool {
        *self.newest.borrow() > self.view.payload_revision
    }

    /// Waits until the payload is amended.
    pub async fn amended(&self) {
        self.amended_after(self.view.payload_revision).await;
    }

    /// Waits until the payload was changed by a later revision than this one, and gives that.
    pub async fn amended_after(&self, revision: u64) -> u64 {
        let mut newest = self.newest.clone();
        let found = newest.wait_for(|newest| *newest > revision).await.map(|newest| *newest).ok();
        match found {
            Some(newest) => newest,
            // Nobody renews the lease any more, so nobody will say.
            None => std::future::pending().await,
        }
    }

    /// Reads the submission's payload. One that does not fit `T` will not fit the next time either: the failure is permanent.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        read("payload", &self.view.payload)
    }

    /// Reads the state's static configuration; `null` where the pipeline file has none.
    pub fn with<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        read("configuration", self.view.with.as_ref().unwrap_or(&Json::null()))
    }

    /// Reads the pipeline's parameters.
    pub fn params<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        read("parameters", &self.view.params)
    }

    /// Reads the last output of a state's task, if it has run.
    pub fn output_of<T: DeserializeOwned>(&self, state: &str) -> Result<Option<T>, Failure> {
        self.view.outputs.get(state).map(|output| read("outputs", output)).transpose()
    }
}

fn read<T: DeserializeOwned>(what: &str, json: &Json) -> Result<T, Failure> {
    serde_json::from_str(json.as_str())
        .map_err(|error| Failure::new("unexpected-input", format!("the task's {what}: {error}")).permanent())
}

impl Deref for Task {
    type Target = TaskView;

    fn deref(&self) -> &TaskView {
        &self.view
    }
}

/// Leaves the token out: whoever has it can settle the task.
impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("task", &self.view.task)
            .field("submission", &self.view.submission)
            .field("state", &self.view.state)
            .field("attempt", &self.view.attempt)
            .finish_non_exhaustive()
    }
}
