//! Where the NGINX program, the module and NGINX's sources are, and what the program can do.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// The NGINX program to test on, searched for as ngx-rust's own tests do: `TEST_NGINX_BINARY`,
/// `NGINX_BUILD_DIR`/nginx, `NGINX_SOURCE_DIR`/objs/nginx, then the NGINX that nginx-sys was built with (the
/// build script of the root package has cargo set `DEP_NGINX_BUILD_DIR` for the tests it runs).
pub fn nginx() -> PathBuf {
    let candidates = [
        env_path("TEST_NGINX_BINARY"),
        env_path("NGINX_BUILD_DIR").map(|dir| dir.join("nginx")),
        env_path("NGINX_SOURCE_DIR").map(|dir| dir.join("objs/nginx")),
        env_path("DEP_NGINX_BUILD_DIR").map(|dir| dir.join("nginx")),
    ];
    match candidates.iter().flatten().find(|path| path.is_file()) {
        Some(path) => path.clone(),
        None => panic!("no NGINX program: run `make test`, or set TEST_NGINX_BINARY"),
    }
}

/// The module: `TEST_NGINX_MODULE`, or the one that `cargo build` left beside the running test (cargo builds no cdylib
/// for its tests by itself, so a bare `cargo test` runs on the module of the last build).
pub fn module() -> PathBuf {
    if let Some(path) = env_path("TEST_NGINX_MODULE") {
        assert!(path.is_file(), "TEST_NGINX_MODULE names no file: {}", path.display());
        return path;
    }
    let test = env::current_exe().expect("the path of the running test");
    let name = "libngx_http_compress_module.so";
    // <target>/<profile>/deps/test-<hash>, and examples/ in place of deps/.
    match test.ancestors().skip(1).take(3).map(|dir| dir.join(name)).find(|path| path.is_file()) {
        Some(path) => path,
        None => panic!(
            "no {name} near {}: run `make test`, or `cargo build` first, or set TEST_NGINX_MODULE",
            test.display()
        ),
    }
}

/// Whether NGINX and the module were built with a sanitizer (`make sanitize`): they take more memory and time then.
pub fn is_sanitized() -> bool {
    env::var_os("TEST_SANITIZED").is_some()
}

/// Whether processes keep the title that they began with (`make valgrind`): then all children of a master are workers.
pub(crate) fn hides_titles() -> bool {
    env::var_os("TEST_SANITIZED").is_some_and(|with| with == "valgrind")
}

/// The directory `src` of NGINX's sources (only headers, where a distribution packaged them).
pub fn nginx_sources() -> PathBuf {
    let candidates = [
        env_path("NGINX_SOURCE_DIR").map(|dir| dir.join("src")),
        env_path("NGINX_BUILD_DIR").and_then(|dir| Some(dir.parent()?.join("src"))),
        // The first directory of headers that nginx-sys was built with is src/core.
        env::var("DEP_NGINX_INCLUDE")
            .ok()
            .and_then(|dirs| env::split_paths(&dirs).next())
            .and_then(|dir| Some(dir.parent()?.to_owned())),
    ];
    match candidates.iter().flatten().find(|dir| dir.join("core/nginx.h").is_file()) {
        Some(path) => path.clone(),
        None => panic!("no NGINX sources: run `make test`, or set NGINX_SOURCE_DIR"),
    }
}

/// The directory with `ngx_auto_config.h` of the NGINX that the module was built for.
pub fn nginx_build() -> PathBuf {
    let candidates = [
        env_path("NGINX_BUILD_DIR"),
        env_path("NGINX_SOURCE_DIR").map(|dir| dir.join("objs")),
        env_path("DEP_NGINX_BUILD_DIR"),
    ];
    match candidates.iter().flatten().find(|dir| dir.join("ngx_auto_config.h").is_file()) {
        Some(path) => path.clone(),
        None => panic!("no configured NGINX: run `make test`, or set NGINX_BUILD_DIR"),
    }
}

/// Whether the module is a part of the NGINX program (`--add-module`), so that nothing is to be loaded.
pub fn is_linked() -> bool {
    build_info(&nginx()).split_whitespace().any(|word| word.starts_with("--add-module="))
}

/// The version of the NGINX program, such as `(1, 28, 3)`.
pub fn nginx_version() -> (u32, u32, u32) {
    version_of(&nginx())
}

/// The version of another NGINX program.
pub fn version_of(program: &Path) -> (u32, u32, u32) {
    let output = build_info(program);
    let version = output.split("nginx/").nth(1).unwrap_or_default();
    let mut numbers = version
        .split(|c: char| !c.is_ascii_digit())
        .take(3)
        .map(|n| n.parse().unwrap_or_else(|_| panic!("no version in: {output}")));
    let mut next = || numbers.next().unwrap_or(0);
    (next(), next(), next())
}

/// Whether the NGINX program was configured with `argument`, such as `--with-threads`.
pub fn nginx_has(argument: &str) -> bool {
    build_info(&nginx()).split_whitespace().any(|word| word == argument)
}

fn build_info(program: &Path) -> String {
    static KNOWN: Mutex<BTreeMap<PathBuf, String>> = Mutex::new(BTreeMap::new());
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let ask = || {
        let output = Command::new(program).arg("-V").output().expect("nginx -V");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    known.entry(program.to_owned()).or_insert_with(ask).clone()
}

// cargo runs a test in its package's directory: a relative path would mean something else there.
fn env_path(name: &str) -> Option<PathBuf> {
    let path = PathBuf::from(env::var_os(name).filter(|value| !value.is_empty())?);
    if path.is_absolute() || path.exists() {
        return Some(path);
    }
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    Some(workspace.join(path))
}
