//! Content-Type, Content-Encoding and Accept (RFC 9110 sections 8.3, 8.4 and 12.5.1).

use hyper::{
    HeaderMap,
    header::{ACCEPT, CONTENT_ENCODING, CONTENT_TYPE},
};

use crate::metrics::Format;

const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
const TEXT: &str = "text/plain";
const OPEN_METRICS: &str = "application/openmetrics-text";

/// How specific a range is that names the type.
const EXACTLY: u8 = 3;

/// Whether the body is said to be JSON in UTF-8, which is what JSON is in where nothing is said.
pub(super) fn is_json(headers: &HeaderMap) -> bool {
    let mut values = headers.get_all(CONTENT_TYPE).iter();
    let (Some(value), None) = (values.next(), values.next()) else {
        return false;
    };
    value.to_str().is_ok_and(|value| {
        value == JSON || media_type(value).eq_ignore_ascii_case(JSON) && is_utf8(value)
    })
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

/// What the client takes for an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Accepted {
    /// A JSON reply.
    pub(super) json: bool,
    /// A stream of events.
    pub(super) events: bool,
}

/// The two spellings of most clients, which cost no parsing.
const BOTH: [&str; 2] =
    ["application/json, text/event-stream", "text/event-stream, application/json"];

/// Reads Accept. The most specific range decides, and no header is any.
pub(super) fn accepted(headers: &HeaderMap) -> Accepted {
    let mut values = headers.get_all(ACCEPT).iter();
    let (first, more) = (values.next(), values.next().is_some());
    match first {
        None => Accepted { json: true, events: true },
        Some(first) if !more && BOTH.iter().any(|both| first == both) => {
            Accepted { json: true, events: true }
        }
        Some(_) => Accepted {
            json: accepts(headers, JSON, "application/*"),
            events: accepts(headers, EVENTS, "text/*"),
        },
    }
}

/// The format of the metrics that a scraper prefers. OpenMetrics is for those that name it: a person's tool that takes
/// anything reads plain text.
pub(super) fn metrics_format(headers: &HeaderMap) -> Format {
    let (named, open_metrics) = preference(headers, OPEN_METRICS, "application/*");
    let (_, text) = preference(headers, TEXT, "text/*");
    if named == EXACTLY && open_metrics > 0.0 && open_metrics >= text {
        Format::OpenMetrics
    } else {
        Format::Text
    }
}

fn accepts(headers: &HeaderMap, wanted: &str, its_kind: &str) -> bool {
    preference(headers, wanted, its_kind).1 > 0.0
}

/// How specific the range is that decides about a type, and its weight.
fn preference(headers: &HeaderMap, wanted: &str, its_kind: &str) -> (u8, f32) {
    let values = headers.get_all(ACCEPT).iter();
    let mut verdict = (0, 0.0);
    for range in values.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(',')) {
        let specificity = match media_type(range) {
            name if name.eq_ignore_ascii_case(wanted) => EXACTLY,
            name if name.eq_ignore_ascii_case(its_kind) => 2,
            "*/*" => 1,
            _ => continue,
        };
        if specificity > verdict.0 {
            verdict = (specificity, weight(range));
        }
    }
    verdict
}

fn media_type(value: &str) -> &str {
    value.split(';').next().unwrap_or_default().trim_ascii()
}

/// The weight of a range; one that cannot be read is as good as none.
fn weight(range: &str) -> f32 {
    let weight = parameters(range).find(|(name, _)| name.eq_ignore_ascii_case("q"));
    weight.and_then(|(_, value)| value.parse().ok()).unwrap_or(1.0)
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
    fn formats_of_metrics() {
        let of_prometheus = "application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,\
             application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;q=0.4,\
             text/plain;version=0.0.4;q=0.3,*/*;q=0.2";
        for (lines, format) in [
            (&["text/plain"][..], Format::Text),
            (&["text/plain;version=0.0.4;q=1,*/*;q=0.1"], Format::Text),
            (&["*/*"], Format::Text),
            (&["application/*"], Format::Text),
            (&[], Format::Text),
            (&[of_prometheus], Format::OpenMetrics),
            (&["application/openmetrics-text"], Format::OpenMetrics),
            (&["text/plain;q=0.5", "application/openmetrics-text"], Format::OpenMetrics),
            (&["text/plain, application/openmetrics-text;q=0.5"], Format::Text),
            (&["application/openmetrics-text;q=0"], Format::Text),
        ] {
            assert_eq!(metrics_format(&headers(&ACCEPT, lines)), format, "{lines:?}");
        }
    }

    #[test]
    fn accepted_types() {
        for (lines, json, events) in [
            (&["application/json, text/event-stream"][..], true, true),
            (&["text/event-stream, application/json"], true, true),
            (&["text/event-stream,application/json"], true, true),
            (&["text/event-stream", "application/json"], true, true),
            (&["application/json, text/event-stream", "application/json;q=0"], true, true),
            (&["application/json, text/event-stream;q=0"], true, false),
            (&["application/json"], true, false),
            (&["*/*"], true, true),
            (&["application/*;q=0.5"], true, false),
            (&["APPLICATION/JSON"], true, false),
            (&[], true, true),
            (&["text/event-stream"], false, true),
            (&["text/html"], false, false),
            (&["application/json;q=0, */*"], false, true),
            (&["*/*, application/json; q=0.000"], false, true),
            (&["*/*;q=0, application/json"], true, false),
        ] {
            let expected = Accepted { json, events };
            assert_eq!(accepted(&headers(&ACCEPT, lines)), expected, "{lines:?}");
        }
    }
}
