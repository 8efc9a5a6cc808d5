#!/bin/sh
# Fuzzes the targets of core/fuzz, each for so many seconds, and says how many inputs each has run.
# Usage: build/fuzz.sh DIRECTORY SECONDS [TARGET...]
# What is built, found and logged is in DIRECTORY; a target begins with its inputs there and those in core/fuzz/corpus.
set -eu

directory=$1
seconds=$2
shift 2
cd "$(dirname "$0")/../core"

# The sanitizers are an unstable option of rustc. The C encoders are to be instrumented too, by a compiler that does it
# as rustc does.
export RUSTC_BOOTSTRAP=1 CARGO_TARGET_DIR="$directory"
export CC=clang CXX=clang++ CFLAGS="-fsanitize=address,fuzzer-no-link -fno-omit-frame-pointer"
cargo fuzz build

[ $# -gt 0 ] || set -- negotiation stream brotli_segments zstd_segments configuration
mkdir -p "$directory/log" "$directory/artifacts"
failed=
for target in "$@"; do
    mkdir -p "$directory/corpus/$target"
    log=$directory/log/$target
    # What is read as a case says more the longer it is; else inputs grow only after many that are short.
    case $target in
    stream | *_segments) length="-max_len=512 -len_control=0" ;;
    *) length=-max_len=4096 ;;
    esac
    # shellcheck disable=SC2086  # two words
    if cargo fuzz run "$target" "$directory/corpus/$target" "fuzz/corpus/$target" -- -max_total_time="$seconds" \
        $length -rss_limit_mb=3072 -artifact_prefix="$directory/artifacts/$target-" -print_final_stats=1 >"$log" 2>&1; then
        sed -n "s/^stat::number_of_executed_units: */$target: /p" "$log" | sed "s/\$/ inputs, no fault/"
    else
        failed=1
        grep -v '^#[0-9]' "$log" | tail -60 >&2
        echo "$target: failed; the whole log is $log" >&2
    fi
done
[ -z "$failed" ]
