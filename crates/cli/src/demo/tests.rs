//! A system that shows itself.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use async_trait::async_trait;
use system::{Desk, Failed, PipelineFile, Staged};
use wire::api::SubmitBody;
use worker::{Outcome, Worker};

use super::*;

const TOML: &str = "name = 'greetings'\nversion = 1\nstart = 'GREETING'\n[states.GREETING]\n\
    task = 'greetings.greet'\non.greeted = 'GREETED'\n[states.GREETED]\nfinal = 'success'\n";

/// Set while the counterpart of the demo lives.
#[derive(Clone, Default)]
struct Counterpart(Arc<AtomicBool>);

#[derive(Default)]
struct Greetings(Counterpart, Fails);

/// The part of the demo that fails.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Fails {
    #[default]
    Nothing,
    Start,
    Tell,
}

impl System for Greetings {
    fn name(&self) -> &'static str {
        "greetings"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        vec![PipelineFile::new("greetings.toml", TOML)]
    }

    fn tasks(&self, _: &Desk, worker: Worker) -> Worker {
        let counterpart = self.0.clone();
        worker.task("greetings.greet", move |_| {
            let is_there = counterpart.0.load(Ordering::SeqCst);
            async move { Ok(Outcome::new(if is_there { "greeted" } else { "nobody" })) }
        })
    }

    fn demo(&self) -> Option<Box<dyn ::system::Demo>> {
        Some(Box::new(Greeter(self.0.clone(), self.1)))
    }
}

struct Greeter(Counterpart, Fails);

impl Drop for Greeter {
    fn drop(&mut self) {
        self.0.0.store(false, Ordering::SeqCst);
    }
}

#[async_trait]
impl ::system::Demo for Greeter {
    async fn start(&mut self, folder: &Path) -> Result<Staged, Failed> {
        assert!(folder.is_dir());
        if self.1 == Fails::Start {
            return Err("there is no `git` on the PATH; install it".into());
        }
        self.0.0.store(true, Ordering::SeqCst);
        Ok(Staged::default())
    }

    async fn tell(&mut self, client: Client) -> Result<Story, Failed> {
        if self.1 == Fails::Tell {
            return Err("nobody came".into());
        }
        let id = client.submit("greetings", &SubmitBody::default(), None).await?.id;
        let waited = client.wait(id, Some(PATIENCE)).await?;
        match &*waited.submission.state {
            "GREETED" => Ok(Story { text: "Somebody was greeted.".to_owned(), samples: vec![id] }),
            state => Err(format!("it is in {state}").into()),
        }
    }
}

#[tokio::test]
async fn a_system_shows_itself_with_its_real_tasks() {
    let greetings = Greetings::default();
    let counterpart = greetings.0.clone();
    let demo = Demo { listen: ([127, 0, 0, 1], 0).into(), once: true, format: Format::Json };
    let exit = demo.run_with(vec![Box::new(greetings)]).await.expect("its sample was greeted");
    assert_eq!(exit, Exit::Fine);
    assert!(!counterpart.0.load(Ordering::SeqCst), "what the demo started ends with it");
}

async fn shown(fails: Fails) -> anyhow::Result<Exit> {
    let greetings = Greetings(Counterpart::default(), fails);
    let demo = Demo { listen: ([127, 0, 0, 1], 0).into(), once: true, format: Format::Json };
    demo.run_with(vec![Box::new(greetings)]).await
}

#[tokio::test]
async fn a_system_that_cannot_start_its_counterparts_does_not_keep_others_from_theirs() {
    assert_eq!(shown(Fails::Start).await.expect("the others are shown"), Exit::Fine);
    let failed = shown(Fails::Tell).await.expect_err("its samples failed");
    assert_eq!(failed.to_string(), "the samples of the system `greetings` failed: nobody came");
}
