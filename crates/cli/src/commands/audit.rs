use clap::{Args, Subcommand};
use model::Json;
use serde_json::Value;

use crate::exit::Exit;
use crate::output::{self, Format, Table, say};
use crate::remote::{ServerArgs, block_on};

/// Look after a server's log: its key, how it is doing, and what only a person may decide
#[derive(Debug, Args)]
pub(crate) struct Audit {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Debug, Subcommand)]
enum Verb {
    Key(Key),
    Status(Status),
    Acts(Acts),
    Fork(Fork),
    Keys(Keys),
}

/// Print the lines by which others verify the log: hand them out by another way than the log
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  milepost audit key > log.vkey")]
struct Key {
    #[command(flatten)]
    server: ServerArgs,
}

/// Show how the log is doing: how far it has come, who signs, who has seen it
#[derive(Debug, Args)]
#[command(after_help = "Exits with 1 while nothing is signed: the log was refused or fails.")]
struct Status {
    #[command(flatten)]
    server: ServerArgs,
}

/// Show what was done besides what happened to submissions: tokens, holds, operations, definitions, the log itself
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost audit acts
  milepost audit acts --limit 20 --after 4711 -o json

The newest comes first. Names stand beside the pseudonyms in the log for as long as this server knows them.")]
struct Acts {
    /// Number to show
    #[arg(long, default_value_t = 50, value_name = "NUMBER")]
    limit: usize,

    /// Those before this index of the log
    #[arg(long, value_name = "INDEX")]
    after: Option<u64>,

    #[command(flatten)]
    server: ServerArgs,
}

/// Let the log go on although more of it was signed once: after a store was restored from an older copy
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  milepost audit fork --reason \"the disk died; restored from the backup of Sunday\"

The fork and its reason become part of the log. Monitors and witnesses will object until somebody has looked.")]
struct Fork {
    /// The reason; everybody who reads the log will read it
    #[arg(long, value_name = "TEXT")]
    reason: String,

    #[command(flatten)]
    server: ServerArgs,
}

/// Change the keys that sign: first add, later retire, so that verifiers who know either go on verifying
#[derive(Debug, Args)]
struct Keys {
    #[command(subcommand)]
    verb: KeysVerb,
}

#[derive(Debug, Subcommand)]
enum KeysVerb {
    Add(Add),
    Retire(Retire),
}

/// Let the server make a new key and sign with it beside the old one
#[derive(Debug, Args)]
struct Add {
    #[command(flatten)]
    server: ServerArgs,
}

/// Let the server sign no more with a key
#[derive(Debug, Args)]
struct Retire {
    /// The key's line, as `milepost audit key` prints it, or the id within it
    #[arg(value_name = "VKEY")]
    key: String,

    #[command(flatten)]
    server: ServerArgs,
}

impl Audit {
    pub(crate) fn run(&self, format: Format) -> anyhow::Result<Exit> {
        match &self.verb {
            Verb::Key(Key { server }) => {
                let client = server.client()?;
                output::print(&block_on(async { Ok(client.audit_key().await?) })?)?;
                Ok(Exit::Fine)
            }
            Verb::Status(Status { server }) => {
                let client = server.client()?;
                let status = block_on(async { Ok(client.audit_status().await?) })?;
                print(&status, format)?;
                Ok(if is_running(&status) { Exit::Fine } else { Exit::Negative })
            }
            Verb::Acts(acts) => acts.run(format),
            Verb::Fork(Fork { reason, server }) => {
                let client = server.client()?;
                print(&block_on(async { Ok(client.audit_fork(reason).await?) })?, format)
            }
            Verb::Keys(Keys { verb: KeysVerb::Add(Add { server }) }) => {
                let client = server.client()?;
                print(&block_on(async { Ok(client.add_audit_key().await?) })?, format)
            }
            Verb::Keys(Keys { verb: KeysVerb::Retire(Retire { key, server }) }) => {
                let client = server.client()?;
                print(&block_on(async { Ok(client.retire_audit_key(key.trim()).await?) })?, format)
            }
        }
    }
}

impl Acts {
    fn run(&self, format: Format) -> anyhow::Result<Exit> {
        let client = self.server.client()?;
        let page = block_on(async { Ok(client.audit_acts(self.after, self.limit).await?) })?;
        if format == Format::Json {
            output::print_json(&page)?;
            return Ok(Exit::Fine);
        }
        let mut table = Table::new(["INDEX", "AT", "WHAT", "OF", "BY", "DETAIL"]);
        for act in &page.acts {
            let by = act.actor.as_ref().map(|actor| match &actor.name {
                Some(name) => name.to_string(),
                None => actor.id.to_string(),
            });
            let detail: Vec<_> = act.detail.iter().map(|(name, word)| format!("{name}={word}")).collect();
            table.row([
                act.index.to_string(),
                act.at.to_string(),
                act.deed.as_deref().unwrap_or(&act.kind).to_owned(),
                act.of.to_string(),
                by.unwrap_or_else(|| "-".to_owned()),
                detail.join(" "),
            ]);
        }
        output::print(&table.render())?;
        if let Some(next) = page.next {
            say!("there are more; `--after {next}` shows them");
        }
        Ok(Exit::Fine)
    }
}

fn is_running(status: &Json) -> bool {
    let status: Value = serde_json::from_str(status.as_str()).unwrap_or_default();
    status["standing"] == "running"
}

fn print(answer: &Json, format: Format) -> anyhow::Result<Exit> {
    match format {
        Format::Json => output::print(&format!("{}\n", output::pretty(answer.as_str())))?,
        Format::Table => {
            let mut lines = Table::bare();
            rows(&mut lines, "", &serde_json::from_str(answer.as_str())?);
            output::print(&lines.render())?;
        }
    }
    Ok(Exit::Fine)
}

/// One line for each thing the server says, under the name it says it by.
fn rows(lines: &mut Table, name: &str, value: &Value) {
    let under = |key: &str| if name.is_empty() { key.to_owned() } else { format!("{name}.{key}") };
    match value {
        Value::Object(fields) => fields.iter().for_each(|(key, value)| rows(lines, &under(key), value)),
        Value::Array(values) if values.is_empty() => lines.row([name.to_owned(), "none".to_owned()]),
        Value::Array(values) => values.iter().for_each(|value| rows(lines, name, value)),
        Value::Null => lines.row([name.to_owned(), "-".to_owned()]),
        Value::String(text) => lines.row([name.to_owned(), text.clone()]),
        other => lines.row([name.to_owned(), other.to_string()]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_told_line_by_line_under_its_own_names() {
        let answer = serde_json::json!({
            "size": 7, "keys": ["a", "b"], "last": { "root": null, "ok": true }, "witnesses": []
        });
        let mut lines = Table::bare();
        rows(&mut lines, "", &answer);
        let told = lines.render();
        let mut told: Vec<&str> = told.lines().collect();
        told.sort_unstable();
        assert_eq!(
            told,
            [
                "keys       a",
                "keys       b",
                "last.ok    true",
                "last.root  -",
                "size       7",
                "witnesses  none"
            ]
        );
    }
}
