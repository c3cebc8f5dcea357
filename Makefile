# The two commands to know are `make run` and `make test`. All others are parts of them, or measure.
# Nothing here asks a question, and each target may be run any number of times.

SHELL := /bin/bash
PATHS ?= samples/library
ARGS ?=
# Where the compiled server is. Asked for only when a target needs it.
BIN = $$(cargo metadata --locked --no-deps --format-version 1 | python3 -c 'import json, sys; print(json.load(sys.stdin)["target_directory"])')

.PHONY: run test setup release check fmt clients frameworks conformance bench load help

help: ## Say what there is
	@grep -E '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):.*## (.*)/  make \1\t\2/' | expand -t 22

run: setup ## Build Pressmark and serve the sample collection (PATHS="folder ..." serves others)
	cargo build --locked --release --package pressmark
	exec "$(BIN)/release/pressmark" serve $(PATHS) $(ARGS)

test: ## Run all checks and tests: what CI runs
	tools/test.sh

setup: ## Install what building needs, and build RocksDB once a machine
	tools/setup.sh

release: setup ## Build what is shipped: dist/pressmark, and its debug information beside it
	cargo build --locked --release --package pressmark
	tools/package.sh "$(BIN)/release/pressmark" dist

check: setup ## Format, rules and lints: the quick part of `make test`
	cargo fmt --all --check
	python3 tools/tidy.py
	cargo clippy --locked --workspace --all-targets -- -D warnings

fmt: ## Format the Rust code
	cargo fmt --all

clients: setup ## Run the official clients against a debug build
	tools/setup-clients.sh
	cargo build --locked --package pressmark
	PRESSMARK_BIN="$(BIN)/debug/pressmark" tests/clients/run.sh

frameworks: setup ## Run agents of several frameworks with a scripted model (ARGS="crewai" for the slow one)
	tools/setup-clients.sh
	tests/frameworks/setup.sh $(ARGS)
	cargo build --locked --package pressmark
	PRESSMARK_BIN="$(BIN)/debug/pressmark" tests/frameworks/run.sh $(ARGS)

conformance: setup ## Run the official conformance suite against the example server that has its fixtures
	tools/setup-clients.sh
	cargo build --locked --package pressmark --example conformance_server
	PRESSMARK_BIN="$(BIN)/debug/examples/conformance_server" tests/conformance/run.sh

bench: setup ## Run the benchmarks (criterion)
	cargo bench --locked --package pressmark-benches $(ARGS)

load: setup ## Load a running server (ARGS="--help" tells how)
	cargo run --locked --release --package pressmark-loadtest -- $(ARGS)
