//! Redirects: requests of their own, with every check, and without what was meant for somebody else.

use fetch::{HeaderMap, HeaderName, HeaderValue, Request, header};

use crate::support::{LIMITS, Server, code, fetch, ok, sent};

fn to(place: String) -> impl Fn(u16) -> String {
    move |_| format!("HTTP/1.1 302 Found\r\nlocation: {place}\r\ncontent-length: 0\r\n\r\n")
}

#[tokio::test]
async fn redirects_are_followed_by_get_with_all_checks_and_by_post_never() {
    let end = Server::answering(|_| ok("end")).await;
    let first = Server::answering(to(format!("http://elsewhere.example:{}/x", end.port))).await;
    let ports = [first.port, end.port];
    let url = format!("http://first.example:{}/", first.port);
    let mut headers = HeaderMap::new();
    headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer t"));
    assert_eq!(fetch(&ports).get(&url, headers).await.unwrap().body, b"end");
    assert!(first.requests()[0].contains("authorization"), "{:?}", first.requests());
    assert!(end.requests()[0].starts_with("GET /x ") && !end.requests()[0].contains("authorization"));
    let posted = fetch(&ports).post(&url, HeaderMap::new(), "{}").await.unwrap();
    assert_eq!((posted.status, end.requests().len()), (302, 1));

    for (place, expected) in [
        (format!("http://127.0.0.2:{}/", end.port), "refused-address"),
        ("http://169.254.169.254/latest/meta-data".to_owned(), "refused-port"),
        ("//2130706434".to_owned(), "refused-port"),
        (format!("http://0x7f.2:{}/", end.port), "refused-address"),
        ("http://user@first.example/".to_owned(), "invalid-url"),
        ("file:///etc/passwd".to_owned(), "refused-scheme"),
        ("http://first.example:22/".to_owned(), "refused-port"),
    ] {
        let server = Server::answering(to(place.clone())).await;
        let url = format!("http://first.example:{}/", server.port);
        assert_eq!(code(&fetch(&[server.port, end.port]), &url).await, expected, "{place}");
    }
    let round = Server::answering(|_| to("/again".to_owned())(0)).await;
    assert_eq!(
        code(&fetch(&[round.port]), &format!("http://round.example:{}/", round.port)).await,
        "redirects"
    );
    assert_eq!(round.requests().len(), 6);
}

#[tokio::test]
async fn a_redirect_is_followed_only_by_who_asks_for_that_and_only_so_often() {
    let end = Server::answering(|_| ok("end")).await;
    let second = Server::answering(to(format!("http://c.example:{}/", end.port))).await;
    let first = Server::answering(to(format!("http://b.example:{}/", second.port))).await;
    let fetch = fetch(&[first.port, second.port, end.port]);
    let url = format!("http://a.example:{}/", first.port);
    let get = |redirects_max| Request::get(&url).limits(LIMITS).following(redirects_max);
    assert_eq!(sent(&fetch, get(0)).await.unwrap().0.status, 302);
    assert_eq!(sent(&fetch, get(1)).await.unwrap_err(), "redirects");
    let (head, body) = sent(&fetch, get(2)).await.unwrap();
    assert_eq!((head.url, body), (format!("http://c.example:{}/", end.port), b"end".to_vec()));
    let (head, _) = fetch.send(Request::head(&url).following(2)).await.unwrap();
    assert_eq!((head.status, end.requests().last().unwrap().starts_with("HEAD ")), (200, true));
    let (head, _) = sent(&fetch, Request::put(&url, "body").following(2)).await.unwrap();
    assert_eq!(head.status, 302, "what is sent goes where it was meant to go");
}

#[tokio::test]
async fn another_origin_gets_no_credentials_and_the_first_none_back() {
    let back = Server::answering(|_| ok("back")).await;
    let away = Server::answering(to(format!("http://a.example:{}/back", back.port))).await;
    let home = Server::answering(to(format!("http://b.example:{}/", away.port))).await;
    let start = Server::answering(|port| to(format!("http://a.example:{port}/"))(0)).await;
    let fetch = fetch(&[back.port, away.port, home.port, start.port]);
    let mut sensitive = HeaderValue::from_static("key");
    sensitive.set_sensitive(true);
    let mut headers = HeaderMap::new();
    headers.insert(header::AUTHORIZATION, HeaderValue::from_static("Bearer t"));
    headers.append(header::COOKIE, HeaderValue::from_static("a=b"));
    headers.append(header::COOKIE, HeaderValue::from_static("c=d"));
    headers.insert(HeaderName::from_static("x-api-key"), sensitive);
    headers.append(header::ACCEPT, HeaderValue::from_static("text/a"));
    headers.append(header::ACCEPT, HeaderValue::from_static("text/b"));
    let url = format!("http://a.example:{}/", home.port);
    let request = Request::get(url).headers(headers).range(0, None).following(5);
    sent(&fetch, request).await.unwrap();
    let secrets = ["authorization", "cookie", "x-api-key"];
    let has = |server: &Server, name: &str| server.requests()[0].contains(name);
    assert!(secrets.iter().all(|name| has(&home, name)), "{:?}", home.requests());
    for server in [&away, &back] {
        assert!(!secrets.iter().any(|name| has(server, name)), "{:?}", server.requests());
        assert!(["text/a", "text/b", "range: bytes=0-"].iter().all(|kept| has(server, kept)));
    }
}
