//! Metrics as text: under which names they are registered, and the two formats in which they are scraped.

use std::fmt::{self, Write as _};

use prometheus_client::{
    encoding::text,
    registry::{Metric, Registry},
};

use super::process::ProcessCollector;

/// What every name begins with, those of the process apart.
const PREFIX: &str = "pressmark";

/// A format of the exposition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// Prometheus' text format 0.0.4, which every scraper reads.
    Text,
    /// OpenMetrics 1.0.
    OpenMetrics,
}

/// The registered metrics.
pub(super) struct Registries {
    current: Registry,
    /// The same metrics under the names that they had before there was a prefix; they go with the next minor version.
    deprecated: Registry,
    /// Figures of the process, under the names that every Prometheus client gives them.
    process: Registry,
}

// === impl Registries ===

impl Registries {
    pub(super) fn new() -> Self {
        let mut process = Registry::default();
        process.register_collector(Box::new(ProcessCollector));
        Self { current: Registry::with_prefix(PREFIX), deprecated: Registry::default(), process }
    }

    /// Registers a metric under its name with and without the prefix.
    pub(super) fn register(&mut self, name: &str, help: &str, metric: impl Metric + Clone) {
        self.deprecated.register(name, format!("Deprecated: see {PREFIX}_{name}"), metric.clone());
        self.register_prefixed(name, help, metric);
    }

    /// Registers a metric that has no older name.
    pub(super) fn register_prefixed(&mut self, name: &str, help: &str, metric: impl Metric) {
        self.current.register(name, help, metric);
    }

    pub(super) fn write(&self, format: Format) -> Result<String, fmt::Error> {
        let mut out = String::new();
        for registry in [&self.current, &self.process, &self.deprecated] {
            text::encode_registry(&mut out, registry)?;
        }
        match format {
            Format::OpenMetrics => text::encode_eof(&mut out)?,
            Format::Text => out = plain(&out)?,
        }
        Ok(out)
    }
}

/// OpenMetrics as the text format: there the name of a counter's family ends as that of its samples.
fn plain(open_metrics: &str) -> Result<String, fmt::Error> {
    let mut out = String::with_capacity(open_metrics.len() + open_metrics.len() / 16);
    let mut help = None;
    for line in open_metrics.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            help = rest.split_once(' ');
            continue;
        }
        let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' '))
        else {
            writeln!(out, "{line}")?;
            continue;
        };
        let suffix = if kind == "counter" { "_total" } else { "" };
        if let Some((_, help)) = help.take() {
            writeln!(out, "# HELP {name}{suffix} {help}")?;
        }
        writeln!(out, "# TYPE {name}{suffix} {kind}")?;
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use crate::metrics::Metrics;

    use super::*;

    /// The families of an exposition by name, with their kinds; each sample must belong to the family before it.
    fn families(text: &str, format: Format) -> BTreeMap<String, String> {
        let mut families = BTreeMap::new();
        let (mut samples, mut helped) = (BTreeSet::new(), None);
        let mut current: Option<(&str, &str)> = None;
        for line in text.lines() {
            if let Some(rest) = line.strip_prefix("# HELP ") {
                let (name, help) = rest.split_once(' ').unwrap();
                assert!(!help.is_empty(), "{line}");
                helped = Some(name);
            } else if let Some(rest) = line.strip_prefix("# TYPE ") {
                let (name, kind) = rest.split_once(' ').unwrap();
                assert_eq!(helped, Some(name), "{line}");
                assert!(["counter", "gauge", "histogram"].contains(&kind), "{line}");
                assert!(
                    families.insert(name.to_owned(), kind.to_owned()).is_none(),
                    "{line} again"
                );
                current = Some((name, kind));
            } else if line == "# EOF" {
                assert_eq!(format, Format::OpenMetrics);
            } else {
                let (series, value) = line.rsplit_once(' ').unwrap();
                let name = series.split('{').next().unwrap();
                let (family, kind) = current.unwrap();
                let suffixes: &[&str] = match (kind, format) {
                    ("counter", Format::OpenMetrics) => &["_total"],
                    ("histogram", _) => &["_bucket", "_sum", "_count"],
                    _ => &[""],
                };
                let is_of_family =
                    suffixes.iter().any(|suffix| name.strip_suffix(suffix) == Some(family));
                assert!(is_of_family, "{line} in {family}");
                assert!(value.parse::<f64>().is_ok(), "{line}");
                assert!(samples.insert(series.to_owned()), "{line} again");
            }
        }
        families
    }

    #[test]
    fn both_formats_are_well_formed_and_say_the_same() {
        let metrics = Metrics::new();
        metrics.sessions_refused.inc();
        let open_metrics = metrics.exposition(Format::OpenMetrics);
        assert!(open_metrics.ends_with("\n# EOF\n"));
        let text = metrics.exposition(Format::Text);
        assert!(!text.contains("# EOF") && text.ends_with('\n'));
        let of_open_metrics = families(&open_metrics, Format::OpenMetrics);
        let of_text = families(&text, Format::Text);
        assert_eq!(of_open_metrics.len(), of_text.len());
        for line in ["pressmark_mcp_sessions_refused_total 1", "mcp_sessions_refused_total 1"] {
            for exposition in [&text, &open_metrics] {
                assert!(exposition.lines().any(|found| found == line), "{line}");
            }
        }
        assert_eq!(of_text["pressmark_mcp_sessions_refused_total"], "counter");
    }

    #[test]
    fn every_name_has_the_prefix_or_is_the_older_one_of_such() {
        let text = Metrics::new().exposition(Format::Text);
        let families = families(&text, Format::Text);
        for name in families.keys() {
            let prefixed = format!("{PREFIX}_{name}");
            let is_right = name.starts_with("pressmark_") || name.starts_with("process_");
            assert!(is_right || families.contains_key(&prefixed), "{name}");
        }
        let build = format!("pressmark_build_info{{version=\"{}\",", env!("CARGO_PKG_VERSION"));
        assert!(
            text.lines().any(|line| line.starts_with(&build) && line.ends_with(" 1")),
            "{text}"
        );
    }

    #[test]
    fn the_process_is_described() {
        let text = Metrics::new().exposition(Format::Text);
        let value = |name: &str| -> f64 {
            let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.unwrap_or_else(|| panic!("{name} is not in {text}")).parse().unwrap()
        };
        assert!(value("process_resident_memory_bytes") > 1e5);
        assert!(value("process_virtual_memory_bytes") >= value("process_resident_memory_bytes"));
        assert!(value("process_open_fds") >= 1.0);
        assert!(value("process_max_fds") >= value("process_open_fds"));
        assert!(value("process_threads") >= 1.0);
        assert!(value("process_cpu_seconds_total") >= 0.0);
        // Later than 2020, and not in the future.
        let now = jiff::Timestamp::now().as_second() as f64;
        assert!((1.577e9..=now + 1.0).contains(&value("process_start_time_seconds")));
    }
}
