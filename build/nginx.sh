#!/bin/sh
# Builds an NGINX for the module to be built against and tested on: DIR/src holds its sources and DIR/objs
# its build, with the binary DIR/objs/nginx. The sources are those of the nginx-src package, which Cargo.lock
# pins through the `vendored` feature; they are copied, since building them dirties their directory.
# Usage: build/nginx.sh DIR [configure argument...]
# Does nothing when DIR was built from the same sources with the same arguments, unless these add a module
# (--add-module, --add-dynamic-module): then its `make` is run again, which knows what is out of date.
set -eu

dir=$1
shift
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)

# Two `make` at once must not build in one directory.
if command -v flock >/dev/null 2>&1; then
    exec 9>"$dir/lock"
    flock 9
fi

root=$(cd "$(dirname "$0")/.." && pwd)
locked_version() {
    sed -n '/^name = "nginx-src"$/{n;s/^version = "\(.*\)"$/\1/p;}' "$root/Cargo.lock" 2>/dev/null || true
}

# Not the job server of the calling make: NGINX's is a build of its own.
make_nginx() { env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL make -j "$(getconf _NPROCESSORS_ONLN)" -f ../objs/Makefile "$@"; }

goals=binary
more=
case " $*" in
    *" --add-"*)
        goals="binary modules"
        more="$(cat "$root/config" "$root/config.make" | cksum) ${NGX_CARGO_OPT:-}"
        ;;
esac
stamp="nginx-src $(locked_version) $* $more"
if [ -n "$more" ] && [ "$(cat "$dir/stamp" 2>/dev/null)" = "$stamp" ]; then
    cd "$dir/src"
    # shellcheck disable=SC2086  # a list of words
    make_nginx $goals >"$dir/build.log" 2>&1 || { tail -n 40 "$dir/build.log" >&2; exit 1; }
    exit 0
fi
if [ -x "$dir/objs/nginx" ] && [ "$(cat "$dir/stamp" 2>/dev/null)" = "$stamp" ]; then
    exit 0
fi

sources=$(cargo metadata --manifest-path "$root/Cargo.toml" --all-features --format-version 1 \
    --filter-platform "$(rustc -vV | sed -n 's/^host: //p')" |
    sed -n 's/.*"manifest_path":"\([^"]*nginx-src[^"/]*\)\/Cargo.toml".*/\1/p')
if [ ! -d "$sources/nginx" ]; then
    echo "build/nginx.sh: cargo metadata names no nginx-src package with sources" >&2
    exit 1
fi
# A first run of cargo wrote the lock file.
stamp="nginx-src $(locked_version) $* $more"

echo "Building NGINX ($stamp) in $dir (once)" >&2
rm -rf "$dir/src" "$dir/stamp"
# What cargo built of an added module stays: cargo knows what is out of date.
[ ! -d "$dir/objs" ] ||
    find "$dir/objs" -mindepth 1 -maxdepth 1 ! -name ngx_http_compress_module -exec rm -rf {} +
cp -R "$sources/nginx" "$dir/src"
chmod -R u+w "$dir/src"
cd "$dir/src"
# A build of the `vendored` feature leaves these behind in the package.
rm -rf Makefile objs
{
    # A relative build directory, as NGINX's makefiles do not bear a space in a path.
    auto/configure --builddir=../objs "$@"
    # shellcheck disable=SC2086  # a list of words
    make_nginx $goals
} >"$dir/build.log" 2>&1 || {
    tail -n 40 "$dir/build.log" >&2
    echo "build/nginx.sh: NGINX did not build, see $dir/build.log" >&2
    exit 1
}
echo "$stamp" >"$dir/stamp"
