//! Settings for the notifications a server sends, and where it may send them.

use std::path::PathBuf;

use ::sending::{Mail, MailServer, Senders};
use clap::Args;
use fetch::{Network, Policy};
use wire::api::Secret;

use crate::exit::Stop;
use crate::local_server::Node;

const PASSWORD: &str = "MILEPOST_SMTP_PASSWORD";

#[derive(Debug, Args)]
#[command(next_help_heading = "Notifications")]
pub(crate) struct Sending {
    /// Send none here: other servers or workers of your own do
    #[arg(long, conflicts_with = "smtp")]
    no_send: bool,

    /// Let webhooks go into this network though it is not public, such as 10.0.0.0/8; may be given several times
    #[arg(long, value_name = "CIDR")]
    allow_address: Vec<Network>,

    /// Let webhooks go to this port, besides 80 and 443; may be given several times
    #[arg(long, value_name = "PORT")]
    allow_port: Vec<u16>,

    /// Hand mails to this server: smtp://user@host:587 (STARTTLS) or smtps://user@host:465; its password is in
    /// MILEPOST_SMTP_PASSWORD or a file
    #[arg(long, requires = "mail_from", value_name = "URL")]
    smtp: Option<String>,

    /// The sender of mails, such as 'Milepost <noreply@mail.example>'
    #[arg(long, requires = "smtp", value_name = "ADDRESS")]
    mail_from: Option<String>,

    /// The file with the mail server's password
    #[arg(long, requires = "smtp", value_name = "FILE")]
    smtp_password_file: Option<PathBuf>,
}

impl Sending {
    pub(crate) fn senders(&self, node: &Node, mail: Option<MailServer>) -> Option<Senders> {
        if self.no_send {
            return None;
        }
        let mail = match mail {
            Some(server) => Mail::By(server),
            None => {
                tracing::info!("no mail server is known (--smtp): notifications by mail become dead letters");
                Mail::Nowhere
            }
        };
        Some(node.senders(self.policy(), mail))
    }

    pub(crate) fn mail_server(&self) -> Result<Option<MailServer>, Stop> {
        let (Some(url), Some(from)) = (&self.smtp, &self.mail_from) else { return Ok(None) };
        let password = self.password()?.map(Secret);
        let server = MailServer::read(url, from, password);
        server.map(Some).map_err(|reason| Stop::usage(format!("--smtp cannot be used: {reason}")))
    }

    fn password(&self) -> Result<Option<String>, Stop> {
        let Some(file) = &self.smtp_password_file else {
            return Ok(std::env::var(PASSWORD).ok().filter(|password| !password.is_empty()));
        };
        let text = std::fs::read_to_string(file)
            .map_err(|error| Stop::usage(format!("cannot read {}: {error}", file.display())))?;
        Ok(Some(text.trim_end_matches(['\r', '\n']).to_owned()))
    }

    pub(crate) fn policy(&self) -> Policy {
        let mut policy = Policy { allowed: self.allow_address.clone(), ..Policy::default() };
        policy.ports.extend(&self.allow_port);
        policy
    }
}
