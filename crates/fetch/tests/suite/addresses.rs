//! The addresses that may be gone to, in whatever spelling they come.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use fetch::{Policy, is_public};
use proptest::prelude::*;

/// The code a URL is refused with; nothing where it is let through.
fn refused(policy: &Policy, url: &str) -> Option<&'static str> {
    policy.check(url).err().map(|error| error.code())
}

#[test]
fn no_spelling_of_a_private_address_gets_through() {
    let policy = Policy::default();
    for host in [
        "127.0.0.1",
        "127.1",
        "127.0.1",
        "127.0.0.1.",
        "2130706433",
        "0x7f000001",
        "0x7f.1",
        "0x7F.0x0.0x0.0x1",
        "0177.0.0.1",
        "017700000001",
        "127.0.0.0x1",
        "%31%32%37.0.0.1",
        "１２７.０.０.１",
        "127。0。0。1",
        "0",
        "0.0.0.0",
        "0x0",
        "10.0.0.1",
        "10.1",
        "172.16.0.1",
        "172.31.255.255",
        "192.168.1.1",
        "3232235777",
        "169.254.169.254",
        "2852039166",
        "0xa9fea9fe",
        "0251.0376.0251.0376",
        "100.64.0.1",
        "192.0.0.1",
        "192.0.2.1",
        "198.18.0.1",
        "198.51.100.1",
        "203.0.113.1",
        "224.0.0.1",
        "255.255.255.255",
        "[::]",
        "[::1]",
        "[0:0:0:0:0:0:0:1]",
        "[0000::0001]",
        "[::ffff:127.0.0.1]",
        "[::ffff:7f00:1]",
        "[0:0:0:0:0:ffff:10.0.0.1]",
        "[::ffff:169.254.169.254]",
        "[::127.0.0.1]",
        "[64:ff9b::127.0.0.1]",
        "[64:ff9b::a9fe:a9fe]",
        "[64:ff9b:1::8.8.8.8]",
        "[2002:7f00:1::]",
        "[2002:808:808::]",
        "[2001:0:4136:e378:8000:63bf:3fff:fdd2]",
        "[2001:db8::1]",
        "[3fff::1]",
        "[fe80::1]",
        "[fec0::1]",
        "[fc00::1]",
        "[fd12:3456::1]",
        "[ff02::1]",
        "[100::1]",
    ] {
        for scheme in ["http", "https"] {
            let url = format!("{scheme}://{host}/");
            assert_eq!(refused(&policy, &url), Some("refused-address"), "{url}");
        }
    }
}

#[test]
fn what_is_no_plain_address_is_refused() {
    let policy = Policy::default();
    for (url, code) in [
        ("", "invalid-url"),
        ("/path", "invalid-url"),
        ("//example.com/", "invalid-url"),
        ("http://", "invalid-url"),
        ("http://./", "invalid-url"),
        ("http://[fe80::1%25eth0]/", "invalid-url"),
        ("http://[fe80::1%eth0]/", "invalid-url"),
        ("http://1.2.3.4.5/", "invalid-url"),
        ("http://999.1.1.1/", "invalid-url"),
        ("http://user@example.com/", "invalid-url"),
        ("http://user:pass@example.com/", "invalid-url"),
        ("http://:pass@example.com/", "invalid-url"),
        ("http://example.com\\@127.0.0.1/x\ny", "invalid-url"),
        ("http://exam ple.com/", "invalid-url"),
        ("http://exa\tmple.com/", "invalid-url"),
        (" http://example.com/", "invalid-url"),
        ("ftp://example.com/", "refused-scheme"),
        ("file:///etc/passwd", "refused-scheme"),
        ("gopher://example.com/", "refused-scheme"),
        ("javascript:alert(1)", "refused-scheme"),
        ("unix:///run/socket", "refused-scheme"),
        ("http://example.com:22/", "refused-port"),
        ("https://example.com:6379/", "refused-port"),
        ("http://example.com:0/", "refused-port"),
    ] {
        assert_eq!(refused(&policy, url), Some(code), "{url:?}");
    }
    assert_eq!(refused(&policy, &format!("http://example.com/{}", "a".repeat(9_000))), Some("invalid-url"));
    let only_tls = Policy { http: false, ..Policy::default() };
    assert_eq!(refused(&only_tls, "http://example.com/"), Some("refused-scheme"));
}

#[test]
fn public_addresses_get_through() {
    let policy = Policy::default();
    for url in [
        "http://example.com",
        "https://example.com:443/a?b=c",
        "http://8.8.8.8/",
        "https://[2606:4700:4700::1111]/",
        "http://[64:ff9b::8.8.8.8]/",
        "http://[::ffff:8.8.8.8]/",
        "http://münchen.example/",
    ] {
        assert_eq!(refused(&policy, url), None, "{url}");
    }
}

#[test]
fn a_deployment_allows_networks_and_ports_by_name_only() {
    let allowed = vec!["10.0.0.0/8".parse().unwrap(), "fd00::/8".parse().unwrap()];
    let policy = Policy { allowed, ports: vec![443, 8443], ..Policy::default() };
    for url in
        ["https://10.1.2.3/", "https://0xa.1.2.3:8443/", "https://[::ffff:10.0.0.1]/", "https://[fd00::1]/"]
    {
        assert_eq!(refused(&policy, url), None, "{url}");
    }
    for url in ["https://127.0.0.1/", "https://192.168.0.1/", "https://[fc00::1]/"] {
        assert_eq!(refused(&policy, url), Some("refused-address"), "{url}");
    }
    assert_eq!(refused(&policy, "http://10.1.2.3/"), Some("refused-port"));
}

#[test]
fn an_error_tells_no_secret_of_the_address() {
    for url in [
        "http://hunter2@example.com/",
        "http://127.0.0.1/hunter2?hunter2#hunter2",
        "http://10.0.0.1:22/hunter2",
    ] {
        let error = Policy::default().check(url).unwrap_err();
        assert!(!format!("{error} {error:?}").contains("hunter2"), "{error:?}");
    }
}

/// Tells whether the standard library has a name of its own for an address: another source than the table under test.
fn is_special_v4(address: Ipv4Addr) -> bool {
    let [a, b, ..] = address.octets();
    address.is_unspecified()
        || address.is_loopback()
        || address.is_private()
        || address.is_link_local()
        || address.is_broadcast()
        || address.is_documentation()
        || address.is_multicast()
        || a == 0
        || a >= 240
        || (a == 100 && (64..128).contains(&b))
        || (a == 198 && (b == 18 || b == 19))
}

fn is_special_v6(address: Ipv6Addr) -> bool {
    let [first, second, ..] = address.segments();
    address.is_unspecified()
        || address.is_loopback()
        || address.is_multicast()
        || address.is_unique_local()
        || address.is_unicast_link_local()
        || first & 0xffc0 == 0xfec0
        || (first == 0x2001 && (second == 0xdb8 || second < 0x200))
        || first == 0x2002
        || address.to_ipv4_mapped().is_some_and(is_special_v4)
        || (first == 0 && address.to_ipv4_mapped().is_none())
}

/// Anywhere, and often near the edges of what is special.
fn v4() -> impl Strategy<Value = Ipv4Addr> {
    let edges =
        [0u32, 0x0a00_0000, 0x6440_0000, 0x7f00_0000, 0xa9fe_0000, 0xac10_0000, 0xc0a8_0000, 0xc612_0000];
    let near = (prop::sample::select(edges.to_vec()), -3i64..0x3_0000).prop_map(|(edge, offset)| {
        Ipv4Addr::from_bits((i64::from(edge) + offset).rem_euclid(1 << 32) as u32)
    });
    prop_oneof![any::<u32>().prop_map(Ipv4Addr::from_bits), near]
}

fn v6() -> impl Strategy<Value = Ipv6Addr> {
    let firsts = [0u16, 0x64, 0x100, 0x2001, 0x2002, 0x2606, 0x3fff, 0xfc00, 0xfd00, 0xfe80, 0xfec0, 0xff02];
    let near = (prop::sample::select(firsts.to_vec()), any::<[u16; 7]>())
        .prop_map(|(first, [b, c, d, e, f, g, h])| Ipv6Addr::new(first, b, c, d, e, f, g, h));
    prop_oneof![any::<u128>().prop_map(Ipv6Addr::from_bits), near]
}

fn written(address: IpAddr) -> String {
    match address {
        IpAddr::V4(address) => format!("http://{address}/"),
        IpAddr::V6(address) => format!("http://[{address}]/"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(20_000))]

    #[test]
    fn no_special_ipv4_address_passes_in_any_form(address in v4()) {
        let bits = address.to_bits();
        let [a, b, c, d] = address.octets();
        let nat64 = Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, (bits >> 16) as u16, bits as u16);
        if is_special_v4(address) {
            for form in [address.into(), address.to_ipv6_mapped().into(), address.to_ipv6_compatible().into(), nat64.into()] {
                prop_assert!(!is_public(form), "{form}");
                prop_assert!(refused(&Policy::default(), &written(form)).is_some());
            }
        }
        let whole = refused(&Policy::default(), &written(address.into()));
        for spelling in [
            format!("{bits}"),
            format!("0x{bits:x}"),
            format!("0{bits:o}"),
            format!("0x{a:x}.0{b:o}.{c}.{d}"),
            format!("{a}.{}", bits & 0xff_ffff),
            format!("{a}.{b}.{}", bits & 0xffff),
        ] {
            prop_assert_eq!(refused(&Policy::default(), &format!("http://{spelling}/")), whole, "{}", spelling);
        }
    }

    #[test]
    fn no_special_ipv6_address_passes(address in v6()) {
        if is_special_v6(address) {
            prop_assert!(!is_public(address.into()), "{address}");
            prop_assert!(refused(&Policy::default(), &written(address.into())).is_some());
        }
    }
}
