//! The registry and its subscribers without a transport.

use std::{sync::Arc, time::Duration};

use pressmark_index::{
    engine::{Engine, EngineOptions},
    writer::Durability,
};

use super::{Subscriptions, SubscriptionsConfig};
use crate::metrics::Metrics;

/// Subscriptions to an empty store that is forgotten with the test's process.
pub(crate) fn subscriptions(metrics: &Arc<Metrics>) -> Arc<Subscriptions> {
    let dir = tempfile::tempdir().unwrap();
    let options = EngineOptions {
        block_cache_bytes: 1 << 20,
        hot_cache_bytes: 0,
        durability: Durability::Sync,
        change_log_retention: Duration::from_secs(3600),
        owner: "a test".to_owned(),
    };
    let engine = Arc::new(Engine::open(dir.path(), &options).unwrap());
    let config = SubscriptionsConfig { streams_max: 64, keep_alive: Duration::from_secs(25) };
    Arc::new(Subscriptions::new(engine, config, Arc::clone(metrics)))
}
