# make demo       builds the commands and shows them in a real project.
# make test       runs the tests that CI runs on each change.
# make test-long  runs longer tests, as CI does each night.
# make cover      prints the coverage of each package.
# make bench      compares the speed of servers in one run.
# make install    installs the commands for you, with install.sh.
# make release    builds the files of a release in dist/release.
GO      ?= go
BIN     := bin
PREFIX  ?= $(HOME)/.local
SYSTEMS := linux/amd64 linux/arm64 darwin/arm64 windows/amd64
FUZZTIME ?= 20s
ENDURANCE ?= 10s
SEED    ?= 1
RUNS    ?= $(CURDIR)/docs/reliability/runs.jsonl

.PHONY: build demo needed test test-long cluster registry lint prose unit unit-long cover fuzz cross cross-vet others otel otel-test collector endurance npm clients programs metrics-test holdout development kernels agents conformance browser site pictures old-bash bench install \
  release release-test sums clean

# A program without C starts faster and is 2 MB smaller. Go would use the system's C library
# only to look up names. The server uses HTTP/1.1 only, so HTTP/2 is left out.
build:
	CGO_ENABLED=0 $(GO) build -trimpath -tags=nethttpomithttp2 -o $(BIN)/ ./cmd/...

demo: build
	CGO_ENABLED=0 $(GO) run -trimpath ./test/demo -server $(BIN)/mcp-bash

# The tests after unit start programs and wait for them, so three run at a time, the longest first.
test: needed lint unit
	$(MAKE) -j3 $(if $(filter output-sync,$(.FEATURES)),--output-sync) \
	  clients release-test others otel-test endurance conformance browser old-bash

# Checks first which programs are missing, so that no test fails for that reason after minutes.
needed:
	@missing=$$(test/needed.sh); [ -z "$$missing" ] || { \
	  echo "make test needs more programs; on Debian: apt-get install $$missing" >&2; exit 1; }

# These tests take long and rarely find more than make test. CONTRIBUTING gives the reason for each.
test-long: unit-long fuzz cross cross-vet
	$(MAKE) endurance ENDURANCE=10m
	$(MAKE) endurance CALLS=50000 SEED=$$(date +%j) RUNS=
	MCPBASH_TEST_LONG=1 $(MAKE) clients
	$(MAKE) registry
	$(MAKE) collector
	MCPBASH_TEST_LONG=1 $(GO) test -vet=off -trimpath -count=1 -timeout=1h ./test/published
	cd release && MCPBASH_TEST_LONG=1 $(GO) test -vet=off -trimpath -count=1 -timeout=1h -run TestSystems .

# Everything without the race detector is compiled with the flags of a release, so that a
# package is compiled once. make lint vets all modules, so their tests do not.
lint fuzz release-test others otel otel-test browser: export CGO_ENABLED = 0
lint fuzz release-test others otel otel-test browser: export GOFLAGS += -trimpath

lint:
	@out=$$(gofmt -l cmd pkg sdk lib test bench release otel); [ -z "$$out" ] || { echo "gofmt: $$out"; exit 1; }
	$(GO) vet ./...
	GOOS=linux $(GO) vet -tags cluster ./test/cluster
	GOOS=linux $(GO) vet -tags registry ./test/registry
	for dir in bench release otel test/others test/tools; do (cd $$dir && $(GO) vet ./...) || exit 1; done
	$(GO) tool -modfile=test/tools/go.mod staticcheck ./...
	cd otel && $(GO) tool -modfile=../test/tools/go.mod staticcheck ./...
	for dir in . bench release otel test/others test/tools; do (cd $$dir && $(GO) mod tidy -diff) || exit 1; done
	test/lint-shell.sh
	CGO_ENABLED=1 $(MAKE) prose

# Checks pages, comments and messages with Vale, against the rules in test/tools/prose/styles.
# It needs a C compiler, for Vale's parsers. Limit it to folders with PROSE="docs pkg/feature/tool".
prose:
	cd test/tools/prose && $(GO) test -vet=off . && $(GO) run . $(PROSE)

# test/unit.sh decides which packages need the race detector.
unit:
	test/unit.sh short

unit-long:
	test/unit.sh long

cover:
	test/unit.sh cover

# Random inputs for each fuzz target, on top of its seeds. FUZZTIME=300x limits their number.
fuzz:
	FUZZTIME=$(FUZZTIME) test/fuzz.sh
	cd otel && $(GO) test -vet=off -run '^$$' -fuzz FuzzLine -fuzztime $(FUZZTIME) ./internal/telemetry

# Compiles every command for every system of a release. go list -export compiles without linking.
# make release builds the two pairs of system and processor that are left out here.
cross:
	@for system in $(SYSTEMS); do \
	  echo "build $$system"; \
	  GOOS=$${system%/*} GOARCH=$${system#*/} CGO_ENABLED=0 $(GO) list -export -trimpath ./cmd/... >/dev/null || exit 1; \
	done

# Vets the packages and their tests for other systems. It compiles the libraries of tests for each.
cross-vet:
	GOOS=darwin CGO_ENABLED=0 $(GO) vet -trimpath ./cmd/... ./pkg/...
	GOOS=windows CGO_ENABLED=0 $(GO) vet -trimpath ./cmd/... ./pkg/...

# Builds the files of a release twice, compares and installs them.
release-test:
	cd release && $(GO) test -vet=off ./...

# With CALLS=100000: calls servers that often while faults disturb them, by the plan of SEED, over OVER (stdio or http;
# without it half each). It checks all answers and records, and appends the figures to RUNS. UPDATE=1 go test
# ./test/lasting -run Page then shows them in docs/RELIABILITY.md.
# Without CALLS: hostile scripts, and clients that come and go (ENDURANCE=30m: for half an hour).
ifdef CALLS
endurance:
	CGO_ENABLED=0 $(GO) run -trimpath ./test/lasting/run -calls $(CALLS) -seed $(SEED) $(if $(OVER),-over $(OVER)) \
	  -runs "$(RUNS)"
else
endurance:
	$(GO) test -vet=off -race -count=1 -timeout=0 ./test/endurance -for $(ENDURANCE)
	CGO_ENABLED=0 $(GO) test -vet=off -trimpath -count=1 -timeout=0 ./test/endurance -run ComingAndGoing -for $(ENDURANCE)
endif

# Connects the product with programs of other people: go-git reads the repositories that the git provider reads, and
# mcp-go's client runs the examples. A server trusts an OpenID provider. The types of Kubernetes decode manifests.
others:
	cd test/others && $(GO) test -vet=off ./...

# mcp-otel, which sends audit records to a collector, in bin/.
otel:
	cd otel && $(GO) build -tags=nethttpomithttp2 -o ../$(BIN)/ ./cmd/...

# Runs mcp-otel with a real server, against a receiver made of the collector's modules.
otel-test:
	cd otel && $(GO) test -vet=off -tags=nethttpomithttp2 ./...

# Runs mcp-otel against a real collector, which the collector's builder makes in a cache folder: once, 4 minutes.
collector:
	cd otel && $(GO) vet -tags collector ./cmd/mcp-otel
	cd otel && $(GO) test -tags=collector,nethttpomithttp2 -count=1 -timeout 30m -run TestCollector ./cmd/mcp-otel

# The packages of npm that clients and conformance start, in a cache folder.
npm:
	test/npm/install.sh >/dev/null

# Runs the official TypeScript client and the MCP Inspector.
clients: npm
	test/npm/run.sh

# Runs wrap on real programs: tasks with recipes, and with drafts from the help. It downloads the programs from
# Debian, npm and Go into a cache folder and does not install them. It needs apt-get.
# make test does not run it.
programs:
	$(GO) vet -tags programs ./test/programs ./test/programs/dangers
	$(GO) test -tags programs -count=1 -timeout 60m -v ./test/programs ./test/programs/dangers

# Measures wrap with programs that nobody looks at while improving it. It downloads them as programs does.
# make test does not run it.
holdout:
	$(GO) vet -tags programs ./test/programs/sets
	$(GO) test -tags programs -count=1 -timeout 60m -v ./test/programs/sets -set holdout

# Measures wrap in the same way with programs that may be looked at.
development:
	$(GO) vet -tags programs ./test/programs/sets
	for set in development development2 development3 development4 development5 development6 development7 \
	  development8 development9 development10 development11 daily; do \
	  $(GO) test -tags programs -count=1 -timeout 60m -v ./test/programs/sets -set $$set || exit 1; \
	done

# Tests confinement and observation under kernels of Debian, on an emulated ARM64 machine. It downloads the
# kernels into a cache folder, needs qemu-system-aarch64 and debootstrap, and takes half an hour.
# make test does not run it.
kernels:
	test/kernels/run.sh

# Types the commands of docs/DEPLOY.md: images in podman, the unit in a machine with systemd, and the manifest on a
# Kubernetes of one node. It builds Kubernetes into a cache folder once. It restarts servers in each of them, and behind
# nginx and HAProxy, 20 times under load. That takes 20 minutes. It also runs the image in ToolHive (thv), if that
# is installed. It downloads Debian packages. On Debian:
#   apt-get install --no-install-recommends podman runc jq catatonit netavark aardvark-dns etcd-server containerd \
#     conntrack containernetworking-plugins debootstrap nginx haproxy
# CLUSTERFLAGS='-calls 1000 -restarts 4' takes less time. make test runs a short part with nginx and HAProxy only.
cluster:
	$(GO) vet -tags cluster ./test/cluster
	$(GO) test -tags cluster -count=1 -timeout 90m -v ./test/cluster $(CLUSTERFLAGS)

# Announces products in the real MCP registry, in a network namespace. It needs root and PostgreSQL (Debian:
# postgresql). It builds the registry into a cache folder once: 100 s and 1.1 GB of modules. Later it takes 10 s.
registry: export CGO_ENABLED = 0
registry: export GOFLAGS += -trimpath
registry:
	$(GO) test -tags registry -count=1 -timeout 20m ./test/registry

# Connects Claude Code, Codex, Gemini CLI, Copilot CLI and opencode with a project, by mcp-bash config.
# It takes minutes and 3 GB. make test does not run it.
agents:
	test/agents/run.sh

# Runs the official conformance suite, from npm.
conformance: npm
	test/conformance/run.sh

# Tests the UI templates in Chromium, which must be installed (Debian: chromium). It
# saves screenshots in dist/screenshots.
browser: npm
	$(GO) vet -tags browser ./test/browser
	$(GO) test -vet=off -tags browser -count=1 ./test/browser

# Runs the tests again with the Bash 3.2 of macOS, if BASH_OLD names a folder that contains it.
old-bash:
ifdef BASH_OLD
	@$(abspath $(BASH_OLD))/bash -c '[ "$$BASH_VERSINFO" -lt 4 ]' || \
	  { echo "BASH_OLD: $(BASH_OLD)/bash is not Bash 3.2"; exit 1; }
	PATH="$(abspath $(BASH_OLD)):$$PATH" $(GO) test ./...
else
	@echo "Left out: Bash 3.2, which macOS ships. With one in DIR/bash:"
	@echo "  make test BASH_OLD=DIR"
endif

# The documentation as static pages with search. Needs npm, which installs VitePress into a cache folder.
site:
	site/build.sh dist/site

# The pictures of terminals and of UI templates in docs/pictures. make test compares them with the output of the
# commands, and with the templates in Chromium.
pictures:
	UPDATE=1 $(GO) test -count=1 ./test/pictures
	UPDATE=1 $(GO) test -tags browser -count=1 -run TestViews/looks ./test/browser

bench:
	cd bench && $(GO) run . $(BENCHFLAGS)

install:
	./install.sh --yes --no-modify-path --prefix '$(PREFIX)'

# TAG=v2.0.0 checks the tag. BASE_URL=https://... is the address of the releases, which install.sh,
# doctor, the formula and the pages get. RELEASE_MINISIGN_KEY and RELEASE_SSH_KEY sign it. All files have the time of the commit.
release:
	cd release && SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} \
	  $(GO) run . -out ../dist/release $(if $(TAG),-tag $(TAG)) $(if $(BASE_URL),-base-url $(BASE_URL))

# The checksums of files that people download one by one (CLI-1711).
sums:
	sha256sum install.sh >SHA256SUMS

clean:
	rm -rf $(BIN) dist/release

# A Prometheus of Debian scrapes a server, and evaluates the queries of the dashboard and the alert rules. It is
# downloaded into a cache folder. It takes half a minute.
test-long: metrics-test
metrics-test:
	test/monitoring/get.sh >/dev/null
	$(GO) test -count=1 ./test/monitoring
