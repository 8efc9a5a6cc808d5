//! The same configuration and requests with google/ngx_brotli, as Debian packages it, and with this module: the
//! answers are the same but for what docs/differences.md lists.

mod shapes;

use std::collections::BTreeSet;
use std::path::PathBuf;

use harness::{Builder, Nginx, Response, corpus, get, locate, request, tools};

use self::shapes::{SHAPES, Shape};
use crate::support::{fields, obedient};

/// Their modules, which only Debian's NGINX has beside it.
fn theirs() -> Option<[PathBuf; 2]> {
    let dir = locate::nginx().ancestors().nth(2)?.join("lib/nginx/modules");
    let paths = ["filter", "static"].map(|name| dir.join(format!("ngx_http_brotli_{name}_module.so")));
    paths.iter().all(|path| path.is_file()).then_some(paths)
}

const LOCATIONS: &str = "
    location /off/ { brotli off; alias %%PREFIX%%/html/; }
    location /any/ { brotli_types *; alias %%PREFIX%%/html/; }
    location /short/ { brotli_min_length 1k; alias %%PREFIX%%/html/; }
    location /level/ { brotli_comp_level 11; brotli_window 1k; brotli_buffers 2 8k; alias %%PREFIX%%/html/; }
    location /if/ { brotli off; if ($arg_br) { brotli on; } }
    location /gzip/ { gzip on; gzip_types *; gzip_vary on; alias %%PREFIX%%/html/; }
    location /vary/ { gzip_vary on; alias %%PREFIX%%/html/; }
    location /static/ { brotli_static on; brotli off; alias %%PREFIX%%/html/; }
    location /static-gzip/ { brotli_static on; brotli off; gzip on; gzip_types *; alias %%PREFIX%%/html/; }
    location /both/ { brotli_static on; gzip_vary on; alias %%PREFIX%%/html/; }
    location /always/ { brotli_static always; brotli off; alias %%PREFIX%%/html/; }
    location /return/ { default_type text/plain; return 200 'a text that is long enough to be encoded'; }
    location /charset/ { charset utf-8; alias %%PREFIX%%/html/; }
    location /ssi/ { ssi on; alias %%PREFIX%%/html/; }
    location /headers/ { add_header Vary Origin; expires 1h; alias %%PREFIX%%/html/; }";

fn builder(upstream: &str) -> Builder {
    let text = corpus::text(20_000);
    let up = format!("proxy_http_version 1.1; proxy_pass {upstream};");
    Nginx::builder()
        .http("brotli on; brotli_types text/plain application/json image/svg+xml;")
        .server(LOCATIONS)
        .server(&format!("location /up/ {{ {up} }} location /up-vary/ {{ gzip_vary on; {up} }}"))
        .file("br.txt.br", tools::brotli_encode(&text))
        .file("br.txt", text.clone())
        .file("a.css", text.clone())
        .file("a.html", text.clone())
        .file("a.json", corpus::json(100_000))
        .file("a.txt", text.clone())
        .file("if/a.txt", text)
        .file("page.html", "<!--# include virtual=\"/a.txt\" --> and <!--# include virtual=\"/up/\" -->")
        .file("19.txt", &corpus::text(19)[..])
        .file("20.txt", &corpus::text(20)[..])
        .file("empty.txt", "")
}

#[derive(Clone, Debug, PartialEq)]
struct Answer {
    status: u16,
    /// Names in lower case, as HTTP/2 has them.
    fields: Vec<String>,
    /// Decoded, unless it is a part of a body; `None` if it does not decode.
    body: Option<Vec<u8>>,
    complete: bool,
}

impl Answer {
    /// What is left of one that was aborted.
    fn reset() -> Self {
        Self { status: 0, fields: Vec::new(), body: None, complete: false }
    }

    fn field(&self, name: &str) -> Option<&str> {
        self.fields.iter().find_map(|field| field.strip_prefix(name)?.strip_prefix(": "))
    }

    fn set(&mut self, name: &str, value: Option<&str>) {
        self.fields.retain(|field| !field.starts_with(&format!("{name}: ")));
        self.fields.extend(value.map(|value| format!("{name}: {value}")));
        self.fields.sort();
    }
}

fn ask(nginx: &Nginx, (line, accept, others, _): Shape) -> Answer {
    let (method, path) = line.split_once(' ').unwrap();
    let (method, version) = method.split_once('/').unwrap_or((method, "1"));
    let mut request = request(nginx, method, path);
    for value in accept.split(" | ").filter(|value| !value.is_empty()) {
        request = request.accept(value);
    }
    for (name, value) in others.split(" || ").filter_map(|field| field.split_once(": ")) {
        let mut value = value.to_owned();
        for (word, field) in [("TAG", "ETag"), ("DATE", "Last-Modified")] {
            if value.contains(word) {
                value = value.replace(word, get(nginx, path).send().header(field).unwrap());
            }
        }
        request = request.header(name, &value);
    }
    let response = match version {
        "0" => request.http10(),
        "2" => request.http2(),
        _ => request,
    };
    // Where only the end of the connection ends the body, a reset may overtake all of the response.
    let is_reset = |response: &std::io::Result<Response>| !response.as_ref().is_ok_and(|got| got.complete);
    let response = response.try_send();
    if version == "0" && is_reset(&response) {
        return Answer::reset();
    }
    let response = response.unwrap_or_else(|error| panic!("{line}: {error}"));
    let is_as_sent = method == "HEAD" || matches!(response.status, 206 | 304);
    let lower =
        |field: String| field.split_once(": ").map(|(name, v)| format!("{}: {v}", name.to_lowercase()));
    Answer {
        status: response.status,
        fields: fields(&response).into_iter().filter_map(lower).collect(),
        body: if is_as_sent { Some(response.body.clone()) } else { response.decoded().ok() },
        complete: response.complete,
    }
}

/// What turns their answer into ours.
enum Effect {
    /// We answer as they do to a client that sends this `Accept-Encoding`.
    Asks(&'static str),
    Edit(fn(&mut Answer, Shape)),
}

use Effect::{Asks, Edit};

/// The differences of docs/differences.md by their ids.
const EFFECTS: [(&str, Effect); 16] = [
    ("weights", Asks("gzip")),
    ("identity", Asks("identity")),
    ("wildcard", Asks("br")),
    ("weight-syntax", Asks("")),
    ("repeated", Asks("")),
    ("tab", Asks("br")),
    ("lines", Asks("br")),
    ("no-transform", Asks("")),
    ("content-range", Asks("")),
    ("static-gzip", Asks("gzip")),
    ("static-ranges", Edit(|answer, shape| serve_range(answer, shape.2))),
    (
        "vary",
        Edit(|answer, _| {
            let vary = answer.field("vary").map_or(String::new(), |vary| format!("{vary}, "));
            answer.set("vary", Some(&format!("{vary}Accept-Encoding")));
        }),
    ),
    (
        "vary-once",
        Edit(|answer, _| {
            let others = answer.fields.iter().any(|field| field.starts_with("vary: Cookie"));
            answer.set("vary", Some("Accept-Encoding"));
            answer.fields.extend(others.then(|| "vary: Cookie".into()));
            answer.fields.sort();
        }),
    ),
    ("304-tag", Edit(|answer, _| answer.set("etag", Some("W/\"*\"")))),
    (
        "digests",
        Edit(|answer, _| {
            ["content-digest", "content-md5", "digest", "repr-digest"]
                .iter()
                .for_each(|name| answer.set(name, None));
        }),
    ),
    ("abort", Edit(|answer, _| *answer = Answer::reset())),
];

/// The answer of a file with ranges, of which `bytes=0-99` may have been asked.
fn serve_range(answer: &mut Answer, fields: &str) {
    if !fields.contains("Range: bytes=0-99") {
        answer.set("accept-ranges", Some("bytes"));
        return;
    }
    let length = answer.field("content-length").unwrap().to_owned();
    answer.set("content-length", Some("100"));
    answer.set("content-range", Some(&format!("bytes 0-99/{length}")));
    answer.status = 206;
    answer.body = Some(tools::brotli_encode(answer.body.as_ref().unwrap())[..100].to_vec());
}

/// Their answer as it ought to be of us, and the ids of differences that made none.
fn adapt(theirs: &Nginx, shape: Shape) -> (Answer, Vec<&'static str>) {
    let (line, _, others, ids) = shape;
    let (mut answer, mut idle) = (ask(theirs, shape), Vec::new());
    for id in ids.split_whitespace() {
        let before = answer.clone();
        match EFFECTS.iter().find(|(known, _)| *known == id) {
            Some((_, Asks(accept))) => answer = ask(theirs, (line, accept, others, "")),
            Some((_, Edit(edit))) => edit(&mut answer, shape),
            None => panic!("{shape:?}: no effect is called {id:?}"),
        }
        if answer == before {
            idle.push(id);
        }
    }
    (answer, idle)
}

/// The ids of docs/differences.md: the first column of the table of answers.
fn listed() -> BTreeSet<&'static str> {
    let document = include_str!("../docs/differences.md");
    let answers = document.split("\n## ").find(|section| section.starts_with("Answers")).unwrap();
    let rows = answers.lines().filter_map(|line| line.strip_prefix("| `"));
    rows.map(|row| row.split('`').next().unwrap()).collect()
}

#[test]
fn every_listed_difference_has_an_effect() {
    assert_eq!(listed(), EFFECTS.iter().map(|(id, _)| *id).collect());
}

#[test]
fn answers_differ_only_where_listed() {
    let Some([filter, handler]) = theirs() else {
        println!("not tested: only the NGINX of `make test-debian` has their modules");
        return;
    };
    let upstream = obedient();
    let theirs = builder(&upstream.url()).without_module().load_module(filter).load_module(handler).start();
    let ours = builder(&upstream.url()).start();

    let (mut failures, mut met) = (Vec::new(), BTreeSet::new());
    for shape in SHAPES {
        let ((expected, idle), found) = (adapt(&theirs, shape), ask(&ours, shape));
        met.extend(shape.3.split_whitespace());
        if expected != found {
            let shown = |answer: Answer| Answer {
                body: answer.body.map(|body| body[..body.len().min(60)].to_vec()),
                ..answer
            };
            failures.push(format!(
                "{shape:?}\n  theirs, adapted: {:?}\n  ours: {:?}",
                shown(expected),
                shown(found)
            ));
        }
        failures.extend(idle.iter().map(|id| format!("{shape:?}: {id} makes no difference any more")));
    }
    failures.extend(listed().difference(&met).map(|id| format!("no request meets {id}")));
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// As docs/migrating.md says.
#[test]
fn a_reload_changes_over_and_back() {
    let Some([filter, handler]) = theirs() else { return };
    let upstream = obedient();
    let ours = builder(&upstream.url());
    let theirs = ours.clone().without_module().load_module(filter).load_module(handler);
    let mut nginx = theirs.clone().start();
    for (builder, vary) in
        [(&ours, Some("Accept-Encoding")), (&theirs, None), (&ours, Some("Accept-Encoding"))]
    {
        nginx.rewrite_config(builder.clone());
        nginx.check().assert_ok();
        nginx.reload();
        let response = get(&nginx, "/a.json").accept("br").send();
        assert_eq!((response.coding(), response.header("Vary")), ("br", vary));
        assert!(response.decoded().unwrap() == corpus::json(100_000));
    }
}
