use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use model::Millis;
use server::{Doors, PublicPages, PublicPipeline, Tls};
use tokio::net::TcpListener;

use crate::audit_log::Audit;
use crate::base_url;
use crate::exit::{Exit, Stop};
use crate::folder::Folder;
use crate::limits::{Limits, TlsArgs};
use crate::listen;
use crate::local_server::Node;
use crate::logging::{self, LogFormat};
use crate::open_files;
use crate::output::say;
use crate::report;
use crate::sending::Sending;
use crate::settings::ConfigFile;
use crate::signals::{self, Signals};
use crate::store_place::Place;
use crate::systemd::Notify;
use crate::systems::Systems;

/// Run a server
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  milepost serve --pipelines pipelines
  milepost serve --data /var/lib/milepost --listen 127.0.0.1:9000 --log-format json
  milepost serve --keep-events 90d
  milepost serve --listen 0.0.0.0:8443 --first-token admin.token --tls-cert cert.pem --tls-key key.pem
  MILEPOST_SMTP_PASSWORD=secret milepost serve --smtp smtps://milepost@mail.example --mail-from 'Milepost <noreply@mail.example>'
  MILEPOST_STORE=postgres://milepost:secret@db/milepost milepost serve --name walker-1
  milepost serve --origin example.org/log --audit-guard /mnt/other/log.guard --witness-policy witnesses.txt

Any number of servers may share one PostgreSQL. Its address may also say which schema has the tables and how many
connections this server keeps: postgres://...?schema=milepost&readers=4&writers=4. Give an address with a password as
MILEPOST_STORE, which others on this machine cannot see.

While no token exists, the server is open to this machine and listens on no address that others can reach. Make the
first with --first-token FILE, or with `milepost tokens create`.
SIGTERM and Ctrl-C end it in good order: what was begun is finished.")]
pub(crate) struct Serve {
    /// A file of settings (TOML): each of these options under its name, weaker than the environment and than flags
    #[arg(long, env = "MILEPOST_CONFIG", hide_env_values = true, value_name = "FILE")]
    config: Option<PathBuf>,

    /// The folder that holds the data; made if it is missing [default: milepost-data]
    #[arg(long, value_name = "DIR", conflicts_with = "store")]
    data: Option<PathBuf>,

    /// Store of the data: sqlite:DIR or postgres://user:password@host:5432/database
    #[arg(long, value_name = "STORE")]
    store: Option<String>,

    /// Address to listen on; port 0 takes a free one
    #[arg(long, default_value = "127.0.0.1:8080", value_name = "ADDRESS", value_parser = crate::listen::read)]
    listen: SocketAddr,

    /// Address of this server as people reach it, for links in mails and receipts, such as https://milepost.example
    /// [default: where it listens]
    #[arg(long, value_name = "URL", value_parser = crate::base_url::read)]
    base_url: Option<String>,

    /// Apply every *.toml of this folder at start
    #[arg(long, value_name = "DIR")]
    pipelines: Option<PathBuf>,

    /// If there is no token yet, make an admin's and write it to this file, which only you can read
    #[arg(long, value_name = "FILE")]
    first_token: Option<PathBuf>,

    /// Time that events stay in the feed, such as 90d; without it, for ever
    #[arg(long, value_name = "SPAN")]
    keep_events: Option<Millis>,

    /// Number of versions kept of one pipeline, 3 or more [default: 500]
    #[arg(long, value_name = "COUNT", value_parser = clap::value_parser!(u32).range(3..))]
    versions_max: Option<u32>,

    /// Name of this server among those that share its store [default: a name it makes up]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,

    #[command(flatten)]
    limits: Limits,

    #[command(flatten)]
    tls: TlsArgs,

    #[command(flatten)]
    audit: Audit,

    #[command(flatten)]
    sending: Sending,

    /// Format of the logs: for people, or one JSON object a line
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,
}

impl Serve {
    /// `file` holds the settings, and parameters of pipelines.
    pub(crate) fn run(&self, file: Option<&ConfigFile>) -> anyhow::Result<Exit> {
        match (self.run_logged(file), self.log_format) {
            (Err(error), LogFormat::Json) => Ok(report::report_as_log(&error)),
            (ended, _) => ended.map(|()| Exit::Fine),
        }
    }

    fn run_logged(&self, file: Option<&ConfigFile>) -> anyhow::Result<()> {
        logging::start(self.log_format, "info")?;
        let served = tokio::runtime::Runtime::new()?.block_on(self.serve(file));
        logging::end();
        served
    }

    async fn serve(&self, settings: Option<&ConfigFile>) -> anyhow::Result<()> {
        let signals = Signals::listen()?;
        if let Some(file) = &self.config {
            tracing::info!(file = %file.display(), "settings were read");
        }
        let mail_server = self.sending.mail_server()?;
        let notify = Arc::new(Notify::of_environment());
        let tls = self.tls.load()?;
        signals::on_hangup(reload(tls.clone(), notify.clone()))?;
        let place = self.place()?;
        // Before anything is made: a server that cannot listen leaves nothing behind.
        let listener = self.bind().await?;
        let mut systems = settings.map(ConfigFile::systems).transpose()?.unwrap_or_default();
        let queues = settings.map(|file| file.queues.clone()).unwrap_or_default();
        systems.extend(queues.interface());
        let mut systems = Systems::new(systems, &place, self.sending.policy())?;
        systems.listen().await?;
        let public: Vec<PublicPipeline> =
            settings.into_iter().flat_map(|file| file.public.pipelines().cloned()).collect();
        let base = self.base(listener.local_addr()?, tls.is_some());
        let options = engine::Options {
            payload_checks: systems.payload_checks(),
            base_url: Some(base.clone()),
            public: public.iter().map(|public| public.name.clone()).collect(),
            ..self.engine_options(&place)?
        };
        let node = Node::open(&place, &options)?;
        tracing::info!("the data is in {place}");
        node.apply_delivery().await?;
        if self.pipelines.is_some() || systems.each().next().is_some() {
            let folder = self.pipelines.as_deref().map(Folder::read).transpose()?;
            let mut folder = folder.unwrap_or_default();
            folder.add(systems.each())?;
            folder.apply(&node, settings).await?;
        }
        if let Some(file) = &self.first_token {
            node.first_token(file).await?;
        }
        if node.doors(&listener).await? == Doors::Open {
            tracing::warn!("there is no token yet: everybody on this machine may do everything");
        }
        self.announce(listener.local_addr()?, tls.is_some());
        notify.ready(&format!("listening on {}", listener.local_addr()?));
        if let Some(every) = notify.every() {
            tokio::spawn(node.clone().reassure(notify.clone(), every));
        }
        let stop = async {
            signals.asked_to_stop().await;
            notify.stopping();
            tracing::info!("stopping");
        };
        let mut options = self.limits.options(listener.local_addr()?)?;
        open_files::allow(options.connections_max);
        options.tls = tls;
        options.base_url = self.base_url.clone();
        for public in &public {
            tracing::info!("everybody may submit to `{0}` at {base}/public/{0}", public.name);
        }
        options.public = Arc::new(PublicPages::new(public));
        #[cfg(feature = "otel")]
        {
            options.traced = Some(crate::otel::adopt);
        }
        let senders = self.sending.senders(&node, mail_server);
        let consumers = node.consumers(self.sending.policy(), queues.consumers);
        node.serve(listener, options, (senders, consumers, systems), stop).await
    }

    /// Returns the address that links begin with.
    fn base(&self, listens: SocketAddr, tls: bool) -> String {
        self.base_url.clone().unwrap_or_else(|| base_url::of_listener(listens, tls))
    }

    async fn bind(&self) -> Result<TcpListener, Stop> {
        let bound = TcpListener::bind(self.listen).await;
        bound.map_err(|error| listen::failed(self.listen, &error, "with --listen"))
    }

    fn place(&self) -> Result<Place, Stop> {
        match (&self.data, &self.store) {
            (Some(folder), _) => Ok(Place::Folder(folder.clone())),
            (None, Some(store)) => Place::read(store),
            (None, None) => Ok(Place::Folder("milepost-data".into())),
        }
    }

    /// Checks what can be known to be wrong without starting.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        self.place()?;
        self.check_spans()?;
        self.limits.options(self.listen)?;
        self.tls.load()?;
        Ok(())
    }

    fn check_spans(&self) -> Result<(), Stop> {
        match self.keep_events.is_some_and(Millis::is_zero) {
            true => Err(Stop::usage(
                "--keep-events 0s would remove every event at once; leave it out to keep them",
            )),
            false => Ok(()),
        }
    }

    fn engine_options(&self, place: &Place) -> Result<engine::Options, Stop> {
        self.check_spans()?;
        let (keep_events, name) = (self.keep_events, self.name.as_deref().unwrap_or_default().into());
        let log = self.audit.log_options(place)?;
        let versions_max = self.versions_max.and_then(|max| usize::try_from(max).ok());
        Ok(engine::Options { keep_events, versions_max, name, log, ..engine::Options::default() })
    }

    /// The line that scripts wait for. It is no log: no filter hides it.
    fn announce(&self, address: SocketAddr, tls: bool) {
        let scheme = if tls { "https" } else { "http" };
        match self.log_format {
            LogFormat::Text => say!("listening on {scheme}://{address}"),
            LogFormat::Json => {
                say!("{}", logging::json_line("INFO", &format!("listening on {scheme}://{address}"), None))
            }
        }
    }
}

fn reload(tls: Option<Tls>, notify: Arc<Notify>) -> impl Fn() + Send + 'static {
    move || {
        notify.reloading();
        match tls.as_ref().map(Tls::reload) {
            None => tracing::info!("there is nothing to read again without a certificate"),
            Some(Ok(())) => tracing::info!("the certificate was read again"),
            Some(Err(error)) => {
                tracing::error!(%error, "the certificate cannot be used; the one before stays")
            }
        }
        notify.ready("the certificate was read again");
    }
}
