# `make demo` runs the main job, `make test` all tests; both install what they need.
.PHONY: demo book fuzz test test-mpi test-rivals mpi boost bench rivals check layers package loom miri tsan mutants setup setup-rust setup-browser setup-mpi setup-boost setup-mutants setup-book soak

CARGO ?= cargo
WARPLINE = $(CARGO) run --release --quiet --package warpline-cli --
export PATH := $(HOME)/.cargo/bin:$(PATH)

## Simulates the built-in backbone on one core and on all, shows that the answers are equal and what was gained, and writes a report.
demo: setup-rust
	$(WARPLINE) compare network --end 30
	$(WARPLINE) run network --end 30 --sync optimistic --report report

## The book, in target/book; its text is in docs/book/src.
book: setup-book
	mdbook build docs/book

## All tests, the browser's included.
test: setup
	$(CARGO) test --workspace --features warpline-cli/mpi,warpline-cli/boost,warpline-fuzz/mpi --no-fail-fast
	$(MAKE) miri
	$(MAKE) loom

## The program with MPI, for runs on several machines: mpirun -np 4 target/release/warpline run phold
mpi: setup-rust setup-mpi
	$(CARGO) build --release --package warpline-cli --features mpi

## The program with Boost.Interprocess as a carrier of messages, for comparison: target/release/warpline run simplesim --processes 8 --carrier boost
boost: setup-rust setup-boost
	$(CARGO) build --release --package warpline-cli --features boost

## What needs MPI: lints, the layer over MPI with up to eight ranks on this machine, all models in ranks, random ones too, and 200 runs in
## which a rank is killed. WARPLINE_LONGEST=1 also sends a message of 2 GiB.
test-mpi: setup-rust setup-mpi
	$(CARGO) clippy --package warpline-mpi --package warpline-transport --features mpi --all-targets -- -D warnings
	$(CARGO) test --package warpline-mpi --features mpi
	$(CARGO) test --package warpline --features mpi --test processes
	WARPLINE_KILLS=200 $(CARGO) test --package warpline-cli --features mpi --test all mpi::

## Formatting, lints, docs and layers, with warnings as errors, and packages.
check: setup-rust
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --quiet
	$(MAKE) layers
	$(MAKE) package

## What would be published, packed but not built. `make layers` has checked that nothing in it lies outside.
package: setup-rust
	$(CARGO) package --workspace --exclude warpline-bench --exclude warpline-fuzz --exclude warpline-layers --exclude warpline-testkit --no-verify --allow-dirty --quiet

## One-way dependencies between crates and modules, unsafe code in its fence, and no names in the documents that the code lacks.
layers:
	$(CARGO) run --quiet --package warpline-layers

## The unsafe code under Miri, where a nightly toolchain is at hand. Backtraces of panics that are expected would take minutes there.
miri:
	@if rustup toolchain list 2>/dev/null | grep -q nightly; then \
		rustup component add --toolchain nightly miri rust-src >/dev/null 2>&1 && \
		RUST_BACKTRACE=0 MIRIFLAGS="-Zmiri-disable-isolation" $(CARGO) +nightly miri test --package warpline-memory; \
	else echo "no nightly toolchain: skipping Miri (rustup toolchain install nightly)"; fi

## The concurrent code under loom, which tries all interleavings.
loom: setup-rust
	RUSTFLAGS="--cfg loom" $(CARGO) test --release --package warpline-memory --lib --target-dir target/loom loom

## The engine's threads under ThreadSanitizer, which finds data races, where a nightly toolchain is at hand.
tsan:
	@if rustup toolchain list 2>/dev/null | grep -q nightly; then \
		rustup component add --toolchain nightly rust-src >/dev/null 2>&1 && host=$$(rustc -vV | sed -n 's/^host: //p') && \
		RUSTFLAGS="-Zsanitizer=thread" $(CARGO) +nightly test -Zbuild-std --target $$host --target-dir target/tsan \
			--package warpline --test engines -- threads::; \
	else echo "no nightly toolchain: skipping ThreadSanitizer (rustup toolchain install nightly)"; fi

## Rates and ratios; TOPOLOGY=file.json measures `network` on that file.
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

## Messages between processes: ours against Boost.Interprocess and copies through MPI. It takes ten minutes.
rivals: setup-rust setup-mpi setup-boost
	$(CARGO) run --release --quiet --package warpline-bench --features warpline-bench/boost,warpline-bench/mpi -- rivals

## What needs Boost: lints, and tests with two processes.
test-rivals: setup-rust setup-mpi setup-boost
	$(CARGO) clippy --package warpline-rivals --package warpline-transport --package warpline-bench --features warpline-transport/boost,warpline-bench/boost,warpline-bench/mpi --all-targets -- -D warnings
	$(CARGO) test --package warpline-rivals --package warpline-transport --package warpline-bench --features warpline-transport/boost,warpline-bench/boost,warpline-bench/mpi

## Many more random models and schedules than `make test` tries.
soak: setup-rust
	WARPLINE_CASES=20000 $(CARGO) test --release --package warpline --package warpline-kernel

## Random models with random settings, each run held against the sequential one: HOURS (two minutes); SEED repeats an attack. What fails is
## shrunk to a command.
fuzz: setup-rust setup-mpi
	$(CARGO) run --release --quiet --package warpline-fuzz --features mpi -- attack $(if $(HOURS),--hours $(HOURS)) $(if $(SEED),--seed $(SEED))

## How many planted faults the tests notice. CRATE=name: a random sample of those that can be planted in that crate; without it, in what
## changed since BASE (origin/main, or else the commit before). SAMPLE faults (60) in MINUTES (60) at most; SEED repeats a sample. JOBS (1) at a
## time; ARGS go to cargo-mutants.
mutants: setup-rust setup-mutants
	@CRATE='$(CRATE)' BASE='$(BASE)' SAMPLE='$(SAMPLE)' MINUTES='$(MINUTES)' SEED='$(SEED)' JOBS='$(JOBS)' ARGS='$(ARGS)' .ci/mutants

setup: setup-rust setup-browser setup-mpi setup-boost

setup-rust:
	@command -v $(CARGO) >/dev/null || { echo "Rust is missing: install it from https://rustup.rs and run make again" >&2; exit 1; }
	@rustup component list --installed 2>/dev/null | grep -q clippy || rustup component add clippy rustfmt 2>/dev/null || true

setup-mutants:
	@$(CARGO) mutants --version >/dev/null 2>&1 || $(CARGO) install cargo-mutants --locked

setup-book: setup-rust
	@command -v mdbook >/dev/null || $(CARGO) install mdbook --locked

# Reports are tested in a real browser.
setup-browser:
	@command -v chromium >/dev/null || command -v chromium-browser >/dev/null || command -v google-chrome >/dev/null || [ -n "$$WARPLINE_CHROMIUM" ] || \
		{ echo "installing chromium for the report's tests"; sudo=$$(command -v sudo || true); \
		$$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq chromium >/dev/null; }

# Any MPI library does: MPICC and MPIRUN say where, if it is not on the path.
setup-mpi:
	@{ command -v "$${MPICC:-mpicc}" && command -v "$${MPIRUN:-mpirun}"; } >/dev/null || \
		{ echo "installing Open MPI"; sudo=$$(command -v sudo || true); \
		$$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends libopenmpi-dev openmpi-bin >/dev/null; }

# Headers are all that is needed of Boost.
setup-boost:
	@echo '#include <boost/interprocess/managed_shared_memory.hpp>' | $${CXX:-c++} $$CXXFLAGS -std=c++17 -x c++ -fsyntax-only - 2>/dev/null || \
		{ echo "installing Boost's headers"; sudo=$$(command -v sudo || true); \
		$$sudo apt-get update -qq && $$sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends g++ libboost-dev >/dev/null; }
