//! The three tasks of the machine, and that of the daily look at the sites.

mod check;
mod contacts;
mod log;
mod pace;
mod validate;

use std::sync::Arc;

use worker::Worker;

pub(crate) use check::Checker;
pub(crate) use contacts::Contacts;
pub(crate) use log::Logging;
pub(crate) use pace::Pace;
pub(crate) use validate::Validator;

/// Adds the tasks to a worker.
pub(crate) fn add(worker: Worker, checker: Checker, logging: Logging) -> Worker {
    let (checker, logging) = (Arc::new(checker), Arc::new(logging));
    let (validator, proving) = (checker.validator.clone(), logging.clone());
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
        .task("site-list.check", move |task| {
            let checker = checker.clone();
            async move { checker.check(&task).await }
        })
}
