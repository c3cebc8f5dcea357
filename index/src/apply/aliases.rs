//! Aliases: what hosts make of a stored URI when they undo its escapes or change its normal form.

use super::Transaction;
use crate::catalog::Space;
use crate::error::{Error, ErrorKind, Result};
use crate::prepare::PreparedPut;
use crate::resource_uri;
use crate::space::AliasClash;
use crate::store::Cf;
use crate::store::value::{decode_alias, encode_alias};

impl Transaction<'_, '_> {
    pub(super) fn check_aliases(
        &self,
        space: &Space,
        put: &PreparedPut,
        exists: bool,
    ) -> Result<Option<String>> {
        if exists {
            return Ok(None);
        }
        let mut others = self.alias(&put.uri)?;
        if let Some(alias) = &put.alias {
            others.extend(self.alias(alias)?);
            if self.head(alias)?.is_some() {
                others.push(alias.clone());
            }
        }
        for spelling in self.catalog().delimiter_spellings(&put.uri) {
            others.extend(self.alias(&spelling)?);
            if self.head(&spelling)?.is_some() {
                others.push(spelling);
            }
        }
        let Some(other) = others.iter().find(|other| **other != put.uri) else {
            return Ok(None);
        };
        let text = format!(
            "a host that undoes escapes in a URI (%2F, %25, %26, %2B, or those of delimiters) or changes its Unicode normal form cannot tell it from `{other}`"
        );
        match space.settings.alias_clash {
            AliasClash::Warn => Ok(Some(text)),
            AliasClash::Refuse => Err(Error::new(
                ErrorKind::Conflict,
                &put.uri,
                format!("{text}; rename one, or set alias_clash = \"warn\" for the space"),
            )),
        }
    }

    pub(super) fn add_alias(&mut self, put: &PreparedPut) -> Result<()> {
        let Some(alias) = &put.alias else {
            return Ok(());
        };
        let mut uris = self.alias(alias)?;
        if let Err(at) = uris.binary_search(&put.uri) {
            uris.insert(at, put.uri.clone());
        }
        self.batch.put(Cf::Aliases, alias.as_bytes(), &encode_alias(&uris))?;
        self.aliases.insert(alias.clone(), uris);
        Ok(())
    }

    pub(super) fn remove_alias(&mut self, uri: &str) -> Result<()> {
        let Some(alias) = resource_uri::alias_of(uri) else {
            return Ok(());
        };
        let mut uris = self.alias(&alias)?;
        uris.retain(|other| other != uri);
        if uris.is_empty() {
            self.batch.delete(Cf::Aliases, alias.as_bytes())?;
        } else {
            self.batch.put(Cf::Aliases, alias.as_bytes(), &encode_alias(&uris))?;
        }
        self.aliases.insert(alias, uris);
        Ok(())
    }

    fn alias(&self, spelling: &str) -> Result<Vec<String>> {
        if let Some(uris) = self.aliases.get(spelling) {
            return Ok(uris.clone());
        }
        match self.store.get(Cf::Aliases, spelling.as_bytes())? {
            None => Ok(Vec::new()),
            Some(value) => decode_alias(&value),
        }
    }
}
