//! Checks what the parser read and turns it into [`Node`]s.

use cel::IdedExpr;
use cel::common::ast::{CallExpr, ComprehensionExpr, EntryExpr, Expr, LiteralValue, SelectExpr, operators};

use super::call::FORMS;
use super::compile::too_deep;
use super::nearest::nearest;
use super::node::{Arithmetic, Comparison, Each, EachKind, Node};
use super::pattern::Pattern;
use super::{MAX_DEPTH, MAX_LIST_LEN};

pub(super) struct Lowered {
    pub(super) root: Node,
    pub(super) reads: Vec<String>,
}

/// A problem with the node `id`.
pub(super) struct Found {
    pub(super) message: String,
    pub(super) id: u64,
}

pub(super) fn lower(ast: &IdedExpr, names: &[&str]) -> Result<Lowered, Vec<Found>> {
    let mut lowering = Lowering { names, element: None, depth: 0, reads: Vec::new(), found: Vec::new() };
    match lowering.node(ast) {
        Some(root) if lowering.found.is_empty() => Ok(Lowered { root, reads: lowering.reads }),
        _ => Err(lowering.found),
    }
}

struct Lowering<'n> {
    names: &'n [&'n str],
    /// The variable of the comprehension being lowered.
    element: Option<String>,
    depth: usize,
    reads: Vec<String>,
    found: Vec<Found>,
}

/// Macros and `matches` take names or literals where functions take values, so they have no [`super::call::Form`].
const SPECIAL: [(&str, &str); 7] = [
    ("has", "has(name.field)"),
    ("all", "list.all(x, condition)"),
    ("exists", "list.exists(x, condition)"),
    ("exists_one", "list.exists_one(x, condition)"),
    ("map", "list.map(x, value)"),
    ("filter", "list.filter(x, condition)"),
    ("matches", "text.matches('pattern')"),
];

impl Lowering<'_> {
    /// None where there was a problem; the others are still looked for.
    fn node(&mut self, ast: &IdedExpr) -> Option<Node> {
        if self.depth == MAX_DEPTH {
            return self.problem(ast, too_deep());
        }
        self.depth += 1;
        let node = match &ast.expr {
            Expr::Unspecified => self.problem(ast, "an expression is missing"),
            Expr::Literal(literal) => self.literal(ast, literal),
            Expr::Ident(name) => self.name(ast, name),
            Expr::Select(select) => self.select(select),
            Expr::List(list) => {
                if list.elements.len() > MAX_LIST_LEN {
                    self.problem(ast, format!("a list may have at most {MAX_LIST_LEN} elements"))
                } else {
                    self.nodes(&list.elements).map(Node::List)
                }
            }
            Expr::Map(map) => {
                let entries: Vec<_> = map.entries.iter().map(|entry| self.entry(&entry.expr)).collect();
                entries.into_iter().collect::<Option<_>>().map(Node::Map)
            }
            Expr::Struct(_) => {
                self.problem(ast, "typed messages are not used here; write a map: {'key': value}")
            }
            Expr::Comprehension(comprehension) => self.each(ast, comprehension),
            Expr::Call(call) => self.operator(call).unwrap_or_else(|| self.call(ast, call)),
        };
        self.depth -= 1;
        node
    }

    fn problem<T>(&mut self, at: &IdedExpr, message: impl Into<String>) -> Option<T> {
        self.found.push(Found { message: message.into(), id: at.id });
        None
    }

    fn boxed(&mut self, ast: &IdedExpr) -> Option<Box<Node>> {
        self.node(ast).map(Box::new)
    }

    /// Looks at every one before giving up, so that every problem is found.
    fn nodes(&mut self, asts: &[IdedExpr]) -> Option<Vec<Node>> {
        let nodes: Vec<Option<Node>> = asts.iter().map(|ast| self.node(ast)).collect();
        nodes.into_iter().collect()
    }

    fn array<const N: usize>(&mut self, asts: &[IdedExpr]) -> Option<Box<[Node; N]>> {
        let nodes: [Node; N] = self.nodes(asts)?.try_into().ok()?;
        Some(Box::new(nodes))
    }

    fn literal(&mut self, ast: &IdedExpr, literal: &LiteralValue) -> Option<Node> {
        Some(match literal {
            LiteralValue::Null => Node::Null,
            LiteralValue::Boolean(truth) => Node::Bool(*truth.inner()),
            LiteralValue::Int(number) => Node::Int((*number.inner()).into()),
            LiteralValue::UInt(number) => Node::Int((*number.inner()).into()),
            LiteralValue::Double(number) => Node::Double(*number.inner()),
            LiteralValue::String(text) => Node::String(text.inner().into()),
            LiteralValue::Bytes(_) => return self.problem(ast, "bytes are not used here; write a string"),
        })
    }

    fn name(&mut self, ast: &IdedExpr, name: &str) -> Option<Node> {
        if self.element.as_deref() == Some(name) {
            return Some(Node::Element);
        }
        if !self.names.contains(&name) {
            let known = self.names.iter().copied().chain(self.element.as_deref());
            let hint = match nearest(name, known) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known here: {}", self.names.join(", ")),
            };
            return self.problem(ast, format!("unknown name `{name}`; {hint}"));
        }
        if !self.reads.iter().any(|read| read == name) {
            self.reads.push(name.to_owned());
        }
        Some(Node::Name(name.into()))
    }

    fn select(&mut self, select: &SelectExpr) -> Option<Node> {
        let of = self.boxed(&select.operand)?;
        let field = select.field.as_str().into();
        Some(if select.test { Node::Has(of, field) } else { Node::Select(of, field) })
    }

    fn entry(&mut self, entry: &EntryExpr) -> Option<(Node, Node)> {
        let EntryExpr::MapEntry(entry) = entry else { return None };
        let (key, value) = (self.node(&entry.key), self.node(&entry.value));
        key.zip(value)
    }

    /// None if the call is no operator.
    fn operator(&mut self, call: &CallExpr) -> Option<Option<Node>> {
        let arithmetic = |operation| move |terms| Node::Compute(operation, terms);
        let comparison = |comparison| move |terms| Node::Compare(comparison, terms);
        let logic = |decisive| move |terms| Node::Logic { decisive, terms };
        let args = &call.args;
        Some(match call.func_name.as_str() {
            operators::LOGICAL_NOT => self.boxed(&args[0]).map(Node::Not),
            operators::NEGATE => self.boxed(&args[0]).map(Node::Negate),
            operators::CONDITIONAL => self.array(args).map(Node::If),
            operators::LOGICAL_AND => self.array(args).map(logic(false)),
            operators::LOGICAL_OR => self.array(args).map(logic(true)),
            operators::IN => self.array(args).map(Node::In),
            operators::ADD => self.array(args).map(arithmetic(Arithmetic::Add)),
            operators::SUBSTRACT => self.array(args).map(arithmetic(Arithmetic::Subtract)),
            operators::MULTIPLY => self.array(args).map(arithmetic(Arithmetic::Multiply)),
            operators::DIVIDE => self.array(args).map(arithmetic(Arithmetic::Divide)),
            operators::MODULO => self.array(args).map(arithmetic(Arithmetic::Remainder)),
            operators::EQUALS => self.array(args).map(comparison(Comparison::Equal)),
            operators::NOT_EQUALS => self.array(args).map(comparison(Comparison::NotEqual)),
            operators::LESS => self.array(args).map(comparison(Comparison::Less)),
            operators::LESS_EQUALS => self.array(args).map(comparison(Comparison::LessOrEqual)),
            operators::GREATER => self.array(args).map(comparison(Comparison::Greater)),
            operators::GREATER_EQUALS => self.array(args).map(comparison(Comparison::GreaterOrEqual)),
            operators::INDEX => {
                let (of, index) = (self.boxed(&args[0]), self.boxed(&args[1]));
                of.zip(index).map(|(of, index)| Node::Index(of, index))
            }
            _ => return None,
        })
    }

    fn call(&mut self, ast: &IdedExpr, call: &CallExpr) -> Option<Node> {
        let name = call.func_name.as_str();
        let arguments = call.target.iter().map(|target| &**target).chain(&call.args);
        if name == "matches"
            && let [text, pattern] = arguments.clone().collect::<Vec<_>>()[..]
        {
            return self.matches(text, pattern);
        }
        let arguments: Vec<Option<Node>> = arguments.map(|argument| self.node(argument)).collect();
        let Some(form) = FORMS.iter().find(|form| form.name == name) else {
            let message = unknown_function(name);
            return self.problem(ast, message);
        };
        let style_is_right = if call.target.is_some() { form.on_target } else { form.alone };
        if !style_is_right || arguments.len() != form.arguments {
            let usage = match (form.on_target, form.arguments) {
                (true, 2) => format!("text.{name}(part)"),
                _ => format!("{name}(value)"),
            };
            return self.problem(ast, format!("`{name}` is called like {usage}"));
        }
        let arguments = arguments.into_iter().collect::<Option<_>>()?;
        Some(Node::Call(form.function, arguments))
    }

    fn matches(&mut self, text: &IdedExpr, pattern: &IdedExpr) -> Option<Node> {
        let text = self.boxed(text);
        let Expr::Literal(LiteralValue::String(source)) = &pattern.expr else {
            return self.problem(pattern, "the pattern of `matches` must be written out as a string");
        };
        match Pattern::new(source.inner()) {
            Ok(pattern) => text.map(|text| Node::Matches(text, pattern)),
            Err(message) => self.problem(pattern, message),
        }
    }

    fn each(&mut self, ast: &IdedExpr, comprehension: &ComprehensionExpr) -> Option<Node> {
        let ComprehensionExpr { iter_range, iter_var, .. } = comprehension;
        if self.element.is_some() {
            return self
                .problem(ast, "all, exists, exists_one, map and filter cannot be used inside one another");
        }
        if self.names.contains(&iter_var.as_str()) {
            return self.problem(
                ast,
                format!("`{iter_var}` is already a name here; call the element something else"),
            );
        }
        let range = self.node(iter_range);
        self.element = Some(iter_var.clone());
        let kind = match macro_body(comprehension) {
            Some(Body::Any { decisive, condition }) => {
                self.node(condition).map(|condition| EachKind::Any { decisive, condition })
            }
            Some(Body::ExistsOne { condition }) => {
                self.node(condition).map(|condition| EachKind::ExistsOne { condition })
            }
            Some(Body::Collect { condition, give }) => {
                let condition = condition.map(|condition| self.node(condition));
                let give = self.node(give);
                // A condition that could not be lowered is a problem already noted, not an absent condition.
                match condition {
                    Some(None) => None,
                    condition => give.map(|give| EachKind::Collect { condition: condition.flatten(), give }),
                }
            }
            None => self.problem(ast, "this kind of loop is not used here"),
        };
        self.element = None;
        let (range, kind) = range.zip(kind)?;
        Some(Node::Each(Box::new(Each { range, kind })))
    }
}

/// The body of a macro as the author wrote it. The parser hands macros out only as the loops CEL defines them to be.
enum Body<'a> {
    Any { decisive: bool, condition: &'a IdedExpr },
    ExistsOne { condition: &'a IdedExpr },
    Collect { condition: Option<&'a IdedExpr>, give: &'a IdedExpr },
}

fn macro_body(comprehension: &ComprehensionExpr) -> Option<Body<'_>> {
    let Expr::Call(step) = &comprehension.loop_step.expr else { return None };
    match (&comprehension.accu_init.expr, step.func_name.as_str(), &step.args[..]) {
        (
            Expr::Literal(LiteralValue::Boolean(init)),
            operators::LOGICAL_AND | operators::LOGICAL_OR,
            [_, condition],
        ) => Some(Body::Any { decisive: !init.inner(), condition }),
        (Expr::Literal(LiteralValue::Int(_)), operators::CONDITIONAL, [condition, ..]) => {
            Some(Body::ExistsOne { condition })
        }
        (Expr::List(_), operators::ADD, [_, given]) => {
            Some(Body::Collect { condition: None, give: only_element(given)? })
        }
        (Expr::List(_), operators::CONDITIONAL, [condition, appended, _]) => {
            let Expr::Call(append) = &appended.expr else { return None };
            Some(Body::Collect { condition: Some(condition), give: only_element(append.args.get(1)?)? })
        }
        _ => None,
    }
}

fn only_element(list: &IdedExpr) -> Option<&IdedExpr> {
    match &list.expr {
        Expr::List(list) => list.elements.first(),
        _ => None,
    }
}

fn unknown_function(name: &str) -> String {
    if let Some((_, usage)) = SPECIAL.iter().find(|(special, _)| *special == name) {
        return format!("`{name}` is called like {usage}");
    }
    let known = || FORMS.iter().map(|form| form.name).chain(SPECIAL.iter().map(|(special, _)| *special));
    match nearest(name, known()) {
        Some(near) => format!("unknown function `{name}`; did you mean `{near}`?"),
        None => format!("unknown function `{name}`; there are {}", known().collect::<Vec<_>>().join(", ")),
    }
}
