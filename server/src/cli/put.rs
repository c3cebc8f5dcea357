//! `pressmark put`: one resource from a file or from stdin.

use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Args;
use pressmark_proto::v1;
use serde::Serialize;

use super::Common;
use super::list::Owners;
use super::output::{Failure, Out, Refusal, code_name};
use super::target::Target;
use crate::admin::MESSAGE_BYTES_MAX;

/// The name that stands for stdin.
const STDIN: &str = "-";

#[derive(Debug, Args)]
pub(super) struct PutArgs {
    /// Its URI
    uri: String,
    /// The file with its content; `-`: stdin
    #[arg(value_name = "FILE", default_value = STDIN)]
    file: PathBuf,
    /// Its space, where the templates of several match the URI
    #[arg(long, value_name = "NAME")]
    space: Option<String>,
    /// Title for people
    #[arg(long)]
    title: Option<String>,
    /// What it is about
    #[arg(long)]
    description: Option<String>,
    /// MIME type, where it is not the space's
    #[arg(long, value_name = "TYPE")]
    mime_type: Option<String>,
    /// List it also where a space lists pinned resources only
    #[arg(long)]
    pinned: bool,
}

/// What became of it, as `--json` shows it.
#[derive(Serialize)]
struct Put<'a> {
    uri: &'a str,
    space: &'a str,
    outcome: &'static str,
}

pub(super) fn run(common: &Common, arguments: &PutArgs) -> Result<ExitCode, Failure> {
    let body = body(&arguments.file)?;
    let target = Target::change(common, "put")?;
    let space = space(&target, arguments)?;
    let resource = v1::Resource {
        space: space.clone(),
        uri: arguments.uri.clone(),
        title: arguments.title.clone(),
        description: arguments.description.clone(),
        mime_type: arguments.mime_type.clone(),
        contents: vec![v1::Part { body: Some(body), ..v1::Part::default() }],
        pinned: arguments.pinned,
        ..v1::Resource::default()
    };
    let change = v1::mutation::Change::Put(resource);
    let answer = mutate(&target, change)?;
    if let Some(refusal) = answer.refusals.first() {
        return Err(refused(&arguments.uri, refusal));
    }
    for remark in &answer.remarks {
        common.remark(&format!("{}: {}", arguments.uri, remark.text));
    }
    let outcome = match (answer.created, answer.updated) {
        (0, 0) => "unchanged",
        (0, _) => "updated",
        _ => "created",
    };
    if common.json {
        let mut out = Out::new();
        out.json(&Put { uri: &arguments.uri, space: &space, outcome })?;
        out.end()?;
    } else {
        common.remark(&format!("{}: {outcome}", arguments.uri));
    }
    Ok(ExitCode::SUCCESS)
}

/// Text where the bytes are UTF-8.
fn body(file: &Path) -> Result<v1::part::Body, Failure> {
    let fault = |error: &dyn std::fmt::Display| format!("{}: {error}", file.display());
    // One byte more shows that there is more.
    let bytes_max = u64::try_from(MESSAGE_BYTES_MAX).unwrap_or(u64::MAX);
    let mut bytes = Vec::new();
    let read = if file == Path::new(STDIN) {
        std::io::stdin().lock().take(bytes_max).read_to_end(&mut bytes)
    } else {
        let opened = std::fs::File::open(file).map_err(|error| fault(&error))?;
        opened.take(bytes_max).read_to_end(&mut bytes)
    };
    read.map_err(|error| fault(&error))?;
    if bytes.len() >= MESSAGE_BYTES_MAX {
        return Err(fault(&"it is too large for one message of the admin plane (36 MiB); `pressmark load --data DIR` takes larger ones").into());
    }
    Ok(match String::from_utf8(bytes) {
        Ok(text) => v1::part::Body::Text(text),
        Err(binary) => v1::part::Body::Blob(binary.into_bytes().into()),
    })
}

fn space(target: &Target, arguments: &PutArgs) -> Result<String, Failure> {
    if let Some(space) = &arguments.space {
        return Ok(space.clone());
    }
    let spaces = target.wait(target.spaces().list_spaces(v1::ListSpacesRequest {}))?.spaces;
    let owners = Owners::of(&spaces);
    match owners.candidates(&arguments.uri).as_slice() {
        [only] => Ok((*only).to_owned()),
        [] => Err(format!(
            "{}: the template of no space matches it; `pressmark space list` shows them, `pressmark space add` makes one",
            arguments.uri
        )
        .into()),
        several => Err(format!(
            "{}: the templates of several spaces match it; choose one of {} with --space",
            arguments.uri,
            several.join(", ")
        )
        .into()),
    }
}

/// Makes one change, and waits until it is durable.
pub(super) fn mutate(
    target: &Target,
    change: v1::mutation::Change,
) -> Result<v1::IngestResponse, Failure> {
    let mutation = v1::Mutation { expected_version: None, change: Some(change) };
    let request = v1::IngestRequest { mutations: vec![mutation], ..v1::IngestRequest::default() };
    let mut client = target.ingest();
    let mut answers = target.wait(client.ingest(tokio_stream::once(request)))?;
    let answer = target.next(&mut answers)?;
    answer.ok_or_else(|| "the server ended the stream without an answer".into())
}

/// A mutation that was refused, as a failure of the command.
pub(super) fn refused(uri: &str, refusal: &v1::Refusal) -> Failure {
    let code = match refusal.kind() {
        v1::RefusalKind::NotFound => tonic::Code::NotFound,
        v1::RefusalKind::Conflict => tonic::Code::FailedPrecondition,
        v1::RefusalKind::VersionMismatch => tonic::Code::Aborted,
        v1::RefusalKind::Unspecified | v1::RefusalKind::Invalid | v1::RefusalKind::TooLarge => {
            tonic::Code::InvalidArgument
        }
    };
    let message = format!("{uri}: {}", refusal.reason);
    Failure::Refused(Refusal { code: code_name(code), message })
}
