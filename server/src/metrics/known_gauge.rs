//! A gauge that is left out while its value is not known or not to be shown.

use std::fmt::Error;
use std::sync::Arc;

use parking_lot::Mutex;
use prometheus_client::{
    encoding::{EncodeMetric, MetricEncoder},
    metrics::MetricType,
};

/// Clones are the same gauge.
#[derive(Debug, Clone, Default)]
pub(super) struct KnownGauge(Arc<Mutex<Option<u64>>>);

// === impl KnownGauge ===

impl KnownGauge {
    pub(super) fn set(&self, value: Option<u64>) {
        *self.0.lock() = value;
    }
}

impl EncodeMetric for KnownGauge {
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> Result<(), Error> {
        match *self.0.lock() {
            Some(value) => encoder.encode_gauge(&i64::try_from(value).unwrap_or(i64::MAX)),
            None => Ok(()),
        }
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Gauge
    }

    fn is_empty(&self) -> bool {
        self.0.lock().is_none()
    }
}
