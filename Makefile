# Shortcuts for users of Debian 12. C++ developers use the CMake presets directly:
# cmake --preset dev && cmake --build --preset dev && ctest --preset dev
#
# WERROR=OFF: warnings of an untested compiler are not errors; JOBS=1: for a small machine.
# SECONDS=600 SEED=1: for fuzz, of each reader; TRIALS=50: for faults, of each kind; SEEDS=20: for slow, on each
# instruction set. ROOMS="search api" or ROOMS=--changed (tools/sanitize): for asan and tsan, not all rooms.

WERROR ?= ON
JOBS ?= $(shell nproc)

.DEFAULT_GOAL := help
.PHONY: help deb wheel demo test slow build asan tsan fuzz faults bench check format setup setup-clang setup-packages \
	setup-bench

SECONDS ?= 60
SEED ?= 0
SEEDS ?= 3
TRIALS ?= 500
PYTHON ?= python3
STUDENT_TRIALS ?= 100
SERVER_TRIALS ?= 20

help:
	@echo "make demo     install missing packages, build, and train a small translator for five minutes"
	@echo "make test     build everything and run all tests"
	@echo "make slow     train the copy task from several seeds on every instruction set: half an hour"
	@echo "make build    build/release/dragoman"
	@echo "make asan     all tests under the address and undefined-behaviour sanitizers"
	@echo "make tsan     the tests of all that has threads under the thread sanitizer"
	@echo "make fuzz     fuzz every file reader for a minute each"
	@echo "make faults   kill runs, let system calls fail, damage files; see that nothing is lost"
	@echo "make bench    install the libraries to compare with, and build the benchmarks: build/release/bench/bench_*"
	@echo "make deb      build/package/*.deb: Debian's packages of the program, the library and its headers"
	@echo "make wheel    build/wheel/portable/*.whl: the Python package, for this Python or PYTHON=..., tested"
	@echo "make check    CI's checks: format, includes between rooms, sizes, English, the GPU's kernels, symbols"
	@echo "make format   format the code with clang-format"

# apt-get must not run twice at once; what takes long runs JOBS at once by itself.
.NOTPARALLEL:

setup:
	@tools/setup

setup-clang:
	@tools/setup clang

setup-packages:
	@tools/setup packages

setup-bench:
	@tools/setup bench

build/asan/build.ninja: | setup-clang

# In every run, as WERROR may be another.
build/%/build.ninja: setup
	cmake --preset $* -DDRAGOMAN_WERROR=$(WERROR)

build: build/release/build.ninja
	@cmake --build --preset release --parallel $(JOBS)

demo:
	@JOBS=$(JOBS) WERROR=$(WERROR) tools/demo

test: build
	@ctest --preset release --parallel $(JOBS)

slow: build
	@tests/slow/copy_task build/release/dragoman $(SEEDS)

asan: build/asan/build.ninja
	@tools/sanitize address --jobs $(JOBS) $(ROOMS)

tsan: build/tsan/build.ninja
	@tools/sanitize thread --jobs $(JOBS) $(ROOMS)

fuzz: build/asan/build.ninja
	@cmake --build --preset asan --parallel $(JOBS) --target fuzz_readers
	@tools/fuzz build/asan $(SECONDS) $(SEED)

faults: build
	@tools/setup checks
	@tests/faults/faults build/release/dragoman --trials $(TRIALS)
	@tests/faults/faults build/release/dragoman --student --trials $(STUDENT_TRIALS)
	@tests/faults/serving build/release/dragoman --trials $(SERVER_TRIALS)

bench: setup-bench build

deb: setup-packages build/package/build.ninja
	@cmake --build --preset package --parallel $(JOBS)
	@cd build/package && cpack

wheel: | setup-packages
	@rm -rf build/wheel && $(PYTHON) -m pip wheel . --no-deps -w build/wheel
	@$(PYTHON) python/portable build/wheel/*.whl build/wheel/portable
	@$(PYTHON) -m venv build/wheel/fresh && build/wheel/fresh/bin/pip install --quiet build/wheel/portable/*.whl pytest
	@cd build/wheel && fresh/bin/python -m pytest -q -p no:cacheprovider $(CURDIR)/python/tests

check: build
	@tools/setup checks
	@tools/check_format && tools/check_includes && tools/check_sizes && tools/check_english && tools/check_cuda --quiet && tools/check_symbols build/release

format:
	@tools/setup checks
	@tools/check_format --fix
