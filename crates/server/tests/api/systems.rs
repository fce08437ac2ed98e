//! A small system with one of everything, inside of a server and over HTTP: the same code, the same results, the same doors.

use std::path::Path;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use app::Visitor;
use client::{Client, FeedFilter};
use fetch::{Fetch, Policy};
use hyper::body::Frame;
use model::pipeline::{PayloadCheck, Source};
use model::{Caller, Code, Json, Role};
use reqwest::Method;
use serde::Deserialize;
use serde_json::{Value, json};
use server::{Mounts, Running, Site};
use system::{
    Call, Desk, Fault, Follower, Listener, Need, PipelineFile, Rate, Reply, Room, Route, Settings, System,
    Upload,
};
use tokio::net::TcpListener;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use wire::api::{SubmitBody, SubmitMany};
use worker::{Outcome, Worker};

use crate::server::{Answer, Grant, NOTES, memory};

mod entries;

const GREETINGS: &str = "name = 'greetings'\nversion = 1\nkey = 'payload.name'\n\
    start = [{ to = 'GREETING', when = \"door == 'form'\", trigger = 'form' }, 'GREETING']\n\
    [states.GREETING]\ntask = 'greetings.greet'\non.greeted = 'GREETED'\n[states.GREETED]\nfinal = 'success'\n";

#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Words {
    greeting: String,
}

#[derive(Clone)]
struct Greetings {
    words: Words,
    followed: mpsc::UnboundedSender<String>,
}

impl System for Greetings {
    fn name(&self) -> &'static str {
        "greetings"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        vec![PipelineFile::new("greetings.toml", GREETINGS)]
    }

    fn admit(&self, pipeline: &str, payload: &Json) -> Result<Option<Json>, wire::Refusal> {
        assert_eq!(pipeline, "greetings");
        let document: Value = serde_json::from_str(payload.as_str()).unwrap();
        let name = document["name"].as_str().unwrap_or_default();
        match name {
            "nobody" => Err(wire::Refusal::new(Code::SchemaViolation, "there is nobody")),
            _ => {
                let small = name.to_lowercase();
                Ok((small != name).then(|| json!({ "name": small }).into()))
            }
        }
    }

    fn configure(&mut self, settings: Settings<'_>) -> Result<(), Fault> {
        self.words = settings.read()?;
        Ok(())
    }

    fn tasks(&self, _: &Desk, worker: Worker) -> Worker {
        let greeting = self.words.greeting.clone();
        worker.task("greetings.greet", move |task| {
            let output =
                json!({ "said": format!("{greeting}, {}", task.key.as_deref().unwrap_or_default()) });
            async move { Ok(Outcome::new("greeted").output(output)) }
        })
    }

    fn followers(&self, desk: &Desk) -> Vec<Follower> {
        let filter = FeedFilter { state: Some("GREETED".to_owned()), ..FeedFilter::default() };
        let (client, followed) = (desk.client.clone(), self.followed.clone());
        vec![Follower::new("told", filter, move |event| {
            let (client, followed) = (client.clone(), followed.clone());
            async move {
                let view = client.submission(event.submission).await?;
                followed.send(serde_json::to_string(&view.outputs)?)?;
                Ok(())
            }
        })]
    }

    fn routes(&self) -> Vec<Route> {
        let public = Need::Public(Rate::per_second(1));
        vec![
            Route::new(
                (Method::POST, "/greetings/hello/{name}"),
                (public, Room::Request),
                "Be greeted",
                hello,
            ),
            Route::new((Method::GET, "/greetings/all"), (Need::AnyRole, Room::Page), "All greetings", all),
            Route::new((Method::GET, "/compat/greetings"), (Need::Role(Role::Admin), Room::Request), "", all)
                .not_described(),
            Route::new(
                (Method::POST, "/greetings/cards"),
                (Need::Role(Role::Submitter), Room::Upload(Upload::of(CARD_BYTES_MAX))),
                "Hand in a card",
                card,
            ),
        ]
    }

    fn listeners(&self) -> Vec<Listener> {
        let public = Need::Public(Rate::per_second(1));
        let door = (public, Room::Request);
        let routes = vec![
            Route::new((Method::GET, "/"), door, "", |_| async { Ok(Reply::text("at the root")) }),
            Route::new((Method::GET, "/panic/{name}"), door, "", |call: Call| async move {
                panic!("{}", call.part("name"))
            }),
        ];
        let listener = Listener::new(([127, 0, 0, 1], 0).into(), routes);
        vec![listener.refusing(|status, refusal| {
            Reply::json(&json!({ "KO": refusal.code.as_str() })).with_status(status)
        })]
    }

    fn pages(&self) -> Vec<Route> {
        let page = |call: Call| async move {
            Ok(console::layout::page(&call, "Greetings <all>", "<h1>Greetings</h1>"))
        };
        vec![Route::new((Method::GET, "/console/greetings/"), (Need::Owner, Room::Page), "Greetings", page)]
    }
}

async fn hello(call: Call) -> Result<Reply, wire::Refusal> {
    let payload = json!({ "name": call.part("name") });
    let body = SubmitBody { payload: payload.into(), ..SubmitBody::default() };
    Ok(match call.client.submit("greetings", &body, None).await {
        Ok(made) => Reply::json(&json!({ "id": made.id })),
        Err(error) => Reply::text(error.to_string()).with_status(reqwest::StatusCode::CONFLICT),
    })
}

/// More than any other call takes.
const CARD_BYTES_MAX: u64 = 20 << 20;

async fn card(call: Call) -> Result<Reply, wire::Refusal> {
    let uploaded = call.uploaded.expect("this route takes uploads");
    let (from, bytes) = (uploaded.path().to_owned(), uploaded.bytes());
    let kept = from.with_file_name("kept");
    uploaded.keep(&kept).expect("it can be moved");
    let sum: u64 = std::fs::read(&kept).expect("it is kept").iter().map(|byte| u64::from(*byte)).sum();
    Ok(Reply::json(&json!({ "bytes": bytes, "sum": sum, "is_moved": !from.exists() })))
}

async fn all(call: Call) -> Result<Reply, wire::Refusal> {
    let asked = call.client.submissions(&client::Filter::default(), &client::Page::default()).await;
    Ok(match asked {
        Ok(page) => Reply::json(&json!({ "greetings": page.submissions.len() })),
        Err(error) => Reply::text(error.to_string()).with_status(reqwest::StatusCode::FORBIDDEN),
    })
}

fn configured(text: &str) -> Result<(Greetings, mpsc::UnboundedReceiver<String>), Fault> {
    let (followed, follows) = mpsc::unbounded_channel();
    let mut system = Greetings { words: Words { greeting: String::new() }, followed };
    let table = DeTable::parse(text).unwrap();
    let span = table.span();
    system.configure(Settings::new(Spanned::new(span, DeValue::Table(table.into_inner()))))?;
    Ok((system, follows))
}

/// A server with the system's routes.
struct Mounted {
    url: String,
    /// The system's own listener.
    own: String,
    inside: Client,
    running: Running,
    uploads: tempfile::TempDir,
    _stop: oneshot::Sender<()>,
    _served: JoinHandle<std::io::Result<()>>,
}

async fn mounted(system: &Greetings) -> Mounted {
    let roles = Role::ALL.map(|role| Grant {
        token: role.as_str(),
        rights: json!({ "subject": format!("a-{role}"), "role": role.as_str() }),
    });
    let scoped = json!({ "subject": "elsewhere", "role": "admin", "pipelines": ["notes"] });
    let mut grants = Vec::from(roles);
    grants.push(Grant { token: "scoped", rights: scoped });
    let admitting = system.clone();
    let check = PayloadCheck::new(move |payload| admitting.admit("greetings", payload));
    let payload_checks = [("greetings".into(), check)].into();
    let options = engine::Options { payload_checks, ..engine::Options::default() };
    let engine = engine::Engine::start(memory(&grants), &options).unwrap();
    for file in system.pipelines() {
        engine.apply(&Source::new(file.file, file.toml)).await.unwrap();
    }
    engine.apply(&Source::new("notes.toml", NOTES)).await.unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let uploads = tempfile::tempdir().unwrap();
    let mounts = Mounts::of(system, vec!["greetings".into()]).unwrap();
    let mounts = mounts.uploading_to(uploads.path().join("uploads"));
    let bound = mounts.bind().await.unwrap();
    let own_url = format!("http://{}", bound[0].address().unwrap());
    let site = Site::new(engine, server::Options::new(address), vec![mounts]).listening(bound);
    let own = Caller::new("system:greetings", Role::Admin);
    let inside = site.client(Visitor::inside(own, Some(vec!["greetings".into()])));
    let (stop, stopped) = oneshot::channel();
    Mounted {
        url: format!("http://{address}"),
        own: own_url,
        inside,
        running: site.running(),
        uploads,
        _stop: stop,
        _served: tokio::spawn(site.serve(listener, stopped)),
    }
}

impl Mounted {
    async fn ask(&self, method: Method, path: &str, token: Option<&str>) -> Answer {
        Mounted::ask_at(&self.url, method, path, token).await
    }

    async fn ask_at(url: &str, method: Method, path: &str, token: Option<&str>) -> Answer {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let request = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = request.request(method, format!("{url}{path}"));
        let request = token.into_iter().fold(request, |request, token| request.bearer_auth(token));
        Answer::of(request).await
    }
}

fn desk(client: Client, folder: &Path) -> Desk {
    Desk { client, fetch: Fetch::new(Policy::default()), folder: folder.to_owned() }
}

#[tokio::test]
async fn a_page_of_a_system_stands_in_the_frame_of_the_console() {
    let (greetings, _followed) = configured("greeting = 'Hello'").unwrap();
    let site = mounted(&greetings).await;
    let page = site.ask(Method::GET, "/console/greetings/", Some("admin")).await;
    assert_eq!(page.status, 200, "{}", page.text);
    assert!(page.text.contains("<title>Greetings &#60;all&#62;") && page.text.contains("<h1>Greetings</h1>"));
    assert!(page.header("content-security-policy").contains("script-src 'self'"));
    let overview = site.ask(Method::GET, "/console", Some("viewer")).await;
    assert!(overview.text.contains("href=\"/console/greetings/\""), "it stands in the navigation");
}

#[tokio::test]
async fn a_system_does_the_same_inside_and_over_http() {
    let folder = tempfile::tempdir().unwrap();
    let mut said = Vec::new();
    for way in ["inside", "http"] {
        let (system, mut follows) = configured("greeting = 'Good morning'").unwrap();
        let mounted = mounted(&system).await;
        let client = match way {
            "inside" => mounted.inside.clone(),
            _ => Client::new(&mounted.url, Some("admin".to_owned())).unwrap(),
        };
        let desk = desk(client, folder.path());
        let worker = Worker::new(desk.client.clone(), "w").quietly();
        let (stop, stopped) = oneshot::channel::<()>();
        let working = {
            let (system, desk) = (Arc::new(system), desk.clone());
            tokio::spawn(async move {
                let stopped = async move { drop(stopped.await) };
                system::run(&*system, &desk, worker, stopped).await
            })
        };
        let answer = mounted.ask(Method::POST, "/greetings/hello/ada", None).await;
        assert_eq!(answer.status, 200, "{}", answer.text);
        let id = answer.json()["id"].as_str().unwrap().parse().unwrap();
        said.push(follows.recv().await.unwrap());
        let view = desk.client.submission(id).await.unwrap();
        assert_eq!(&*view.state, "GREETED");
        let events = desk.client.events(id, 0).await.unwrap().events;
        let actors: Vec<&str> = events.iter().map(|event| &*event.actor.name).collect();
        let worker = if way == "inside" { "system:greetings/w" } else { "a-admin/w" };
        assert_eq!(actors, ["system:greetings:public", worker], "{way}");
        stop.send(()).unwrap();
        working.await.unwrap().unwrap();
    }
    assert!(said[0].contains("Good morning, ada"), "{said:?}");
    assert_eq!(said[0], said[1]);
}

#[tokio::test]
async fn every_route_of_a_system_asks_for_what_it_says() {
    let (system, _follows) = configured("greeting = 'x'").unwrap();
    let mounted = mounted(&system).await;
    for route in system.routes().into_iter().chain(system.pages()) {
        let path = route.path.replace("{name}", "bob");
        let status = |token| mounted.ask(route.method.clone(), &path, token);
        let nobody = status(None).await;
        match route.need {
            Need::Public(_) => assert_eq!(nobody.status, 200, "{route:?}: {}", nobody.text),
            _ => assert_eq!(nobody.problem(401, "unauthorized")["status"], 401, "{route:?}"),
        }
        for role in Role::ALL {
            let allowed = match route.need {
                Need::Public(_) => continue,
                Need::AnyRole => true,
                Need::Role(wanted) => role.covers(wanted),
                Need::Owner => role == Role::Admin,
            };
            let found = status(Some(role.as_str())).await.status;
            assert_eq!(found, if allowed { 200 } else { 403 }, "{route:?} {role}");
        }
        if route.need == Need::Owner {
            assert_eq!(status(Some("scoped")).await.status, 403, "an owner's token has no scope");
        }
    }
}

#[tokio::test]
async fn a_route_asks_in_its_callers_name() {
    let (system, _follows) = configured("greeting = 'x'").unwrap();
    let mounted = mounted(&system).await;
    mounted.ask(Method::POST, "/greetings/hello/ada", None).await;
    let seen = |answer: Answer| answer.json()["greetings"].clone();
    assert_eq!(seen(mounted.ask(Method::GET, "/greetings/all", Some("viewer")).await), 1);
    // Its only pipeline is another one.
    assert_eq!(seen(mounted.ask(Method::GET, "/greetings/all", Some("scoped")).await), Value::from(0));
}

#[tokio::test]
async fn a_public_route_has_a_rate_for_each_address() {
    let (system, _follows) = configured("greeting = 'x'").unwrap();
    let mounted = mounted(&system).await;
    let mut statuses = Vec::new();
    for no in 0..8 {
        statuses.push(mounted.ask(Method::POST, &format!("/greetings/hello/n{no}"), None).await.status);
    }
    // One a second, and five seconds' worth at once; more only if this took seconds.
    assert_eq!(statuses[..5], [200; 5]);
    assert!(statuses.contains(&429), "{statuses:?}");
}

#[tokio::test]
async fn routes_of_systems_are_described_and_counted() {
    let (system, _follows) = configured("greeting = 'x'").unwrap();
    let mounted = mounted(&system).await;
    mounted.ask(Method::GET, "/greetings/all", Some("viewer")).await;
    let described = mounted.ask(Method::GET, "/openapi.json", None).await.json();
    assert_eq!(described["paths"]["/greetings/all"]["get"]["summary"], "All greetings");
    assert_eq!(described["paths"]["/greetings/hello/{name}"]["post"]["security"], json!([]));
    assert!(described["paths"]["/compat/greetings"].is_null());
    assert!(described["paths"]["/v1/submissions"].is_object());
    let metrics = mounted.ask(Method::GET, "/metrics", Some("admin")).await.text;
    assert!(metrics.contains("route=\"/greetings/all\""), "{metrics}");
}

#[test]
fn a_setting_that_a_system_does_not_have_is_refused() {
    let fault = configured("greting = 'x'").map(|_| ()).unwrap_err();
    assert!(fault.message.contains("greting"), "{fault}");
}

#[tokio::test]
async fn a_systems_check_of_payloads_stands_at_every_door() {
    let (system, _follows) = configured("greeting = 'x'").unwrap();
    let mounted = mounted(&system).await;
    let made = mounted.ask(Method::POST, "/greetings/hello/ADA", None).await;
    let id = made.json()["id"].as_str().unwrap().parse().unwrap();
    assert_eq!(mounted.inside.submission(id).await.unwrap().key.as_deref(), Some("ada"));
    let form = mounted.inside.events(id, 0).await.unwrap().events;
    assert_eq!(&*form[0].trigger, "form", "a public address is a door of its own");

    let body = |name: &str| SubmitBody { payload: json!({ "name": name }).into(), ..SubmitBody::default() };
    let http = Client::new(&mounted.url, Some("submitter".to_owned())).unwrap();
    let same = http.submit("greetings", &body("Ada"), None).await.unwrap();
    assert_eq!((same.id, same.duplicate), (id, true), "two spellings of one name are one");
    let other = http.submit("greetings", &body("Bob"), None).await.unwrap().id;
    assert_eq!(&*mounted.inside.events(other, 0).await.unwrap().events[0].trigger, "submit");
    let many = SubmitMany { submissions: vec![body("nobody"), body("CYD")] };
    let answers = http.submit_many("greetings", &many, None).await.unwrap().results;
    assert_eq!(answers.iter().map(|answer| answer.status).collect::<Vec<_>>(), [422, 201]);
}

/// A body of so many pieces of a megabyte, which does not say how long it is.
struct Pieces(usize);

impl hyper::body::Body for Pieces {
    type Data = bytes::Bytes;
    type Error = std::io::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Self::Data>, Self::Error>>> {
        let left = self.0.checked_sub(1);
        self.0 = left.unwrap_or_default();
        Poll::Ready(left.map(|_| Ok(Frame::data(vec![1; 1 << 20].into()))))
    }
}

#[tokio::test]
async fn an_upload_of_any_size_is_streamed_into_a_file() {
    let (system, _follows) = configured("greeting = 'x'").unwrap();
    let mounted = mounted(&system).await;
    let send = |body: reqwest::Body| {
        let request = reqwest::Client::builder().no_proxy().build().unwrap();
        let request = request.post(format!("{}/greetings/cards", mounted.url)).bearer_auth("submitter");
        Answer::of(request.body(body))
    };
    // Larger than a body that is taken into memory, and sent without its length.
    let pieces = |count: usize| reqwest::Body::wrap(Pieces(count));
    let answer = send(pieces(18)).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    let bytes = 18 << 20;
    assert_eq!(answer.json(), json!({ "bytes": bytes, "sum": bytes, "is_moved": true }));

    send(pieces(21)).await.problem(413, "too-large");
    send(vec![1_u8; 21 << 20].into()).await.problem(413, "too-large");
    let folder = mounted.uploads.path().join("uploads");
    let left: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["kept"], "nothing else stays");

    let nobody = mounted.ask(Method::POST, "/greetings/cards", None).await;
    nobody.problem(401, "unauthorized");
}

#[tokio::test]
async fn a_system_that_has_ended_by_itself_is_told_of() {
    let (system, _follows) = configured("greeting = 'x'").unwrap();
    let mounted = mounted(&system).await;
    assert_eq!(mounted.ask(Method::GET, "/readyz", None).await.text, "ok\n");
    mounted.running.ended("greetings", "its\nworker was refused");
    let ready = mounted.ask(Method::GET, "/readyz", None).await;
    assert_eq!(ready.status, 200, "others are served");
    assert_eq!(
        ready.text,
        "ok\nthe system `greetings` has ended: its worker was refused; start the server again\n"
    );
}

#[tokio::test]
async fn a_listener_of_a_system_owns_its_root_and_words_its_refusals() {
    let (system, _follows) = configured("greeting = 'x'").unwrap();
    let mounted = mounted(&system).await;
    let at = |method, path| Mounted::ask_at(&mounted.own, method, path, Some("admin"));
    let root = at(Method::GET, "/").await;
    assert_eq!((root.status, root.text.as_str()), (200, "at the root"));
    for (method, path, status, code) in [
        // Nothing else of the server answers here, whatever the token.
        (Method::GET, "/v1/submissions", 404, "unknown-route"),
        (Method::GET, "/greetings/all", 404, "unknown-route"),
        (Method::GET, "/console", 404, "unknown-route"),
        (Method::POST, "/", 405, "method-not-allowed"),
        (Method::GET, "/panic/x", 500, "internal"),
    ] {
        let answer = at(method, path).await;
        assert_eq!((answer.status, &answer.json()["KO"]), (status, &json!(code)), "{path}");
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
    }
    let mut last = at(Method::GET, "/").await;
    for _ in 0..10 {
        last = at(Method::GET, "/").await;
    }
    assert_eq!((last.status, &last.json()["KO"]), (429, &json!("rate-limited")));
    assert!(!last.header("retry-after").is_empty());
    assert_ne!(mounted.ask(Method::GET, "/", None).await.text, "at the root", "the server's own is another");
    let metrics = mounted.ask(Method::GET, "/metrics", Some("admin")).await.text;
    assert!(metrics.contains("route=\"/panic/{name}\""), "{metrics}");
}

#[test]
fn a_listener_of_a_system_asks_for_no_tokens() {
    let route =
        Route::new((Method::GET, "/"), (Need::AnyRole, Room::Request), "", |_| async { Ok(Reply::text("")) });
    let refused = Listener::new(([127, 0, 0, 1], 0).into(), vec![route]).check("greetings");
    assert!(refused.unwrap_err().to_string().contains("make the route public"));
}
