//! Reading a pipeline file with the files it names.

use std::path::Path;

use model::json::{Json, Value};
use model::pipeline::{Source, attachments};

use crate::exit::Stop;

/// Reads a file and those it names. One that is missing is left out: checking reports it, with its place in the file.
pub(crate) fn read(path: &Path) -> anyhow::Result<Source> {
    let toml = std::fs::read_to_string(path)
        .map_err(|error| Stop::usage(format!("cannot read {}: {error}", path.display())))?;
    let folder = path.parent().unwrap_or(Path::new(""));
    let named = attachments(&toml).into_iter().filter_map(|name| {
        let text = std::fs::read_to_string(folder.join(&name)).ok()?;
        Some((name, text))
    });
    let files = named.collect();
    Ok(Source { files, ..Source::new(path.display().to_string(), toml) })
}

/// Reads `name=value`; the value is JSON where it can be read as JSON, and text otherwise.
pub(crate) fn param(text: &str) -> Result<(String, Value), String> {
    let (name, value) = text.split_once('=').ok_or("write it like name=value")?;
    if name.is_empty() {
        return Err("the name is missing before `=`".to_owned());
    }
    let value = Json::parse(value).map_or_else(|_| Value::from(value), |json| json.value());
    Ok((name.to_owned(), value))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_json_where_they_can_be() {
        assert_eq!(param("a=80"), Ok(("a".to_owned(), Value::from(80))));
        assert_eq!(param("a=[\"x\"]"), Ok(("a".to_owned(), Value::from(vec!["x"]))));
        assert_eq!(param("a=x=y"), Ok(("a".to_owned(), Value::from("x=y"))));
        assert!(param("a").is_err());
        assert!(param("=a").is_err());
    }
}
