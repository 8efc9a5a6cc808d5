#!/bin/sh
# Serves a directory with the module until interrupted.
# Usage: build/serve.sh NGINX MODULE DIR PORT
set -eu

nginx=$1
module=$2
root=$(cd "$3" && pwd)
port=$4

prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
mkdir "$prefix/tmp"
user=
[ "$(id -u)" != 0 ] || user="user root;"
types="text/css text/plain text/xml text/markdown application/json application/javascript application/xml image/svg+xml"

cat >"$prefix/nginx.conf" <<CONF
load_module "$module";
daemon off;
$user
worker_processes 1;
pid nginx.pid;
error_log stderr warn;
thread_pool compress threads=$(getconf _NPROCESSORS_ONLN);
events {}
http {
    access_log off;
    client_body_temp_path tmp/client_body;
    proxy_temp_path tmp/proxy;
    fastcgi_temp_path tmp/fastcgi;
    uwsgi_temp_path tmp/uwsgi;
    scgi_temp_path tmp/scgi;
    types {
        text/html html htm; text/css css; text/plain txt rs c h toml sh; text/markdown md; text/xml xml;
        application/json json; application/javascript js mjs; image/svg+xml svg; image/png png;
    }
    default_type application/octet-stream;
    sendfile on;
    brotli on;
    brotli_thread_pool compress;
    brotli_types $types;
    zstd on;
    zstd_thread_pool compress;
    zstd_types $types;
    server {
        listen 127.0.0.1:$port;
        root "$root";
        autoindex on;
    }
}
CONF
echo "Serving $root on http://127.0.0.1:$port/ (Ctrl-C ends it); try" >&2
printf "  curl -s -o /dev/null -w '%%{size_download} bytes\\\\n' -H 'Accept-Encoding: br' http://127.0.0.1:%s/\n" "$port" >&2
"$nginx" -p "$prefix" -c nginx.conf -e stderr &
# shellcheck disable=SC2064  # the number is known now
trap "kill $! 2>/dev/null" INT TERM
wait "$!" || true
