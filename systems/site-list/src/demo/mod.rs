//! The system's part of the demo: sites over real TLS, a name server that knows them, and a list with a log of its own.

mod names;
mod web;

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use client::Client;
use rand::TryRng as _;
use rand::rngs::SysRng;
use serde_json::json;
use system::{Demo, Failed, Staged, Story, Table};
use tlog::note::{Algorithm, SigningKey};
use wire::SubmissionId;
use wire::api::{SubmissionView, SubmitBody};

use crate::PIPELINE;
use crate::action::Action;
use names::NameServer;
use web::Web;

/// The origin of the demo's log.
const ORIGIN: &str = "demo.example/list";
/// A site that does all as it should. It changes its signers now and then.
const GOOD: &str = "shop.example";
/// A site whose signers change during the wait.
const TURNED: &str = "news.example";
/// A site without signers.
const UNREADY: &str = "unready.example";
/// The wait between the two validations: days for a real list.
const WAITING: &str = "2s";
/// The pause between two changes once the story is told.
const PAUSE: Duration = Duration::from_secs(20);

/// The demonstration. Sites and names end when it is dropped.
#[derive(Default)]
pub(crate) struct Show {
    world: Option<(NameServer, Web)>,
}

/// The answer of a site that asks for a change and names these signers.
fn page(action: Action, signers: &[&str]) -> String {
    let signers: Vec<_> = signers
        .iter()
        .map(|identity| json!({ "identity": identity, "issuer": "https://accounts.google.com" }))
        .collect();
    let mut head = format!("HTTP/1.1 200 OK\r\nx-webcat-action: {}\r\n", action.as_str());
    if !signers.is_empty() {
        head.push_str(&format!("x-sigstore-signers: {}\r\nx-sigstore-threshold: 1\r\n", json!(signers)));
    }
    head.push_str(
        "content-security-policy: default-src 'none'; script-src 'self'\r\ncontent-length: 0\r\n\r\n",
    );
    head
}

#[async_trait]
impl Demo for Show {
    async fn start(&mut self, folder: &Path) -> Result<Staged, Failed> {
        let (names, web) = (NameServer::start([GOOD, TURNED, UNREADY]).await?, Web::start().await?);
        web.host(GOOD, vec![page(Action::Add, &["ada@shop.example"])])?;
        let (before, after) =
            (page(Action::Add, &["bob@news.example"]), page(Action::Add, &["eve@elsewhere.example"]));
        web.host(TURNED, vec![before, after])?;
        web.host(UNREADY, vec![page(Action::Add, &[])])?;
        let mut seed = [0; 32];
        SysRng.try_fill_bytes(&mut seed)?;
        let key = SigningKey::from_seed(ORIGIN, Algorithm::Ed25519, &seed)?;
        let (key_file, roots_file) = (folder.join("list-log.key"), folder.join("roots.pem"));
        std::fs::write(&key_file, key.to_secret())?;
        std::fs::write(&roots_file, web.root())?;
        // A text of JSON is one of TOML.
        let text = |path: &Path| json!(path.to_string_lossy());
        let settings = format!(
            "[system.site-list]\nlog-key-file = {}\nlog-folder = {}\nroots-file = {}\n\
             name-servers = [\"{}\"]\nsite-port = {}\nhost-pause = \"500ms\"\nlog-pause = \"100ms\"\n\
             [params.site-list]\nwaiting_delay = \"{WAITING}\"\n",
            text(&key_file),
            text(&folder.join("list-log")),
            text(&roots_file),
            names.address,
            web.port,
        );
        let ports = vec![web.port];
        self.world = Some((names, web));
        Ok(Staged { settings, ports })
    }

    async fn tell(&mut self, client: Client) -> Result<Story, Failed> {
        let mut samples = Vec::new();
        for host in [GOOD, TURNED, UNREADY] {
            samples.push(submit(&client, host, Action::Add).await?);
        }
        let mut ended = Vec::new();
        for id in &samples {
            ended.push(client.wait(*id, None).await?.submission);
        }
        let text = text(&client, &ended);
        Ok(Story { text, samples })
    }

    async fn go_on(&mut self, client: Client) {
        for number in 1_u64.. {
            tokio::time::sleep(PAUSE).await;
            if let Err(error) = self.one_more(&client, number).await {
                tracing::debug!(%error, "the demo changes no site this time");
            }
        }
    }
}

impl Show {
    /// Has the good site change its signers, and waits until the list has that.
    async fn one_more(&self, client: &Client, number: u64) -> Result<(), Failed> {
        let Some((_, web)) = &self.world else { return Ok(()) };
        let signers: &[&str] = match number % 2 {
            0 => &["ada@shop.example"],
            _ => &["ada@shop.example", "cyd@shop.example"],
        };
        web.host(GOOD, vec![page(Action::Modify, signers)])?;
        let id = submit(client, GOOD, Action::Modify).await?;
        client.wait(id, None).await?;
        Ok(())
    }
}

async fn submit(client: &Client, host: &str, action: Action) -> Result<SubmissionId, Failed> {
    let payload = json!({ "fqdn": host, "action": action });
    let body = SubmitBody { payload: payload.into(), ..SubmitBody::default() };
    Ok(client.submit(PIPELINE, &body, None).await?.id)
}

fn text(client: &Client, ended: &[SubmissionView]) -> String {
    let mut table = Table::new(["SITE", "STATE", "WHY"]);
    for view in ended {
        let why = view.error.as_ref().map(|error| format!("{}: {}", error.code, error.message));
        table.row([
            view.key.as_deref().unwrap_or_default().to_owned(),
            view.state.to_string(),
            why.unwrap_or_else(|| "validated twice, and twice in the log".to_owned()),
        ]);
    }
    let server = client.server();
    let server = server.trim_end_matches('/');
    let mut text = format!(
        "Sites asked to be put on a list of sites whose code is signed, over TLS of the demo's own. One changed its signers \
         while it waited:\n\n{}\n  \
         {server}/console/site-list/  the list, its log and the history of each host\n  \
         {server}/site-list/  the form where anybody asks for a change; it takes {GOOD}, {TURNED} and {UNREADY}\n  \
         {server}/site-list/list/update.json  the list as browsers get it\n",
        table.render()
    );
    if let Some(first) = ended.first() {
        text.push_str(&format!(
            "\n  # every step of {GOOD}, with the proofs of the log\n  milepost show {} --server {server}\n",
            first.id
        ));
    }
    text
}
