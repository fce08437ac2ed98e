//! `POST /v1/pipelines/{pipeline}/retire`: lets go of versions that nothing follows.

use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use model::Name;
use wire::api::{KeptVersion, RetireAnswer, RetireBody};

use super::submissions::no_pipeline;
use super::{Asking, At};
use crate::app::App;
use crate::body::Given;
use crate::conditions;
use crate::problem::{Answer, invalid};

pub(crate) async fn retire(
    State(app): State<App>,
    asking: Asking,
    At(name): At<String>,
    headers: HeaderMap,
    Given(body): Given<RetireBody>,
) -> Answer<Json<RetireAnswer>> {
    conditions::never_once(&headers)?;
    asking.check_sees(&name)?;
    asking.check_all_labels()?;
    let versions = app.engine.pipelines().current();
    let pipeline = versions.in_force(&name).ok_or_else(|| no_pipeline(&asking, &versions, &name))?;
    let (name, engine): (Name, _) = (pipeline.name.clone(), app.engine.by(&asking.caller));
    let done = match (body.version, body.unused) {
        (Some(version), false) => engine.retire_version(&name, version, body.dry_run).await?,
        (None, true) => engine.retire_unused(&name, body.dry_run).await?,
        _ => return Err(invalid("say either which `version` to retire, or `unused` for all of them").into()),
    };
    let kept =
        done.kept.into_iter().map(|(version, refusal)| KeptVersion { version, reason: refusal.message });
    Ok(Json(RetireAnswer { name, retired: done.retired, kept: kept.collect(), dry_run: body.dry_run }))
}
