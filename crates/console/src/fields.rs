//! Fields of forms and of addresses.

use url::form_urlencoded;

/// The fields that a form or an address has, in their order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields(Vec<(String, String)>);

impl Fields {
    /// Reads fields as browsers write them.
    #[must_use]
    pub fn read(bytes: &[u8]) -> Fields {
        let pairs = form_urlencoded::parse(bytes);
        Fields(pairs.map(|(name, value)| (name.into_owned(), value.into_owned())).collect())
    }

    /// Returns a field's value, unless it is empty.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        let values = self.iter().filter(|(known, _)| *known == name).map(|(_, value)| value.trim());
        values.into_iter().find(|value| !value.is_empty())
    }

    /// Returns every value of a field that may be there more than once.
    pub fn all<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a str> {
        self.iter().filter(move |(known, _)| *known == name).map(|(_, value)| value)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

/// Writes an address: a path and its fields, of which those without a value are left out.
pub(crate) fn address<'a>(path: &str, fields: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let mut written = form_urlencoded::Serializer::new(String::new());
    for (name, value) in fields.into_iter().filter(|(_, value)| !value.is_empty()) {
        written.append_pair(name, value);
    }
    let written = written.finish();
    if written.is_empty() { path.to_owned() } else { format!("{path}?{written}") }
}

/// Writes a name as a part of a path.
pub(crate) fn part(name: &str) -> String {
    // A blank is `+` in a field, which a path would take to the letter.
    form_urlencoded::byte_serialize(name.as_bytes()).collect::<String>().replace('+', "%20")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read_and_written_whatever_is_in_them() {
        let fields = Fields::read(b"q=state%3AA+x&empty=&q=two&%3Cb%3E=%26");
        assert_eq!(fields.get("q"), Some("state:A x"));
        assert_eq!(fields.get("empty"), None);
        assert_eq!(fields.all("q").count(), 2);
        assert_eq!(address("/x", fields.iter().filter(|(name, _)| *name != "q")), "/x?%3Cb%3E=%26");
        assert_eq!(address("/x", [("a", "")]), "/x");
        assert_eq!(part("a/b c?ü"), "a%2Fb%20c%3F%C3%BC");
    }
}
