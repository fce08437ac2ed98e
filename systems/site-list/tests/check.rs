use site_list::Action;
use site_list::check::{Enrolled, check_saved, saved_head};

const GOOD: &str = "HTTP/1.1 200 OK\r
date: Thu, 19 Nov 2026 06:00:00 GMT\r
X-Sigstore-Signers: [{\"identity\":\"ada@example.com\",\"issuer\":\"https://accounts.google.com\"}]\r
X-Sigstore-Threshold: 1\r
X-Webcat-Action: ADD\r
Content-Security-Policy: default-src 'none'; frame-src https://enrolled.example\r
\r
X-Webcat-Action: this is the body\r
";

fn code(name: &str, action: Action, head: &str, enrolled: Option<&str>) -> Option<String> {
    let enrolled = enrolled.map(|text| Enrolled::read(text).expect("this is a list"));
    let verdict = check_saved(name, action, head.as_bytes(), enrolled.as_ref()).expect("this is a head");
    assert_eq!(verdict.ok, verdict.code.is_none());
    assert_eq!(verdict.ok, verdict.message.is_none());
    verdict.code
}

#[test]
fn a_saved_head_is_judged_without_the_site() {
    let check = |enrolled: Option<&str>| code("example.com", Action::Add, GOOD, enrolled);
    assert_eq!(check(Some("enrolled.example # a friend\n\n# more\n")), None);
    assert_eq!(check(None).as_deref(), Some("csp-not-enrolled"));
    assert_eq!(check(Some("[\"enrolled.example\"]")), None);
    assert_eq!(check(Some("enrolled.example\nexample.com")).as_deref(), Some("list-present"));
    // Line ends as editors make them, and no status line.
    let plain = GOOD.replace('\r', "").replace("HTTP/1.1 200 OK\n", "");
    assert_eq!(code("example.com", Action::Add, &plain, Some("enrolled.example")), None);
}

#[test]
fn a_file_of_policies_tells_a_change_from_none() {
    let head = GOOD.replace("ADD", "MODIFY").replace("; frame-src https://enrolled.example", "");
    let listed = |threshold: u32| {
        format!(
            "{{\"example.com\":{{\"x-sigstore-signers\":[{{\"identity\":\"ada@example.com\",\"issuer\":\
             \"https://accounts.google.com\"}}],\"x-sigstore-threshold\":{threshold}}}}}"
        )
    };
    let check = |enrolled: &str| code("example.com", Action::Modify, &head, Some(enrolled));
    assert_eq!(check(&listed(1)).as_deref(), Some("list-unchanged"));
    assert_eq!(check(&listed(2)), None);
    assert_eq!(check("example.com"), None);
    assert_eq!(check("example.org").as_deref(), Some("list-absent"));
    assert_eq!(code("example.com", Action::Modify, &head, None), None);
}

#[test]
fn lists_of_sites_that_cannot_be_read_say_why() {
    for text in ["https://example.com", "[1]", "{\"example.com\":{}}", "[\"example.com\"", "{\"a b\":null}"] {
        assert!(Enrolled::read(text).is_err(), "{text}");
    }
}

#[test]
fn heads_that_cannot_be_read_name_the_line() {
    let cases = [
        ("HTTP/1.1 301 Moved\r\n", 1),
        ("HTTP/2 404\n", 1),
        ("date: now\nno colon here\n", 2),
        ("date: now\n: no name\n", 2),
        ("date: now\n folded: line\n", 2),
    ];
    for (text, line) in cases {
        assert_eq!(saved_head(text.as_bytes()).map_err(|error| error.line), Err(line), "{text:?}");
    }
    assert_eq!(saved_head(b"HTTP/2 200 \r\na:  b \r\n\r\n"), Ok(vec![("a".to_owned(), b"b".to_vec())]));
}
