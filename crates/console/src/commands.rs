//! The same as a page shows, for whoever would rather type it.

use askama::Template;
use askama::filters::HtmlSafe;

/// The commands that ask for what a page shows.
#[derive(Debug, Clone, Default, Template)]
#[template(path = "part/commands.html")]
pub(crate) struct Commands {
    /// The program's command.
    pub(crate) cli: String,
    /// The API's route, by curl.
    pub(crate) curl: String,
}

impl HtmlSafe for Commands {}

impl Commands {
    /// Makes both commands. `route` is the address below the server's own.
    pub(crate) fn new(server: &str, cli: &str, route: &str) -> Commands {
        let curl = format!(
            "curl -H \"Authorization: Bearer $MILEPOST_TOKEN\" {}",
            quoted(&format!("{server}{route}"))
        );
        Commands { cli: format!("milepost {cli} --server {}", quoted(server)), curl }
    }
}

/// Quotes a word for a shell, where it has to be.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%,+".contains(c);
    match !word.is_empty() && word.chars().all(plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_that_a_shell_would_read_is_quoted() {
        assert_eq!(quoted("http://127.0.0.1:8080/v1/x"), "http://127.0.0.1:8080/v1/x");
        assert_eq!(quoted("/v1/x?a=b&c=d"), "'/v1/x?a=b&c=d'");
        assert_eq!(quoted("it's $(rm)"), "'it'\\''s $(rm)'");
        assert_eq!(quoted(""), "''");
    }
}
