//! Which coding a client gets: from `Accept-Encoding` on the wire to the answer.

use harness::{Request, get};

use super::{builder, send};
use crate::support::obedient;

/// Lines of `Accept-Encoding`, and the coding with gzip on and off.
const NEGOTIATED: [(&[&str], &str, &str); 19] = [
    (&[], "", ""),
    (&[""], "", ""),
    (&["br;q=0.1, gzip;q=1"], "gzip", "br"),
    (&["gzip, br, zstd"], "zstd", "zstd"),
    (&["gzip, br"], "br", "br"),
    (&["gzip", "zstd;q=0.5", "br;q=0.6"], "gzip", "br"),
    (&["gzip;q=0.5", "zstd;q=0.5", "br;q=0.6"], "br", "br"),
    (&["br;q=0", "br"], "", ""),
    (&["BR;Q=0.2,\tZstd;q=0.1"], "br", "br"),
    (&["*"], "zstd", "zstd"),
    (&["*;q=0.1, zstd;q=0"], "br", "br"),
    (&["*;q=0, br"], "br", "br"),
    (&["identity, br;q=0.5"], "", ""),
    (&["identity;q=0.5, br;q=0.5"], "br", "br"),
    (&["identity;q=0"], "", ""),
    (&["brx, xbr, zstd2"], "", ""),
    (&["br;q=1.001, zstd;q=x, gzip;q=0.1"], "gzip", ""),
    (&["br;level=5"], "", ""),
    (&["deflate, compress"], "", ""),
];

#[test]
fn a_client_gets_what_it_prefers() {
    let upstream = obedient();
    let gzip_off = "location /plain/ { gzip off; alias %%PREFIX%%/html/; }";
    let nginx = builder(&upstream).server(gzip_off).start();
    for (lines, with_gzip, without_gzip) in NEGOTIATED {
        for (path, coding) in [("/a.txt", with_gzip), ("/plain/a.txt", without_gzip)] {
            let ask = |request| lines.iter().fold(request, |request: Request, line| request.accept(line));
            assert_eq!(send(ask(get(&nginx, path))).coding(), coding, "{lines:?} {path}");
            assert_eq!(send(ask(get(&nginx, path).http2())).coding(), coding, "HTTP/2 {lines:?} {path}");
        }
    }
    // As long as NGINX takes a line.
    let long = format!("{}zstd;q=0.5, br", "unknown;q=0.5, ".repeat(530));
    assert_eq!(send(get(&nginx, "/a.txt").accept(&long)).coding(), "br");
}

#[test]
fn the_server_breaks_ties() {
    let upstream = obedient();
    for (order, all, modern) in [
        ("zstd br gzip", "zstd", "zstd"),
        ("br", "br", "br"),
        ("gzip br", "gzip", "br"),
        ("br gzip zstd", "br", "br"),
    ] {
        let nginx = builder(&upstream).http(&format!("compress_order {order};")).start();
        for (accept, coding) in [
            ("gzip, br, zstd", all),
            ("zstd;q=0.5, gzip;q=0.5, br;q=0.5", all),
            ("zstd, br", modern),
            ("gzip;q=0.4, br;q=0.4, zstd;q=0.5", "zstd"),
        ] {
            assert_eq!(send(get(&nginx, "/a.txt").accept(accept)).coding(), coding, "{order}: {accept}");
        }
    }
}
