//! Sites, signers and policies that the tests share.

use site_list::rules::{Host, ISSUERS, Onions};
use site_list::{Policy, Signer};

pub(crate) fn host(name: &str) -> Host {
    Host::read(name, Onions::Refused).expect("this is a host name")
}

pub(crate) fn signer(identity: &str) -> Signer {
    Signer { identity: identity.to_owned(), issuer: ISSUERS[0].to_owned() }
}

pub(crate) fn policy(identities: &[&str], threshold: u32) -> Policy {
    Policy { signers: identities.iter().copied().map(signer).collect(), threshold }
}

pub(crate) fn issuers() -> Vec<String> {
    ISSUERS.iter().map(|issuer| (*issuer).to_owned()).collect()
}
