//! A real server of names, for names that the tests make up.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use hickory_server::Server;
use hickory_server::net::runtime::Time;
use hickory_server::proto::op::{Metadata, ResponseCode};
use hickory_server::proto::rr::rdata::{A, AAAA, SOA};
use hickory_server::proto::rr::{LowerName, Name, RData, Record, RecordType};
use hickory_server::server::{Request, RequestHandler, ResponseHandler, ResponseInfo};
use hickory_server::zone_handler::MessageResponseBuilder;
use site_list::sites::Names;
use tokio::net::{TcpListener, UdpSocket};

/// The server's way with one name.
#[derive(Debug, Clone)]
pub(crate) enum Says {
    Addresses(Vec<IpAddr>),
    /// The name is there, and has no address.
    Nothing,
    /// This zone says that there is no such name.
    NoSuchName(&'static str),
    /// A denial that names no zone.
    NoSuchNameSaysNobody,
    Failure,
    Silence,
}

#[derive(Debug, Clone, Default)]
pub(crate) struct Zones(Arc<Mutex<BTreeMap<String, Says>>>);

pub(crate) struct Dns {
    pub(crate) address: SocketAddr,
    zones: Zones,
    _server: Server<Zones>,
}

impl Dns {
    /// Serves on a free port of this machine. Names that nobody said anything about do not exist.
    pub(crate) async fn start() -> Dns {
        // The same port for both protocols: the system gives one, and the other is asked for.
        let (udp, tcp) = loop {
            let udp = UdpSocket::bind("127.0.0.1:0").await.expect("there is a free port");
            let address = udp.local_addr().expect("it is bound");
            if let Ok(tcp) = TcpListener::bind(address).await {
                break (udp, tcp);
            }
        };
        let (address, zones) = (udp.local_addr().expect("it is bound"), Zones::default());
        let mut server = Server::new(zones.clone());
        server.register_socket(udp);
        server.register_listener(tcp, Duration::from_secs(60), 16);
        Dns { address, zones, _server: server }
    }

    pub(crate) fn say(&self, name: &str, says: Says) {
        self.zones.0.lock().expect("no test panicked with it").insert(format!("{name}."), says);
    }

    pub(crate) fn names(&self) -> Names {
        Names::at(&[self.address]).expect("an address is all that is needed")
    }
}

impl Zones {
    fn of(&self, name: &LowerName) -> Says {
        let known = self.0.lock().expect("no test panicked with it").get(&name.to_string()).cloned();
        known.unwrap_or(Says::NoSuchName("example"))
    }
}

#[async_trait::async_trait]
impl RequestHandler for Zones {
    async fn handle_request<R: ResponseHandler, T: Time>(
        &self,
        request: &Request,
        mut handle: R,
    ) -> ResponseInfo {
        let info = request.request_info().expect("there is one question");
        let (name, kind) = (info.query.name().clone(), info.query.query_type());
        let mut metadata = Metadata::response_from_request(&request.metadata);
        metadata.authoritative = true;
        let (mut answers, mut denial) = (Vec::new(), None);
        match self.of(&name) {
            Says::Silence => std::future::pending().await,
            Says::Failure => metadata.response_code = ResponseCode::ServFail,
            Says::Nothing => {}
            Says::NoSuchNameSaysNobody => metadata.response_code = ResponseCode::NXDomain,
            Says::NoSuchName(zone) => {
                metadata.response_code = ResponseCode::NXDomain;
                denial = Some(start_of(zone));
            }
            Says::Addresses(addresses) => {
                answers = addresses.iter().filter_map(|address| record(&name, *address, kind)).collect();
            }
        }
        let response = MessageResponseBuilder::from_message_request(request).build(
            metadata,
            &answers,
            &[],
            denial.iter(),
            &[],
        );
        handle.send_response(response).await.expect("the one who asked is there")
    }
}

fn record(name: &LowerName, address: IpAddr, kind: RecordType) -> Option<Record> {
    let data = match (address, kind) {
        (IpAddr::V4(address), RecordType::A) => RData::A(A(address)),
        (IpAddr::V6(address), RecordType::AAAA) => RData::AAAA(AAAA(address)),
        _ => return None,
    };
    Some(Record::from_rdata(name.into(), 60, data))
}

fn start_of(zone: &str) -> Record {
    let name = |text: String| Name::from_ascii(text).expect("this is a name");
    let (server, contact) = (name(format!("ns.{zone}.")), name(format!("admin.{zone}.")));
    Record::from_rdata(name(format!("{zone}.")), 60, RData::SOA(SOA::new(server, contact, 1, 60, 60, 60, 60)))
}
