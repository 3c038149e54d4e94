# Each command makes its own environment in .venv first, once, with what it needs. Requires Python 3.11 and make.
#   make demo        the main job: train, score, draw; writes a page to read offline
#   make lab         JupyterLab on your own copy of the notebooks, in work/
#   make test        lint and the tests that every commit needs, a process a core: some minutes
#   make test-all    lint and every test: each lesson, each panel in a browser, long computations
#   make browser     browsers for the tests that need one; says first what it installs
#   make book        a site to read offline: the executed notebooks, the experiments' tables, the reference
#   make nbval       the deterministic cells of the notebooks, run twice, give the same (nbval)
#   make bench       how fast, beside what a user would pick instead; wants a machine that does nothing else
#   make wheelhouse  a folder with every wheel, to install where there is no network
#   make lint        ruff and mypy alone
#   make install     the environment alone
#   make help        this list
# demo and book take PROFILE=smoke, for a run that only shows that all works.
# CONSTRAINTS=constraints-lowest.txt VENV=.venv-lowest installs the oldest versions that pyproject.toml allows.
# All but browser write in this folder alone (pip keeps its cache).

PYTHON ?= python3
VENV := .venv
CONSTRAINTS := constraints.txt
export CONSTRAINTS
BIN := $(VENV)/bin
READY := $(VENV)/.ready
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)
PYTEST := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 $(BIN)/python -m pytest -p no:nbval -n auto --dist loadfile --no-loadscope-reorder

PROFILE ?= classroom

# what IPython, Jupyter and torch would keep in the home folder and in /tmp
KEPT := $(abspath $(VENV))/kept
IPYTHONDIR ?= $(KEPT)/ipython
JUPYTER_DATA_DIR ?= $(KEPT)/jupyter
JUPYTER_RUNTIME_DIR ?= $(KEPT)/jupyter/runtime
JUPYTER_CONFIG_DIR ?= $(KEPT)/jupyter/config
TORCHINDUCTOR_CACHE_DIR ?= $(KEPT)/torch
export IPYTHONDIR JUPYTER_DATA_DIR JUPYTER_RUNTIME_DIR JUPYTER_CONFIG_DIR TORCHINDUCTOR_CACHE_DIR

.PHONY: help install demo lab test test-all browser book nbval bench wheelhouse lint clean
.NOTPARALLEL:

install: $(READY)

help:
	@sed -n 's/^# *//p' $(firstword $(MAKEFILE_LIST))

# what a command needs beyond `make install`: an extra of pyproject.toml each
$(READY)-lint: MORE = lint
$(READY)-book: MORE = book
$(READY)-test: MORE = book cluster corpora lint lora test
$(READY)-test: ALSO = $(READY)-lint $(READY)-book

$(READY) $(READY)-lint $(READY)-book $(READY)-test: pyproject.toml $(CONSTRAINTS) scripts/install.py
	$(PYTHON) scripts/install.py $(VENV) notebooks $(MORE)
	mkdir -p $(IPYTHONDIR)
	touch $(READY) $(ALSO) $@

demo: $(READY)
	$(BIN)/cselab notebooks run 00_tour --profile $(PROFILE) --output out
	@echo "open out/00_tour.html, and to play: docs/play/index.html"

lab: $(READY)
	$(BIN)/cselab notebooks copy work
	mkdir -p $(VENV)/etc/ipython && cp scripts/jupyter/ipython_kernel_config.py $(VENV)/etc/ipython
	GOMP_SPINCOUNT=$${GOMP_SPINCOUNT:-10000} JUPYTER_CONFIG_PATH=scripts/jupyter $(BIN)/jupyter lab --ip 127.0.0.1 $(AS_ROOT) work/00_tour.ipynb

test: $(READY)-test
	@$(MAKE) --no-print-directory lint & CHECK_SHAPES=0 $(PYTEST) -m "daily or not (browser or lesson or slow)" && wait $$!

test-all: $(READY)-test
	@$(MAKE) --no-print-directory lint & $(PYTEST) && wait $$!

browser: $(READY)-test
	$(BIN)/python scripts/browser.py

book: $(READY)-book
	$(BIN)/cselab notebooks run --changed --profile $(PROFILE) --output out/$(PROFILE)
	$(BIN)/python scripts/book.py out/$(PROFILE) build/book

nbval: $(READY)-test
	$(BIN)/cselab notebooks run --changed --profile smoke --output out/smoke
	$(BIN)/python -m pytest --nbval-lax --nbval-current-env --nbval-cell-timeout 600 -p no:cacheprovider -W default out/smoke

bench: $(READY)-test
	OMP_NUM_THREADS=1 $(BIN)/python scripts/benchmarks/speed.py

wheelhouse: $(READY)
	$(BIN)/python scripts/wheelhouse.py wheelhouse

lint: $(READY)-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) out build dist
