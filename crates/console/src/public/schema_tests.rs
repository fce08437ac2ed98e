use super::*;
use crate::fields::Fields;
use crate::public::field::object;

const SCHEMA: &str = r##"{
  "type": "object", "required": ["name", "size", "address", "terms"],
  "properties": {
    "note": { "type": "string", "maxLength": 2000, "description": "Anything else." },
    "name": { "type": "string", "maxLength": 40, "title": "Your name", "examples": ["Ada"] },
    "mail": { "type": ["string", "null"], "format": "email" },
    "site": { "type": "string", "format": "uri" },
    "day": { "type": "string", "format": "date" },
    "size": { "enum": ["small", "large", 3] },
    "colour": { "oneOf": [{ "const": "r", "title": "Red" }, { "const": "g" }], "default": "g" },
    "count": { "type": "integer", "minimum": 1, "maximum": 10, "default": 2 },
    "terms": { "type": "boolean", "const": true },
    "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 3 },
    "scores": { "type": "array", "items": { "type": "number" } },
    "days": { "type": "array", "items": { "enum": ["mon", "tue"] } },
    "address": { "$ref": "#/$defs/address", "title": "Where" },
    "gift": { "type": "object", "required": ["to"], "properties": { "to": { "type": "string", "maxLength": 9 } } },
    "odd": { "type": "array", "items": { "type": "object" } },
    "a/b~c": { "type": "string", "maxLength": 9 }
  },
  "$defs": { "address": { "type": "object", "required": ["city"], "properties": {
    "city": { "type": "string", "maxLength": 20 }, "zip": { "type": "string", "pattern": "^[0-9]{5}$" } } } }
}"##;

fn drawn() -> Vec<Field> {
    draw(Some(SCHEMA), None)
}

fn field<'f>(fields: &'f [Field], member: &str) -> &'f Field {
    fields.iter().find(|field| field.member == member).unwrap_or_else(|| panic!("no {member}"))
}

fn kind(field: &Field) -> &'static str {
    match &field.kind {
        Kind::Line(input) => input,
        Kind::Text { .. } => "lines of text",
        Kind::Number => "number",
        Kind::Yes => "yes",
        Kind::Choice(_) => "choice",
        Kind::Several(_) => "several",
        Kind::Lines { of_numbers: true } => "numbers",
        Kind::Lines { of_numbers: false } => "texts",
        Kind::Group(_) => "group",
        Kind::Document => "json",
    }
}

#[test]
fn each_part_of_a_schema_is_asked_for_in_its_way() {
    let fields = drawn();
    let wanted = [
        ("note", "lines of text"),
        ("name", "text"),
        ("mail", "email"),
        ("site", "url"),
        ("day", "date"),
        ("size", "choice"),
        ("colour", "choice"),
        ("count", "number"),
        ("terms", "yes"),
        ("tags", "texts"),
        ("scores", "numbers"),
        ("days", "several"),
        ("address", "group"),
        ("gift", "group"),
        ("odd", "json"),
    ];
    for (member, wanted) in wanted {
        assert_eq!(kind(field(&fields, member)), wanted, "{member}");
    }
    assert!(fields[..4].iter().all(|field| field.required) && !fields[4].required);
    let name = field(&fields, "name");
    assert_eq!((&*name.title, &*name.example), ("Your name", "Ada"));
    assert_eq!(field(&fields, "address").title, "Where");
    assert_eq!(field(&fields, "count").help, "From 1 to 10.");
    assert_eq!((&*field(&fields, "count").value, &*field(&fields, "colour").value), ("2", "\"g\""));
    assert_eq!(field(&fields, "note").help, "Anything else. At most 2000 characters.");
    assert_eq!(field(&fields, "a/b~c").pointer, "/a~1b~0c");
    let insists = |member: &str| match &field(&fields, member).kind {
        Kind::Group(inner) => inner.iter().any(|field| field.insists),
        _ => field(&fields, member).insists,
    };
    assert!(insists("name") && insists("address") && !insists("note"));
    assert!(!insists("gift"), "a group that may be left out does not keep the form");
}

#[test]
fn what_is_typed_is_the_document() {
    let mut fields = drawn();
    let typed = "p/name=+Ada+%22L%22+&p/size=3&p/count=12345678901234567890.10&p/terms=1&p/tags=a%0D%0A%0D%0A+b+&\
                 p/scores=1.50%0Ax&p/days=%22tue%22&p/address/city=Rome&p/colour=%22r%22&p/note=one%0D%0Atwo&\
                 p/odd=%5B%7B%22n%22%3A1.0%7D%5D&p/a~1b~0c=x&p/unknown=1";
    let form = Fields::read(typed.as_bytes());
    fields.iter_mut().for_each(|field| field.fill(&form));
    assert!(!fields.iter_mut().map(Field::look).fold(false, |wrong, next| wrong | next));
    let document: serde_json::Map<String, Value> = serde_json::from_str(&object(&fields)).unwrap();
    let written = |name: &str| document.get(name).map(Value::to_string).unwrap_or_default();
    assert_eq!(written("name"), r#""Ada \"L\"""#);
    assert_eq!((written("size"), written("colour")), ("3".to_owned(), "\"r\"".to_owned()));
    assert!(object(&fields).contains("\"count\":12345678901234567890.10"), "no digit is lost");
    assert_eq!((written("tags"), written("days")), (r#"["a","b"]"#.to_owned(), r#"["tue"]"#.to_owned()));
    assert!(
        object(&fields).contains(r#""scores":[1.50,"x"]"#),
        "what is no number is for the schema to refuse"
    );
    assert_eq!((written("address"), written("terms")), (r#"{"city":"Rome"}"#.to_owned(), "true".to_owned()));
    assert_eq!(written("note"), r#""one\ntwo""#);
    assert!(object(&fields).contains(r#""odd":[{"n":1.0}]"#) && object(&fields).contains("\"a/b~c\":\"x\""));
    for left_out in ["mail", "gift", "unknown", "site"] {
        assert_eq!(written(left_out), "", "{left_out}");
    }
}

#[test]
fn what_is_missing_and_what_is_no_json_is_said_beside_it() {
    let mut fields = drawn();
    let form = Fields::read(b"p/odd=%7B&p/address/zip=1");
    fields.iter_mut().for_each(|field| field.fill(&form));
    assert!(fields.iter_mut().map(Field::look).fold(false, |wrong, next| wrong | next));
    let mut wrong = Vec::new();
    fields.iter().for_each(|field| field.wrong(&mut wrong));
    let titles: Vec<&str> = wrong.iter().map(|(_, title)| title.as_str()).collect();
    assert_eq!(titles, ["Your name", "Size", "City", "Odd"], "in the form's order");
    let found = fields.iter_mut().find_map(|field| field.at("/address/zip/0")).unwrap();
    assert_eq!(found.pointer, "/address/zip");
    assert!(fields.iter_mut().find_map(|field| field.at("/addresses")).is_none());
}

#[test]
fn what_no_form_can_ask_for_is_asked_for_as_json() {
    let many: Vec<String> = (0..101).map(|n| format!(r#""n{n}":{{"type":"string"}}"#)).collect();
    let many = format!(r#"{{"properties":{{{}}}}}"#, many.join(","));
    let around = r##"{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/a"}}}"##;
    for schema in [None, Some("true"), Some(r#"{"type":"string"}"#), Some("{}"), Some(&many), Some(around)] {
        let fields = draw(schema, None);
        assert_eq!((fields.len(), kind(&fields[0]), &*fields[0].name()), (1, "json", "p"), "{schema:?}");
    }
    let deep = (0..6).fold(r#"{"type":"string"}"#.to_owned(), |inner, _| {
        format!(r#"{{"type":"object","properties":{{"in":{inner}}}}}"#)
    });
    let mut at = draw(Some(&deep), None);
    let mut groups = 0;
    while let Kind::Group(inner) = at[0].kind.clone() {
        (at, groups) = (inner, groups + 1);
    }
    assert_eq!((groups, kind(&at[0])), (3, "json"));
}

#[test]
fn a_schema_that_grows_without_end_is_drawn_with_an_end() {
    let tree = r##"{"$ref":"#/$defs/t","$defs":{"t":{"type":"object","properties":{
        "a":{"$ref":"#/$defs/t"},"b":{"$ref":"#/$defs/t"},"c":{"$ref":"#/$defs/t"},"d":{"$ref":"#/$defs/t"}}}}}"##;
    let fields = draw(Some(tree), None);
    assert!(fields.iter().map(|field| field.to_string().len()).sum::<usize>() < 100_000);
}

#[test]
fn only_the_fields_that_are_named_are_asked_for() {
    let only = ["size".to_owned(), "name".to_owned(), "none".to_owned()];
    let fields = draw(Some(SCHEMA), Some(&only));
    assert_eq!(fields.iter().map(|field| field.member.as_str()).collect::<Vec<_>>(), ["size", "name"]);
}

#[test]
fn whatever_a_schema_says_and_people_type_is_escaped() {
    let schema = r#"{"properties":{"<b>":{"title":"<script>\u202e","description":"<i>","examples":["\"x"],"type":"string","maxLength":9},
        "e":{"enum":["<u>","'\""]}}}"#;
    let mut fields = draw(Some(schema), None);
    let form = Fields::read(b"p/%3Cb%3E=%22%3E%3Cimg%3E&p/e=%22%3E%3Cimg%3E");
    fields.iter_mut().for_each(|field| field.fill(&form));
    fields[0].problems.push("<em>".to_owned());
    let html: String = fields.iter().map(ToString::to_string).collect();
    for tag in ["<b>", "<script", "<i>", "<u>", "<img", "<em>", "\"\"x"] {
        assert!(!html.contains(tag), "{tag}: {html}");
    }
}
