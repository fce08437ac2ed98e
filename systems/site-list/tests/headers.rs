use site_list::rules::{Host, Listed, Observed, Wanted, check_listed, contact_of, is_mail_address, observe};
use site_list::{Action, Code};

use crate::support::{host, issuers, policy};

const SIGNERS: &str = r#"[{"identity":"ada@example.com","issuer":"https://accounts.google.com"}]"#;
const CSP: &str = "default-src 'none'";

fn head(lines: &[(&str, &str)]) -> Vec<(String, Vec<u8>)> {
    lines.iter().map(|(name, value)| ((*name).to_owned(), value.as_bytes().to_vec())).collect()
}

/// The head of a site that wants to be added, with one header replaced, or left out.
fn site(name: &str, value: Option<&str>) -> Vec<(String, Vec<u8>)> {
    let mut lines = vec![
        ("x-sigstore-signers", SIGNERS),
        ("x-sigstore-threshold", "1"),
        ("x-webcat-action", "ADD"),
        ("x-webcat-contact", "ada@example.com"),
        ("content-security-policy", CSP),
    ];
    lines.retain(|(other, _)| *other != name);
    lines.extend(value.map(|value| (name, value)));
    head(&lines)
}

fn ask(headers: &[(String, Vec<u8>)], action: Action) -> Result<Observed, &'static str> {
    let issuers = issuers();
    observe(headers, Wanted { action, issuers: &issuers }).map_err(|refused| refused.code.as_str())
}

#[test]
fn a_site_that_says_all_it_must_is_understood() {
    let observed = ask(&site("", None), Action::Add).unwrap();
    assert_eq!(observed.policy, Some(policy(&["ada@example.com"], 1)));
    assert_eq!(observed.contact.as_deref(), Some("ada@example.com"));
    assert!(observed.csp.is_some());
    assert_eq!(ask(&site("x-webcat-contact", None), Action::Add).unwrap().contact, None);
    assert!(ask(&site("x-webcat-action", Some(" modify ")), Action::Modify).is_ok());
}

#[test]
fn signers_come_into_one_form() {
    let mixed = r#" [ {"issuer":" https://GitLab.com", "identity":"Bob@Example.com "},
                      {"identity":"ada@example.com","issuer":"https://gitlab.com"},
                      {"identity":"ada@example.com","issuer":"https://accounts.google.com"} ] "#;
    let mut headers = site("x-sigstore-signers", Some(mixed));
    headers.retain(|(name, _)| name != "x-sigstore-threshold");
    headers.push(("X-Sigstore-Threshold".to_owned(), b" 2 ".to_vec()));
    let policy = ask(&headers, Action::Add).unwrap().policy.unwrap();
    assert_eq!(
        policy.json(),
        "{\"x-sigstore-signers\":[{\"identity\":\"ada@example.com\",\"issuer\":\"https://accounts.google.com\"},\
         {\"identity\":\"ada@example.com\",\"issuer\":\"https://gitlab.com\"},\
         {\"identity\":\"bob@example.com\",\"issuer\":\"https://gitlab.com\"}],\"x-sigstore-threshold\":2}"
    );
}

#[test]
fn each_header_that_is_missing_or_wrong_has_its_code() {
    let many =
        format!("[{}]", vec![r#"{"identity":"a@b.example","issuer":"https://gitlab.com"}"#; 17].join(","));
    let twice = format!("[{0},{0}]", r#"{"identity":"a@b.example","issuer":"https://gitlab.com"}"#);
    let cases: &[(&str, Option<&str>, &str)] = &[
        ("x-sigstore-signers", None, "signers-missing"),
        ("x-sigstore-signers", Some(""), "signers-invalid"),
        ("x-sigstore-signers", Some("ada@example.com"), "signers-invalid"),
        ("x-sigstore-signers", Some("{}"), "signers-invalid"),
        ("x-sigstore-signers", Some(r#"["ada@example.com"]"#), "signers-invalid"),
        ("x-sigstore-signers", Some(r#"[{"identity":"a@b.example"}]"#), "signers-invalid"),
        (
            "x-sigstore-signers",
            Some(r#"[{"identity":"a@b.example","issuer":"https://gitlab.com","role":"x"}]"#),
            "signers-invalid",
        ),
        (
            "x-sigstore-signers",
            Some(r#"[{"identity":"a@b.example","identity":"c@d.example","issuer":"https://gitlab.com"}]"#),
            "signers-invalid",
        ),
        ("x-sigstore-signers", Some("[]"), "signers-number"),
        ("x-sigstore-signers", Some(&many), "signers-number"),
        ("x-sigstore-signers", Some(&twice), "signers-duplicate"),
        (
            "x-sigstore-signers",
            Some(r#"[{"identity":"ada","issuer":"https://gitlab.com"}]"#),
            "signer-identity",
        ),
        (
            "x-sigstore-signers",
            Some(r#"[{"identity":"a@b.example","issuer":"https://evil.example"}]"#),
            "signer-issuer",
        ),
        (
            "x-sigstore-signers",
            Some(r#"[{"identity":"a@b.example","issuer":"https://gitlab.com/"}]"#),
            "signer-issuer",
        ),
        ("x-sigstore-threshold", None, "threshold-missing"),
        ("x-sigstore-threshold", Some(""), "threshold-invalid"),
        ("x-sigstore-threshold", Some("one"), "threshold-invalid"),
        ("x-sigstore-threshold", Some("+1"), "threshold-invalid"),
        ("x-sigstore-threshold", Some("-1"), "threshold-invalid"),
        ("x-sigstore-threshold", Some("1.0"), "threshold-invalid"),
        ("x-sigstore-threshold", Some("99999999999999999999"), "threshold-invalid"),
        ("x-sigstore-threshold", Some("0"), "threshold-range"),
        ("x-sigstore-threshold", Some("2"), "threshold-range"),
        ("x-webcat-action", None, "action-missing"),
        ("x-webcat-action", Some("DELETE"), "action-other"),
        ("x-webcat-action", Some("ENROL"), "action-other"),
        ("x-webcat-contact", Some("nobody"), "contact-invalid"),
        ("x-webcat-contact", Some("a@b.example, c@d.example"), "contact-invalid"),
        ("content-security-policy", None, "csp-missing"),
        ("content-security-policy", Some(" ; ; "), "csp-missing"),
        ("content-security-policy", Some("default-src 'none', default-src *"), "csp-comma"),
    ];
    for (name, value, code) in cases {
        assert_eq!(ask(&site(name, *value), Action::Add), Err(*code), "{name}: {value:?}");
    }
}

#[test]
fn headers_that_are_there_twice_are_refused() {
    let cases = [
        ("x-sigstore-signers", SIGNERS, "signers-repeated"),
        ("X-Sigstore-Threshold", "1", "threshold-repeated"),
        ("x-webcat-action", "ADD", "action-repeated"),
        ("x-webcat-contact", "ada@example.com", "contact-repeated"),
        ("Content-Security-Policy", CSP, "csp-repeated"),
    ];
    for (name, value, code) in cases {
        let mut headers = site("", None);
        headers.push((name.to_owned(), value.as_bytes().to_vec()));
        assert_eq!(ask(&headers, Action::Add), Err(code), "{name}");
    }
}

#[test]
fn a_site_that_leaves_has_taken_its_signers_out() {
    let leaving = head(&[("x-webcat-action", "delete"), ("x-webcat-contact", "ada@example.com")]);
    let observed = ask(&leaving, Action::Delete).unwrap();
    assert_eq!((observed.policy, observed.csp), (None, None));
    for name in ["x-sigstore-signers", "X-SIGSTORE-THRESHOLD", "x-sigstore-anything"] {
        let mut headers = leaving.clone();
        headers.push((name.to_owned(), b"1".to_vec()));
        assert_eq!(ask(&headers, Action::Delete), Err("signers-present"), "{name}");
    }
    assert_eq!(ask(&head(&[]), Action::Delete), Err("action-missing"));
}

#[test]
fn the_first_mistake_is_the_one_that_is_named() {
    assert_eq!(ask(&head(&[]), Action::Add), Err("signers-missing"));
    let headers = head(&[("x-sigstore-signers", "x"), ("x-webcat-action", "x"), ("x-webcat-contact", "x")]);
    assert_eq!(ask(&headers, Action::Add), Err("signers-invalid"));
}

#[test]
fn a_contact_is_found_though_all_else_is_wrong() {
    assert_eq!(contact_of(&site("x-sigstore-signers", None)).as_deref(), Some("ada@example.com"));
    assert_eq!(contact_of(&site("x-webcat-contact", Some("nobody"))), None);
}

#[test]
fn mail_addresses_are_plain() {
    for address in ["a@b.example", "ada.lovelace+list@sub.example.com", "o'brien@example.org", "1@2.example"]
    {
        assert!(is_mail_address(address), "{address}");
    }
    let long = format!("{}@example.com", "a".repeat(65));
    let cases = [
        "",
        "@",
        "a@",
        "@b.example",
        "a@b",
        "a b@c.example",
        "a@b@c.example",
        "<a@b.example>",
        "a@b.example\r\nBcc: x@y.example",
        ".a@b.example",
        "a.@b.example",
        "a..b@c.example",
        "a@-b.example",
        "a@b..example",
        "a@b.example.",
        "\"a\"@b.example",
        "a@[127.0.0.1]",
        "\u{e9}@b.example",
        &long,
    ];
    for address in cases {
        assert!(!is_mail_address(address), "{address:?}");
    }
}

#[test]
fn a_change_must_fit_the_list() {
    let (known, other) = (policy(&["a@b.example"], 1), policy(&["c@d.example"], 1));
    let (absent, present) = (Listed::Absent, Listed::Present(Some(&known)));
    let cases = [
        (Action::Add, absent, Ok(())),
        (Action::Add, present, Err(Code::ListPresent)),
        (Action::Modify, absent, Err(Code::ListAbsent)),
        (Action::Modify, present, Ok(())),
        (Action::Delete, absent, Err(Code::ListAbsent)),
        (Action::Delete, present, Ok(())),
        (Action::ServiceModified, absent, Err(Code::ListAbsent)),
        (Action::ServiceModified, present, Ok(())),
        (Action::DomainDeleted, absent, Err(Code::ListAbsent)),
        (Action::DomainDeleted, present, Ok(())),
    ];
    let site: Host = host("example.com");
    for (action, listed, expected) in cases {
        let checked = check_listed(&site, action, Some(&other), listed).map_err(|refused| refused.code);
        assert_eq!(checked, expected, "{action:?} {listed:?}");
    }
    let same = check_listed(&site, Action::Modify, Some(&known), present).unwrap_err();
    assert_eq!(same.code, Code::ListUnchanged);
    assert_eq!(check_listed(&site, Action::Modify, Some(&known), Listed::Present(None)), Ok(()));
}

#[test]
fn codes_are_all_different_and_fit_the_machine() {
    let mut texts: Vec<&str> = site_list::CODES.iter().map(|(_, text)| *text).collect();
    assert!(texts.iter().all(|text| text.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')));
    assert_eq!(texts.len(), Code::ListDiffers as usize + 1, "a code has no text");
    texts.sort_unstable();
    texts.dedup();
    assert_eq!(texts.len(), site_list::CODES.len());
}
