//! Deliveries as the engine makes them, by a pipeline that does not take days to try again.

use std::time::Duration;

use client::Client;
use model::event::Notified;
use model::{Json, SubmissionId};
use serde_json::{Value, json};
use wire::api::{SubmissionView, SubmitBody};

use crate::common::{Server, shipped};

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// A pipeline that does nothing but tell somebody.
const NOTICE: &str = r#"
name = "notice"
version = 1
key = "payload.cause"
start = "TOLD"
[notify.author]
mail = "payload.channel == 'mail' ? payload.to : null"
webhook = "payload.channel == 'webhook' ? payload.to : null"
template = "templates/notice/author.txt"
[states.TOLD]
final = "success"
notify = "author"
"#;

pub(crate) const MAIL_SUBJECT: &str = "Grüße: it is published";
pub(crate) const MAIL_BODY: &str = "Dear Ada,\n\n.a line with a dot before it\nIt is published: ✓\n";

/// A server that sends to this machine, at these ports, with a delivery pipeline that is quick to try again.
pub(crate) fn server(ports: &[u16], more: &[&str]) -> Server {
    server_in(ports, more, &[])
}

/// The same in a changed environment.
pub(crate) fn server_in(ports: &[u16], more: &[&str], envs: &[(&str, &str)]) -> Server {
    server_trying("2s", ports, more, envs)
}

/// One that waits for a receiver as long as it ever does.
pub(crate) fn patient_server(ports: &[u16]) -> Server {
    server_trying("10m", ports, &[], &[])
}

fn server_trying(within: &str, ports: &[u16], more: &[&str], envs: &[(&str, &str)]) -> Server {
    let read = |file: &str| std::fs::read_to_string(shipped::file("delivery").with_file_name(file)).unwrap();
    let (toml, schema) = (read("delivery.toml"), read("schemas/delivery.json"));
    let quick = hurried(&toml, within);
    assert!(quick.contains("version = 2") && quick.matches("\"100ms\"").count() == 2, "{quick}");
    let mut args = vec!["--allow-address".to_owned(), "127.0.0.0/8".to_owned()];
    for port in ports {
        args.extend(["--allow-port".to_owned(), port.to_string()]);
    }
    args.extend(more.iter().map(|arg| (*arg).to_owned()));
    let template = format!("Subject: {MAIL_SUBJECT}\n\n{MAIL_BODY}");
    let files = [
        ("1.toml", &*toml),
        ("2.toml", &*quick),
        ("schemas/delivery.json", &*schema),
        ("notice.toml", NOTICE),
        ("templates/notice/author.txt", &*template),
    ];
    Server::start_with(&files, &args, envs)
}

/// The same machine in its second version: a try takes so long at most, the next comes soon.
fn hurried(toml: &str, within: &str) -> String {
    let lines = toml.lines().map(|line| match line.split(" = ").next() {
        Some("version") => "version = 2".to_owned(),
        Some("timeout") => format!("timeout = \"{within}\""),
        Some("retry") => "retry = { times = 1000, delay = \"100ms\" }".to_owned(),
        _ => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Has somebody told, and gives the id of the message.
pub(crate) async fn tell(client: &Client, notice: Value) -> SubmissionId {
    let id = *notified(client, notice).await.deliveries.first().expect("there is an address");
    let made = async { while client.submission(id).await.is_err() {} };
    tokio::time::timeout(PATIENCE, made).await.expect("the message is made");
    id
}

/// Has somebody told, and gives what the event says of that.
pub(crate) async fn notified(client: &Client, notice: Value) -> Notified {
    let channel = notice["channel"].clone();
    let body = SubmitBody { payload: Json::from(notice), ..SubmitBody::default() };
    let id = client.submit("notice", &body, None).await.unwrap().id;
    let mut events = client.events(id, 0).await.unwrap().events;
    let told = events.pop().unwrap().notified;
    told.into_iter().find(|one| channel == one.channel.as_str()).unwrap()
}

/// One for a webhook, known by its cause.
pub(crate) fn webhook(cause: &str, to: &str) -> Value {
    json!({ "cause": cause, "channel": "webhook", "to": to })
}

/// Waits until a delivery looks like this.
pub(crate) async fn seen(
    client: &Client,
    id: SubmissionId,
    condition: impl Fn(&SubmissionView) -> bool,
) -> SubmissionView {
    let look = async {
        let mut view = client.submission(id).await.unwrap();
        while !condition(&view) {
            view = client.wait_for_change(id, view.revision, None).await.unwrap();
        }
        view
    };
    match tokio::time::timeout(PATIENCE, look).await {
        Ok(view) => view,
        Err(_) => panic!("it did not come about: {:?}", client.submission(id).await),
    }
}

/// Waits until a delivery failed with this code.
pub(crate) async fn failed(client: &Client, id: SubmissionId, code: &str) -> SubmissionView {
    seen(client, id, |view| view.error.as_ref().is_some_and(|error| &*error.code == code)).await
}

pub(crate) async fn in_state(client: &Client, id: SubmissionId, state: &str) -> SubmissionView {
    seen(client, id, |view| &*view.state == state).await
}
