//! What holds of every template and every value.

#![allow(clippy::unwrap_used, reason = "helpers of tests stand outside of test functions")]

use pressmark_index::resource::{Binding, Value};
use pressmark_index::resource_uri::normalise_strict;
use pressmark_index::uri_template::{TemplateMatcher, UriTemplate};
use proptest::prelude::*;

fn matcher(template: &str) -> TemplateMatcher {
    UriTemplate::parse(template).unwrap().matcher().unwrap()
}

/// Any text, often with what has a meaning in URIs.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        ".{0,6}",
        "([a-zA-Z0-9 %/.,;?&#=+:@!*\\[\\]é日]|%2F|%41|%e9|\\.\\.){0,8}",
        Just(String::new()),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        3 => text().prop_map(Value::String),
        1 => prop::collection::vec(text(), 0..4).prop_map(Value::List),
        1 => prop::collection::vec((text(), text()), 0..4).prop_map(Value::Map),
    ]
}

/// Values of the variables `a` to `f`, some of them undefined.
fn bindings() -> impl Strategy<Value = Vec<Binding>> {
    prop::collection::vec(prop::option::of(value()), 6).prop_map(|values| {
        let names = ["a", "b", "c", "d", "e", "f"];
        let defined = names.iter().zip(values).filter_map(|(name, value)| Some((name, value?)));
        defined.map(|(name, value)| Binding { name: (*name).to_owned(), value }).collect()
    })
}

/// Templates of all operators and modifiers, malformed ones never.
fn template() -> impl Strategy<Value = String> {
    let spec =
        ("[a-f]", prop::sample::select(vec!["", "", "", "*", ":2"])).prop_map(|(n, m)| n + m);
    let operator = prop::sample::select(vec!["", "+", "#", ".", "/", ";", "?", "&"]);
    let expression = (operator, prop::collection::vec(spec, 1..4))
        .prop_map(|(operator, specs)| format!("{{{operator}{}}}", specs.join(",")));
    let literal =
        prop::sample::select(vec!["/", "x", "/café ", "-", ".", "?k=", "&k=1", "%2F", "#"]);
    let component = prop_oneof![expression, literal.prop_map(str::to_owned)];
    let begin = prop::sample::select(vec!["d://a/", "D://A", "d:", "file:///", ""]);
    (begin, prop::collection::vec(component, 0..6))
        .prop_map(|(begin, rest)| begin.to_owned() + &rest.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_canonical_expansion_is_matched_and_expands_to_itself(template in template(), bindings in bindings()) {
        let Ok(matcher) = UriTemplate::parse(&template).unwrap().matcher() else { return Ok(()) };
        let Ok(uri) = matcher.expand_canonical(&bindings) else { return Ok(()) };
        let found = matcher.match_uri(&uri);
        prop_assert!(found.is_some(), "{} {}", template, uri);
        let again = matcher.expand_canonical(&found.unwrap_or_default());
        prop_assert_eq!(again, Ok(uri));
    }

    #[test]
    fn what_is_matched_expands_to_what_binds_the_same(
        template in template(),
        rest in "([abk12=/.,;?&#-]|caf%C3%A9%20|%2F|%C3%A9){0,12}",
    ) {
        let Ok(matcher) = UriTemplate::parse(&template).unwrap().matcher() else { return Ok(()) };
        let Ok(uri) = normalise_strict(&format!("{}{rest}", matcher.literal_prefix())) else { return Ok(()) };
        let Some(found) = matcher.match_uri(&uri) else { return Ok(()) };
        if let Ok(canonical) = matcher.expand_canonical(&found) {
            prop_assert_eq!(matcher.match_uri(&canonical), Some(found), "{} {} {}", template, uri, canonical);
        }
    }

    #[test]
    fn every_text_comes_back_where_operators_keep_it_apart(
        values in prop::collection::vec(text(), 8),
        members in prop::collection::vec(text(), 2..4),
    ) {
        let template = "d://h/-{a}-/-{b,c}/-{/d}/-{/m*}/-{;e,f}/-{?g,h,m*}";
        let mut bindings: Vec<Binding> = ["a", "b", "c", "d", "e", "f", "g", "h"]
            .iter()
            .zip(&values)
            .map(|(name, value)| Binding { name: (*name).to_owned(), value: Value::String(value.clone()) })
            .collect();
        // An empty text alone in a simple expression is an undefined variable; those of pairs keep their comma.
        bindings.retain(|binding| binding.name != "a" || binding.value != Value::String(String::new()));
        bindings.insert(bindings.len() - 4, Binding { name: "m".to_owned(), value: Value::List(members.clone()) });
        let matcher = matcher(template);
        match matcher.expand_canonical(&bindings) {
            Ok(uri) => {
                let mut found = matcher.match_uri(&uri).unwrap_or_default();
                found.sort_by(|one, other| one.name.cmp(&other.name));
                bindings.sort_by(|one, other| one.name.cmp(&other.name));
                prop_assert_eq!(found, bindings, "{}", uri);
            }
            Err(error) => {
                let dots = |text: &String| text.split('/').any(|segment| segment == "." || segment == "..");
                let reason = error.to_string();
                prop_assert!(reason.contains("`.` or `..`"), "{}", reason);
                prop_assert!(values.iter().chain(&members).any(dots), "{}", reason);
            }
        }
    }

    #[test]
    fn parsing_never_panics_and_keeps_the_text(text in "[a-c{}+#./;?&*:,=%0-9|é \\PC]{0,24}") {
        match UriTemplate::parse(&text) {
            Ok(template) => prop_assert_eq!(template.as_str(), text),
            Err(error) => prop_assert!(error.position <= text.len() && !error.reason.is_empty()),
        }
    }

    /// Restricted to where `uritemplate-next` conforms: prefixes of ASCII only, names and keys of unreserved
    /// characters, no empty members, no triplets in literals or URI-spelled values.
    #[test]
    fn expansion_agrees_with_another_implementation(
        template in template(),
        strings in prop::collection::vec(prop::option::of("[a-zA-Z0-9 /.,;?&#=+:@!*~-]{0,8}"), 3),
        list in prop::collection::vec("[a-c /=,é]{1,4}", 0..4),
        members in prop::collection::vec(("[a-c]{1,3}", "[a-c /=,é]{1,4}"), 0..4),
    ) {
        let template = [("%2F", "x"), ("é", "e"), ("d:2", "d"), ("e:2", "e")]
            .iter()
            .fold(template, |template, (from, to)| template.replace(from, to));
        let mut other = uritemplate::UriTemplate::new(&template);
        let mut bindings = Vec::new();
        for (name, value) in ["a", "b", "c"].iter().zip(&strings) {
            if let Some(value) = value {
                other.set(name, value.as_str());
                bindings.push(Binding { name: (*name).to_owned(), value: Value::String(value.clone()) });
            }
        }
        other.set("d", list.clone());
        other.set("e", members.clone());
        bindings.push(Binding { name: "d".to_owned(), value: Value::List(list) });
        bindings.push(Binding { name: "e".to_owned(), value: Value::Map(members) });
        let expansion = UriTemplate::parse(&template).unwrap().expand(&bindings);
        prop_assert_eq!(expansion, Ok(other.build()), "{}", template);
    }
}
