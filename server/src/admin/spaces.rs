//! `SpacesService`.

use pressmark_index::catalog::Space;
use pressmark_proto::v1;
use pressmark_proto::v1::spaces_service_server::SpacesService;
use tonic::{Request, Response, Status, async_trait};

use super::{Plane, convert, status};

#[async_trait]
impl SpacesService for Plane {
    async fn put_space(
        &self,
        request: Request<v1::PutSpaceRequest>,
    ) -> Result<Response<v1::PutSpaceResponse>, Status> {
        let space = request.into_inner().space;
        let space = space.ok_or_else(|| Status::invalid_argument("space: it is missing"))?;
        let settings = convert::settings(space)?;
        let settings = self
            .with_engine(move |engine| engine.put_space(settings.clone()).map(|_| settings))
            .await?;
        Ok(Response::new(v1::PutSpaceResponse { space: Some(convert::space(&settings)) }))
    }

    async fn get_space(
        &self,
        request: Request<v1::GetSpaceRequest>,
    ) -> Result<Response<v1::GetSpaceResponse>, Status> {
        let name = request.into_inner().name;
        let spaces = self.engine.spaces();
        let space = spaces.named(&name).map_err(|error| status::of(&error))?;
        Ok(Response::new(v1::GetSpaceResponse {
            space: Some(convert::space(&space.settings)),
            resource_count: space.resource_count(),
        }))
    }

    async fn list_spaces(
        &self,
        _request: Request<v1::ListSpacesRequest>,
    ) -> Result<Response<v1::ListSpacesResponse>, Status> {
        let spaces = self.engine.spaces();
        let entry = |space: &Space| v1::SpaceEntry {
            space: Some(convert::space(&space.settings)),
            resource_count: space.resource_count(),
        };
        let mut spaces: Vec<_> = spaces.spaces.iter().collect();
        spaces.sort_by_key(|space| space.id);
        let spaces = spaces.into_iter().map(|space| entry(space)).collect();
        Ok(Response::new(v1::ListSpacesResponse { spaces }))
    }

    async fn delete_space(
        &self,
        request: Request<v1::DeleteSpaceRequest>,
    ) -> Result<Response<v1::DeleteSpaceResponse>, Status> {
        let name = request.into_inner().name;
        let resources_deleted = self.with_engine(move |engine| engine.remove_space(&name)).await?;
        Ok(Response::new(v1::DeleteSpaceResponse { resources_deleted }))
    }
}
