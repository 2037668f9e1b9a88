# Two commands are enough: `make demo` and `make test`. Both build .venv first if it is not there.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help

# The tested Python, or whatever python3 is.
PYTHON ?= $(shell for python in python3.11 python3; do \
	$$python -c '' >/dev/null 2>&1 && echo $$python && break; done)
VENV ?= .venv
BIN := $(VENV)/bin
# The torch the tests run with; users of the package bring their own.
TORCH ?= 2.13.0
COMET ?= 2.2.7
# Processes that share the tests. One thread each: two processes beat two threads.
JOBS ?= 2
# Size of the networks that `make bench` measures.
SIZE ?= small
# Options of the long fuzzing, and files of fairseq_mcts/ that are mutated.
FUZZ ?=
MUTANTS ?=
# More options for pytest, e.g. PYTEST_ARGS='-m "not slow"'.
PYTEST_ARGS ?=

export OMP_NUM_THREADS ?= 1
export OMP_WAIT_POLICY ?= PASSIVE
export GOMP_SPINCOUNT ?= 0
# Keep freed memory instead of giving it back to Linux and asking again at every step of training.
export MALLOC_MMAP_THRESHOLD_ ?= 1073741824
export MALLOC_TRIM_THRESHOLD_ ?= 2147483648

INSTALLED := $(VENV)/.installed

.PHONY: help setup test lint format fuzz coverage mutants demo ablation bench matrix docs clean distclean

help: ## list the targets
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(INSTALLED) ## create .venv and install the package for development

$(INSTALLED): setup.py
	@echo "== installing into $(VENV) with $$($(PYTHON) --version); some minutes the first time"
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	# fairseq compiles against torch, so torch comes first and pip must not fetch another one
	$(BIN)/python -m pip install --quiet torch==$(TORCH) numpy cython wheel 'setuptools>=64'
	$(BIN)/python -m pip install --quiet --no-build-isolation -e '.[dev,fairseq]'
	# its requirements are older than it needs, see setup.py
	$(BIN)/python -m pip install --quiet --no-deps unbabel-comet==$(COMET)
	$(BIN)/python -m fairseq_mcts.search
	touch $@

test: lint ## check style, types and imports, then run all tests
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --no-loadscope-reorder --durations 20 $(PYTEST_ARGS)

lint: $(INSTALLED) ## check style, types and imports between packages
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

fuzz: $(INSTALLED) ## random searches, texts and command lines for hours (FUZZ='--seed 2' for others)
	$(BIN)/python -m tests.fuzz $(FUZZ)

coverage: $(INSTALLED) ## which lines the tests reach; compiled code runs as Python, so it takes hours
	$(BIN)/python -m tools.coverage --jobs $(JOBS)

mutants: $(INSTALLED) ## spoil the code line by line: do the tests notice? (MUTANTS='search/mbr.py --work DIR', default: all)
	$(BIN)/python -m tools.mutants $(MUTANTS)

format: $(INSTALLED) ## rewrite the code in the project's style
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

demo: $(INSTALLED) ## make data, train and decode: a first result in minutes (in ./work)
	$(BIN)/python -m examples.demo

ablation: $(INSTALLED) ## learn values of four difficulties and print their errors (in ./work)
	$(BIN)/python -m examples.ablation

bench: $(INSTALLED) ## measure every claim about speed (SIZE=small or base; results in benchmarks/results)
	$(BIN)/python -m pip install --quiet ctranslate2
	$(BIN)/python benchmarks/render.py --size $(SIZE)

matrix: $(INSTALLED) ## try the plugin in environments with other fairseqs (FAIRSEQ=checkout of its main branch)
	$(BIN)/python -m tools.matrix $(if $(FAIRSEQ),--fairseq $(FAIRSEQ)) --write docs/fairseq.md

docs: $(INSTALLED) ## build the site of the documentation (in ./site); a broken link is an error
	NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "open site/index.html, or with a search box: python3 -m http.server -d site"

clean: ## remove the demo's work and all caches
	rm -rf work site build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -not -path './$(VENV)/*' -prune -exec rm -rf {} +

distclean: clean ## remove .venv as well
	rm -rf $(VENV)
