//! `reviewers`: the people and roles whose right an action is.

use super::Reader;
use crate::person::{is_invisible, normal, spelled};
use crate::pipeline::file::Node;
use crate::pipeline::problem::quote;
use crate::pipeline::{Edge, Reviewer};

const REVIEWERS_MAX: usize = 100;
const NAME_BYTES_MAX: usize = 256;

impl Reader<'_> {
    pub(super) fn reviewers(&mut self, node: &Node) -> Vec<Reviewer> {
        let nodes = node.one_or_many();
        if nodes.is_empty() {
            self.report("bad-value", &node.span, "`reviewers` is empty: then nobody may act");
        }
        self.bound("reviewers", nodes.len(), REVIEWERS_MAX, &node.span);
        let mut listed: Vec<Reviewer> = Vec::new();
        for node in nodes.iter().take(REVIEWERS_MAX) {
            let Some(reviewer) = self.reviewer(node) else { continue };
            let same = |other: &Reviewer| normal(&other.to_string()) == normal(&reviewer.to_string());
            if listed.iter().any(same) {
                self.report(
                    "duplicate",
                    &node.span,
                    format!("{} is listed twice", quote(&reviewer.to_string())),
                );
            } else {
                listed.push(reviewer);
            }
        }
        listed
    }

    fn reviewer(&mut self, node: &Node) -> Option<Reviewer> {
        let text = self.text(node)?;
        if let Some(role) = text.strip_prefix(Reviewer::ROLE) {
            return match role.parse() {
                Ok(role) => Some(Reviewer::Role(role)),
                Err(error) => {
                    self.report("bad-value", &node.span, error);
                    None
                }
            };
        }
        let plain = spelled(text);
        if plain.is_empty() || plain.len() > NAME_BYTES_MAX || plain.chars().any(is_invisible) {
            let message = format!("{} is no person's name; a role is written `role:admin`", quote(text));
            self.report("bad-value", &node.span, message);
            return None;
        }
        Some(Reviewer::Person(plain.into()))
    }

    /// Reports what nobody could ever do.
    pub(super) fn check_people(&mut self, edge: &Edge) {
        let people = |reviewer: &Reviewer| matches!(reviewer, Reviewer::Person(_));
        let few = !edge.reviewers.is_empty()
            && edge.reviewers.iter().all(people)
            && (edge.approvals as usize) > edge.reviewers.len();
        let message = if !edge.reviewers.is_empty() && edge.role.is_some() {
            "`role` and `reviewers` both say who may act; leave one out"
        } else if few {
            "it needs more `approvals` than there are `reviewers`"
        } else if edge.only_submitter && !edge.reviewers.is_empty() {
            "`only` and `reviewers` both say who may act; leave one out"
        } else if edge.only_submitter && !edge.self_approval {
            "only the submitter may, and the submitter may not: nobody could"
        } else if edge.only_submitter && edge.approvals > 1 {
            "only the submitter may act, who is one person: leave `approvals` out"
        } else {
            return;
        };
        self.report("bad-value", &edge.at.clone(), message);
    }
}
