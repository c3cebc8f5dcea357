//! What lists say of one resource, for those who point to it.

use crate::access::Access;
use crate::contents_fragment::descriptor::Descriptor;
use crate::error::{Error, ErrorKind, Result};
use crate::read::{Hit, not_found};
use crate::shared::Shared;
use crate::store::{Cf, View};
use crate::{folder, fragment, resource_uri};

impl Shared {
    pub(crate) fn descriptor(&self, uri: &str, access: &Access) -> Result<Descriptor> {
        let normal = resource_uri::normalise(uri)?;
        let store = self.store();
        let view = store.view();
        let catalog = self.catalog();
        if let Some(hit) = self.look_up(&view, &catalog, &normal, access)? {
            return of_hit(&view, &hit);
        }
        if let (base, Some(fragment)) = fragment::split(&normal)
            && let Some(hit) = self.look_up(&view, &catalog, base, access)?
        {
            // A link must be one that can be read.
            fragment::parse(fragment)?;
            return of_hit(&view, &hit);
        }
        if let Some(hit) = self.look_up_with_slash(&view, &catalog, &normal, access)? {
            return of_hit(&view, &hit);
        }
        if let Some(folder) = folder::describe(self, &view, &catalog, &normal, access)? {
            return Ok(folder);
        }
        let hit = self.look_up_without_slash(&view, &catalog, &normal, access)?;
        of_hit(&view, &hit.ok_or_else(|| not_found(uri))?)
    }
}

/// The descriptor of a resource that was found.
pub(crate) fn of_hit(view: &View<'_>, hit: &Hit) -> Result<Descriptor> {
    let uri = &hit.found.stored_uri;
    let stored = view.get(Cf::Descriptors, uri.as_bytes())?.ok_or_else(|| {
        Error::new(ErrorKind::Corrupt, uri, "its descriptor is missing; run `pressmark verify`")
    })?;
    Descriptor::from_stored(stored.to_vec())
}
