//! Entries of a system: whose they are, and when they change.

use wire::api::{ClaimBody, EntryBody, EntryChangeBody, FinishBody};

use super::*;

#[tokio::test]
async fn entries_of_a_system_are_its_own_and_change_with_the_move() {
    let (system, _follows) = configured("greeting = 'x'").unwrap();
    let mounted = mounted(&system).await;
    let own = &mounted.inside;
    let body = |expected, body: Value| EntryBody { expected, body: Some(body.into()) };
    let none = own.entry("greetings", "met").await.unwrap();
    assert_eq!((none.digest, none.body), (None, None));
    let one = own.put_entry("greetings", "met", &body(None, json!(1))).await.unwrap();
    let again = own.put_entry("greetings", "met", &body(None, json!(2))).await.unwrap_err();
    assert_eq!(again.code(), Some("entry-conflict"));

    // Nobody but the system, and whoever may do everything.
    let asks = |token: &str| Client::new(&mounted.url, Some(token.to_owned())).unwrap();
    assert_eq!(asks("admin").entry("greetings", "met").await.unwrap(), one);
    for token in ["scoped", "worker", "viewer"] {
        assert_eq!(asks(token).entry("greetings", "met").await.unwrap_err().code(), Some("role-required"));
    }
    let other = own.put_entry("ledger", "met", &body(None, json!(1))).await.unwrap_err();
    assert_eq!(other.code(), Some("role-required"));

    // With the move, or not at all.
    mounted.ask(Method::POST, "/greetings/hello/ada", None).await;
    let claim =
        ClaimBody { worker: "w".into(), tasks: vec!["greetings.greet".into()], ..ClaimBody::default() };
    let token = own.claim(&claim).await.unwrap().tasks.remove(0).token;
    let finish = |expected| {
        let (system, name, body) = ("greetings".into(), "met".into(), Some(json!(2).into()));
        let entries = vec![EntryChangeBody { system, name, expected, body }];
        let (outcome, children) = ("greeted".to_owned(), Vec::new());
        vec![FinishBody { token: token.clone(), outcome, output: None, result: None, children, entries }]
    };
    let settled =
        async |client: &Client, expected| client.finish(finish(expected)).await.unwrap().results.remove(0);
    assert_eq!(settled(own, None).await.problem.unwrap().code, "entry-conflict");
    assert_eq!(settled(&asks("worker"), one.digest).await.problem.unwrap().code, "role-required");
    assert_eq!(settled(own, one.digest).await.state.as_deref(), Some("GREETED"));
    let page = own.entries("greetings", Some(1), None).await.unwrap();
    assert_eq!((page.entries[0].body.clone(), page.next), (Some(json!(2).into()), None));
}
