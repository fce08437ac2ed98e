//! Evaluation of a checked expression.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::call::call;
use super::exact::Num;
use super::fuel::{Fuel, Stop, stop};
use super::node::{Each, EachKind, Node};
use super::operate;
use super::scope::Scope;
use super::val::{Items, Val, View};

/// Total: whatever happens inside becomes a [`Stop`]. One faulty expression must not end the thread that commits for
/// everyone.
pub(super) fn evaluate<T>(
    root: &Node,
    scope: &Scope<'_>,
    fuel: &mut Fuel,
    convert: impl FnOnce(Val<'_>, &mut Fuel) -> Result<T, Stop>,
) -> Result<T, Stop> {
    catch_unwind(AssertUnwindSafe(|| {
        let mut evaluation = Evaluation { scope, element: None, fuel };
        let result = evaluation.node(root)?;
        convert(result, evaluation.fuel)
    }))
    .unwrap_or_else(|_| stop("the evaluation failed; this is a fault of the evaluator"))
}

struct Evaluation<'a, 'f> {
    scope: &'a Scope<'a>,
    element: Option<Val<'a>>,
    fuel: &'f mut Fuel,
}

impl<'a> Evaluation<'a, '_> {
    fn node(&mut self, node: &'a Node) -> Result<Val<'a>, Stop> {
        self.fuel.spend(1)?;
        match node {
            Node::Null => Ok(Val::Null),
            Node::Bool(truth) => Ok(Val::Bool(*truth)),
            Node::Int(number) => Ok(Val::Num(Num::Int(*number))),
            Node::Double(number) => Ok(Val::Num(Num::Double(*number))),
            Node::String(text) => Ok(Val::Str(text)),
            Node::Name(name) => match self.scope.get(name) {
                Some(value) => Ok(Val::Json(value)),
                None => stop(format!("{name} is not known here")),
            },
            Node::Element => {
                Ok(self.element.clone().expect("lowering puts elements only inside comprehensions"))
            }
            Node::List(elements) => self.nodes(elements).map(|items| Val::List(items.into())),
            Node::Map(entries) => self.map(entries),
            Node::Select(of, field) => self.select(of, field),
            Node::Has(of, field) => match self.node(of)?.view() {
                View::Map(members) => Ok(Val::Bool(members.has(field))),
                _ => stop(format!("has() needs {} to be a map", of.path())),
            },
            Node::Index(of, index) => self.index(of, index),
            Node::Not(of) => self.term(of).map(|truth| Val::Bool(!truth)),
            Node::Negate(of) => {
                let value = self.node(of)?;
                match value.view() {
                    View::Num(number) => number.negate().map(Val::Num),
                    _ => stop(format!("`-` does not work on {}", value.a_kind())),
                }
            }
            Node::Logic { decisive, terms } => self.logic(*decisive, terms),
            Node::If(parts) => {
                let [condition, then, otherwise] = &**parts;
                if self.term(condition)? { self.node(then) } else { self.node(otherwise) }
            }
            Node::Compute(operation, terms) => {
                let [a, b] = self.pair(terms)?;
                operate::compute(*operation, &a, &b, self.fuel)
            }
            Node::Compare(comparison, terms) => {
                let [a, b] = self.pair(terms)?;
                operate::compare(*comparison, &a, &b, self.fuel).map(Val::Bool)
            }
            Node::In(terms) => {
                let [element, container] = self.pair(terms)?;
                operate::contains(&element, &container, self.fuel).map(Val::Bool)
            }
            Node::Call(function, arguments) => {
                let arguments = self.nodes(arguments)?;
                call(*function, &arguments, self.fuel)
            }
            Node::Matches(of, pattern) => {
                let text = self.node(of)?;
                pattern.is_match(text.to_str("matches()")?, self.fuel).map(Val::Bool)
            }
            Node::Each(each) => self.each(each),
        }
    }

    fn nodes(&mut self, nodes: &'a [Node]) -> Result<Vec<Val<'a>>, Stop> {
        nodes.iter().map(|node| self.node(node)).collect()
    }

    fn pair(&mut self, terms: &'a [Node; 2]) -> Result<[Val<'a>; 2], Stop> {
        Ok([self.node(&terms[0])?, self.node(&terms[1])?])
    }

    fn map(&mut self, entries: &'a [(Node, Node)]) -> Result<Val<'a>, Stop> {
        let mut members = BTreeMap::new();
        for (key, value) in entries {
            let key = self.node(key)?.to_str("a key of a map")?.to_owned();
            self.fuel.make_string(key.len())?;
            if members.insert(key, self.node(value)?).is_some() {
                return stop("a map has the same key twice");
            }
        }
        Ok(Val::Map(members.into()))
    }

    fn select(&mut self, of: &'a Node, field: &str) -> Result<Val<'a>, Stop> {
        let value = self.node(of)?;
        match value.view() {
            View::Map(members) => {
                members.get(field).ok_or_else(|| Stop::new(format!("no such key: {}.{field}", of.path())))
            }
            _ => stop(format!("no such key: {}.{field}, for {} is {}", of.path(), of.path(), value.a_kind())),
        }
    }

    fn index(&mut self, of: &'a Node, index: &'a Node) -> Result<Val<'a>, Stop> {
        let (value, at) = (self.node(of)?, self.node(index)?);
        let missing = |what: &str| {
            let shown = match index {
                Node::Int(index) => format!("[{index}]"),
                Node::String(key) => format!("['{key}']"),
                _ => "[..]".to_owned(),
            };
            Stop::new(format!("no such {what}: {}{shown}", of.path()))
        };
        match (value.view(), at.view()) {
            (View::Map(members), View::Str(key)) => members.get(key).ok_or_else(|| missing("key")),
            (View::List(items), View::Num(Num::Int(index))) => {
                let index = usize::try_from(index).ok();
                index.and_then(|index| items.get(index)).ok_or_else(|| missing("element"))
            }
            _ => stop(format!("{}, {}, has no element by {}", of.path(), value.a_kind(), at.kind())),
        }
    }

    /// Evaluates as CEL does: a term that fails does not matter where the other decides, in either order.
    fn logic(&mut self, decisive: bool, terms: &'a [Node; 2]) -> Result<Val<'a>, Stop> {
        let first = self.term(&terms[0]);
        if first.as_ref().is_ok_and(|truth| *truth == decisive) {
            return Ok(Val::Bool(decisive));
        }
        let second = self.term(&terms[1]);
        if second.as_ref().is_ok_and(|truth| *truth == decisive) {
            return Ok(Val::Bool(decisive));
        }
        first.and(second).map(Val::Bool)
    }

    fn term(&mut self, node: &'a Node) -> Result<bool, Stop> {
        self.node(node)?.to_bool()
    }

    fn each(&mut self, each: &'a Each) -> Result<Val<'a>, Stop> {
        let range = self.node(&each.range)?;
        let keys;
        let items = match range.view() {
            View::List(items) => {
                self.fuel.list(items.len())?;
                items
            }
            View::Map(members) => {
                self.fuel.list(members.len())?;
                keys = members.keys();
                Items::Made(&keys)
            }
            _ => return stop(format!("{} is {}, not a list", each.range.path(), range.a_kind())),
        };
        match &each.kind {
            EachKind::Any { decisive, condition } => self.any(items, *decisive, condition),
            EachKind::ExistsOne { condition } => self.exists_one(items, condition),
            EachKind::Collect { condition, give } => self.collect(items, condition.as_ref(), give),
        }
    }

    fn any(&mut self, items: Items<'_, 'a>, decisive: bool, condition: &'a Node) -> Result<Val<'a>, Stop> {
        let mut failed = None;
        for item in items.iter() {
            self.element = Some(item);
            match self.term(condition) {
                Ok(truth) if truth == decisive => return Ok(Val::Bool(decisive)),
                Ok(_) => {}
                Err(stop) => failed = failed.or(Some(stop)),
            }
        }
        failed.map_or(Ok(Val::Bool(!decisive)), Err)
    }

    fn exists_one(&mut self, items: Items<'_, 'a>, condition: &'a Node) -> Result<Val<'a>, Stop> {
        let mut found = 0;
        for item in items.iter() {
            self.element = Some(item);
            found += usize::from(self.term(condition)?);
        }
        Ok(Val::Bool(found == 1))
    }

    fn collect(
        &mut self,
        items: Items<'_, 'a>,
        condition: Option<&'a Node>,
        give: &'a Node,
    ) -> Result<Val<'a>, Stop> {
        let mut given = Vec::new();
        for item in items.iter() {
            self.element = Some(item);
            if condition.map_or(Ok(true), |condition| self.term(condition))? {
                given.push(self.node(give)?);
            }
        }
        Ok(Val::List(given.into()))
    }
}
