//! The servers over one store.

use engine::ServerReport;
use model::{Code, Refusal};
use wire::api::{ServerList, ServerView};

use crate::App;

impl App {
    /// Lists the servers, which are for all pipelines: whoever may see some of them only is not shown where they run and what
    /// they do.
    pub async fn servers(&self) -> Result<ServerList, Refusal> {
        self.check_unlimited("servers are of everything, and this token is for a part; use one for all")?;
        let servers = self.engine.servers().await?.into_iter().map(view).collect();
        Ok(ServerList { servers })
    }

    /// Refuses a visitor with a scope what is of everything, with these words.
    pub fn check_unlimited(&self, message: &str) -> Result<(), Refusal> {
        match self.visitor.is_unlimited() {
            true => Ok(()),
            false => Err(Refusal::new(Code::RoleRequired, message)),
        }
    }
}

fn view(report: ServerReport) -> ServerView {
    let ServerReport { server, seen_ago, duties, asked } = report;
    ServerView {
        id: server.id,
        name: server.name,
        address: server.address,
        version: server.version,
        started_at: server.started_at,
        seen_ago,
        duties,
        asked,
    }
}
