use pressmark_proto::v1::ingest_service_server::SERVICE_NAME as INGEST;
use tonic_health::pb::HealthCheckRequest;
use tonic_health::pb::health_check_response::ServingStatus;
use tonic_health::pb::health_client::HealthClient;
use tonic_reflection::pb::v1::ServerReflectionRequest;
use tonic_reflection::pb::v1::server_reflection_client::ServerReflectionClient;
use tonic_reflection::pb::v1::server_reflection_request::MessageRequest;
use tonic_reflection::pb::v1::server_reflection_response::MessageResponse;

use super::Plane;

#[tokio::test]
async fn health_is_told_for_the_plane_and_for_ingesting() {
    let plane = Plane::start().await;
    let mut client = HealthClient::new(plane.channel.clone());
    let request = HealthCheckRequest { service: String::new() };
    let answer = client.check(request).await.unwrap().into_inner();
    assert_eq!(answer.status(), ServingStatus::Serving);
    let mut ingest =
        client.watch(HealthCheckRequest { service: INGEST.into() }).await.unwrap().into_inner();
    while ingest.message().await.unwrap().unwrap().status() != ServingStatus::Serving {}
}

#[tokio::test]
async fn reflection_names_every_service() {
    let plane = Plane::start().await;
    let mut client = ServerReflectionClient::new(plane.channel.clone());
    let request = ServerReflectionRequest {
        host: String::new(),
        message_request: Some(MessageRequest::ListServices(String::new())),
    };
    let mut stream =
        client.server_reflection_info(tokio_stream::iter([request])).await.unwrap().into_inner();
    let answer = stream.message().await.unwrap().unwrap().message_response.unwrap();
    let MessageResponse::ListServicesResponse(list) = answer else { unreachable!() };
    let names: Vec<_> = list.service.into_iter().map(|service| service.name).collect();
    for service in ["Changes", "Ingest", "Operations", "Reading", "Resources", "Spaces"] {
        let name = format!("pressmark.admin.v1.{service}Service");
        assert!(names.contains(&name), "{name}: {names:?}");
    }
    assert!(names.contains(&"grpc.health.v1.Health".to_owned()), "{names:?}");
}
