//! Compiles the Brotli encoder with the functions of ours that look into it, and binds both.

use std::env;
use std::error::Error;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

use cargo_metadata::MetadataCommand;

/// Where our part is, beside the Rust code that calls it.
const SEGMENT: &str = "src/codec/ffi/brotli_segment";

fn main() -> Result<(), Box<dyn Error>> {
    let sources = brotli_sources()?;
    compile(&sources)?;
    bind(&sources)?;
    for file in [format!("{SEGMENT}.c"), format!("{SEGMENT}.h"), "build.rs".into()] {
        println!("cargo::rerun-if-changed={file}");
    }
    println!("cargo::rerun-if-env-changed=BROTLI_SOURCE_DIR");
    println!("cargo::rerun-if-changed={}", sources.display());
    Ok(())
}

/// The folder `c` of google/brotli: of a checkout that `BROTLI_SOURCE_DIR` names, or of the crate that carries it.
fn brotli_sources() -> Result<PathBuf, Box<dyn Error>> {
    if let Some(checkout) = env::var_os("BROTLI_SOURCE_DIR") {
        return Ok(Path::new(&checkout).join("c"));
    }
    let manifest = Path::new(&env::var("CARGO_MANIFEST_DIR")?).join("Cargo.toml");
    // Other platforms' crates are not there, and cargo need not ask the registry for what it has just unpacked. A
    // build that is no test has not unpacked what only tests need, though: then it has to.
    let platform = ["--filter-platform".to_owned(), env::var("TARGET")?];
    let mut command = MetadataCommand::new();
    command.manifest_path(manifest);
    let offline = [&platform[..], &["--offline".to_owned()]].concat();
    let metadata =
        command.other_options(offline).exec().or_else(|_| command.other_options(platform).exec())?;
    let package = metadata.packages.iter().find(|package| package.name.as_str() == "compu-brotli-sys");
    let package = package.ok_or("cargo metadata does not list compu-brotli-sys")?;
    let folder = package.manifest_path.parent().ok_or("a manifest without a folder")?;
    Ok(folder.join("brotli/c").into())
}

/// Everything but encode.c, which our file includes.
fn compile(sources: &Path) -> Result<(), Box<dyn Error>> {
    let mut build = cc::Build::new();
    build.include(sources.join("include")).include(sources.join("enc")).file(format!("{SEGMENT}.c"));
    for folder in ["common", "enc"] {
        let folder = sources.join(folder);
        let entries = fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let file = entry?.path();
            if file.extension() == Some(OsStr::new("c")) && !file.ends_with("enc/encode.c") {
                build.file(file);
            }
        }
    }
    // Without optimization the highest levels take minutes, in tests too. Hidden, because NGINX loads modules so that
    // they see each other's symbols, and one of them may bring a Brotli of its own.
    build.opt_level(3).flag("-fvisibility=hidden").warnings(false);
    // Without this the encoder ends the process when it gets no memory.
    build.define("BROTLI_ENCODER_CLEANUP_ON_OOM", None);
    build.try_compile("brotlienc_segment")?;
    Ok(())
}

fn bind(sources: &Path) -> Result<(), Box<dyn Error>> {
    let bindings = bindgen::Builder::default()
        .header(format!("{SEGMENT}.h"))
        .clang_arg(format!("-I{}", sources.join("include").display()))
        .allowlist_function(
            "BrotliEncoder(CreateInstance|DestroyInstance|SetParameter|CompressStream|TakeOutput)",
        )
        .allowlist_function("BrotliSegment.*")
        .default_enum_style(bindgen::EnumVariation::Consts)
        .prepend_enum_name(false)
        .generate_comments(false)
        .layout_tests(false)
        .use_core()
        .generate()?;
    bindings.write_to_file(Path::new(&env::var("OUT_DIR")?).join("brotli_bindings.rs"))?;
    Ok(())
}
