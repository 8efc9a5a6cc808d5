# `make help` lists the targets. What they need of the system, they install by build/packages.sh.

CARGO ?= cargo
CARGO_TARGET_DIR ?= $(CURDIR)/target
override CARGO_TARGET_DIR := $(abspath $(CARGO_TARGET_DIR))
export CARGO_TARGET_DIR

LIBRARY = libngx_http_compress_module.so
MODULE = ngx_http_compress_module.so

.DEFAULT_GOAL = help
.NOTPARALLEL:
.PHONY: help build release paths demo serve test-module test test-mbrotli test-debian test-nothreads test-static test-modules \
	test-t doctest sanitize check spelling audit deb deb-debian test-deb rpm test-rpm dist test-dist bench bench-quick bench-peers \
	bench-segments bench-flushes fuzz torture packages packages-build packages-check packages-deb packages-rpm packages-sanitize \
	packages-fuzz packages-bench packages-coverage packages-valgrind coverage valgrind profile clean

help: ## list the targets
	@echo "Usage: make TARGET, where TARGET is one of"
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  %-16s %s\n' "$$name" "$$text"; done
	@echo "Set NGINX_SOURCE_DIR and NGINX_BUILD_DIR to build for an NGINX of yours, and TEST_NGINX_BINARY to test on it."

include build/nginx.mk

build: nginx ## build the module for debugging (target/debug/ngx_http_compress_module.so)
	$(CARGO) build
	@cp "$(CARGO_TARGET_DIR)/debug/$(LIBRARY)" "$(CARGO_TARGET_DIR)/debug/$(MODULE)"

release: nginx ## build the module for use (target/release/ngx_http_compress_module.so); FEATURES=mbrotli: docs/benchmarks.md
	$(CARGO) build --release $(if $(FEATURES),--features "$(FEATURES)")
	@cp "$(CARGO_TARGET_DIR)/release/$(LIBRARY)" "$(CARGO_TARGET_DIR)/release/$(MODULE)"

paths: release ## print NGINX=path and MODULE=path of the release build (make -s paths)
	@echo "NGINX=$(TEST_NGINX_BINARY)"
	@echo "MODULE=$(CARGO_TARGET_DIR)/release/$(MODULE)"

demo: packages release ## show what the module does to a busy NGINX, in figures
	$(CARGO) bench --bench demo

serve: release ## serve DIR=. on PORT=8080 with everything compressed, until interrupted
	@build/serve.sh "$(TEST_NGINX_BINARY)" "$(CARGO_TARGET_DIR)/release/$(MODULE)" "$(or $(DIR),.)" "$(or $(PORT),8080)"

# The tests want hooks in the module; a build for use has none. cargo does not build a cdylib for its tests by itself.
TEST_FEATURES = --features test-hooks

test-module: nginx
	$(CARGO) build $(TEST_FEATURES)

test: packages test-module ## run all tests
	$(CARGO) test --workspace $(TEST_FEATURES)

test-mbrotli: packages-build ## run the tests of core with the feature mbrotli
	$(CARGO) test -p compress_core --features mbrotli

test-debian: packages debian ## run the tests in t/ on the distribution's packaged NGINX (Debian 12: 1.22.1)
	@$(MAKE_DEBIAN) test-t

test-nothreads: packages nginx-nothreads ## run the tests in t/ on an NGINX without threads
	@$(MAKE_NOTHREADS) test-t

# NGINX's own build of the module (config, config.make); the flags are those of the NGINX that the tests are built with.
test-static: packages nginx nginx-static ## run the tests in t/ on an NGINX with the module linked in; T=name as for test-t
	TEST_NGINX_BINARY="$(STATIC_DIR)/objs/nginx" $(CARGO) test --test t $(TEST_FEATURES) -- $(T)

test-modules: packages nginx nginx-modules ## run the tests in t/ on the module of NGINX's own build; T=name as for test-t
	TEST_NGINX_BINARY="$(MODULES_DIR)/objs/nginx" TEST_NGINX_MODULE="$(MODULES_DIR)/objs/$(MODULE)" \
		$(CARGO) test --test t $(TEST_FEATURES) -- $(T)

test-t: test-module ## run the tests in t/ alone; T=name runs those whose name holds it
	$(CARGO) test --test t $(TEST_FEATURES) -- $(T)

doctest: packages packages-check test-module ## run all that the documents show; DOCS="README.md ..." for some of them
	$(CARGO) test --test doctest $(TEST_FEATURES) -- $(DOCS)

sanitize: packages packages-sanitize ## run the tests in t/ with AddressSanitizer; T=name as for test-t
	T="$(T)" build/sanitize.sh "$(CURDIR)/target/sanitize" $(NGINX_FLAGS_PLAIN) --with-threads

coverage: packages packages-coverage nginx ## measure which lines the tests run: a table, and bars to pass; T=name as for test-t
	T="$(T)" build/coverage.sh "$(CURDIR)/target/coverage"

valgrind: packages packages-valgrind test-module ## run some of the tests in t/ with NGINX under valgrind; T="name ..." runs others
	T="$(T)" build/valgrind.sh "$(CURDIR)/target/valgrind" "$(CARGO_TARGET_DIR)/debug/$(LIBRARY)"

profile: packages-valgrind packages-bench release ## count what of a response's instructions is not the encoder's
	@build/corpus.sh "$(CURDIR)/target/corpus"
	@build/profile.sh "$(CURDIR)/target/profile" "$(TEST_NGINX_BINARY)" "$(CARGO_TARGET_DIR)/release/$(MODULE)" \
		"$(CURDIR)/target/corpus/react-dom.js"

check: packages-check nginx ## check format, lints, documentation and shell scripts
	$(CARGO) fmt --all --check
	$(CARGO) fmt --manifest-path core/fuzz/Cargo.toml --check
	$(CARGO) clippy --workspace --all-targets $(TEST_FEATURES) -- -D warnings
	$(CARGO) clippy -- -D warnings
	$(CARGO) clippy -p compress_core --all-targets --features mbrotli -- -D warnings
	RUSTDOCFLAGS=-Dwarnings $(CARGO) doc --workspace --no-deps --document-private-items
	shellcheck build/*.sh build/package/*.sh build/package/p[or]* .ci/run

# Programs of cargo's that the system does not package, built once.
TOOLS = $(CURDIR)/target/tools
$(TOOLS)/bin/%:
	CARGO_TARGET_DIR=$(TOOLS)/target $(CARGO) install $* --locked --root $(TOOLS)
	rm -rf $(TOOLS)/target

# Its package has another name. A version that Rust 1.88 compiles; the words that it knows change with each.
$(TOOLS)/bin/typos:
	CARGO_TARGET_DIR=$(TOOLS)/target $(CARGO) install typos-cli@1.40.0 --locked --root $(TOOLS)
	rm -rf $(TOOLS)/target

spelling: $(TOOLS)/bin/typos ## look for misspelt words (the first time, builds typos for some minutes)
	$(TOOLS)/bin/typos

AUDIT ?= all
audit: spelling packages-build $(TOOLS)/bin/cargo-deny ## check spelling, and licences, advisories, sources and duplicates of dependencies (AUDIT="bans licenses" for some)
	PATH="$(TOOLS)/bin:$$PATH" $(CARGO) deny check $(AUDIT)

PACKAGES = $(CURDIR)/target/packages
deb: release $(TOOLS)/bin/cargo-deb ## make a Debian package for the NGINX of NGINX_SOURCE_DIR (target/packages)
	PATH="$(TOOLS)/bin:$$PATH" build/package/package.sh deb "$(CARGO_TARGET_DIR)/release/$(MODULE)" $(PACKAGES)

deb-debian: packages-deb debian ## make the package for the distribution's NGINX, and check it with lintian
	@$(MAKE_DEBIAN) deb
	lintian --allow-root --fail-on error $(PACKAGES)/*.deb

test-deb: deb-debian ## install, use, update and purge that package in a fresh Debian (as root)
	build/package/test-deb.sh $(PACKAGES)/*.deb "$(CURDIR)/target/deb-roots"

rpm: release $(TOOLS)/bin/cargo-generate-rpm ## make an RPM package for the NGINX of NGINX_SOURCE_DIR (target/packages)
	PATH="$(TOOLS)/bin:$$PATH" build/package/package.sh rpm "$(CARGO_TARGET_DIR)/release/$(MODULE)" $(PACKAGES)

test-rpm: packages-rpm rpm ## make that package, and check what it would install
	rpm -qlp $(PACKAGES)/*.rpm | grep -x /usr/lib64/nginx/modules/ngx_http_compress_module.so
	rpm -qRp $(PACKAGES)/*.rpm | grep '^nginx(abi) = '

dist: ## make a tarball of the sources and of all crates, which builds offline (target/packages)
	build/package/dist.sh $(PACKAGES)

test-dist: dist ## build from that tarball without a network
	build/package/test-dist.sh $(PACKAGES)/*.tar.gz "$(CURDIR)/target/dist-test"

# The peer is ngx_brotli as the distribution packages it, on its NGINX, unless PEER_NGINX names another program; ours then
# runs on the NGINX of NGINX_SOURCE_DIR. docs/benchmarks.md tells what may be set.
MAKE_BENCH = $(if $(PEER_NGINX),$(MAKE),$(MAKE_DEBIAN)) BENCH_CORPUS=$(CURDIR)/target/corpus BENCH_OUT=$(CURDIR)/target/bench
PEER_MODULES ?= $(if $(PEER_NGINX),,$(DEBIAN_DIR)/root/usr/lib/nginx/modules/ngx_http_brotli_filter_module.so)
export PEER_NGINX PEER_MODULES PEER_CODING PEER_CONF BENCH_CORPUS BENCH_OUT

bench: packages-bench $(if $(PEER_NGINX),,debian) ## measure it against ngx_brotli and gzip; PARTS="latency throughput br6 ..." for some of it
	@build/corpus.sh "$(CURDIR)/target/corpus"
	@$(MAKE_BENCH) bench-peers

bench-quick: packages-bench $(if $(PEER_NGINX),,debian) ## the same on fewer files and levels, in 3 minutes
	@build/corpus.sh "$(CURDIR)/target/corpus"
	@$(MAKE_BENCH) bench-peers QUICK=--quick

bench-peers: release
	$(CARGO) bench --bench peers -- $(QUICK) $(PARTS)

bench-segments: nginx ## measure what splitting a response costs and wins
	$(CARGO) bench -p compress_core --bench segments

bench-flushes: nginx ## measure what flushing a body as it goes costs
	$(CARGO) bench -p compress_core --bench flushes

fuzz: packages-fuzz $(TOOLS)/bin/cargo-fuzz ## fuzz the core, each target for SECONDS=60; TARGETS="stream ..." for some of them
	@PATH="$(TOOLS)/bin:$$PATH" build/fuzz.sh "$(CARGO_TARGET_DIR)/fuzz" "$(or $(SECONDS),60)" $(TARGETS)

torture: packages release ## load it with requests of all kinds, aborts and reloads for MINUTES=5; SEED=n repeats a run
	$(CARGO) bench --bench torture

packages: ## install the system packages that are missing
	@build/packages.sh test

packages-build:
	@build/packages.sh build

packages-check:
	@build/packages.sh check

packages-deb:
	@build/packages.sh deb

packages-rpm:
	@build/packages.sh rpm

packages-sanitize:
	@build/packages.sh sanitize

packages-fuzz:
	@build/packages.sh fuzz

packages-bench:
	@build/packages.sh bench

packages-coverage:
	@build/packages.sh coverage

packages-valgrind:
	@build/packages.sh valgrind

clean: ## remove all that was built
	$(CARGO) clean
	rm -rf "$(CURDIR)/target"
