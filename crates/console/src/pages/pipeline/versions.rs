//! The versions of a pipeline: what changed, who follows which, and their parameters.

use app::Followed;
use wire::api::{DefinitionView, Difference, PipelineView};
use wire::{Refusal, Role};

use crate::ask::Visit;
use crate::fields::address;
use crate::parts::{Id, number, pipeline_page};

/// The versions, and two of them side by side.
pub(super) struct Versions {
    pub(super) versions: Vec<Version>,
    pub(super) compared: Option<Compared>,
    pub(super) may_migrate: bool,
    /// Set if not all that is open was looked at.
    pub(super) is_part: bool,
}

pub(super) struct Version {
    pub(super) number: u32,
    pub(super) revision: u32,
    pub(super) digest: Id,
    pub(super) in_force: bool,
    pub(super) here: bool,
    pub(super) page: String,
    /// The page that compares it to the one before.
    pub(super) diff: String,
    /// The number of those that follow it.
    pub(super) followed: String,
    pub(super) params: usize,
}

pub(super) struct Compared {
    pub(super) old: u32,
    pub(super) new: u32,
    pub(super) lines: Vec<Difference>,
}

/// A parameter, and whether the deployment has set it.
pub(super) struct Param {
    pub(super) name: String,
    pub(super) value: String,
    pub(super) is_set: bool,
}

pub(super) async fn versions(visit: &Visit, view: &PipelineView) -> Result<Versions, Refusal> {
    let compare = visit.ask.query().get("compare").and_then(|text| text.parse().ok());
    let followed = visit.app.followed(&view.name).await?;
    let mut known: Vec<&DefinitionView> = view.definitions.iter().collect();
    known.sort_by_key(|definition| std::cmp::Reverse(definition.version));
    let pairs = known.iter().zip(known.iter().skip(1).map(Some).chain([None]));
    let lines = pairs.map(|(definition, before)| version(view, definition, before.copied(), &followed));
    let compared = compare.map(|old| {
        let lines = visit.app.differences(&view.name, old, view.version)?;
        Ok::<_, Refusal>(Compared { old, new: view.version, lines })
    });
    Ok(Versions {
        versions: lines.collect(),
        compared: compared.transpose()?,
        may_migrate: visit.app.visitor().caller.role == Role::Admin && known.len() > 1,
        is_part: !followed.is_whole,
    })
}

fn version(
    view: &PipelineView,
    definition: &DefinitionView,
    before: Option<&DefinitionView>,
    followed: &Followed,
) -> Version {
    let page = pipeline_page(&view.name);
    let number_of = |version: u32| version.to_string();
    let here = number_of(definition.version);
    let count = followed.versions.get(&definition.version).copied().unwrap_or(0);
    Version {
        number: definition.version,
        revision: definition.revision,
        digest: Id::named(&definition.digest.to_string(), String::new()),
        in_force: definition.version == view.in_force,
        here: definition.version == view.version,
        page: address(&page, [("version", here.as_str())]),
        diff: before.map_or_else(String::new, |before| {
            let compare = number_of(before.version);
            address(&page, [("tab", "versions"), ("version", &here), ("compare", &compare)])
        }),
        followed: if followed.is_whole { number(count) } else { format!("at least {}", number(count)) },
        params: definition.params.len(),
    }
}

pub(super) fn params(visit: &Visit, view: &PipelineView) -> Result<Vec<Param>, Refusal> {
    let machine = visit.app.machine(&view.name, Some(view.version))?;
    let set = view.definitions.iter().find(|known| known.version == view.version);
    let is_set = |name: &str| set.is_some_and(|known| known.params.contains_key(name));
    let all = app::params(&machine);
    Ok(all.into_iter().map(|(name, value)| Param { is_set: is_set(&name), name, value }).collect())
}
