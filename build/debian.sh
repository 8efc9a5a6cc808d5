#!/bin/sh
# Unpacks the distribution's packaged NGINX (Debian 12: 1.22.1) without installing it or starting its service:
# DIR/src and DIR/objs are what to build the module against, DIR/root/usr/sbin/nginx is the program, and
# DIR/root/usr/lib/nginx/modules has the Brotli modules that the distribution packages.
# Usage: build/debian.sh DIR
set -eu

packages="nginx nginx-dev libnginx-mod-http-brotli-filter libnginx-mod-http-brotli-static libbrotli1"

dir=$1
mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
if [ "$(cat "$dir/stamp" 2>/dev/null)" = "$packages" ]; then
    exit 0
fi

if ! command -v apt-get >/dev/null 2>&1; then
    echo "build/debian.sh: this needs the packages of Debian or Ubuntu" >&2
    exit 1
fi
echo "Unpacking the distribution's NGINX in $dir (once)" >&2
rm -rf "$dir/deb" "$dir/root" "$dir/src" "$dir/objs" "$dir/stamp"
mkdir -p "$dir/deb" "$dir/root"
cd "$dir/deb"
# shellcheck disable=SC2086  # a list of words
download() { apt-get -q download $packages >"$dir/build.log" 2>&1; }
if ! download; then
    # The lists of packages are missing or old.
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    $as_root apt-get -qq -o DPkg::Lock::Timeout=600 update >&2
    download || { cat "$dir/build.log" >&2; exit 1; }
fi
for package in *.deb; do
    dpkg -x "$package" "$dir/root"
done

# nginx-dev has headers and scripts, not a configured tree.
cp -R "$dir/root/usr/share/nginx/src" "$dir/src"
cd "$dir/src"
bash -c '. ./conf_flags && ./configure "${NGX_CONF_FLAGS[@]}" --builddir=../objs' >>"$dir/build.log" 2>&1 || {
    tail -n 40 "$dir/build.log" >&2
    exit 1
}
echo "$packages" >"$dir/stamp"
