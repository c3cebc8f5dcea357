//! From the columns of CSV and TSV to the fields of a record.

use pressmark_index::resource::{Address, Annotations, Binding, Body, Part, Resource, Value};

use super::delimited::Row;
use super::fields::{self, RecordError, wrong};
use crate::config::{ColumnMapping, ColumnTarget, RecordField, column_target};

/// Which column of a file fills what.
#[derive(Debug)]
pub(super) struct Columns {
    column_count: usize,
    mapped: Vec<Column>,
}

#[derive(Debug)]
struct Column {
    at: usize,
    header: String,
    target: ColumnTarget,
}

/// A record while its columns are read.
#[derive(Default)]
struct Draft {
    uri: Option<String>,
    variables: Vec<Binding>,
    text: Option<String>,
    blob: Option<Vec<u8>>,
}

// === impl Columns ===

impl Columns {
    /// Finds the columns of the mapping in a file's header. Without a mapping the headers themselves say what they
    /// fill, as they would in it: `uri`, `text`, `variables.name`.
    ///
    /// # Errors
    /// A column is missing, twice there or fills nothing; or the columns do not make a record.
    pub(super) fn resolve(header: &[&str], mapping: &[ColumnMapping]) -> Result<Self, String> {
        let mut mapped = Vec::new();
        if mapping.is_empty() {
            for (at, name) in header.iter().enumerate() {
                let target = column_target(name).map_err(|reason| {
                    format!("the header {reason}; say in [space.columns] of the configuration what the columns are")
                })?;
                mapped.push(Column { at, header: (*name).to_owned(), target });
            }
        }
        for ColumnMapping { column, target } in mapping {
            let mut places = header.iter().enumerate().filter(|(_, name)| *name == column);
            let Some((at, _)) = places.next() else {
                return Err(format!(
                    "[space.columns] names the column `{column}`, and the header has {}",
                    quoted(header)
                ));
            };
            if places.next().is_some() {
                return Err(format!("the header has the column `{column}` twice"));
            }
            mapped.push(Column { at, header: column.clone(), target: target.clone() });
        }
        let columns = Self { column_count: header.len(), mapped };
        columns.check()?;
        Ok(columns)
    }

    fn check(&self) -> Result<(), String> {
        for (at, column) in self.mapped.iter().enumerate() {
            let twin = self.mapped.iter().take(at).find(|other| other.target == column.target);
            if let Some(twin) = twin {
                return Err(format!(
                    "the columns `{}` and `{}` fill the same field",
                    twin.header, column.header
                ));
            }
        }
        let fills = |field| self.mapped.iter().any(|c| c.target == ColumnTarget::Field(field));
        let fills_variables =
            self.mapped.iter().any(|c| matches!(c.target, ColumnTarget::Variable(_)));
        if fills(RecordField::Uri) == fills_variables {
            return Err(
                "a record needs a column for `uri`, or columns for `variables.<name>`, and not both"
                    .to_owned(),
            );
        }
        if !fills(RecordField::Text) && !fills(RecordField::Blob) {
            return Err("a record needs a column for `text` or `blob`".to_owned());
        }
        Ok(())
    }

    /// A row as a record. An empty field is an empty `text`, and absent anywhere else.
    ///
    /// # Errors
    /// What is wrong, with the column.
    pub(super) fn record(&self, space: &str, row: &Row) -> Result<Resource, RecordError> {
        // A row that lacks or has fields is two rows, or a part of one: none of it can be trusted.
        if row.field_count() != self.column_count {
            return wrong(
                "",
                format!(
                    "the row has {} fields, and the header {}",
                    row.field_count(),
                    self.column_count
                ),
            );
        }
        for field in row.fields() {
            fields::utf8("", field)?;
        }
        let mut resource = empty(space);
        let mut draft = Draft::default();
        for column in &self.mapped {
            let text = fields::utf8(&column.header, row.field(column.at).unwrap_or_default())?;
            match &column.target {
                ColumnTarget::Variable(name) if !text.is_empty() => draft
                    .variables
                    .push(Binding { name: name.clone(), value: Value::String(text.to_owned()) }),
                ColumnTarget::Field(RecordField::Text) => draft.text = Some(text.to_owned()),
                ColumnTarget::Field(field) if !text.is_empty() => {
                    fill(&mut resource, &mut draft, *field, &column.header, text)?;
                }
                ColumnTarget::Variable(_) | ColumnTarget::Field(_) => {}
            }
        }
        draft.complete(resource)
    }
}

// === impl Draft ===

impl Draft {
    fn complete(self, mut resource: Resource) -> Result<Resource, RecordError> {
        resource.address = match self.uri {
            // The header has either.
            Some(uri) => Address::Uri(uri),
            None if self.variables.is_empty() => {
                return wrong(
                    "uri",
                    "a record needs `uri`, or `variables` of the space's template",
                );
            }
            None => Address::Variables(self.variables),
        };
        let body = match (self.text, self.blob) {
            (Some(text), Some(_)) if !text.is_empty() => {
                return wrong("blob", "a record has `text` or `blob`, not both");
            }
            (_, Some(blob)) => Body::Blob(blob),
            (Some(text), None) => Body::Text(text),
            (None, None) => Body::Blob(Vec::new()),
        };
        resource.contents = vec![Part { uri: None, mime_type: None, meta: None, body }];
        Ok(resource)
    }
}

/// Puts a field that is not empty into a record; `header` is what errors name.
fn fill(
    resource: &mut Resource,
    draft: &mut Draft,
    field: RecordField,
    header: &str,
    text: &str,
) -> Result<(), RecordError> {
    let owned = || Some(text.to_owned());
    match field {
        RecordField::Uri => draft.uri = owned(),
        RecordField::Text => draft.text = owned(),
        RecordField::Blob => draft.blob = Some(fields::blob(header, text)?),
        RecordField::Name => resource.name = owned(),
        RecordField::Title => resource.title = owned(),
        RecordField::Description => resource.description = owned(),
        RecordField::MimeType => resource.mime_type = owned(),
        RecordField::Size => match text.parse() {
            Ok(size) => resource.size = Some(size),
            Err(_) => return wrong(header, format!("`{text}` is no number of bytes")),
        },
        RecordField::Priority => match text.parse() {
            Ok(priority) => resource.annotations.priority = Some(priority),
            Err(_) => return wrong(header, format!("`{text}` is no number from 0 to 1")),
        },
        RecordField::Audience => {
            resource.annotations.audience =
                items(text).map(|who| fields::role(header, who)).collect::<Result<_, _>>()?;
        }
        RecordField::LastModified => {
            resource.annotations.last_modified = Some(fields::timestamp(header, text)?);
        }
        RecordField::Pinned => match text.to_ascii_lowercase().as_str() {
            "true" | "yes" | "1" => resource.pinned = true,
            "false" | "no" | "0" => resource.pinned = false,
            _ => return wrong(header, format!("`{text}` is neither `true` nor `false`")),
        },
        RecordField::Acl => resource.acl = Some(items(text).map(str::to_owned).collect()),
    }
    Ok(())
}

/// Several values in one field: between commas or semicolons.
fn items(text: &str) -> impl Iterator<Item = &str> {
    text.split([',', ';']).map(str::trim).filter(|item| !item.is_empty())
}

fn empty(space: &str) -> Resource {
    Resource {
        space: space.to_owned(),
        address: Address::Variables(Vec::new()),
        name: None,
        title: None,
        description: None,
        mime_type: None,
        contents: Vec::new(),
        annotations: Annotations::default(),
        size: None,
        icons: None,
        meta: None,
        pinned: false,
        acl: None,
        source: None,
    }
}

fn quoted(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    /// A mapping as `header=target`, between spaces.
    #[track_caller]
    fn check(header: &str, mapping: &str, wanted: &Expect) {
        let header: Vec<&str> = header.split(',').collect();
        let mapping: Vec<ColumnMapping> = mapping
            .split_whitespace()
            .map(|pair| {
                let (column, target) = pair.split_once('=').unwrap();
                ColumnMapping { column: column.to_owned(), target: column_target(target).unwrap() }
            })
            .collect();
        match Columns::resolve(&header, &mapping) {
            Ok(columns) => {
                let targets = columns.mapped.iter().map(|c| format!("{} {:?}\n", c.at, c.target));
                wanted.assert_eq(&targets.collect::<String>());
            }
            Err(error) => wanted.assert_eq(&error),
        }
    }

    #[test]
    fn a_mapping_finds_its_columns() {
        check(
            "name,rank,summary",
            "summary=text name=variables.name",
            &expect![[r#"
            2 Field(Text)
            0 Variable("name")
        "#]],
        );
        check(
            "uri,text",
            "",
            &expect![[r#"
            0 Field(Uri)
            1 Field(Text)
        "#]],
        );
        check(
            "uri,Text",
            "",
            &expect![[
                r#"the header "Text" is none of "uri", "name", "title", "description", "mimeType", "text", "blob", "size", "priority", "audience", "lastModified", "pinned", "acl" and no "variables.<name>"; say in [space.columns] of the configuration what the columns are"#
            ]],
        );
        check(
            "name,rank",
            "summary=text name=variables.name",
            &expect![
                "[space.columns] names the column `summary`, and the header has `name`, `rank`"
            ],
        );
        check(
            "name,text,name",
            "name=uri text=text",
            &expect!["the header has the column `name` twice"],
        );
        check(
            "a,b,c",
            "a=uri b=text c=text",
            &expect!["the columns `b` and `c` fill the same field"],
        );
        check(
            "a,b,c",
            "a=uri b=text c=variables.c",
            &expect![
                "a record needs a column for `uri`, or columns for `variables.<name>`, and not both"
            ],
        );
        check(
            "a,b",
            "a=title b=text",
            &expect![
                "a record needs a column for `uri`, or columns for `variables.<name>`, and not both"
            ],
        );
        check("a,b", "a=uri b=title", &expect!["a record needs a column for `text` or `blob`"]);
    }
}
