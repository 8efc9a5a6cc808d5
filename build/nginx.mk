# The NGINX to build against and to test on. Yours, if NGINX_SOURCE_DIR (and NGINX_BUILD_DIR) are set; else one
# that is built once in target/nginx.

NGINX_FLAGS_PLAIN = --with-compat --with-debug \
	--with-http_ssl_module --with-http_v2_module --with-http_sub_module --with-http_addition_module \
	--with-http_gunzip_module --with-http_gzip_static_module --with-http_slice_module \
	--with-http_stub_status_module --with-http_auth_request_module --with-http_realip_module
NGINX_FLAGS_NOTHREADS = --with-cc-opt=-O2 $(NGINX_FLAGS_PLAIN)
NGINX_FLAGS = $(NGINX_FLAGS_NOTHREADS) --with-threads

NGINX_DIR = $(CURDIR)/target/nginx
NOTHREADS_DIR = $(CURDIR)/target/nginx-nothreads
STATIC_DIR = $(CURDIR)/target/nginx-static
MODULES_DIR = $(CURDIR)/target/nginx-modules
DEBIAN_DIR = $(CURDIR)/target/debian

ifneq ($(NGINX_SOURCE_DIR)$(NGINX_BUILD_DIR),)
  NGINX_IS_YOURS = 1
  ifeq ($(NGINX_SOURCE_DIR),)
    NGINX_SOURCE_DIR := $(dir $(abspath $(NGINX_BUILD_DIR)))
  endif
  NGINX_BUILD_DIR ?= $(NGINX_SOURCE_DIR)/objs
else
  NGINX_SOURCE_DIR := $(NGINX_DIR)/src
  NGINX_BUILD_DIR := $(NGINX_DIR)/objs
endif
TEST_NGINX_BINARY ?= $(NGINX_BUILD_DIR)/nginx

override NGINX_SOURCE_DIR := $(abspath $(NGINX_SOURCE_DIR))
override NGINX_BUILD_DIR := $(abspath $(NGINX_BUILD_DIR))
override TEST_NGINX_BINARY := $(abspath $(TEST_NGINX_BINARY))
export NGINX_SOURCE_DIR NGINX_BUILD_DIR TEST_NGINX_BINARY

# make and the settings of another NGINX; each has a cargo directory of its own, as bindings differ.
MAKE_NOTHREADS = $(MAKE) NGINX_SOURCE_DIR=$(NOTHREADS_DIR)/src NGINX_BUILD_DIR=$(NOTHREADS_DIR)/objs \
	TEST_NGINX_BINARY=$(NOTHREADS_DIR)/objs/nginx CARGO_TARGET_DIR=$(NOTHREADS_DIR)/cargo
MAKE_DEBIAN = $(MAKE) NGINX_SOURCE_DIR=$(DEBIAN_DIR)/src NGINX_BUILD_DIR=$(DEBIAN_DIR)/objs \
	TEST_NGINX_BINARY=$(DEBIAN_DIR)/root/usr/sbin/nginx CARGO_TARGET_DIR=$(DEBIAN_DIR)/cargo

.PHONY: nginx nginx-nothreads nginx-static nginx-modules debian

nginx: packages-build ## build the NGINX that everything else uses (1.28.3, in target/nginx), or check yours
ifdef NGINX_IS_YOURS
	@test -f "$(NGINX_SOURCE_DIR)/src/core/nginx.h" || { \
		echo "NGINX_SOURCE_DIR has no NGINX sources: $(NGINX_SOURCE_DIR)" >&2; exit 1; }
	@test -f "$(NGINX_BUILD_DIR)/ngx_auto_config.h" || { \
		echo "NGINX_BUILD_DIR is not configured: $(NGINX_BUILD_DIR)" >&2; exit 1; }
else
	@build/nginx.sh "$(NGINX_DIR)" $(NGINX_FLAGS)
endif

nginx-nothreads: packages-build ## build an NGINX without threads in target/nginx-nothreads
	@build/nginx.sh "$(NOTHREADS_DIR)" $(NGINX_FLAGS_NOTHREADS)

# With the hooks of the tests, as cargo builds the module for them.
nginx-static: packages-build ## build an NGINX with the module linked in, for tests, in target/nginx-static
	@NGX_CARGO_OPT="$(TEST_FEATURES)" build/nginx.sh "$(STATIC_DIR)" $(NGINX_FLAGS) "--add-module=$(CURDIR)"

nginx-modules: packages-build ## have NGINX's own build make the module, for tests, in target/nginx-modules
	@NGX_CARGO_OPT="$(TEST_FEATURES)" build/nginx.sh "$(MODULES_DIR)" $(NGINX_FLAGS) "--add-dynamic-module=$(CURDIR)"

debian: packages-build ## unpack the distribution's packaged NGINX (Debian 12: 1.22.1) in target/debian
	@build/debian.sh "$(DEBIAN_DIR)"
