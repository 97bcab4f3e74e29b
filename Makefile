# gofer: "make test" is everything, and what continuous integration runs. "make help" lists the rest.

CACHE       := $(or $(XDG_CACHE_HOME),$(HOME)/.cache)/gofer
STATICCHECK := $(CACHE)/bin/$(shell go env GOVERSION)/staticcheck-v0.8.2/staticcheck
TABLE       := $(CACHE)/interop.txt
SUITE       := $(CACHE)/suite.txt
COLD        := $(CACHE)/cold.txt
STEP        := @integration/scripts/step

# Folders with tests that the race detector would falsify, as those of allocations.
CEILINGS     = $(sort $(dir $(shell grep -ls '^//go:build !race' $$(go list -f '{{.Dir}}/*_test.go' ./...))))

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help test demo rolling cold chaos deps lint unit java integration bench clean

help: ## list the targets
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' $(MAKEFILE_LIST) | expand -t 20

test: deps lint unit chaos java integration ## everything, installing first what is missing
	@echo "all steps passed; the tables are in $(TABLE), $(SUITE) and $(COLD)"

demo: deps java ## the main job: ZooKeeper, Java providers of every Dubbo version, a Go consumer
	go run ./integration/demo

rolling: deps java ## restart and kill Java providers of every Dubbo version under load: which calls fail?
	go run ./integration/rolling

cold: deps java ## restart one of three Java providers cold under load: its share and p99 while it warms up, by load balancer
	@mkdir -p $(CACHE) && rm -f $(COLD)
	$(STEP) "a cold restart" env GOFER_DUBBO_VERSIONS=$${GOFER_DUBBO_VERSIONS:-3.3.6} GOFER_INTEROP_TABLE=$(TABLE) \
		go test -tags integration -count=1 -timeout 10m -run '^TestColdRestart$$' ./integration -cold.all
	@cat $(COLD)

deps: ## install what the tests need: a JDK, Maven, ZooKeeper (apt)
	$(STEP) "tools" integration/scripts/deps

lint: $(STATICCHECK) ## gofmt, go vet, staticcheck
	$(STEP) "gofmt" sh -c 'files=$$(gofmt -l .); [ -z "$$files" ] || { echo "not formatted:" $$files >&2; exit 1; }'
	$(STEP) "go vet" go vet -tags integration ./...
	$(STEP) "staticcheck" $(STATICCHECK) -tags integration ./...

$(STATICCHECK):
	$(STEP) "install staticcheck" env GOBIN=$(@D) go install honnef.co/go/tools/cmd/staticcheck@v0.8.2

unit: ## unit tests with the race detector, then those of allocations without
	$(STEP) "unit tests with the race detector" go test -race ./...
	$(if $(CEILINGS),$(STEP) "allocation ceilings without it" go test $(CEILINGS))

CHAOS ?= 30s
chaos: ## half a minute of faults in the registry and the providers (CHAOS=10m: longer)
	$(STEP) "$(CHAOS) of chaos" go test -v -count=1 -timeout 2h -run '^TestChaos$$' -chaos.duration=$(CHAOS) .

java: ## build the Java providers, when they have changed
	$(STEP) "Java providers" integration/scripts/java

integration: ## tests against a real ZooKeeper and real Java providers
	@mkdir -p $(CACHE) && rm -f $(TABLE) $(SUITE) $(COLD)
	$(STEP) "integration tests" env GOFER_INTEROP_TABLE=$(TABLE) go test -tags integration -count=1 -timeout 30m ./integration/...
	@for table in $(TABLE) $(SUITE) $(COLD); do [ ! -e $$table ] || cat $$table; done

bench: ## benchmarks
	$(STEP) "benchmarks" go test -run '^$$' -bench . -benchmem ./...

clean: ## remove what was built, also outside this folder
	rm -rf bin $(CACHE)
