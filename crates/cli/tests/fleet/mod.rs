//! Several real servers over a real PostgreSQL, under load, while things go wrong. After each trouble the fleet gets on
//! by itself; at the end nothing acknowledged is lost, nothing was done twice, and nobody has waited in a circle.

mod check;
mod cluster;
use crate::common;
mod load;

use std::process::Command;
use std::time::Duration;

use cluster::Cluster;
use common::Server;
use common::sql::Session;
use load::{Load, PIPELINE};
use serde_json::Value;

struct Fleet {
    servers: Vec<Option<Server>>,
    load: Load,
    store: String,
}

impl Fleet {
    fn over(store: &str, count: usize) -> Fleet {
        Fleet::of(store, (0..count).map(|_| start(store)).collect())
    }

    fn of(store: &str, servers: Vec<Server>) -> Fleet {
        let urls: Vec<String> = servers.iter().map(|server| server.url.clone()).collect();
        let fleet = Fleet {
            servers: servers.into_iter().map(Some).collect(),
            load: Load::start(&urls),
            store: store.to_owned(),
        };
        fleet.gets_on();
        fleet
    }

    /// Waits until every server that is there does its part.
    fn gets_on(&self) {
        let begun = engine::clock::instant();
        let there: Vec<usize> = (0..self.servers.len()).filter(|no| self.servers[*no].is_some()).collect();
        self.load.until_each_acknowledged(&there, 100);
        eprintln!("100 more acknowledged by each of {there:?} after {:?}", begun.elapsed());
    }

    fn server(&self, no: usize) -> &Server {
        self.servers[no].as_ref().unwrap()
    }

    /// No farewell: it is gone.
    fn kill(&mut self, no: usize) {
        // Dropped is killed.
        drop(self.servers[no].take());
        self.load.moved(no, None);
    }

    fn start(&mut self, no: usize) {
        let server = start(&self.store);
        self.load.moved(no, Some(&server.url));
        self.servers[no] = Some(server);
    }

    /// Lists the servers that are there, and what they do for all.
    fn listed(&self, no: usize) -> Vec<(String, Vec<Value>)> {
        let list = self.server(no).run(&["servers", "-o", "json"]).ends(0).json();
        let servers = list["servers"].as_array().unwrap().iter();
        let entry = |server: &Value| {
            let address = format!("http://{}", server["address"].as_str().unwrap());
            (address, server["duties"].as_array().unwrap().clone())
        };
        servers.map(entry).collect()
    }

    fn duties_of(&self, asked: usize, url: &str) -> usize {
        self.listed(asked).iter().filter(|(address, _)| address == url).map(|(_, duties)| duties.len()).sum()
    }

    /// The end of the load, and everything compared.
    fn end(mut self, cluster: &Cluster) {
        let book = self.load.finish();
        let complaints = |server: &Server| {
            let log = server.log.lock().unwrap();
            log.iter().filter(|line| line.contains("ERROR") || line.contains("panicked")).cloned().collect()
        };
        let complaints: Vec<Vec<String>> = self.servers.iter().flatten().map(complaints).collect();
        for server in self.servers.iter_mut().flatten() {
            assert_eq!(server.signal("TERM").code(), Some(0));
        }
        check::check(&cluster.url(), &book);
        check::check_log(&cluster.log());
        assert!(complaints.iter().all(Vec::is_empty), "{complaints:#?}");
    }
}

fn start(store: &str) -> Server {
    Server::over(store, &[("steps.toml", PIPELINE)])
}

/// Returns the number of servers of a fleet: two, or what `MILEPOST_FLEET` says.
fn count() -> usize {
    std::env::var("MILEPOST_FLEET").map_or(2, |text| text.parse().expect("MILEPOST_FLEET is a number"))
}

fn until(what: &str, patience: Duration, mut holds: impl FnMut() -> bool) {
    let begun = engine::clock::instant();
    while !holds() {
        assert!(begun.elapsed() < patience, "not in time: {what}");
    }
    eprintln!("{what} after {:?}", begun.elapsed());
}

#[test]
fn a_server_that_is_killed_is_missed_by_nobody_and_its_duties_are_taken_over() {
    let cluster = Cluster::start();
    let mut fleet = Fleet::over(&cluster.url(), 2);
    until("all duties are done by somebody", load::PATIENCE, || {
        fleet.listed(0).iter().map(|(_, duties)| duties.len()).sum::<usize>() == 4
    });
    let busy = (0..2).max_by_key(|no| fleet.duties_of(0, &fleet.server(*no).url)).unwrap();
    let other = 1 - busy;
    fleet.kill(busy);
    let survivor = fleet.server(other).url.clone();
    // It takes some 10 seconds; a busy machine may take longer, but less than the rarest duty's pause.
    let patience = Duration::from_secs(40);
    until("the survivor does them all", patience, || fleet.duties_of(other, &survivor) == 4);
    fleet.gets_on();
    fleet.start(busy);
    fleet.gets_on();
    fleet.end(&cluster);
}

#[test]
fn four_servers_of_which_two_are_killed() {
    let cluster = Cluster::start();
    let mut fleet = Fleet::over(&cluster.url(), 4);
    fleet.kill(1);
    fleet.kill(3);
    fleet.gets_on();
    fleet.start(1);
    fleet.start(3);
    fleet.gets_on();
    fleet.end(&cluster);
}

#[cfg(unix)]
#[test]
fn servers_are_replaced_one_by_one() {
    let cluster = Cluster::start();
    let mut fleet = Fleet::over(&cluster.url(), 2);
    for no in 0..2 {
        let mut server = fleet.servers[no].take().unwrap();
        fleet.load.moved(no, None);
        assert_eq!(server.signal("TERM").code(), Some(0), "it ends in good order");
        let other = fleet.listed(1 - no);
        assert_eq!(other.len(), 1, "one that stops is off the list: {other:?}");
        fleet.start(no);
        fleet.gets_on();
    }
    fleet.end(&cluster);
}

#[test]
fn postgres_crashes_and_comes_back() {
    let cluster = Cluster::start();
    let fleet = Fleet::over(&cluster.url(), count());
    for _ in 0..2 {
        cluster.stop_at_once();
        cluster.begin();
        fleet.gets_on();
    }
    fleet.end(&cluster);
}

#[test]
fn connections_of_the_fleet_are_ended() {
    let cluster = Cluster::start();
    let fleet = Fleet::over(&cluster.url(), count());
    let session = Session::open(&cluster.url());
    for _ in 0..5 {
        let ended = "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE application_name = 'milepost'";
        assert!(session.number(ended) > 0);
        fleet.gets_on();
    }
    fleet.end(&cluster);
}

#[test]
fn connections_are_fewer_than_those_who_want_one() {
    let cluster = Cluster::start();
    let fleet = Fleet::over(&format!("{}?readers=1&writers=1", cluster.url()), 2);
    let servers: Vec<_> = (0..2).map(|no| fleet.server(no).client()).collect();
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
    let mut crowd = tokio::task::JoinSet::new();
    for no in 0..60 {
        let client = servers[no % 2].clone();
        let reading = async move {
            for _ in 0..2 {
                match client.stats().await {
                    Ok(stats) => assert_eq!(stats.condition, "running"),
                    Err(error) => assert!(error.is_passing(), "{error}"),
                }
            }
        };
        crowd.spawn_on(reading, runtime.handle());
    }
    fleet.gets_on();
    let read = async { tokio::time::timeout(load::PATIENCE, crowd.join_all()).await };
    let begun = engine::clock::instant();
    runtime.block_on(read).expect("the crowd reads all it wants");
    eprintln!("the crowd has read all it wanted after {:?}", begun.elapsed());
    fleet.gets_on();
    fleet.end(&cluster);
}

#[test]
fn a_forgotten_session_holds_back_nobody() {
    let cluster = Cluster::start();
    let forgotten = Session::open(&cluster.url());
    forgotten.run("CREATE TABLE public.other (n int)");
    let fleet = Fleet::over(&cluster.url(), count());
    // It has a transaction number and a snapshot, and keeps both.
    forgotten.run("BEGIN ISOLATION LEVEL REPEATABLE READ; INSERT INTO public.other VALUES (1)");
    assert!(forgotten.number("SELECT count(*) FROM milepost.submission") > 0);
    for _ in 0..5 {
        fleet.gets_on();
    }
    fleet.end(&cluster);
    forgotten.run("ROLLBACK");
}

#[test]
fn a_server_whose_clock_is_wrong_does_as_the_others_do() {
    let cluster = Cluster::start();
    // What `faketime` would set, without a process in between that gets our signals.
    let library = Command::new("faketime").args(["-f", "+1h", "printenv", "LD_PRELOAD"]).output().unwrap();
    let library = String::from_utf8(library.stdout).unwrap();
    // How much time passes is left as it is; what time it is, is not.
    let start = |off: &str| {
        let mut wrong = common::milepost(&[]);
        wrong.env("LD_PRELOAD", library.trim()).env("FAKETIME", off).env("FAKETIME_DONT_FAKE_MONOTONIC", "1");
        Server::by(wrong, &cluster.url(), &[("steps.toml", PIPELINE)])
    };
    let fleet = Fleet::of(&cluster.url(), vec![start("-1h"), start("+1h")]);
    let hours = |no: usize| {
        let log = fleet.server(no).log.lock().unwrap().clone();
        log.iter().filter_map(|line| line.split('T').nth(1)?.get(..2).map(str::to_owned)).collect::<Vec<_>>()
    };
    assert_ne!(hours(0).first(), hours(1).first(), "their clocks are two hours apart");
    fleet.gets_on();
    let crashed = Session::open(&cluster.url())
        .number("SELECT count(*) FROM milepost.event WHERE encode(leaf, 'escape') LIKE '%crashed%'");
    assert_eq!(crashed, 0, "no lease ended before its time");
    fleet.end(&cluster);
}

#[test]
fn a_standby_takes_over_and_nothing_acknowledged_is_lost() {
    let primary = Cluster::start();
    let standby = primary.synchronous_standby();
    let store = format!(
        "postgres://milepost@127.0.0.1:{},127.0.0.1:{}/postgres?target_session_attrs=read-write",
        primary.port, standby.port
    );
    let fleet = Fleet::over(&store, count());
    primary.stop_at_once();
    standby.promote();
    // It has been told to wait for a standby of its own.
    let session = Session::open(&standby.url());
    session.run("ALTER SYSTEM RESET synchronous_standby_names");
    session.run("SELECT pg_reload_conf()");
    fleet.gets_on();
    fleet.end(&standby);
    check::check_log(&primary.log());
}
