# Two commands on a fresh machine: `make demo` and `make test`.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3

.PHONY: help setup build demo test test-fast lint bench figures clean

help: ## list the targets
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/'

setup: $(VENV)/.ready ## virtual environment, dependencies, Chromium and its font

$(VENV)/.ready: pyproject.toml scripts/setup
	PYTHON="$(PYTHON)" scripts/setup "$(VENV)"
	@touch $@

build: setup ## the databases of all sites and languages, into the user's cache
	$(BIN)/lowagent-vis build

demo: build ## the reference agent on ten tasks in five languages, with an HTML report
	@out="runs/demo-$$(date +%Y%m%d-%H%M%S)"; \
	$(BIN)/lowagent-vis run --agent reference --visual --disruptions --concurrency 2 --out "$$out" \
	&& $(BIN)/lowagent-vis report "$$out"

test: lint ## everything: style, types, catalogues, unit, browser and whole-chain tests
	$(BIN)/lowagent-vis build --quiet
	$(BIN)/pytest -n 2 --dist worksteal

test-fast: setup ## unit tests only
	$(BIN)/pytest -m "not browser and not e2e"

lint: setup ## style and types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

bench: build ## speed, as ratios measured in one run
	$(BIN)/python -m benchmarks

figures: build ## the pictures in docs/figures
	$(BIN)/python scripts/figures.py

clean: ## remove the virtual environment and caches of the checkout
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
