//! `docs/openapi.json`: the whole API in OpenAPI 3.1, made from the table of routes and what is written down here about
//! each of them. To describe a new route, add a [`Call`] to the file of its area; its wire types get a [`Shape`].

mod areas;
mod call;
mod refusals;
mod shape;
#[cfg(test)]
mod tests;
mod tree;
mod words;

use std::sync::OnceLock;

use areas::{AREAS, Area};
use call::{Call, parameter};
use tree::{Tree, object};
use words::Piece;

use crate::mounts::Mounts;
use crate::table::{Need, Route, TABLE};

/// The name of the one way to show who asks.
const TOKEN: &str = "token";

const ABOUT: &str = "\
Milepost walks submissions through declared pipelines, and keeps the proof. Every answer that is not a success is a \
problem of RFC 9457 with a stable `code`. Unknown members of a body and unknown query parameters are refused; JSON is \
strict: no key twice, at most 64 deep. Times are RFC 3339, spans are text such as `30s` or `1h30m`. An address does not \
take other methods than those listed (405 `method-not-allowed`, with `Allow`). While no token exists, a server on a \
loopback address is open to this machine.";

/// The document, as it is served and committed.
#[must_use]
pub fn openapi() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut text = serde_json::to_string_pretty(&document()).expect("a document has only string keys");
        text.push('\n');
        text
    })
}

/// Returns the document with the routes of systems that are described.
#[must_use]
pub(crate) fn openapi_with(mounts: &[Mounts]) -> String {
    let mut document = document();
    let paths = document.enter("paths");
    for mounted in mounts {
        for route in &mounted.routes {
            let Some(summary) = route.summary else { continue };
            let method = route.method.as_str().to_ascii_lowercase();
            *paths.enter(&address(route.path)).enter(&method) = of_system(mounted.system, route, summary);
        }
    }
    serde_json::to_string_pretty(&document).expect("a document has only string keys")
}

/// Describes a system's route. The shapes of what it takes and gives are the system's own, and stand in its guide.
fn of_system(system: &str, route: &system::Route, summary: &str) -> Tree {
    let need = match route.need {
        system::Need::Public(_) => Need::Nothing,
        system::Need::AnyRole => Need::AnyRole,
        system::Need::Role(role) => Need::Role(role),
        system::Need::Owner => Need::Owner,
    };
    let name: String = format!("{}{}", route.method.as_str().to_ascii_lowercase(), route.path);
    let name: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
    let parts: Vec<Tree> = names_in(route.path)
        .map(|name| parameter("path", name, words::text(), "A part of the address."))
        .collect();
    let operation = object([
        ("tags", vec![system].into()),
        ("operationId", name.into()),
        ("summary", summary.into()),
        ("security", security(need)),
        ("responses", object([("default", object([("description", "The answer, or a problem.".into())]))])),
    ]);
    if parts.is_empty() { operation } else { operation.with("parameters", Tree::List(parts)) }
}

fn document() -> Tree {
    let mut paths = object([]);
    for route in TABLE {
        if let Some((area, call)) = find(route) {
            let method = route.method.as_str().to_ascii_lowercase();
            *paths.enter(&address(route.path)).enter(&method) = operation(route, area, call);
        }
    }
    let license = object([("name", "MIT OR Apache-2.0".into()), ("identifier", "MIT OR Apache-2.0".into())]);
    let info = object([
        ("title", "Milepost".into()),
        ("version", env!("CARGO_PKG_VERSION").into()),
        ("description", ABOUT.into()),
        ("license", license),
    ]);
    let tag = |area: &Area| object([("name", area.name.into()), ("description", area.about.into())]);
    let token = object([
        ("type", "http".into()),
        ("scheme", "bearer".into()),
        ("description", "A token of this server. It has a role, and perhaps a scope.".into()),
    ]);
    object([
        ("openapi", "3.1.1".into()),
        ("info", info),
        ("tags", AREAS.iter().map(tag).collect()),
        ("paths", paths),
        (
            "components",
            object([
                ("schemas", areas::shapes().map(|named| (named.name, named.schema)).collect()),
                ("securitySchemes", object([(TOKEN, token)])),
            ]),
        ),
    ])
}

/// Finds the description of a route.
fn find(route: &Route) -> Option<(&'static Area, Call)> {
    AREAS.iter().find_map(|area| {
        let fits = |call: &Call| call.method == route.method && call.path == route.path;
        Some((area, (area.calls)().into_iter().find(fits)?))
    })
}

fn operation(route: &Route, area: &Area, call: Call) -> Tree {
    let refusals = refusals::refusals(route, &call);
    let operation = object([
        ("tags", vec![area.name].into()),
        ("operationId", call.name.into()),
        ("summary", call.summary.into()),
    ]);
    let operation = words::about(operation, call.details).with("security", security(route.need));
    let parameters: Vec<Tree> = names_in(route.path).map(in_path).chain(call.parameters).collect();
    let operation =
        if parameters.is_empty() { operation } else { operation.with("parameters", Tree::List(parameters)) };
    let operation =
        call.body.into_iter().fold(operation, |operation, body| operation.with("requestBody", body));
    let answers = call.answers.into_iter().chain(refusals);
    operation
        .with("responses", answers.map(|(status, answer)| (status.to_string(), answer)).collect::<Tree>())
}

/// Nothing, or a token of a role. Tools show the role; none can check it.
fn security(need: Need) -> Tree {
    let role = match need {
        Need::Nothing => return Tree::List(Vec::new()),
        Need::AnyRole => Vec::new(),
        Need::Role(role) => vec![role.as_str()],
        Need::Owner => vec!["admin without a scope"],
    };
    Tree::List(vec![object([(TOKEN, role.into())])])
}

/// A path as OpenAPI writes it, which knows no rest of a path.
fn address(path: &str) -> String {
    path.replace("{*", "{")
}

fn names_in(path: &'static str) -> impl Iterator<Item = &'static str> {
    path.split('{').skip(1).filter_map(|rest| rest.split('}').next()).map(|name| name.trim_start_matches('*'))
}

/// The names that stand in addresses mean the same everywhere.
fn in_path(name: &'static str) -> Tree {
    let (piece, sentence) = match name {
        "id" => (words::id(), "The submission's id."),
        "pipeline" => (words::pipeline(), "The pipeline's name."),
        "action" => (words::word(), "The action's name."),
        "cursor" => (words::spelled("^[A-Za-z0-9._-]{1,128}$"), "A name of your own."),
        "system" => (words::spelled("^[a-z0-9-]{1,64}$"), "The system's name."),
        "entry" => (words::short(1, 256), "The entry's name."),
        "digest" => (words::digest(), "The digest that leaves name it by."),
        "path" => (tile(), "The file's place under `/tile/`; its slashes need not be escaped."),
        _ => (words::id(), "Its id."),
    };
    parameter("path", name, piece, sentence)
}

/// Returns the pattern of a tile's place, as tlog-tiles writes it.
fn tile() -> Piece {
    words::spelled(r"^([0-9]|[1-5][0-9]|6[0-3]|entries)/(x[0-9]{3}/){0,6}[0-9]{3}(\.p/[1-9][0-9]{0,2})?$")
}
