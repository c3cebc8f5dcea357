//! `pressmark list`: what hosts are shown, or all that there is.

use std::process::ExitCode;

use clap::Args;
use pressmark_index::uri_template::{TemplateMatcher, UriTemplate};
use pressmark_proto::v1;
use serde::Serialize;
use serde_json::value::RawValue;
use tonic::Code;

use super::Common;
use super::inspect::{raw, time_text};
use super::numbers::{counted, grouped};
use super::output::{Failure, Out, Refusal, code_name};
use super::target::Target;
use crate::terminal;

#[derive(Debug, Args)]
pub(super) struct ListArgs {
    /// Only of this space
    #[arg(long, value_name = "NAME")]
    space: Option<String>,
    /// Every resource, in the order of the URIs, also what hosts are not shown in lists
    #[arg(long)]
    all: bool,
}

/// A line of `list --json`: the resource as a host gets it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Listed<'a> {
    uri: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    description: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    annotations: Option<Annotations>,
    #[serde(skip_serializing_if = "Option::is_none")]
    icons: Option<&'a RawValue>,
    #[serde(rename = "_meta", skip_serializing_if = "Option::is_none")]
    meta: Option<&'a RawValue>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Annotations {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    audience: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    priority: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    last_modified: Option<String>,
}

/// Prints one URI and title a line, and on stderr how many there are.
pub(super) fn run(common: &Common, arguments: &ListArgs) -> Result<ExitCode, Failure> {
    let target = Target::find(common, "list")?;
    let spaces = target.wait(target.spaces().list_spaces(v1::ListSpacesRequest {}))?.spaces;
    let total = resource_count(&spaces, arguments.space.as_deref())?;
    let mut out = Out::new();
    let listed = if arguments.all {
        print_all(&target, common, arguments, &mut out)?
    } else {
        print_listed(&target, common, arguments, &spaces, &mut out)?
    };
    out.end()?;
    common.remark(&count_line(listed, total));
    Ok(ExitCode::SUCCESS)
}

/// How many resources a space, or all of them, have.
pub(super) fn resource_count(
    spaces: &[v1::SpaceEntry],
    name: Option<&str>,
) -> Result<u64, Failure> {
    let Some(name) = name else {
        return Ok(spaces.iter().map(|entry| entry.resource_count).sum());
    };
    let entry = spaces.iter().find(|entry| space_name(entry) == name);
    entry.map(|entry| entry.resource_count).ok_or_else(|| {
        let message = no_such_space(name, spaces);
        Failure::Refused(Refusal { code: code_name(Code::NotFound), message })
    })
}

/// A space that is not there, with those that are.
pub(super) fn no_such_space(name: &str, spaces: &[v1::SpaceEntry]) -> String {
    let names: Vec<&str> = spaces.iter().map(space_name).collect();
    let there_are = match names.as_slice() {
        [] => "there is none yet: add one with `pressmark space add`".to_owned(),
        names => format!("the spaces are {}", names.join(", ")),
    };
    format!("space `{name}`: there is no such space: {there_are}")
}

pub(super) fn space_name(entry: &v1::SpaceEntry) -> &str {
    entry.space.as_ref().map_or("", |space| space.name.as_str())
}

fn print_all(
    target: &Target,
    common: &Common,
    arguments: &ListArgs,
    out: &mut Out,
) -> Result<u64, Failure> {
    let request = v1::ScanResourcesRequest {
        space: arguments.space.clone().unwrap_or_default(),
        without_bodies: true,
        ..v1::ScanResourcesRequest::default()
    };
    let mut pages = target.wait(target.resources().scan_resources(request))?;
    let mut listed = 0;
    while let Some(page) = target.next(&mut pages)? {
        for resource in page.resources.iter().filter_map(|stored| stored.resource.as_ref()) {
            print(common, resource, out)?;
            listed += 1;
        }
    }
    Ok(listed)
}

fn print_listed(
    target: &Target,
    common: &Common,
    arguments: &ListArgs,
    spaces: &[v1::SpaceEntry],
    out: &mut Out,
) -> Result<u64, Failure> {
    let owners = Owners::of(spaces);
    let mut pages = target.wait(target.reading().list_resources(v1::ListResourcesRequest {}))?;
    let mut listed = 0;
    while let Some(page) = target.next(&mut pages)? {
        for resource in &page.resources {
            if let Some(space) = &arguments.space
                && owners.owner(target, &resource.uri)? != *space
            {
                continue;
            }
            print(common, resource, out)?;
            listed += 1;
        }
    }
    Ok(listed)
}

/// Which space a URI is of.
pub(super) struct Owners {
    spaces: Vec<(String, TemplateMatcher)>,
}

impl Owners {
    pub(super) fn of(spaces: &[v1::SpaceEntry]) -> Self {
        let matcher = |entry: &v1::SpaceEntry| {
            let space = entry.space.as_ref()?;
            // A template that the store has taken can be matched.
            let matcher = UriTemplate::parse(&space.uri_template).ok()?.matcher().ok()?;
            Some((space.name.clone(), matcher))
        };
        Self { spaces: spaces.iter().filter_map(matcher).collect() }
    }

    /// The spaces whose templates match.
    pub(super) fn candidates(&self, uri: &str) -> Vec<&str> {
        let fits = |(_, matcher): &&(String, TemplateMatcher)| matcher.match_uri(uri).is_some();
        self.spaces.iter().filter(fits).map(|(name, _)| name.as_str()).collect()
    }

    /// The space of a stored resource; the store is asked only where several templates match.
    fn owner(&self, target: &Target, uri: &str) -> Result<String, Failure> {
        if let [only] = self.candidates(uri)[..] {
            return Ok(only.to_owned());
        }
        let request = v1::GetResourceRequest { uri: uri.to_owned() };
        let stored = target.wait(target.resources().get_resource(request))?.resource;
        Ok(stored.and_then(|stored| stored.resource).unwrap_or_default().space)
    }
}

fn print(common: &Common, resource: &v1::Resource, out: &mut Out) -> Result<(), Failure> {
    if common.json {
        return out.json(&Listed::of(resource));
    }
    let title = Some(resource.title()).filter(|title| !title.is_empty());
    let title = terminal::one_line(title.unwrap_or(resource.name()));
    out.line(&format!("{}\t{title}", resource.uri))
}

fn count_line(listed: u64, total: u64) -> String {
    let total_text = counted(total, "resource", "resources");
    if listed == total {
        total_text
    } else {
        format!("{} of {total_text}; --all lists all of them", grouped(listed))
    }
}

impl<'a> Listed<'a> {
    fn of(resource: &'a v1::Resource) -> Self {
        let annotations = Annotations::of(resource);
        Self {
            uri: &resource.uri,
            name: resource.name.as_deref(),
            title: resource.title.as_deref(),
            description: resource.description.as_deref(),
            mime_type: resource.mime_type.as_deref(),
            size: resource.size,
            annotations,
            icons: raw(resource.icons_json.as_deref()),
            meta: raw(resource.meta_json.as_deref()),
        }
    }
}

impl Annotations {
    fn of(resource: &v1::Resource) -> Option<Self> {
        let audience = resource.audience().filter_map(|role| match role {
            v1::Role::User => Some("user"),
            v1::Role::Assistant => Some("assistant"),
            v1::Role::Unspecified => None,
        });
        let annotations = Self {
            audience: audience.collect(),
            priority: resource.priority,
            last_modified: resource.last_modified.as_ref().and_then(time_text),
        };
        let Self { audience, priority, last_modified } = &annotations;
        let is_empty = audience.is_empty() && priority.is_none() && last_modified.is_none();
        (!is_empty).then_some(annotations)
    }
}
