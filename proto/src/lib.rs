//! The admin plane of Pressmark, as it is written in `pressmark/admin/v1/*.proto`: messages, a client and a server
//! trait for each service. There is no logic here.

/// `package pressmark.admin.v1`.
pub mod v1 {
    #![allow(missing_docs, reason = "generated: the documentation is that of the .proto files")]
    #![allow(clippy::all, clippy::pedantic, clippy::restriction, reason = "generated")]
    tonic::include_proto!("pressmark.admin.v1");
}

/// The descriptors of all files, as a `google.protobuf.FileDescriptorSet`: what reflection serves.
pub const FILE_DESCRIPTOR_SET: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
