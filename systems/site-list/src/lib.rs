//! A public list of sites with a transparency log.
//!
//! `rules` judges a change, `list` is what comes of all of them, `leaf` is what the log says about each.

mod action;
pub mod check;
mod found;
mod hex;
pub mod leaf;
pub mod list;
mod policy;
mod refused;
pub mod rules;
pub mod sites;

pub use action::Action;
pub use found::Found;
pub use policy::{Policy, SIGNERS_MAX, Signer};
pub use refused::{CODES, Code, Refused};
use system::{PipelineFile, System};

struct SiteList;

/// Returns the system as it is without settings.
#[must_use]
pub fn system() -> impl System {
    SiteList
}

impl System for SiteList {
    fn name(&self) -> &'static str {
        "site-list"
    }

    fn pipelines(&self) -> Vec<PipelineFile> {
        const NAMED: &[(&str, &str)] = &[
            ("schemas/site-list.json", include_str!("../schemas/site-list.json")),
            ("schemas/site-list-found.json", include_str!("../schemas/site-list-found.json")),
            ("schemas/site-list-invalid.json", include_str!("../schemas/site-list-invalid.json")),
            ("schemas/site-list-leaf.json", include_str!("../schemas/site-list-leaf.json")),
            ("schemas/site-list-proof.json", include_str!("../schemas/site-list-proof.json")),
            ("templates/site-list/contact.txt", include_str!("../templates/site-list/contact.txt")),
            ("templates/site-list/operator.txt", include_str!("../templates/site-list/operator.txt")),
        ];
        vec![PipelineFile::new("site-list.toml", include_str!("../site-list.toml")).naming(NAMED)]
    }
}
