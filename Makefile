# Each command makes its own environment in .venv first, once. Needs Python 3.11 or newer, and make.
#   make demo     the main job: train, score, draw; writes a page to read offline
#   make test     the whole test suite, a process a core
#   make lab      JupyterLab on your own copy of the notebooks, in work/
#   make book     a site to read offline: the executed notebooks, the experiments' tables, the reference
#   make nbval    the deterministic cells of the notebooks, run twice, give the same (nbval)
#   make bench    how fast, beside what a user would pick instead; wants a machine that does nothing else
#   make wheelhouse   a folder with every wheel, to install where there is no network
#   make install  the environment alone
#   make help     this list
# demo and book take PROFILE=smoke, for a run that only shows that all works.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
AS_ROOT := $(if $(filter 0,$(shell id -u)),--allow-root)

PROFILE ?= classroom

.PHONY: help install demo test lab book nbval bench wheelhouse lint clean

install: $(READY)

help:
	@sed -n 's/^# *//p' $(firstword $(MAKEFILE_LIST))

$(READY): pyproject.toml constraints.txt scripts/install.py
	$(PYTHON) scripts/install.py $(VENV)
	touch $(READY)

demo: $(READY)
	$(BIN)/cselab notebooks run 00_tour --profile $(PROFILE) --output out

test: lint
	$(BIN)/python scripts/browser.py
	OMP_NUM_THREADS=1 $(BIN)/python -m pytest -n auto --dist loadfile

lab: $(READY)
	$(BIN)/cselab notebooks copy work
	GOMP_SPINCOUNT=$${GOMP_SPINCOUNT:-10000} JUPYTER_CONFIG_PATH=scripts/jupyter $(BIN)/jupyter lab --ip 127.0.0.1 $(AS_ROOT) work/00_tour.ipynb

book: $(READY)
	$(BIN)/cselab notebooks run --changed --profile $(PROFILE) --output out/$(PROFILE)
	$(BIN)/python scripts/book.py out/$(PROFILE) build/book

nbval: $(READY)
	$(BIN)/cselab notebooks run --changed --profile smoke --output out/smoke
	$(BIN)/python -m pytest --nbval-lax --nbval-current-env --nbval-cell-timeout 600 -p no:cacheprovider -W default out/smoke

bench: $(READY)
	OMP_NUM_THREADS=1 $(BIN)/python benchmarks/speed.py

wheelhouse: $(READY)
	$(BIN)/python scripts/wheelhouse.py wheelhouse

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

clean:
	rm -rf $(VENV) out build dist
