//! The three tasks of the machine.

mod contacts;
mod log;
mod pace;
mod validate;

use std::sync::Arc;

use worker::Worker;

pub(crate) use contacts::Contacts;
pub(crate) use log::Logging;
pub(crate) use pace::Pace;
pub(crate) use validate::Validator;

/// Adds the tasks to a worker.
pub(crate) fn add(worker: Worker, validator: Validator, logging: Logging) -> Worker {
    let (validator, logging) = (Arc::new(validator), Arc::new(logging));
    let proving = logging.clone();
    worker
        .task("site-list.validate", move |task| {
            let validator = validator.clone();
            async move { validator.validate(&task).await }
        })
        .task("site-list.log-submit", move |task| {
            let logging = logging.clone();
            async move { logging.submit(&task).await }
        })
        .task("site-list.log-inclusion", move |task| {
            let logging = proving.clone();
            async move { logging.prove(&task).await }
        })
}
