use std::collections::BTreeMap;

use content_security_policy::{Policy as Oracle, PolicyDisposition, PolicySource};
use proptest::prelude::*;
use site_list::rules::{Csp, Host, check_sources};

use crate::support::host;

/// A policy that lets nothing in but the site's own.
const GOOD: &str = "default-src 'self'; script-src 'self'; style-src 'self'; object-src 'none'; \
                    frame-src 'none'; worker-src 'self'";

fn check(text: &str) -> Result<(), &'static str> {
    let enrolled = [host("enrolled.example"), host("xn--mnchen-3ya.example")];
    let is_enrolled = |host: &Host| enrolled.contains(host);
    check_sources(&Csp::read(text), &is_enrolled).map_err(|refused| refused.code.as_str())
}

/// Replaces one directive of the good policy, or adds one.
fn with(directive: &str, sources: &str) -> String {
    let mut parts: Vec<String> = GOOD.split("; ").map(str::to_owned).collect();
    let named = format!("{directive} ");
    parts.retain(|part| !part.starts_with(&named));
    parts.push(format!("{directive} {sources}"));
    parts.join("; ")
}

fn without(directive: &str) -> String {
    let named = format!("{directive} ");
    let parts = GOOD.split("; ").filter(|part| !part.starts_with(&named));
    parts.collect::<Vec<_>>().join("; ")
}

const SHA256: &str = "'sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc='";

#[test]
fn sources_that_are_transparent_are_let_in() {
    let sha384 = format!("'sha384-{}'", "A".repeat(64));
    let sha512 = format!("'SHA512-{}=='", "A".repeat(86));
    let cases = [
        ("default-src", "'none'"),
        ("default-src", "'SELF'"),
        ("script-src", "'none'"),
        ("script-src", "'self' 'wasm-unsafe-eval'"),
        ("script-src", SHA256),
        ("script-src-elem", &sha384),
        ("script-src-elem", "'self'"),
        ("style-src", "'self' 'unsafe-inline' 'unsafe-hashes'"),
        ("style-src", &sha512),
        ("style-src", "https://enrolled.example"),
        ("style-src-elem", "enrolled.example"),
        ("style-src", "HTTPS://Enrolled.Example"),
        ("child-src", "'none'"),
        ("frame-src", "'self' blob: data:"),
        ("frame-src", "https://enrolled.example 'self'"),
        ("frame-src", "xn--mnchen-3ya.example"),
        ("worker-src", "'none'"),
        ("img-src", "* data: blob: https: 'unsafe-everything'"),
        ("connect-src", "https://anywhere.example:8443/path"),
        ("frame-ancestors", "*"),
        ("upgrade-insecure-requests", ""),
    ];
    for (directive, sources) in cases {
        assert_eq!(check(&with(directive, sources)), Ok(()), "{directive} {sources}");
    }
    assert_eq!(check(GOOD), Ok(()));
}

#[test]
fn sources_that_let_others_in_are_refused_with_a_code() {
    let cases = [
        ("default-src", "*", "csp-source"),
        ("default-src", "https:", "csp-source"),
        ("default-src", "'none' 'self'", "csp-none-not-alone"),
        ("default-src", "", "csp-empty"),
        ("script-src", "", "csp-empty"),
        ("script-src", "'unsafe-inline'", "csp-source"),
        ("script-src", "'unsafe-eval'", "csp-source"),
        ("script-src", "'strict-dynamic'", "csp-source"),
        ("script-src", "'nonce-abcdef'", "csp-source"),
        ("script-src", "https://enrolled.example", "csp-source"),
        ("script-src", "blob:", "csp-source"),
        ("script-src", "self", "csp-source"),
        ("script-src", "'sha256-short'", "csp-source"),
        ("script-src", "'sha1-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc='", "csp-source"),
        ("script-src", "sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc=", "csp-source"),
        ("script-src", "'sha256-RFWPLDbv2BY+rCkDzsE+0fr8ylGr2R2faWMhq4lfEQc=='", "csp-source"),
        ("script-src-elem", "'unsafe-inline'", "csp-source"),
        ("style-src", "https://elsewhere.example", "csp-not-enrolled"),
        ("style-src", "https://sub.enrolled.example", "csp-not-enrolled"),
        ("style-src", "http://enrolled.example", "csp-source"),
        ("style-src", "https://enrolled.example:8443", "csp-source"),
        ("style-src", "https://enrolled.example/path", "csp-source"),
        ("style-src", "https://*.enrolled.example", "csp-source"),
        ("style-src", "*", "csp-source"),
        ("style-src-elem", "data:", "csp-source"),
        ("object-src", "'self'", "csp-source"),
        ("object-src", "'none' 'self'", "csp-source"),
        ("child-src", "https:", "csp-source"),
        ("frame-src", "https://elsewhere.example", "csp-not-enrolled"),
        ("frame-src", "filesystem:", "csp-source"),
        ("worker-src", "blob:", "csp-source"),
        ("worker-src", "https://enrolled.example", "csp-source"),
    ];
    for (directive, sources, code) in cases {
        assert_eq!(check(&with(directive, sources)), Err(code), "{directive} {sources}");
    }
}

#[test]
fn directives_are_required_unless_the_default_is_none_and_nothing_else() {
    for directive in ["script-src", "style-src", "object-src", "frame-src", "worker-src"] {
        let lacking = without(directive);
        assert_eq!(check(&lacking), Err("csp-directive-missing"), "{directive}");
        assert_eq!(
            check(&lacking.replace("default-src 'self'", "default-src 'none'")),
            Ok(()),
            "{directive}"
        );
    }
    assert_eq!(check("default-src 'none'"), Ok(()));
    assert_eq!(check("default-src 'self'"), Err("csp-directive-missing"));
    assert_eq!(check("img-src 'self'"), Err("csp-directive-missing"));
    // Either of the two will do.
    assert_eq!(check(&without("frame-src").replace("style-src", "child-src 'none'; style-src")), Ok(()));
    assert_eq!(check(&without("default-src")), Ok(()));
}

#[test]
fn the_first_directive_of_a_name_is_the_one_that_counts() {
    assert_eq!(check(&format!("{GOOD}; script-src *")), Ok(()));
    assert_eq!(check(&format!("script-src *; {GOOD}")), Err("csp-source"));
    assert_eq!(check(&format!("SCRIPT-src *; {GOOD}")), Err("csp-source"));
    // What is not ASCII is left out, and does not take the name.
    assert_eq!(check(&format!("script-src * \u{e9}; {GOOD}")), Ok(()));
}

#[test]
fn the_order_of_sources_makes_no_other_policy() {
    let one = Csp::read("script-src 'self' 'wasm-unsafe-eval'; img-src *");
    let other = Csp::read(" img-src\t*;;script-src  'wasm-unsafe-eval' 'self' 'self';");
    assert_eq!(one, other);
    assert_ne!(one, Csp::read("script-src 'self'; img-src *"));
    let json = serde_json::to_string(&one).unwrap();
    assert_eq!(json, r#"{"img-src":["*"],"script-src":["'self'","'wasm-unsafe-eval'"]}"#);
}

/// The directives as another implementation reads them.
fn oracle(text: &str) -> BTreeMap<String, Vec<String>> {
    let policy = Oracle::parse(text, PolicySource::Header, PolicyDisposition::Enforce);
    let sorted = |mut sources: Vec<String>| {
        sources.sort_unstable();
        sources.dedup();
        sources
    };
    policy.directive_set.into_iter().map(|directive| (directive.name, sorted(directive.value))).collect()
}

fn ours(text: &str) -> BTreeMap<String, Vec<String>> {
    Csp::read(text).directives().map(|(name, sources)| (name.to_owned(), sources.to_vec())).collect()
}

/// Texts of the pieces that policies are made of, and of what trips parsers.
fn policies() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        Just("script-src".to_owned()),
        Just("Script-SRC".to_owned()),
        Just("default-src".to_owned()),
        Just("'none'".to_owned()),
        Just("'self'".to_owned()),
        Just(";".to_owned()),
        Just(" ".to_owned()),
        Just("\t".to_owned()),
        Just("\u{b}".to_owned()),
        Just("\u{c}".to_owned()),
        Just("\r\n".to_owned()),
        Just("\u{a0}".to_owned()),
        Just("\u{e9}".to_owned()),
        Just("\0".to_owned()),
        "[ -~]{0,12}",
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn policies_are_read_as_another_implementation_reads_them(text in policies()) {
        prop_assert_eq!(ours(&text), oracle(&text));
    }

    #[test]
    fn any_text_at_all_is_read_as_another_implementation_reads_it(text in "\\PC{0,200}") {
        prop_assert_eq!(ours(&text), oracle(&text));
    }

    #[test]
    fn a_source_of_scripts_that_is_let_in_is_one_of_the_few(source in "[ -:<-~]{1,40}") {
        let text = format!("default-src 'none'; script-src {source}");
        if check(&text).is_ok() {
            for source in Csp::read(&text).sources("script-src").unwrap_or_default() {
                let source = source.to_ascii_lowercase();
                let is_known = ["'none'", "'self'", "'wasm-unsafe-eval'"].contains(&source.as_str());
                prop_assert!(is_known || source.starts_with("'sha"), "{}", source);
            }
        }
    }
}
