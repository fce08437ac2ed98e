//! Sections of the suite that nothing here corresponds to, each with its reason and with expressions that show it.

/// A section that is not run.
pub(super) struct Absent {
    pub(super) section: &'static str,
    pub(super) why: &'static str,
    /// Expressions of the section, and the problem that each is refused with.
    pub(super) refused: &'static [(&'static str, &'static str)],
}

const MESSAGES: &str = "there are no protobuf messages: payloads, outputs and parameters are JSON";
const LIBRARY: &str =
    "the functions are those the pipeline guide lists; optional libraries of CEL are not among them";

pub(super) const ABSENT: &[Absent] = &[
    Absent {
        section: "bindings_ext",
        why: "no names are bound inside an expression: a derived value is metadata, which has a name and a history",
        refused: &[("cel.bind(t, 1, t + t)", "")],
    },
    Absent {
        section: "block_ext",
        why: "blocks are made by optimisers of other implementations, not written by people",
        refused: &[("cel.block([1, 2], cel.index(0))", "")],
    },
    Absent {
        section: "encoders_ext",
        why: LIBRARY,
        refused: &[("base64.encode('aGk=')", "unknown"), ("base64.decode('aGk=')", "unknown")],
    },
    Absent {
        section: "enums",
        why: MESSAGES,
        refused: &[
            ("TestAllTypes.NestedEnum.BAR", "unknown name"),
            ("TestAllTypes{standalone_enum: 1}", "typed messages"),
        ],
    },
    Absent {
        section: "macros2",
        why: "macros with an index and an element are not offered: one name a loop",
        refused: &[
            ("[1].all(i, e, i < e)", "`all` is called like"),
            ("[1].transformList(i, e, e)", "unknown function"),
        ],
    },
    Absent {
        section: "math_ext",
        why: LIBRARY,
        refused: &[
            ("math.greatest(1, 2)", "unknown"),
            ("math.abs(-1)", "unknown"),
            ("math.bitAnd(1, 3)", "unknown"),
        ],
    },
    Absent {
        section: "network_ext",
        why: "addresses are judged where they are connected to, not by guards",
        refused: &[("ip('127.0.0.1')", "unknown function"), ("cidr('10.0.0.0/8')", "unknown function")],
    },
    Absent {
        section: "optionals",
        why: "has() and the conditional say the same, and every reader knows them",
        refused: &[("m.?a", "unsupported syntax"), ("m[?'a']", ""), ("optional.of(1)", ""), ("[?x]", "")],
    },
    Absent {
        section: "proto2",
        why: MESSAGES,
        refused: &[("TestAllTypes{single_int32: 1}", "typed messages")],
    },
    Absent {
        section: "proto2_ext",
        why: MESSAGES,
        refused: &[("proto.hasExt(m, a.b)", ""), ("proto.getExt(m, a.b)", "")],
    },
    Absent {
        section: "proto3",
        why: MESSAGES,
        refused: &[("TestAllTypes{single_int64: 1}", "typed messages")],
    },
    Absent {
        section: "string_ext",
        why: LIBRARY,
        refused: &[
            ("'a'.charAt(0)", "unknown function"),
            ("'a'.indexOf('a')", "unknown function"),
            ("'a'.lastIndexOf('a')", "unknown function"),
            ("'A'.lowerAscii()", "unknown function"),
            ("'a'.upperAscii()", "unknown function"),
            ("'a'.replace('a', 'b')", "unknown function"),
            ("'a b'.split(' ')", "unknown function"),
            ("'abc'.substring(1)", "unknown function"),
            ("' a '.trim()", "unknown function"),
            ("['a'].join('-')", "unknown function"),
            ("strings.quote('a')", "unknown"),
            ("'%s'.format(['a'])", "unknown function"),
            ("'abc'.reverse()", "unknown function"),
        ],
    },
    Absent {
        section: "type_deduction",
        why: "there is no checker of types: a payload's types are its schema's, and a mistake is an error of the guard",
        refused: &[("type(1)", "unknown function"), ("dyn(1)", "unknown function")],
    },
    Absent {
        section: "unknowns",
        why: "everything a guard may read is there when it is evaluated: nothing is unknown for the time being",
        refused: &[],
    },
    Absent {
        section: "wrappers",
        why: MESSAGES,
        refused: &[
            ("google.protobuf.Int32Value{value: 1}", "typed messages"),
            ("google.protobuf.Any{}", "typed messages"),
        ],
    },
];
