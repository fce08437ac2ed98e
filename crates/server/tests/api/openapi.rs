use serde_json::Value;

use crate::server::Server;

/// `UPDATE_DOCS=1 cargo test -p milepost-server openapi` writes the file.
#[test]
fn the_committed_description_is_current() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/openapi.json");
    let current = server::openapi();
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(path, current).unwrap();
    }
    let committed = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        committed == current,
        "docs/openapi.json is old; write it anew with UPDATE_DOCS=1 cargo test -p milepost-server openapi"
    );
}

#[tokio::test]
async fn the_description_is_served_to_everybody() {
    let server = Server::with_roles().await;
    let answer = server.get("/openapi.json").await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert_eq!(answer.text, server::openapi());
    let document: Value = answer.json();
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1."));
}
