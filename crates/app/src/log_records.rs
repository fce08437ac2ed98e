//! Records of the log that belong to no submission, newest first.

use std::collections::BTreeMap;

use audit::leaf::Record;
use model::{Name, Refusal};
use wire::api::{ActActor, ActPage, ActView};

use crate::App;

impl App {
    /// Lists what was done besides what happened to submissions: the newest first, before an index of the log.
    pub async fn log_records(&self, before: Option<u64>, limit: usize) -> Result<ActPage, Refusal> {
        let mut found = self.engine.acts(before, limit + 1).await?;
        let names = self.engine.actors().await?;
        let more = found.len() > limit;
        found.truncate(limit);
        let next = found.last().filter(|_| more).map(|(index, _)| *index);
        let acts = found.into_iter().map(|(index, act)| view(index, act, &names)).collect();
        Ok(ActPage { acts, next })
    }
}

fn view(index: u64, act: Record, names: &BTreeMap<String, Name>) -> ActView {
    let plain = |kind: &str, of: String, at| ActView {
        index,
        kind: kind.to_owned(),
        at,
        of: of.into(),
        no: None,
        deed: None,
        actor: None,
        role: None,
        detail: BTreeMap::new(),
    };
    let with = |mut view: ActView, detail: [(&str, String); 2]| {
        view.detail = detail.into_iter().map(|(name, word)| (name.into(), word.into())).collect();
        view
    };
    match act {
        Record::Applied(applied) => {
            let view = plain("applied", applied.pipeline.to_string(), applied.at);
            let version = ("version", applied.version.to_string());
            with(view, [version, ("definition", applied.definition.to_string())])
        }
        Record::Pruned(pruned) => {
            let view = plain("pruned", "log".to_owned(), pruned.at);
            with(view, [("minimum_index", pruned.minimum_index.to_string()), ("reason", pruned.reason)])
        }
        Record::Forked(forked) => {
            let view = plain("forked", forked.size.to_string(), forked.at);
            with(view, [("root", forked.root.to_string()), ("reason", forked.reason)])
        }
        Record::KeyAdded(change) => plain("key_added", change.key, change.at),
        Record::KeyRetired(change) => plain("key_retired", change.key, change.at),
        Record::Administered(act) => {
            let name_of = |id: &str| names.get(id).cloned();
            let id = act.actor.id;
            let actor = ActActor { kind: act.actor.kind, id, name: name_of(&id.to_string()) };
            let mut detail = act.detail;
            if let Some(name) = detail.get("subject").and_then(|id| name_of(id)) {
                detail.insert("subject_name".into(), name);
            }
            ActView {
                no: Some(act.no),
                deed: Some(act.deed),
                actor: Some(actor),
                role: act.role,
                detail,
                ..plain("administered", act.of.to_string(), act.at)
            }
        }
    }
}
