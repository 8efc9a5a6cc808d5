//! The configurations that the documents show are taken where they may stand, and do what is said of them.

use std::path::{Path, PathBuf};
use std::process::Command;

use harness::documents::Block;
use harness::{Builder, Nginx, corpus, get, locate};

/// What a request is answered with: path, fields, the coding.
type Request = (&'static str, &'static [(&'static str, &'static str)], &'static str);

const BR: (&str, &str) = ("Accept-Encoding", "br");
const ZSTD: (&str, &str) = ("Accept-Encoding", "zstd");
const SESSION: (&str, &str) = ("Cookie", "session=1");
const GZIP_AND_ALL: (&str, &str) = ("Accept-Encoding", "gzip, br, zstd");

/// What the documents say of a block, which is known by a line of it; what is on beside it, at the level of `http`; and
/// what requests tell. A block that is not listed is taken, and a body is whole that passes it.
const CLAIMS: [(&str, &str, &str, &[Request]); 11] = [
    // README.md
    ("load_module modules/ngx_http_compress_module.so;", "brotli on;", "", &[("/a.html", &[BR], "br")]),
    (
        "brotli_types text/css text/plain application/javascript application/json image/svg+xml;",
        "",
        "",
        &[
            ("/a.css", &[BR], "br"),
            ("/a.css", &[ZSTD], "zstd"),
            ("/a.html", &[GZIP_AND_ALL], "zstd"),
            ("/a.css", &[], ""),
        ],
    ),
    // docs/directives.md
    (
        "brotli_bypass $cookie_session $arg_nocompress;",
        "brotli on;",
        "",
        &[("/a.html", &[BR], "br"), ("/a.html?nocompress=1", &[BR], ""), ("/a.html", &[BR, SESSION], "")],
    ),
    (
        "zstd_bypass $cookie_session $arg_nocompress;",
        "zstd on;",
        "",
        &[
            ("/a.html", &[ZSTD], "zstd"),
            ("/a.html?nocompress=1", &[ZSTD], ""),
            ("/a.html", &[ZSTD, SESSION], ""),
        ],
    ),
    ("brotli_thread_pool compress;", "brotli on;", "", &[("/a.html", &[BR], "br")]),
    ("zstd_thread_pool compress;", "zstd on;", "", &[("/a.html", &[ZSTD], "zstd")]),
    ("compress_status;", "brotli on;", "", &[("/a.html", &[BR], "br")]),
    // docs/operations.md
    ("brotli off; zstd off;", "", "", &[("/a.html", &[GZIP_AND_ALL], "")]),
    // docs/security.md
    (
        "location /account/ {",
        "brotli on; zstd on; gzip on;",
        "",
        &[("/a.html", &[GZIP_AND_ALL], "zstd"), ("/account/a.html", &[GZIP_AND_ALL], "")],
    ),
    (
        "brotli_bypass $cookie_session $http_authorization;",
        "brotli on; zstd on;",
        "",
        &[
            ("/a.html", &[BR], "br"),
            ("/a.html", &[GZIP_AND_ALL, SESSION], ""),
            ("/a.html", &[BR, ("Authorization", "Basic eDp5")], ""),
        ],
    ),
    (
        "map $http_sec_fetch_site $from_elsewhere {",
        "brotli on;",
        "brotli_bypass $from_elsewhere;",
        &[("/a.html", &[BR], "br"), ("/a.html", &[BR, ("Sec-Fetch-Site", "cross-site")], "")],
    ),
];

/// The lines of `load_module` of the modules that this one replaces.
const REPLACED: [&str; 4] = [
    "ngx_http_brotli_filter_module",
    "ngx_http_brotli_static_module",
    "ngx_http_zstd_filter_module",
    "ngx_http_zstd_static_module",
];

/// Runs a block of the language `nginx`; what is wrong with it ends in a panic. A reason, if it cannot be run here.
pub fn run(block: &Block) -> Result<(), String> {
    let loads_replaced = REPLACED.iter().any(|name| block.text.contains(name));
    if loads_replaced && locate::is_linked() {
        return Err("this NGINX has the module linked in, so that no line can take it out".into());
    }
    if block.text.contains("thread") && !locate::nginx_has("--with-threads") {
        return Err("this NGINX has no threads".into());
    }
    let stands_in = StandIns::for_block(block);
    let claim = CLAIMS.iter().find(|(line, ..)| block.text.lines().any(|it| it.trim() == *line));
    let (beside, server) = claim.map_or(("", ""), |(_, beside, server, _)| (beside, server));
    let builder = complete(block, &stands_in, beside, server);
    let nginx = builder.start();
    let requests = claim.map_or(&[("/a.html", &[GZIP_AND_ALL] as &[_], "")] as &[Request], |claim| claim.3);
    for (path, fields, coding) in requests {
        let request =
            fields.iter().fold(get(&nginx, path), |request, (name, value)| request.header(name, value));
        let response = request.send();
        let what = format!("{}: {path} with {fields:?}", block.place());
        assert_eq!(response.status, 200, "{what}");
        assert!(response.decoded().expect(&what) == corpus::text(20_000), "{what}");
        if claim.is_some() {
            assert_eq!(response.coding(), *coding, "{what}");
        }
    }
    if block.text.contains("compress_status;") {
        let status = get(&nginx, "/compress_status").send();
        assert_eq!(status.status, 200, "{}", block.place());
        serde_json::from_slice::<serde_json::Value>(&status.body).expect("JSON");
    }
    if let Some(rest) = block.text.split("log_format ").nth(1) {
        let format = rest.split_whitespace().next().unwrap_or_default();
        let more = format!("brotli on; access_log access.log {format};");
        let nginx = complete(block, &stands_in, &more, "").start();
        get(&nginx, "/a.html").accept("br").send();
        let line = nginx.access_log_lines(1).remove(0);
        assert!(line.contains(" br 20000/"), "{}: {line}", block.place());
    }
    if loads_replaced {
        // "If a line was left in place, `nginx -t` fails and names it."
        let left = Block { text: format!("load_module \"%%MODULE%%\";\n{}", block.text), ..block.clone() };
        let check = place(&left, &stands_in, &block.text, "", "", Level::Main).check();
        assert!(!check.ok && check.output.contains("remove the \"load_module\" line of"), "{}", check.output);
    }
    Ok(())
}

/// Asks for what a block of the language `yaml` has Prometheus scrape.
pub fn scrape(block: &Block) {
    let path =
        block.text.lines().find_map(|line| line.trim().strip_prefix("metrics_path: ")).expect("a path");
    let location = format!("location = {path} {{ compress_status; }}");
    let nginx = Nginx::builder().server(&location).start();
    let answer = get(&nginx, path).header("Accept", "text/plain;version=0.0.4").send();
    let text = String::from_utf8(answer.body).expect("UTF-8");
    let scrape = prometheus_parse::Scrape::parse(text.lines().map(|line| Ok(line.into()))).expect("metrics");
    assert!(!scrape.samples.is_empty(), "{}: no metrics at {path}", block.place());
}

/// Where a block may stand.
#[derive(Clone, Copy, Debug)]
enum Level {
    Main,
    Http,
    Server,
    Location,
}

/// A whole configuration with the block at the outermost level that all of its directives may stand at.
fn complete(block: &Block, stands_in: &StandIns, beside: &str, server: &str) -> Builder {
    let mut said = String::new();
    for level in [Level::Main, Level::Http, Level::Server, Level::Location] {
        let builder = place(block, stands_in, &block.text, beside, server, level);
        let check = builder.clone().check();
        if check.ok {
            return builder;
        }
        said = check.output;
        if !said.contains("directive is not allowed here") {
            break;
        }
    }
    panic!("{}: NGINX does not take this block:\n{}\n{said}", block.place(), block.text);
}

fn place(
    block: &Block,
    stands_in: &StandIns,
    text: &str,
    beside: &str,
    server: &str,
    level: Level,
) -> Builder {
    let text = stands_in.replace_in(text);
    let load = if block.text.contains("load_module") && !block.text.starts_with("load_module \"%%") {
        ""
    } else {
        "load_module \"%%MODULE%%\";"
    };
    let workers = if text.contains("worker_processes") { "" } else { "worker_processes 1;" };
    let [mut main, mut http, mut in_server, mut in_location] = [const { String::new() }; 4];
    match level {
        Level::Main => (main, http) = split_http(&text),
        Level::Http => http = text,
        Level::Server => in_server = text,
        Level::Location => in_location = text,
    }
    let main = main.replace("worker_processes auto;", "worker_processes 1;");
    let paths: String = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
        .map(|name| format!("{name}_temp_path tmp/{name};"))
        .concat();
    let log = if beside.contains("access_log") { "" } else { "access_log access.log;" };
    let whole = format!(
        "{load}
         {main}
         {workers} daemon off; user root; pid nginx.pid; error_log error.log info;
         events {{ }}
         http {{
             {paths}
             types {{ text/html html; text/css css; }}
             {http}
             {beside} {log}
             server {{
                 listen 127.0.0.1:%%PORT%%;
                 root \"%%PREFIX%%/html\";
                 {server}
                 {in_server}
                 location /some/where/ {{ {in_location} }}
             }}
         }}"
    );
    ["a.html", "a.css", "account/a.html"]
        .iter()
        .fold(Nginx::builder().whole_config(&whole), |builder, name| builder.file(name, corpus::text(20_000)))
}

/// What is outside of the block `http`, and what is in it.
fn split_http(text: &str) -> (String, String) {
    let Some((before, rest)) = text.split_once("http {\n") else { return (text.into(), String::new()) };
    let (inside, after) = rest.split_once("\n}").expect("the block `http` is closed");
    (format!("{before}{after}"), inside.into())
}

/// Modules without a directive, with the names of those that are replaced.
struct StandIns(Option<tempfile::TempDir>);

impl StandIns {
    fn for_block(block: &Block) -> Self {
        let mut names = REPLACED.iter().filter(|name| block.text.contains(**name)).peekable();
        if names.peek().is_none() {
            return Self(None);
        }
        let dir = tempfile::tempdir().expect("a temporary directory");
        for name in names {
            build_module(dir.path(), name);
        }
        Self(Some(dir))
    }

    fn replace_in(&self, text: &str) -> String {
        let own = "load_module modules/ngx_http_compress_module.so;";
        let text = match locate::is_linked() {
            true => text.replace(own, ""),
            false => text.replace(own, "load_module \"%%MODULE%%\";"),
        };
        match &self.0 {
            Some(dir) => {
                text.replace("load_module modules/", &format!("load_module {}/", dir.path().display()))
            }
            None => text,
        }
    }
}

fn build_module(dir: &Path, name: &str) {
    let source = dir.join(format!("{name}.c"));
    let code = format!(
        "#include <ngx_config.h>\n#include <ngx_core.h>\n#include <ngx_http.h>\n
         static ngx_http_module_t ctx;
         ngx_module_t {name} = {{ NGX_MODULE_V1, &ctx, NULL, NGX_HTTP_MODULE, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
             NGX_MODULE_V1_PADDING }};
         ngx_module_t *ngx_modules[] = {{ &{name}, NULL }};
         char *ngx_module_names[] = {{ \"{name}\", NULL }};
         char *ngx_module_order[] = {{ NULL }};"
    );
    std::fs::write(&source, code).expect("writing a module");
    let headers = locate::nginx_sources();
    let headers = ["core", "event", "event/modules", "os/unix", "http", "http/modules", "http/v2"]
        .map(|name| headers.join(name))
        .into_iter()
        .chain([locate::nginx_build()]);
    let compiled = Command::new("gcc")
        .args(["-shared", "-fPIC", "-o"])
        .arg(dir.join(format!("{name}.so")))
        .arg(&source)
        .args(headers.flat_map(|header| [PathBuf::from("-I"), header]))
        .output()
        .expect("gcc");
    assert!(compiled.status.success(), "{}", String::from_utf8_lossy(&compiled.stderr));
}

#[test]
fn the_documents_configurations_do_what_is_said() {
    let blocks = harness::documents::names().into_iter().flat_map(|name| harness::documents::blocks(&name));
    let (blocks, others): (Vec<_>, Vec<_>) =
        blocks.filter(|block| block.not_run.is_none()).partition(|block| block.language == "nginx");
    others.iter().filter(|block| block.language == "yaml").for_each(scrape);
    for (line, ..) in CLAIMS {
        assert!(blocks.iter().any(|block| block.text.contains(line)), "no document has the line {line:?}");
    }
    for block in blocks {
        if let Err(reason) = run(&block) {
            println!("{}: not tested: {reason}", block.place());
        }
    }
}

#[test]
fn blocks_say_how_they_are_run() {
    for block in harness::documents::names().into_iter().flat_map(|name| harness::documents::blocks(&name)) {
        let known = ["nginx", "sh", "yaml", "text"].contains(&block.language.as_str());
        assert!(known, "{}: the language {:?}: nginx, sh, yaml or text?", block.place(), block.language);
    }
}
