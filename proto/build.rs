//! Compiles the .proto files with protox, so that no protoc is needed, and hands the descriptors to tonic.

use std::error::Error;
use std::path::{Path, PathBuf};

const PACKAGE: &str = "pressmark/admin/v1";

fn main() -> Result<(), Box<dyn Error>> {
    println!("cargo:rerun-if-changed={PACKAGE}");
    let mut files: Vec<PathBuf> = std::fs::read_dir(PACKAGE)?
        .map(|entry| entry.map(|entry| Path::new(PACKAGE).join(entry.file_name())))
        .collect::<Result<_, _>>()?;
    files.sort();
    let descriptors = protox::compile(files, ["."])?;
    let out = PathBuf::from(std::env::var("OUT_DIR")?);
    std::fs::write(out.join("descriptors.bin"), prost::Message::encode_to_vec(&descriptors))?;
    tonic_prost_build::configure()
        .bytes(".pressmark.admin.v1.Part.blob")
        .compile_fds(descriptors)?;
    Ok(())
}
