//! The nodes of a checked expression.

use super::call::Function;
use super::pattern::Pattern;

#[derive(Debug)]
pub(super) enum Node {
    Null,
    Bool(bool),
    /// Within 64 bits, signed or unsigned.
    Int(i128),
    Double(f64),
    String(Box<str>),
    /// A variable of the scope.
    Name(Box<str>),
    /// The variable of the comprehension around this node. There is only one, for they do not nest.
    Element,
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
    Select(Box<Node>, Box<str>),
    Has(Box<Node>, Box<str>),
    Index(Box<Node>, Box<Node>),
    Not(Box<Node>),
    Negate(Box<Node>),
    /// `&&` where `decisive` is false, `||` where it is true: the value that settles the matter alone.
    Logic {
        decisive: bool,
        terms: Box<[Node; 2]>,
    },
    /// Condition, then, otherwise.
    If(Box<[Node; 3]>),
    Compute(Arithmetic, Box<[Node; 2]>),
    Compare(Comparison, Box<[Node; 2]>),
    In(Box<[Node; 2]>),
    Call(Function, Vec<Node>),
    Matches(Box<Node>, Pattern),
    Each(Box<Each>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Comparison {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// A comprehension: something done for each element of `range`.
#[derive(Debug)]
pub(super) struct Each {
    pub(super) range: Node,
    pub(super) kind: EachKind,
}

#[derive(Debug)]
pub(super) enum EachKind {
    /// `all` where `decisive` is false, `exists` where it is true.
    Any {
        decisive: bool,
        condition: Node,
    },
    ExistsOne {
        condition: Node,
    },
    /// `filter` and `map`.
    Collect {
        condition: Option<Node>,
        give: Node,
    },
}

impl Node {
    /// Returns the path by which the author would point at this node: names and literal keys, but no value found at run
    /// time.
    pub(super) fn path(&self) -> String {
        match self {
            Self::Name(name) => name.to_string(),
            Self::Element => "the element".to_owned(),
            Self::Select(of, field) => format!("{}.{field}", of.path()),
            Self::Index(of, index) => match &**index {
                Self::Int(index) => format!("{}[{index}]", of.path()),
                Self::String(key) => format!("{}['{key}']", of.path()),
                _ => format!("{}[..]", of.path()),
            },
            _ => "(..)".to_owned(),
        }
    }
}
