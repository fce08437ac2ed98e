use proptest::prelude::*;
use site_list::rules::{Host, Onions};

fn read(text: &str) -> Result<String, &'static str> {
    match Host::read(text, Onions::Refused) {
        Ok(host) => Ok(host.as_str().to_owned()),
        Err(refused) => Err(refused.code.as_str()),
    }
}

#[test]
fn host_names_come_into_one_spelling() {
    let long = format!("{}.example", "a".repeat(63));
    let cases = [
        ("example.com", "example.com"),
        ("  Example.COM \n", "example.com"),
        ("a.b", "a.b"),
        ("a-b.c--d.example", "a-b.c--d.example"),
        ("1password.com", "1password.com"),
        ("127.0.0.1.example", "127.0.0.1.example"),
        ("0x7f.example", "0x7f.example"),
        ("m\u{fc}nchen.example", "xn--mnchen-3ya.example"),
        ("M\u{dc}NCHEN.example", "xn--mnchen-3ya.example"),
        ("xn--mnchen-3ya.example", "xn--mnchen-3ya.example"),
        ("stra\u{df}e.example", "xn--strae-oqa.example"),
        // The ideographic full stop is a dot, and wide letters are letters.
        ("example\u{3002}com", "example.com"),
        ("\u{ff45}xample.com", "example.com"),
        (long.as_str(), long.as_str()),
    ];
    for (text, expected) in cases {
        assert_eq!(read(text), Ok(expected.to_owned()), "{text:?}");
    }
}

#[test]
fn what_is_no_host_name_is_refused_with_a_code() {
    let long_label = format!("{}.example", "a".repeat(64));
    let long_name = format!("{}.example", vec!["a".repeat(60); 5].join("."));
    let endless = "a.".repeat(100_000);
    let cases = [
        ("", "host-empty"),
        ("   ", "host-empty"),
        ("https://example.com", "host-scheme"),
        ("https://[::1]/", "host-scheme"),
        ("//example.com", "host-scheme"),
        ("mailto:example.com", "host-scheme"),
        ("javascript:alert(1)", "host-scheme"),
        ("user@example.com", "host-user"),
        ("example.com/path", "host-path"),
        ("example.com?query", "host-path"),
        ("example.com#fragment", "host-path"),
        ("example.com\\path", "host-path"),
        ("example.com:443", "host-port"),
        ("example.com:", "host-port"),
        // Each of these is 127.0.0.1 to somebody, or a private address.
        ("127.0.0.1", "host-address"),
        ("127.1", "host-address"),
        ("2130706433", "host-address"),
        ("0x7f000001", "host-address"),
        ("0x7f.0.0.0x1", "host-address"),
        ("0X7F.0.0.0X1", "host-address"),
        ("0177.0.0.01", "host-address"),
        ("017700000001", "host-address"),
        ("127.0.0.0x", "host-address"),
        ("\u{ff11}\u{ff12}\u{ff17}.0.0.1", "host-address"),
        ("127\u{3002}0\u{3002}0\u{3002}1", "host-address"),
        ("\u{2460}\u{2461}\u{2466}.1", "host-address"),
        ("192.168.1.999", "host-address"),
        ("example.42", "host-address"),
        ("::1", "host-address"),
        ("[::1]", "host-address"),
        ("[::1]:443", "host-address"),
        ("::ffff:127.0.0.1", "host-address"),
        ("fe80::1%eth0", "host-address"),
        ("2001:db8::1", "host-address"),
        ("exa mple.com", "host-character"),
        ("*.example.com", "host-character"),
        ("example.com,example.org", "host-character"),
        ("example.com;", "host-character"),
        ("exam\0ple.com", "host-character"),
        ("exam\tple.com", "host-character"),
        ("exa'mple.com", "host-character"),
        ("my_host.example", "host-underscore"),
        ("_dmarc.example.com", "host-underscore"),
        (".example.com", "host-dot"),
        ("example.com.", "host-dot"),
        ("example.com\u{3002}", "host-dot"),
        (".", "host-dot"),
        ("a..example", "host-empty-label"),
        ("-a.example", "host-hyphen"),
        ("a-.example", "host-hyphen"),
        ("a.-b.example", "host-hyphen"),
        (long_label.as_str(), "host-label-length"),
        (long_name.as_str(), "host-length"),
        (endless.as_str(), "host-length"),
        ("localhost", "host-labels"),
        ("com", "host-labels"),
        ("xn--zzzzzzzz.example", "host-idna"),
        ("xn--a.example", "host-idna"),
        ("a\u{200d}b.example", "host-idna"),
        ("\u{5d0}1a.example", "host-idna"),
        ("expyuzz4wqqyqhjn.onion", "host-onion"),
        ("a.expyuzz4wqqyqhjn.onion", "host-onion"),
    ];
    for (text, code) in cases {
        let shown: String = text.chars().take(40).collect();
        assert_eq!(read(text), Err(code), "{shown:?}");
    }
}

#[test]
fn onion_services_are_taken_where_there_is_a_way_to_them() {
    let host = Host::read("Expyuzz4wqqyqhjn.onion", Onions::Reached).unwrap();
    assert!(host.is_onion());
    assert!(!Host::read("onion.example", Onions::Reached).unwrap().is_onion());
}

#[test]
fn a_kept_name_is_read_only_in_its_one_spelling() {
    assert!(serde_json::from_str::<Host>("\"example.com\"").is_ok());
    for text in ["\"Example.com\"", "\" example.com\"", "\"m\u{fc}nchen.example\"", "\"127.0.0.1\""] {
        assert!(serde_json::from_str::<Host>(text).is_err(), "{text}");
    }
}

#[test]
fn a_message_repeats_no_control_characters_and_ends() {
    let refused = Host::read(&format!("\u{1b}[31m{}", "x".repeat(500)), Onions::Refused).unwrap_err();
    assert!(!refused.message.contains('\u{1b}'), "{refused}");
    assert!(refused.message.len() < 300, "{refused}");
}

proptest! {
    #[test]
    fn any_text_is_a_name_that_reads_the_same_again_or_none(text in "\\PC{0,80}") {
        if let Ok(host) = Host::read(&text, Onions::Reached) {
            let again = Host::read(host.as_str(), Onions::Reached);
            prop_assert_eq!(again, Ok(host.clone()));
            let known: fn(u8) -> bool = |byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.');
            prop_assert!(host.as_str().bytes().all(known));
            // Another parser of host names finds the same name in it, and no address.
            let url = format!("https://{}/", host.as_str());
            let parsed = url::Url::parse(&url).unwrap();
            prop_assert_eq!(parsed.domain(), Some(host.as_str()));
        }
    }

    #[test]
    fn texts_made_of_what_hosts_are_made_of_never_become_addresses(text in "[0-9a-fx.:\\[\\]%]{1,30}") {
        if let Ok(host) = Host::read(&text, Onions::Reached) {
            let url = format!("https://{}/", host.as_str());
            prop_assert!(url::Url::parse(&url).unwrap().domain().is_some(), "{}", url);
        }
    }
}
