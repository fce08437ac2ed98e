//! Documents: kept as they came, loaded where they are wanted.

use super::sample::{Sample, id, json};
use super::steps::{claim, commit, documents, insert, take};
use super::{Fixture, Promise, promise};
use store::{Changes, DocumentChange, Store, Take};

pub(super) const PROMISES: &[Promise] = &[
    promise("documents read back byte for byte", byte_for_byte),
    promise("a document set again is replaced, the others stay", replaced),
    promise("a document belongs to one submission", belongs_to_one),
    promise("documents are loaded only where wanted", where_wanted),
    promise("ready rows always come with their documents", ready_with_documents),
    promise("documents come as long as there is room for them", within_room),
    promise("a row without documents comes with empty ones", without_documents),
];

fn set(store: &dyn Store, n: u64, name: &str, body: &str) {
    let change = DocumentChange { submission: id(n), name: name.to_owned(), body: json(body) };
    commit(store, Changes { documents: vec![change], ..Changes::default() });
}

fn byte_for_byte(fixture: &dyn Fixture) {
    let store = fixture.open();
    let large = format!("[{}1]", "123456789, ".repeat(100_000));
    let texts = [
        "9007199254740993",
        "{ \"b\" : 1.10,\n\t\"a\":1e400 , \"z\": -0.0}",
        r#"{"word":"Grüße 🦀","escaped":"\u00fc\u0000\/","empty":""}"#,
        "[ ]",
        "null",
        "123456789012345678901234567890.123456789012345678901234567890",
        &large,
    ];
    for (n, text) in (1..).zip(texts) {
        insert(&*store, [Sample::row(n).build()]);
        for name in ["payload", "result", "output/SCAN", "output/Grüße/2"] {
            set(&*store, n, name, text);
        }
        let found = documents(&*store, id(n));
        assert_eq!(found.payload.as_str(), text);
        assert_eq!(found.result.as_ref().map(|body| body.as_str()), Some(text));
        assert_eq!(found.outputs.len(), 2);
        assert_eq!(found.outputs["SCAN"].as_str(), text);
        assert_eq!(found.outputs["Grüße/2"].as_str(), text);
        let taken = take(&*store, &Take { ids: vec![id(n)], ..Take::nothing() });
        assert_eq!(taken.rows[&id(n)].documents.as_ref(), Some(&found));
    }
}

fn replaced(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build()]);
    set(&*store, 1, "payload", "1");
    set(&*store, 1, "output/SCAN", "2");
    set(&*store, 1, "payload", "3");
    let found = documents(&*store, id(1));
    assert_eq!((found.payload.as_str(), found.outputs["SCAN"].as_str()), ("3", "2"));
    let twice = ["4", "5"].map(|body| DocumentChange {
        submission: id(1),
        name: "payload".to_owned(),
        body: json(body),
    });
    commit(&*store, Changes { documents: twice.to_vec(), ..Changes::default() });
    assert_eq!(documents(&*store, id(1)).payload.as_str(), "5", "the last one of a commit stays");
}

fn belongs_to_one(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build(), Sample::row(2).build()]);
    set(&*store, 1, "payload", "1");
    set(&*store, 2, "payload", "2");
    set(&*store, 2, "result", "2");
    let found = documents(&*store, id(1));
    assert_eq!((found.payload.as_str(), found.result), ("1", None));
}

fn where_wanted(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).state("READS").build(), Sample::row(2).key("k1").build()]);
    set(&*store, 1, "payload", "1");
    set(&*store, 2, "payload", "2");
    let keys = vec![super::snapshot::open_key("alpha", "k1")];
    let wanted = Take { ids: vec![id(1)], keys, documents: &|row| &*row.state == "READS", ..Take::nothing() };
    let taken = take(&*store, &wanted);
    let first = taken.rows[&id(1)].documents.as_ref().expect("wanted");
    assert_eq!(first.payload.as_str(), "1");
    assert_eq!(taken.rows[&id(2)].documents, None);
}

fn ready_with_documents(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).ready("scan", 1).build()]);
    set(&*store, 1, "payload", "[1]");
    let wanted =
        Take { ids: vec![id(1)], ready: vec![claim(&["scan"], 1)], documents: &|_| false, ..Take::nothing() };
    let taken = take(&*store, &wanted);
    let found = taken.rows[&id(1)].documents.as_ref().expect("it goes to a worker");
    assert_eq!(found.payload.as_str(), "[1]");
}

fn within_room(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).ready("scan", 1).build()]);
    insert(&*store, (2..=6).map(|n| Sample::row(n).build()));
    let body = format!("\"{}\"", "x".repeat(998));
    (1..=6).for_each(|n| set(&*store, n, "payload", &body));
    let brought = |room| {
        let (ids, ready) = ((2..=6).map(id).collect(), vec![claim(&["scan"], 1)]);
        let documents: &dyn Fn(&_) -> bool = &|row: &model::Submission| row.id != id(6);
        let taken = take(&*store, &Take { ids, ready, documents, room, ..Take::nothing() });
        assert!(taken.rows[&id(1)].documents.is_some(), "it goes to a worker");
        assert_eq!((taken.rows.len(), taken.ready.len()), (6, 1), "only documents are left out");
        (taken.rows.values().filter(|stored| stored.documents.is_some()).count(), taken.crowded)
    };
    // Those of the ready row are a thousand bytes already.
    assert_eq!(brought(0), (1, true));
    assert_eq!(brought(1_000), (1, true));
    assert_eq!(brought(1_001), (2, true));
    assert_eq!(brought(3_000), (3, true));
    assert_eq!(brought(4_001), (5, false), "the last of them is what fills it");
    assert_eq!(brought(usize::MAX), (5, false));
}

fn without_documents(fixture: &dyn Fixture) {
    let store = fixture.open();
    insert(&*store, [Sample::row(1).build()]);
    assert_eq!(documents(&*store, id(1)), model::Documents::default());
    let taken = take(&*store, &Take { ids: vec![id(1)], ..Take::nothing() });
    assert_eq!(taken.rows[&id(1)].documents, Some(model::Documents::default()));
}
