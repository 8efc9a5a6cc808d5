#!/bin/sh
# Makes a package of the module for the NGINX that it was built for.
# Usage: build/package/package.sh deb|rpm MODULE OUT
# MODULE is the built .so; OUT gets the package. NGINX_SOURCE_DIR names the sources that the module was built against.
set -eu

kind=$1
module=$(cd "$(dirname "$2")" && pwd)/$(basename "$2")
mkdir -p "$3"
out=$(cd "$3" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)

name=libnginx-mod-http-compress
[ "$kind" = deb ] || name="nginx-mod-http-compress"
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
nginx=$(sed -n 's/^#define NGINX_VERSION  *"\(.*\)"$/\1/p' "$NGINX_SOURCE_DIR/src/core/nginx.h")

# The module loads in just this NGINX. Debian's says so by a name for its binary interface, Red Hat's by another; the
# packages of nginx.org have their version only.
abi=$(sed -n 's/^nginx:abi=//p' "$NGINX_SOURCE_DIR/debian/libnginx-mod.abisubstvars" 2>/dev/null || true)
[ -n "$abi" ] || abi="nginx (>= $nginx), nginx (<< $nginx.~)"

# Who stands for the package; a distributor gives his own name.
maintainer=${MAINTAINER:-The ngx_http_compress_module authors <ngx-http-compress@example.org>}

# The packagers take a crate; this one has nothing but what they need.
stage=$out/$kind-stage
rm -rf "$stage"
mkdir -p "$stage"
cp "$module" "$stage/ngx_http_compress_module.so"
"${STRIP:-strip}" --strip-unneeded "$stage/ngx_http_compress_module.so"
cp "$here"/copyright "$here"/postinst "$here"/prerm "$here"/postrm "$root/README.md" "$root"/docs/*.md "$stage"
cp "$root/CHANGELOG.md" "$stage/NEWS.md"
: >"$stage/lib.rs"
cat >"$stage/changelog" <<CHANGES
$name ($version-1) unstable; urgency=medium

  * See CHANGELOG.md.

 -- $maintainer  $(date -R -d "@${SOURCE_DATE_EPOCH:-$(date +%s)}")
CHANGES
if [ "$kind" = deb ]; then
    cp "$here/mod-http-compress.conf" "$stage/mod-http-compress.conf"
else
    echo 'load_module "/usr/lib64/nginx/modules/ngx_http_compress_module.so";' >"$stage/mod-http-compress.conf"
fi
cat >"$stage/Cargo.toml" <<MANIFEST
[workspace]

[package]
name = "$name"
version = "$version"
edition = "2024"
license = "BSD-2-Clause"
description = "Brotli and Zstandard compression for NGINX on its thread pools"

[lib]
path = "lib.rs"

[package.metadata.deb]
maintainer = "$maintainer"
copyright = "2026 The ngx_http_compress_module authors"
section = "httpd"
priority = "optional"
depends = "$abi, \$auto"
# They have the same directives, so NGINX does not start with both.
conflicts = "libnginx-mod-http-brotli-filter, libnginx-mod-http-brotli-static, libnginx-mod-http-zstd"
changelog = "changelog"
maintainer-scripts = "."
extended-description = """
This module compresses responses with Brotli and Zstandard on the thread pools
of NGINX, so that a worker serves its other connections meanwhile. It takes the
directives of google/ngx_brotli and tokers/zstd-nginx-module.

It was built for NGINX $nginx."""
assets = [
    ["ngx_http_compress_module.so", "usr/lib/nginx/modules/", "644"],
    ["mod-http-compress.conf", "usr/share/nginx/modules-available/", "644"],
    ["copyright", "usr/share/doc/$name/copyright", "644"],
    ["*.md", "usr/share/doc/$name/", "644"],
]

[package.metadata.generate-rpm]
summary = "Brotli and Zstandard compression for NGINX on its thread pools"
auto-req = "builtin"
assets = [
    { source = "ngx_http_compress_module.so", dest = "/usr/lib64/nginx/modules/ngx_http_compress_module.so", mode = "755" },
    { source = "mod-http-compress.conf", dest = "/usr/share/nginx/modules/mod-http-compress.conf", mode = "644" },
    { source = "copyright", dest = "/usr/share/licenses/$name/copyright", mode = "644" },
    { source = "*.md", dest = "/usr/share/doc/$name/", mode = "644", doc = true },
]

[package.metadata.generate-rpm.requires]
"nginx(abi)" = "= $nginx"
MANIFEST

cd "$stage"
target=${TARGET:+--target $TARGET}
# A directory of cargo's that neither packager uses but to look for what this crate would build.
CARGO_TARGET_DIR=$stage/target
export CARGO_TARGET_DIR
# shellcheck disable=SC2086  # a list of words
case $kind in
    deb) cargo deb --no-build --no-strip --output "$out" $target ;;
    rpm) cargo generate-rpm --output "$out" $target ;;
    *) echo "usage: $0 deb|rpm MODULE OUT" >&2; exit 1 ;;
esac
