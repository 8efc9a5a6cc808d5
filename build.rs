//! Turns what nginx-sys tells of its NGINX into `cfg` values, and into variables that the tests find it by.

use std::env;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    list_cfg("ngx_feature", "FEATURES");
    list_cfg("ngx_os", "OS");

    // `ngx_table_elt_t.next` appeared in 1.23.0.
    println!("cargo::rustc-check-cfg=cfg(ngx_table_elt_next)");
    let version = nginx("VERSION_NUMBER").and_then(|number| number.parse().ok()).unwrap_or(0);
    if version >= 1_023_000 {
        println!("cargo::rustc-cfg=ngx_table_elt_next");
    }

    if env::var("CARGO_CFG_TARGET_OS").as_deref() == Ok("linux") {
        // The encoders' symbols must not meet those of another module's libbrotli or libzstd.
        println!("cargo::rustc-cdylib-link-arg=-Wl,--exclude-libs,ALL");
    }

    // cargo sets these for the tests and benches that it runs.
    for name in ["BUILD_DIR", "INCLUDE"] {
        if let Some(value) = nginx(name) {
            println!("cargo::rustc-env=DEP_NGINX_{name}={value}");
        }
    }
}

/// Sets `cfg` to each value of a list, and tells the compiler which values there could be.
fn list_cfg(cfg: &str, name: &str) {
    let known = nginx(&format!("{name}_CHECK")).unwrap_or_else(|| "any()".into());
    println!("cargo::rustc-check-cfg=cfg({cfg}, values({known}))");
    for value in nginx(name).unwrap_or_default().split(',').map(str::trim).filter(|value| !value.is_empty()) {
        println!("cargo::rustc-cfg={cfg}=\"{value}\"");
    }
}

/// A value that the build script of nginx-sys published.
fn nginx(name: &str) -> Option<String> {
    let name = format!("DEP_NGINX_{name}");
    println!("cargo::rerun-if-env-changed={name}");
    env::var(name).ok()
}
