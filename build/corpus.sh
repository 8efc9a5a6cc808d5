#!/bin/sh
# Fetches the files that benches compress, by npm, and keeps them.
# Usage: build/corpus.sh DIR
set -eu

dir=$1
stamp="jquery@3.7.1 react-dom@18.3.1 typescript@5.6.3 @mdn/browser-compat-data@5.6.0 1"
if [ "$(cat "$dir/stamp" 2>/dev/null)" = "$stamp" ]; then
    exit 0
fi
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

fetch() { # package, file in it, name to keep it by, the bytes of it that are kept
    echo "Fetching $1 (once)" >&2
    tar -xzf "$(npm pack --silent "$1")"
    head -c "${4:-100000000}" "package/$2" >"$dir/$3"
    rm -rf package
}

fetch jquery@3.7.1 dist/jquery.min.js jquery.min.js
fetch react-dom@18.3.1 umd/react-dom.development.js react-dom.js
fetch @mdn/browser-compat-data@5.6.0 data.json compat.json 2500000
fetch typescript@5.6.3 lib/typescript.js typescript.js
echo "$stamp" >"$dir/stamp"
