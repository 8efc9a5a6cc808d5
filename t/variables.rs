//! What the variables say in the access log.

use harness::{Builder, Nginx, Upstream, corpus, get, head, locate};

use crate::support::{inline, pooled};

const FORMAT: &str = "$brotli_ratio $zstd_ratio $compress_encoding $compress_bytes_in $compress_bytes_out \
                      $compress_time $compress_skip";

/// The values of a line of [`FORMAT`].
#[derive(Debug)]
struct Line {
    brotli_ratio: String,
    zstd_ratio: String,
    encoding: String,
    bytes_in: String,
    bytes_out: String,
    time: String,
    skip: String,
}

/// The lines, when there are so many.
#[track_caller]
fn lines(nginx: &Nginx, count: usize) -> Vec<Line> {
    let parse = |line: String| {
        let values: Vec<_> = line.split(' ').map(String::from).collect();
        let values: [String; 7] = values.try_into().expect("seven values");
        let [brotli_ratio, zstd_ratio, encoding, bytes_in, bytes_out, time, skip] = values;
        Line { brotli_ratio, zstd_ratio, encoding, bytes_in, bytes_out, time, skip }
    };
    nginx.access_log_lines(count).into_iter().map(parse).collect()
}

fn check_formats(builder: Builder) {
    let text = corpus::text(3 << 20);
    let nginx = builder.log_format(FORMAT).http("brotli_comp_level 5;").file("a.txt", text.clone()).start();
    let lengths = ["br", "zstd"].map(|coding| {
        let response = get(&nginx, "/a.txt").accept(coding).send();
        assert_eq!(response.coding(), coding);
        response.body.len()
    });
    for ((line, coding), length) in lines(&nginx, 2).into_iter().zip(["br", "zstd"]).zip(lengths) {
        let thousandths = text.len() * 1000 / length;
        let rounded = (thousandths + 5) / 10;
        let (brotli, zstd) = match coding {
            "br" => (format!("{}.{:02}", rounded / 100, rounded % 100), "-".into()),
            _ => ("-".into(), format!("{}.{:03}", thousandths / 1000, thousandths % 1000)),
        };
        assert_eq!((&line.brotli_ratio, &line.zstd_ratio), (&brotli, &zstd));
        assert_eq!((line.encoding.as_str(), line.skip.as_str()), (coding, "-"));
        assert_eq!(line.bytes_in, text.len().to_string());
        assert_eq!(line.bytes_out, length.to_string());
        let (seconds, milliseconds) = line.time.split_once('.').unwrap();
        assert_eq!(milliseconds.len(), 3, "{}", line.time);
        let time = seconds.parse::<u64>().unwrap() * 1000 + milliseconds.parse::<u64>().unwrap();
        assert!((1..60_000).contains(&time), "{}", line.time);
    }
}

#[test]
fn formats_in_the_event_loop() {
    check_formats(inline());
}

#[test]
fn formats_on_a_pool() {
    if locate::nginx_has("--with-threads") {
        check_formats(pooled());
    }
}

#[test]
fn an_empty_body_has_a_ratio_of_nothing() {
    let upstream = Upstream::start(|mut conn| {
        if conn.read_request().is_some() {
            conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
            conn.send_last_chunk();
        }
    });
    let location = format!("location / {{ proxy_http_version 1.1; proxy_pass {}; }}", upstream.url());
    let nginx = inline().log_format(FORMAT).server(&location).start();
    for coding in ["br", "zstd"] {
        assert_eq!(get(&nginx, "/").accept(coding).send().coding(), coding);
    }
    let lines = lines(&nginx, 2);
    let ratios: Vec<_> =
        lines.iter().map(|line| [&line.brotli_ratio, &line.zstd_ratio, &line.bytes_out]).collect();
    assert_eq!(ratios, [["0.00", "-", "1"], ["-", "0.000", "9"]]);
    for line in lines {
        assert_eq!((line.bytes_in.as_str(), line.time.as_str()), ("0", "0.000"));
    }
}

#[test]
fn a_body_that_was_cut_off_has_no_ratio() {
    let upstream = Upstream::start(|mut conn| {
        if conn.read_request().is_some() {
            conn.send_head(200, &["Content-Type: text/plain", "Transfer-Encoding: chunked"]);
            conn.send_chunk(&corpus::text(5000));
            conn.pause(std::time::Duration::from_millis(50));
            conn.reset();
        }
    });
    let location = format!(
        "location / {{ proxy_buffering off; proxy_http_version 1.1; proxy_pass {}; }}",
        upstream.url()
    );
    let nginx = inline().log_format(FORMAT).server(&location).start();
    for coding in ["br", "zstd"] {
        let _ = get(&nginx, "/").accept(coding).try_send();
    }
    for (line, coding) in lines(&nginx, 2).iter().zip(["br", "zstd"]) {
        assert_eq!((line.brotli_ratio.as_str(), line.zstd_ratio.as_str()), ("-", "-"));
        assert_eq!((line.encoding.as_str(), line.bytes_in.as_str()), (coding, "5000"));
    }
}

/// An upstream whose answers have the status, the fields and the length that their paths say, such as
/// `/200/100/Content-Encoding:gzip`.
fn obedient() -> Upstream {
    Upstream::start(|mut conn| {
        while let Some(request) = conn.read_request() {
            let mut parts = request.path[1..].split('?').next().unwrap().split('/');
            let status = parts.next().unwrap().parse().unwrap();
            let length: usize = parts.next().unwrap().parse().unwrap();
            let mut fields = vec![format!("Content-Length: {length}")];
            fields.extend(parts.map(|part| part.replace('+', "/").replace(':', ": ").replace('_', " ")));
            let fields: Vec<_> = fields.iter().map(String::as_str).collect();
            conn.send_head(status, &fields);
            conn.send(&corpus::text(length));
        }
    })
}

#[test]
fn reasons_to_skip_a_response() {
    let upstream = obedient();
    let url = upstream.url();
    let nginx = inline()
        .log_format(FORMAT)
        .http("brotli_bypass $arg_bypass; zstd_bypass $arg_bypass;")
        .server(&format!(
            "location / {{ proxy_pass {url}; }}
             location /off/ {{ brotli off; zstd off; proxy_pass {url}/; }}
             location /static/ {{ brotli_static on; alias %%PREFIX%%/html/; }}
             location /one/ {{ zstd off; proxy_pass {url}/; }}"
        ))
        .file("a.txt", corpus::text(100))
        .file("a.txt.br", harness::tools::brotli_encode(&corpus::text(100)))
        .start();
    let text = "Content-Type:text+plain";
    let rows = [
        (format!("/200/100/{text}"), "br", "-"),
        (format!("/200/100/{text}"), "", "client"),
        (format!("/200/100/{text}"), "gzip", "client"),
        (format!("/one/200/100/{text}"), "br", "-"),
        (format!("/one/200/100/{text}"), "zstd", "client"),
        (format!("/off/200/100/{text}"), "br", "off"),
        (format!("/201/100/{text}"), "br", "status"),
        (format!("/206/100/{text}/Content-Range:bytes_0-99+200"), "br", "status"),
        (format!("/200/100/{text}/Content-Range:bytes_0-99+200"), "br", "range"),
        (format!("/200/100/{text}/Content-Encoding:gzip"), "br", "encoded"),
        (format!("/200/10/{text}"), "br", "length"),
        ("/200/100/Content-Type:image+png".into(), "br", "type"),
        (format!("/200/100/{text}/Cache-Control:no-transform"), "br", "no-transform"),
        (format!("/200/100/{text}?bypass=1"), "br", "bypass"),
        ("/static/a.txt".into(), "br", "encoded"),
        ("/static/a.txt".into(), "gzip", "client"),
    ];
    for (i, (path, accept, skip)) in rows.iter().enumerate() {
        let response = get(&nginx, path).accept(accept).send();
        assert!(response.complete, "{path}");
        let line = lines(&nginx, i + 1).pop().unwrap();
        assert_eq!(line.skip, *skip, "{path} {accept:?}");
        let encoding = if *skip == "-" { "br" } else { "-" };
        assert_eq!(line.encoding, encoding, "{path}");
        assert!(line.bytes_in.parse() == Ok(100) || *skip != "-", "{line:?}");
        assert_eq!(line.time == "-", *skip != "-", "{line:?}");
    }
    let plain = &rows[0].0;
    get(&nginx, plain).accept("br").header("Cache-Control", "no-transform").send();
    head(&nginx, plain).accept("br").send();
    let lines = lines(&nginx, rows.len() + 2);
    let last: Vec<_> = lines[rows.len()..].iter().map(|line| [&line.encoding, &line.skip]).collect();
    assert_eq!(last, [["-", "no-transform"], ["-", "-"]]);
}

#[test]
fn a_sub_request_has_a_reason_of_its_own() {
    let page = r#"<!--# include virtual="/part.txt" -->"#;
    let nginx = inline()
        .http("ssi on; log_subrequest on;")
        .log_format(FORMAT)
        .file("page.html", page)
        .file("part.txt", corpus::text(100))
        .start();
    let response = get(&nginx, "/page.html").accept("br").send();
    assert_eq!((response.coding(), response.decoded().unwrap()), ("br", corpus::text(100)));
    let lines = lines(&nginx, 2);
    assert_eq!((lines[0].encoding.as_str(), lines[0].skip.as_str()), ("-", "subrequest"), "{lines:?}");
}
