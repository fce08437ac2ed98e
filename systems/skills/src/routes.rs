//! The ways in over HTTP: the registry for everybody, the audit trail for who has a token.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use http::{HeaderValue, Method, StatusCode, header};
use system::{Call, Need, Rate, Reply, Room, Route};
use wire::{Code, Refusal};

use crate::audit::audit;
use crate::registry::{Key, Registry};

/// The most requests a second that one address may make of the public routes.
const PUBLIC: Need = Need::Public(Rate::per_second(20));
/// The time for which a cache may answer instead: an index is soon another one.
const CACHE: HeaderValue = HeaderValue::from_static("public, max-age=60");

/// The place of the registry, as the settings or the desk say: routes are there before a desk is.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    told: Arc<OnceLock<Told>>,
}

#[derive(Debug)]
pub(crate) struct Told {
    pub(crate) registry: PathBuf,
    pub(crate) key_file: PathBuf,
    pub(crate) name: String,
}

impl Place {
    /// Sets the place. The first one stays.
    pub(crate) fn tell(&self, told: Told) {
        let _ = self.told.set(told);
    }

    pub(crate) fn registry(&self) -> Result<Registry, Refusal> {
        Ok(Registry::new(&self.get()?.registry))
    }

    fn get(&self) -> Result<&Told, Refusal> {
        let missing = || Refusal::new(Code::Unavailable, "the registry is not there yet; try again soon");
        self.told.get().ok_or_else(missing)
    }
}

pub(crate) fn routes(place: &Place) -> Vec<Route> {
    let (index, badge, key) = (place.clone(), place.clone(), place.clone());
    let (skill, version) = (place.clone(), place.clone());
    let public = |path: &'static str| ((Method::GET, path), (PUBLIC, Room::Page));
    let (at, door) = public("/skills/registry/{file}");
    let index = Route::new(at, door, "Read the registry's index, or its signature", move |call: Call| {
        let answer = file(&index, call.part("file"));
        async move { answer }
    });
    let (at, door) = public("/skills/registry/skills/{skill}");
    let skill = Route::new(at, door, "Read what is known of a skill", move |call: Call| {
        let answer = file(&skill, &format!("skills/{}", call.part("skill")));
        async move { answer }
    });
    let (at, door) = public("/skills/registry/skills/{skill}/{version}");
    let version = Route::new(at, door, "Read one version of a skill", move |call: Call| {
        let answer = file(&version, &format!("skills/{}/{}", call.part("skill"), call.part("version")));
        async move { answer }
    });
    let (at, door) = public("/skills/registry/badges/{badge}");
    let badge = Route::new(at, door, "Show a skill's badge", move |call: Call| {
        let answer = file(&badge, &format!("badges/{}", call.part("badge")));
        async move { answer }
    });
    let (at, door) = public("/skills/key");
    let key = Route::new(at, door, "Read the key that verifies the registry's signature", move |_: Call| {
        let answer = verifier(&key);
        async move { answer }
    });
    let at = (Method::GET, "/skills/submissions/{id}/audit");
    let audit = Route::new(at, (Need::AnyRole, Room::Page), "List every transition of a submission", audit);
    vec![index, skill, version, badge, key, audit]
}

/// Answers with one of the registry's files.
fn file(place: &Place, path: &str) -> Result<Reply, Refusal> {
    let bytes =
        place.registry()?.file(path).map_err(|error| Refusal::new(Code::Unavailable, error.to_string()))?;
    let bytes = bytes.ok_or_else(|| Refusal::new(Code::UnknownRoute, "the registry has no such file"))?;
    let kind = match path.rsplit('.').next() {
        Some("json") => "application/json",
        Some("svg") => "image/svg+xml",
        _ => "text/plain; charset=utf-8",
    };
    let mut reply = Reply::new(kind, bytes).with_status(StatusCode::OK);
    reply.headers.insert(header::CACHE_CONTROL, CACHE);
    Ok(reply)
}

fn verifier(place: &Place) -> Result<Reply, Refusal> {
    let told = place.get()?;
    let key = Key::open(&told.name, &told.key_file)
        .map_err(|error| Refusal::new(Code::Unavailable, error.to_string()))?;
    Ok(Reply::text(format!("{}\n", key.verifier())))
}
