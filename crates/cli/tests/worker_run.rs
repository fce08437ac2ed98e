//! `milepost worker run`: shell scripts as workers of the real server.
#![cfg(unix)]

use crate::common;

use std::fs::{self, File};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::PathBuf;
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use client::{ActOptions, Client, Rest};
use common::{Server, milepost};
use model::event::Kind;
use model::{Json, Status, SubmissionId};
use serde_json::{Value, json};
use tempfile::TempDir;
use wire::api::{ActBody, ApplyBody, SubmissionView, SubmitBody};

const PIPELINE: &str = r#"
name = "work"
version = 1
start = "WORK"
amend = { fields = ["note"] }
[states.WORK]
task = "test.work"
lease = "30s"
retry = { times = 1, delay = "1ms" }
on.done = { to = "DONE", metadata = { n = "payload.n" } }
actions.cancel = "CANCELLED"
[states.DONE]
final = "success"
[states.CANCELLED]
final = "cancelled"
"#;

/// Longer than anything here takes, even on a busy machine.
const PATIENCE: Option<Duration> = Some(Duration::from_secs(60));

/// A server, a folder for the scripts, and a client.
struct Scene {
    server: Server,
    client: Client,
    folder: TempDir,
}

/// A worker process; killed at the end.
struct Working(Child);

impl Drop for Working {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

impl Working {
    fn terminate(&self) {
        let sent = Command::new("kill").args(["-TERM", &self.0.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    fn stderr(&mut self) -> BufReader<ChildStderr> {
        BufReader::new(self.0.stderr.take().unwrap())
    }
}

impl Scene {
    fn new() -> Scene {
        Scene::of(PIPELINE)
    }

    /// Leases that are renewed soon, but not so soon that a busy machine could not.
    fn with_short_leases() -> Scene {
        Scene::of(&PIPELINE.replace("30s", "9s"))
    }

    fn of(pipeline: &str) -> Scene {
        let server = Server::start(&[("work.toml", pipeline)]);
        let client = server.client();
        Scene { server, client, folder: TempDir::new().unwrap() }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// A pipe with a name: whoever opens one end waits for the other.
    fn fifo(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        path
    }

    fn command(&self, options: &[&str], script: &str) -> Command {
        let mut command = milepost(&["worker", "run", "--task", "test.work", "--server", &self.server.url]);
        command.args(options).args(["--", "sh", "-c", script]).env("FOLDER", self.folder.path());
        command.stdout(Stdio::null());
        command
    }

    fn work(&self, options: &[&str], script: &str) -> Working {
        Working(self.command(options, script).stderr(Stdio::null()).spawn().unwrap())
    }

    async fn submit(&self) -> SubmissionId {
        let body = SubmitBody { payload: Json::from(json!({ "n": 1 })), ..SubmitBody::default() };
        self.client.submit("work", &body, None).await.unwrap().id
    }

    async fn rested(&self, id: SubmissionId) -> SubmissionView {
        let waited = self.client.wait(id, PATIENCE).await.unwrap();
        assert_ne!(waited.rest, Rest::Deadline, "{:?}", waited.submission);
        waited.submission
    }

    async fn kinds(&self, id: SubmissionId) -> Vec<Kind> {
        self.client.events(id, 0).await.unwrap().events.into_iter().map(|event| event.kind).collect()
    }

    /// Returns what a script's failure leaves behind.
    async fn failure_of(&self, script: &str) -> (String, String) {
        let _working = self.work(&[], script);
        let id = self.submit().await;
        let dead = self.rested(id).await;
        let error = dead.error.unwrap();
        (error.code.to_string(), error.message.to_string())
    }
}

fn output(submission: &SubmissionView) -> Value {
    serde_json::from_str(submission.outputs.as_ref().unwrap()["WORK"].as_str()).unwrap()
}

/// Does something that blocks, in a thread that nobody waits for: what never ends fails the test instead of hanging it.
async fn in_time<T: Send + 'static>(what: impl FnOnce() -> T + Send + 'static) -> T {
    let (done, ended) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || done.send(what()));
    tokio::time::timeout(PATIENCE.unwrap(), ended).await.expect("it ends in time").unwrap()
}

type Lines = BufReader<File>;

/// Waits for whoever writes into a pipe.
async fn opened(fifo: PathBuf) -> Lines {
    in_time(move || BufReader::new(File::open(fifo).unwrap())).await
}

async fn next_line(mut lines: Lines) -> (String, Lines) {
    in_time(move || {
        let mut line = String::new();
        lines.read_line(&mut line).unwrap();
        (line, lines)
    })
    .await
}

/// Waits until the last of those who hold the other end of a pipe has ended.
async fn let_go(mut lines: Lines) {
    in_time(move || lines.read_to_string(&mut String::new()).unwrap()).await;
}

#[tokio::test]
async fn a_program_gets_the_task_and_answers() {
    let scene = Scene::new();
    let script = r#"task=$(cat); printf '{"outcome": "done", "output": %s, "result": "fine"}' "$task""#;
    let _working = scene.work(&["--name", "sh-1"], script);
    let id = scene.submit().await;
    let done = scene.rested(id).await;
    assert_eq!((done.status, done.result.as_ref()), (Status::Succeeded, Some(&Json::from(json!("fine")))));
    let task = output(&done);
    assert_eq!((&task["task"], &task["payload"]), (&json!("test.work"), &json!({ "n": 1 })));
    assert_eq!(task["submission"], json!(id));
    let events = scene.client.events(id, 0).await.unwrap().events;
    assert_eq!(&*events[1].actor.name, "sh-1");
}

/// Waits until the lease shows how far its task is.
async fn progress(scene: &Scene, id: SubmissionId) -> (u64, Option<u64>, String) {
    let told = async {
        loop {
            let view = scene.client.submission(id).await.unwrap();
            if let Some(told) = view.lease.and_then(|lease| lease.progress) {
                return (told.done, told.total, told.line.unwrap_or_default());
            }
        }
    };
    tokio::time::timeout(PATIENCE.unwrap(), told).await.expect("it is told")
}

#[tokio::test]
async fn a_program_says_how_far_it_is_before_it_answers() {
    let scene = Scene::new();
    let go = scene.fifo("go");
    let script = r#"cat > "$FOLDER/task"; echo '{"progress": {"done": 3, "total": 10, "line": "c.nc"}}'; read -r x < "$FOLDER/go"
        printf '\n{\n "outcome": "done",\n "output": 1\n}\n'"#;
    let _working = scene.work(&[], script);
    let id = scene.submit().await;
    assert_eq!(progress(&scene, id).await, (3, Some(10), "c.nc".to_owned()));
    in_time(move || fs::write(go, "\n").unwrap()).await;
    let done = scene.rested(id).await;
    assert_eq!((done.status, output(&done)), (Status::Succeeded, json!(1)));
}

#[tokio::test]
async fn a_program_that_stays_says_how_far_each_task_is() {
    let scene = Scene::new();
    let go = scene.fifo("go");
    let script = r#"read -r task; token=${task#*\"token\":\"}; token=${token%%\"*}
        printf '{"token": "%s", "progress": {"done": 7}}\n' "$token"; read -r x < "$FOLDER/go"
        printf '{"token": "%s", "outcome": "done", "output": 1}\n' "$token""#;
    let _working = scene.work(&["--mode", "lines"], script);
    let id = scene.submit().await;
    assert_eq!(progress(&scene, id).await, (7, None, String::new()));
    in_time(move || fs::write(go, "\n").unwrap()).await;
    assert_eq!(scene.rested(id).await.status, Status::Succeeded);
}

#[tokio::test]
async fn an_exit_code_without_an_answer_is_a_failure_with_the_last_words() {
    let scene = Scene::new();
    let failure = scene.failure_of("echo early >&2; echo no luck >&2; exit 3").await;
    assert_eq!(failure, ("exit-3".to_owned(), "early\nno luck".to_owned()));
    let (code, message) = scene.failure_of("exit 4").await;
    assert_eq!((&*code, &*message), ("exit-4", "the program ended with exit code 4 and said nothing"));
}

#[tokio::test]
async fn a_signal_is_a_failure_that_names_it() {
    assert_eq!(Scene::new().failure_of("kill -9 $$").await.0, "signal-9");
}

#[tokio::test]
async fn only_the_end_of_long_last_words_is_kept() {
    let scene = Scene::new();
    let (_, message) =
        scene.failure_of("i=0; while [ $i -lt 500 ]; do echo line $i >&2; i=$((i+1)); done; exit 1").await;
    assert!(message.chars().count() <= 2_000 && message.ends_with("line 499"), "{message}");
    assert!(message.len() > 1_900, "{}", message.len());
}

#[tokio::test]
async fn an_answer_counts_whatever_the_exit_code() {
    let scene = Scene::new();
    let failed = r#"echo '{"error": {"code": "smtp", "message": "no route", "retryable": false}}'; exit 1"#;
    assert_eq!(scene.failure_of(failed).await, ("smtp".to_owned(), "no route".to_owned()));
}

#[tokio::test]
async fn what_is_no_answer_is_told_to_people_and_not_tried_again() {
    let scene = Scene::new();
    let working = scene.work(&[], "echo hello");
    let id = scene.submit().await;
    assert_eq!(&*scene.rested(id).await.error.unwrap().code, "invalid-answer");
    assert_eq!(scene.kinds(id).await, [Kind::Submitted, Kind::Died]);
    drop(working);
    let (code, message) = scene.failure_of("head -c 5000000 /dev/zero").await;
    assert_eq!(code, "invalid-answer");
    assert!(message.contains("over 4194304 bytes"), "{message}");
}

#[tokio::test]
async fn a_snooze_costs_no_attempt() {
    let scene = Scene::new();
    let script = r#"
        if [ -e "$FOLDER/seen" ]; then echo '{"outcome": "done"}'; else touch "$FOLDER/seen"; echo '{"snooze": "1ms"}'; fi"#;
    let _working = scene.work(&[], script);
    let id = scene.submit().await;
    assert_eq!(scene.rested(id).await.status, Status::Succeeded);
    assert_eq!(scene.kinds(id).await, [Kind::Submitted, Kind::Moved]);
}

#[tokio::test]
async fn the_token_of_the_worker_is_not_passed_on() {
    let server = Server::with_token("t-0p", "admin");
    let client = Client::new(&server.url, Some("t-0p".to_owned())).unwrap();
    let body = ApplyBody { toml: PIPELINE.to_owned(), ..ApplyBody::default() };
    client.apply("work", &body).await.unwrap();
    let scene = Scene { server, client, folder: TempDir::new().unwrap() };
    let script = r#"printf '{"outcome": "done", "output": "%s %s"}' "${MILEPOST_TOKEN-none}" "$FOLDER""#;
    let mut command = scene.command(&[], script);
    let _working = Working(command.env("MILEPOST_TOKEN", "t-0p").stderr(Stdio::null()).spawn().unwrap());
    let id = scene.submit().await;
    let done = scene.rested(id).await;
    assert_eq!(output(&done), json!(format!("none {}", scene.folder.path().display())));
}

#[tokio::test]
async fn a_program_finds_the_trace_in_its_environment() {
    const PARENT: &str = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
    let scene = Scene::new();
    let script = r#"printf '{"outcome": "done", "output": "%s"}' "${TRACEPARENT-none}""#;
    let mut command = scene.command(&[], script);
    let _working = Working(command.env("TRACEPARENT", "its own").stderr(Stdio::null()).spawn().unwrap());
    let without = scene.submit().await;
    assert_eq!(output(&scene.rested(without).await), json!("none"));
    let body = SubmitBody { payload: Json::from(json!({ "n": 1 })), ..SubmitBody::default() };
    let traced = scene.client.clone().traced(PARENT, None).unwrap();
    let id = traced.submit("work", &body, None).await.unwrap().id;
    let done = scene.rested(id).await;
    assert_eq!((output(&done), done.traceparent.as_deref()), (json!(PARENT), Some(PARENT)));
    assert!(scene.client.clone().traced("nonsense", None).is_err());
}

#[tokio::test]
async fn a_lost_lease_ends_the_program_and_all_it_started() {
    let scene = Scene::with_short_leases();
    let alive = scene.fifo("alive");
    // The pipe is open as long as the program or its child lives.
    let script = r#"exec 3> "$FOLDER/alive"; echo begun >&3; sleep 1000 & wait"#;
    let _working = scene.work(&[], script);
    let id = scene.submit().await;
    let (line, lines) = next_line(opened(alive).await).await;
    assert_eq!(line, "begun\n");
    scene.client.act(id, "cancel", &ActBody::default(), &ActOptions::default()).await.unwrap();
    let_go(lines).await;
    assert_eq!(scene.rested(id).await.status, Status::Cancelled);
}

#[tokio::test]
async fn a_program_that_does_not_end_in_time_ends_with_its_worker() {
    for mode in ["once", "lines"] {
        let scene = Scene::new();
        let alive = scene.fifo("alive");
        let script = r#"trap '' TERM; exec 3> "$FOLDER/alive"; echo begun >&3; sleep 1000 & wait; wait"#;
        let mut working = scene.work(&["--grace", "0s", "--mode", mode], script);
        scene.submit().await;
        let (_, lines) = next_line(opened(alive).await).await;
        working.terminate();
        let status = in_time(move || working.0.wait().unwrap()).await;
        assert!(status.success(), "{mode}: {status}");
        let_go(lines).await;
    }
}

#[tokio::test]
async fn a_task_that_outlives_many_workers_is_given_back_by_each_and_is_no_dead_letter() {
    for mode in ["once", "lines"] {
        let scene = Scene::new();
        let alive = scene.fifo("alive");
        let script = r#"trap '' TERM; exec 3> "$FOLDER/alive"; echo begun >&3; sleep 1000 & wait; wait"#;
        let id = scene.submit().await;
        for _ in 0..=model::decide::CRASHES_MAX {
            let mut working = scene.work(&["--grace", "0s", "--mode", mode], script);
            let (_, lines) = next_line(opened(alive.clone()).await).await;
            working.terminate();
            let status = in_time(move || working.0.wait().unwrap()).await;
            assert!(status.success(), "{mode}: {status}");
            let_go(lines).await;
            let waiting = scene.client.submission(id).await.unwrap();
            assert_eq!((&*waiting.waits_for, waiting.attempt), ("worker", 1), "{mode}: {waiting:?}");
        }
        let _working = scene.work(&[], r#"echo '{"outcome": "done"}'"#);
        assert_eq!(scene.rested(id).await.status, Status::Succeeded, "{mode}");
        assert_eq!(scene.kinds(id).await, [Kind::Submitted, Kind::Moved], "{mode}");
    }
}

#[tokio::test]
async fn what_a_program_leaves_behind_does_not_hold_up_its_answer() {
    let scene = Scene::new();
    let _working = scene.work(&[], r#"sleep 1000 & echo '{"outcome": "done"}'"#);
    let id = scene.submit().await;
    assert_eq!(scene.rested(id).await.status, Status::Succeeded);
}

#[tokio::test]
async fn a_worker_that_is_to_stop_finishes_what_runs_and_takes_nothing_more() {
    for mode in ["once", "lines"] {
        let scene = Scene::new();
        let (begun, go) = (scene.fifo("begun"), scene.fifo("go"));
        let script = r#"
            read -r task; token=${task#*\"token\":\"}; token=${token%%\"*}
            echo begun > "$FOLDER/begun"; read -r go < "$FOLDER/go"
            printf '{"token": "%s", "outcome": "done"}\n' "$token"; cat"#;
        let script = if mode == "once" { script.replace("; cat", "") } else { script.to_owned() };
        let mut command = scene.command(&["--mode", mode], &script);
        let mut working = Working(command.stderr(Stdio::piped()).spawn().unwrap());
        let mut said = working.stderr().lines().map_while(Result::ok);
        let id = scene.submit().await;
        assert_eq!(next_line(opened(begun).await).await.0, "begun\n");
        let next = scene.submit().await;
        working.terminate();
        assert!(in_time(move || said.any(|line| line.contains("stopping"))).await, "{mode}");
        in_time(move || fs::write(go, "go\n").unwrap()).await;
        let status = in_time(move || working.0.wait().unwrap()).await;
        assert!(status.success(), "{mode}: {status}");
        assert_eq!(scene.client.submission(id).await.unwrap().status, Status::Succeeded, "{mode}");
        let waiting = scene.client.submission(next).await.unwrap();
        assert!(waiting.status == Status::Open && waiting.lease.is_none(), "{mode}: {waiting:?}");
    }
}

/// Answers every line with its own process number.
const LINES: &str = r#"
    while read -r task; do
        token=${task#*\"token\":\"}; token=${token%%\"*}
        printf '{"token": "%s", "outcome": "done", "output": %s}\n' "$token" $$
    done"#;

#[tokio::test]
async fn one_process_does_many_tasks_line_by_line() {
    let scene = Scene::new();
    let mut ids = Vec::new();
    for _ in 0..5 {
        ids.push(scene.submit().await);
    }
    let _working = scene.work(&["--mode", "lines", "--max", "3"], LINES);
    let mut processes = Vec::new();
    for id in ids {
        processes.push(output(&scene.rested(id).await));
    }
    processes.dedup();
    assert_eq!(processes.len(), 1);
}

#[tokio::test]
async fn a_process_that_dies_is_started_again_and_its_tasks_fail() {
    let scene = Scene::new();
    let script = format!(
        r#"if [ ! -e "$FOLDER/seen" ]; then touch "$FOLDER/seen"; read -r task; echo out of luck >&2; exit 3; fi; {LINES}"#
    );
    let _working = scene.work(&["--mode", "lines"], &script);
    let id = scene.submit().await;
    assert_eq!(scene.rested(id).await.status, Status::Succeeded);
    let events = scene.client.events(id, 0).await.unwrap().events;
    let error = events[1].error.as_ref().unwrap();
    assert_eq!((events[1].kind, &*error.code, &*error.message), (Kind::Retried, "exit-3", "out of luck"));
}

#[tokio::test]
async fn an_answer_that_cannot_be_understood_fails_its_task_only() {
    let scene = Scene::new();
    let script = format!(
        r#"read -r task; token=${{task#*\"token\":\"}}; token=${{token%%\"*}}
           echo noise; printf '{{"token": "%s", "outcom": "done"}}\n' "$token"; {LINES}"#
    );
    let _working = scene.work(&["--mode", "lines"], &script);
    let first = scene.submit().await;
    assert_eq!(&*scene.rested(first).await.error.unwrap().code, "invalid-answer");
    let second = scene.submit().await;
    assert_eq!(scene.rested(second).await.status, Status::Succeeded);
}

#[tokio::test]
async fn a_process_is_told_of_amendments_and_of_lost_leases() {
    let scene = Scene::with_short_leases();
    let heard = scene.fifo("heard");
    // The shell stays: a program that closes its stdout has nothing more to say, and is not waited for long.
    let _working = scene.work(&["--mode", "lines"], r#"cat > "$FOLDER/heard"; exit"#);
    let id = scene.submit().await;
    let (task, lines) = next_line(opened(heard).await).await;
    let task: Value = serde_json::from_str(&task).unwrap();
    assert_eq!(task["payload_revision"], 1);
    let patch = Json::from(json!({ "note": "new" }));
    let amended = scene.client.amend(id, &patch, &ActOptions::default()).await.unwrap();
    let (notice, lines) = next_line(lines).await;
    let notice: Value = serde_json::from_str(&notice).unwrap();
    let expected =
        json!({ "token": task["token"], "notice": "amended", "payload_revision": amended.revision });
    assert_eq!(notice, expected);
    scene.client.act(id, "cancel", &ActBody::default(), &ActOptions::default()).await.unwrap();
    let notice: Value = serde_json::from_str(&next_line(lines).await.0).unwrap();
    assert_eq!(notice, json!({ "token": task["token"], "notice": "lost" }));
}

#[test]
fn a_program_that_is_not_there_is_wrong_usage() {
    let said = common::run(&["worker", "run", "--task", "t", "--", "no-such-program"]).ends(2);
    assert!(said.stderr.contains("there is no program `no-such-program`"), "{said:?}");
    common::run(&["worker", "run", "--", "sh"]).ends(2);
    common::run(&["worker", "run", "--task", "t", "--max", "0", "--", "sh"]).ends(2);
}

#[tokio::test]
async fn a_worker_says_what_it_serves_and_how_each_task_ended() {
    let scene = Scene::new();
    let id = scene.submit().await;
    let script = "[ -e \"$FOLDER/once\" ] || { touch \"$FOLDER/once\"; echo no route >&2; exit 75; }
        echo '{\"outcome\": \"done\"}'";
    let mut command = scene.command(&["--name", "mailer", "--task", "test.wrok"], script);
    let mut working = Working(command.stderr(Stdio::piped()).spawn().unwrap());
    let said = working.stderr();
    scene.rested(id).await;
    working.terminate();
    let said = in_time(move || said.lines().map_while(Result::ok).collect::<Vec<_>>()).await;
    let has = |parts: &[&str]| said.iter().any(|line| parts.iter().all(|part| line.contains(part)));
    let (id, server) = (id.to_string(), scene.server.url.as_str());
    assert!(has(&["INFO", "mailer", server, "test.work, test.wrok"]), "{said:#?}");
    assert!(has(&["WARN", "no pipeline has this task", "test.wrok"]), "{said:#?}");
    assert!(!has(&["no pipeline has this task", "\"test.work\""]), "{said:#?}");
    assert!(has(&["WARN", "a task has failed", "test.work", &id, "exit-75", "no route"]), "{said:#?}");
    assert!(has(&["INFO", "a task has ended", "test.work", &id, "done"]), "{said:#?}");
}
