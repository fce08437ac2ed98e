//! A name server in miniature: a few names of this machine, and no others.

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};

use hickory_resolver::proto::op::{Message, Metadata, ResponseCode};
use hickory_resolver::proto::rr::rdata::A;
use hickory_resolver::proto::rr::{RData, Record, RecordType};
use tokio::net::UdpSocket;
use tokio::task::JoinSet;

/// The longest question that is read.
const QUESTION_MAX: usize = 512;
const TTL: u32 = 60;

/// A name server. It ends when it is dropped.
pub(super) struct NameServer {
    pub(super) address: SocketAddr,
    _serving: JoinSet<()>,
}

impl NameServer {
    /// Answers for these names at a free port.
    pub(super) async fn start(names: impl IntoIterator<Item = &'static str>) -> io::Result<NameServer> {
        let names: BTreeSet<String> = names.into_iter().map(|name| format!("{name}.")).collect();
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let address = socket.local_addr()?;
        let mut serving = JoinSet::new();
        serving.spawn(async move {
            let mut question = [0; QUESTION_MAX];
            while let Ok((length, peer)) = socket.recv_from(&mut question).await {
                if let Some(answer) = answer(&names, &question[..length]) {
                    // Whoever is not there any more asks again.
                    let _ = socket.send_to(&answer, peer).await;
                }
            }
        });
        Ok(NameServer { address, _serving: serving })
    }
}

/// Answers a question. What is none gets no answer.
fn answer(names: &BTreeSet<String>, question: &[u8]) -> Option<Vec<u8>> {
    let asked = Message::from_vec(question).ok()?;
    let query = asked.queries.first()?.clone();
    let mut metadata = Metadata::response_from_request(&asked.metadata);
    metadata.authoritative = true;
    let mut said = asked.clone();
    match names.contains(&query.name().to_ascii().to_lowercase()) {
        false => metadata.response_code = ResponseCode::NXDomain,
        true if query.query_type() == RecordType::A => {
            let address = RData::A(A(Ipv4Addr::LOCALHOST));
            said.add_answer(Record::from_rdata(query.name().clone(), TTL, address));
        }
        true => {}
    }
    said.metadata = metadata;
    said.additionals.clear();
    said.to_vec().ok()
}
