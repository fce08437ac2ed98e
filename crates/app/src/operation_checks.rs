//! Checks that an operation can be meant: a misspelt name finds nobody, or refuses everybody one by one.

use std::collections::{BTreeMap, BTreeSet};

use engine::pipelines::Versions;
use model::{Code, Name, Pipeline, Refusal};
use wire::operation::{Deed, Filter};

use crate::{App, invalid, quote};

impl App {
    /// Refuses an operation that names what its pipeline does not have.
    pub(crate) fn check_operation(
        &self,
        versions: &Versions,
        filter: &Filter,
        deed: &Deed,
    ) -> Result<(), Refusal> {
        let name = &filter.pipeline;
        self.in_force(versions, name)?;
        // Submissions follow the version they were made under, so every version's words count.
        let known = Known { name, all: versions.versions(name).map(|pipeline| &**pipeline).collect() };
        if let Some(version) = filter.version {
            known.version(version)?;
        }
        known.state("`state`", filter.state.as_ref())?;
        known.labels(filter)?;
        match deed {
            Deed::Act { action, to, .. } => {
                known.action(action)?;
                known.state("`to`", to.as_ref())
            }
            Deed::Resume { to } => known.state("`to`", to.as_ref()),
            Deed::Redrive | Deed::Acknowledge | Deed::ParentCancelled => Ok(()),
            Deed::Migrate { version, map } => known.map(known.version(*version)?, map),
        }
    }
}

/// The words of all versions of a pipeline.
struct Known<'a> {
    name: &'a str,
    all: Vec<&'a Pipeline>,
}

impl<'a> Known<'a> {
    fn version(&self, version: u32) -> Result<&'a Pipeline, Refusal> {
        let found = self.all.iter().find(|pipeline| pipeline.version == version);
        found.copied().ok_or_else(|| {
            let known: Vec<u32> = self.all.iter().map(|pipeline| pipeline.version).collect();
            let list: Vec<String> = known.iter().map(u32::to_string).collect();
            let message =
                format!("no version {version} of {}; there is {}", quote(self.name), list.join(", "));
            Refusal::new(Code::UnknownVersion, message).with("known", known)
        })
    }

    fn state(&self, what: &str, state: Option<&Name>) -> Result<(), Refusal> {
        let Some(state) = state else { return Ok(()) };
        let states = self.all.iter().flat_map(|pipeline| &pipeline.states).map(|state| &state.name);
        self.one_of(what, state, states)
    }

    fn labels(&self, filter: &Filter) -> Result<(), Refusal> {
        for label in filter.labels.keys() {
            let labels = self.all.iter().flat_map(|pipeline| &pipeline.labels).map(|(name, _)| name);
            self.one_of("`labels`", label, labels)?;
        }
        match filter.lane.is_some() && self.all.iter().all(|pipeline| pipeline.lane.is_none()) {
            true => Err(invalid(format!("the submissions of {} have no lanes", quote(self.name)))),
            false => Ok(()),
        }
    }

    fn action(&self, action: &Name) -> Result<(), Refusal> {
        let states = self.all.iter().flat_map(|pipeline| &pipeline.states);
        let actions: Vec<_> = states.flat_map(|state| &state.actions).map(|action| &action.name).collect();
        let all = ["resume", "redrive", "acknowledge", "migrate"].map(Name::from);
        self.one_of("`action`", action, actions.into_iter().chain(&all))
    }

    fn map(&self, target: &Pipeline, map: &BTreeMap<Name, Name>) -> Result<(), Refusal> {
        for (from, to) in map {
            self.state("`map` from", Some(from))?;
            self.one_of("`map` to", to, target.states.iter().map(|state| &state.name))?;
        }
        Ok(())
    }

    fn one_of<'n>(
        &self,
        what: &str,
        given: &Name,
        known: impl Iterator<Item = &'n Name>,
    ) -> Result<(), Refusal> {
        let known: BTreeSet<&str> = known.map(|name| &**name).collect();
        if known.contains(&**given) {
            return Ok(());
        }
        let list: Vec<&str> = known.into_iter().collect();
        let there_is = if list.is_empty() { "none".to_owned() } else { list.join(", ") };
        let message = format!("{what}: {} has no {}; there is {there_is}", quote(self.name), quote(given));
        Err(invalid(message).with("known", list))
    }
}
