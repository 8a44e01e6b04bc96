# `make` says what there is, from the line with ## above each target. Targets install what they need.
.DEFAULT_GOAL := help
.PHONY: help demo book docs fuzz test tests test-mpi test-rivals mpi boost bench rivals check format lints layers package loom miri tsan mutants setup setup-rust setup-browser setup-mpi setup-boost setup-mutants setup-book soak

CARGO ?= cargo
WARPLINE = $(CARGO) run --release --quiet --package warpline-cli --
export PATH := $(HOME)/.cargo/bin:$(PATH)

## Lists all targets.
help:
	@awk '/^## / { about = substr($$0, 4); next } /^[a-z-]+:/ && about { sub(":.*", ""); printf "  make %-14s %s\n", $$0, about; about = "" }' Makefile

## Simulates a backbone on one core and on all cores, compares the answers, and writes a report.
demo: setup-rust
	$(WARPLINE) compare network --end 30
	$(WARPLINE) run network --end 30 --sync optimistic --report report

## Builds the book in target/book, from the text in docs/book/src.
book: setup-book
	mdbook build docs/book

## Runs all tests. BESIDES="lints docs" runs these targets beside them.
test: setup-rust
	CARGO=$(CARGO) .ci/tests miri loom $(BESIDES)

## Runs all tests but those under Miri and loom.
tests: setup-rust
	CARGO=$(CARGO) .ci/tests

## Builds the program with MPI, for runs on several machines.
# Then: mpirun -np 4 target/release/warpline run phold
mpi: setup-rust setup-mpi
	$(CARGO) build --release --package warpline-cli --features mpi

## Builds the program with Boost.Interprocess, for comparison.
# Then: target/release/warpline run simplesim --processes 8 --carrier boost
boost: setup-rust setup-boost
	$(CARGO) build --release --package warpline-cli --features boost

## Lints and tests what needs MPI, longer than `make test` does.
# Runs the layer over MPI with up to eight ranks, all models and random ones in ranks, and 200 runs in which a rank is killed.
# WARPLINE_LONGEST=1 also sends a message of 2 GiB.
test-mpi: setup-rust setup-mpi
	$(CARGO) clippy --package warpline-mpi --package warpline-transport --features mpi --all-targets -- -D warnings
	$(CARGO) test --package warpline-mpi --features mpi
	WARPLINE_CASES=200 $(CARGO) test --package warpline-tests --features mpi --test processes
	WARPLINE_KILLS=200 $(CARGO) test --package warpline-cli --features mpi --test all mpi::

## Checks formatting, lints, docs, layers and packages.
check: format lints docs layers package

## Checks formatting.
format: setup-rust
	$(CARGO) fmt --all --check

## Checks lints.
lints: setup-rust
	$(CARGO) clippy --workspace --all-targets -- -D warnings

## Checks that docs can be built, and that their links lead somewhere.
docs: setup-rust
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet

## Packs what would be published, without building it.
package: setup-rust
	$(CARGO) package --workspace --exclude warpline-bench --exclude warpline-fuzz --exclude warpline-layers --exclude warpline-testkit --exclude warpline-tests --no-verify --allow-dirty --quiet

## Checks that dependencies point one way, and that documents name and promise what the code has.
layers:
	$(CARGO) run --quiet --package warpline-layers

## Tests the unsafe code under Miri, if there is a nightly toolchain.
# Without backtraces, as those of expected panics take minutes.
miri: setup-rust
	@if rustup toolchain list 2>/dev/null | grep -q nightly; then \
		rustup component add --toolchain nightly miri rust-src >/dev/null 2>&1 && \
		MAKEFLAGS= RUST_BACKTRACE=0 MIRIFLAGS="-Zmiri-disable-isolation" $(CARGO) +nightly miri test --package warpline-memory; \
	else echo "no nightly toolchain: skipping Miri (rustup toolchain install nightly)"; fi

## Tries all interleavings of the concurrent code, with loom.
loom: setup-rust
	MAKEFLAGS= RUSTFLAGS="--cfg loom" $(CARGO) test --profile loom --package warpline-memory --lib --target-dir target/loom loom

## Looks for data races with ThreadSanitizer, if there is a nightly toolchain.
tsan:
	@if rustup toolchain list 2>/dev/null | grep -q nightly; then \
		rustup component add --toolchain nightly rust-src >/dev/null 2>&1 && host=$$(rustc -vV | sed -n 's/^host: //p') && \
		RUSTFLAGS="-Zsanitizer=thread" $(CARGO) +nightly test -Zbuild-std --target $$host --target-dir target/tsan \
			--package warpline-tests --test engines -- threads::; \
	else echo "no nightly toolchain: skipping ThreadSanitizer (rustup toolchain install nightly)"; fi

## Measures rates and ratios; TOPOLOGY=file.json is a network of your own.
bench: setup-rust
	$(CARGO) run --release --quiet --package warpline-bench -- workloads
	$(CARGO) run --release --quiet --package warpline-bench -- network $(TOPOLOGY)
	$(CARGO) run --release --quiet --package warpline-bench -- parallel $(TOPOLOGY)
	$(CARGO) run --release --quiet --package warpline-bench -- budget
	$(CARGO) run --release --quiet --package warpline-bench -- mailboxes
	$(CARGO) run --release --quiet --package warpline-bench -- hostile
	$(CARGO) run --release --quiet --package warpline-bench -- busy
	$(CARGO) run --release --quiet --package warpline-bench -- hold
	$(CARGO) run --release --quiet --package warpline-bench -- auto
	$(CARGO) run --release --quiet --package warpline-bench -- coroutines
	$(CARGO) run --release --quiet --package warpline-bench -- timers
	$(CARGO) run --release --quiet --package warpline-bench -- cluster

## Measures messages between processes against Boost.Interprocess and MPI, in ten minutes.
rivals: setup-rust setup-mpi setup-boost
	$(CARGO) run --release --quiet --package warpline-bench --features warpline-bench/boost,warpline-bench/mpi -- rivals

## Lints and tests what needs Boost.
test-rivals: setup-rust setup-mpi setup-boost
	$(CARGO) clippy --package warpline-rivals --package warpline-boost --package warpline-bench --features warpline-boost/boost,warpline-bench/boost,warpline-bench/mpi --all-targets -- -D warnings
	$(CARGO) test --package warpline-rivals --package warpline-boost --package warpline-bench --features warpline-boost/boost,warpline-bench/boost,warpline-bench/mpi

## Tries many more random models and schedules than `make test`.
soak: setup-rust
	WARPLINE_CASES=20000 $(CARGO) test --release --package warpline-tests --package warpline-kernel --package warpline-explain

## Runs random models with random settings against the sequential engine: HOURS=8 SEED=1.
# It takes two minutes without HOURS. SEED repeats an attack. What fails is shrunk to a command.
fuzz: setup-rust setup-mpi
	$(CARGO) run --release --quiet --package warpline-fuzz --features mpi -- attack $(if $(HOURS),--hours $(HOURS)) $(if $(SEED),--seed $(SEED))

## Plants faults and counts those that tests notice: CRATE=model SAMPLE=60 MINUTES=60.
# CRATE takes a random sample of that crate's faults; without it, faults go into what changed since BASE (origin/main, or else the commit
# before). SEED repeats a sample. JOBS (1) run at a time. ARGS go to cargo-mutants.
mutants: setup-rust setup-mutants
	@CRATE='$(CRATE)' BASE='$(BASE)' SAMPLE='$(SAMPLE)' MINUTES='$(MINUTES)' SEED='$(SEED)' JOBS='$(JOBS)' ARGS='$(ARGS)' .ci/mutants

## Installs what tests need.
setup: setup-rust setup-browser setup-mpi setup-boost

## Checks that Rust is there, with clippy and rustfmt.
setup-rust:
	@command -v $(CARGO) >/dev/null || { echo "Rust is missing: install it from https://rustup.rs and run make again" >&2; exit 1; }
	@rustup component list --installed 2>/dev/null | grep -q clippy || rustup component add clippy rustfmt 2>/dev/null || true

## Installs cargo-mutants.
setup-mutants:
	@$(CARGO) mutants --version >/dev/null 2>&1 || $(CARGO) install cargo-mutants --locked

## Installs mdBook.
setup-book: setup-rust
	@command -v mdbook >/dev/null || $(CARGO) install mdbook --locked

## Installs Chromium, in which reports are tested.
setup-browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || [ -n "$$WARPLINE_CHROMIUM" ] || \
		{ echo "installing chromium for the report's tests"; sudo=$$(command -v sudo || true); \
		$$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; }

## Installs Open MPI if there is no MPI library.
# MPICC and MPIRUN say where one is that is not on the path.
setup-mpi:
	@{ command -v "$${MPICC:-mpicc}" && command -v "$${MPIRUN:-mpirun}"; } >/dev/null || \
		{ echo "installing Open MPI"; sudo=$$(command -v sudo || true); \
		$$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libopenmpi-dev openmpi-bin >/dev/null; }

## Installs Boost's headers, which are all that is needed of it.
setup-boost:
	@echo '#include <boost/interprocess/managed_shared_memory.hpp>' | $${CXX:-c++} $$CXXFLAGS -std=c++17 -x c++ -fsyntax-only - 2>/dev/null || \
		{ echo "installing Boost's headers"; sudo=$$(command -v sudo || true); \
		$$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends g++ libboost-dev >/dev/null; }
