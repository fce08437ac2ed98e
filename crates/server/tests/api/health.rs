use crate::server::Server;

#[tokio::test]
async fn a_running_server_is_live_and_ready() {
    let server = Server::start().await;
    for path in ["/livez", "/readyz"] {
        let answer = server.get(path).await;
        assert_eq!((answer.status, answer.text.as_str()), (200, "ok\n"), "{path}");
    }
}

#[tokio::test]
async fn a_drained_engine_is_live_but_not_ready() {
    let server = Server::start().await;
    server.engine.drain().await;
    assert_eq!(server.get("/livez").await.status, 200);
    server.get("/readyz").await.problem(503, "draining");
    let refused = server.post("/v1/pipelines/notes/submissions", "{\"payload\":1}").await;
    refused.problem(503, "draining");
}

#[tokio::test]
async fn the_first_page_says_where_to_look() {
    let server = Server::start().await;
    let answer = server.get("/").await;
    assert_eq!(answer.status, 200);
    assert!(answer.header("content-type").starts_with("text/html") && answer.text.contains("/v1/pipelines"));
    assert_eq!(answer.header("x-content-type-options"), "nosniff");
}
