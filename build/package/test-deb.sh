#!/bin/sh
# Installs a .deb in a fresh root of Debian beside Debian's NGINX, has it serve with the README's configuration, updates,
# removes and purges it. Needs root, for chroot and a network of its own.
# Usage: build/package/test-deb.sh PACKAGE ROOT
set -eu

package=$(cd "$(dirname "$1")" && pwd)/$(basename "$1")
mkdir -p "$2"
dir=$(cd "$2" && pwd)
name=libnginx-mod-http-compress
readme=$(cd "$(dirname "$0")/../.." && pwd)/README.md

fail() {
    echo "test-deb: $*" >&2
    exit 1
}
[ "$(id -u)" = 0 ] || fail "needs root"

# A root that is used once; the plain one is kept for the next time.
# shellcheck source=/dev/null
. /etc/os-release
base=$dir/$VERSION_CODENAME
if [ ! -e "$base/.complete" ]; then
    rm -rf "$base"
    # shellcheck disable=SC2016  # apt-get expands it
    mirror=$(apt-get indextargets --format '$(REPO_URI)' "Created-By: Packages" | head -n 1)
    debootstrap --variant=minbase --include=ca-certificates,curl,brotli,zstd "$VERSION_CODENAME" "$base" "$mirror" >"$dir/log" 2>&1 ||
        fail "debootstrap failed, see $dir/log"
    # No service starts in here.
    printf '#!/bin/sh\nexit 101\n' >"$base/usr/sbin/policy-rc.d"
    chmod +x "$base/usr/sbin/policy-rc.d"
    cp /etc/apt/sources.list "$base/etc/apt/" 2>/dev/null || true
    cp /etc/apt/sources.list.d/* "$base/etc/apt/sources.list.d/" 2>/dev/null || true
    in_base() { chroot "$base" env DEBIAN_FRONTEND=noninteractive "$@" >>"$dir/log" 2>&1; }
    { in_base apt-get -q update && in_base apt-get -q install -y --no-install-recommends nginx; } || fail "no nginx, see $dir/log"
    touch "$base/.complete"
fi
fresh=$dir/fresh
rm -rf "$fresh"
cp -a "$base" "$fresh"
trap 'rm -rf "$fresh"' EXIT
in_root() { chroot "$fresh" env DEBIAN_FRONTEND=noninteractive "$@"; }

cp "$package" "$fresh/new.deb"
in_root find / -xdev -path /proc -prune -o -path /sys -prune -o -print | sort >"$dir/before"

in_root dpkg -i /new.deb
in_root nginx -t || fail "NGINX does not start with the package"
[ -L "$fresh/etc/nginx/modules-enabled/50-mod-http-compress.conf" ] || fail "the module is not enabled"

# The README's configuration: what is outside of its http block, and what is in it.
sed -n '/^thread_pool/,/^```/p' "$readme" | sed -n '1,/^http {/{/^http {/d;p;}' >"$fresh/etc/nginx/modules-enabled/60-pool.conf"
sed -n '/^thread_pool/,/^```/p' "$readme" | sed -n '/^http {/,/^}/{/^http {/d;/^}/d;p;}' >"$fresh/etc/nginx/conf.d/compress.conf"
grep -q thread_pool "$fresh/etc/nginx/modules-enabled/60-pool.conf" || fail "the README has no thread_pool"
grep -q "brotli on" "$fresh/etc/nginx/conf.d/compress.conf" || fail "the README does not switch brotli on"
in_root nginx -t || fail "NGINX does not take the README's configuration"
in_root sh -c 'seq 100000 >/var/www/html/numbers.txt'
cat >"$fresh/serve.sh" <<'SERVE'
set -e
nginx
trap 'nginx -s stop' EXIT
ask() { curl -sS -H "Accept-Encoding: $1" http://127.0.0.1/numbers.txt; }
ask br | brotli -dc | cmp - /var/www/html/numbers.txt
ask zstd | zstd -dcq | cmp - /var/www/html/numbers.txt
ask identity | cmp - /var/www/html/numbers.txt
nginx -s reload
sleep 1
ask br | brotli -dc | cmp - /var/www/html/numbers.txt
SERVE
unshare --net sh -c "ip link set lo up && chroot '$fresh' sh /serve.sh" || fail "it does not serve"

in_root dpkg -i /new.deb
rm "$fresh/etc/nginx/modules-enabled/50-mod-http-compress.conf"
in_root dpkg -i /new.deb
[ ! -e "$fresh/etc/nginx/modules-enabled/50-mod-http-compress.conf" ] || fail "an update brought back the link that was taken away"
ln -s /usr/share/nginx/modules-available/mod-http-compress.conf "$fresh/etc/nginx/modules-enabled/50-mod-http-compress.conf"

rm "$fresh/etc/nginx/modules-enabled/60-pool.conf" "$fresh/etc/nginx/conf.d/compress.conf" "$fresh/serve.sh" "$fresh/var/www/html/numbers.txt"
in_root dpkg --remove $name
in_root nginx -t || fail "NGINX does not start when the package is removed"
in_root dpkg -i /new.deb
[ -L "$fresh/etc/nginx/modules-enabled/50-mod-http-compress.conf" ] || fail "installed again, it is not enabled"
in_root dpkg --remove $name
in_root dpkg --purge $name
in_root find / -xdev -path /proc -prune -o -path /sys -prune -o -print | sort >"$dir/after"
# What NGINX and dpkg themselves write.
left=$(comm -13 "$dir/before" "$dir/after" | grep -v -e '^/var/log/' -e '^/var/lib/nginx' -e '^/var/lib/dpkg/' -e '^/run/' || true)
[ -z "$left" ] || fail "left after purge: $left"
echo "test-deb: installed, served br and zstd, updated, removed and purged"
