#!/bin/sh
# Installs the system packages that the build and the tests need, and only those that are missing.
# Usage: build/packages.sh [build|test|check|deb|rpm|sanitize|fuzz|bench|coverage|valgrind]   (test, the default, adds what tests and benches run)
set -eu

what=${1:-test}

have_command() { command -v "$1" >/dev/null 2>&1; }
have_header() { echo "#include <$1>" | gcc -E - >/dev/null 2>&1; }
# bindgen wants the library and the resource headers (stddef.h) that come beside it.
have_libclang() {
    if [ -n "${LIBCLANG_PATH:-}" ]; then return 0; fi
    for lib in /usr/lib/llvm-*/lib/libclang*.so* /usr/lib64/libclang*.so* /usr/local/lib/libclang*.so*; do
        [ -e "$lib" ] || continue
        for header in /usr/lib/llvm-*/lib/clang/*/include/stddef.h /usr/lib/clang/*/include/stddef.h \
            /usr/lib64/clang/*/include/stddef.h /usr/local/lib/clang/*/include/stddef.h; do
            [ -e "$header" ] && return 0
        done
    done
    return 1
}

missing=
need() { # package, probe...
    package=$1
    shift
    "$@" || missing="$missing $package"
}

need gcc have_command gcc
need make have_command make
need libc6-dev have_header stdlib.h
need libclang-dev have_libclang
need libpcre2-dev have_header pcre2posix.h
need zlib1g-dev have_header zlib.h
need libssl-dev have_header openssl/ssl.h
if [ "$what" = test ]; then
    for command in curl openssl zstd brotli fcgiwrap; do
        need "$command" have_command "$command"
    done
fi
if [ "$what" = check ]; then
    need shellcheck have_command shellcheck
fi
if [ "$what" = sanitize ]; then
    need clang have_command clang
fi
if [ "$what" = deb ]; then
    need lintian have_command lintian
    need debootstrap have_command debootstrap
    need iproute2 have_command ip
fi
if [ "$what" = rpm ]; then
    need rpm have_command rpm
fi
if [ "$what" = bench ]; then
    need wrk have_command wrk
    need nghttp2-client have_command h2load
    need npm have_command npm
    need brotli have_command brotli
fi
if [ "$what" = fuzz ]; then
    need clang have_command clang++
fi
if [ "$what" = coverage ]; then
    # Of the version of LLVM that rustc has.
    llvm=llvm-$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')
    need "$llvm" test -x "/usr/lib/$llvm/bin/llvm-cov"
fi
if [ "$what" = valgrind ]; then
    need valgrind have_command valgrind
    need libc6-dbg test -d /usr/lib/debug/.build-id
fi
[ -n "$missing" ] || exit 0

if ! have_command apt-get; then
    echo "Install the equivalents of these Debian packages, then run make again:$missing" >&2
    exit 1
fi
as_root=
if [ "$(id -u)" != 0 ]; then
    if ! have_command sudo; then
        echo "As root, run: apt-get install --no-install-recommends$missing" >&2
        exit 1
    fi
    as_root=sudo
fi
echo "Installing system packages:$missing" >&2
apt() { $as_root env DEBIAN_FRONTEND=noninteractive apt-get -o DPkg::Lock::Timeout=600 "$@" >&2; }
apt -qq update
# shellcheck disable=SC2086  # a list of words
apt install -y --no-install-recommends $missing ca-certificates
