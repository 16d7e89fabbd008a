# make demo    build, then run the main job on a real project and show it
# make test    everything that is tested (what CI runs)
# make bench   our speed beside others', in one run
# make install the commands for you; see install.sh
# make release what a release consists of, in dist/release
GO      ?= go
BIN     := bin
PREFIX  ?= $(HOME)/.local
SYSTEMS := linux/amd64 linux/arm64 darwin/arm64 windows/amd64
FUZZTIME ?= 300x
ENDURANCE ?= 30s

.PHONY: build demo test lint prose unit fuzz cross cross-vet oracle endurance clients programs kernels agents conformance browser old-bash bench install \
  release release-test sums clean

# Without C: a program that is linked with the system's library for the sake of
# looking up names starts slower and takes 2 MB more.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -o $(BIN)/ ./cmd/...

demo: build
	CGO_ENABLED=0 $(GO) run -trimpath ./test/demo -server $(BIN)/mcp-bash

test: lint cross unit fuzz release-test oracle endurance clients conformance browser old-bash

# What does not run under the race detector is compiled as what we ship, so that each
# package is compiled once for all of it.
lint fuzz release-test oracle browser: export CGO_ENABLED = 0
lint fuzz release-test oracle browser: export GOFLAGS += -trimpath

lint:
	@out=$$(gofmt -l cmd pkg sdk lib test bench release); [ -z "$$out" ] || { echo "gofmt: $$out"; exit 1; }
	$(GO) vet ./...
	cd bench && $(GO) vet ./...
	cd test/oracle && $(GO) vet ./...
	cd release && $(GO) vet ./...
	$(GO) tool -modfile=test/tools/go.mod staticcheck ./...
	for dir in . bench release test/oracle test/tools; do (cd $$dir && $(GO) mod tidy -diff) || exit 1; done
	test/lint-shell.sh

# Checks pages, comments and messages with Vale, against the rules in test/prose/styles.
# It needs a C compiler, for Vale's parsers. Limit it to folders with PROSE="docs pkg/feature/tool".
prose:
	cd test/prose && $(GO) vet . && $(GO) test . && $(GO) run . $(PROSE)

# Under the race detector, but for what starts programs and compresses megabytes: there
# is nothing of ours to race in it, and it takes three times as long. The packages that take
# longest are those in test/, and begin first. Many tests wait, so there are six at a time.
UNRACED := /(cmd/mcp-bundle|test/install|test/house|test/docs|test/output)$$
unit:
	$(GO) test -race -parallel=6 -timeout=15m $$($(GO) list ./... | grep -vE '$(UNRACED)' | sort -r)
	CGO_ENABLED=0 $(GO) test -trimpath -parallel=6 -timeout=15m $$($(GO) list ./... | grep -E '$(UNRACED)')

# Some inputs for each fuzz target, on top of its seeds (FUZZTIME=10m for long).
fuzz:
	FUZZTIME=$(FUZZTIME) test/fuzz.sh

# Every command is compiled for every system and processor that we ship to, which go list
# -export does without linking. No file of ours is for one processor of one system; all six
# pairs are built by make release.
cross:
	@for system in $(SYSTEMS); do \
	  echo "build $$system"; \
	  GOOS=$${system%/*} GOARCH=$${system#*/} CGO_ENABLED=0 $(GO) list -export -trimpath ./cmd/... >/dev/null || exit 1; \
	done

# Vetted for other systems, their tests too. No part of make test: it compiles the
# libraries of tests for each.
cross-vet:
	GOOS=darwin CGO_ENABLED=0 $(GO) vet -trimpath ./cmd/... ./pkg/...
	GOOS=windows CGO_ENABLED=0 $(GO) vet -trimpath ./cmd/... ./pkg/...

# What a release consists of, built twice, and installed.
release-test:
	cd release && $(GO) test ./...

# A server under mixed load with faults injected (ENDURANCE=30m for long).
endurance:
	$(GO) test -race -count=1 -timeout=0 ./test/endurance -for $(ENDURANCE)

# The git provider against go-git, on repositories that the git program serves; the examples
# with mcp-go's client.
oracle:
	cd test/oracle && $(GO) test ./...

# The official TypeScript client and the MCP Inspector, installed from npm into a
# cache folder.
clients:
	test/npm/run.sh

# wrap against real programs, and tables of facts about them. They are fetched from Debian, npm and Go
# into a cache folder, and not installed. Needs apt-get, and is no part of make test.
programs:
	$(GO) vet -tags programs ./test/programs
	$(GO) test -tags programs -count=1 -v ./test/programs

# What confines and observes scripts, under kernels of Debian on an emulated ARM64 machine. They are fetched
# into a cache folder. Needs qemu-system-aarch64 and debootstrap, takes half an hour, and is no part of make test.
kernels:
	test/kernels/run.sh

# Claude Code, Codex, Gemini CLI, Copilot CLI and opencode, likewise, connected with a
# project by mcp-bash config. Takes minutes and 2 GB, and is no part of make test.
agents:
	test/agents/run.sh

# The official conformance suite, likewise.
conformance:
	test/conformance/run.sh

# The UI templates in Chromium, which has to be installed (Debian: chromium).
# Pictures of them are left in dist/screenshots.
browser:
	$(GO) vet -tags browser ./test/browser
	$(GO) test -tags browser -count=1 ./test/browser

# All that starts Bash once more on the Bash 3.2 of macOS, where BASH_OLD names a
# folder that holds one.
old-bash:
ifdef BASH_OLD
	@$(abspath $(BASH_OLD))/bash -c '[ "$$BASH_VERSINFO" -lt 4 ]' || \
	  { echo "BASH_OLD: $(BASH_OLD)/bash is not Bash 3.2"; exit 1; }
	PATH="$(abspath $(BASH_OLD)):$$PATH" $(GO) test ./...
else
	@echo "Left out: Bash 3.2, which macOS ships. With one in DIR/bash:"
	@echo "  make test BASH_OLD=DIR"
endif

bench:
	cd bench && $(GO) run . $(BENCHFLAGS)

install:
	./install.sh --yes --no-modify-path --prefix '$(PREFIX)'

# The tag is checked when it is given (TAG=v2.0.0); the formula needs the address of
# the releases (BASE_URL=https://...). The time in it is that of the commit.
release:
	cd release && SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} \
	  $(GO) run . -out ../dist/release $(if $(TAG),-tag $(TAG)) $(if $(BASE_URL),-base-url $(BASE_URL))

# The checksums of what people fetch by itself (CLI-1711).
sums:
	sha256sum install.sh >SHA256SUMS

clean:
	rm -rf $(BIN) dist/release
