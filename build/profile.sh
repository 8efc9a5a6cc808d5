#!/bin/sh
# Counts the instructions of one response at Brotli 6 and one at Zstandard 3 on the thread pool, under callgrind, and says
# which part of them is not the encoder's, and where it goes. What the kernel does is not counted.
# Usage: build/profile.sh DIR NGINX MODULE FILE
set -eu

dir=$1
nginx=$2
module=$3
file=$4
root=$(cd "$(dirname "$0")/.." && pwd)
rm -rf "$dir"
mkdir -p "$dir/tmp" "$dir/html"
dir=$(cd "$dir" && pwd)
cp "$file" "$dir/html/body"

cat >"$dir/nginx.conf" <<CONF
load_module "$module";
daemon off;
master_process off;
pid nginx.pid;
error_log stderr warn;
thread_pool compress threads=1;
events {}
http {
    access_log off;
    client_body_temp_path tmp/client_body;
    proxy_temp_path tmp/proxy;
    fastcgi_temp_path tmp/fastcgi;
    uwsgi_temp_path tmp/uwsgi;
    scgi_temp_path tmp/scgi;
    sendfile on;
    brotli_comp_level 6;
    brotli_types *;
    brotli_thread_pool compress;
    zstd_comp_level 3;
    zstd_types *;
    zstd_thread_pool compress;
    brotli on;
    zstd on;
    server {
        listen unix:$dir/socket;
        root "$dir/html";
    }
}
CONF

valgrind -q --tool=callgrind --fair-sched=yes --callgrind-out-file="$dir/counts" \
    "$nginx" -p "$dir" -c nginx.conf -e stderr >"$dir/log" 2>&1 &
pid=$!
trap 'kill $pid 2>/dev/null' EXIT
get() { curl -sf --unix-socket "$dir/socket" -H "Accept-Encoding: $1" -o "$dir/body.$1" http://localhost/body; }
for _ in $(seq 100); do
    [ -S "$dir/socket" ] && break
    sleep 0.2
done

# The first response of each makes the thread's encoder.
for coding in br zstd; do
    get "$coding"
    callgrind_control --zero $pid >/dev/null
    get "$coding"
    callgrind_control --dump=$coding $pid >/dev/null
done
for n in 1 2; do
    awk -f "$root/build/profile.awk" "$dir/counts.$n"
done
