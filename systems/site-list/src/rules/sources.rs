//! The sources that a site's content security policy may name.

use super::csp::Csp;
use super::host::{Host, Onions};
use crate::refused::{Code, Refused, shown};

/// The kinds of source that a directive may have.
#[derive(Debug, Clone, Copy)]
struct Allowed {
    keywords: &'static [&'static str],
    hashes: bool,
    /// Schemes as sources, such as `blob:`.
    schemes: &'static [&'static str],
    /// Sites that are on the list.
    enrolled: bool,
}

const ONLY: Allowed = Allowed { keywords: &[], hashes: false, schemes: &[], enrolled: false };
const NONE_OR_SELF: Allowed = Allowed { keywords: &["'none'", "'self'"], ..ONLY };
const SCRIPTS: Allowed =
    Allowed { keywords: &["'none'", "'self'", "'wasm-unsafe-eval'"], hashes: true, ..ONLY };
const STYLES: Allowed = Allowed {
    keywords: &["'none'", "'self'", "'unsafe-inline'", "'unsafe-hashes'"],
    hashes: true,
    enrolled: true,
    ..ONLY
};
const FRAMES: Allowed =
    Allowed { keywords: &["'none'", "'self'"], schemes: &["blob:", "data:"], enrolled: true, ..ONLY };

/// Every directive that is looked at. All others may say anything.
const DIRECTIVES: &[(&str, Allowed)] = &[
    ("default-src", NONE_OR_SELF),
    ("script-src", SCRIPTS),
    ("script-src-elem", SCRIPTS),
    ("style-src", STYLES),
    ("style-src-elem", STYLES),
    ("object-src", Allowed { keywords: &["'none'"], ..ONLY }),
    ("child-src", FRAMES),
    ("frame-src", FRAMES),
    ("worker-src", NONE_OR_SELF),
];

/// Directives one of which must be there, unless `default-src` is `'none'` and nothing else.
const REQUIRED: &[&[&str]] =
    &[&["script-src"], &["style-src"], &["object-src"], &["child-src", "frame-src"], &["worker-src"]];

/// Algorithm and lengths of a hash in base64, without padding.
const HASHES: &[(&str, usize)] = &[("sha256-", 43), ("sha384-", 64), ("sha512-", 86)];

/// Checks that a policy lets in nothing that is not transparent. `is_enrolled` knows the list.
///
/// # Errors
/// With the first thing that the policy lacks or may not have.
pub fn check_sources(csp: &Csp, is_enrolled: &dyn Fn(&Host) -> bool) -> Result<(), Refused> {
    for (directive, allowed) in DIRECTIVES {
        let Some(sources) = csp.sources(directive) else { continue };
        if sources.is_empty() {
            let message = format!("the directive `{directive}` is empty: write 'none' if that is meant");
            return Err(Refused::new(Code::CspEmpty, message));
        }
        for source in sources {
            check_source(source, directive, *allowed, is_enrolled)?;
        }
    }
    let default = csp.sources("default-src").unwrap_or_default();
    let has_none = default.iter().any(|source| source.eq_ignore_ascii_case("'none'"));
    if has_none && default.len() > 1 {
        let message =
            "`default-src` has 'none' beside other sources, where it means nothing: keep one of them";
        return Err(Refused::new(Code::CspNoneNotAlone, message));
    }
    let missing = REQUIRED.iter().find(|names| names.iter().all(|name| csp.sources(name).is_none()));
    match missing {
        Some(names) if !has_none => {
            let message = format!(
                "the policy has no `{}`: add the directive, or set default-src to 'none'",
                names.join("` and no `")
            );
            Err(Refused::new(Code::CspDirectiveMissing, message))
        }
        _ => Ok(()),
    }
}

fn check_source(
    source: &str,
    directive: &str,
    allowed: Allowed,
    is_enrolled: &dyn Fn(&Host) -> bool,
) -> Result<(), Refused> {
    let is = |known: &&str| known.eq_ignore_ascii_case(source);
    if allowed.keywords.iter().any(is) || allowed.schemes.iter().any(is) {
        return Ok(());
    }
    if allowed.hashes && is_hash(source) {
        return Ok(());
    }
    let refused = |code, reason: &str| {
        Err(Refused::new(code, format!("`{directive}` has the source `{}`, {reason}", shown(source))))
    };
    match origin_host(source).filter(|_| allowed.enrolled) {
        Some(host) if is_enrolled(&host) => Ok(()),
        Some(_) => refused(Code::CspNotEnrolled, "which is not on the list: it has to be enrolled first"),
        None => refused(Code::CspSource, "which is not allowed there"),
    }
}

/// Returns whether a source is the hash of one script or style.
fn is_hash(source: &str) -> bool {
    let Some(inner) = source.strip_prefix('\'').and_then(|rest| rest.strip_suffix('\'')) else {
        return false;
    };
    HASHES.iter().any(|(prefix, length)| {
        let Some((name, hash)) = inner.split_at_checked(prefix.len()) else { return false };
        let digits = hash.trim_end_matches('=');
        let padding = hash.len() - digits.len();
        let is_digit = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_');
        name.eq_ignore_ascii_case(prefix)
            && digits.len() == *length
            && digits.bytes().all(is_digit)
            && (padding == 0 || (length + padding).is_multiple_of(4))
            && padding < 3
    })
}

/// Returns the host of a source that is a whole origin: a host name, with `https://` or without. A pattern, a port, a path
/// and any other scheme are more than one site.
fn origin_host(source: &str) -> Option<Host> {
    let name = match source.split_at_checked("https://".len()) {
        Some((scheme, rest)) if scheme.eq_ignore_ascii_case("https://") => rest,
        _ => source,
    };
    Host::read(name, Onions::Reached).ok()
}
