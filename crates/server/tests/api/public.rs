//! Public pages: submitted, followed and refused as anybody would, and nothing else to be seen.

use std::sync::Arc;

use serde_json::{Value, json};
use server::{PublicPages, PublicPipeline};
use store::{ManualClock, MemoryStore};

use crate::server::{Answer, Grant, Server, memory};

fn parcels() -> PublicPipeline {
    PublicPipeline {
        name: "parcels".into(),
        title: Some("Send a parcel".to_owned()),
        intro: "Tell us.\n\nWe do the rest.".to_owned(),
        thanks: "Thank you!".to_owned(),
        states: [("REVIEW".into(), "With a person".to_owned())].into(),
        rate: 100,
        rate_all: 1_000,
        ..PublicPipeline::default()
    }
}

async fn server(public: PublicPipeline) -> Server {
    let admin = Grant { token: "root", rights: json!({ "subject": "root", "role": "admin" }) };
    Server::over(memory(&[admin]), &engine::Options::default(), |options| {
        options.public = Arc::new(PublicPages::new([public]));
        options.base_url = Some("https://m.example".to_owned());
    })
    .await
}

async fn page(server: &Server, path: &str) -> Answer {
    Answer::of(server.request("GET", path).header("accept", "text/html")).await
}

async fn send(server: &Server, form: &str) -> Answer {
    send_from(server, form, &server.url).await
}

async fn send_from(server: &Server, form: &str, origin: &str) -> Answer {
    let request =
        server.request("POST", "/public/parcels").header("accept", "text/html").header("origin", origin);
    Answer::of(request.header("content-type", "application/x-www-form-urlencoded").body(form.to_owned()))
        .await
}

async fn json(server: &Server, path: &str) -> Answer {
    Answer::of(server.request("GET", path).header("accept", "application/json")).await
}

async fn submit(server: &Server, body: Value) -> Answer {
    let request = server.with_json("POST", "/public/parcels", body);
    Answer::of(request.header("accept", "application/json")).await
}

async fn as_root(server: &Server, method: &str, path: &str, body: Value) -> Value {
    let answer = Answer::of(server.with_json(method, path, body).bearer_auth("root")).await;
    assert!(answer.status < 300, "{path}: {}", answer.text);
    answer.json()
}

/// Has a worker take what waits, and a person agree to it.
async fn done(server: &Server) -> String {
    let claim = json!({ "worker": "w", "tasks": ["parcels.check"] });
    let task = as_root(server, "POST", "/v1/tasks:claim", claim).await["tasks"][0].clone();
    let word = json!({ "tasks": [{ "token": task["token"], "outcome": "good", "output": { "score": 7 } }] });
    as_root(server, "POST", "/v1/tasks:finish", word).await;
    let id = task["submission"].as_str().unwrap().to_owned();
    as_root(
        server,
        "POST",
        &format!("/v1/submissions/{id}/actions/approve"),
        json!({ "reason": "secretly" }),
    )
    .await;
    id
}

/// Returns the path of the receipt that a page shows.
fn receipt(page: &str) -> String {
    let address =
        page.split("value=\"https://m.example").nth(1).unwrap_or_else(|| panic!("no receipt: {page}"));
    address.split('"').next().unwrap().to_owned()
}

#[tokio::test]
async fn a_form_is_checked_mended_sent_and_followed_to_its_end() {
    let server = server(parcels()).await;
    let form = page(&server, "/public/parcels").await;
    for wanted in
        ["Send a parcel", "<p><bdi>We do the rest.</bdi></p>", "name=\"p/ref\"", "name=\"p/weight\""]
    {
        assert!(form.text.contains(wanted), "{wanted}: {}", form.text);
    }
    let bad = send(&server, "p/ref=&p/owner=ada&p/weight=heavy&do=submit").await;
    assert_eq!(bad.status, 422, "{}", bad.text);
    for kept in [
        "\nada</textarea>",
        "value=\"heavy\"",
        "Please fill this in",
        "This is not of type &#34;integer&#34;",
    ] {
        assert!(
            bad.text.contains(kept) || bad.text.contains(&kept.replace("&#34;", "&quot;")),
            "{kept}: {}",
            bad.text
        );
    }
    assert!(bad.text.contains("aria-invalid=\"true\"") && bad.text.contains("role=\"alert\""));
    assert!(!bad.text.contains("is a required property"), "said once: {}", bad.text);
    let checked = send(&server, "p/ref=a&p/owner=ada&p/weight=5&do=check").await;
    assert_eq!(checked.status, 200);
    assert!(checked.text.contains("not been submitted yet") && checked.text.contains("\nada</textarea>"));
    assert_eq!(as_root(&server, "GET", "/v1/submissions", json!({})).await["submissions"], json!([]));
    let shown = send(&server, "p/ref=a&p/owner=ada&p/weight=5&do=submit").await;
    let path = receipt(&shown.text);
    assert!(shown.status == 200 && shown.text.contains("Being checked") && shown.text.contains("Thank you!"));
    assert!(shown.text.contains("hx-trigger=\"every 5s\"") && shown.text.contains("http-equiv=\"refresh\""));
    let id = done(&server).await;
    assert!(!path.contains(&id), "a receipt does not tell the id");
    let ended = page(&server, &path).await;
    assert!(ended.text.contains("It is done.") && ended.text.contains("With a person"), "{}", ended.text);
    assert!(!ended.text.contains("every 5s"), "what has ended is not read again");
    for secret in [&*id, "secretly", "root", "ada", "score", "parcels.check"] {
        assert!(!ended.text.contains(secret), "{secret}: {}", ended.text);
    }
    let events = as_root(&server, "GET", &format!("/v1/submissions/{id}/events"), json!({})).await;
    assert_eq!(events["events"][0]["actor"], json!({ "type": "submitter", "name": "public:parcels" }));
}

#[tokio::test]
async fn programs_submit_and_follow_by_json() {
    let server = server(PublicPipeline { metadata: vec!["score".into()], ..parcels() }).await;
    let form = json(&server, "/public/parcels").await.json();
    assert_eq!(
        (&form["pipeline"], &form["submit"]),
        (&json!("parcels"), &json!("https://m.example/public/parcels"))
    );
    assert_eq!(form["schema"]["required"], json!(["ref", "owner"]));
    let payload = json!({ "ref": "a", "owner": "ada", "weight": 5 });
    let dry = submit(&server, json!({ "payload": payload, "dry_run": true })).await;
    assert_eq!((dry.status, dry.json()), (200, json!({ "fits": true })));
    let wrong = submit(&server, json!({ "payload": { "ref": 1 } })).await.problem(422, "schema-violation");
    assert_eq!(wrong["violations"].as_array().map(Vec::len), Some(2), "{wrong}");
    submit(&server, json!({ "payload": payload, "priority": 1 })).await.problem(400, "invalid-request");
    let made = submit(&server, json!({ "payload": payload })).await;
    assert_eq!(made.status, 201, "{}", made.text);
    let made = made.json();
    let path = made["url"].as_str().unwrap().strip_prefix("https://m.example").unwrap().to_owned();
    assert_eq!(path, format!("/public/parcels/receipts/{}", made["receipt"].as_str().unwrap()));
    done(&server).await;
    let view = json(&server, &path).await.json();
    assert_eq!(
        (&view["state"], &view["status"], &view["title"]),
        (&json!("DONE"), &json!("succeeded"), &json!("Send a parcel"))
    );
    let mut keys: Vec<&String> = view.as_object().unwrap().keys().collect();
    keys.sort();
    let known = [
        "earlier",
        "entered_at",
        "finished_at",
        "history",
        "pipeline",
        "state",
        "state_title",
        "status",
        "submitted_at",
        "title",
    ];
    assert_eq!(keys, known, "and nothing else");
    let history = view["history"].as_array().unwrap();
    let states: Vec<&Value> = history.iter().map(|step| &step["state"]).collect();
    assert_eq!(states, [&json!("CHECKING"), &json!("REVIEW"), &json!("DONE")]);
    assert_eq!(
        (&history[1]["title"], &history[1]["metadata"]),
        (&json!("With a person"), &json!({ "score": 7 }))
    );
    assert_eq!(history[2].get("metadata"), None, "a person's reason was not declared");
}

#[tokio::test]
async fn what_is_not_public_is_not_there() {
    let server = server(parcels()).await;
    let made =
        submit(&server, json!({ "payload": { "ref": "a", "owner": "ada", "weight": 5 } })).await.json();
    let receipt = made["receipt"].as_str().unwrap();
    for accept in ["text/html", "application/json"] {
        let ask = async |method: &str, path: &str| {
            let request = server.with_json(method, path, json!({ "payload": {} })).header("accept", accept);
            let answer = Answer::of(request).await;
            assert_eq!(answer.status, 404, "{path}: {}", answer.text);
            answer.text
        };
        for method in ["GET", "POST"] {
            assert_eq!(ask(method, "/public/notes").await, ask(method, "/public/no-such").await);
            assert_eq!(ask(method, "/public/delivery").await, ask(method, "/public/no-such").await);
        }
        let missing = ask("GET", "/public/no-such/receipts/x").await;
        for path in [
            format!("/public/notes/receipts/{receipt}"),
            format!("/public/parcels/receipts/{}A", &receipt[..receipt.len() - 1]),
            format!("/public/parcels/receipts/{}", "A".repeat(43)),
            "/public/parcels/receipts/0192f0c1-2345-7abc-8def-0123456789ab".to_owned(),
        ] {
            assert_eq!(ask("GET", &path).await, missing, "{path}");
        }
    }
    // The receipt opens nothing but its page.
    Answer::of(server.request("GET", "/v1/submissions").bearer_auth(receipt))
        .await
        .problem(401, "unauthorized");
    let closed = Server::start().await;
    assert_eq!(json(&closed, "/public/parcels").await.status, 404, "off by default");
}

#[tokio::test]
async fn nothing_is_kept_in_the_browser_or_found_by_a_search() {
    let server = server(parcels()).await;
    let shown = send(&server, "p/ref=a&p/owner=ada&p/weight=5&do=submit").await;
    let answers = [
        page(&server, "/public/parcels").await,
        page(&server, "/public/no-such").await,
        json(&server, &receipt(&shown.text)).await,
        send(&server, "p/ref=").await,
        shown,
    ];
    for answer in &answers {
        assert_eq!(answer.headers.get("set-cookie"), None);
        assert_eq!(answer.header("x-robots-tag"), "noindex, nofollow");
        assert_eq!(
            (answer.header("referrer-policy"), answer.header("cache-control")),
            ("no-referrer", "no-store")
        );
        assert_eq!(answer.headers.get("access-control-allow-origin"), None);
    }
    let policy = answers[0].header("content-security-policy");
    assert!(policy.contains("default-src 'none'") && policy.contains("script-src 'self'"), "{policy}");
    assert!(!policy.contains("unsafe") && policy.contains("frame-ancestors 'none'"), "{policy}");
    assert!(answers[0].text.contains("name=\"robots\" content=\"noindex, nofollow\""));
}

#[tokio::test]
async fn forms_of_other_sites_are_refused() {
    let server = server(parcels()).await;
    let form = "p/ref=a&p/owner=ada&do=submit";
    for origin in ["https://evil.example", "null"] {
        assert_eq!(send_from(&server, form, origin).await.status, 403, "{origin}");
    }
    let silent =
        server.request("POST", "/public/parcels").header("content-type", "application/x-www-form-urlencoded");
    assert_eq!(Answer::of(silent.body(form)).await.status, 403);
    let of_page =
        server.with_json("POST", "/public/parcels", json!({ "payload": { "ref": "a", "owner": "x" } }));
    assert_eq!(Answer::of(of_page.header("origin", "https://evil.example")).await.status, 403);
    assert_eq!(as_root(&server, "GET", "/v1/submissions", json!({})).await["submissions"], json!([]));
}

#[tokio::test]
async fn an_address_submits_so_much_a_minute_and_its_input_is_not_lost() {
    let server = server(PublicPipeline { rate: 2, ..parcels() }).await;
    for reference in ["a", "b"] {
        assert_eq!(
            send(&server, &format!("p/ref={reference}&p/owner=ada&p/weight=5&do=submit")).await.status,
            200
        );
    }
    let late = send(&server, "p/ref=c&p/owner=ada+was+here&p/weight=5&do=submit").await;
    assert_eq!(late.status, 429, "{}", late.text);
    assert!(
        late.text.contains("ada was here</textarea>") && late.text.contains("oo many requests"),
        "{}",
        late.text
    );
    let refused = submit(&server, json!({ "payload": { "ref": "d", "owner": "ada", "weight": 5 } })).await;
    assert_eq!((refused.status, &refused.json()["code"]), (429, &json!("rate-limited")));
    assert!(refused.header("retry-after").parse::<u64>().unwrap() > 0);
    let check = send(&server, "p/ref=c&p/owner=ada&p/weight=5&do=check").await;
    assert_eq!(check.status, 200, "looking costs none of them");
}

#[tokio::test]
async fn a_flood_of_pages_is_stopped_at_the_door() {
    let server = server(parcels()).await;
    let asked = (0..300).map(|_| async { json(&server, "/public/parcels").await.status });
    let statuses = futures_util::future::join_all(asked).await;
    let fine = statuses.iter().filter(|status| **status == 200).count();
    assert!(fine >= 50 && statuses.contains(&429), "{statuses:?}");
    assert!(statuses.iter().all(|status| [200, 429].contains(status)), "{statuses:?}");
}

#[tokio::test]
async fn whatever_is_sent_comes_back_harmless_and_bounded() {
    let server = server(parcels()).await;
    let encoded = |text: &str| url(text);
    for hostile in [
        "<script>alert(1)</script>",
        "\"><img src=x onerror=alert(1)>",
        "</textarea><script>alert(1)</script>",
        "\u{202e}txet\u{202c} \u{0627}\u{0644}",
        "'`{{7*7}}{% raw %}",
        "a\u{0}b\u{7f}",
    ] {
        let form = format!(
            "p/ref={0}&p/owner={0}&p/weight={0}&do=submit&{0}={0}&reason={0}&key={0}",
            encoded(hostile)
        );
        let answer = send(&server, &form).await;
        assert_eq!(answer.status, 422, "{hostile}: {}", answer.text);
        for tag in ["<script>", "<img", "</textarea><script"] {
            assert!(!answer.text.contains(tag), "{hostile}: {}", answer.text);
        }
    }
    let long = "x".repeat(1 << 20);
    let answer = send(&server, &format!("p/ref={long}&p/owner=ada&do=submit")).await;
    assert_eq!(answer.status, 413);
    assert!(answer.text.len() < 5_000, "{} bytes", answer.text.len());
    let answer = submit(&server, json!({ "payload": { "ref": long, "owner": "ada" } })).await;
    answer.problem(413, "too-large");
    let many = (0..20_000).map(|n| format!("f{n}=1")).collect::<Vec<_>>().join("&");
    assert_eq!(send(&server, &many[..120_000]).await.status, 422);
    let deep = format!("{{\"payload\":{}1{}}}", "[".repeat(2_000), "]".repeat(2_000));
    let request =
        server.request("POST", "/public/parcels").header("content-type", "application/json").body(deep);
    assert_eq!(Answer::of(request).await.status, 400);
}

fn url(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[tokio::test]
async fn of_what_is_under_way_already_a_stranger_gets_no_receipt() {
    let server = server(parcels()).await;
    let payload = |weight: u32| json!({ "payload": { "ref": "a", "owner": "ada", "weight": weight } });
    let first = submit(&server, payload(5)).await;
    assert_eq!(first.status, 201);
    for weight in [5, 6] {
        let again = submit(&server, payload(weight)).await;
        let problem = again.problem(409, "duplicate-key");
        assert!(problem.get("submission").is_none() && problem.get("receipt").is_none(), "{problem}");
        assert!(problem["detail"].as_str().unwrap().contains("under way already"), "{problem}");
    }
    let form = send(&server, "p/ref=a&p/owner=ada&p/weight=5&do=submit").await;
    assert_eq!(form.status, 409);
    assert!(form.text.contains("under way already") && form.text.contains("ada</textarea>"), "{}", form.text);
}

#[tokio::test]
async fn a_form_that_is_sent_twice_is_one_submission_with_one_receipt() {
    let server = server(parcels()).await;
    let form = "key=one-and-the-same&p/ref=a&p/owner=ada&p/weight=5&do=submit";
    let (first, again) = (send(&server, form).await, send(&server, form).await);
    assert_eq!(receipt(&first.text), receipt(&again.text));
    let listed = as_root(&server, "GET", "/v1/submissions", json!({})).await;
    assert_eq!(listed["submissions"].as_array().map(Vec::len), Some(1));
    let other = send(&server, "key=one-and-the-same&p/ref=b&p/owner=ada&p/weight=5&do=submit").await;
    assert_eq!(other.status, 422);
    assert!(other.text.contains("Send it again") && other.text.contains("\nb</textarea>"), "{}", other.text);
    assert!(!other.text.contains("one-and-the-same"), "with a key of its own");
}

#[tokio::test]
async fn only_the_fields_that_are_asked_for_are_taken() {
    let fields = Some(["weight", "owner", "ref"].map(str::to_owned).to_vec());
    let server = server(PublicPipeline { fields, ..parcels() }).await;
    let form = page(&server, "/public/parcels").await.text;
    let place = |name: &str| form.find(&format!("name=\"p/{name}\""));
    assert!(place("weight") < place("owner") && place("owner") < place("ref") && place("weight").is_some());
    let body = json!({ "payload": { "ref": "a", "owner": "ada", "weight": 5, "vip": true } });
    let problem = submit(&server, body).await.problem(422, "schema-violation");
    assert_eq!(problem["violations"][0]["path"], "/vip");
    let sent = send(&server, "p/ref=a&p/owner=ada&p/weight=5&p/vip=1&do=submit").await;
    assert_eq!(sent.status, 200, "a field that is not there is not read: {}", sent.text);
    let listed = as_root(&server, "GET", "/v1/submissions", json!({})).await["submissions"][0]["id"].clone();
    let made =
        as_root(&server, "GET", &format!("/v1/submissions/{}", listed.as_str().unwrap()), json!({})).await;
    assert_eq!(made["payload"], json!({ "ref": "a", "owner": "ada", "weight": 5 }));
}

#[tokio::test]
async fn a_receipt_says_how_long_others_took() {
    let clock = ManualClock::new();
    let store = Arc::new(MemoryStore::new(Arc::new(clock.clone())));
    let server = Server::over(store, &engine::Options::default(), |options| {
        options.public = Arc::new(PublicPages::new([parcels()]));
    })
    .await;
    let body = |reference: &str| json!({ "payload": { "ref": reference, "owner": "ada", "weight": 5 } });
    for number in 0..6 {
        let id = server.parcel(&number.to_string()).await;
        let task = server.claim("parcels.check").await;
        clock.advance(600_000);
        server.finish(&task["token"], "good", json!({ "score": 1 })).await;
        clock.advance(1_200_000);
        let agreed = server.post(&format!("/v1/submissions/{id}/actions/approve"), json!({})).await;
        assert_eq!(agreed.status, 200, "{}", agreed.text);
    }
    let made = submit(&server, body("mine")).await.json();
    let path = format!("/public/parcels/receipts/{}", made["receipt"].as_str().unwrap());
    let view = json(&server, &path).await.json();
    let likely: model::Millis =
        view["expected"]["likely"].as_str().unwrap_or_else(|| panic!("{view}")).parse().unwrap();
    // Ten minutes and twenty, off by an eighth at most.
    assert!((1_500_000..2_100_000).contains(&likely.millis()), "{view}");
    assert!(page(&server, &path).await.text.contains("Others took about"));
    clock.advance(900_000);
    // The server looks at the clock with every commit.
    server.parcel("another").await;
    assert!(page(&server, &path).await.text.contains("cannot be said at present"), "longer than others");
}

#[tokio::test]
async fn a_mail_leads_to_the_receipt() {
    const TOLD: &str = "name = 'told'\nversion = 1\nstart = { to = 'DONE', notify = 'author' }\n\
        [notify.author]\nmail = 'payload.mail'\ntemplate = 'told.txt'\n[states.DONE]\nfinal = 'success'\n";
    let options = engine::Options {
        base_url: Some("https://m.example".to_owned()),
        public: [model::Name::from("told")].into(),
        ..engine::Options::default()
    };
    let told = PublicPipeline { name: "told".into(), rate: 5, rate_all: 5, ..PublicPipeline::default() };
    let server =
        Server::over(memory(&[]), &options, |options| options.public = Arc::new(PublicPages::new([told])))
            .await;
    server.engine.apply_delivery().await.unwrap();
    let template = "Subject: Thanks\n\nFollow it: {{ submission.receipt }}\n";
    let files = [("told.txt".to_owned(), template.to_owned())].into();
    server
        .engine
        .apply(&model::pipeline::Source { files, ..model::pipeline::Source::new("told.toml", TOLD) })
        .await
        .unwrap();
    server.post("/v1/pipelines/told/submissions", json!({ "payload": { "mail": "ada@mail.example" } })).await;
    let mails = loop {
        let mails = server.get("/v1/submissions?pipeline=delivery").await.json()["submissions"].clone();
        match mails.as_array().unwrap().is_empty() {
            // What is owed is paid by a duty, within moments.
            true => tokio::task::yield_now().await,
            false => break mails,
        }
    };
    let mail = server.get(&format!("/v1/submissions/{}", mails[0]["id"].as_str().unwrap())).await.json();
    let body = mail["payload"]["body"].as_str().unwrap();
    let path = body.trim().strip_prefix("Follow it: https://m.example").unwrap_or_else(|| panic!("{body}"));
    let receipt = json(&server, path).await;
    assert_eq!((receipt.status, &receipt.json()["state"]), (200, &json!("DONE")), "{}", receipt.text);
}
