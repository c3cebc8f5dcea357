//! The rules that buf checks in its STANDARD and FILE categories, held here so that no other program is needed: names,
//! comments, and that what clients were built against stays.
#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeSet;

use pressmark_proto::FILE_DESCRIPTOR_SET;
use prost::Message;
use prost_types::field_descriptor_proto::{Label, Type};
use prost_types::{
    DescriptorProto, EnumDescriptorProto, FieldDescriptorProto, FileDescriptorProto,
    FileDescriptorSet, ServiceDescriptorProto,
};

const PACKAGE: &str = "pressmark.admin.v1";
/// Everything of the interface that a client can depend on, one line each.
const KEPT: &str = "tests/kept.txt";

fn files() -> Vec<FileDescriptorProto> {
    let set = FileDescriptorSet::decode(FILE_DESCRIPTOR_SET).unwrap();
    set.file.into_iter().filter(|file| file.package() == PACKAGE).collect()
}

#[test]
fn names_follow_the_rules() {
    let faults: Vec<String> = files().iter().flat_map(faults_of_file).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn everything_is_documented() {
    let faults: Vec<String> = files().iter().flat_map(undocumented).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A line that goes away or changes breaks clients: that is a new package, `v2`. New lines are added to the file with
/// `PRESSMARK_PROTO_KEEP=1 cargo test -p pressmark-proto`.
#[test]
fn what_clients_depend_on_stays() {
    let now: BTreeSet<String> = files().iter().flat_map(lines_of_file).collect();
    let kept: BTreeSet<String> =
        std::fs::read_to_string(KEPT).unwrap_or_default().lines().map(str::to_owned).collect();
    let gone: Vec<&String> = kept.difference(&now).collect();
    assert!(gone.is_empty(), "gone or changed, which breaks clients: {gone:#?}");
    if std::env::var_os("PRESSMARK_PROTO_KEEP").is_some() {
        let mut text = now.iter().cloned().collect::<Vec<_>>().join("\n");
        text.push('\n');
        std::fs::write(KEPT, text).unwrap();
        return;
    }
    let new: Vec<&String> = now.difference(&kept).collect();
    assert!(new.is_empty(), "not in {KEPT} yet (see the comment of this test): {new:#?}");
}

// === names ===

fn faults_of_file(file: &FileDescriptorProto) -> Vec<String> {
    let mut faults = Vec::new();
    let mut check = |is_right: bool, fault: String| {
        if !is_right {
            faults.push(format!("{}: {fault}", file.name()));
        }
    };
    let folder = PACKAGE.replace('.', "/");
    let stem =
        file.name().strip_prefix(&format!("{folder}/")).and_then(|n| n.strip_suffix(".proto"));
    check(
        stem.is_some_and(is_lower_snake),
        format!("its path is not {folder}/lower_snake_case.proto"),
    );
    check(file.syntax() == "proto3", "its syntax is not proto3".to_owned());
    for message in &file.message_type {
        faults_of_message(message, &mut check);
    }
    for item in &file.enum_type {
        faults_of_enum(item, &mut check);
    }
    for service in &file.service {
        faults_of_service(service, &mut check);
    }
    faults
}

fn faults_of_message(message: &DescriptorProto, check: &mut impl FnMut(bool, String)) {
    let name = message.name();
    check(is_pascal(name), format!("message {name} is not in PascalCase"));
    for field in &message.field {
        check(
            is_lower_snake(field.name()),
            format!("{name}.{} is not in lower_snake_case", field.name()),
        );
    }
    for oneof in &message.oneof_decl {
        // The compiler makes one with a leading underscore of each `optional`.
        let oneof = oneof.name().trim_start_matches('_');
        check(is_lower_snake(oneof), format!("{name}.{oneof} is not in lower_snake_case"));
    }
    for nested in &message.nested_type {
        faults_of_message(nested, check);
    }
}

fn faults_of_enum(item: &EnumDescriptorProto, check: &mut impl FnMut(bool, String)) {
    let name = item.name();
    check(is_pascal(name), format!("enum {name} is not in PascalCase"));
    let prefix = upper_snake(name);
    for value in &item.value {
        let starts = value.name().strip_prefix(&prefix).is_some_and(|rest| rest.starts_with('_'));
        check(starts, format!("{} does not begin with {prefix}_", value.name()));
        let is_zero = value.number() == 0;
        check(
            is_zero == (value.name() == format!("{prefix}_UNSPECIFIED")),
            format!("{}: 0, and only 0, is {prefix}_UNSPECIFIED", value.name()),
        );
    }
}

fn faults_of_service(service: &ServiceDescriptorProto, check: &mut impl FnMut(bool, String)) {
    let name = service.name();
    check(
        is_pascal(name) && name.ends_with("Service"),
        format!("service {name} is not ...Service"),
    );
    for method in &service.method {
        let rpc = method.name();
        check(is_pascal(rpc), format!("{name}.{rpc} is not in PascalCase"));
        for (kind, of) in [("Request", method.input_type()), ("Response", method.output_type())] {
            let wanted = format!(".{PACKAGE}.{rpc}{kind}");
            check(of == wanted, format!("{name}.{rpc} uses {of} instead of {wanted}"));
        }
    }
}

fn is_pascal(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_uppercase())
        && name.chars().all(|c| c.is_ascii_alphanumeric())
        && !name.as_bytes().windows(2).any(|pair| pair.iter().all(u8::is_ascii_uppercase))
}

fn is_lower_snake(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
        && !name.contains("__")
        && !name.ends_with('_')
}

fn upper_snake(pascal: &str) -> String {
    let mut out = String::new();
    for (at, c) in pascal.char_indices() {
        if c.is_ascii_uppercase() && at > 0 {
            out.push('_');
        }
        out.push(c.to_ascii_uppercase());
    }
    out
}

// === comments ===

/// Fields of the descriptors' messages, by which paths of locations are made.
mod tag {
    pub(super) const MESSAGE: i32 = 4;
    pub(super) const ENUM: i32 = 5;
    pub(super) const SERVICE: i32 = 6;
    /// Fields of a message, values of an enum, methods of a service.
    pub(super) const MEMBER: i32 = 2;
}

fn undocumented(file: &FileDescriptorProto) -> Vec<String> {
    let locations = file.source_code_info.as_ref().map(|info| info.location.as_slice());
    let is_documented = |path: &[i32]| {
        locations
            .unwrap_or_default()
            .iter()
            .any(|location| location.path == path && !location.leading_comments().trim().is_empty())
    };
    let mut faults = Vec::new();
    let mut check = |kind: i32, at: usize, name: &str, members: Vec<&str>| {
        let at = i32::try_from(at).unwrap();
        if !is_documented(&[kind, at]) {
            faults.push(format!("{}: {name} has no comment", file.name()));
        }
        for (index, member) in members.into_iter().enumerate() {
            if !is_documented(&[kind, at, tag::MEMBER, i32::try_from(index).unwrap()]) {
                faults.push(format!("{}: {name}.{member} has no comment", file.name()));
            }
        }
    };
    for (at, message) in file.message_type.iter().enumerate() {
        let fields = message.field.iter().map(FieldDescriptorProto::name).collect();
        check(tag::MESSAGE, at, message.name(), fields);
    }
    for (at, item) in file.enum_type.iter().enumerate() {
        let values = item.value.iter().map(|value| value.name()).collect();
        check(tag::ENUM, at, item.name(), values);
    }
    for (at, service) in file.service.iter().enumerate() {
        let methods = service.method.iter().map(|method| method.name()).collect();
        check(tag::SERVICE, at, service.name(), methods);
    }
    faults
}

// === compatibility ===

fn lines_of_file(file: &FileDescriptorProto) -> Vec<String> {
    let mut lines = Vec::new();
    for message in &file.message_type {
        lines.push(format!("message {}", message.name()));
        for field in &message.field {
            lines.push(line_of_field(message, field));
        }
    }
    for item in &file.enum_type {
        lines.push(format!("enum {}", item.name()));
        for value in &item.value {
            lines.push(format!("enum {} {} = {}", item.name(), value.name(), value.number()));
        }
    }
    for service in &file.service {
        for method in &service.method {
            let stream = |is: bool| if is { "stream " } else { "" };
            lines.push(format!(
                "rpc {}/{}({}{}) returns ({}{})",
                service.name(),
                method.name(),
                stream(method.client_streaming()),
                method.input_type(),
                stream(method.server_streaming()),
                method.output_type(),
            ));
        }
    }
    lines
}

fn line_of_field(message: &DescriptorProto, field: &FieldDescriptorProto) -> String {
    let label = match field.label() {
        Label::Repeated => "repeated ",
        Label::Required => "required ",
        Label::Optional if field.proto3_optional() => "optional ",
        Label::Optional => "",
    };
    let kind = match field.r#type() {
        Type::Message | Type::Enum => field.type_name().to_owned(),
        scalar => format!("{scalar:?}").to_lowercase(),
    };
    let oneof = field
        .oneof_index
        .filter(|_| !field.proto3_optional())
        .and_then(|at| message.oneof_decl.get(usize::try_from(at).ok()?))
        .map(|oneof| format!(" in oneof {}", oneof.name()))
        .unwrap_or_default();
    format!("field {}.{} = {}: {label}{kind}{oneof}", message.name(), field.name(), field.number())
}
