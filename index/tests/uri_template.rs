//! URI templates from outside: the public vectors of RFC 6570, and what hosts and people ask for.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "helpers of tests stand outside of test functions"
)]

use pressmark_index::resource::{Binding, Value};
use pressmark_index::uri_template::{TemplateMatcher, UriTemplate};
use serde_json::Value as Json;

fn text(name: &str, value: &str) -> Binding {
    Binding { name: name.to_owned(), value: Value::String(value.to_owned()) }
}

fn list(name: &str, values: &[&str]) -> Binding {
    Binding {
        name: name.to_owned(),
        value: Value::List(values.iter().map(|&v| v.to_owned()).collect()),
    }
}

fn map(name: &str, members: &[(&str, &str)]) -> Binding {
    let members = members.iter().map(|&(n, v)| (n.to_owned(), v.to_owned())).collect();
    Binding { name: name.to_owned(), value: Value::Map(members) }
}

fn matcher(template: &str) -> TemplateMatcher {
    UriTemplate::parse(template).unwrap().matcher().unwrap()
}

mod vectors {
    use super::*;

    fn bindings(variables: &Json) -> Vec<Binding> {
        let string = |json: &Json| json.as_str().unwrap().to_owned();
        let value = |json: &Json| match json {
            Json::Array(members) => Value::List(members.iter().map(string).collect()),
            Json::Object(map) => {
                let pairs = map["map"].as_array().unwrap();
                Value::Map(pairs.iter().map(|pair| (string(&pair[0]), string(&pair[1]))).collect())
            }
            other => Value::String(string(other)),
        };
        let variables = variables.as_object().unwrap();
        variables
            .iter()
            .map(|(name, json)| Binding { name: name.clone(), value: value(json) })
            .collect()
    }

    fn for_each_case(data: &str, count: usize, check: impl Fn(&str, &Json, &[Binding])) {
        let sections: Json = serde_json::from_str(data).unwrap();
        let mut seen = 0;
        for section in sections.as_array().unwrap() {
            let bindings = bindings(&section["variables"]);
            for case in section["cases"].as_array().unwrap() {
                check(case["template"].as_str().unwrap(), case, &bindings);
                seen += 1;
            }
        }
        assert_eq!(seen, count);
    }

    fn check_expansion(template: &str, case: &Json, bindings: &[Binding]) {
        let expansion = UriTemplate::parse(template).unwrap().expand(bindings).unwrap();
        let allowed = case["expansions"].as_array().unwrap();
        assert!(
            allowed.iter().any(|one| *one == *expansion),
            "{template}: {expansion}, not {allowed:?}"
        );
    }

    #[test]
    fn examples_of_the_rfc_expand() {
        for_each_case(include_str!("data/rfc6570/examples.json"), 181, check_expansion);
    }

    #[test]
    fn extended_examples_expand() {
        for_each_case(include_str!("data/rfc6570/extended.json"), 53, check_expansion);
    }

    #[test]
    fn wrong_templates_are_refused() {
        for_each_case(include_str!("data/rfc6570/refused.json"), 36, |template, case, bindings| {
            match case["refused"].as_str().unwrap() {
                "parsing" => assert!(UriTemplate::parse(template).is_err(), "{template}"),
                _ => assert!(
                    UriTemplate::parse(template).unwrap().expand(bindings).is_err(),
                    "{template}"
                ),
            }
        });
    }
}

#[test]
fn a_wrong_template_is_refused_with_position_and_reason() {
    let check = |template: &str, expected: &str| {
        let error = UriTemplate::parse(template).unwrap_err();
        assert_eq!(error.to_string(), format!("{template}: {expected}"));
    };
    check("docs://{", "at byte 7: the expression is not closed with `}`");
    check("docs://{}", "at byte 7: the expression is empty");
    check("docs://x}", "at byte 8: `}` without the `{` that opens an expression");
    check("docs://{a,b c}", "at byte 11: ` ` cannot follow the variable `b`");
}

#[test]
fn a_template_that_cannot_be_matched_is_refused_with_position_and_reason() {
    let check = |template: &str, position: usize, reason: &str| {
        let error = UriTemplate::parse(template).unwrap().matcher().unwrap_err();
        assert_eq!(error.position, position, "{error}");
        assert!(error.reason.contains(reason), "{error}");
        assert_eq!(error.template, template);
    };
    check("x://a/{b}{c}", 9, "nothing between them");
    check("x://a/{+b}{/c}", 10, "may hold `/` too");
    check("x://a/{b}{.c}", 9, "may hold `.` too");
    check("x://a{/b*}{/c}", 10, "may hold `/` too");
    check("x://a{?b}{?c}", 9, "write their variables into one");
    check("x://a/{b:3}", 6, "the prefix of `b` alone");
    check("x://a/{b}/{+b}", 6, "spell its value differently");
    check("x://a/{b}{?b*}", 6, "spell its value differently");
    check("x://a{?b,b}", 5, "twice in one expression");
    check("a/{b}", 0, "no scheme");
    check("x://a/../{b}", 0, "`.` or `..`");
    check("x://a/%E9/{b}", 0, "not UTF-8");
}

#[test]
fn uris_are_matched() {
    let check = |template: &str, uri: &str, expected: &[Binding]| {
        let matcher = matcher(template);
        assert_eq!(matcher.match_uri(uri).as_deref(), Some(expected), "{template} {uri}");
        assert_eq!(matcher.expand_canonical(expected).as_deref(), Ok(uri), "{template} {uri}");
    };
    check("acme://products{?page,limit}", "acme://products", &[]);
    check("acme://products{?page,limit}", "acme://products?limit=10", &[text("limit", "10")]);
    check("data://config{?format}", "data://config", &[]);
    check("files://name/search?={search}", "files://name/search?=abc", &[text("search", "abc")]);
    check("file:///{path}", "file:///My%20File.txt", &[text("path", "My File.txt")]);
    check("file:///{path}", "file:///x%2520y", &[text("path", "x%20y")]);
    check("data://{path}/info", "data://hello%2Fworld/info", &[text("path", "hello/world")]);
    check("d://a/{+p}", "d://a/b%2Fc/d%20e", &[text("p", "b%2Fc/d%20e")]);
    check("d://a{/p*}", "d://a/b/c%2Fd/", &[list("p", &["b", "c/d", ""])]);
    check("d://a{/p*}", "d://a/b=c/d=", &[map("p", &[("b", "c"), ("d", "")])]);
    check("d://a{/p,q}/edit", "d://a/edit", &[]);
    check("d://a{/p,q}/edit", "d://a/edit/edit", &[text("p", "edit")]);
    check("d://a{/p,q}/edit", "d://a/b/c/edit", &[text("p", "b"), text("q", "c")]);
    check("d://a{;p,q*}", "d://a;p=1;x=2;y", &[text("p", "1"), map("q", &[("x", "2"), ("y", "")])]);
    check("d://a{?p,q*}", "d://a?p=1&q=2&q=", &[text("p", "1"), list("q", &["2", ""])]);
    check("d://a?fixed=1{&p}", "d://a?fixed=1&p=", &[text("p", "")]);
    check("d://a{?p}{&q}", "d://a&q=1", &[text("q", "1")]);
    check("d://a/f{.ext}", "d://a/f.tar.gz", &[text("ext", "tar.gz")]);
    check("d://a/f{.parts*}", "d://a/f.tar.gz", &[list("parts", &["tar", "gz"])]);
    check("d://a/{x,y}", "d://a/1,2", &[text("x", "1"), text("y", "2")]);
    check("d://a/{x*}", "d://a/1,,3", &[list("x", &["1", "", "3"])]);
    check("d://a{#f}", "d://a#x?y/z", &[text("f", "x?y/z")]);
    check("d://a{#f}", "d://a#", &[text("f", "")]);
    check(
        "d://a/{+p}{?v}{#f}",
        "d://a/b/c?v=1#z",
        &[text("p", "b/c"), text("v", "1"), text("f", "z")],
    );
    check("d://a/{x}.{y}", "d://a/1.2.3", &[text("x", "1.2"), text("y", "3")]);
    check("d://a/{x}F{y}", "d://a/1Fb%2Fc", &[text("x", "1"), text("y", "b/c")]);
    check("d://a/{v:2}/{v}", "d://a/%C3%A9%C3%A0/%C3%A9%C3%A0x", &[text("v", "éàx")]);
    check("d://{x}/{x}", "d://1/1", &[text("x", "1")]);
    check("{+base}/index", "d://a/b/index", &[text("base", "d://a/b")]);
    check("docs://café/{n}", "docs://caf%C3%A9/1", &[text("n", "1")]);
    check("docs://a b/{n}", "docs://a%20b/1", &[text("n", "1")]);
    check("Docs://Host/A/{n}", "docs://host/A/1", &[text("n", "1")]);
    check("file://localhost/{n}", "file:///1", &[text("n", "1")]);
}

#[test]
fn query_variables_match_in_any_order_and_are_stored_in_one() {
    let matcher = matcher("acme://products{?page,limit}");
    let bindings = matcher.match_uri("acme://products?limit=10&page=2").unwrap();
    assert_eq!(bindings, [text("page", "2"), text("limit", "10")]);
    assert_eq!(matcher.expand_canonical(&bindings).unwrap(), "acme://products?page=2&limit=10");
}

#[test]
fn other_uris_are_not_matched() {
    let check = |template: &str, uri: &str| {
        assert_eq!(matcher(template).match_uri(uri), None, "{template} {uri}");
    };
    check("d://a/{x}", "d://a/b/c");
    check("d://a/{x}", "d://a/b%");
    check("d://a/{x}", "d://a/b?q=1");
    check("d://a/{x}", "d://ab");
    check("d://a/{x}", "d://a/b,c");
    check("d://a/{x}", "d://a/..%2F..%2Fetc%2Fpasswd");
    check("d://a/{+x}", "d://a/b/..%2Fc");
    check("d://a{?p}", "d://a?q=1");
    check("d://a{?p}", "d://a?p=1&p=2");
    check("d://a{?p}", "d://a?");
    check("d://a{?p}", "d://a?p=1=2");
    check("d://a/{x*}", "d://a/k=1,2");
    check("d://{x}/{x}", "d://1/2");
    check("d://a/{v:2}/{v}", "d://a/ab/xyz");
    check("d://a{/p,q}", "d://a/1/2/3");
}

#[test]
fn values_that_cannot_be_found_again_are_refused() {
    let check = |template: &str, bindings: &[Binding], reason: &str| {
        let error = matcher(template).expand_canonical(bindings).unwrap_err().to_string();
        assert!(error.contains(reason), "{error}");
    };
    check("d://a/{x}", &[list("x", &["1", "2"])], "cannot be found again");
    check("d://a/{x}", &[text("x", "..")], "`.` or `..`");
    check("d://a/{x}", &[text("x", "../etc")], "`.` or `..`");
    check("d://a/{+x}", &[text("x", "b/%2e%2E/c")], "`.` or `..`");
    check("d://a/{+p}{?q}", &[text("p", "b?c")], "cannot be found again");
    check("d://a/{.x,y}", &[text("x", "b.c"), text("y", "d")], "cannot be found again");
    check("d://a/{v:2}/{v}", &[list("v", &["a"])], "prefix of `v`");
}

#[test]
fn prefixes_and_root_folders_are_normalised_literals() {
    let check = |template: &str, prefix: &str, root: Option<&str>| {
        let matcher = matcher(template);
        assert_eq!(matcher.literal_prefix(), prefix);
        assert_eq!(matcher.root_folder(), root, "{template}");
    };
    check("handbook://docs/{+path}", "handbook://docs/", Some("handbook://docs/"));
    check("Handbook://Docs/a b/x-{n}", "handbook://docs/a%20b/x-", Some("handbook://docs/a%20b/"));
    check("pypi://packages{/name}", "pypi://packages", None);
    check("file:///{+path}", "file:///", None);
    check("x://a/b?c=/{d}", "x://a/b?c=/", Some("x://a/"));
    check("{+uri}", "", None);
}

#[test]
fn variables_are_listed_in_the_order_of_the_template() {
    let template = UriTemplate::parse("d://{a}{/b*}/{c:3}{?d,a}").unwrap();
    let names: Vec<_> = template.variables().map(|spec| spec.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "a"]);
}
