#!/bin/sh
# Runs the tests in t/ with AddressSanitizer in NGINX, in the module and in its encoders.
# Usage: build/sanitize.sh DIR NGINX-FLAGS... ; the filter of tests is in T.
#
# One runtime serves both: that of rustc. clang only instruments NGINX (-Xclang keeps its driver from linking a runtime of
# its own), the program exports rustc's, and the module, which as a cdylib has none, finds it there. Small pieces of
# NGINX's memory pools are allocated one by one (NGX_DEBUG_PALLOC), so that the sanitizer sees each of them.
set -eu

dir=$1
shift
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
root=$(cd "$(dirname "$0")/.." && pwd)
target=$(rustc -vV | sed -n 's/^host: //p')
runtime=$(find "$(rustc --print sysroot)/lib/rustlib/$target/lib" -name 'librustc*rt.asan.a' | head -n 1)
[ -n "$runtime" ] || { echo "build/sanitize.sh: this rustc has no runtime of AddressSanitizer" >&2; exit 1; }

# What configure runs and what `nginx -t` leaves at its end is no leak of a server.
ASAN_OPTIONS=detect_leaks=0 "$root/build/nginx.sh" "$dir" "$@" --with-cc=clang \
    --with-cc-opt="-O1 -g -Xclang -fsanitize=address -fno-omit-frame-pointer -DNGX_DEBUG_PALLOC=1" \
    --with-ld-opt="-rdynamic -Wl,--whole-archive $runtime -Wl,--no-whole-archive -lpthread -lresolv -ldl -lm -lrt"

NGINX_SOURCE_DIR=$dir/src NGINX_BUILD_DIR=$dir/objs TEST_NGINX_BINARY=$dir/objs/nginx
export NGINX_SOURCE_DIR NGINX_BUILD_DIR TEST_NGINX_BINARY

# The sanitizer is not for stable releases of rustc, which have it all the same. With --target, build scripts go without.
name=$(echo "$target" | tr - _)
env RUSTC_BOOTSTRAP=1 RUSTFLAGS="-Zsanitizer=address -Cforce-frame-pointers=yes --cfg sanitized" \
    "CC_$name=clang" "CFLAGS_$name=-Xclang -fsanitize=address -fno-omit-frame-pointer" \
    cargo build --manifest-path "$root/Cargo.toml" --target "$target" --target-dir "$dir/cargo" --features test-hooks

# The tests themselves are ordinary ones; they fail on any report in NGINX's logs (t/harness/src/log.rs).
TEST_NGINX_MODULE=$dir/cargo/$target/debug/libngx_http_compress_module.so
TEST_SANITIZED=1
ASAN_OPTIONS=abort_on_error=1:halt_on_error=1:handle_segv=0:detect_stack_use_after_return=1:detect_leaks=1
LSAN_OPTIONS=suppressions=$root/build/lsan.supp:print_suppressions=0
export TEST_NGINX_MODULE TEST_SANITIZED ASAN_OPTIONS LSAN_OPTIONS
# shellcheck disable=SC2086  # a list of words
cargo test --manifest-path "$root/Cargo.toml" --target-dir "$dir/cargo" --features test-hooks --test t -- ${T:-}
