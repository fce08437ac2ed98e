//! What a handler is given.

use std::fmt;
use std::ops::Deref;

use model::Json;
use model::api::TaskView;
use serde::de::DeserializeOwned;

use super::answer::Failure;

/// A task under lease: the fields of [`TaskView`], and its documents as types of your own.
#[derive(Clone)]
pub struct Task(TaskView);

impl Task {
    pub(super) fn new(view: TaskView) -> Task {
        Task(view)
    }

    /// The submission's payload. One that does not fit `T` will not fit the next time either: the failure is permanent.
    pub fn payload<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        read("payload", &self.0.payload)
    }

    /// The state's static configuration; `null` where the pipeline file has none.
    pub fn with<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        read("configuration", self.0.with.as_ref().unwrap_or(&Json::null()))
    }

    /// The pipeline's parameters.
    pub fn params<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        read("parameters", &self.0.params)
    }

    /// The last output of a state's task, if it has run.
    pub fn output_of<T: DeserializeOwned>(&self, state: &str) -> Result<Option<T>, Failure> {
        self.0.outputs.get(state).map(|output| read("outputs", output)).transpose()
    }
}

fn read<T: DeserializeOwned>(what: &str, json: &Json) -> Result<T, Failure> {
    serde_json::from_str(json.as_str())
        .map_err(|error| Failure::new("unexpected-input", format!("the task's {what}: {error}")).permanent())
}

impl Deref for Task {
    type Target = TaskView;

    fn deref(&self) -> &TaskView {
        &self.0
    }
}

/// Without the token: whoever has it can settle the task.
impl fmt::Debug for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Task")
            .field("task", &self.0.task)
            .field("submission", &self.0.submission)
            .field("state", &self.0.state)
            .field("attempt", &self.0.attempt)
            .finish_non_exhaustive()
    }
}
