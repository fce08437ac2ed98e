//! Entries of the store's registries.

use model::Json;
use store::{Error, Store};

/// One entry by its name, without reading the others.
pub(super) fn entry(store: &dyn Store, kind: &str, name: &str) -> Result<Option<Json>, Error> {
    let Some(before) = just_before(name) else { return Ok(None) };
    let found = store.registry(kind, &before, 1)?;
    Ok(found.into_iter().find(|(kept, _)| kept == name).map(|(_, body)| body))
}

/// A text between this name and all that come before it. Names made of anything but printable ASCII are nobody's.
fn just_before(name: &str) -> Option<String> {
    let (last, rest) = name.as_bytes().split_last()?;
    if !name.bytes().all(|byte| byte.is_ascii_graphic()) {
        return None;
    }
    let mut before = String::from_utf8(rest.to_vec()).ok()?;
    before.push(char::from(last - 1));
    before.push('\x7f');
    Some(before)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use store::{Changes, RegistryChange, RegistryKey, Take};

    use super::*;

    #[test]
    fn an_entry_is_found_among_names_that_are_much_alike() {
        let store = store::MemoryStore::new(Arc::new(engine::SystemClock::new()));
        let names = ["!", "a", "a!", "a.", "a~", "a~~", "b", "b!", "ba", "~"];
        let key = |name: &str| RegistryKey { kind: "k".to_owned(), name: name.to_owned() };
        let change =
            |name: &&str| RegistryChange { key: key(name), body: Some(Json::from(serde_json::json!(name))) };
        let registry: Vec<_> = names.iter().map(change).collect();
        let mut changes = Some(Changes { registry, ..Changes::default() });
        store.transact(&Take::nothing(), &mut |_| changes.take().unwrap()).unwrap();
        for name in names {
            let body = entry(&store, "k", name).unwrap().unwrap();
            assert_eq!(body.as_str(), format!("\"{name}\""));
        }
        for name in ["", "a~!", "c", "aa", "b\u{e9}", "a\n"] {
            assert_eq!(entry(&store, "k", name).unwrap(), None, "{name}");
        }
    }
}
