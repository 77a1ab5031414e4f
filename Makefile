# The commands of the project. `make` alone builds.

.PHONY: build test lint cover node

build:
	go build -o bin/tailrace ./cmd/tailrace

# All tests: Go with the race detector, then the TypeScript client against the binary.
test: lint build node
	go test -race -timeout 20m ./...

node: build internal/e2e/node/node_modules
	cd internal/e2e/node && TAILRACE_BINARY="$(CURDIR)/bin/tailrace" npm test

internal/e2e/node/node_modules: internal/e2e/node/package-lock.json
	cd internal/e2e/node && npm ci
	touch $@

lint:
	@test -z "$$(gofmt -l .)" || { echo "gofmt these:"; gofmt -l .; exit 1; }
	go vet ./...

cover:
	go test -coverprofile=cover.out ./...
	go tool cover -func=cover.out | tail -1
