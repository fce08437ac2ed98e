use std::net::IpAddr;
use std::time::Duration;

use site_list::Action;
use site_list::check::{Verdict, check_live};
use site_list::sites::Trouble;

use crate::support::dns::Says;
use crate::support::web::{Answers, Shows};
use crate::support::{LOOPBACK, World, good, host};

/// Longer than any answer on this machine takes.
const PATIENCE: Duration = Duration::from_secs(10);
/// For sites that never answer.
const SHORT: Duration = Duration::from_millis(300);

/// The code that a visit ends with; none for one that goes well.
async fn visited(world: &World, name: &str, within: Duration) -> Option<String> {
    match world.sites(within).visit(&host(name)).await {
        Ok(_) => None,
        Err(Trouble::Refused(refused)) => Some(refused.code.to_string()),
        Err(Trouble::Passing { code, .. }) => Some(format!("passing: {code}")),
    }
}

async fn verdict(world: &World, name: &str) -> Verdict {
    check_live(name, Action::Add, &world.sites(PATIENCE), None).await
}

#[tokio::test]
async fn a_good_site_is_accepted_and_its_policy_is_what_the_list_would_have() {
    let world = World::start().await;
    world.site("good.example", Shows::Good, Answers::Bytes(good("ADD", &["ada@example.com"], 1)));
    let verdict = verdict(&world, "Good.EXAMPLE ").await;
    assert_eq!(
        serde_json::to_string(&verdict).unwrap(),
        "{\"ok\":true,\"code\":null,\"message\":null,\"policy\":{\"x-sigstore-signers\":[{\"identity\":\
         \"ada@example.com\",\"issuer\":\"https://accounts.google.com\"}],\"x-sigstore-threshold\":1}}"
    );
    assert_eq!(world.web.visits("good.example"), 1);
}

#[tokio::test]
async fn certificates_that_browsers_refuse_are_refused() {
    let world = World::start().await;
    let bad = [
        Shows::Expired,
        Shows::NotYetValid,
        Shows::OtherName,
        Shows::SelfSigned,
        Shows::OfUnknownAuthority,
        Shows::WithoutIntermediate,
    ];
    for shows in bad {
        world.site("bad.example", shows, Answers::Bytes(good("ADD", &["ada@example.com"], 1)));
        let code = visited(&world, "bad.example", PATIENCE).await;
        assert_eq!(code.as_deref(), Some("certificate"), "{shows:?}");
    }
    assert_eq!(world.web.visits("bad.example"), 0);
}

#[tokio::test]
async fn answers_that_are_not_a_good_front_page_have_their_codes() {
    let world = World::start().await;
    let port = world.web.port;
    let answer = |status: &str, location: &str| {
        let location = match location {
            "" => String::new(),
            location => format!("location: {location}\r\n"),
        };
        Answers::Bytes(format!("HTTP/1.1 {status}\r\n{location}content-length: 0\r\n\r\n"))
    };
    world.site("good.example", Shows::Good, Answers::Bytes(good("ADD", &["ada@example.com"], 1)));
    let cases = [
        ("a loop of redirects", answer("302 Found", "/again"), "redirects"),
        ("a redirect to plain HTTP", answer("301 Moved", "http://odd.example/"), "plain-http"),
        (
            "a redirect to another site",
            answer("302 Found", &format!("https://good.example:{port}/")),
            "redirect-elsewhere",
        ),
        ("a redirect to another port", answer("302 Found", "https://odd.example:22/"), "redirect-elsewhere"),
        ("a redirect to a private address", answer("302 Found", "https://10.0.0.1/"), "address-not-public"),
        ("a server error", answer("500 Internal Server Error", ""), "passing: https-status"),
        ("an overloaded server", answer("429 Too Many Requests", ""), "passing: https-status"),
        ("a page that is not there", answer("404 Not Found", ""), "https-status"),
        ("another good status", answer("204 No Content", ""), "https-status"),
        ("a redirect that leads nowhere", answer("302 Found", ""), "https-status"),
        ("no HTTP", Answers::Bytes("SSH-2.0-x\r\n".to_owned()), "https-answer"),
        ("a closed connection", Answers::Close, "passing: closed"),
        ("a head without end", Answers::EndlessHead, "https-answer"),
    ];
    for (what, answers, code) in cases {
        world.site("odd.example", Shows::Good, answers);
        assert_eq!(visited(&world, "odd.example", PATIENCE).await.as_deref(), Some(code), "{what}");
    }
}

#[tokio::test]
async fn a_redirect_within_the_site_is_followed() {
    let world = World::start().await;
    world.site("good.example", Shows::Good, Answers::At("/en/", good("ADD", &["ada@example.com"], 1)));
    assert_eq!(visited(&world, "good.example", PATIENCE).await, None);
    assert_eq!(world.web.visits("good.example"), 2);
}

#[tokio::test]
async fn sites_that_hang_are_given_up_in_time() {
    let world = World::start().await;
    for answers in [Answers::Nothing, Answers::Drip] {
        world.site("slow.example", Shows::Good, answers.clone());
        let code = visited(&world, "slow.example", SHORT).await;
        assert_eq!(code.as_deref(), Some("passing: timeout"), "{answers:?}");
    }
}

#[tokio::test]
async fn a_body_without_end_is_not_read() {
    let world = World::start().await;
    let head = good("ADD", &["ada@example.com"], 1).replace("content-length: 2\r\n\r\nhi", "\r\n");
    world.site("huge.example", Shows::Good, Answers::EndlessBody(head));
    assert!(verdict(&world, "huge.example").await.ok);
}

#[tokio::test]
async fn a_site_that_speaks_plain_http_on_the_port_may_be_better_later() {
    let world = World::start().await;
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let _ =
                tokio::io::AsyncWriteExt::write_all(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n").await;
        }
    });
    world.dns.say("plain.example", Says::Addresses(vec![LOOPBACK]));
    let reach = site_list::sites::Reach { port, ..site_list::sites::Reach::new(world.dns.names()) };
    let sites = site_list::sites::Sites::new(&world.fetch(), reach);
    let trouble = sites.visit(&host("plain.example")).await.unwrap_err();
    assert!(matches!(trouble, Trouble::Passing { code: "tls", .. }), "{trouble}");
}

#[tokio::test]
async fn names_have_addresses_or_not_or_nobody_knows() {
    let world = World::start().await;
    let six: IpAddr = "2001:db8::1".parse().unwrap();
    let cases: [(Says, Result<Vec<IpAddr>, &str>); 6] = [
        (Says::Addresses(vec![LOOPBACK]), Ok(vec![LOOPBACK])),
        (Says::Addresses(vec![six]), Ok(vec![six])),
        (Says::Addresses(vec![LOOPBACK, six]), Ok(vec![LOOPBACK, six])),
        (Says::Nothing, Err("dns-none")),
        (Says::NoSuchName("example"), Err("dns-none")),
        (Says::Failure, Err("passing: dns")),
    ];
    let names = world.dns.names();
    for (says, expected) in cases {
        world.dns.say("a.example", says.clone());
        let found = names.addresses(&host("a.example")).await.map_err(|trouble| match trouble {
            Trouble::Refused(refused) => refused.code.to_string(),
            Trouble::Passing { code, .. } => format!("passing: {code}"),
        });
        assert_eq!(found, expected.map_err(str::to_owned), "{says:?}");
    }
}

#[tokio::test]
async fn a_name_server_that_says_nothing_is_not_waited_for() {
    let world = World::start().await;
    world.dns.say("a.example", Says::Silence);
    let trouble = world.dns.names().addresses(&host("a.example")).await.unwrap_err();
    assert!(matches!(trouble, Trouble::Passing { code: "dns", .. }), "{trouble}");
}

#[tokio::test]
async fn a_domain_is_unregistered_where_the_zone_above_it_says_so() {
    let world = World::start().await;
    let names = world.dns.names();
    let cases = [
        ("gone.com", Says::NoSuchName("com"), Some(false)),
        ("gone.com", Says::Addresses(vec![LOOPBACK]), Some(true)),
        ("gone.com", Says::Nothing, Some(true)),
        ("gone.com", Says::NoSuchName("gone.com"), Some(true)),
        ("gone.com", Says::NoSuchNameSaysNobody, None),
        ("gone.com", Says::Failure, None),
        ("gone.co.uk", Says::NoSuchName("uk"), Some(false)),
        ("gone.co.uk", Says::NoSuchName("co.uk"), Some(false)),
    ];
    for (domain, says, expected) in cases {
        world.dns.say(domain, says.clone());
        // The name that is listed may be any beneath the one that somebody registers.
        for name in [domain.to_owned(), format!("www.{domain}")] {
            let registered = names.is_registered(&host(&name)).await.ok();
            assert_eq!(registered, expected, "{name} {says:?}");
        }
    }
}

#[tokio::test]
async fn a_site_without_a_public_address_is_refused() {
    let world = World::start().await;
    world.dns.say("inside.example", Says::Addresses(vec!["10.1.2.3".parse().unwrap()]));
    assert_eq!(visited(&world, "inside.example", PATIENCE).await.as_deref(), Some("address-not-public"));
}

#[tokio::test]
async fn the_checks_come_in_their_order() {
    let world = World::start().await;
    let code = async |name: &str| verdict(&world, name).await.code.unwrap();
    assert_eq!(code("127.0.0.1").await, "host-address");
    assert_eq!(code("nowhere.example").await, "dns-none");
    world.site("bad.example", Shows::SelfSigned, Answers::Nothing);
    assert_eq!(code("bad.example").await, "certificate");
    world.site("bad.example", Shows::Good, Answers::Bytes(good("DELETE", &["ada@example.com"], 1)));
    assert_eq!(code("bad.example").await, "action-other");
}
