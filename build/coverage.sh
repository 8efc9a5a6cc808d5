#!/bin/sh
# Measures which lines of core/src and src the tests run, prints a table, and fails where too few are.
# Usage: build/coverage.sh DIR ; the filter of tests in t/ is in T, and with one nothing is too few.
#
# The module and the tests of core are instrumented, NGINX and the tests in t/ are not. Every process adds its counts to
# one file for each program or module (%m) when it exits; those of a process that is killed are lost.
set -eu

dir=$1
# The tools must be of rustc's version of LLVM, or of a later one.
llvm=/usr/lib/llvm-$(rustc -vV | sed -n 's/^LLVM version: \([0-9]*\).*/\1/p')/bin
[ -x "$llvm/llvm-cov" ] || llvm=$(dirname "$(command -v llvm-cov)")
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
target=$(rustc -vV | sed -n 's/^host: //p')
cd "$root"

rm -rf "$dir/counts"
mkdir "$dir/counts"
LLVM_PROFILE_FILE=$dir/counts/%4m.profraw
export LLVM_PROFILE_FILE

# With --target, build scripts go without.
instrumented() {
    command=$1
    shift
    RUSTFLAGS=-Cinstrument-coverage CARGO_INCREMENTAL=0 \
        cargo "$command" --target "$target" --target-dir "$dir/cargo" "$@"
}
instrumented build --features test-hooks
instrumented test -p compress_core
module=$dir/cargo/$target/debug/libngx_http_compress_module.so
failed=
# shellcheck disable=SC2086  # a list of words
TEST_NGINX_MODULE=$module cargo test --features test-hooks --test t -- ${T:-} || failed=1

"$llvm/llvm-profdata" merge -sparse "$dir"/counts/*.profraw -o "$dir/all.profdata"
set -- "$module"
for program in $(instrumented test -p compress_core --no-run 2>&1 | sed -n 's/^ *Executable .*(\(.*\))$/\1/p'); do
    set -- "$@" -object "$program"
done
"$llvm/llvm-cov" export -format=lcov -instr-profile="$dir/all.profdata" "$@" \
    --sources "$root/core/src" "$root/src" >"$dir/all.lcov"
awk -v root="$root/" -v bars="core=95 src=85" -v part="${T:-}" -f build/coverage.awk "$dir/all.lcov"
[ -z "$failed" ]
