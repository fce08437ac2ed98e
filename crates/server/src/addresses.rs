//! The addresses of systems, side by side: two routes must not answer the same requests.

use std::collections::BTreeMap;

use axum::http::Method;
use matchit::InsertError;

use crate::mounts::Mounts;
use crate::table::TABLE;

/// The server itself, among those who have addresses.
const SERVER: &str = "the server";

/// An address that cannot be a system's, because it is taken or is no address.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadAddress {
    #[error(
        "{owner} has the address `{method} {path}`, and so has {other}, as `{taken}`: turn one of them off, or change its \
         address"
    )]
    Taken { owner: String, method: Method, path: String, other: String, taken: String },
    #[error("{owner} has the address `{path}`, which is none: {reason}")]
    Malformed { owner: String, path: String, reason: String },
}

/// Refuses systems of which two, or one and the server, would answer the same requests; and a listener of a system's own whose
/// routes would.
pub fn check_addresses(all: &[Mounts]) -> Result<(), BadAddress> {
    let own = TABLE.iter().map(|route| (SERVER.to_owned(), &route.method, route.path));
    let pages = console::TABLE.iter().map(|route| (SERVER.to_owned(), &route.method, route.path));
    let of_systems = all.iter().flat_map(|mounts| of_system(mounts, &mounts.routes));
    check(own.chain(pages).chain(of_systems))?;
    let mut apart = all.iter().flat_map(|mounts| mounts.listeners.iter().map(move |own| (mounts, own)));
    apart.try_for_each(|(mounts, listener)| check(of_system(mounts, &listener.routes)))
}

fn of_system<'a>(
    mounts: &'a Mounts,
    routes: &'a [system::Route],
) -> impl Iterator<Item = (String, &'a Method, &'static str)> {
    let owner = format!("the system `{}`", mounts.system);
    routes.iter().map(move |route| (owner.clone(), &route.method, route.path))
}

/// Checks the routes of one listener.
fn check<'a>(routes: impl Iterator<Item = (String, &'a Method, &'static str)>) -> Result<(), BadAddress> {
    let mut shapes = matchit::Router::new();
    let mut taken: BTreeMap<&str, Vec<(String, &Method)>> = BTreeMap::new();
    for (owner, method, path) in routes {
        let there = taken.entry(path).or_default();
        let other = there.iter().find(|(_, known)| *known == method);
        let other = match other.map(|(other, _)| (other.clone(), path.to_owned())) {
            None if there.is_empty() => shape(&mut shapes, &owner, path)?,
            other => other,
        };
        if let Some((other, taken)) = other {
            return Err(BadAddress::Taken {
                owner,
                method: method.clone(),
                path: path.to_owned(),
                other,
                taken,
            });
        }
        there.push((owner, method));
    }
    Ok(())
}

/// Adds an address to those there are, or returns which one it cannot be told from, and whose that is.
fn shape(
    shapes: &mut matchit::Router<String>,
    owner: &str,
    path: &str,
) -> Result<Option<(String, String)>, BadAddress> {
    match shapes.insert(path, owner.to_owned()) {
        Ok(()) => Ok(None),
        Err(InsertError::Conflict { with }) => {
            let other = shapes.at(&with).map_or_else(|_| SERVER.to_owned(), |found| found.value.clone());
            Ok(Some((other, with)))
        }
        Err(error) => Err(BadAddress::Malformed {
            owner: owner.to_owned(),
            path: path.to_owned(),
            reason: error.to_string(),
        }),
    }
}
