//! Several servers at the work of one list, and servers that go down in the middle of it.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use client::Client;
use site_list::list::Replay;
use wire::SubmissionId;
use wire::api::{ClaimAnswer, ClaimBody, GiveBackBody, RenewBody, SettleResult};
use worker::{Ended, Error, Settlement, TaskSource};

use crate::machine::{ada, leaves, with_sigsum};
use crate::support::World;
use crate::support::running::{Running, Setup};
use crate::support::sigsum::{Bad, SigsumLog};
use crate::support::web::Shows;

type Place = (SubmissionId, String);

/// A server that does all its work once in vain: each first answer in a state is lost with the server, and the task is
/// anybody's again.
#[derive(Clone)]
struct GoesDown {
    client: Client,
    tasks: Arc<Mutex<HashMap<String, Place>>>,
    lost: Arc<Mutex<HashSet<Place>>>,
}

impl GoesDown {
    fn new(client: &Client) -> GoesDown {
        GoesDown { client: client.clone(), tasks: Arc::default(), lost: Arc::default() }
    }
}

#[async_trait]
impl TaskSource for GoesDown {
    fn name(&self) -> String {
        "a server that goes down".to_owned()
    }

    async fn claim(&self, claim: &ClaimBody, ended: Ended) -> Result<ClaimAnswer, Error> {
        let answer = TaskSource::claim(&self.client, claim, ended).await?;
        let mut tasks = self.tasks.lock().expect("no test panicked with it");
        for task in &answer.tasks {
            tasks.insert(task.token.clone(), (task.submission, task.state.to_string()));
        }
        drop(tasks);
        Ok(answer)
    }

    async fn renew(&self, renewal: RenewBody) -> Result<SettleResult, Error> {
        TaskSource::renew(&self.client, renewal).await
    }

    async fn settle(&self, settlement: &Settlement) -> Result<SettleResult, Error> {
        if let Settlement::Finish(body) = settlement {
            let place = self.tasks.lock().expect("no test panicked with it").get(&body.token).cloned();
            let place = place.expect("it was lent here");
            if self.lost.lock().expect("no test panicked with it").insert(place) {
                let back = Settlement::GiveBack(GiveBackBody { token: body.token.clone() });
                return TaskSource::settle(&self.client, &back).await;
            }
        }
        TaskSource::settle(&self.client, settlement).await
    }
}

/// The tasks that one change is made of.
const TASKS: usize = 6;

#[tokio::test(flavor = "multi_thread")]
async fn work_that_is_lost_in_every_state_is_done_again_without_a_second_leaf() {
    let world = World::start().await;
    let mut running = Running::start(&world).await;
    let source = GoesDown::new(&running.admin);
    running.hand_over(source.clone()).await;
    // Two servers that share nothing but the log's folder: one puts a leaf, and the other the same again.
    running.join(source.clone());
    let mut changes = Vec::new();
    for number in 0..6 {
        let name = format!("site-{number}.example");
        world.site(&name, Shows::Good, ada("ADD"));
        changes.push(running.submit(&name, "ADD").await);
    }
    for id in &changes {
        let ended = running.end(*id).await;
        assert_eq!(&*ended.state, "COMPLETED", "{:?}", ended.error);
    }
    assert_eq!(source.lost.lock().unwrap().len(), TASKS * changes.len(), "each was lost in each state");
    follows(&running, changes.len()).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn work_that_is_lost_makes_no_second_leaf_in_a_log_of_others() {
    let world = World::start().await;
    let log = SigsumLog::start(Bad::Never).await;
    let mut running = with_sigsum(&world, &log).await;
    running.hand_over(GoesDown::new(&running.admin)).await;
    world.site("site.example", Shows::Good, ada("ADD"));
    let ended = running.change("site.example", "ADD").await;
    assert_eq!(&*ended.state, "COMPLETED", "{:?}", ended.error);
    assert_eq!(log.size(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_that_take_over_from_one_another_lose_no_leaf() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let mut running = Running::with(&world, Setup { waiting_delay: "1s", ..Setup::default() }, folder).await;
    let mut changes = Vec::new();
    for number in 0..12 {
        let name = format!("site-{number}.example");
        world.site(&name, Shows::Good, ada("ADD"));
        changes.push(running.submit(&name, "ADD").await);
        if number % 3 == 2 {
            running.hand_over(running.admin.clone()).await;
        }
    }
    for id in &changes {
        assert_eq!(&*running.end(*id).await.state, "COMPLETED");
    }
    follows(&running, changes.len()).await;
}

/// Checks that the log has two leaves for each change, and that the list follows from them.
async fn follows(running: &Running, changes: usize) {
    let (logged, list) = (leaves(running), running.list().await);
    assert_eq!((logged.len(), list.len(), list.log_size()), (2 * changes, changes, 2 * changes as u64));
    let mut replay = Replay::default();
    logged.iter().for_each(|leaf| replay.push(leaf).expect("it is a leaf of this list"));
    assert_eq!(replay.check(&list), Ok(()));
}
