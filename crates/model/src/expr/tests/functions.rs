use super::{fails, gives};

#[test]
fn size_counts_characters_elements_and_members() {
    gives("[size('héllo'), payload.size(), size({'a': 1}), size(payload)]", "[1,2]", "[5,2,1,2]");
    fails("size(payload)", "1", "size() needs a string, list or map, not an int");
}

#[test]
fn parts_of_texts_are_found() {
    gives("payload.contains('ell') && !payload.contains('x')", "\"hello\"", "true");
    gives("payload.startsWith('he') && !payload.startsWith('lo')", "\"hello\"", "true");
    gives("payload.endsWith('lo') && !payload.endsWith('he')", "\"hello\"", "true");
    fails("payload.contains('a')", "[\"a\"]", "contains() needs a string, not a list");
    fails("payload.contains(1)", "\"a\"", "contains() needs a string, not an int");
}

#[test]
fn patterns_match_either_way_of_writing() {
    gives("payload.matches('^[0-9a-f]{8}$')", "\"00ff00ff\"", "true");
    gives("matches(payload, '^[0-9a-f]{8}$')", "\"00ff00fg\"", "false");
    gives("payload.all(p, p.matches('^[a-z]+$'))", "[\"abc\",\"de\"]", "true");
    fails("payload.matches('a')", "1", "matches() needs a string, not an int");
}

#[test]
fn conversions_are_exact_or_refused() {
    gives(
        "[string(1), string(true), string('a'), string(18446744073709551615u)]",
        "1",
        r#"["1","true","a","18446744073709551615"]"#,
    );
    fails("string(payload)", "1.5", "use canonical()");
    fails("string(payload)", "null", "needs a string, bool or int, not null");
    gives("[int('42'), int(2.9), int(-2.9), int(7)]", "1", "[42,2,-2,7]");
    fails("int('4.2')", "1", "whole number");
    fails("int(1e30)", "1", "does not fit");
    fails("int(true)", "1", "int() needs a number or a string, not a bool");
    gives("[double('2.5'), double(3), double('1e2')]", "1", "[2.5,3.0,100.0]");
    fails("double('inf')", "1", "text that is a number");
    fails("double(9007199254740993)", "1", "no exact double");
    fails("double(null)", "1", "not null");
}

#[test]
fn addresses_of_repositories_are_read_strictly() {
    let written = "\"https://GitHub.com/Anthropics/Skills.git\"";
    gives("[host(payload), owner(payload)]", written, r#"["github.com","anthropics"]"#);
    gives("repository(payload)", written, "\"https://github.com/anthropics/skills\"");
    gives("ownerAsWritten(payload)", written, "\"Anthropics\"");
    gives("owner(payload) in ['anthropics', 'openai']", "\"https://github.com/anthropics-evil/x\"", "false");
    gives("host(payload) == 'github.com'", "\"https://evil.example/anthropics/skills\"", "false");
    for function in ["host", "owner", "ownerAsWritten", "repository"] {
        let call = format!("{function}(payload)");
        fails(
            &call,
            "\"https://evil.example@github.com/anthropics/x\"",
            &format!("{function}() needs an address"),
        );
        fails(&call, "1", &format!("{function}() needs a string, not an int"));
    }
}

#[test]
fn lower_folds_case() {
    gives("lower(payload)", "\"ÀBc\"", "\"àbc\"");
    fails("lower(payload)", "1", "lower() needs a string");
}

#[test]
fn sha256_is_of_the_utf8_bytes() {
    gives(
        "sha256(payload)",
        "\"abc\"",
        "\"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\"",
    );
    gives("sha256('')", "1", "\"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855\"");
    fails("sha256(payload)", "1", "sha256() needs a string");
}

#[test]
fn canonical_is_the_one_text_of_a_value() {
    gives("canonical(payload)", r#"{ "b" : 1.0, "a":[true,null] }"#, r#""{\"a\":[true,null],\"b\":1.0}""#);
    gives("canonical({'b': 1, 'a': payload})", "\"x\"", r#""{\"a\":\"x\",\"b\":1}""#);
    gives(
        "sha256(canonical(payload.a)) == sha256(canonical(payload.b))",
        r#"{"a":{"x":1,"y":2},"b":{"y":2,"x":1}}"#,
        "true",
    );
}

#[test]
fn duration_reads_our_own_form() {
    gives("duration(payload)", "\"90m\"", "\"1h30m\"");
    fails("duration(payload)", "\"5bd\"", "duration() needs text like");
    fails("duration(payload)", "\"-1s\"", "duration() needs text like");
    fails("duration(payload)", "5", "duration() needs a string, not an int");
    fails("duration('1s') + duration('1s')", "5", "`+` does not work on duration and duration");
}
