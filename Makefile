# Front doors for whoever has a Debian 12 and wants to see it work. A C++ developer uses the CMake presets
# directly: cmake --preset dev && cmake --build --preset dev && ctest --preset dev
#
# WERROR=OFF lets a compiler that we have not met warn; JOBS=1 spares a small machine.

WERROR ?= ON
JOBS ?= $(shell nproc)

.DEFAULT_GOAL := help
.PHONY: help demo test build asan tsan bench check format setup

help:
	@echo "make demo     install what is missing, build, and train a small translator (five minutes more)"
	@echo "make test     the same build, then every test"
	@echo "make build    build/release/dragoman"
	@echo "make asan     every test under the address and undefined-behaviour sanitizers"
	@echo "make tsan     every test under the thread sanitizer"
	@echo "make bench    build the benchmarks with their yardsticks, build/release/bench/bench_*"
	@echo "make check    format, includes between rooms, sizes, symbols: what CI looks at"
	@echo "make format   lay the code out as .clang-format says"

setup:
	@tools/setup

build/%/build.ninja: | setup
	cmake --preset $* -DDRAGOMAN_WERROR=$(WERROR)

build: build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS)

demo: build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS) --target dragoman
	build/release/dragoman demo

test: build
	@ctest --preset release --parallel $(JOBS)

asan: build/asan/build.ninja
	@cmake --build --preset asan --parallel $(JOBS)
	@ctest --preset asan --parallel $(JOBS)

# The thread sanitizer of GCC 12 needs its addresses unshuffled where the kernel shuffles many bits of them.
tsan: build/tsan/build.ninja
	@cmake --build --preset tsan --parallel $(JOBS)
	@$$(setarch -R true 2>/dev/null && echo setarch -R) ctest --preset tsan --parallel $(JOBS)

bench:
	@tools/setup bench
	cmake --preset release -DDRAGOMAN_WERROR=$(WERROR)
	@cmake --build --preset release --parallel $(JOBS)

check: build
	@tools/setup checks
	@tools/check_format && tools/check_includes && tools/check_sizes && tools/check_symbols build/release

format:
	@tools/setup checks
	@tools/check_format --fix
