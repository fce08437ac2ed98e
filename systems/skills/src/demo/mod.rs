//! The system's part of the demo: real repositories, a small judge, and a skill for each way through the review.

mod judge;
mod repositories;
mod samples;

use std::path::Path;
use std::time::Duration;

use async_trait::async_trait;
use client::Client;
use serde_json::{Value, json};
use system::{Demo, Failed, Staged, Story, Table};
use wire::api::{EventView, SubmissionView, SubmitBody};
use wire::{Status, SubmissionId};

use judge::{Judge, MODEL};
use repositories::Repositories;
use samples::{GO_ON, SAMPLES, Sample, changed};

const PIPELINE: &str = "skill-review";
/// The pause between two changes, once the story is told.
const PAUSE: Duration = Duration::from_secs(6);
/// Changes end after some hours: a demo that was forgotten does not fill the disk.
const CHANGES_MAX: u64 = 2_000;
/// The pause between two looks for a mail that is about to be made.
const LOOK: Duration = Duration::from_millis(20);

/// The demonstration. The judge ends when it is dropped.
#[derive(Default)]
pub(crate) struct Show {
    running: Option<(Judge, Repositories)>,
}

#[async_trait]
impl Demo for Show {
    async fn start(&mut self, folder: &Path) -> Result<Staged, Failed> {
        let repositories = Repositories::new(folder.to_owned());
        for sample in &SAMPLES {
            let skill = (sample.owner, sample.name);
            repositories.commit(skill, "SKILL.md", &sample.text()).await?;
            if let Some((path, text)) = sample.file {
                repositories.commit(skill, path, text).await?;
            }
        }
        let judge = Judge::start().await?;
        let port = judge.port;
        let address = toml::Value::from(repositories.address());
        let settings = format!(
            "[system.skills]\n\
             name = \"demo.example/skills\"\n\
             mirrors = {{ \"github.com\" = {address} }}\n\
             [system.skills.judge]\n\
             url = \"http://127.0.0.1:{port}/v1\"\n\
             model = \"{MODEL}\"\n"
        );
        self.running = Some((judge, repositories));
        Ok(Staged { settings, ports: vec![port] })
    }

    async fn tell(&mut self, client: Client) -> Result<Story, Failed> {
        let mut samples = Vec::new();
        for sample in &SAMPLES {
            samples.push(submit(&client, (sample.owner, sample.name), sample.email).await?);
        }
        let mut rows = Vec::new();
        let mut mails = Vec::new();
        for (sample, id) in SAMPLES.iter().zip(&samples) {
            let view = rested(&client, sample, *id).await?;
            let events = client.events(*id, 0).await?.events;
            let notified = events.iter().flat_map(|event| &event.notified);
            mails.extend(notified.flat_map(|told| told.deliveries.iter().copied()));
            rows.push((sample, view, events));
        }
        for mail in &mails {
            sent(&client, *mail).await?;
        }
        samples.extend(mails);
        let (_, repositories) = self.running.as_ref().ok_or("the demo has not started")?;
        Ok(Story { text: text(&client, &rows, repositories), samples })
    }

    async fn go_on(&mut self, client: Client) {
        let Some((_, repositories)) = &self.running else { return };
        for number in 0..CHANGES_MAX {
            tokio::time::sleep(PAUSE).await;
            if let Err(error) = one_more(&client, repositories, number).await {
                tracing::debug!(%error, "the demo submits no skill this time");
            }
        }
    }
}

async fn submit(
    client: &Client,
    (owner, name): (&str, &str),
    email: Option<&str>,
) -> Result<SubmissionId, Failed> {
    let mut payload = json!({ "repo_url": format!("https://github.com/{owner}/skills"), "skill_name": name });
    if let Some(email) = email {
        payload["email"] = Value::from(email);
    }
    let body = SubmitBody { payload: payload.into(), ..SubmitBody::default() };
    Ok(client.submit(PIPELINE, &body, None).await?.id)
}

/// Changes the next of the skills that go on, and submits it.
async fn one_more(client: &Client, repositories: &Repositories, number: u64) -> Result<(), Failed> {
    let skill = GO_ON[usize::try_from(number)? % GO_ON.len()];
    repositories.commit(skill, "SKILL.md", &changed(skill.1, number)).await?;
    submit(client, skill, None).await.map(drop)
}

/// Waits until a sample is where its story ends.
async fn rested(client: &Client, sample: &Sample, id: SubmissionId) -> Result<SubmissionView, Failed> {
    let mut view = client.submission(id).await?;
    while &*view.state != sample.rests_in {
        if view.status != Status::Open {
            let why = view.error.as_ref().map(|error| format!(": {}", error.message)).unwrap_or_default();
            return Err(
                format!("{} is in {}, not in {}{why}", sample.name, view.state, sample.rests_in).into()
            );
        }
        view = client.wait_for_change(id, view.revision, None).await?;
    }
    Ok(view)
}

/// Waits until a mail is sent. It is made by the commit after the one that asks for it.
async fn sent(client: &Client, id: SubmissionId) -> Result<(), Failed> {
    loop {
        match client.wait(id, None).await {
            Err(error) if error.code() == Some("unknown-submission") => tokio::time::sleep(LOOK).await,
            waited => return Ok(waited.map(drop)?),
        }
    }
}

fn text(
    client: &Client,
    rows: &[(&Sample, SubmissionView, Vec<EventView>)],
    repositories: &Repositories,
) -> String {
    let mut table = Table::new(["SKILL", "ID", "STATE", "HOW IT GOT THERE"]);
    let mut asks = None;
    for (sample, view, events) in rows {
        let triggers: Vec<&str> = events.iter().skip(1).map(|event| &*event.trigger).collect();
        if &*view.state == "NEEDS_REVIEW" {
            asks.get_or_insert((sample.name, view.id));
        }
        table.row([sample.name.to_owned(), view.id.to_string(), view.state.to_string(), triggers.join(", ")]);
    }
    let server = client.server();
    let server = server.trim_end_matches('/');
    let of_lena = repositories.place("lena", "commit-notes");
    let mut text = format!(
        "Skills for agents come from real repositories, are scanned by rules, judged by a small judge, and published:\n\n{}\n\
         {server}/skills/ is the registry for everybody; new versions come all the while.\n\n  \
         # scan a skill as the registry does\n  milepost skills scan {}\n",
        table.render(),
        of_lena.display()
    );
    if let Some((name, id)) = asks {
        let checklist = "{\"intent\":true,\"scope\":true,\"permissions\":true,\"security_notes\":true,\
                         \"scripts\":true,\"dependencies\":true,\"edge_cases\":true}";
        text.push_str(&format!(
            "\n  # {name} waits for a person: see why\n  milepost show {id} --server {server}\n\n  \
             # nobody approves from there: it must be escalated first\n  milepost act {id} escalate --server {server}\n\n  \
             # then approve it with a checklist; it is published\n  \
             milepost act {id} approve --wait --data '{checklist}' --server {server}\n"
        ));
    }
    text
}
