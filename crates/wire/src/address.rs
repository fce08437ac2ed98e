//! Addresses as they may be shown to people and written to logs.

/// The text that stands for what is left out.
const HIDDEN: &str = "***";

/// Shows an address without what may be a secret in it: who asks (`user:password@`), and what follows the path.
///
/// The address need not be in order: where a password has a character that it should not have, so that its end cannot be
/// told, nothing but the scheme is shown. A text that is no address is shown as it is, unless it has an `@` behind a `:`.
#[must_use]
pub fn shown(address: &str) -> String {
    let is_scheme = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    let parts = address.split_once("://").filter(|(scheme, _)| is_scheme(scheme));
    let Some((scheme, rest)) = parts else {
        let has_password = address.rsplit_once('@').is_some_and(|(before, _)| before.contains(':'));
        return if has_password { HIDDEN.to_owned() } else { address.to_owned() };
    };
    let (place, query) = match rest.split_once(['?', '#']) {
        Some((place, query)) => (place, Some(query)),
        None => (rest, None),
    };
    let authority = place.split('/').next().unwrap_or_default();
    let place = match place.rsplit_once('@') {
        // Nothing before the path can be a password: an `@` further on is only that.
        _ if !authority.contains(['@', ':']) => place.to_owned(),
        _ if query.is_some_and(|query| query.contains('@')) => return format!("{scheme}://{HIDDEN}"),
        Some((_, place)) => format!("{HIDDEN}@{place}"),
        None => place.to_owned(),
    };
    let query = if query.is_some() { "?***" } else { "" };
    format!("{scheme}://{place}{query}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_secrets() {
        for (address, told) in [
            ("/var/lib/milepost", "/var/lib/milepost"),
            ("sqlite:/var/lib/a@b", "***"),
            ("127.0.0.1:8080", "127.0.0.1:8080"),
            ("Milepost <noreply@mail.example>", "Milepost <noreply@mail.example>"),
            ("https://milepost.example/mile", "https://milepost.example/mile"),
            ("https://hooks.example:8443/a?token=hunter2", "https://hooks.example:8443/a?***"),
            ("https://hooks.example/@ada/feed#hunter2", "https://hooks.example/@ada/feed?***"),
            ("https://hunter2@hooks.example/", "https://***@hooks.example/"),
            ("postgres://ada:hunter2@db:5432/app?schema=m", "postgres://***@db:5432/app?***"),
            ("postgres://db/app?user=ada&password=hunter2", "postgres://db/app?***"),
            ("postgres://db:5432/app?password=hun@ter2", "postgres://***"),
            ("ada:hunter2@db/app", "***"),
        ] {
            assert_eq!(shown(address), told);
        }
    }

    #[test]
    fn password_with_characters_it_should_not_have_is_hidden() {
        for odd in ["/", "?", "#", "@", ":", "//", "://", "%", " ", "\\", "\u{fc}", "a/b?c#d@e:f"] {
            for address in [
                format!("postgres://ada:hunter{odd}hunter2@db/app"),
                format!("smtp://ada:{odd}hunter2@mail.example:25"),
                format!("http://ada:hunter2{odd}@127.0.0.1:8080"),
                format!("ada:hunter2{odd}@db"),
                format!("postgres://db/app?password=hunter2{odd}"),
            ] {
                let told = shown(&address);
                assert!(!told.contains("hunter"), "{address} is shown as {told}");
            }
        }
    }
}
