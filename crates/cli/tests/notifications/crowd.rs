//! Many hosts that take a connection and never answer.

use std::net::{Ipv4Addr, SocketAddr};

use model::Role;
use serde_json::{Value, json};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinSet;

use crate::common::Server;
use crate::notifications::deliveries::{PATIENCE, in_state, notified, patient_server, webhook};
use crate::notifications::receiver::{Mood, Receiver};

const HOSTS: usize = 600;
/// Addresses that one notification may have.
const AT_ONCE: usize = 20;

/// Hosts of this machine that keep every connection open, and count them.
struct Crowd {
    hosts: Vec<SocketAddr>,
    arrived: watch::Sender<usize>,
    _open: JoinSet<()>,
}

impl Crowd {
    async fn gather() -> Crowd {
        let mut crowd =
            Crowd { hosts: Vec::new(), arrived: watch::Sender::default(), _open: JoinSet::default() };
        let mut port = 0;
        for n in 0..HOSTS {
            let [high, low] = u16::try_from(n + 1).unwrap().to_be_bytes();
            let listener = TcpListener::bind((Ipv4Addr::new(127, 1, high, low), port)).await.unwrap();
            let address = listener.local_addr().unwrap();
            port = address.port();
            crowd.hosts.push(address);
            crowd._open.spawn(hang(listener, crowd.arrived.clone()));
        }
        crowd
    }

    async fn until(&self, count: usize) {
        let mut arrived = self.arrived.subscribe();
        let waited = tokio::time::timeout(PATIENCE, arrived.wait_for(|arrived| *arrived >= count)).await;
        waited.expect("the connections come in time").unwrap();
    }
}

async fn hang(listener: TcpListener, arrived: watch::Sender<usize>) {
    let mut held: Vec<TcpStream> = Vec::new();
    loop {
        held.push(listener.accept().await.unwrap().0);
        arrived.send_modify(|count| *count += 1);
    }
}

fn token(server: &Server, subject: &str, role: Role, admin: Option<&str>) -> String {
    let mut args = vec!["tokens", "create", subject, "--role", role.as_str()];
    args.extend(admin.iter().flat_map(|token| ["--token", *token]));
    server.run(&args).ends(0).stdout.trim_end().to_owned()
}

fn client(server: &Server, token: &str) -> client::Client {
    client::Client::new(&server.url, Some(token.to_owned())).unwrap()
}

fn many(cause: String, to: &[SocketAddr]) -> Value {
    let to: Vec<String> = to.iter().map(|address| format!("http://{address}/hook")).collect();
    json!({ "cause": cause, "channel": "webhook", "to": to })
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stranger_is_told_while_hundreds_of_hosts_hang() {
    let crowd = Crowd::gather().await;
    let answers = Receiver::start_at(Ipv4Addr::new(127, 0, 0, 2), Mood::Answers(200)).await;
    let server = patient_server(&[crowd.hosts[0].port(), answers.address.port()]);
    let admin = token(&server, "root", Role::Admin, None);
    let of = |subject| client(&server, &token(&server, subject, Role::Submitter, Some(&admin)));
    let (flood, stranger, admin) = (of("flood"), of("stranger"), client(&server, &admin));
    let mut hung = Vec::new();
    for (n, hosts) in crowd.hosts.chunks(AT_ONCE).enumerate() {
        hung.extend(notified(&flood, many(format!("hung-{n}"), hosts)).await.deliveries);
    }
    assert_eq!(hung.len(), HOSTS);
    crowd.until(40).await;
    let told = notified(&stranger, webhook("fine", &answers.url("/hook"))).await;
    answers.until(|requests| requests.len() == 1).await;
    for id in hung {
        let view = admin.submission(id).await.unwrap();
        assert!(view.error.is_none(), "none of those before has had to end for it: {view:?}");
    }
    in_state(&admin, told.deliveries[0], "SENT").await;
}
