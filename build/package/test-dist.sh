#!/bin/sh
# Builds the module, and an NGINX, from the tarball of dist.sh, with no crates but those in it.
# Usage: build/package/test-dist.sh TARBALL DIR
set -eu

tarball=$1
dir=$2
rm -rf "$dir"
mkdir -p "$dir/home"
tar -xzf "$tarball" -C "$dir"
cd "$dir/$(basename "$tarball" .tar.gz)"
# The caller's settings are of the checkout.
env -u CARGO_TARGET_DIR -u NGINX_SOURCE_DIR -u NGINX_BUILD_DIR -u MAKEFLAGS -u MFLAGS -u MAKELEVEL \
    CARGO_HOME="$dir/home" CARGO_NET_OFFLINE=true make release
test -s target/release/ngx_http_compress_module.so
[ ! -d "$dir/home/registry" ] || { echo "$0: crates came from elsewhere" >&2; exit 1; }
rm -rf "$dir"
echo "$tarball builds offline"
