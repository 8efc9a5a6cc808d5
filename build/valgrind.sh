#!/bin/sh
# Runs tests in t/ with NGINX under valgrind's memcheck, and fails on any error that it reports.
# Usage: build/valgrind.sh DIR MODULE ; the names of tests are in T, else a short list of them is run.
#
# Leaks are left to build/sanitize.sh, which sees the small pieces of NGINX's pools too.
set -eu

dir=$1
module=$2
root=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$dir"
mkdir -p "$dir/logs"

# What the tests take for NGINX.
cat >"$dir/nginx" <<END
#!/bin/sh
exec valgrind -q --fair-sched=yes --log-file="$dir/logs/%p" \\
    "$TEST_NGINX_BINARY" "\$@"
END
chmod +x "$dir/nginx"

TEST_NGINX_BINARY=$dir/nginx TEST_NGINX_MODULE=$module TEST_SANITIZED=valgrind
export TEST_NGINX_BINARY TEST_NGINX_MODULE TEST_SANITIZED
status=0
# shellcheck disable=SC2086  # a list of words
cargo test --manifest-path "$root/Cargo.toml" --features test-hooks --test t -- --test-threads 2 \
    ${T:-headers:: pool::jobs_that pool::a_panic abort::a_file streaming::bug_30} || status=$?

# With -q a log has errors alone.
for log in "$dir"/logs/*; do
    if [ -s "$log" ]; then
        cat "$log" >&2
        status=1
    fi
done
exit $status
