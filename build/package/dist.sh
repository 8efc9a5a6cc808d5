#!/bin/sh
# Makes a tarball of the committed sources with all crates, which builds without a network.
# Usage: build/package/dist.sh OUT
set -eu

root=$(cd "$(dirname "$0")/../.." && pwd)
mkdir -p "$1"
out=$(cd "$1" && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/Cargo.toml" | head -n 1)
name=ngx_http_compress_module-$version

stage=$out/dist-stage
rm -rf "$stage"
mkdir -p "$stage/$name/.cargo"
git -C "$root" archive HEAD | tar -x -C "$stage/$name"
cd "$stage/$name"
cargo vendor --locked --versioned-dirs vendor >.cargo/config.toml
# The time of the commit, so that the same commit gives the same tarball.
tar --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$(git -C "$root" log -1 --format=%ct)" \
    -C "$stage" -cf - "$name" | gzip -9n >"$out/$name.tar.gz"
rm -rf "$stage"
echo "$out/$name.tar.gz"
