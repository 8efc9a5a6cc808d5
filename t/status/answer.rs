//! The answer of the location: formats, methods, header.

use harness::{get, head, post, request};

use super::LOCATION;
use crate::support::inline;

const JSON: &str = "application/json";
const TEXT: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPENMETRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

#[test]
fn the_format_is_the_clients_choice() {
    let nginx = inline().http("charset koi8-r;").server(LOCATION).start();
    let prometheus = "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,\
                      text/plain;version=0.0.4;q=0.5,*/*;q=0.1";
    let rows = [
        ("/status", None, JSON),
        ("/status", Some("*/*"), JSON),
        ("/status", Some("text/plain;version=0.0.4"), TEXT),
        ("/status", Some(prometheus), OPENMETRICS),
        ("/status?format=prometheus", None, TEXT),
        ("/status?a=b&format=openmetrics", Some("application/json"), OPENMETRICS),
        ("/status?format=json", Some(prometheus), JSON),
        ("/status?format=", Some("text/plain"), TEXT),
    ];
    for (path, accept, content_type) in rows {
        let ask = || match accept {
            Some(accept) => get(&nginx, path).header("Accept", accept),
            None => get(&nginx, path),
        };
        for request in [ask(), ask().http2(), ask().http10()] {
            let response = request.send();
            assert_eq!(response.status, 200);
            assert_eq!(response.header("Content-Type"), Some(content_type), "{path} {accept:?}");
            assert_eq!(response.header("Cache-Control"), Some("no-store"));
            let text = response.text();
            match content_type {
                JSON => assert!(serde_json::from_str::<serde_json::Value>(&text).is_ok()),
                _ => assert_eq!(text.ends_with("# EOF\n"), content_type == OPENMETRICS),
            }
        }
    }
}

#[test]
fn the_text_format_is_as_prometheus_reads_it() {
    let nginx = inline().server(LOCATION).file("a.txt", harness::corpus::text(1000)).start();
    get(&nginx, "/a.txt").accept("zstd").send();
    let text = get(&nginx, "/status?format=prometheus").send().text();
    let scrape = prometheus_parse::Scrape::parse(text.lines().map(|line| Ok(line.into()))).unwrap();
    let value = |metric: &str| {
        let sample = scrape.samples.iter().find(|sample| {
            sample.metric == metric && sample.labels.get("coding").is_none_or(|coding| coding == "zstd")
        });
        sample.unwrap_or_else(|| panic!("no {metric} in {text}")).value.clone()
    };
    assert_eq!(value("nginx_compress_responses_total"), prometheus_parse::Value::Counter(1.0));
    assert_eq!(value("nginx_compress_bytes_in_total"), prometheus_parse::Value::Counter(1000.0));
    assert_eq!(value("nginx_compress_jobs_running"), prometheus_parse::Value::Gauge(0.0));
}

#[test]
fn head_has_the_header_of_get_and_other_methods_are_refused() {
    let nginx = inline().server(LOCATION).start();
    for http2 in [false, true] {
        let ask = |request: harness::Request| if http2 { request.http2().send() } else { request.send() };
        let (whole, header) = (ask(get(&nginx, "/status")), ask(head(&nginx, "/status")));
        assert_eq!((header.status, header.body.len()), (200, 0));
        for name in ["Content-Type", "Cache-Control"] {
            assert_eq!(header.header(name), whole.header(name));
        }
        // The request before is in the counts, and may make one of them longer.
        let length: usize = header.header("Content-Length").unwrap().parse().unwrap();
        assert!(length.abs_diff(whole.body.len()) <= 1);
        for refused in [post(&nginx, "/status", "a=b"), request(&nginx, "DELETE", "/status")] {
            let refused = ask(refused);
            assert_eq!((refused.status, refused.header("Allow")), (405, Some("GET, HEAD")));
        }
    }
}

#[test]
fn a_body_of_the_request_is_not_in_the_way() {
    let nginx = inline().server(LOCATION).start();
    let mut client = harness::Connection::connect(nginx.port()).unwrap();
    for _ in 0..2 {
        client.send(b"GET /status HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n\r\nhello").unwrap();
        let response = client.read_response("GET").unwrap();
        assert_eq!((response.status, response.header("Content-Type")), (200, Some(JSON)));
    }
}

#[test]
fn the_answer_can_be_compressed_and_included() {
    let nginx = inline()
        .server("location = /status { compress_status; }")
        .server("location = /page.html { ssi on; }")
        .file("page.html", "<!--# include virtual=\"/status\" -->!")
        .start();
    for coding in ["br", "zstd"] {
        let response = get(&nginx, "/status").accept(coding).send();
        assert_eq!(response.coding(), coding);
        assert!(serde_json::from_str::<serde_json::Value>(&response.text()).is_ok());
    }
    let page = get(&nginx, "/page.html").send().text();
    assert!(page.starts_with("{\n") && page.ends_with("}\n!"), "{page}");
}

#[test]
fn access_can_be_denied() {
    let nginx = inline().server("location = /status { compress_status; deny all; }").start();
    assert_eq!(get(&nginx, "/status").send().status, 403);
}
