//! A log behind an address, honest and not.

use serde_json::json;

use crate::audit::site::Site;
use crate::audit::{Logged, log_key, verify_source};
use crate::common;

#[test]
fn a_served_log_is_read_once_and_holds() {
    let mut logged = Logged::new();
    logged.grow(3_000);
    let site = Site::start(logged.folder());
    let told = verify_source(&site.url, &["-o", "json"]).ends(0).json();
    assert_eq!((&told["size"], &told["events"]), (&json!(3_006), &json!(5)));
    let mut paths: Vec<String> = site.asked().into_iter().map(|asked| asked.path).collect();
    let asked = paths.len();
    paths.sort_unstable();
    paths.dedup();
    assert_eq!(paths.len(), asked, "nothing is asked for twice: {paths:?}");
    assert!(paths.contains(&"/tile/entries/011.p/190".to_owned()), "{paths:?}");
}

#[test]
fn several_bundles_are_fetched_at_once() {
    let mut logged = Logged::new();
    logged.grow(2_000);
    let site = Site::start(logged.folder());
    site.hold("/tile/entries/000", "/tile/entries/003");
    verify_source(&site.url, &[]).ends(0);
}

#[test]
fn a_prefix_of_the_address_is_kept_and_only_a_token_for_it_is_shown() {
    let logged = Logged::new();
    let parent = logged.deployment.folder.path();
    let site = Site::start(parent);
    let url = format!("{}/log/", site.url);
    let verify = |token: &[&str], server: &str| {
        let key = log_key();
        let args = [&["verify", &url, "--key", &key], token].concat();
        let mut command = common::milepost(&args);
        let said = command.env("MILEPOST_TOKEN", "of-the-environment").env("MILEPOST_SERVER", server);
        common::Said::from(said.output().unwrap()).ends(0);
        site.asked().last().unwrap().token.clone()
    };
    assert_eq!(verify(&[], "https://other.example"), None, "another server's token is not shown");
    assert_eq!(verify(&[], ""), Some("Bearer of-the-environment".to_owned()), "it is nobody else's");
    let file = logged.file("token", "of-a-file\n");
    let from_file = ["--token-file", file.to_str().unwrap()];
    assert_eq!(verify(&from_file, "https://other.example"), Some("Bearer of-a-file".to_owned()));
    assert_eq!(verify(&[], url.trim_end_matches('/')), Some("Bearer of-the-environment".to_owned()));
    assert_eq!(verify(&["--token", "mine"], "https://other.example"), Some("Bearer mine".to_owned()));
}

#[test]
fn a_served_log_that_lies_is_wrong() {
    let mut logged = Logged::new();
    logged.grow(600);
    let bundle = std::fs::read(logged.folder().join("tile/entries/001")).unwrap();
    let lies: [(&str, Vec<u8>); 5] = [
        ("/tile/entries/001", bundle[..bundle.len() - 1].to_vec()),
        ("/tile/entries/001", [bundle.clone(), bundle].concat()),
        ("/tile/1/000.p/2", vec![7; 64]),
        // More than any bundle or tile can hold: not read to its end.
        ("/tile/entries/001", vec![0; 17 << 20]),
        ("/tile/0/002.p/94", vec![0; 9_000]),
    ];
    for (path, body) in lies {
        let site = Site::start(logged.folder());
        site.answer(path, 200, body);
        let told = verify_source(&site.url, &["-o", "json"]).ends(1).json();
        assert_eq!(told["fault"], "tile", "{path}: {told}");
    }
    let site = Site::start(logged.folder());
    site.answer("/tile/entries/001", 404, "");
    assert_eq!(verify_source(&site.url, &["-o", "json"]).ends(1).json()["fault"], "tile");
    site.answer("/checkpoint", 200, vec![0xff; 100]);
    assert_eq!(verify_source(&site.url, &["-o", "json"]).ends(1).json()["fault"], "malformed");
}

#[test]
fn a_log_that_cannot_be_had_is_neither_right_nor_wrong() {
    let mut logged = Logged::new();
    logged.grow(600);
    let site = Site::start(logged.folder());
    site.answer("/tile/entries/001", 500, "no disk");
    let said = verify_source(&site.url, &[]).ends(6);
    assert!(said.stdout.is_empty(), "{}", said.stdout);
    site.answer("/checkpoint", 404, "");
    verify_source(&site.url, &[]).ends(3);
    let gone = site.url.clone();
    drop(site);
    verify_source(&gone, &[]).ends(6);
}
