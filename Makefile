# Two commands set up everything on a fresh machine:
#   make demo    prepares the cache and shows the main job working
#   make test    runs all tests that this host allows, and says which it skipped and why

GO ?= go
BIN := bin/sallyport

.PHONY: build demo test soak bench lint clean

build:
	CGO_ENABLED=0 $(GO) build -o $(BIN) ./cmd/sallyport

demo: build
	$(BIN) setup
	$(GO) run ./examples/demo -sallyport $(BIN)

test:
	.ci/test

lint:
	.ci/lint

# Long fuzzing and long runs; make test holds a short form of each. FUZZ is the time for each target.
soak: build
	$(BIN) setup
	.ci/soak

bench: build
	$(BIN) setup
	$(GO) run ./bench/python -sallyport $(BIN)

clean:
	rm -rf bin demo-output
