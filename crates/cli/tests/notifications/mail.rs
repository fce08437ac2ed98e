use model::Status;
use serde_json::{Value, json};

use crate::common::{milepost, run};
use crate::notifications::deliveries::{
    MAIL_BODY, MAIL_SUBJECT, failed, in_state, notified, seen, server, server_in, tell,
};
use crate::notifications::mail_server::MailServer;

fn mail(cause: &str, to: &str) -> Value {
    json!({ "cause": cause, "channel": "mail", "to": to })
}

fn smtp(mail_server: &MailServer) -> [String; 4] {
    let url = format!("smtp://127.0.0.1:{}", mail_server.port);
    ["--smtp".to_owned(), url, "--mail-from".to_owned(), "Milepost <noreply@milepost.example>".to_owned()]
}

/// A header of a mail, as it stands there.
fn header<'a>(text: &'a str, name: &str) -> &'a str {
    let found = text.lines().take_while(|line| !line.is_empty());
    let mut values = found.filter_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    values.next().unwrap_or_else(|| panic!("no {name} in {text}"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_real_mail_server_gets_the_mails_and_its_refusals_are_told_apart() {
    let mail_server = MailServer::start(&[]);
    let args = smtp(&mail_server);
    let server = server(&[], &args.each_ref().map(String::as_str));
    let client = server.client();
    let first = tell(&client, mail("one", "ada@example.com")).await;
    let gone = tell(&client, mail("two", "gone@example.com")).await;
    let nobody = notified(&client, mail("three", "nobody at all")).await;
    assert_eq!((nobody.deliveries.len(), nobody.problem.as_deref()), (0, Some("not a mail address")));

    let sent = in_state(&client, first, "SENT").await;
    assert_eq!(sent.outputs.unwrap()["MAILING"], json!({ "reply": "250 2.0.0 taken as 42" }).into());
    let gone = in_state(&client, gone, "REFUSED").await;
    assert_eq!(gone.revision, 2, "refused at once: {gone:?}");
    assert!(gone.outputs.unwrap()["MAILING"].as_str().contains("550"));

    // 451 twice, then taken: the pipeline tries again.
    let busy = tell(&client, mail("four", "busy@example.com")).await;
    failed(&client, busy, "smtp-451").await;
    let busy = in_state(&client, busy, "SENT").await;
    assert_eq!(busy.revision, 4, "submitted, failed twice, sent: {busy:?}");

    let mails = mail_server.until(2).await;
    let mail = &mails[0];
    assert_eq!(
        (&mail["from"], &mail["to"]),
        (&json!("noreply@milepost.example"), &json!(["ada@example.com"]))
    );
    assert_eq!(mail["subject"], MAIL_SUBJECT);
    let body = mail["body"].as_str().unwrap().replace("\r\n", "\n");
    assert_eq!(body.trim_end(), MAIL_BODY.trim_end());
    let text = mail["text"].as_str().unwrap();
    assert_eq!(header(text, "From"), "Milepost <noreply@milepost.example>");
    assert_eq!(header(text, "To"), "ada@example.com");
    assert_eq!(header(text, "Auto-Submitted"), "auto-generated");
    assert!(header(text, "Subject").starts_with("=?utf-8?"), "{text}");
    assert!(header(text, "Date").contains("+0000"));
    let id = header(text, "Message-ID");
    assert!(id.starts_with('<') && id.ends_with("@milepost.example>"), "{id}");
    // The same message again is recognisable.
    let replayed = client.replay(first, None).await.unwrap().id;
    in_state(&client, replayed, "SENT").await;
    let again = mail_server.until(3).await;
    assert_eq!(header(again[2]["text"].as_str().unwrap(), "Message-ID"), id);
    assert_eq!(mail_server.mails().len(), 3, "nothing went out that should not have");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_password_comes_from_a_file_and_a_wrong_one_is_a_failure_of_the_server() {
    let mail_server = MailServer::start(&["auth"]);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "hunter2\n").unwrap();
    let url = format!("smtp://milepost@127.0.0.1:{}", mail_server.port);
    let file = file.path().to_str().unwrap();
    let args = ["--smtp", &url, "--mail-from", "noreply@milepost.example", "--smtp-password-file", file];
    let server = server(&[], &args);
    in_state(&server.client(), tell(&server.client(), mail("one", "ada@example.com")).await, "SENT").await;
    assert_eq!(mail_server.until(1).await[0]["user"], "milepost");
    drop(server);

    std::fs::write(file, "wrong").unwrap();
    let server = crate::notifications::deliveries::server(&[], &args);
    let id = tell(&server.client(), mail("one", "ada@example.com")).await;
    let view = failed(&server.client(), id, "smtp-535").await;
    assert_eq!(view.status, Status::Open, "the recipient is not to blame");
    let log = server.log.lock().unwrap().join("\n");
    assert!(!log.contains("hunter2") && !log.contains("wrong"), "{log}");
}

#[tokio::test(flavor = "multi_thread")]
async fn mail_goes_by_starttls_to_a_server_whose_certificate_is_good_or_not_at_all() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../server/tests/tls");
    let ca = format!("{folder}/ca.pem");
    let (secure, plain) = (MailServer::start(&["tls", folder]), MailServer::start(&[]));
    let from = ["--mail-from", "noreply@milepost.example"];
    for (host, mail_server, trusts, expected) in [
        ("localhost", &secure, true, "SENT"),
        ("localhost", &secure, false, "tls"),
        ("localhost", &plain, true, "smtp-unfit"),
    ] {
        let url = format!("smtp://{host}:{}?tls=required", mail_server.port);
        let envs = [("SSL_CERT_FILE", ca.as_str())];
        let envs = if trusts { &envs[..] } else { &[] };
        let server = server_in(&[], &["--smtp", &url, from[0], from[1]], envs);
        let client = server.client();
        let id = tell(&client, mail("one", "ada@example.com")).await;
        if expected == "SENT" {
            in_state(&client, id, "SENT").await;
        } else {
            failed(&client, id, expected).await;
        }
    }
    assert_eq!(secure.until(1).await[0]["tls"], true);
    assert_eq!((secure.mails().len(), plain.mails().len()), (1, 0));
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_mail_server_a_mail_is_a_dead_letter_that_says_so() {
    let server = server(&[], &[]);
    let client = server.client();
    let id = tell(&client, mail("one", "ada@example.com")).await;
    let dead = seen(&client, id, |view| view.status == Status::Dead).await;
    assert_eq!(dead.error.map(|error| error.code.to_string()).as_deref(), Some("no-mail-server"));
    let why = client.why(id).await.unwrap();
    assert!(why.reasons.iter().any(|reason| reason.sentence.contains("--smtp")), "{why:?}");
    let log = server.log.lock().unwrap().join("\n");
    assert_eq!(log.matches("no mail server is known").count(), 1, "{log}");
}

#[test]
fn a_mail_server_that_cannot_be_is_refused_at_the_start() {
    for url in ["mail.example", "smtp://ada:hunter2@mail.example", "smtp://ada@mail.example?tls=none"] {
        let args = ["serve", "--smtp", url, "--mail-from", "a@mail.example", "--data", "/dev/null/x"];
        let said = run(&args).ends(2);
        assert!(said.stderr.contains("--smtp") && !said.stderr.contains("hunter2"), "{}", said.stderr);
    }
    let mut command = milepost(&["serve", "--smtp", "smtp://mail.example", "--listen", "127.0.0.1:0"]);
    assert_eq!(command.output().unwrap().status.code(), Some(2), "it needs --mail-from");
}
