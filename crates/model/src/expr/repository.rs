//! Addresses of repositories, read strictly.

/// An address such as `https://github.com/anthropics/skills`, taken apart.
///
/// Trust hangs on host and owner, and one repository must not pass for two. So whatever two readers of an address could
/// read differently is refused: anything but https, user names, ports, queries, fragments, escapes, backslashes, empty and
/// dot segments, letters outside ASCII, and hosts that are numbers. Case, a slash at the end and `.git` mean nothing to
/// those who serve repositories, and are gone from the normal form.
pub(super) struct Repository<'a> {
    host: &'a str,
    owner: &'a str,
    name: &'a str,
}

impl<'a> Repository<'a> {
    pub(super) fn parse(url: &'a str) -> Option<Self> {
        let (scheme, location) = url.split_once("://")?;
        let location = location.strip_suffix('/').unwrap_or(location);
        let mut parts = location.split('/');
        let (host, owner, name) = (parts.next()?, parts.next()?, parts.next()?);
        let name = without_git(name).unwrap_or(name);
        let is_strict = scheme.eq_ignore_ascii_case("https")
            && parts.next().is_none()
            && is_host(host)
            && is_segment(owner)
            && is_segment(name)
            && without_git(name).is_none();
        is_strict.then_some(Self { host, owner, name })
    }

    pub(super) fn host(&self) -> String {
        self.host.to_ascii_lowercase()
    }

    pub(super) fn owner(&self) -> String {
        self.owner.to_ascii_lowercase()
    }

    pub(super) fn owner_as_written(&self) -> String {
        self.owner.to_owned()
    }

    /// Returns the one address that every way of writing this repository has in common. It is a strict address itself.
    pub(super) fn normal_form(&self) -> String {
        format!("https://{}/{}/{}", self.host, self.owner, self.name).to_ascii_lowercase()
    }
}

fn without_git(name: &str) -> Option<&str> {
    let (name, ending) = name.split_at_checked(name.len().checked_sub(4)?)?;
    ending.eq_ignore_ascii_case(".git").then_some(name)
}

/// A name of the DNS. The last label begins with a letter: browsers take `1.2.3`, `0x7f.1` and the like for addresses.
fn is_host(host: &str) -> bool {
    let is_label = |label: &str| {
        let is_plain = label.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-');
        (1..=63).contains(&label.len()) && is_plain && !label.starts_with('-') && !label.ends_with('-')
    };
    let last = host.rsplit('.').next().unwrap_or_default();
    host.len() <= 253
        && host.split('.').all(is_label)
        && last.starts_with(|first: char| first.is_ascii_alphabetic())
}

fn is_segment(segment: &str) -> bool {
    !matches!(segment, "" | "." | "..")
        && segment.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::Repository;

    #[test]
    fn every_way_of_writing_a_repository_has_one_normal_form() {
        for url in [
            "https://github.com/anthropics/skills",
            "https://github.com/anthropics/skills/",
            "https://github.com/anthropics/skills.git",
            "https://github.com/anthropics/skills.git/",
            "https://github.com/Anthropics/Skills.GIT",
            "HTTPS://GitHub.COM/ANTHROPICS/SKILLS",
        ] {
            let read = Repository::parse(url).unwrap_or_else(|| panic!("{url} is strict"));
            assert_eq!(read.normal_form(), "https://github.com/anthropics/skills", "{url}");
            assert_eq!((read.host().as_str(), read.owner().as_str()), ("github.com", "anthropics"), "{url}");
        }
        let read = Repository::parse("https://github.com/Anthropics/skills").expect("strict");
        assert_eq!(read.owner_as_written(), "Anthropics");
    }

    #[test]
    fn what_differs_in_host_owner_or_name_is_another_repository() {
        for (url, host, owner) in [
            ("https://evil.example/anthropics/skills", "evil.example", "anthropics"),
            ("https://github.com.evil.example/anthropics/skills", "github.com.evil.example", "anthropics"),
            ("https://www.github.com/anthropics/skills", "www.github.com", "anthropics"),
            ("https://xn--gthub-n4a.com/anthropics/skills", "xn--gthub-n4a.com", "anthropics"),
            ("https://github.com/anthropics-evil/skills", "github.com", "anthropics-evil"),
            ("https://github.com/anthropics./skills", "github.com", "anthropics."),
            ("https://github.com/evil/anthropics", "github.com", "evil"),
            ("https://git.sr.ht/~sircmpwn/scdoc", "git.sr.ht", "~sircmpwn"),
            ("https://localhost/acme/tools", "localhost", "acme"),
        ] {
            let read = Repository::parse(url).unwrap_or_else(|| panic!("{url} is strict"));
            assert_eq!((read.host().as_str(), read.owner().as_str()), (host, owner), "{url}");
            assert_eq!(read.normal_form(), url);
        }
        let normal = |url| Repository::parse(url).map(|read| read.normal_form());
        assert_ne!(normal("https://github.com/acme/git"), normal("https://github.com/acme/git-git"));
        assert_eq!(normal("https://github.com/acme/git.git").as_deref(), Some("https://github.com/acme/git"));
    }

    #[test]
    fn what_could_be_misread_is_no_address() {
        let too_long = format!("https://{}.example/a/b", "x".repeat(64));
        let (host, labels) = ("https://github.com", "a.".repeat(126));
        let too_deep = format!("https://{labels}com/a/b");
        for url in [
            "",
            "https://",
            "github.com/anthropics/skills",
            "//github.com/anthropics/skills",
            "git@github.com:anthropics/skills",
            // Other schemes.
            "http://github.com/anthropics/skills",
            "ssh://github.com/anthropics/skills",
            "git+https://github.com/anthropics/skills",
            "https:/github.com/anthropics/skills",
            "https:github.com/anthropics/skills",
            "https:\\\\github.com\\anthropics\\skills",
            " https://github.com/anthropics/skills",
            "https://github.com/anthropics/skills ",
            "https://github.com/anthropics/skills\n",
            "ht\ttps://github.com/anthropics/skills",
            // Hosts.
            "https:///anthropics/skills",
            "https://github.com@evil.example/anthropics/skills",
            "https://evil.example@github.com/anthropics/skills",
            "https://user:pass@github.com/anthropics/skills",
            "https://@github.com/anthropics/skills",
            "https://evil.example\\@github.com/anthropics/skills",
            "https://github.com:443/anthropics/skills",
            "https://github.com:/anthropics/skills",
            "https://github.com:8443@evil.example/anthropics/skills",
            "https://github.com./anthropics/skills",
            "https://.github.com/anthropics/skills",
            "https://github..com/anthropics/skills",
            "https://-github.com/anthropics/skills",
            "https://github-.com/anthropics/skills",
            "https://git_hub.com/anthropics/skills",
            "https://github%2ecom/anthropics/skills",
            "https://g\u{131}thub.com/anthropics/skills",
            "https://github\u{ff0e}com/anthropics/skills",
            "https://github\u{3002}com/anthropics/skills",
            "https://github.com\u{2044}anthropics/skills",
            "https://git\u{ad}hub.com/anthropics/skills",
            "https://[::1]/anthropics/skills",
            "https://127.0.0.1/anthropics/skills",
            "https://2130706433/anthropics/skills",
            "https://0x7f.1/anthropics/skills",
            "https://127.1.0x1/anthropics/skills",
            &too_long,
            &too_deep,
            // Queries and fragments, empty ones, too.
            "https://github.com?/anthropics/skills",
            "https://github.com#/anthropics/skills",
            "https://evil.example?github.com/anthropics/skills",
            "https://github.com/anthropics/skills?",
            "https://github.com/anthropics/skills#",
            "https://github.com/anthropics/skills?ref=main",
            "https://github.com/anthropics/skills#readme",
            // Paths.
            host,
            "https://github.com/",
            "https://github.com/anthropics",
            "https://github.com/anthropics/",
            "https://github.com//anthropics/skills",
            "https://github.com/anthropics//skills",
            "https://github.com/anthropics/skills//",
            "https://github.com/anthropics/skills/tree/main",
            "https://github.com/../anthropics/skills",
            "https://github.com/./anthropics/skills",
            "https://github.com/anthropics/..",
            "https://github.com/anthropics/.",
            "https://github.com/evil/../anthropics",
            "https://github.com/anthropics%2f/skills",
            "https://github.com/evil%2f..%2fanthropics/skills",
            "https://github.com/anthropics/%2e%2e",
            "https://github.com/anthropics;x/skills",
            "https://github.com/anthropics\\skills/x",
            "https://github.com/anthropic\u{17f}/skills",
            "https://github.com/\u{430}nthropics/skills",
            "https://github.com/anthropics/s\u{212a}ills",
            "https://github.com/anthropics/skills\0",
            "https://github.com/ anthropics/skills",
            // `.git` is an ending once, and never all of a name.
            "https://github.com/anthropics/.git",
            "https://github.com/anthropics/..git",
            "https://github.com/anthropics/...git",
            "https://github.com/anthropics/skills.git.git",
        ] {
            assert!(Repository::parse(url).is_none(), "{url:?}");
        }
    }

    #[test]
    fn a_normal_form_is_its_own() {
        let parts =
            ["", "/", ".", "..", ".git", "a", "A", "b.Git", "-", "~", "%2e", "@", ":1", "?", "\u{17f}"];
        let hosts = ["github.com", "GitHub.com", "a", "1", "x.1", "x."];
        let mut strict = 0;
        for host in hosts {
            let triples = (0..parts.len().pow(3)).map(|n| (n, n / parts.len(), n / parts.len().pow(2)));
            for (owner, name, end) in triples {
                let [owner, name, end] = [owner, name, end].map(|n| parts[n % parts.len()]);
                let url = format!("https://{host}/{owner}/{name}{end}");
                let Some(normal) = Repository::parse(&url).map(|read| read.normal_form()) else { continue };
                strict += 1;
                let again = Repository::parse(&normal).map(|read| read.normal_form());
                assert_eq!(again.as_deref(), Some(normal.as_str()), "{url}");
            }
        }
        assert!(strict > 100, "{strict}");
    }
}
