//! The standard health service. The plane serves as long as it answers; ingesting does not while writes are refused.

use std::time::Duration;

use pressmark_proto::v1::ingest_service_server::SERVICE_NAME as INGEST;
use tonic_health::ServingStatus;
use tonic_health::pb::health_server::{Health, HealthServer};

use super::Plane;

/// How often it is looked whether writes are taken.
const LOOK_INTERVAL: Duration = Duration::from_secs(1);

pub(super) fn service(plane: &Plane) -> HealthServer<impl Health> {
    let (reporter, service) = tonic_health::server::health_reporter();
    let (engine, shutdown) = (plane.engine.clone(), plane.shutdown.clone());
    plane.shutdown.tasks().spawn(async move {
        let mut ticks = tokio::time::interval(LOOK_INTERVAL);
        loop {
            tokio::select! {
                _ = ticks.tick() => {}
                () = shutdown.begun() => break,
            }
            let status = match engine.health().writable {
                true => ServingStatus::Serving,
                false => ServingStatus::NotServing,
            };
            reporter.set_service_status(INGEST, status).await;
        }
        for service in ["", INGEST] {
            reporter.set_service_status(service, ServingStatus::NotServing).await;
        }
    });
    service
}
