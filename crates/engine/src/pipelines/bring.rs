//! The rule of what may come into force after what.

use std::sync::Arc;

use model::pipeline::{ParamSet, merged};
use model::{Code, Pipeline, Refusal};

use super::applied::revision_of;
use super::{AppliedVersion, Versions};

/// A definition somebody wants in force.
#[derive(Debug, Clone)]
pub struct Apply {
    pub pipeline: Arc<Pipeline>,
    /// Parameters to set; null sets one back to its default. The others stay as they are.
    pub params: ParamSet,
    pub intent: Intent,
}

impl Apply {
    /// Goes on to a pipeline, with the parameters it was loaded with.
    #[must_use]
    pub fn new(pipeline: Arc<Pipeline>) -> Self {
        Apply { params: pipeline.set_params.clone(), pipeline, intent: Intent::Forward }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Intent {
    /// Goes on, and never back to an older version than the one in force.
    #[default]
    Forward,
    /// Goes back to a version that was in force before.
    Rollback,
    /// Has what a server finds in its folder when it starts: new versions and parameters. A version that was in force
    /// before and is no more stays so, because somebody decided that.
    Start,
}

/// The result of applying a definition.
#[derive(Debug, Clone)]
pub struct Brought {
    pub pipeline: Arc<Pipeline>,
    /// The definition that was in force before.
    pub before: Option<Arc<Pipeline>>,
    /// False: exactly this was in force.
    pub changed: bool,
    /// Set if the definition was not kept before: a new version, or a new revision.
    pub(crate) new: bool,
}

impl Brought {
    /// Tells whether an older version came into force again.
    #[must_use]
    pub fn is_rollback(&self) -> bool {
        self.before.as_ref().is_some_and(|before| before.version > self.pipeline.version)
    }
}

impl Versions {
    /// Says what applying comes to, as things are.
    pub fn bring(&self, apply: &Apply) -> Result<Brought, Refusal> {
        let Pipeline { name, version, .. } = &*apply.pipeline;
        let before = self.in_force(name).cloned();
        let Some(known) = self.kept(name, *version) else {
            self.check_new(apply)?;
            let inherited = before.as_ref().map(|before| before.set_params.clone()).unwrap_or_default();
            let pipeline = Arc::new(apply.pipeline.with_params(&merged(&inherited, &apply.params)));
            return Ok(Brought { pipeline, before, changed: true, new: true });
        };
        if !known.is_revision_of(&apply.pipeline) {
            let message =
                format!("version {version} of `{name}` was applied with other contents; raise `version`");
            return Err(Refusal::new(Code::VersionExists, message));
        }
        let is_in_force = before.as_ref().is_some_and(|before| before.version == *version);
        if let Some(before) = before.as_ref().filter(|_| !is_in_force) {
            check_direction(apply, before)?;
        }
        let mut set = known.with_params(&merged(&known.set_params, &apply.params));
        let new = set.digest != known.digest;
        if !new {
            return Ok(Brought { pipeline: known.clone(), before, changed: !is_in_force, new });
        }
        set.revision = revision_of(self.history(name), *version) + 1;
        Ok(Brought { pipeline: Arc::new(set), before, changed: true, new })
    }

    /// Checks that a version that is not kept may come into force.
    fn check_new(&self, apply: &Apply) -> Result<(), Refusal> {
        let Pipeline { name, version, .. } = &*apply.pipeline;
        if apply.intent == Intent::Rollback {
            let kept: Vec<String> = self.versions(name).map(|known| known.version.to_string()).collect();
            let message = match kept.as_slice() {
                kept if self.is_retired(name, *version) => format!(
                    "version {version} of `{name}` was retired and does not come back; there is {}",
                    kept.join(", ")
                ),
                [] => format!("no version of `{name}` was applied; there is nothing to go back to"),
                kept => format!(
                    "there is no version {version} of `{name}` to go back to; there is {}",
                    kept.join(", ")
                ),
            };
            return Err(Refusal::new(Code::UnknownVersion, message));
        }
        let newest = self.history(name).iter().map(|applied| applied.version).max();
        let newest = newest.max(self.versions(name).map(|known| known.version).last());
        match newest.filter(|newest| newest >= version) {
            None => self.check_room(name),
            Some(newest) => {
                let what = match self.history(name).iter().any(|applied| applied.version == *version) {
                    true => format!("version {version} of `{name}` was applied and retired"),
                    false => format!("version {version} of `{name}` comes late"),
                };
                let in_force = self.in_force(name).map_or(newest, |known| known.version);
                let message =
                    format!("{what}: version {in_force} is in force; raise `version` above {newest}");
                Err(Refusal::new(Code::VersionOutdated, message).with("in_force", in_force))
            }
        }
    }
}

impl Versions {
    /// Tells whether one version more of a pipeline can be kept.
    fn check_room(&self, name: &str) -> Result<(), Refusal> {
        let (count, max) = (self.versions(name).count(), self.max);
        if count < max {
            return Ok(());
        }
        let message = format!(
            "{count} versions of `{name}` are kept, and {max} may be; `milepost retire {name} --unused` lets go of those that \
             nothing follows, and `milepost serve --versions-max` keeps more"
        );
        Err(Refusal::new(Code::TooManyVersions, message).with("max", max))
    }
}

/// Checks that a version that is kept may take the place of the one in force.
fn check_direction(apply: &Apply, before: &Pipeline) -> Result<(), Refusal> {
    let Pipeline { name, version, .. } = &*apply.pipeline;
    let in_force = before.version;
    let message = match apply.intent {
        Intent::Rollback => return Ok(()),
        Intent::Forward if in_force < *version => return Ok(()),
        Intent::Forward | Intent::Start if in_force > *version => format!(
            "version {in_force} of `{name}` is in force; `milepost apply --rollback` goes back to version {version}"
        ),
        Intent::Forward | Intent::Start => format!(
            "version {in_force} of `{name}` is in force since somebody went back to it; `milepost apply` brings version \
             {version} into force again"
        ),
    };
    Err(Refusal::new(Code::VersionOutdated, message).with("in_force", in_force))
}

impl From<&Pipeline> for AppliedVersion {
    fn from(pipeline: &Pipeline) -> Self {
        AppliedVersion { version: pipeline.version, revision: pipeline.revision }
    }
}
