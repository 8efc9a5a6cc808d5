//! Where the commands of the documents are run: a copy of the sources, with what they say is beside it.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use harness::documents::{self, Block};
use harness::{Nginx, corpus, locate};

/// How long a block may take, in seconds.
const LIMIT: &str = "3600";

/// A line of `make` that ended well is not run again in the same place: several documents say `make test`.
const PRELUDE: &str = r#"
set -eu
make() {
    if grep -qxF "$PWD make $*" "$STAGE/done"; then return; fi
    timeout "$LIMIT" make "$@" || return
    echo "$PWD make $*" >>"$STAGE/done"
}
"#;

/// A directory with `sources`, a copy of these; `nginx`, the sources of an NGINX, configured and built; and `bin`.
pub struct Stage(PathBuf);

impl Stage {
    /// Makes a new one in `target/doctest`. What commands build in there stays, since it is built for long.
    pub fn new() -> Self {
        let stage = documents::root().join("target/doctest");
        let kept = stage.join("kept");
        fs::create_dir_all(&stage).expect("target/doctest");
        if stage.join("sources/target").is_dir() {
            let _ = fs::remove_dir_all(&kept);
            fs::rename(stage.join("sources/target"), &kept).expect("keeping what was built");
        }
        for name in ["sources", "nginx", "bin"] {
            let _ = fs::remove_dir_all(stage.join(name));
        }
        copy_sources(&stage.join("sources"));
        if kept.is_dir() {
            fs::rename(&kept, stage.join("sources/target")).expect("what was built");
        }
        let built = locate::nginx_build();
        let sources = locate::nginx_sources().parent().expect("src is in it").to_owned();
        copy(&sources, &stage.join("nginx"));
        copy(&built, &stage.join("nginx/objs"));
        // As it is when the sources were unpacked: not configured, and with a name that says the version.
        let (major, minor, patch) = locate::nginx_version();
        let unpacked = stage.join(format!("sources/nginx-{major}.{minor}.{patch}"));
        copy(&sources, &unpacked);
        fs::copy(unpacked.join("auto/configure"), unpacked.join("configure")).expect("configure");
        fs::create_dir(stage.join("bin")).expect("bin");
        write_program(&stage.join("bin/nginx"));
        fs::write(stage.join("done"), "").expect("the list of what was done");
        Self(stage)
    }

    /// Runs a block of the language `sh`.
    ///
    /// # Panics
    ///
    /// If it fails, or leaves nothing where it should; its output is in `log`.
    pub fn run(&self, block: &Block) {
        let log = self.0.join(format!("{}.log", block.place().replace(['/', ':'], "-")));
        let file = fs::File::create(&log).expect("a log");
        let mut command = Command::new("bash");
        if block.text.contains("http://localhost/") {
            let text = self.beside_a_server(&block.text);
            // A network of its own, in which port 80 is free.
            command = Command::new("unshare");
            command.args(["--map-root-user", "--net", "bash", "-c", &text]);
        } else {
            command.args(["-c", &format!("{PRELUDE}\n{}", block.text)]);
        }
        let path = std::env::var("PATH").unwrap_or_default();
        command
            .current_dir(self.0.join("sources"))
            .env("PATH", format!("{}:{path}", self.0.join("bin").display()))
            .env("STAGE", &self.0)
            .env("LIMIT", LIMIT);
        // What a shell of a user has not: the settings of the `make` and the `cargo` that run this.
        for (name, _) in std::env::vars_os() {
            let text = name.to_string_lossy();
            let own =
                ["NGINX_", "TEST_", "DEP_", "MAKE", "MFLAGS", "CARGO", "LD_LIBRARY_PATH", "RUSTUP_TOOLCHAIN"];
            if own.iter().any(|start| text.starts_with(start)) && text != "CARGO_HOME" {
                command.env_remove(&name);
            }
        }
        let output = file.try_clone().expect("a log");
        let status = command.stdin(Stdio::null()).stdout(output).stderr(file).status().expect("bash");
        let said = fs::read_to_string(&log).unwrap_or_default();
        let lines: Vec<_> = said.lines().collect();
        let end = lines[lines.len().saturating_sub(40)..].join("\n");
        assert!(status.success(), "{}: {status}, the whole log is {}\n{end}", block.place(), log.display());
        self.look_for_results(block);
    }

    fn beside_a_server(&self, text: &str) -> String {
        let dir = self.0.join("server");
        let _ = fs::remove_dir_all(&dir);
        fs::create_dir_all(dir.join("html")).expect("a directory");
        fs::create_dir_all(dir.join("logs")).expect("a directory");
        fs::write(dir.join("html/index.html"), corpus::text(20_000)).expect("a page");
        let load = match locate::is_linked() {
            true => String::new(),
            false => format!("load_module {};", locate::module().display()),
        };
        let conf = format!("{load} user root; events {{ }} http {{ brotli on; server {{ listen 80; }} }}");
        fs::write(dir.join("nginx.conf"), conf).expect("nginx.conf");
        let dir = dir.display();
        format!(
            "{PRELUDE}
             ip link set lo up
             nginx -p {dir}/ -c nginx.conf -e logs/error.log
             trap 'nginx -p {dir}/ -c nginx.conf -e logs/error.log -s quit' EXIT
             {text}"
        )
    }

    /// What a block leaves, beside that it ends well.
    fn look_for_results(&self, block: &Block) {
        let sources = self.0.join("sources");
        if block.text.contains(">before") {
            let before = fs::read_to_string(sources.join("before")).expect("the file `before`");
            assert!(before.contains("200 OK") && before.contains("Content-Encoding: br"), "{before}");
        }
        if block.text.contains("make release NGINX_SOURCE_DIR") {
            let module = sources.join("target/release/ngx_http_compress_module.so");
            let load = format!("load_module {};", module.display());
            let check = Nginx::builder().without_module().main(&load).http("brotli on;").check();
            check.assert_ok();
        }
    }
}

/// An `nginx` as packages have it: built in the usual directory, which `-V` therefore does not name.
fn write_program(path: &Path) {
    let nginx = locate::nginx();
    let nginx = nginx.display();
    let script = format!(
        "#!/bin/sh
         if [ \"$1\" = -V ]; then {nginx} -V 2>&1 | sed 's/--builddir=[^ ]* *//' >&2; else exec {nginx} \"$@\"; fi
        "
    );
    fs::write(path, script).expect("bin/nginx");
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("bin/nginx");
}

/// A clone with all that is changed and not committed.
fn copy_sources(to: &Path) {
    let script = r#"
        git clone --quiet . "$0"
        git ls-files --cached --others --exclude-standard -z | xargs -0 -I {} sh -c '[ ! -e "$1" ] || cp --parents -p "$1" "$0"' "$0" {}
    "#;
    let status = Command::new("bash").args(["-euc", script]).arg(to).current_dir(documents::root()).status();
    assert!(status.expect("bash").success(), "the sources were not copied");
}

fn copy(from: &Path, to: &Path) {
    let status = Command::new("cp").arg("-R").arg(from).arg(to).status().expect("cp");
    assert!(status.success(), "{} was not copied", from.display());
}
