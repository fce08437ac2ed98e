//! Registries: small named things beside the submissions.

use super::sample::json;
use super::snapshot::registry_key as key;
use super::steps::{commit, take};
use super::{Fixture, Promise, promise};
use store::{Changes, LAST_NAME, RegistryChange, RegistryKey, Store, Take, registry_all, registry_entry};

pub(super) const PROMISES: &[Promise] = &[
    promise("a registry entry is put, replaced and removed", put_replaced_removed),
    promise("a registry is listed in name order, one kind at a time", listed),
    promise("a page of a registry has what comes after a name, and no more than asked for", pages),
    promise("a page of a registry backwards has what comes up to a name, the last first", pages_back),
    promise("an entry is found by its name among names that are much alike", found_by_name),
    promise("a registry of thousands is listed whole", thousands),
    promise("an entry that was taken may be changed, and relied on, there or not", taken_and_relied_on),
    promise("what a commit relies on is not written", not_written),
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
    let entries = registry_all(store, kind).expect("reading works");
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
    let names = ["b", "é", "B", "a/2", "a", " ", "a10", "a'b"];
    write(&*store, names.iter().map(|name| put("hold", name, "0")).collect());
    write(&*store, vec![put("hol", "z", "1"), put("holding", "a", "2"), put("Hold", "a", "3")]);
    let listed: Vec<_> = listing(&*store, "hold").into_iter().map(|(name, _)| name).collect();
    assert_eq!(listed, [" ", "B", "a", "a'b", "a/2", "a10", "b", "é"], "by their bytes");
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

fn pages(fixture: &dyn Fixture) {
    let store = fixture.open();
    let names = ["B", "a", "a'b", "b", "é"];
    write(&*store, names.iter().rev().map(|name| put("hold", name, "0")).collect());
    write(&*store, vec![put("cursor", "z", "1"), put("holder", "a", "2")]);
    let page = |after: &str, limit| -> Vec<String> {
        let entries = store.registry("hold", after, limit).expect("reading works");
        entries.into_iter().map(|(name, _)| name).collect()
    };
    assert_eq!(page("", 9), names);
    for limit in 0..=5 {
        assert_eq!(page("", limit), names[..limit]);
    }
    for (at, name) in (1..).zip(names) {
        assert_eq!(page(name, 9), names[at..], "after {name}");
        assert_eq!(page(name, 1), names[at..].iter().take(1).copied().collect::<Vec<_>>());
    }
    assert_eq!(page("aa", 1), ["b"], "after a name that is not there");
    assert!(page("ü", 9).is_empty() && page("\u{10ffff}", 9).is_empty());
}

fn pages_back(fixture: &dyn Fixture) {
    let store = fixture.open();
    let names = ["é", "b", "a'b", "a", "B"];
    write(&*store, names.iter().map(|name| put("hold", name, "0")).collect());
    write(&*store, vec![put("cursor", "z", "1"), put("holder", "a", "2")]);
    let page = |upto: &str, limit| -> Vec<String> {
        let entries = store.registry_back("hold", upto, limit).expect("reading works");
        entries.into_iter().map(|(name, _)| name).collect()
    };
    for limit in 0..=5 {
        assert_eq!(page(LAST_NAME, limit), names[..limit]);
    }
    for (at, name) in names.iter().enumerate() {
        assert_eq!(page(name, 9), names[at..], "up to {name}");
        assert_eq!(page(name, 1), [*name]);
    }
    assert_eq!(page("aa", 1), ["a'b"], "up to a name that is not there");
    assert!(page("", 9).is_empty() && page("A", 9).is_empty());
}

fn found_by_name(fixture: &dyn Fixture) {
    let store = fixture.open();
    let names = ["!", "a", "a!", "a.", "a~", "a~~", "b", "b!", "ba", "é", "~"];
    write(&*store, names.iter().map(|name| put("hold", name, &format!("\"{name}\""))).collect());
    let found = |name: &str| registry_entry(&*store, "hold", name).expect("reading works");
    for name in names {
        assert_eq!(found(name), Some(json(&format!("\"{name}\""))));
    }
    for name in ["", "a~!", "c", "aa", "b\u{e9}", "a\n"] {
        assert_eq!(found(name), None, "{name}");
    }
}

fn thousands(fixture: &dyn Fixture) {
    let store = fixture.open();
    for count in [999, 1_000, 1_001, 2_500] {
        let name = |n| format!("{n:05}");
        write(&*store, (0..count).map(|n| put("hold", &name(n), &n.to_string())).collect());
        let expected: Vec<_> = (0..count).map(|n| entry(&name(n), &n.to_string())).collect();
        assert_eq!(listing(&*store, "hold"), expected);
    }
}

/// Commits what was decided on these entries, each of which is relied on.
fn rely(store: &dyn Store, on: &[RegistryKey], registry: Vec<RegistryChange>) {
    let take = Take { registry: on.to_vec(), ..Take::nothing() };
    let mut changes = Some(Changes {
        registry,
        relies_on: on.to_vec(),
        rows: vec![
            super::sample::Sample::row(store.counts().expect("counting works").len() as u64).new_row(),
        ],
        ..Changes::default()
    });
    let committed = store.transact(&take, &mut |_| changes.take().expect("decide is called once"));
    committed.expect("nobody else has written");
}

fn taken_and_relied_on(fixture: &dyn Fixture) {
    let store = fixture.open();
    write(&*store, vec![put("hold", "one", "1")]);
    let both = [key("hold", "one"), key("hold", "two")];
    rely(&*store, &both, vec![put("hold", "one", "2"), put("hold", "two", "3")]);
    assert_eq!(listing(&*store, "hold"), [entry("one", "2"), entry("two", "3")]);
    let store = fixture.open();
    write(&*store, vec![put("hold", "one", "1")]);
    rely(&*store, &both, vec![removed("hold", "one"), put("hold", "three", "3")]);
    assert_eq!(listing(&*store, "hold"), [entry("three", "3")]);
}

fn not_written(fixture: &dyn Fixture) {
    let store = fixture.open();
    write(&*store, vec![put("hold", "one", "{ \"n\": 1 }")]);
    rely(&*store, &[key("hold", "one"), key("hold", "two")], vec![]);
    assert_eq!(listing(&*store, "hold"), [entry("one", "{ \"n\": 1 }")]);
}
