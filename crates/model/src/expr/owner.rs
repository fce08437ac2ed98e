/// The owner in `https://host/owner/repository..`, lower-cased.
///
/// Trust hangs on this name, so anything that two readers of a URL could read differently is refused: user names
/// before the host, backslashes, escapes, dot segments, and letters outside ASCII that fold to ASCII ones.
pub(super) fn owner(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    if !scheme.eq_ignore_ascii_case("https") && !scheme.eq_ignore_ascii_case("http") {
        return None;
    }
    let location = rest.split(['?', '#']).next().unwrap_or_default();
    let mut segments = location.split('/');
    let host = segments.next()?;
    let host_is_plain = host.bytes().all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
    let (owner, repository) = (segments.next()?, segments.next()?);
    let is_named = !host.is_empty() && host_is_plain && is_plain(owner) && is_plain(repository);
    is_named.then(|| owner.to_ascii_lowercase())
}

fn is_plain(segment: &str) -> bool {
    !matches!(segment, "" | "." | "..")
        && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::owner;

    #[test]
    fn the_owner_is_lower_cased_and_exact() {
        for url in [
            "https://github.com/Anthropics/skills",
            "http://github.com/anthropics/skills/",
            "HTTPS://git.example:8443/ANTHROPICS/skills.git?ref=main#top",
            "https://[::1]/anthropics/skills/tree/main",
        ] {
            assert_eq!(owner(url).as_deref(), Some("anthropics"), "{url}");
        }
        assert_eq!(owner("https://github.com/anthropics-evil/skills").as_deref(), Some("anthropics-evil"));
    }

    #[test]
    fn what_could_be_misread_has_no_owner() {
        for url in [
            "",
            "github.com/anthropics/skills",
            "git@github.com:anthropics/skills",
            "ssh://github.com/anthropics/skills",
            "https://github.com",
            "https://github.com/anthropics",
            "https://github.com/anthropics/",
            "https://github.com//anthropics/skills",
            "https:///anthropics/skills",
            "https://github.com@evil.example/anthropics/skills",
            "https://evil.example\\@github.com/anthropics/skills",
            "https://github.com/../anthropics/skills",
            "https://github.com/anthropics/../skills",
            "https://github.com/anthropics%2f/skills",
            "https://github.com/anthropic\u{17f}/skills",
            "https://github.com/ anthropics/skills",
            "https://github.com?/anthropics/skills",
        ] {
            assert_eq!(owner(url), None, "{url}");
        }
    }
}
