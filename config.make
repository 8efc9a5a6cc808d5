# Appended to NGINX's Makefile: cargo decides what is out of date.

ngx_addon_name=ngx_http_compress_module
ngx_compress_target=$NGX_OBJS/$ngx_addon_name
ngx_compress_lib=$ngx_compress_target/${NGX_RUST_TARGET:+$NGX_RUST_TARGET/}release/lib$ngx_addon_name.a

cat << END                                                    >> $NGX_MAKEFILE

.PHONY: $ngx_compress_lib

$ngx_compress_lib:
	NGINX_SOURCE_DIR="$PWD" NGINX_BUILD_DIR="\$\$(cd $NGX_OBJS && pwd)" \\
	${NGX_CARGO:-cargo} rustc --release --lib --crate-type staticlib \\
		--manifest-path "$ngx_addon_dir/Cargo.toml" \\
		--target-dir "$ngx_compress_target" \\
		--no-default-features \\
		${NGX_RUST_TARGET:+--target $NGX_RUST_TARGET} $NGX_CARGO_OPT

$NGX_OBJS/$ngx_addon_name$ngx_modext: $ngx_compress_lib

END
