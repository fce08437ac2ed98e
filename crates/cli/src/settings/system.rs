//! Tables `[system.NAME]` of the file: each turns a system on, and is read by the system itself.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use system::{Settings, System};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::file::{Fault, line_of};
use crate::systems;

pub(super) const SYSTEM: &str = "system";

/// Reads the table of tables: the systems that it turns on, with their settings, and what is wrong with it.
pub(super) fn read(text: &str, value: &DeValue<'_>, at: &Range<usize>) -> (Vec<Arc<dyn System>>, Vec<Fault>) {
    let fault = |span: &Range<usize>, message: String| Fault { line: line_of(text, span), message };
    let DeValue::Table(tables) = value else {
        let message = format!("`{SYSTEM}` is a table of tables: write `[{SYSTEM}.NAME]`");
        return (Vec::new(), vec![fault(at, message)]);
    };
    let mut known: BTreeMap<_, _> =
        systems::all().into_iter().map(|system| (system.name(), system)).collect();
    let (mut on, mut faults) = (Vec::new(), Vec::new());
    for (name, table) in tables {
        let (name, span) = (name.get_ref().as_ref(), name.span());
        let DeValue::Table(settings) = table.get_ref() else {
            faults.push(fault(&span, format!("`{SYSTEM}.{name}` is a table: write `[{SYSTEM}.{name}]`")));
            continue;
        };
        let Some(mut system) = known.remove(name) else {
            faults.push(fault(&span, unknown(name)));
            continue;
        };
        match system.configure(own(settings, table.span())) {
            Ok(()) => on.push(Arc::from(system)),
            Err(found) => {
                let message = format!("[{SYSTEM}.{name}]: {}", found.message);
                faults.push(fault(&found.span.unwrap_or(span), message));
            }
        }
    }
    (on, faults)
}

fn own<'a>(settings: &DeTable<'a>, span: Range<usize>) -> Settings<'a> {
    Settings::new(Spanned::new(span, DeValue::Table(settings.clone())))
}

fn unknown(name: &str) -> String {
    let known = systems::all();
    let names: Vec<&str> = known.iter().map(|system| system.name()).collect();
    match (model::expr::nearest(name, names.iter().copied()), names.as_slice()) {
        (Some(near), _) => format!("there is no system `{name}`; did you mean `{near}`?"),
        (None, []) => format!("there is no system `{name}`, nor any other"),
        (None, names) => format!("there is no system `{name}`; there is {}", names.join(", ")),
    }
}
