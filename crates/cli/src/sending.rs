//! What of the notifications a server sends, and where it may send them.

use clap::Args;
use fetch::{Network, Policy};
use notify::Senders;

use crate::node::Node;

#[derive(Debug, Args)]
#[command(next_help_heading = "Notifications")]
pub(crate) struct Sending {
    /// Send none here: other servers or workers of your own do
    #[arg(long)]
    no_send: bool,

    /// Let webhooks go into this network though it is not public, such as 10.0.0.0/8; may be given several times
    #[arg(long, value_name = "CIDR")]
    allow_address: Vec<Network>,

    /// Let webhooks go to this port, besides 80 and 443; may be given several times
    #[arg(long, value_name = "PORT")]
    allow_port: Vec<u16>,
}

impl Sending {
    pub(crate) fn senders(&self, node: &Node) -> Option<Senders> {
        (!self.no_send).then(|| node.senders(self.policy()))
    }

    fn policy(&self) -> Policy {
        let mut policy = Policy { allowed: self.allow_address.clone(), ..Policy::default() };
        policy.ports.extend(&self.allow_port);
        policy
    }
}
