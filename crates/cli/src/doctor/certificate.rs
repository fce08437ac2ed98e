//! Reads when a certificate ends: the one field of it that is read here.

use std::path::Path;

use model::{Millis, Time};
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;

use super::Check;

const CHECK: &str = "certificate";
const SOON: Millis = Millis::from_secs(21 * 24 * 3_600);

pub(crate) fn certificate(path: &Path) -> Check {
    let found = CertificateDer::from_pem_file(path).map_err(|error| error.to_string());
    let ends = found.and_then(|found| ends_at(&found).ok_or_else(|| "its end cannot be read".to_owned()));
    match ends {
        Err(error) => Check::wrong(CHECK, error, "name the file that `serve --tls-cert` is given"),
        Ok(at) => judged(at, engine::clock::wall()),
    }
}

fn judged(at: Time, now: Time) -> Check {
    if at <= now {
        return Check::wrong(
            CHECK,
            format!("it ended at {at}"),
            "put a new one in its place and send SIGHUP",
        );
    }
    match at <= now.plus(SOON) {
        true => Check::warning(CHECK, format!("it ends at {at}"), "get a new one, and send SIGHUP"),
        false => Check::fine(CHECK, format!("it ends at {at}")),
    }
}

/// The second time of the validity, which comes after version, serial number, algorithm and issuer.
fn ends_at(certificate: &[u8]) -> Option<Time> {
    let (_, whole, _) = element(certificate)?;
    let (_, mut fields, _) = element(whole)?;
    if fields.first() == Some(&0xa0) {
        fields = element(fields)?.2;
    }
    for _ in 0..3 {
        fields = element(fields)?.2;
    }
    let (_, validity, _) = element(fields)?;
    let (_, _, rest) = element(validity)?;
    let (tag, text, _) = element(rest)?;
    let text = std::str::from_utf8(text).ok()?;
    let (year, rest) = match tag {
        0x17 => {
            let short: u32 = text.get(..2)?.parse().ok()?;
            (if short < 50 { 2_000 + short } else { 1_900 + short }, text.get(2..)?)
        }
        _ => (text.get(..4)?.parse().ok()?, text.get(4..)?),
    };
    let two = |at: usize| rest.get(at..at + 2);
    let text = format!("{year:04}-{}-{}T{}:{}:{}.000Z", two(0)?, two(2)?, two(4)?, two(6)?, two(8)?);
    text.parse().ok()
}

/// Tag, content, and what follows.
fn element(bytes: &[u8]) -> Option<(u8, &[u8], &[u8])> {
    let (&tag, rest) = bytes.split_first()?;
    let (&first, rest) = rest.split_first()?;
    let (length, rest) = match first {
        0..0x80 => (usize::from(first), rest),
        _ => {
            let count = usize::from(first & 0x7f);
            let (digits, rest) = rest.split_at_checked(count).filter(|_| (1..=4).contains(&count))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
    };
    let (content, rest) = rest.split_at_checked(length)?;
    Some((tag, content, rest))
}

#[cfg(test)]
mod tests {
    use super::super::Verdict;
    use super::*;

    /// A certificate's frame with nothing in it but its validity.
    fn framed(time: &[u8]) -> Vec<u8> {
        let wrap = |tag: u8, content: &[u8]| {
            let length = u8::try_from(content.len()).expect("it is short");
            [&[tag, 0x81, length][..], content].concat()
        };
        let validity = wrap(0x30, &[&wrap(0x17, b"200101000000Z")[..], time].concat());
        let fields = [&wrap(0xa0, &[2, 1, 2])[..], &[2, 1, 7], &[0x30, 0], &[0x30, 0], &validity].concat();
        wrap(0x30, &wrap(0x30, &fields))
    }

    #[test]
    fn the_end_is_read_in_both_spellings() {
        let end = |time: &[u8]| ends_at(&framed(time)).map(|at| at.to_string());
        let short = [&[0x17, 13][..], b"271231235959Z"].concat();
        assert_eq!(end(&short).as_deref(), Some("2027-12-31T23:59:59.000Z"));
        let long = [&[0x18, 15][..], b"20510101000000Z"].concat();
        assert_eq!(end(&long).as_deref(), Some("2051-01-01T00:00:00.000Z"));
        assert_eq!(ends_at(b"no certificate"), None);
        assert_eq!(ends_at(&framed(&short)[..20]), None);
    }

    #[test]
    fn one_that_ends_soon_is_told() {
        let at = |text: &str| text.parse::<Time>().expect("a time");
        let now = at("2026-11-16T00:00:00.000Z");
        assert_eq!(judged(at("2026-11-15T00:00:00.000Z"), now).verdict, Verdict::Wrong);
        assert_eq!(judged(at("2026-11-20T00:00:00.000Z"), now).verdict, Verdict::Warning);
        assert_eq!(judged(at("2027-11-20T00:00:00.000Z"), now).verdict, Verdict::Fine);
    }
}
