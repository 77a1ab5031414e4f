# The commands of the project. `make` alone builds.

.PHONY: build test lint cover node laws fuzz mutants

build:
	go build -o bin/tailrace ./cmd/tailrace

# Tests that put 9 MiB through every tool. The race detector makes minutes of them and has
# no more to see than in the small ones.
LARGE = EveryToolIsBounded|EveryToolWithALongCommand|HTTP_SameResults|BytesCopied

# All tests: Go with the race detector, then the TypeScript client against the binary.
test: lint build node
	go test -race -timeout 20m -skip '$(LARGE)' ./...
	go test -run '$(LARGE)' ./mcp ./bench

node: build internal/e2e/node/node_modules
	cd internal/e2e/node && TAILRACE_BINARY="$(CURDIR)/bin/tailrace" npm test

internal/e2e/node/node_modules: internal/e2e/node/package-lock.json
	cd internal/e2e/node && npm ci
	touch $@

# The protocol's own suite over HTTP. npm installs the Node 22 that it needs.
.PHONY: conformance
conformance: build internal/e2e/conformance/node_modules
	cd internal/e2e/conformance && TAILRACE_BINARY="$(CURDIR)/bin/tailrace" npm test

internal/e2e/conformance/node_modules: internal/e2e/conformance/package-lock.json
	cd internal/e2e/conformance && npm ci
	touch $@

lint:
	@test -z "$$(gofmt -l .)" || { echo "gofmt these:"; gofmt -l .; exit 1; }
	go vet ./...

cover:
	go test -coverprofile=cover.out ./...
	go tool cover -func=cover.out | tail -1

# Each law with very many cases, other ones each time. A test run has 1,000, always the same.
CASES ?= 100000
SEED ?= $(shell date +%s)
laws:
	TAILRACE_SEED=$(SEED) TAILRACE_CASES=$(CASES) go test ./proptest -run 'Law|Reference' -timeout 120m -v

# Each fuzz target for a while: FUZZTIME is a number of runs (20000x) or a time (10m).
FUZZTIME ?= 20000x
fuzz:
	@set -e; for file in $$(git ls-files '*_test.go'); do \
	  for target in $$(sed -n 's/^func \(Fuzz[A-Za-z0-9]*\)(.*/\1/p' $$file); do \
	    echo "== $$target in $$(dirname $$file)"; \
	    go test ./$$(dirname $$file) -run '^$$' -fuzz "^$$target$$" -fuzztime $(FUZZTIME); \
	  done; \
	done

# The laws and the packages below them without assembly, as on other processors.
.PHONY: purego
purego:
	go test -tags purego ./internal/vector ./internal/jsonscan ./internal/jsonstr ./internal/utf8cut ./stages/... ./proptest ./bench/...

# The sources that need programs of the system, with the real ones:
# apt-get install -y --no-install-recommends systemd-journal-remote kubernetes-client
.PHONY: tools
tools:
	go test -tags tools -count=1 ./internal/backend/...

# Each goal of speed with what is measured here, in about five minutes on a machine of its own.
.PHONY: goals
goals: bench/peers/node_modules
	go run ./bench/goals -md docs/benchmarks.md -json docs/benchmarks.json

# The other ways that goals measures: that they do the work, and that this is checked.
.PHONY: peers
peers:
	cd bench/peers && go vet . && go test .

# Instructions by valgrind: how many more the naive way takes, and that all is linear.
.PHONY: instructions
instructions:
	go run ./bench/instructions

bench/peers/node_modules: bench/peers/package-lock.json
	cd bench/peers && npm ci
	touch $@

# Small edits to a copy of the tree, each of which a test must notice.
mutants:
	go run ./internal/mutants

# The server for a while, with calls of every kind and faults among them.
SOAK ?= 10m
.PHONY: soak
soak:
	TAILRACE_SOAK=$(SOAK) go test ./internal/soak -run TestSoak -count 1 -timeout 120m -v

# What a release has beside the binaries.
.PHONY: release-docs release-check release-snapshot package-check
release-docs:
	rm -rf build/release && mkdir -p build/release/completions
	go build -o build/release/tailrace ./cmd/tailrace
	build/release/tailrace man --dir build/release/man
	build/release/tailrace completion bash > build/release/completions/tailrace.bash
	build/release/tailrace completion zsh > build/release/completions/_tailrace
	build/release/tailrace completion fish > build/release/completions/tailrace.fish
	rm build/release/tailrace

# Each part by the tool that it is made for; it says which tools could not run here.
# The first time it builds goreleaser, for some minutes.
package-check:
	packaging/check

release-check:
	packaging/goreleaser check

# A whole release in dist, without publishing.
release-snapshot:
	packaging/goreleaser release --snapshot --clean --skip=publish

# Tests on a Docker engine of their own: root, and Debian's docker.io, are needed. The
# compose plugin is built once, into the user's cache.
.PHONY: engine
engine: internal/e2e/node/node_modules
	@command -v /usr/sbin/dockerd >/dev/null || { \
	  apt-get update -qq && apt-get install -y -qq --no-install-recommends docker.io; }
	go vet -tags engine ./internal/engine/...
	go test -tags engine -timeout 15m -count 1 ./internal/engine/...
