//! What the schema promises, and what is taken besides.

use super::*;

fn colour(text: &str) -> Result<Option<String>, String> {
    match text.trim() {
        "any" => Ok(None),
        "red" => Ok(Some("red".to_owned())),
        other => Err(format!("`colour` is `{other}`")),
    }
}

const TABLE: [Argument; 6] = [
    Argument {
        name: "query",
        kind: Kind::Required { what: "what to find", empty: Empty::Value },
        description: "Q",
    },
    Argument { name: "space", kind: Kind::Text, description: "S \"quoted\"" },
    Argument {
        name: "limit",
        kind: Kind::Integer { least: 1, most: 50, default: 10 },
        description: "L",
    },
    Argument { name: "sort", kind: Kind::Choice(&["relevance", "recent"]), description: "O" },
    Argument { name: "variables", kind: Kind::Texts, description: "V" },
    Argument { name: "colour", kind: Kind::Checked(colour), description: "C" },
];

const QUERY: usize = 0;
const SPACE: usize = 1;
const LIMIT: usize = 2;
const SORT: usize = 3;
const VARIABLES: usize = 4;
const COLOUR: usize = 5;

/// The checks of a `Checked` argument are no matter of the schema.
#[test]
fn all_that_the_schema_takes_is_decoded() {
    let schema: serde_json::Value = serde_json::from_str(&schema(&TABLE)).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let values = [
        "null",
        "true",
        "\"\"",
        "\"recent\"",
        "\"x\"",
        "0",
        "1",
        "50",
        "51",
        "50.0",
        "5.5",
        "-1",
        "1e1",
        "5E0",
        "10E-1",
        "0.5e1",
        "0.05e1",
        "1e-1",
        "1.50e+1",
        "[]",
        "{}",
        "{\"a\":\"b\"}",
        "{\"a\":1}",
        "{\"a\":null}",
    ];
    let names = TABLE.iter().map(|argument| argument.name).filter(|name| *name != "colour");
    let mut accepted = 0;
    for name in names {
        for value in values {
            for query in [r#""query":"q","#, ""] {
                let text = format!("{{{query}\"{name}\":{value}}}");
                if name == "query" && !query.is_empty() {
                    continue;
                }
                let instance: serde_json::Value = serde_json::from_str(&text).unwrap();
                if validator.is_valid(&instance) {
                    let decoded = decode("search", &TABLE, &text);
                    assert!(decoded.is_ok(), "{text} {decoded:?}");
                    accepted += 1;
                }
            }
        }
    }
    assert!(accepted > 10, "{accepted}");
}

/// Some providers of models refuse a schema in which a type is a list.
#[test]
fn each_argument_has_one_type() {
    let schema: serde_json::Value = serde_json::from_str(&schema(&TABLE)).unwrap();
    for (name, argument) in schema["properties"].as_object().unwrap() {
        assert!(argument["type"].is_string(), "{name}: {argument}");
    }
    assert!(!schema.to_string().contains("anyOf"));
}

#[test]
fn arguments_are_taken_as_models_and_adapters_write_them() {
    let text = |text: &str| Value::Text(text.to_owned());
    let pair = |value: &str| Value::Texts(vec![("a".to_owned(), value.to_owned())]);
    for (at, value, expected) in [
        // Not set.
        (SPACE, "null", Value::Absent),
        (SPACE, "\"\"", Value::Absent),
        (SPACE, "\" \"", Value::Absent),
        (LIMIT, "null", Value::Absent),
        (LIMIT, "\"\"", Value::Absent),
        (SORT, "null", Value::Absent),
        (SORT, "\"\"", Value::Absent),
        (VARIABLES, "null", Value::Absent),
        (VARIABLES, "\"\"", Value::Absent),
        (VARIABLES, "\"null\"", Value::Texts(Vec::new())),
        (VARIABLES, "{}", Value::Texts(Vec::new())),
        (VARIABLES, r#"{"a":null}"#, Value::Texts(Vec::new())),
        (VARIABLES, r#"{"a":""}"#, Value::Texts(Vec::new())),
        (COLOUR, "null", Value::Absent),
        (COLOUR, "\"\"", Value::Absent),
        (COLOUR, "\"any\"", Value::Absent),
        // Written in another type, with a clear meaning.
        (SPACE, "7", text("7")),
        (LIMIT, "\"5\"", Value::Integer(5)),
        (LIMIT, "\" 5.0 \"", Value::Integer(5)),
        (SORT, "\"Recent\"", text("recent")),
        (VARIABLES, r#""{\"a\": \"b\"}""#, pair("b")),
        (VARIABLES, r#""{}""#, Value::Texts(Vec::new())),
        (VARIABLES, r#"{"a":2025}"#, pair("2025")),
        (VARIABLES, r#"{"a":true}"#, pair("true")),
        (COLOUR, "\" red \"", text("red")),
    ] {
        let name = TABLE[at].name;
        let arguments = format!("{{\"query\":\"q\",\"{name}\":{value}}}");
        let decoded = decode("search", &TABLE, &arguments).unwrap();
        assert_eq!(decoded[at], expected, "{arguments}");
    }
    for (query, expected) in [("404", "404"), ("\"\"", ""), ("\" x\"", " x")] {
        let decoded = decode("search", &TABLE, &format!("{{\"query\":{query}}}")).unwrap();
        assert_eq!(decoded[QUERY], text(expected), "{query}");
    }
    let unknown = decode("search", &TABLE, r#"{"query":"q","config":null}"#);
    assert!(unknown.is_ok(), "{unknown:?}");
}

#[test]
fn an_integer_is_one_in_every_spelling() {
    for number in ["50", "50.0", "50.000", "5e1", "5E+1", "500e-1", "0.5e2", "0.0005E5"] {
        assert_eq!(integer(number), Some(50), "{number}");
    }
    for number in ["0", "0.0", "0e9", "-0"] {
        assert!(integer(number).is_none_or(|number| number == 0), "{number}");
    }
    assert_eq!(integer("18446744073709551615"), Some(u64::MAX));
    for number in [
        "18446744073709551616",
        "1e20",
        "1e400",
        "1e99999999999",
        "-5",
        "0.5",
        "5e-1",
        "ten",
        "5 0",
        "１",
        "5_0",
        "+5",
        ".5e1x",
    ] {
        assert_eq!(integer(number), None, "{number}");
    }
}

#[test]
fn faults_tell_the_way_out() {
    for (arguments, fault) in [
        ("{}", "`query` is required: a string, what to find"),
        (r#"{"query":null}"#, "`query` is required: a string, what to find"),
        (r#"{"query":["q"]}"#, "`query` is required: a string, what to find"),
        (
            r#"{"query":"q","query":"r"}"#,
            "`arguments` must be an object with at most 1024 members, each given once",
        ),
        (r#"{"query":"q","space":[]}"#, "`space` must be a string"),
        (r#"{"query":"q","limit":51}"#, "`limit` must be an integer from 1 to 50"),
        (r#"{"query":"q","limit":"51"}"#, "`limit` must be an integer from 1 to 50"),
        (r#"{"query":"q","limit":"ten"}"#, "`limit` must be an integer from 1 to 50"),
        (r#"{"query":"q","sort":"date"}"#, "`sort` must be `relevance` or `recent`"),
        (r#"{"query":"q","colour":"blue"}"#, "`colour` is `blue`"),
        (
            r#"{"query":"q","variables":{"a":[]}}"#,
            "`variables` must be an object whose members are strings, such as {\"name\": \"value\"}",
        ),
        (
            r#"{"query":"q","variables":"a=b"}"#,
            "`variables` must be an object whose members are strings, such as {\"name\": \"value\"}",
        ),
        (
            r#"{"query":"q","top":1}"#,
            "unknown argument `top`: `search` takes `query`, `space`, `limit`, `sort`, `variables` and `colour`",
        ),
    ] {
        assert_eq!(decode("search", &TABLE, arguments), Err(fault.to_owned()), "{arguments}");
    }
}

#[test]
fn arguments_with_very_many_members_are_refused() {
    let many: Vec<String> = (0..250_000).map(|at| format!("\"v{at}\":null")).collect();
    let many = format!("{{{}}}", many.join(","));
    let fault = "`arguments` must be an object with at most 1024 members, each given once";
    assert_eq!(decode("search", &TABLE, &many), Err(fault.to_owned()));
    let within = format!("{{\"query\":\"q\",\"variables\":{many}}}");
    assert!(decode("search", &TABLE, &within).is_err());
}
