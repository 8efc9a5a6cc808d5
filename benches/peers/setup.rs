//! What is compared, and with what: settings from the environment, and the files.

use std::path::{Path, PathBuf};
use std::{env, fs};

use harness::{corpus, locate};

/// The file that small requests ask for.
pub const SMALL_TEXT: &str = "small.txt";
/// An answer of an API, of 2 KB.
pub const SMALL_JSON: &str = "records.json";
/// A small script.
pub const JQUERY: &str = "jquery.min.js";
/// A script of 1 MB.
pub const REACT: &str = "react-dom.js";
/// JSON of 2.5 MB.
pub const JSON: &str = "compat.json";
/// A script of 9 MB.
pub const TYPESCRIPT: &str = "typescript.js";

/// The settings of a run.
pub struct Setup {
    /// Where the files are.
    pub corpus: PathBuf,
    /// Where results go.
    pub out: PathBuf,
    /// The program of the peer.
    pub peer_nginx: PathBuf,
    /// The modules that the peer loads.
    pub peer_modules: Vec<PathBuf>,
    /// The coding that the peer makes.
    pub peer_coding: String,
    /// The lines of a location of the peer's; `%%LEVEL%%` is replaced by the level.
    pub peer_conf: String,
}

impl Setup {
    /// Reads the environment, and writes those of the files that are generated.
    ///
    /// # Errors
    /// A variable is not set, or a file cannot be written.
    pub fn from_environment() -> Result<Self, String> {
        if !locate::nginx_has("--with-threads") {
            return Err("this NGINX was built without --with-threads, so it has no thread pools".into());
        }
        let setup = Self {
            corpus: variable("BENCH_CORPUS").ok_or("BENCH_CORPUS is not set: run `make bench`")?.into(),
            out: variable("BENCH_OUT").ok_or("BENCH_OUT is not set: run `make bench`")?.into(),
            peer_nginx: variable("PEER_NGINX").map_or_else(locate::nginx, PathBuf::from),
            peer_modules: variable("PEER_MODULES")
                .map_or(Vec::new(), |paths| paths.split_whitespace().map(PathBuf::from).collect()),
            peer_coding: variable("PEER_CODING").unwrap_or_else(|| "br".into()),
            peer_conf: variable("PEER_CONF")
                .unwrap_or_else(|| "brotli on; brotli_comp_level %%LEVEL%%; brotli_types *;".into()),
        };
        for (name, bytes) in [(SMALL_TEXT, corpus::text(1000)), (SMALL_JSON, corpus::json(2000))] {
            fs::write(setup.corpus.join(name), bytes).map_err(|error| format!("{name}: {error}"))?;
        }
        fs::create_dir_all(&setup.out).map_err(|error| format!("{}: {error}", setup.out.display()))?;
        Ok(setup)
    }

    /// The bytes of a file.
    pub fn read(&self, file: &str) -> Vec<u8> {
        let path = self.corpus.join(file);
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    }

    /// The file names of the modules of the peer.
    pub fn peer_module_names(&self) -> Vec<String> {
        let name =
            |path: &PathBuf| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        self.peer_modules.iter().map(name).collect()
    }
}

/// The version of an NGINX, as text.
pub fn version(program: &Path) -> String {
    let (major, minor, patch) = locate::version_of(program);
    format!("{major}.{minor}.{patch}")
}

fn variable(name: &str) -> Option<String> {
    env::var(name).ok().filter(|value| !value.trim().is_empty())
}
