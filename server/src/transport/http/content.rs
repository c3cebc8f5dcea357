//! Content-Type, Content-Encoding and Accept (RFC 9110 sections 8.3, 8.4 and 12.5.1).

use hyper::{
    HeaderMap,
    header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE},
};

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";

/// Whether the body is said to be JSON in UTF-8, which is what JSON is in where nothing is said.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    value.to_str().is_ok_and(|value| media_type(value).eq_ignore_ascii_case(JSON) && is_utf8(value))
}

/// Whether no `charset` says anything else than UTF-8.
fn is_utf8(content_type: &str) -> bool {
    parameters(content_type)
        .filter(|(name, _)| name.eq_ignore_ascii_case("charset"))
        .all(|(_, value)| value.trim_matches('"').eq_ignore_ascii_case("utf-8"))
}

/// Whether the body stands as it is: none of the content codings is undone here.
pub(super) fn is_unencoded(headers: &HeaderMap) -> bool {
    headers.get_all(CONTENT_ENCODING).iter().all(|value| {
        value.to_str().is_ok_and(|codings| {
            codings.split(',').all(|coding| coding.trim_ascii().eq_ignore_ascii_case("identity"))
        })
    })
}

/// Whether the client takes a JSON reply.
pub(super) fn accepts_json(headers: &HeaderMap) -> bool {
    accepts(headers, JSON, "application/*")
}

/// Whether the client takes a stream of events.
pub(super) fn accepts_events(headers: &HeaderMap) -> bool {
    accepts(headers, EVENTS, "text/*")
}

/// The most specific range decides, and no header is any.
fn accepts(headers: &HeaderMap, wanted: &str, its_kind: &str) -> bool {
    let mut values = headers.get_all(ACCEPT).iter().peekable();
    if values.peek().is_none() {
        return true;
    }
    let mut verdict = (0, false);
    for range in values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')) {
        let specificity = match media_type(range) {
            name if name.eq_ignore_ascii_case(wanted) => 3,
            name if name.eq_ignore_ascii_case(its_kind) => 2,
            "*/*" => 1,
            _ => continue,
        };
        if specificity > verdict.0 {
            verdict = (specificity, !refused(range));
        }
    }
    verdict.1
}

fn media_type(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim_ascii()
}

/// Whether a range has the weight zero.
fn refused(range: &str) -> bool {
    parameters(range).any(|(name, value)| {
        name.eq_ignore_ascii_case("q") && value.parse::<f32>().is_ok_and(|weight| weight <= 0.0)
    })
}

fn parameters(value: &str) -> impl Iterator<Item = (&str, &str)> {
    value.split(';').skip(1).map(|parameter| {
        let (name, value) = parameter.split_once('=').unwrap_or_default();
        (name.trim_ascii(), value.trim_ascii())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(name: &hyper::header::HeaderName, lines: &[&str]) -> HeaderMap {
        lines.iter().map(|line| (name.clone(), line.parse().unwrap())).collect()
    }

    #[test]
    fn content_types() {
        for (lines, json) in [
            (&["application/json"][..], true),
            (&["application/json; charset=utf-8"], true),
            (&["Application/JSON"], true),
            (&["application/json ;charset=utf-8"], true),
            (&["application/json; charset=\"UTF-8\""], true),
            (&["application/json; charset=utf-8; charset=latin1"], false),
            (&["application/json; charset=utf-16"], false),
            (&["text/plain"], false),
            (&["application/json-patch+json"], false),
            (&["application/json", "text/plain"], false),
            (&[""], false),
            (&[], false),
        ] {
            assert_eq!(is_json(&headers(&CONTENT_TYPE, lines)), json, "{lines:?}");
        }
    }

    #[test]
    fn accepted_types() {
        for (lines, json) in [
            (&["application/json, text/event-stream"][..], true),
            (&["text/event-stream,application/json"], true),
            (&["text/event-stream", "application/json"], true),
            (&["application/json"], true),
            (&["*/*"], true),
            (&["application/*;q=0.5"], true),
            (&["APPLICATION/JSON"], true),
            (&[], true),
            (&["text/event-stream"], false),
            (&["text/html"], false),
            (&["application/json;q=0, */*"], false),
            (&["*/*, application/json; q=0.000"], false),
            (&["*/*;q=0, application/json"], true),
        ] {
            assert_eq!(accepts_json(&headers(&ACCEPT, lines)), json, "{lines:?}");
        }
    }
}
