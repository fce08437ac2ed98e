//! Registries: small named things beside the submissions.

use super::sample::json;
use super::sight::registry_key as key;
use super::steps::{commit, take};
use super::{Fixture, Promise, promise};
use crate::{Changes, RegistryChange, Store, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("a registry entry is put, replaced and removed", put_replaced_removed),
    promise("a registry is listed in name order, one kind at a time", listed),
    promise("registry entries are taken by name, missing ones are absent", taken_by_name),
];

fn put(kind: &str, name: &str, body: &str) -> RegistryChange {
    RegistryChange { key: key(kind, name), body: Some(json(body)) }
}

fn removed(kind: &str, name: &str) -> RegistryChange {
    RegistryChange { key: key(kind, name), body: None }
}

fn write(store: &dyn Store, registry: Vec<RegistryChange>) {
    commit(store, Changes { registry, ..Changes::default() });
}

fn listing(store: &dyn Store, kind: &str) -> Vec<(String, String)> {
    let entries = store.registry(kind).expect("reading works");
    entries.into_iter().map(|(name, body)| (name, body.as_str().to_owned())).collect()
}

fn entry(name: &str, body: &str) -> (String, String) {
    (name.to_owned(), body.to_owned())
}

fn put_replaced_removed(fixture: &dyn Fixture) {
    let store = fixture.open();
    assert_eq!(listing(&*store, "hold"), []);
    write(&*store, vec![put("hold", "one", "{ \"n\": 1 }"), put("hold", "two", "2")]);
    assert_eq!(listing(&*store, "hold"), [entry("one", "{ \"n\": 1 }"), entry("two", "2")]);
    write(&*store, vec![put("hold", "one", "3")]);
    assert_eq!(listing(&*store, "hold"), [entry("one", "3"), entry("two", "2")]);
    write(&*store, vec![removed("hold", "one"), removed("hold", "never")]);
    assert_eq!(listing(&*store, "hold"), [entry("two", "2")]);
    write(
        &*store,
        vec![put("hold", "x", "1"), removed("hold", "x"), removed("hold", "y"), put("hold", "y", "2")],
    );
    assert_eq!(listing(&*store, "hold"), [entry("two", "2"), entry("y", "2")], "in the order given");
}

fn listed(fixture: &dyn Fixture) {
    let store = fixture.open();
    let names = ["b", "é", "B", "a/2", "a", "", "a10", "a'b"];
    write(&*store, names.iter().map(|name| put("hold", name, "0")).collect());
    write(&*store, vec![put("hol", "z", "1"), put("holding", "a", "2"), put("Hold", "a", "3")]);
    let listed: Vec<_> = listing(&*store, "hold").into_iter().map(|(name, _)| name).collect();
    assert_eq!(listed, ["", "B", "a", "a'b", "a/2", "a10", "b", "é"], "by their bytes");
    assert_eq!(listing(&*store, "hol"), [entry("z", "1")]);
    assert_eq!(listing(&*store, "ho"), []);
}

fn taken_by_name(fixture: &dyn Fixture) {
    let store = fixture.open();
    write(&*store, vec![put("hold", "one", "1"), put("cursor", "one", "2"), put("hold", "two", "3")]);
    let registry = vec![key("hold", "one"), key("cursor", "one"), key("cursor", "two")];
    let taken = take(&*store, &Take { registry, ..Take::nothing() });
    assert_eq!(taken.registry.len(), 2);
    assert_eq!(taken.registry[&key("hold", "one")].as_str(), "1");
    assert_eq!(taken.registry[&key("cursor", "one")].as_str(), "2");
}
